/* Inverse-compositional Lucas-Kanade for a translation under a plane's homography.
 *
 * Let T(x) be the patch about a point of image 1, and W_p(x) image 2 at the warp of x + p. The p is
 * sought for which the two are equal up to gain and offset. With <a, b> = sum of a b over the
 * window, let t and w be T and W_p less their means, of norm 1. By the gradient g of t, freed of
 * its parts along the constant and along t,
 *   w - t = g . (p - p*) to first order,  p - p* = M^-1 <g, w - t> = <D, w>,
 * M = <g, g^T>, D = M^-1 g: constant and t drop out because g is orthogonal to both. So gain and
 * offset cost nothing, D is computed once for a patch, and an iteration is one sampling of image 2
 * and five sums. (Lucas and Kanade 1981; Baker and Matthews 2004.)
 *
 * Noise makes M too large, and the images differ, so that such steps are too short or astray and
 * their errors shrink by a constant factor each. What a step did to <D, w> tells: the inverse of
 * its Jacobian, I at first, is mended by each step to what that one found (Broyden 1965). That
 * leads to the same place sooner, and a mended step can be the last one while it is still long.
 *
 * The samples are one pixel apart in the coarser of the two images, and are taken from the level
 * of either pyramid whose pixels are nearest to that.
 *
 * Precision. At the end |w - t|^2 = 2 (1 - ncc) is noise; with n samples of which about one in
 * CORRELATION is independent, because the interpolation smooths, the covariance of p is
 * CORRELATION 2 (1 - ncc) / n M^-1. FLOOR is what remains without noise.
 *
 * There and back: the point found is sought in image 1 in turn. The two ways have different
 * templates, so that their disagreement tells false ends, and their mean is better than either. */
#include "images/photometric/patch.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "images/photometric/patch_kernel.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_patch_options, radius, "radius", 6, 3, PSFM_PATCH_MAX_RADIUS,
                    "half the width of a patch of a pair, in pixels of the coarser photograph"),
};
const psfm_option_table psfm_patch_option_table = PSFM_OPTION_TABLE("photo-patch", rows);

#define MAX_SIDE (2 * PSFM_PATCH_MAX_RADIUS + 1)
#define MAX_SAMPLES (MAX_SIDE * MAX_SIDE + PSFM_PATCH_LANES)
#define MAX_WIDE ((MAX_SIDE + 2) * (MAX_SIDE + 2) + PSFM_PATCH_LANES)
_Static_assert(PSFM_PATCH_GRID_RADIUS == PSFM_PATCH_MAX_RADIUS + 1, "a template with its rim");

#define MAX_ITERATIONS 15 /* of a level; an alignment that has not ended by then finds nothing */
/* What is asked of an accepted patch: that both photographs show the same, that the way back ends
 * where it began, that the place is as exact as a keypoint's, and that scales are near enough for
 * the levels of a pyramid to stand in for each other. */
#define MIN_NCC 0.8        /* normalised correlation */
#define MAX_RETURN_PX 0.4  /* disagreement of the way there and back */
#define MAX_SIGMA_PX 0.5   /* standard deviation of the position */
#define MAX_ZOOM 4.0       /* change of scale, either way */
#define MAX_ANISOTROPY 5.0 /* ratio of the scales in two directions */

#define CORRELATION 3.0  /* samples that carry the information of one */
#define FLOOR_PX 0.02    /* standard deviation without noise */
#define GRAY_NOISE 0.7   /* standard deviation of a gray value that is taken for granted */
#define FIRST_END 0.03   /* samples; a first step below it is the last one, */
#define END_STEP 0.1     /* any other one below this, which has been mended */
#define LONGEST_STEP 2.0 /* samples */
#define LEAST_CHANGE 0.3 /* of <D, w> along a step, as a share of it, that is believed */
/* Correlation of a coarse level after HOPELESS_STEPS, of the finest from the start. */
#define HOPELESS_NCC 0.3
#define HOPELESS_STEPS 3

