/* Gaussian scale space.
 *
 * The image is taken to be smoothed by sigma 0.5 of its own pixels. Octave o has pixels of 2^o;
 * octave -1 begins with the image doubled by linear interpolation (pixel 2x lies on pixel x, the
 * last column and row are repeated), a later one with every other pixel of level S - 1 of the one
 * before, which has just the smoothing of the new level -1. Within an octave each level comes from
 * the one below by the Gaussian that is missing, sigma0 2^(s/S) sqrt(1 - 2^(-2/S)) with
 * sigma0 = 1.6 2^(1/S), cut at 4 sigma, pixels beyond the border as those on it. These are the
 * conventions of VLFeat (Vedaldi and Fulkerson) after Lowe, "Distinctive image features from
 * scale-invariant keypoints", 2004.
 *
 * Smoothing goes by two rows at once: down the columns into buffers, and these along themselves.
 * The rows that it needs stay in the second cache; narrower strips that would stay in the first one
 * take longer, since memory is read in long rows. */
#include "images/feature/sift_scale_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define STRIP 4096 /* columns that are smoothed together: wider images are cut */
#define SLACK 128  /* floats after the last plane that vectors may touch */

static size_t round_up(size_t n) {
    return (n + PSFM_SIFT_PAD - 1) / PSFM_SIFT_PAD * PSFM_SIFT_PAD;
}

static int side_at(int side, int octave) {
    return octave < 0 ? side * (1 << -octave) : side >> octave;
}

static size_t plane_floats(int width, int height, int octave) {
    return round_up((size_t)side_at(width, octave)) * (size_t)side_at(height, octave);
}

/* The first octave takes S + 3 planes; the three that need not survive hold all later octaves. */
static size_t space_floats(int width, int height, int first_octave) {
    return plane_floats(width, height, first_octave) * (PSFM_SIFT_LEVELS + 3) + SLACK;
}

size_t psfm_sift_memory(int width, int height, const psfm_sift_options *options) {
    return space_floats(width, height, options->first_octave) * sizeof(float);
}

void psfm_sift_workspace_free(psfm_sift_workspace *workspace) {
    free(workspace->planes);
    *workspace = (psfm_sift_workspace){0};
}

psfm_status psfm_sift_space_init(psfm_context *ctx, const psfm_image *image,
                                 const psfm_sift_options *options, psfm_sift_workspace *workspace,
                                 psfm_sift_space *space) {
    *space = (psfm_sift_space){.image = image, .first_octave = options->first_octave};
    while (space->num_octaves < PSFM_SIFT_OCTAVES &&
           side_at(image->width, space->first_octave + space->num_octaves) >= 4 &&
           side_at(image->height, space->first_octave + space->num_octaves) >= 4)
        ++space->num_octaves;
    size_t need = space_floats(image->width, image->height, space->first_octave);
    if (workspace->num_floats < need) {
        psfm_sift_workspace_free(workspace);
        psfm_status status = PSFM_ALLOC(ctx, need, &workspace->planes);
        if (status != PSFM_OK)
            return status;
        workspace->num_floats = need;
    }
    space->planes = workspace->planes;
    return PSFM_OK;
}

/* Half of a normalised Gaussian, kernel[0 .. radius]. Returns the radius. */
static int make_kernel(double sigma, float *kernel) {
    int radius = (int)ceil(4.0 * sigma);
    radius = radius < 1 ? 1 : radius > PSFM_SIFT_MAX_RADIUS ? PSFM_SIFT_MAX_RADIUS : radius;
    double sum = 0.0;
    for (int k = 0; k <= radius; ++k)
        sum += (k == 0 ? 1.0 : 2.0) * exp(-0.5 * k * k / (sigma * sigma));
    for (int k = 0; k <= radius; ++k)
        kernel[k] = (float)(exp(-0.5 * k * k / (sigma * sigma)) / sum);
    return radius;
}

