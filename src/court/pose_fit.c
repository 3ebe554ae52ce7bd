/* Gauss-Newton on the distances, across the projected lines, from the drawing's samples to their
 * nearest line pixels. Each round looks for them anew, within a reach that shrinks; a pixel far
 * from its line counts less (biweight), so that others' lines lose their pull.
 *
 * Unknowns: a turn w of the camera (R <- exp(w) R), its centre in sizes of the drawing, and if they
 * are free the logarithm of the focal length, and the drawing's length and width in its sizes. */
#include "court/pose_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"

#define MAX_UNKNOWNS 9
#define MAX_LENGTH 15.0 /* pixels of line that one sample stands for at most, in the fit */
#define MAX_WEIGHT 12.0 /* and in the score */
#define ROUNDS 6        /* for each reach */
#define MIN_SAMPLES 12
#define DAMPING 1e-3
#define MIN_DEPTH (1.0 / 64) /* sizes of the drawing */
#define MAX_HEIGHT 2.0       /* sizes of the drawing */
#define BUNDLE 10            /* samples in a row whose errors may have one cause */
#define SIGMA_REACH 4.0      /* pixels */
#define SIZE_STEP 0.25       /* metres between sizes that are tried */

static const double reaches[] = {14.0, 9.0, 6.0, 4.0, 3.0}; /* pixels */

static bool has_free_size(const psfm_court_job *j) {
    return psfm_drawing_is_free(j->plan->drawing);
}

static uint32_t layer_of(const psfm_court_job *j, const psfm_drawing_sample *s) {
    return j->plan->drawing->parts[s->part].layer;
}

/* 0: the line is light, 1: dark. */
static int tone_of(const psfm_court_job *j, const psfm_court_fit *f, const psfm_drawing_sample *s) {
    return (int)(f->dark >> layer_of(j, s) & 1U);
}

static int num_unknowns(const psfm_court_job *j) {
    return 6 + (j->free_focal ? 1 : 0) + (has_free_size(j) ? 2 : 0);
}

/* A sample as the camera sees it. */
typedef struct {
    double q[3];     /* in the camera */
    double at[2];    /* pixel */
    double along[2]; /* unit vector along the line */
    double length;   /* pixels of line for one sample, not limited */
} seen;

/* Where the sample is in the camera and in the image; false if it is not in front of it. */
static bool place_sample(const psfm_court_job *j, const psfm_court_fit *f,
                         const psfm_drawing_sample *s, double q[3], double at[2]) {
    double X[3] = {(double)s->x + (double)s->mx * f->grow[0] - f->center[0],
                   (double)s->y + (double)s->my * f->grow[1] - f->center[1], -f->center[2]};
    psfm_mat3_mul_vec(f->R, X, q);
    if (!(q[2] > MIN_DEPTH * j->plan->size))
        return false;
    for (int d = 0; d < 2; ++d)
        at[d] = f->focal * j->camera->params[d] * q[d] / q[2] + j->camera->params[2 + d];
    return true;
}

static bool see_sample(const psfm_court_job *j, const psfm_court_fit *f,
                       const psfm_drawing_sample *s, seen *out) {
    double fx = f->focal * j->camera->params[0], fy = f->focal * j->camera->params[1];
    double along[3] = {(double)s->tx, (double)s->ty, 0.0}, T[3];
    if (!place_sample(j, f, s, out->q, out->at) || !psfm_line_evidence_sees(j->evidence, out->at))
        return false;
    double x = out->q[0] / out->q[2], y = out->q[1] / out->q[2];
    psfm_mat3_mul_vec(f->R, along, T);
    double dx = fx * (T[0] - x * T[2]) / out->q[2], dy = fy * (T[1] - y * T[2]) / out->q[2];
    double speed = sqrt(dx * dx + dy * dy);
    out->along[0] = dx / speed;
    out->along[1] = dy / speed;
    out->length = speed * j->plan->fine_step;
    return speed > 0.0;
}