struct psfm_patch_aligner {
    int radius; /* of the patch, in samples */
    const psfm_patch_kernel *kernel;
    int side;                       /* samples in a row */
    size_t num_samples, num_padded; /* of the patch, and with what fills it up */
    size_t num_wide;                /* with a rim for the gradient, filled up */
    double total;                   /* of the window */
    float u[MAX_SAMPLES], v[MAX_SAMPLES], window[MAX_SAMPLES];
    float wide_u[MAX_WIDE], wide_v[MAX_WIDE], wide[MAX_WIDE];
    float pattern[MAX_SAMPLES], step_x[MAX_SAMPLES], step_y[MAX_SAMPLES], w[MAX_SAMPLES];
    double offset;     /* mean of the template */
    double inverse[3]; /* of M: xx, xy, yy */
};

/* Samples from -radius to radius, row by row; the filling repeats the centre. */
static size_t make_grid(int radius, float *u, float *v) {
    size_t n = 0;
    for (int y = -radius; y <= radius; ++y) {
        for (int x = -radius; x <= radius; ++x, ++n) {
            u[n] = (float)x;
            v[n] = (float)y;
        }
    }
    while (n % PSFM_PATCH_LANES != 0) {
        u[n] = v[n] = 0.0F;
        ++n;
    }
    return n;
}

psfm_status psfm_patch_aligner_create(psfm_context *ctx, const psfm_patch_options *options,
                                      psfm_patch_aligner **aligner) {
    psfm_patch_aligner *a = NULL;
    *aligner = NULL;
    psfm_status status = psfm_options_check(ctx, &psfm_patch_option_table, options);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &a);
    if (status != PSFM_OK)
        return status;
    a->radius = options->radius;
    a->kernel = psfm_patch_kernel_choose();
    a->side = 2 * options->radius + 1;
    a->num_samples = (size_t)a->side * (size_t)a->side;
    a->num_padded = make_grid(options->radius, a->u, a->v);
    a->num_wide = make_grid(options->radius + 1, a->wide_u, a->wide_v);
    double scale = 0.5 / (options->radius * options->radius);
    for (size_t k = 0; k < a->num_samples; ++k) {
        double square = (double)(a->u[k] * a->u[k] + a->v[k] * a->v[k]);
        a->window[k] = (float)exp(-square * scale);
        a->total += (double)a->window[k];
    }
    *aligner = a;
    return PSFM_OK;
}

void psfm_patch_aligner_destroy(psfm_patch_aligner **aligner) {
    free(*aligner);
    *aligner = NULL;
}

static const char *const outcome_names[] = {"aligned",  "outside", "flat",
                                            "diverged", "unlike",  "one_way"};

const char *psfm_patch_outcome_name(psfm_patch_outcome outcome) {
    return outcome_names[outcome];
}

/* The level whose pixels are nearest to `spacing` pixels of the photograph. */
static int level_of(const psfm_pyramid *photo, double spacing) {
    int level = spacing > 1.0 ? (int)lround(log2(spacing)) : 0;
    return level < photo->num_levels ? level : photo->num_levels - 1;
}

static void scale_axis(const double c[6], double spacing, double size, int *base, float out[6]) {
    double origin = c[0] / size - 0.5;
    *base = (int)floor(origin);
    out[0] = (float)(origin - *base);
    for (int k = 1; k < 6; ++k)
        out[k] = (float)(c[k] * (k < 3 ? spacing : spacing * spacing) / size);
}

/* The warp by samples that are `spacing` apart, in a level; false if a corner of the patch is
 * outside. */
static bool make_map(const psfm_plane_warp *warp, double spacing, const psfm_pyramid *photo,
                     int level, double reach, psfm_patch_map *map) {
    double size = ldexp(1.0, level), width = photo->levels[level].width;
    double height = photo->levels[level].height;
    for (int k = 0; k < 5; ++k) {
        double xy[2], side = reach * spacing;
        psfm_plane_warp_at(warp, k == 4 ? 0.0 : (k & 1 ? side : -side),
                           k == 4 ? 0.0 : (k & 2 ? side : -side), xy);
        if (!(xy[0] > 2.0 * size && xy[1] > 2.0 * size && xy[0] < (width - 2.0) * size &&
              xy[1] < (height - 2.0) * size))
            return false;
    }
    scale_axis(warp->x, spacing, size, &map->base_x, map->x);
    scale_axis(warp->y, spacing, size, &map->base_y, map->y);
    return true;
}

