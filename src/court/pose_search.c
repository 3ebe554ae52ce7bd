/* With the rotation known, the lines of the photograph along x lie at offsets o (in heights of the
 * camera) from the point below it, those of the drawing at y: y = h o + cy, with the same height h
 * and cy for all. Two lines of the photograph that are matched with two of the drawing give both;
 * each such pair of numbers is judged by how many other lines it places onto lines of the drawing.
 * The best of them, with each place of one line along y, give whole positions (cx, cy, h), and the
 * other way round. All of these are scored on a few samples of the drawing, the best on all. */
#include "court/pose_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"
#include "court/manhattan_frames.h"

/* ---- scores of poses ---- */

/* The inner loop of the search: samples of the drawing are projected in blocks without branches, so
 * that the compiler makes vectors of it, and the evidence is then looked up one by one. */

/* Columns of floats, one entry a sample: P = K R X and its derivative along the line, so that a
 * sample's pixel for centre C is that of P - K R C. Owns its memory. */
typedef struct {
    const psfm_line_evidence *evidence;
    psfm_paint paint;
    size_t num; /* samples, filled up to a multiple of SCORER_BLOCK with unseen ones */
    float *p[3], *t[3];
    float *memory;
    float step;      /* metres between samples */
    float min_depth; /* metres */
    double A[9];     /* K R */
} psfm_scorer;

#define SCORER_BLOCK 32

#define MAX_LENGTH 12.0F /* pixels of line that one sample stands for at most */

/* What a block of samples hits. */
typedef struct {
    int at[SCORER_BLOCK];       /* index into the maps; -1: not in the image */
    float length[SCORER_BLOCK]; /* pixels */
} hits;

static psfm_status init_scorer(psfm_context *ctx, const psfm_search_plan *plan,
                               const psfm_line_evidence *evidence, psfm_scorer *scorer) {
    size_t blocks = (plan->num_coarse + SCORER_BLOCK - 1) / SCORER_BLOCK;
    size_t num = blocks * SCORER_BLOCK;
    *scorer = (psfm_scorer){.evidence = evidence,
                            .paint = plan->drawing->paint,
                            .num = num,
                            .step = (float)plan->coarse_step,
                            .min_depth = (float)(plan->size / 32.0)};
    psfm_status status = PSFM_ALLOC(ctx, 6 * num, &scorer->memory);
    for (size_t d = 0; d < 3 && status == PSFM_OK; ++d) {
        scorer->p[d] = scorer->memory + d * num;
        scorer->t[d] = scorer->memory + (d + 3) * num;
    }
    return status;
}

static void free_scorer(psfm_scorer *scorer) {
    free(scorer->memory);
    *scorer = (psfm_scorer){0};
}

/* Sets the orientation: `camera` is a PINHOLE with the focal lengths to use. */
static void turn_scorer(psfm_scorer *scorer, const psfm_search_plan *plan,
                        const psfm_camera *camera, const double R[9]) {
    const double *c = camera->params;
    const double K[9] = {c[0], 0.0, c[2], 0.0, c[1], c[3], 0.0, 0.0, 1.0};
    psfm_mat3_mul(K, R, scorer->A);
    for (size_t k = 0; k < scorer->num; ++k) {
        bool real = k < plan->num_coarse;
        psfm_drawing_sample s = real ? plan->coarse[k] : (psfm_drawing_sample){0};
        for (int d = 0; d < 3; ++d) {
            float a = (float)scorer->A[3 * d], b = (float)scorer->A[3 * d + 1];
            scorer->p[d][k] = a * s.x + b * s.y;
            scorer->t[d][k] = a * s.tx + b * s.ty;
        }
        if (!real)
            scorer->p[2][k] = -1e30F; /* behind every camera */
    }
}