/* How the sample moves across its line with the unknowns. */
static void across_jacobian(const psfm_court_job *j, const psfm_court_fit *f,
                            const psfm_drawing_sample *sample, const seen *s,
                            double J[MAX_UNKNOWNS]) {
    double fx = f->focal * j->camera->params[0], fy = f->focal * j->camera->params[1];
    double nx = -s->along[1], ny = s->along[0], z = s->q[2];
    double x = s->q[0] / z, y = s->q[1] / z, D[3], back[3];
    D[0] = nx * fx / z;
    D[1] = ny * fy / z;
    D[2] = -(nx * fx * x + ny * fy * y) / z;
    psfm_cross3(s->q, D, J);
    psfm_mat3_tmul_vec(f->R, D, back);
    for (int d = 0; d < 3; ++d)
        J[3 + d] = -back[d] * j->plan->size;
    int next = 6;
    if (j->free_focal)
        J[next++] = nx * fx * x + ny * fy * y;
    if (has_free_size(j)) {
        J[next++] = back[0] * (double)sample->mx * j->plan->size;
        J[next] = back[1] * (double)sample->my * j->plan->size;
    }
}

/* Normal equations of a fit, and what they rest on. */
typedef struct {
    double H[MAX_UNKNOWNS * MAX_UNKNOWNS], g[MAX_UNKNOWNS];
    /* sum of the outer products of the gradients of bundles of samples */
    double spread[MAX_UNKNOWNS * MAX_UNKNOWNS], bundle[MAX_UNKNOWNS];
    int in_bundle, num_bundles;
    uint32_t part;
    double sum_weight, sum_squares;
    int num;
} equations;

static void close_bundle(int size, equations *e) {
    if (e->in_bundle == 0)
        return;
    for (int a = 0; a < size; ++a)
        for (int b = 0; b < size; ++b)
            e->spread[a * size + b] += e->bundle[a] * e->bundle[b];
    memset(e->bundle, 0, sizeof e->bundle);
    e->in_bundle = 0;
    ++e->num_bundles;
}

static void add_equation(const double J[], double distance, double weight, int size, uint32_t part,
                         equations *e) {
    if (part != e->part || e->in_bundle == BUNDLE)
        close_bundle(size, e);
    e->part = part;
    ++e->in_bundle;
    for (int a = 0; a < size; ++a) {
        e->g[a] += weight * J[a] * distance;
        e->bundle[a] += weight * J[a] * distance;
        for (int b = 0; b <= a; ++b)
            e->H[a * size + b] += weight * J[a] * J[b];
    }
    e->sum_weight += weight;
    e->sum_squares += weight * distance * distance;
    ++e->num;
}

/* What the rules say of the size, as two more equations: a quarter of the range that they leave. */
static double size_prior(const psfm_court_job *j, int d) {
    const psfm_drawing *drawing = j->plan->drawing;
    double sigma = 0.25 * (drawing->most[d] - drawing->least[d]) / j->plan->size;
    return 1.0 / (sigma * sigma);
}

static void add_priors(const psfm_court_job *j, const psfm_court_fit *f, equations *e) {
    int size = num_unknowns(j);
    for (int d = 0; d < 2 && has_free_size(j); ++d) {
        int k = size - 2 + d;
        e->H[k * size + k] += size_prior(j, d);
        e->g[k] -= size_prior(j, d) * f->grow[d] / j->plan->size;
    }
}

static void collect_equations(const psfm_court_job *j, const psfm_court_fit *f, double reach,
                              equations *e) {
    int size = num_unknowns(j);
    *e = (equations){0};
    for (size_t k = 0; k < j->plan->num_fine; ++k) {
        const psfm_drawing_sample *sample = &j->plan->fine[k];
        seen s;
        double distance, J[MAX_UNKNOWNS];
        if (!see_sample(j, f, sample, &s) ||
            psfm_line_evidence_nearest(j->evidence, s.at, s.along, tone_of(j, f, sample), reach,
                                       &distance) < 0)
            continue;
        double weight = psfm_tukey_weight(distance * distance, reach * reach);
        across_jacobian(j, f, sample, &s, J);
        add_equation(J, distance, weight * fmin(s.length, MAX_LENGTH), size, sample->part, e);
    }
    close_bundle(size, e);
    add_priors(j, f, e);
}

static void take_size(const psfm_court_job *j, const double step[2], psfm_court_fit *f) {
    const psfm_drawing *drawing = j->plan->drawing;
    for (int d = 0; d < 2; ++d) {
        double size = drawing->size[d] + f->grow[d] + j->plan->size * step[d];
        f->grow[d] = fmin(fmax(size, drawing->least[d]), drawing->most[d]) - drawing->size[d];
    }
}