/* Samples the patch about xy, and its gradient per sample into the step images. */
static bool sample_template(psfm_patch_aligner *a, const psfm_pyramid *photo, const double xy[2],
                            double spacing) {
    psfm_plane_warp identity = {{xy[0], 1.0, 0.0, 0.0, 0.0, 0.0}, {xy[1], 0.0, 1.0, 0.0, 0.0, 0.0}};
    psfm_patch_map map;
    int level = level_of(photo, spacing);
    if (!make_map(&identity, spacing, photo, level, a->radius + 1, &map))
        return false;
    if (map.x[1] <= PSFM_PATCH_GRID_STEP)
        a->kernel->sample_grid(&photo->levels[level], &map, a->radius + 1, a->wide);
    else /* the smallest level of a small photograph */
        a->kernel->sample(&photo->levels[level], &map, a->wide_u, a->wide_v, a->num_wide, a->wide);
    size_t side = (size_t)a->side, stride = side + 2;
    for (size_t y = 0; y < side; ++y) {
        const float *above = a->wide + y * stride + 1, *at = above + stride;
        const float *left = at - 1, *right = at + 1, *below = at + stride;
        float *t = a->pattern + y * side, *gx = a->step_x + y * side, *gy = a->step_y + y * side;
        for (size_t x = 0; x < side; ++x) {
            t[x] = at[x];
            gx[x] = 0.5F * (right[x] - left[x]);
            gy[x] = 0.5F * (below[x] - above[x]);
        }
    }
    return true;
}

/* The template less its mean, of norm 1, and what its gradient is freed of: its mean and its part
 * along the template. */
typedef struct {
    double offset, norm;
    double mean[2], slope[2]; /* of the gradient; slope per gray value */
} template_scale;

/* From the sums over the template less `offset`; norm is 0 if there is no contrast. M, of the freed
 * and scaled gradient, is xx, xy, yy. */
static template_scale scale_template(const psfm_patch_moments *m, double offset, double total,
                                     double M[3]) {
    double mean = (double)m->t / total, square = (double)m->tt - mean * (double)m->t;
    template_scale s = {.offset = offset + mean,
                        .mean = {(double)m->gx / total, (double)m->gy / total}};
    if (!(square > total * GRAY_NOISE * GRAY_NOISE))
        return s;
    double tx = (double)m->tx - mean * (double)m->gx, ty = (double)m->ty - mean * (double)m->gy;
    double unit = 1.0 / square;
    s.norm = sqrt(unit);
    s.slope[0] = tx * unit;
    s.slope[1] = ty * unit;
    M[0] = ((double)m->xx - s.mean[0] * (double)m->gx - s.slope[0] * tx) * unit;
    M[1] = ((double)m->xy - s.mean[0] * (double)m->gy - s.slope[0] * ty) * unit;
    M[2] = ((double)m->yy - s.mean[1] * (double)m->gy - s.slope[1] * ty) * unit;
    return s;
}

/* Template and gradient to pattern and step images, D with the window. */
static void weigh_template(psfm_patch_aligner *a, const template_scale *s) {
    psfm_patch_weights weights = {.offset = (float)s->offset, .norm = (float)s->norm};
    for (int k = 0; k < 2; ++k) {
        float *step = k == 0 ? weights.step_x : weights.step_y;
        double x = s->norm * a->inverse[k], y = s->norm * a->inverse[k + 1];
        step[0] = (float)x;
        step[1] = (float)y;
        step[2] = (float)-(x * s->slope[0] + y * s->slope[1]);
        step[3] = (float)-(x * s->mean[0] + y * s->mean[1]);
    }
    a->offset = s->offset;
    a->kernel->weigh(&weights, a->window, a->num_padded, a->pattern, a->step_x, a->step_y);
}