/* Projects a block of samples, branch-free for vectors. */
static void find_hits(const psfm_scorer *s, const float c[3], size_t first, hits *out) {
    const float *px = s->p[0] + first, *py = s->p[1] + first, *pz = s->p[2] + first;
    const float *tx = s->t[0] + first, *ty = s->t[1] + first, *tz = s->t[2] + first;
    const int w = s->evidence->coarse_width, h = s->evidence->coarse_height;
    const float width = (float)s->evidence->width, height = (float)s->evidence->height;
    for (int k = 0; k < SCORER_BLOCK; ++k) {
        float z = pz[k] - c[2];
        bool front = z > s->min_depth;
        float inverse = 1.0F / (front ? z : 1.0F);
        float x = (px[k] - c[0]) * inverse, y = (py[k] - c[1]) * inverse;
        float dx = (tx[k] - x * tz[k]) * inverse, dy = (ty[k] - y * tz[k]) * inverse;
        bool inside = front & (x >= 0.0F) & (y >= 0.0F) & (x < width) & (y < height);
        float length = sqrtf(dx * dx + dy * dy) * s->step;
        int u = (int)(inside ? x : 0.0F) / PSFM_COARSE, v = (int)(inside ? y : 0.0F) / PSFM_COARSE;
        int at = (psfm_way(dx, dy) * h + v) * w + u;
        out->at[k] = inside ? at : -1;
        out->length[k] = length < MAX_LENGTH ? length : MAX_LENGTH;
    }
}

/* The evidence for a camera at `center`, from the first num_samples samples (a multiple of the
 * block, or more than there are): of light or of dark lines, whichever is more if the paint may be
 * either. */
static double score_position(const psfm_scorer *scorer, const double center[3],
                             size_t num_samples) {
    double moved[3];
    const int8_t *light = scorer->evidence->coarse[0], *dark = scorer->evidence->coarse[1];
    float sum[2] = {0.0F, 0.0F};
    psfm_mat3_mul_vec(scorer->A, center, moved);
    const float c[3] = {(float)moved[0], (float)moved[1], (float)moved[2]};
    for (size_t first = 0; first < scorer->num && first < num_samples; first += SCORER_BLOCK) {
        hits block;
        find_hits(scorer, c, first, &block);
        for (int k = 0; k < SCORER_BLOCK; ++k) {
            if (block.at[k] < 0)
                continue;
            sum[0] += block.length[k] * (float)light[block.at[k]];
            sum[1] += block.length[k] * (float)dark[block.at[k]];
        }
    }
    double best = scorer->paint == PSFM_PAINT_LIGHT  ? (double)sum[0]
                  : scorer->paint == PSFM_PAINT_DARK ? (double)sum[1]
                                                     : (double)fmaxf(sum[0], sum[1]);
    return best / PSFM_LLR_UNIT;
}

/* ---- lines along the axes of a drawing ---- */

/* On a floor below the camera a line along x has one y: in units of the camera's height it is
 * -ray_y / ray_z for any of its points. Segments that agree in it are of one line. */

#define AXIS_LINES 14 /* the best are kept */

/* A line on the floor, seen as if the camera were one unit above it: its place across the axis. */
typedef struct {
    double offset; /* in heights of the camera, from the point below it */
    double sigma;  /* change of the offset with a pixel */
    double weight; /* pixels of segments on it */
} axis_line;

#define MAX_SEGMENTS 1000
#define ANGLE_TOLERANCE 0.0175 /* radians, and 1.2 pixels over the segment's length more */
#define MIN_BELOW 0.02         /* sine of the angle below the horizon */
#define MAX_OFFSET 12.0        /* heights of the camera */
#define MIN_SIGMA 0.002        /* heights of the camera */

/* The ray of a pixel in the frame's axes, unit length. */
static void world_ray(const psfm_camera *camera, const double R[9], double x, double y,
                      double ray[3]) {
    double in_camera[3] = {(x - camera->params[2]) / camera->params[0],
                           (y - camera->params[3]) / camera->params[1], 1.0};
    psfm_normalize3(in_camera);
    psfm_mat3_tmul_vec(R, in_camera, ray);
}

/* Sine of the angle in the image between a segment and the way to an axis's vanishing point. */
static double axis_sine(const double n[3], const double m[3], int axis) {
    return fabs(n[axis]) / sqrt(1.0 - m[axis] * m[axis] + 1e-12);
}

