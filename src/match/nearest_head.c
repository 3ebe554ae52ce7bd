/* An upper bound of the dot product of two descriptors from 32 numbers instead of 128.
 *
 * Let m be the mean descriptor and q_1 .. q_31 orthonormal. With h_a = Q (a - m) and t_a what is
 * left of a - m,
 *   a . b = h_a . h_b + t_a . t_b + (m . a - m.m / 2) + (m . b - m.m / 2),
 * and t_a . t_b <= |t_a| |t_b|. So the 31 coordinates with |t| as the 32nd bound the product; with
 * principal axes, they hold about 95 % of the squared length of SIFT and the bound is some 0.05 of
 * 512^2 too high. Rounded to integers, h = s g + e; if |e| <= E,
 *   h_a . h_b <= s^2 g_a . g_b + E (|h_a| + |h_b|) + E^2,
 * again a term per descriptor, which joins the linear ones; |t| is rounded up. Rounding errors are
 * uniform, so |e| is about s sqrt(31 / 12), and hardly ever 1.25 times that, which is taken for E.
 * Single precision errs by less than the MARGIN that is added. The rare descriptor whose
 * coordinates do not fit a byte or whose |e| is larger gets a bias that no limit excludes. */
#include "match/nearest_head.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define AXES (PSFM_NEAREST_HEAD - 1)
#define BLOCK 64            /* descriptors multiplied at once */
#define SAMPLE 4096         /* descriptors that the axes are found from */
#define MARGIN 256.0F       /* in units of the product, 262144 for a perfect match */
#define UNBOUNDED (1 << 28) /* bias of a descriptor that does not fit */

typedef struct {
    uint8_t (*descriptors)[PSFM_SIFT_SIZE];
    size_t n;
} sample;

/* Every step-th descriptor of all sets, counted through. */
static psfm_status draw_sample(psfm_context *ctx, const psfm_nearest_set *sets, size_t num_sets,
                               sample *s) {
    size_t total = 0, next = 0;
    for (size_t k = 0; k < num_sets; ++k)
        total += sets[k].n;
    size_t step = total / SAMPLE + 1;
    psfm_status status = PSFM_ALLOC(ctx, total / step + 1, &s->descriptors);
    for (size_t k = 0; status == PSFM_OK && k < num_sets; ++k) {
        for (; next < sets[k].n; next += step)
            memcpy(s->descriptors[s->n++], sets[k].descriptors + next * PSFM_SIFT_SIZE,
                   PSFM_SIFT_SIZE);
        next -= sets[k].n;
    }
    return status;
}

/* Mean and upper triangle of the covariance. */
static void moments_of(const sample *s, double *mean, double *covariance) {
    double d[PSFM_SIFT_SIZE], scale = s->n > 0 ? 1.0 / (double)s->n : 0.0;
    for (size_t i = 0; i < s->n; ++i) {
        for (size_t c = 0; c < PSFM_SIFT_SIZE; ++c)
            d[c] = s->descriptors[i][c];
        cblas_daxpy(PSFM_SIFT_SIZE, scale, d, 1, mean, 1);
        cblas_dsyr(CblasRowMajor, CblasUpper, PSFM_SIFT_SIZE, scale, d, 1, covariance,
                   PSFM_SIFT_SIZE);
    }
    cblas_dsyr(CblasRowMajor, CblasUpper, PSFM_SIFT_SIZE, -1.0, mean, 1, covariance,
               PSFM_SIFT_SIZE);
}

static psfm_status find_axes(psfm_context *ctx, const sample *s, psfm_nearest_basis *basis) {
    double *covariance = NULL, mean[PSFM_SIFT_SIZE] = {0}, eigenvalues[PSFM_SIFT_SIZE];
    psfm_status status = PSFM_ALLOC(ctx, (size_t)PSFM_SIFT_SIZE * PSFM_SIFT_SIZE, &covariance);
    if (status != PSFM_OK)
        return status;
    moments_of(s, mean, covariance);
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', PSFM_SIFT_SIZE, covariance, PSFM_SIFT_SIZE,
                       eigenvalues) != 0)
        status = psfm_fail(ctx, PSFM_ERR_NUMERIC, "no principal axes of the descriptors");
    for (size_t c = 0; c < PSFM_SIFT_SIZE; ++c) {
        basis->mean[c] = (float)mean[c];
        for (size_t k = 0; k < AXES; ++k)
            basis->axes[k][c] = (float)covariance[(c + 1) * PSFM_SIFT_SIZE - 1 - k];
    }
    free(covariance);
    return status;
}

/* One block of descriptors, not rounded yet. */
typedef struct {
    float centred[BLOCK][PSFM_SIFT_SIZE];
    float values[BLOCK][PSFM_NEAREST_HEAD]; /* coordinates, then the length of the rest */
    float lengths[BLOCK];                   /* of the coordinates */
    float linear[BLOCK];
} block;