/* Samples the patch about xy and prepares its step images. */
static psfm_patch_outcome make_template(psfm_patch_aligner *a, const psfm_pyramid *photo,
                                        const double xy[2], double spacing) {
    psfm_patch_moments moments;
    double M[3] = {0.0, 0.0, 0.0};
    if (!sample_template(a, photo, xy, spacing))
        return PSFM_PATCH_OUTSIDE;
    float centre = a->pattern[a->num_samples / 2];
    a->kernel->moments(a->pattern, centre, a->step_x, a->step_y, a->window, a->num_padded,
                       &moments);
    template_scale scale = scale_template(&moments, (double)centre, a->total, M);
    double det = M[0] * M[2] - M[1] * M[1], half = 0.5 * (M[0] + M[2]);
    double smallest = half - sqrt(fmax(half * half - det, 0.0));
    double limit = MAX_SIGMA_PX / spacing, noise = GRAY_NOISE * scale.norm;
    if (scale.norm == 0.0 || !(smallest * limit * limit > CORRELATION * noise * noise))
        return PSFM_PATCH_FLAT;
    a->inverse[0] = M[2] / det;
    a->inverse[1] = -M[1] / det;
    a->inverse[2] = M[0] / det;
    weigh_template(a, &scale);
    return PSFM_PATCH_ALIGNED;
}

/* An alignment of the patch about a point of one photograph with another one. */
typedef struct {
    const psfm_pyramid *from, *to;
    const double *xy;            /* the point in `from` */
    const psfm_plane_warp *warp; /* of its surroundings, into `to` */
    double zoom;                 /* of the warp */
    double spacing;              /* of the samples, in pixels of `from` */
    double max_shift;            /* pixels of `from` */
    double p[2];                 /* start and result, pixels of `from` */
    double ncc;
    bool is_coarse; /* another search follows */
} search;

/* Whether what a search has come to in step k promises nothing. A finest search starts within a
 * pixel or two, where similar things look the same. */
static bool is_hopeless(const search *s, int k) {
    return s->ncc < HOPELESS_NCC && (k >= HOPELESS_STEPS || !s->is_coarse);
}

/* Steps by the secants of those before. */
typedef struct {
    double inverse[4];       /* of the Jacobian of what is to vanish */
    double value[2], way[2]; /* that before the last step, and the step, in samples */
    bool has_step;
} secant;

/* Mends the inverse by what the last step did. */
static void mend_secant(secant *s, const double value[2]) {
    double *B = s->inverse, y[2] = {value[0] - s->value[0], value[1] - s->value[1]};
    double By[2] = {B[0] * y[0] + B[1] * y[1], B[2] * y[0] + B[3] * y[1]};
    double change = s->way[0] * By[0] + s->way[1] * By[1];
    double square = s->way[0] * s->way[0] + s->way[1] * s->way[1];
    if (!(change > LEAST_CHANGE * square))
        return;
    double row[2] = {(s->way[0] * B[0] + s->way[1] * B[2]) / change,
                     (s->way[0] * B[1] + s->way[1] * B[3]) / change};
    for (int k = 0; k < 2; ++k) {
        double missed = s->way[k] - By[k];
        B[2 * k] += missed * row[0];
        B[2 * k + 1] += missed * row[1];
    }
}

/* The next step, in samples; whether it is the last one. */
static bool step_by_secant(secant *s, const double value[2]) {
    if (s->has_step)
        mend_secant(s, value);
    double x = -(s->inverse[0] * value[0] + s->inverse[1] * value[1]);
    double y = -(s->inverse[2] * value[0] + s->inverse[3] * value[1]);
    double length = sqrt(x * x + y * y);
    double factor = length > LONGEST_STEP ? LONGEST_STEP / length : 1.0;
    bool last = length < (s->has_step ? END_STEP : FIRST_END);
    s->value[0] = value[0];
    s->value[1] = value[1];
    s->way[0] = factor * x;
    s->way[1] = factor * y;
    s->has_step = true;
    return last;
}

/* Compares the template with the other photograph where the search is: <D, w> and the correlation;
 * `level` is that of the other photograph. */