/* Where the segment lies across the axis; false if it is not along it, or not on the floor. */
static bool place_segment(const psfm_segment *g, const psfm_camera *camera, const double R[9],
                          int axis, axis_line *line) {
    double a[3], b[3], n[3], m[3], beside[3];
    double x = 0.5 * (g->a[0] + g->b[0]), y = 0.5 * (g->a[1] + g->b[1]);
    world_ray(camera, R, g->a[0], g->a[1], a);
    world_ray(camera, R, g->b[0], g->b[1], b);
    world_ray(camera, R, x, y, m);
    psfm_cross3(a, b, n);
    psfm_normalize3(n);
    double sine = axis_sine(n, m, axis), tolerance = ANGLE_TOLERANCE + 1.2 / g->length;
    if (sine > tolerance || sine > axis_sine(n, m, 1 - axis) || a[2] > -MIN_BELOW ||
        b[2] > -MIN_BELOW)
        return false;
    world_ray(camera, R, x - (g->b[1] - g->a[1]) / g->length, y + (g->b[0] - g->a[0]) / g->length,
              beside);
    line->offset = -m[1 - axis] / m[2];
    line->sigma = fabs(-beside[1 - axis] / beside[2] - line->offset);
    line->weight = g->length * fmin(1.0, g->strength / 20.0 + 0.3);
    return fabs(line->offset) < MAX_OFFSET;
}

static int by_offset(const void *a, const void *b) {
    double x = ((const axis_line *)a)->offset, y = ((const axis_line *)b)->offset;
    return (x > y) - (x < y);
}

/* Heaviest first; equal ones by their places. */
static int by_weight(const void *a, const void *b) {
    double x = ((const axis_line *)a)->weight, y = ((const axis_line *)b)->weight;
    return x != y ? (x < y) - (x > y) : by_offset(a, b);
}

/* Joins sorted places that are less than one and a half pixels apart; returns how many remain. */
static size_t join_lines(axis_line *lines, size_t num) {
    size_t out = 0;
    double last = 0.0, last_sigma = 0.0;
    for (size_t k = 0; k < num; ++k) {
        axis_line l = lines[k];
        double gap = 1.5 * fmax(fmin(l.sigma, last_sigma), MIN_SIGMA);
        last_sigma = l.sigma;
        if (out > 0 && l.offset - last <= gap) {
            axis_line *to = &lines[out - 1];
            double sum = to->weight + l.weight;
            to->offset += l.weight / sum * (l.offset - to->offset);
            to->sigma += l.weight / sum * (l.sigma - to->sigma);
            to->weight = sum;
        } else {
            lines[out++] = l;
        }
        last = l.offset;
    }
    return out;
}

/* Collects the segments that run along `axis` (0: x, 1: y) of the frame R (cam_from_world) below
 * the horizon; those at the same place are one line. Returns how many, heaviest first. `camera` is
 * a PINHOLE with the focal lengths to use. */
static size_t find_axis_lines(const psfm_segments *segments, const psfm_camera *camera,
                              const double R[9], int axis, axis_line lines[AXIS_LINES]) {
    axis_line all[MAX_SEGMENTS];
    size_t num = 0;
    for (size_t k = 0; k < segments->num && k < MAX_SEGMENTS; ++k)
        if (place_segment(&segments->items[k], camera, R, axis, &all[num]))
            ++num;
    qsort(all, num, sizeof *all, by_offset);
    num = join_lines(all, num);
    qsort(all, num, sizeof *all, by_weight);
    size_t kept = num < AXIS_LINES ? num : AXIS_LINES;
    for (size_t k = 0; k < kept; ++k)
        lines[k] = all[k];
    return kept;
}

/* ---- the search ---- */