/* One round; false if the drawing is out of view. *change is the largest of the steps. */
static bool step_pose(const psfm_court_job *j, double reach, psfm_court_fit *f, double *change) {
    int size = num_unknowns(j);
    equations e;
    double turn[9], R[9];
    collect_equations(j, f, reach, &e);
    if (e.num < MIN_SAMPLES)
        return false;
    for (int a = 0; a < size; ++a)
        e.H[a * size + a] += DAMPING * e.H[a * size + a] + 1e-6;
    if (!psfm_solve_spd(e.H, size, e.g))
        return false;
    psfm_rotation_exp(e.g, turn);
    psfm_mat3_mul(turn, f->R, R);
    memcpy(f->R, R, sizeof R);
    psfm_axpy3(f->center, j->plan->size, e.g + 3, f->center);
    if (j->free_focal)
        f->focal *= exp(fmin(fmax(e.g[6], -0.1), 0.1));
    if (has_free_size(j))
        take_size(j, e.g + size - 2, f);
    *change = 0.0;
    for (int a = 0; a < size; ++a)
        *change = fmax(*change, fabs(e.g[a]));
    return f->center[2] > 0.0 && f->center[2] < MAX_HEIGHT * j->plan->size;
}

/* ---- its evidence ---- */

psfm_status psfm_court_claims_init(psfm_context *ctx, const psfm_line_evidence *evidence,
                                   psfm_court_claims *claims) {
    *claims = (psfm_court_claims){0};
    return PSFM_ALLOC(ctx, evidence->pixels->num, &claims->owner);
}

void psfm_court_claims_free(psfm_court_claims *claims) {
    free(claims->owner);
    *claims = (psfm_court_claims){0};
}

/* Whether a part may have a line pixel, which is its own from then on. */
static bool claim_pixel(psfm_court_claims *claims, int32_t pixel, uint32_t part) {
    uint64_t mine = (claims->round << 32) | part, *owner = &claims->owner[pixel];
    if (*owner >> 32 != claims->round)
        *owner = mine;
    return *owner == mine;
}

/* The evidence of a sample per pixel of length; 0 where another part has the line pixel. */
static double sample_value(const psfm_court_job *j, const seen *s, int tone, uint32_t part) {
    double distance;
    int32_t pixel =
        psfm_line_evidence_nearest(j->evidence, s->at, s->along, tone, SIGMA_REACH, &distance);
    if (pixel >= 0 && !claim_pixel(j->claims, pixel, part))
        return 0.0;
    return psfm_line_evidence_value(j->evidence, s->at, s->along, tone, pixel < 0 ? NAN : distance);
}

/* The evidence for a pose. */
typedef struct {
    double layers[PSFM_DRAWING_LAYERS]; /* evidence */
    double visible, found;              /* pixels in view, and with evidence for a line */
} verdict;

/* Pixels in view and found also per part (visible and hit, or NULL). */
static verdict judge_tones(const psfm_court_job *j, const psfm_court_fit *f, double *visible,
                           double *hit) {
    verdict sums = {.visible = 0.0};
    ++j->claims->round;
    for (size_t k = 0; k < j->plan->num_fine; ++k) {
        const psfm_drawing_sample *sample = &j->plan->fine[k];
        seen s;
        if (!see_sample(j, f, sample, &s))
            continue;
        double length = fmin(s.length, MAX_WEIGHT);
        double value = sample_value(j, &s, tone_of(j, f, sample), sample->part);
        double found = value > 0.0 ? length : 0.0;
        sums.layers[layer_of(j, sample)] += length * value;
        sums.visible += length;
        sums.found += found;
        if (visible != NULL) {
            visible[sample->part] += length;
            hit[sample->part] += found;
        }
    }
    return sums;
}

static void judge_pose(const psfm_court_job *j, psfm_court_fit *f) {
    verdict sums = judge_tones(j, f, NULL, NULL);
    f->score = 0.0;
    for (int k = 0; k < PSFM_DRAWING_LAYERS; ++k)
        f->score += sums.layers[k];
    f->visible = sums.visible;
    f->hit = sums.visible > 0.0 ? sums.found / sums.visible : 0.0;
}

