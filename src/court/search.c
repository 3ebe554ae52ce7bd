/* With the rotation known, the lines of the photograph along x lie at offsets o (in heights of the
 * camera) from the point below it, those of the drawing at y: y = h o + cy, with the same height h
 * and cy for all. Two lines of the photograph that are held against two of the drawing give both;
 * each such pair of numbers is judged by how many other lines it places onto lines of the drawing.
 * The best of them, with each place of one line along y, give whole positions (cx, cy, h), and the
 * other way round. All of these are scored on a few samples of the drawing, the best on all. */
#include "court/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "court/axis_lines.h"
#include "court/scorer.h"
#include "linalg/vec3.h"

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
    psfm_axis_line lines[2][PSFM_AXIS_LINES]; /* along x, along y */
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
        const psfm_axis_line *line = &h->lines[axis][k];
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
    const psfm_axis_line *lines = h->lines[axis];
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
        h->positions[k].score =
            psfm_scorer_score(&h->scorer, h->positions[k].center, FIRST_SAMPLES);
    qsort(h->positions, h->num_positions, sizeof *h->positions, best_position_first);
    size_t rest = h->num_positions / SECOND_SHARE + PSFM_GUESSES;
    h->num_positions = rest < h->num_positions ? rest : h->num_positions;
    for (size_t k = 0; k < h->num_positions; ++k)
        h->positions[k].score =
            psfm_scorer_score(&h->scorer, h->positions[k].center, h->plan->num_coarse);
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
        h->num_lines[axis] = psfm_axis_lines_find(segments, camera, R, axis, h->lines[axis]);
    for (int axis = 0; axis < 2 && status == PSFM_OK; ++axis) {
        status = find_stripes(ctx, h, axis);
        if (status == PSFM_OK)
            status = add_positions(ctx, h, axis);
    }
    if (status == PSFM_OK) {
        psfm_scorer_turn(&h->scorer, h->plan, camera, R);
        score_positions(h);
    }
    return status;
}

psfm_status psfm_court_search(psfm_context *ctx, const psfm_search_plan *plan,
                              const psfm_search_scene *scene, const psfm_court_frame *frame,
                              psfm_court_guess *guesses, size_t *num_guesses) {
    hunt h = {.plan = plan};
    psfm_camera scaled = *scene->camera;
    scaled.params[0] *= frame->focal;
    scaled.params[1] *= frame->focal;
    *num_guesses = 0;
    psfm_status status = psfm_scorer_init(ctx, plan, scene->evidence, &h.scorer);
    for (int turn = 0; turn < 2 && status == PSFM_OK; ++turn) {
        double R[9];
        memcpy(R, frame->R, sizeof R);
        for (int d = 0; d < 3 && turn == 1; ++d) { /* x becomes the former y, y the former -x */
            R[3 * d] = frame->R[3 * d + 1];
            R[3 * d + 1] = -frame->R[3 * d];
        }
        status = search_turn(ctx, &h, scene->segments, &scaled, R);
        if (status == PSFM_OK)
            take_best(&h, R, frame->focal, guesses, num_guesses);
    }
    psfm_scorer_free(&h.scorer);
    free(h.stripes);
    free(h.positions);
    return status;
}