#define COARSE_STEPS 50 /* samples along a line as long as the drawing is large */
#define FINE_STEPS 160
#define MAX_STRIPES 250   /* heights with an offset that are taken on per axis */
#define FIRST_SAMPLES 96  /* samples of the first score */
#define SECOND_SHARE 12   /* one in so many positions gets a whole score */
#define MIN_GAP 0.02      /* heights; nearer lines tell no height */
#define MAX_WEIGHT 250.0  /* pixels; heavier lines count like this */
#define SLACK (0.12 / 32) /* sizes of the drawing by which its lines may be elsewhere */
#define SAME_HEIGHT 0.01  /* of the logarithm */
#define SAME_PLACE (0.1 / 32)
#define DISTINCT (0.3 / 32)
#define MAX_AWAY 2.0 /* sizes of the drawing from its origin to the camera */

/* A height and an offset that place many lines. */
typedef struct {
    double height, shift, support;
} stripe;

typedef struct {
    double center[3];
    double score;
} position;

typedef struct {
    const psfm_search_plan *plan;
    axis_line lines[2][AXIS_LINES]; /* along x, along y */
    size_t num_lines[2];
    stripe *stripes;
    size_t num_stripes, stripe_capacity;
    position *positions;
    size_t num_positions, position_capacity;
    psfm_scorer scorer;
} hunt;

/* ---- plan ---- */