/* The better of the tones that the paint allows, layer by layer. */
static void choose_tone(const psfm_court_job *j, psfm_court_fit *f) {
    psfm_paint paint = j->plan->drawing->paint;
    f->dark = UINT32_MAX;
    verdict dark = {0}, light = {0};
    if (paint == PSFM_PAINT_EITHER)
        dark = judge_tones(j, f, NULL, NULL);
    if (paint == PSFM_PAINT_DARK)
        return;
    f->dark = 0;
    if (paint == PSFM_PAINT_EITHER)
        light = judge_tones(j, f, NULL, NULL);
    for (int k = 0; k < PSFM_DRAWING_LAYERS; ++k)
        f->dark |= (uint32_t)(dark.layers[k] > light.layers[k]) << k;
}

/* Column k of H^-1, by the Cholesky solver; false if H is singular. */
static bool inverse_column(const double *H, int size, int k, double column[MAX_UNKNOWNS]) {
    double copy[MAX_UNKNOWNS * MAX_UNKNOWNS];
    memcpy(copy, H, sizeof copy);
    memset(column, 0, MAX_UNKNOWNS * sizeof *column);
    column[k] = 1.0;
    return psfm_solve_spd(copy, size, column);
}

/* Standard deviations from how much the bundles of samples, each a segment of a line whose errors
 * go together, disagree about the pose: H^-1 (sum of g g^T) H^-1. The noise is what would explain
 * them if the samples' errors had nothing in common: noise^2 H^-1. */
static bool find_sigmas(const psfm_court_job *j, psfm_court_fit *f) {
    int size = num_unknowns(j);
    double sigma[MAX_UNKNOWNS] = {0}, ratio = 0.0;
    equations e;
    collect_equations(j, f, SIGMA_REACH, &e);
    if (e.num < MIN_SAMPLES || e.num_bundles <= size)
        return false;
    double scale = (double)e.num_bundles / (e.num_bundles - size);
    for (int k = 0; k < size; ++k) {
        double column[MAX_UNKNOWNS], variance = 0.0;
        if (!inverse_column(e.H, size, k, column))
            return false;
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b)
                variance += column[a] * column[b] * e.spread[a * size + b];
        for (int d = 0; d < 2 && has_free_size(j); ++d)
            variance += column[size - 2 + d] * column[size - 2 + d] * size_prior(j, d);
        sigma[k] = sqrt(scale * fmax(variance, 0.0));
        ratio += sigma[k] * sigma[k] / column[k];
    }
    f->noise = sqrt(ratio / size);
    f->rms = sqrt(e.sum_squares / e.sum_weight);
    memcpy(f->sigma_turn, sigma, sizeof f->sigma_turn);
    psfm_scale3(j->plan->size, sigma + 3, f->sigma_center);
    f->sigma_focal = j->free_focal ? sigma[6] : 0.0;
    for (int d = 0; d < 2 && has_free_size(j); ++d)
        f->sigma_grow[d] = j->plan->size * sigma[size - 2 + d];
    return true;
}

size_t psfm_court_fit_lines(const psfm_court_job *job, const psfm_court_fit *fit,
                            psfm_fitted_line *out) {
    size_t num = 0;
    for (size_t k = 0; k < job->plan->num_fine; ++k) {
        const psfm_drawing_sample *sample = &job->plan->fine[k];
        seen s;
        double distance;
        if (!see_sample(job, fit, sample, &s) ||
            psfm_line_evidence_nearest(job->evidence, s.at, s.along, tone_of(job, fit, sample),
                                       SIGMA_REACH, &distance) < 0)
            continue;
        double weight = psfm_tukey_weight(distance * distance, SIGMA_REACH * SIGMA_REACH);
        psfm_fitted_line *line = &out[num++];
        *line = (psfm_fitted_line){.on = {(double)sample->x + (double)sample->mx * fit->grow[0],
                                          (double)sample->y + (double)sample->my * fit->grow[1]},
                                   .move = {(double)sample->mx, (double)sample->my},
                                   .normal = {-s.along[1], s.along[0]},
                                   .weight = weight * fmin(s.length, MAX_LENGTH)};
        for (int d = 0; d < 2; ++d)
            line->at[d] = s.at[d] + distance * line->normal[d];
    }
    return num;
}

/* ---- sizes ---- */