static int clamp_index(int value, int last) {
    return value < 0 ? 0 : value > last ? last : value;
}

typedef struct {
    const psfm_sift_kernel *kernel;
    const psfm_sift_octave *octave; /* its size */
    float weights[PSFM_SIFT_MAX_RADIUS + 1];
    int radius;
} smoother;

/* A row of a strip with `radius` more pixels on either side. */
typedef float strip_row[STRIP + 2 * PSFM_SIFT_MAX_RADIUS + 2 * PSFM_SIFT_PAD];

/* Columns [begin, end) of rows y and y + 1, smoothed down the columns. */
static void smooth_columns(const smoother *s, const float *src, int y, int begin, int end,
                           strip_row buffers[2]) {
    const float *rows[2 * PSFM_SIFT_MAX_RADIUS + 2];
    int radius = s->radius, last_row = s->octave->height - 1, last = s->octave->width - 1;
    int from = clamp_index(begin - radius, last), to = clamp_index(end - 1 + radius, last) + 1;
    for (int k = 0; k <= 2 * radius + 1; ++k)
        rows[k] = src + clamp_index(y - radius + k, last_row) * s->octave->stride + from;
    int before = from - (begin - radius), num = to - from;
    float *const out[2] = {buffers[0] + before, buffers[1] + before};
    s->kernel->smooth_down(rows, s->weights, radius, (size_t)num, out);
    for (int i = 0; i < 2; ++i) {
        for (float *p = buffers[i]; p < out[i]; ++p)
            *p = out[i][0];
        for (int x = num; x < end + radius - from; ++x)
            out[i][x] = out[i][num - 1];
    }
}

static void smooth_strip(const smoother *s, const float *src, float *dst, int begin, int end) {
    strip_row buffers[2];
    for (int y = 0; y < s->octave->height; y += 2) {
        smooth_columns(s, src, y, begin, end, buffers);
        for (int i = 0; i < 2 && y + i < s->octave->height; ++i)
            s->kernel->smooth_along(buffers[i] + s->radius, s->weights, s->radius,
                                    (size_t)(end - begin),
                                    dst + (y + i) * s->octave->stride + begin);
    }
}

/* dst and src are planes of the octave's size and do not overlap. */
static void smooth_level(const psfm_sift_octave *octave, double sigma, const float *src,
                         float *dst) {
    smoother s = {.kernel = psfm_sift_kernel_choose(), .octave = octave};
    s.radius = make_kernel(sigma, s.weights);
    for (int begin = 0; begin < octave->width; begin += STRIP) {
        int end = begin + STRIP < octave->width ? begin + STRIP : octave->width;
        smooth_strip(&s, src, dst, begin, end);
    }
}

static float gray_at(const psfm_image *image, int x, int y) {
    return (float)image->gray[(size_t)y * (size_t)image->width + (size_t)x] / 255.0F;
}

/* One row of the image at twice its width. */
static void double_row(const psfm_image *image, int y, float *out) {
    float here = gray_at(image, 0, y);
    for (int x = 0; x < image->width; ++x) {
        float next = x + 1 < image->width ? gray_at(image, x + 1, y) : here;
        *out++ = here;
        *out++ = 0.5F * (here + next);
        here = next;
    }
}

static void double_image(const psfm_image *image, ptrdiff_t stride, float *out) {
    for (ptrdiff_t y = 0; y < image->height; ++y)
        double_row(image, (int)y, out + 2 * y * stride);
    for (ptrdiff_t y = 0; y < image->height; ++y) {
        const float *here = out + 2 * y * stride;
        const float *next = y + 1 < image->height ? here + 2 * stride : here;
        float *between = out + (2 * y + 1) * stride;
        for (ptrdiff_t x = 0; x < 2 * (ptrdiff_t)image->width; ++x)
            between[x] = 0.5F * (here[x] + next[x]);
    }
}