static void project(const psfm_nearest_basis *basis, const uint8_t *descriptors, size_t n,
                    block *b) {
    double mean_square = cblas_dsdot(PSFM_SIFT_SIZE, basis->mean, 1, basis->mean, 1);
    for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < PSFM_SIFT_SIZE; ++c)
            b->centred[i][c] = (float)descriptors[i * PSFM_SIFT_SIZE + c] - basis->mean[c];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, AXES, PSFM_SIFT_SIZE, 1.0F,
                b->centred[0], PSFM_SIFT_SIZE, basis->axes[0], PSFM_SIFT_SIZE, 0.0F, b->values[0],
                PSFM_NEAREST_HEAD);
    for (size_t i = 0; i < n; ++i) {
        const float *d = b->centred[i], *v = b->values[i];
        double square = cblas_dsdot(PSFM_SIFT_SIZE, d, 1, d, 1),
               head = cblas_dsdot(AXES, v, 1, v, 1);
        b->values[i][AXES] = (float)sqrt(fmax(square - head, 0.0));
        b->lengths[i] = (float)sqrt(head);
        b->linear[i] =
            (float)(cblas_dsdot(PSFM_SIFT_SIZE, d, 1, basis->mean, 1) + 0.5 * mean_square);
    }
}

/* A little more than the largest value of the sample shall fit a byte. Not finer than a quarter, so
 * that products in units of the squared step fit 28 bits. */
static void choose_step(const sample *s, block *b, psfm_nearest_basis *basis) {
    float largest = 30.0F;
    for (size_t i = 0; i < s->n; i += BLOCK) {
        size_t count = s->n - i < BLOCK ? s->n - i : BLOCK;
        project(basis, s->descriptors[i], count, b);
        for (size_t k = 0; k < count; ++k)
            for (size_t c = 0; c < PSFM_NEAREST_HEAD; ++c)
                largest = fmaxf(largest, fabsf(b->values[k][c]));
    }
    basis->step = 1.1F * largest / 127.0F;
}

psfm_status psfm_nearest_basis_find(psfm_context *ctx, const psfm_nearest_set *sets,
                                    size_t num_sets, psfm_nearest_basis *basis) {
    sample s = {0};
    block *b = NULL;
    psfm_status status = draw_sample(ctx, sets, num_sets, &s);
    if (status == PSFM_OK)
        status = find_axes(ctx, &s, basis);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &b);
    if (status == PSFM_OK)
        choose_step(&s, b, basis);
    free(b);
    free(s.descriptors);
    return status;
}

void psfm_nearest_head_free(psfm_nearest_head *head) {
    free(head->values);
    free(head->bias);
    *head = (psfm_nearest_head){0};
}

static void round_head(const float *from, float length, float linear, float step, int8_t *to,
                       int32_t *bias) {
    float max_error = 1.25F * sqrtf((float)AXES / 12.0F), square = 0.0F; /* in steps */
    bool fits = true;
    for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k) {
        float value = from[k] / step;
        float rounded = k < AXES ? rintf(value) : ceilf(value);
        fits = fits && fabsf(rounded) <= 127.0F;
        to[k] = (int8_t)(fits ? rounded : 0.0F);
        square += k < AXES ? (value - rounded) * (value - rounded) : 0.0F;
    }
    float error = max_error * step;
    float sum = linear + error * length + 0.5F * error * error + 0.5F * MARGIN;
    *bias = (int32_t)ceilf(sum / (step * step));
    if (!fits || square > max_error * max_error) {
        memset(to, 0, PSFM_NEAREST_HEAD);
        *bias = UNBOUNDED;
    }
}

psfm_status psfm_nearest_head_make(psfm_context *ctx, const psfm_nearest_basis *basis,
                                   const psfm_nearest_set *set, psfm_nearest_head *head) {
    psfm_nearest_head made = {.n = set->n};
    block *b = NULL;
    psfm_status status = psfm_alloc(ctx, set->n, PSFM_NEAREST_HEAD, &made.values);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->n, &made.bias);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &b);
    for (size_t i = 0; status == PSFM_OK && i < set->n; i += BLOCK) {
        size_t count = set->n - i < BLOCK ? set->n - i : BLOCK;
        project(basis, set->descriptors + i * PSFM_SIFT_SIZE, count, b);
        for (size_t k = 0; k < count; ++k)
            round_head(b->values[k], b->lengths[k], b->linear[k], basis->step,
                       made.values + (i + k) * PSFM_NEAREST_HEAD, &made.bias[i + k]);
    }
    free(b);
    if (status != PSFM_OK)
        psfm_nearest_head_free(&made);
    *head = made;
    return status;
}