static psfm_court_fit fit_of(const psfm_court_guess *guess) {
    psfm_court_fit fit = {.focal = guess->focal};
    memcpy(fit.R, guess->R, sizeof fit.R);
    memcpy(fit.center, guess->center, sizeof fit.center);
    memcpy(fit.grow, guess->grow, sizeof fit.grow);
    return fit;
}

/* Evidence for a pose, on a few samples. */
static double rough_score(const psfm_court_job *j, const psfm_court_fit *f) {
    double sum = 0.0;
    for (size_t k = 0; k < j->plan->num_coarse; ++k) {
        const psfm_drawing_sample *sample = &j->plan->coarse[k];
        seen s;
        if (!see_sample(j, f, sample, &s))
            continue;
        int tone = tone_of(j, f, sample);
        double distance;
        int32_t pixel =
            psfm_line_evidence_nearest(j->evidence, s.at, s.along, tone, SIGMA_REACH, &distance);
        sum +=
            fmin(s.length, MAX_WEIGHT) *
            psfm_line_evidence_value(j->evidence, s.at, s.along, tone, pixel < 0 ? NAN : distance);
    }
    return sum;
}

/* The best length (d = 0) or width; where the end at `anchor` (-1, 0 the middle, 1) stays in view
 * where it is, the camera moves with it. */
static void scan_size(const psfm_court_job *j, int d, int anchor, psfm_court_fit *best,
                      double *best_score) {
    const psfm_drawing *drawing = j->plan->drawing;
    const psfm_court_fit start = *best;
    int num = 1 + (int)((drawing->most[d] - drawing->least[d]) / SIZE_STEP);
    for (int k = 0; k < num; ++k) {
        psfm_court_fit fit = start;
        fit.grow[d] = drawing->least[d] + k * SIZE_STEP - drawing->size[d];
        fit.center[d] += 0.5 * anchor * (fit.grow[d] - start.grow[d]);
        double score = rough_score(j, &fit);
        if (score > *best_score) {
            *best_score = score;
            *best = fit;
        }
    }
}

void psfm_court_guess_size(const psfm_court_job *job, psfm_court_guess *guess) {
    if (!has_free_size(job))
        return;
    psfm_court_fit start = fit_of(guess);
    choose_tone(job, &start);
    psfm_court_fit best = start;
    double best_score = rough_score(job, &start);
    for (int anchor = -1; anchor <= 1; ++anchor) {
        psfm_court_fit fit = start;
        double score = best_score;
        scan_size(job, 0, anchor, &fit, &score);
        if (score > best_score) {
            best_score = score;
            best = fit;
        }
    }
    scan_size(job, 1, 0, &best, &best_score);
    memcpy(guess->center, best.center, sizeof guess->center);
    memcpy(guess->grow, best.grow, sizeof guess->grow);
}

bool psfm_court_fit_guess(const psfm_court_job *job, const psfm_court_guess *guess,
                          psfm_court_fit *fit) {
    *fit = fit_of(guess);
    for (size_t r = 0; r < sizeof reaches / sizeof *reaches; ++r) {
        double change = INFINITY;
        choose_tone(job, fit);
        for (int round = 0; round < ROUNDS && change > 1e-5; ++round)
            if (!step_pose(job, reaches[r], fit, &change))
                return false;
    }
    judge_pose(job, fit);
    return find_sigmas(job, fit);
}

double psfm_court_fit_offset(const psfm_court_job *job, const psfm_court_fit *first,
                             const psfm_court_fit *second) {
    double sum = 0.0, num = 0.0;
    for (size_t k = 0; k < job->plan->num_coarse; ++k) {
        seen s;
        double q[3], at[2];
        if (!see_sample(job, first, &job->plan->coarse[k], &s))
            continue;
        if (!place_sample(job, second, &job->plan->coarse[k], q, at))
            return INFINITY;
        sum += hypot(at[0] - s.at[0], at[1] - s.at[1]);
        num += 1.0;
    }
    return num > 0.0 ? sum / num : INFINITY;
}

void psfm_court_fit_parts(const psfm_court_job *job, const psfm_court_fit *fit, double *visible,
                          double *hit) {
    size_t size = job->plan->drawing->num_parts * sizeof *visible;
    memset(visible, 0, size);
    memset(hit, 0, size);
    judge_tones(job, fit, visible, hit);
}