/* The image in the pixels of the first octave, before smoothing. */
static void load_image(const psfm_image *image, const psfm_sift_octave *octave, float *out) {
    if (octave->index < 0) {
        double_image(image, octave->stride, out);
        return;
    }
    int step = 1 << octave->index;
    for (int y = 0; y < octave->height; ++y)
        for (int x = 0; x < octave->width; ++x)
            out[y * octave->stride + x] = gray_at(image, step * x, step * y);
}

static void halve_octave(const psfm_sift_octave *from, const psfm_sift_octave *to, float *out) {
    const float *src = from->levels[PSFM_SIFT_LEVELS];
    for (ptrdiff_t y = 0; y < to->height; ++y)
        for (ptrdiff_t x = 0; x < to->width; ++x)
            out[y * to->stride + x] = src[2 * y * from->stride + 2 * x];
}

/* Level -1 of the first octave, by way of `scratch`. */
static void begin_first(const psfm_sift_space *space, const psfm_sift_octave *octave, float *base,
                        float *scratch) {
    double wanted = octave->sigma0 * exp2(-1.0 / PSFM_SIFT_LEVELS);
    double present = 0.5 * exp2(-octave->index);
    load_image(space->image, octave, wanted > present ? scratch : base);
    if (wanted > present)
        smooth_level(octave, sqrt(wanted * wanted - present * present), scratch, base);
}

/* Where level s goes: 0 .. S - 1 first, then S, S + 1 and -1, which give way to the next octave. */
static float *level_plane(const psfm_sift_space *space, const psfm_sift_octave *octave, int s) {
    size_t place = (size_t)(s >= 0 ? s : PSFM_SIFT_LEVELS + 2);
    return space->planes + space->used + place * (size_t)octave->stride * (size_t)octave->height;
}

const psfm_sift_octave *psfm_sift_space_next(psfm_sift_space *space) {
    if (space->num_built == space->num_octaves)
        return NULL;
    int o = space->first_octave + space->num_built;
    psfm_sift_octave *octave = &space->octaves[space->num_built];
    *octave = (psfm_sift_octave){.index = o,
                                 .width = side_at(space->image->width, o),
                                 .height = side_at(space->image->height, o),
                                 .sigma0 = 1.6 * exp2(1.0 / PSFM_SIFT_LEVELS)};
    octave->stride = (ptrdiff_t)round_up((size_t)octave->width);
    for (int s = -1; s <= PSFM_SIFT_LEVELS + 1; ++s)
        octave->levels[s + 1] = level_plane(space, octave, s);
    float *base = level_plane(space, octave, -1);
    if (space->num_built == 0)
        begin_first(space, octave, base, level_plane(space, octave, PSFM_SIFT_LEVELS + 1));
    else
        halve_octave(octave - 1, octave, base);
    double missing = octave->sigma0 * sqrt(1.0 - exp2(-2.0 / PSFM_SIFT_LEVELS));
    for (int s = 0; s <= PSFM_SIFT_LEVELS + 1; ++s)
        smooth_level(octave, missing * exp2((double)s / PSFM_SIFT_LEVELS), octave->levels[s],
                     level_plane(space, octave, s));
    space->used += PSFM_SIFT_LEVELS * (size_t)octave->stride * (size_t)octave->height;
    ++space->num_built;
    return octave;
}

/* Extrema of the difference of Gaussians D(x, y, s) = G(s + 1) - G(s), refined to a fraction of a
 * pixel by the quadratic through the 27 values: the offset solves H b = -g. If it leaves the pixel
 * (by 0.6) the neighbour is tried, up to four times. Kept are those with |D| at the offset above
 * the peak threshold, and curvatures whose ratio is below the edge threshold r:
 * trace^2 / det < (r + 1)^2 / r of the spatial Hessian. After Lowe (2004) with VLFeat's details. */

#define EDGE_THRESHOLD 10.0 /* largest ratio of the curvatures, as COLMAP has it */