static psfm_patch_outcome compare_patch(psfm_patch_aligner *a, search *s, int level,
                                        double value[2]) {
    psfm_plane_warp moved;
    psfm_patch_map map;
    psfm_patch_sums sums;
    psfm_plane_warp_move(s->warp, s->p[0], s->p[1], &moved);
    if (!make_map(&moved, s->spacing, s->to, level, a->radius, &map))
        return PSFM_PATCH_OUTSIDE;
    a->kernel->sample(&s->to->levels[level], &map, a->u, a->v, a->num_padded, a->w);
    a->kernel->sum(a->w, (float)a->offset, a->step_x, a->step_y, a->pattern, a->window,
                   a->num_padded, &sums);
    double mean = (double)sums.value / a->total;
    double variance = (double)sums.square - mean * (double)sums.value;
    if (!(variance > 1e-3 * a->total))
        return PSFM_PATCH_UNLIKE;
    double norm = 1.0 / sqrt(variance);
    value[0] = (double)sums.step_x * norm;
    value[1] = (double)sums.step_y * norm;
    s->ncc = (double)sums.product * norm;
    return PSFM_PATCH_ALIGNED;
}

/* Moves the template to where the other photograph is like it. */
static psfm_patch_outcome iterate_shift(psfm_patch_aligner *a, search *s) {
    int level = level_of(s->to, s->spacing * s->zoom);
    secant steps = {.inverse = {1.0, 0.0, 0.0, 1.0}};
    for (int k = 0; k < MAX_ITERATIONS; ++k) {
        double value[2];
        psfm_patch_outcome outcome = compare_patch(a, s, level, value);
        if (outcome != PSFM_PATCH_ALIGNED)
            return outcome;
        if (is_hopeless(s, k))
            return PSFM_PATCH_UNLIKE;
        bool last = step_by_secant(&steps, value);
        s->p[0] += s->spacing * steps.way[0];
        s->p[1] += s->spacing * steps.way[1];
        if (!(s->p[0] * s->p[0] + s->p[1] * s->p[1] <= s->max_shift * s->max_shift))
            return PSFM_PATCH_DIVERGED;
        if (last)
            return PSFM_PATCH_ALIGNED;
    }
    return PSFM_PATCH_DIVERGED;
}

/* Template, then iterations. */
static psfm_patch_outcome align_once(psfm_patch_aligner *a, search *s) {
    psfm_patch_outcome outcome = make_template(a, s->from, s->xy, s->spacing);
    return outcome == PSFM_PATCH_ALIGNED ? iterate_shift(a, s) : outcome;
}

/* Aligns coarse to fine; a coarse level that fails leaves the start where it was. */
static psfm_patch_outcome align_levels(psfm_patch_aligner *a, int coarse, search *s) {
    double finest = s->spacing;
    for (int k = coarse; k > 0; --k) {
        search rough = *s;
        rough.spacing = ldexp(finest, k);
        rough.is_coarse = true;
        if (align_once(a, &rough) == PSFM_PATCH_ALIGNED &&
            rough.ncc >= 0.5 * (1.0 + MIN_NCC) - 0.2) {
            s->p[0] = rough.p[0];
            s->p[1] = rough.p[1];
        }
    }
    return align_once(a, s);
}

/* Covariance of the position in image 2, from that of the shift; its largest standard deviation. */
static double find_covariance(const psfm_patch_aligner *a, const psfm_plane_warp *warp,
                              const search *s, double cov[3]) {
    double noise = CORRELATION * 2.0 * fmax(1.0 - s->ncc, 0.0) / a->total;
    double unit = s->spacing * s->spacing;
    double xx = unit * (noise * a->inverse[0] + FLOOR_PX * FLOOR_PX);
    double xy = unit * noise * a->inverse[1];
    double yy = unit * (noise * a->inverse[2] + FLOOR_PX * FLOOR_PX);
    double a0 = warp->x[1], a1 = warp->x[2], b0 = warp->y[1], b1 = warp->y[2];
    cov[0] = a0 * a0 * xx + 2.0 * a0 * a1 * xy + a1 * a1 * yy;
    cov[1] = a0 * b0 * xx + (a0 * b1 + a1 * b0) * xy + a1 * b1 * yy;
    cov[2] = b0 * b0 * xx + 2.0 * b0 * b1 * xy + b1 * b1 * yy;
    double half = 0.5 * (xx + yy);
    return sqrt(half + sqrt(fmax(half * half - (xx * yy - xy * xy), 0.0)));
}

