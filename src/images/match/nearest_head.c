/* An upper bound of the dot product of two descriptors from 32 numbers instead of 128.
 *
 * Let m be the mean descriptor and q_1 .. q_31 orthonormal. With h_a = Q (a - m) and t_a what is
 * left of a - m,
 *   a . b = h_a . h_b + t_a . t_b + (m . a - m.m / 2) + (m . b - m.m / 2),
 * and t_a . t_b <= |t_a| |t_b|. So the 31 coordinates with |t| as the 32nd bound the product; with
 * principal axes, they hold about 95 % of the squared length of SIFT and the bound is some 0.05 of
 * 512^2 too high. Rounded to integers, h = s g + e, and for any c > 0
 *   h_a . h_b <= s^2 g_a . g_b + |e_a| |h_b| + |h_a| |e_b| + |e_a| |e_b|
 *             <= s^2 g_a . g_b + (c |e_a|^2 + |h_a|^2 / c + |e_a|^2) / 2 + the same of b,
 * again a term per descriptor, which joins the linear ones; |t| is rounded up. With c the usual
 * |h| / |e| little is lost. Single precision errs by less than the MARGIN that is added.
 *
 * The products of g shall fit 16 bits, so the step is as fine as the longest descriptor allows. So
 * that no single coordinate asks for more, the axes are mixed: a rotation among them changes no
 * product, and by that of Hartley each coordinate has an equal share of all axes. The rare
 * descriptor that is too long nevertheless gets a bias that no limit excludes. */
#include "images/match/nearest_head.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define AXES (PSFM_NEAREST_HEAD - 1)
#define BLOCK 64            /* descriptors multiplied at once */
#define SAMPLE 4096         /* descriptors that the axes are found from */
#define SPARE 1.06F         /* for heads that are longer than those of the sample */
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

/* Mean and upper triangle of the covariance. The sums before they are divided are whole numbers
 * below 2^53: exact in any order. */
static void moments_of(const sample *s, double *mean, double *covariance) {
    enum { N = PSFM_SIFT_SIZE };
    double d[BLOCK][N], scale = s->n > 0 ? 1.0 / (double)s->n : 0.0;
    for (size_t i = 0; i < s->n; i += BLOCK) {
        const size_t count = s->n - i < BLOCK ? s->n - i : BLOCK;
        for (size_t k = 0; k < count; ++k)
            for (size_t c = 0; c < N; ++c) {
                d[k][c] = s->descriptors[i + k][c];
                mean[c] += d[k][c];
            }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, N, (int)count, 1.0, d[0], N, 1.0,
                    covariance, N);
    }
    cblas_dscal(N, scale, mean, 1);
    cblas_dscal(N * N, scale, covariance, 1);
    cblas_dsyr(CblasRowMajor, CblasUpper, N, -1.0, mean, 1, covariance, N);
}

/* Rows of H A, with H[k][j] = (cos + sin)(2 pi k j / AXES) / sqrt(AXES), which is orthogonal. */
static void mix_axes(double axes[AXES][PSFM_SIFT_SIZE], psfm_nearest_basis *basis) {
    const double turn = 6.283185307179586 / AXES, scale = sqrt(1.0 / AXES);
    for (size_t k = 0; k < AXES; ++k) {
        double mixed[PSFM_SIFT_SIZE] = {0};
        for (size_t j = 0; j < AXES; ++j) {
            double angle = turn * (double)(k * j % AXES);
            cblas_daxpy(PSFM_SIFT_SIZE, scale * (cos(angle) + sin(angle)), axes[j], 1, mixed, 1);
        }
        for (size_t c = 0; c < PSFM_SIFT_SIZE; ++c)
            basis->axes[k][c] = (float)mixed[c];
    }
}

static psfm_status find_axes(psfm_context *ctx, const sample *s, psfm_nearest_basis *basis) {
    double *covariance = NULL, mean[PSFM_SIFT_SIZE] = {0}, eigenvalues[PSFM_SIFT_SIZE];
    double axes[AXES][PSFM_SIFT_SIZE];
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
            axes[k][c] = covariance[(c + 1) * PSFM_SIFT_SIZE - 1 - k];
    }
    mix_axes(axes, basis);
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

static void project_block(const psfm_nearest_basis *basis, const uint8_t *descriptors, size_t n,
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

/* A little more than the longest head of the sample and its largest value shall fit. Not finer than
 * a quarter, so that products in units of the squared step fit 28 bits. */
static void choose_step(const sample *s, block *b, psfm_nearest_basis *basis) {
    const float most = (float)PSFM_NEAREST_HEAD_MOST, root = sqrtf((float)PSFM_NEAREST_HEAD_SQUARE);
    float step = 0.25F, squares = 0.0F;
    for (size_t i = 0; i < s->n; i += BLOCK) {
        size_t count = s->n - i < BLOCK ? s->n - i : BLOCK;
        project_block(basis, s->descriptors[i], count, b);
        for (size_t k = 0; k < count; ++k) {
            float square = b->lengths[k] * b->lengths[k], rest = b->values[k][AXES];
            squares += square;
            step = fmaxf(step, SPARE * sqrtf(square + rest * rest) / root);
            for (size_t c = 0; c < PSFM_NEAREST_HEAD; ++c)
                step = fmaxf(step, SPARE * fabsf(b->values[k][c]) / most);
        }
    }
    float rounding = step * step * (float)AXES / 12.0F;
    basis->step = step;
    basis->balance = fmaxf(1.0F, sqrtf(squares / (rounding * fmaxf(1.0F, (float)s->n))));
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

static void round_head(const psfm_nearest_basis *basis, const float *from, float length,
                       float linear, int8_t *to, int32_t *bias) {
    float step = basis->step, error = 0.0F, square = 0.0F, largest = 0.0F; /* in steps */
    for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k) {
        float value = from[k] / step;
        float rounded = k < AXES ? rintf(value) : ceilf(value);
        float lost = k < AXES ? value - rounded : 0.0F;
        error += lost * lost;
        square += rounded * rounded;
        largest = fmaxf(largest, fabsf(rounded));
        to[k] = (int8_t)fminf(fmaxf(rounded, -127.0F), 127.0F);
    }
    float head = length * length / (step * step);
    float of_rounding = 0.5F * ((basis->balance + 1.0F) * error + head / basis->balance);
    *bias = (int32_t)ceilf((linear + 0.5F * MARGIN) / (step * step) + of_rounding);
    if (largest > (float)PSFM_NEAREST_HEAD_MOST || square > (float)PSFM_NEAREST_HEAD_SQUARE) {
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
        project_block(basis, set->descriptors + i * PSFM_SIFT_SIZE, count, b);
        for (size_t k = 0; k < count; ++k)
            round_head(basis, b->values[k], b->lengths[k], b->linear[k],
                       made.values + (i + k) * PSFM_NEAREST_HEAD, &made.bias[i + k]);
    }
    free(b);
    if (status != PSFM_OK)
        psfm_nearest_head_free(&made);
    *head = made;
    return status;
}