typedef struct {
    const psfm_sift_octave *octave;
    int s, x, y;
} place;

/* D at an offset from a place. */
static double value_at(const place *p, int dx, int dy, int ds) {
    const float *const *levels = &p->octave->levels[p->s + ds + 1];
    ptrdiff_t at = (p->y + dy) * p->octave->stride + p->x + dx;
    return (double)(levels[1][at] - levels[0][at]);
}

/* Gradient g and Hessian H = (xx, yy, ss, xy, xs, ys). */
static void differentiate_place(const place *p, double g[3], double H[6]) {
    double centre = value_at(p, 0, 0, 0);
    double xm = value_at(p, -1, 0, 0), xp = value_at(p, 1, 0, 0);
    double ym = value_at(p, 0, -1, 0), yp = value_at(p, 0, 1, 0);
    double sm = value_at(p, 0, 0, -1), sp = value_at(p, 0, 0, 1);
    g[0] = 0.5 * (xp - xm);
    g[1] = 0.5 * (yp - ym);
    g[2] = 0.5 * (sp - sm);
    H[0] = xp + xm - 2.0 * centre;
    H[1] = yp + ym - 2.0 * centre;
    H[2] = sp + sm - 2.0 * centre;
    H[3] = 0.25 * (value_at(p, 1, 1, 0) + value_at(p, -1, -1, 0) - value_at(p, -1, 1, 0) -
                   value_at(p, 1, -1, 0));
    H[4] = 0.25 * (value_at(p, 1, 0, 1) + value_at(p, -1, 0, -1) - value_at(p, -1, 0, 1) -
                   value_at(p, 1, 0, -1));
    H[5] = 0.25 * (value_at(p, 0, 1, 1) + value_at(p, 0, -1, -1) - value_at(p, 0, -1, 1) -
                   value_at(p, 0, 1, -1));
}

/* Solves H b = -g by elimination with pivots; b = 0 if a pivot vanishes. */
static void solve_offset(const double g[3], const double H[6], double b[3]) {
    double A[3][4] = {
        {H[0], H[3], H[4], -g[0]}, {H[3], H[1], H[5], -g[1]}, {H[4], H[5], H[2], -g[2]}};
    for (int c = 0; c < 3; ++c) {
        int pivot = c;
        for (int r = c + 1; r < 3; ++r)
            if (fabs(A[r][c]) > fabs(A[pivot][c]))
                pivot = r;
        if (!(fabs(A[pivot][c]) >= 1e-10)) {
            b[0] = b[1] = b[2] = 0.0;
            return;
        }
        for (int k = c; k < 4; ++k) {
            double swap = A[c][k];
            A[c][k] = A[pivot][k];
            A[pivot][k] = swap;
        }
        for (int r = c + 1; r < 3; ++r) {
            double factor = A[r][c] / A[c][c];
            for (int k = c; k < 4; ++k)
                A[r][k] -= factor * A[c][k];
        }
    }
    b[2] = A[2][3] / A[2][2];
    b[1] = (A[1][3] - A[1][2] * b[2]) / A[1][1];
    b[0] = (A[0][3] - A[0][1] * b[1] - A[0][2] * b[2]) / A[0][0];
}

static int step_towards(double offset, int at, int size) {
    return offset > 0.6 && at < size - 2 ? 1 : offset < -0.6 && at > 1 ? -1 : 0;
}

static bool is_sharp(const place *p, const double g[3], const double H[6], const double b[3],
                     const psfm_sift_options *o) {
    double peak = value_at(p, 0, 0, 0) + 0.5 * (g[0] * b[0] + g[1] * b[1] + g[2] * b[2]);
    double trace = H[0] + H[1], det = H[0] * H[1] - H[3] * H[3];
    double score = trace * trace / det, r = EDGE_THRESHOLD;
    return fabs(peak) > o->peak_threshold && score >= 0.0 && score < (r + 1.0) * (r + 1.0) / r;
}