/* The way back from m->xy2, from where the homography leads or, after a coarse start, from xy1; on
 * success m->xy2 becomes the mean of both ways. */
static psfm_patch_outcome align_back(psfm_patch_aligner *a, const psfm_patch_query *q,
                                     const search *s, psfm_patch_match *m) {
    psfm_plane_warp back;
    search r = {.from = s->to,
                .to = s->from,
                .xy = m->xy2,
                .warp = &back,
                .zoom = 1.0 / s->zoom,
                .spacing = s->spacing * s->zoom,
                .max_shift = s->max_shift * s->zoom + 1.0};
    if (q->coarse_levels > 0) {
        r.p[0] = s->warp->x[0] - m->xy2[0];
        r.p[1] = s->warp->y[0] - m->xy2[1];
    }
    if (!psfm_plane_warp_make(q->view2.camera, m->xy2, q->view1.camera, q->H_12,
                              a->radius * r.spacing, &back))
        return PSFM_PATCH_OUTSIDE;
    psfm_patch_outcome outcome = align_once(a, &r);
    if (outcome != PSFM_PATCH_ALIGNED)
        return outcome == PSFM_PATCH_DIVERGED ? PSFM_PATCH_ONE_WAY : outcome;
    double end[2];
    psfm_plane_warp_at(&back, r.p[0], r.p[1], end);
    double dx = end[0] - q->xy1[0], dy = end[1] - q->xy1[1];
    if (!(hypot(dx, dy) <= MAX_RETURN_PX * s->spacing))
        return PSFM_PATCH_ONE_WAY;
    psfm_plane_warp_at(s->warp, s->p[0] - 0.5 * dx, s->p[1] - 0.5 * dy, m->xy2);
    return PSFM_PATCH_ALIGNED;
}

static psfm_patch_outcome align_patch(psfm_patch_aligner *a, const psfm_patch_query *q,
                                      psfm_patch_match *m) {
    psfm_plane_warp warp, moved;
    double anisotropy, reach = a->radius;
    if (!psfm_plane_warp_make(q->view1.camera, q->xy1, q->view2.camera, q->H_21, reach, &warp))
        return PSFM_PATCH_OUTSIDE;
    double zoom = psfm_plane_warp_zoom(&warp, &anisotropy);
    if (!(zoom * MAX_ZOOM >= 1.0 && zoom <= MAX_ZOOM && anisotropy <= MAX_ANISOTROPY))
        return PSFM_PATCH_OUTSIDE;
    search s = {.from = q->view1.photo,
                .to = q->view2.photo,
                .xy = q->xy1,
                .warp = &warp,
                .zoom = zoom,
                .spacing = fmax(1.0, 1.0 / zoom),
                .max_shift = q->max_shift};
    psfm_patch_outcome outcome = align_levels(a, q->coarse_levels, &s);
    if (outcome != PSFM_PATCH_ALIGNED)
        return outcome;
    m->ncc = s.ncc;
    if (!(s.ncc >= MIN_NCC))
        return PSFM_PATCH_UNLIKE;
    psfm_plane_warp_move(&warp, s.p[0], s.p[1], &moved);
    m->xy2[0] = moved.x[0];
    m->xy2[1] = moved.y[0];
    m->shift_px = hypot(moved.x[0] - warp.x[0], moved.y[0] - warp.y[0]);
    double sigma = find_covariance(a, &moved, &s, m->cov2);
    if (!(sigma <= MAX_SIGMA_PX * s.spacing))
        return PSFM_PATCH_FLAT;
    return q->H_12 == NULL ? outcome : align_back(a, q, &s, m);
}

void psfm_patch_align(psfm_patch_aligner *aligner, const psfm_patch_query *query,
                      psfm_patch_match *match) {
    *match = (psfm_patch_match){0};
    match->outcome = align_patch(aligner, query, match);
}