static size_t common_divisor(size_t a, size_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Orders samples so that every beginning is spread over all: by steps of the golden ratio. */
static psfm_status spread_samples(psfm_context *ctx, psfm_drawing_sample *samples, size_t num) {
    psfm_drawing_sample *copy = NULL;
    size_t step = (size_t)(0.6180339887498949 * (double)num) | 1U;
    while (common_divisor(step, num) != 1)
        step += 2;
    psfm_status status = PSFM_ALLOC(ctx, num, &copy);
    if (status != PSFM_OK)
        return status;
    memcpy(copy, samples, num * sizeof *copy);
    for (size_t k = 0; k < num; ++k)
        samples[k] = copy[k * step % num];
    free(copy);
    return PSFM_OK;
}

psfm_status psfm_search_plan_init(psfm_context *ctx, const psfm_drawing *drawing, double min_height,
                                  double max_height, psfm_search_plan *plan) {
    *plan =
        (psfm_search_plan){.drawing = drawing, .min_height = min_height, .max_height = max_height};
    plan->size = psfm_drawing_size(drawing);
    plan->coarse_step = plan->size / COARSE_STEPS;
    plan->fine_step = plan->size / FINE_STEPS;
    psfm_status status = PSFM_OK;
    for (int axis = 0; axis < 2 && status == PSFM_OK; ++axis)
        status = psfm_drawing_offsets(ctx, drawing, axis, &plan->offsets[axis],
                                      &plan->num_offsets[axis]);
    if (status == PSFM_OK)
        status = psfm_drawing_sample_lines(ctx, drawing, plan->coarse_step, &plan->coarse,
                                           &plan->num_coarse);
    if (status == PSFM_OK)
        status =
            psfm_drawing_sample_lines(ctx, drawing, plan->fine_step, &plan->fine, &plan->num_fine);
    return status == PSFM_OK ? spread_samples(ctx, plan->coarse, plan->num_coarse) : status;
}

void psfm_search_plan_free(psfm_search_plan *plan) {
    free(plan->offsets[0]);
    free(plan->offsets[1]);
    free(plan->coarse);
    free(plan->fine);
    *plan = (psfm_search_plan){0};
}

/* ---- stripes: one axis ---- */

/* Pixels of lines that a height and a shift place onto lines of the drawing. */
static double stripe_support(const hunt *h, int axis, double height, double shift) {
    const double *offsets = h->plan->offsets[axis];
    double sum = 0.0;
    for (size_t k = 0; k < h->num_lines[axis]; ++k) {
        const axis_line *line = &h->lines[axis][k];
        double at = height * line->offset + shift, best = INFINITY;
        for (size_t j = 0; j < h->plan->num_offsets[axis]; ++j)
            best = fmin(best, fabs(at - offsets[j]));
        double share = best / (SLACK * h->plan->size + 1.5 * height * line->sigma);
        if (share < 1.0)
            sum += (1.0 - share * share) * fmin(line->weight, MAX_WEIGHT);
    }
    return sum;
}

/* All stripes that two lines of the photograph on two of the drawing give. */
static psfm_status add_pair(psfm_context *ctx, hunt *h, int axis, size_t i, size_t j) {
    const double *m = h->plan->offsets[axis];
    const axis_line *lines = h->lines[axis];
    size_t n = h->plan->num_offsets[axis];
    double gap = lines[j].offset - lines[i].offset;
    if (fabs(gap) < MIN_GAP)
        return PSFM_OK;
    psfm_status status =
        PSFM_RESERVE(ctx, &h->stripes, &h->stripe_capacity, h->num_stripes + n * n);
    for (size_t a = 0; a < n && status == PSFM_OK; ++a) {
        for (size_t b = 0; b < n; ++b) {
            double height = (m[b] - m[a]) / gap;
            if (!(height > h->plan->min_height && height < h->plan->max_height))
                continue;
            double shift = m[a] - height * lines[i].offset;
            h->stripes[h->num_stripes++] =
                (stripe){height, shift, stripe_support(h, axis, height, shift)};
        }
    }
    return status;
}

static int best_stripe_first(const void *a, const void *b) {
    const stripe *p = a, *q = b;
    if (p->support != q->support)
        return p->support > q->support ? -1 : 1;
    if (p->height != q->height)
        return p->height < q->height ? -1 : 1;
    return (p->shift > q->shift) - (p->shift < q->shift);
}

/* Keeps the best that differ from each other. */
static void thin_stripes(hunt *h) {
    size_t kept = 0;
    if (h->num_stripes > 0)
        qsort(h->stripes, h->num_stripes, sizeof *h->stripes, best_stripe_first);
    for (size_t k = 0; k < h->num_stripes && kept < MAX_STRIPES; ++k) {
        const stripe *s = &h->stripes[k];
        bool fresh = true;
        for (size_t j = 0; j < kept && fresh; ++j)
            fresh = fabs(s->shift - h->stripes[j].shift) > SAME_PLACE * h->plan->size ||
                    fabs(s->height - h->stripes[j].height) > SAME_HEIGHT * s->height;
        if (fresh)
            h->stripes[kept++] = *s;
    }
    h->num_stripes = kept;
}

static psfm_status find_stripes(psfm_context *ctx, hunt *h, int axis) {
    psfm_status status = PSFM_OK;
    h->num_stripes = 0;
    for (size_t i = 0; i < h->num_lines[axis]; ++i)
        for (size_t j = i + 1; j < h->num_lines[axis] && status == PSFM_OK; ++j)
            status = add_pair(ctx, h, axis, i, j);
    if (status == PSFM_OK)
        thin_stripes(h);
    return status;
}

/* ---- positions ---- */

/* Each stripe of one axis with each line of the other on each of the drawing's. */
static psfm_status add_positions(psfm_context *ctx, hunt *h, int axis) {
    size_t n = h->plan->num_offsets[1 - axis], lines = h->num_lines[1 - axis];
    double far = MAX_AWAY * h->plan->size;
    psfm_status status = PSFM_RESERVE(ctx, &h->positions, &h->position_capacity,
                                      h->num_positions + h->num_stripes * n * lines);
    for (size_t k = 0; k < h->num_stripes && status == PSFM_OK; ++k) {
        const stripe *s = &h->stripes[k];
        for (size_t l = 0; l < lines; ++l) {
            for (size_t j = 0; j < n; ++j) {
                double other =
                    h->plan->offsets[1 - axis][j] - s->height * h->lines[1 - axis][l].offset;
                if (hypot(other, s->shift) > far)
                    continue;
                position *p = &h->positions[h->num_positions++];
                p->center[1 - axis] = s->shift; /* lines along x tell y */
                p->center[axis] = other;
                p->center[2] = s->height;
            }
        }
    }
    return status;
}

static int best_position_first(const void *a, const void *b) {
    const position *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    for (int d = 0; d < 3; ++d)
        if (p->center[d] != q->center[d])
            return p->center[d] < q->center[d] ? -1 : 1;
    return 0;
}

/* Scores all on a few samples, the best on all of them, and leaves these, best first. */
static void score_positions(hunt *h) {
    if (h->num_positions == 0)
        return;
    for (size_t k = 0; k < h->num_positions; ++k)
        h->positions[k].score = score_position(&h->scorer, h->positions[k].center, FIRST_SAMPLES);
    qsort(h->positions, h->num_positions, sizeof *h->positions, best_position_first);
    size_t rest = h->num_positions / SECOND_SHARE + PSFM_GUESSES;
    h->num_positions = rest < h->num_positions ? rest : h->num_positions;
    for (size_t k = 0; k < h->num_positions; ++k)
        h->positions[k].score =
            score_position(&h->scorer, h->positions[k].center, h->plan->num_coarse);
    qsort(h->positions, h->num_positions, sizeof *h->positions, best_position_first);
}

static bool is_distinct(const psfm_court_guess *guesses, size_t num, const double center[3],
                        double away) {
    for (size_t k = 0; k < num; ++k) {
        double d[3];
        psfm_sub3(guesses[k].center, center, d);
        if (psfm_norm3(d) < away)
            return false;
    }
    return true;
}

/* The best positions that are apart from each other. */
static void take_best(const hunt *h, const double R[9], double focal, psfm_court_guess *guesses,
                      size_t *num_guesses) {
    psfm_court_guess *own = guesses + *num_guesses;
    size_t num = 0;
    for (size_t k = 0; k < h->num_positions && num < PSFM_GUESSES; ++k) {
        const position *p = &h->positions[k];
        if (!is_distinct(own, num, p->center, DISTINCT * h->plan->size))
            continue;
        psfm_court_guess *g = &own[num++];
        *g = (psfm_court_guess){.focal = focal, .score = p->score};
        memcpy(g->R, R, sizeof g->R);
        memcpy(g->center, p->center, sizeof g->center);
    }
    *num_guesses += num;
}

/* One orientation. */
static psfm_status search_turn(psfm_context *ctx, hunt *h, const psfm_segments *segments,
                               const psfm_camera *camera, const double R[9]) {
    psfm_status status = PSFM_OK;
    h->num_positions = 0;
    for (int axis = 0; axis < 2; ++axis)
        h->num_lines[axis] = find_axis_lines(segments, camera, R, axis, h->lines[axis]);
    for (int axis = 0; axis < 2 && status == PSFM_OK; ++axis) {
        status = find_stripes(ctx, h, axis);
        if (status == PSFM_OK)
            status = add_positions(ctx, h, axis);
    }
    if (status == PSFM_OK) {
        turn_scorer(&h->scorer, h->plan, camera, R);
        score_positions(h);
    }
    return status;
}

/* x becomes the former y, y the former -x. */
static void turn_by_quarter(double R[9]) {
    for (int d = 0; d < 3; ++d) {
        double x = R[3 * d];
        R[3 * d] = R[3 * d + 1];
        R[3 * d + 1] = -x;
    }
}

psfm_status psfm_court_search(psfm_context *ctx, const psfm_search_plan *plan,
                              const psfm_search_scene *scene, const psfm_court_frame *frame,
                              psfm_court_guess *guesses, size_t *num_guesses) {
    hunt h = {.plan = plan};
    psfm_camera scaled = *scene->camera;
    scaled.params[0] *= frame->focal;
    scaled.params[1] *= frame->focal;
    double R[9];
    memcpy(R, frame->R, sizeof R);
    *num_guesses = 0;
    psfm_status status = init_scorer(ctx, plan, scene->evidence, &h.scorer);
    for (int quarter = 0; quarter < PSFM_SEARCH_QUARTERS && status == PSFM_OK; ++quarter) {
        status = search_turn(ctx, &h, scene->segments, &scaled, R);
        if (status == PSFM_OK)
            take_best(&h, R, frame->focal, guesses, num_guesses);
        turn_by_quarter(R);
    }
    free_scorer(&h.scorer);
    free(h.stripes);
    free(h.positions);
    return status;
}