/* Refines an extremum; false if it is no keypoint. */
static bool refine_extremum(place p, const psfm_sift_options *o, psfm_sift_point *out) {
    const psfm_sift_octave *octave = p.octave;
    double g[3], H[6], b[3];
    for (int iteration = 0;; ++iteration) {
        differentiate_place(&p, g, H);
        solve_offset(g, H, b);
        int dx = step_towards(b[0], p.x, octave->width);
        int dy = step_towards(b[1], p.y, octave->height);
        if ((dx == 0 && dy == 0) || iteration == 4)
            break;
        p.x += dx;
        p.y += dy;
    }
    double x = p.x + b[0], y = p.y + b[1], s = p.s + b[2];
    bool inside = fabs(b[0]) < 1.5 && fabs(b[1]) < 1.5 && fabs(b[2]) < 1.5 && x >= 0.0 &&
                  x <= octave->width - 1 && y >= 0.0 && y <= octave->height - 1 && s >= -1.0 &&
                  s <= PSFM_SIFT_LEVELS + 1;
    if (!inside || !is_sharp(&p, g, H, b, o))
        return false;
    out->level = p.s;
    out->x = (float)x;
    out->y = (float)y;
    out->sigma = (float)(octave->sigma0 * exp2(s / PSFM_SIFT_LEVELS));
    return true;
}

/* The smallest float that is not below a number. */
static float float_above(double value) {
    float f = (float)value;
    return (double)f < value ? nextafterf(f, INFINITY) : f;
}

/* Keypoints of the row that begins at `row`. */
static psfm_status detect_row(psfm_context *ctx, place row, int position,
                              const psfm_sift_options *options, uint32_t *found,
                              psfm_sift_points *points) {
    const psfm_sift_octave *octave = row.octave;
    const float *rows[4];
    for (int k = 0; k < 4; ++k)
        rows[k] = octave->levels[row.s + k] + row.y * octave->stride;
    size_t num = psfm_sift_kernel_choose()->find_extrema(
        rows, octave->stride, octave->width, float_above(0.8 * options->peak_threshold), found);
    psfm_status status = PSFM_RESERVE(ctx, &points->points, &points->capacity, points->num + num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        psfm_sift_point point = {.octave = position};
        if (refine_extremum((place){octave, row.s, (int)found[k], row.y}, options, &point))
            points->points[points->num++] = point;
    }
    return status;
}

static psfm_status append_points(psfm_context *ctx, const psfm_sift_points *from,
                                 psfm_sift_points *to) {
    psfm_status status = PSFM_RESERVE(ctx, &to->points, &to->capacity, to->num + from->num);
    if (status != PSFM_OK || from->num == 0)
        return status;
    memcpy(to->points + to->num, from->points, from->num * sizeof *from->points);
    to->num += from->num;
    return PSFM_OK;
}

/* Rows go in the outer loop, levels in the inner one: levels share planes, which are larger than
 * the caches are. */
psfm_status psfm_sift_detect(psfm_context *ctx, const psfm_sift_octave *octave, int position,
                             const psfm_sift_options *options, psfm_sift_points *points) {
    psfm_sift_points levels[PSFM_SIFT_LEVELS] = {{0}};
    uint32_t *found = NULL;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)octave->width, &found);
    for (int y = 1; status == PSFM_OK && y < octave->height - 1; ++y)
        for (int s = 0; status == PSFM_OK && s < PSFM_SIFT_LEVELS; ++s)
            status =
                detect_row(ctx, (place){octave, s, 0, y}, position, options, found, &levels[s]);
    for (int s = 0; s < PSFM_SIFT_LEVELS; ++s) {
        if (status == PSFM_OK)
            status = append_points(ctx, &levels[s], points);
        free(levels[s].points);
    }
    free(found);
    return status;
}
