/* The Fiedler vector by a preconditioned subspace iteration (generalised Davidson), level by level.
 *
 * Krylov methods on L alone need of the order of 1 / sqrt(gap) products, and the gap of long chains
 * and rings goes down with the square of their length: 100,000 cameras in a ring would need tens of
 * thousands. With T ~ L^-1 at hand (core/linalg/multilevel.h) the number of steps does not depend
 * on the size. A step with the basis V (M-orthonormal, and M-orthogonal to the constants):
 *
 *   lowest eigenpair (theta, y) of V^T L V, x = V y, r = L x - theta M x;
 *   append T r to V, orthonormalised.
 *
 * A basis of 12 is then cut down to the four lowest Ritz vectors and the lowest one of the step
 * before, which makes it converge nearly as if it had never been cut (Davidson's method with "+1"
 * restart, Stathopoulos and Saad). The basis starts with three vectors, so that eigenvalues close
 * to each other are told apart from the beginning.
 *
 * The start is the answer on the next coarser graph, found the same way, and on the coarsest graph
 * a random one, where T is exact. On coarse levels 5 % accuracy is enough.
 *
 * Vectors of the basis are stored side by side (row by row), so that the sums over all of them go
 * over memory once. Sums are made by blocks of rows and added up in order, so that they do not
 * depend on the number of threads. */
#include "core/linalg/fiedler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "core/linalg/eigen.h"
#include "core/linalg/laplacian.h"
#include "core/linalg/multilevel.h"

enum { MAX_BASIS = 12, NUM_KEPT = 4, NUM_START = 3, NUM_SUMS = MAX_BASIS + 2 };
#define ROWS_PER_TASK 8192
#define COARSE_TOLERANCE 0.05
#define COARSE_ITERATIONS 30
#define ROUNDING_FLOOR 2e-14

typedef struct {
    psfm_multilevel *multilevel;
    int level;
    const psfm_csr *W;
    const double *mass;
    const uint32_t *group;
    double total_mass;
    int size;                          /* of the basis */
    double *V, *LV;                    /* n x MAX_BASIS, by rows: the basis, and L times it */
    double *t;                         /* n: the vector to append */
    double *r;                         /* n: residual */
    double *block_sums;                /* per task: NUM_SUMS */
    double sums[NUM_SUMS];             /* over all tasks */
    double gram[MAX_BASIS][MAX_BASIS]; /* V^T L V */
    double ritz[MAX_BASIS][MAX_BASIS]; /* its eigenvectors, one a row */
    double ritz_value[MAX_BASIS];      /* its eigenvalues, ascending */
    double previous[MAX_BASIS];        /* the lowest eigenvector a step ago */
    /* Arguments of some of the loops below. */
    double coefficients[MAX_BASIS][MAX_BASIS];
    double mean;
    int num_columns;
    double scale;
} davidson;

/* Rows [first, last) of a task, and where its sums go. */
typedef struct {
    davidson *d;
    size_t first, last;
    double *sums;
} rows;

typedef void (*rows_fn)(const rows *s);

typedef struct {
    davidson *d;
    rows_fn body;
} loop;

static psfm_status run_rows(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const loop *l = user;
    size_t first = index * ROWS_PER_TASK, n = l->d->W->n;
    rows s = {l->d, first, first + ROWS_PER_TASK < n ? first + ROWS_PER_TASK : n,
              l->d->block_sums + index * NUM_SUMS};
    memset(s.sums, 0, NUM_SUMS * sizeof *s.sums);
    l->body(&s);
    return PSFM_OK;
}

/* Runs a loop over all rows in parallel, and adds up its sums. */
static psfm_status for_rows(psfm_context *ctx, davidson *d, rows_fn body) {
    size_t num_tasks = ((size_t)d->W->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    loop l = {d, body};
    psfm_status status = num_tasks == 1 ? run_rows(ctx, 0, 0, &l)
                                        : psfm_parallel_for(ctx, NULL, num_tasks, run_rows, &l);
    memset(d->sums, 0, sizeof d->sums);
    for (size_t k = 0; status == PSFM_OK && k < num_tasks; ++k)
        for (int j = 0; j < NUM_SUMS; ++j)
            d->sums[j] += d->block_sums[k * NUM_SUMS + (size_t)j];
    return status;
}

/* Sums: V^T M t, then 1^T M t and t^T M t. */
static void project_rows(const rows *s) {
    const davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i) {
        double mt = d->mass[i] * d->t[i];
        const double *v = d->V + i * MAX_BASIS;
        for (int j = 0; j < d->size; ++j)
            s->sums[j] += mt * v[j];
        s->sums[MAX_BASIS] += mt;
        s->sums[MAX_BASIS + 1] += mt * d->t[i];
    }
}

/* t -= V c + mean, c being the first row of coefficients. */
static void subtract_rows(const rows *s) {
    const davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i) {
        const double *v = d->V + i * MAX_BASIS;
        double sum = d->mean;
        for (int j = 0; j < d->size; ++j)
            sum += d->coefficients[0][j] * v[j];
        d->t[i] -= sum;
    }
}

/* Puts t, scaled, behind the basis. */
static void append_rows(const rows *s) {
    davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i)
        d->V[i * MAX_BASIS + (size_t)d->size] = d->t[i] *= d->scale;
}

/* Puts r = L t behind LV. Sums: V^T r, the new column of the Gram matrix. */
static void append_product_rows(const rows *s) {
    davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i) {
        const double *v = d->V + i * MAX_BASIS;
        d->LV[i * MAX_BASIS + (size_t)d->size] = d->r[i];
        for (int j = 0; j <= d->size; ++j)
            s->sums[j] += v[j] * d->r[i];
    }
}

/* t = x and r = L x - theta M x of the lowest Ritz vector. Sum: r^T M^-1 r. */
static void residual_rows(const rows *s) {
    davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i) {
        double x = 0.0, product = 0.0;
        for (int j = 0; j < d->size; ++j) {
            x += d->V[i * MAX_BASIS + (size_t)j] * d->ritz[0][j];
            product += d->LV[i * MAX_BASIS + (size_t)j] * d->ritz[0][j];
        }
        d->t[i] = x;
        d->r[i] = product - d->ritz_value[0] * d->mass[i] * x;
        s->sums[0] += d->r[i] * d->r[i] / d->mass[i];
    }
}

/* V = V C^T, LV = LV C^T, C being the first num_columns rows of coefficients. */
static void combine_rows(const rows *s) {
    davidson *d = s->d;
    for (size_t i = s->first; i < s->last; ++i) {
        double *row[2] = {d->V + i * MAX_BASIS, d->LV + i * MAX_BASIS};
        for (int which = 0; which < 2; ++which) {
            double out[MAX_BASIS];
            for (int c = 0; c < d->num_columns; ++c) {
                out[c] = 0.0;
                for (int j = 0; j < d->size; ++j)
                    out[c] += row[which][j] * d->coefficients[c][j];
            }
            memcpy(row[which], out, (size_t)d->num_columns * sizeof *out);
        }
    }
}

/* Makes t orthogonal to the basis and the constants and appends it; *appended is false if nothing
 * is left of it. */
static psfm_status append_vector(psfm_context *ctx, davidson *d, bool *appended) {
    psfm_status status = for_rows(ctx, d, project_rows);
    double before = d->sums[MAX_BASIS + 1];
    for (int pass = 0; status == PSFM_OK && pass < 2; ++pass) {
        memcpy(d->coefficients[0], d->sums, sizeof d->coefficients[0]);
        d->mean = d->sums[MAX_BASIS] / d->total_mass;
        if ((status = for_rows(ctx, d, subtract_rows)) == PSFM_OK)
            status = for_rows(ctx, d, project_rows);
    }
    double left = d->sums[MAX_BASIS + 1];
    *appended = left > 1e-26 * before && isfinite(left);
    if (status != PSFM_OK || !*appended)
        return status;
    d->scale = 1.0 / sqrt(left);
    if ((status = for_rows(ctx, d, append_rows)) != PSFM_OK ||
        (status = psfm_laplacian_mul(ctx, d->W, d->t, d->r)) != PSFM_OK ||
        (status = for_rows(ctx, d, append_product_rows)) != PSFM_OK)
        return status;
    for (int j = 0; j <= d->size; ++j)
        d->gram[j][d->size] = d->gram[d->size][j] = d->sums[j];
    ++d->size;
    return PSFM_OK;
}

/* Solves the small problem and sets t and r to the lowest Ritz vector and its residual. */
static psfm_status find_ritz(psfm_context *ctx, davidson *d, double *residual) {
    double packed[MAX_BASIS * MAX_BASIS];
    size_t k = (size_t)d->size;
    for (size_t c = 0; c < k; ++c)
        memcpy(packed + c * k, d->gram[c], k * sizeof *packed);
    memcpy(d->previous, d->ritz[0], sizeof d->previous);
    psfm_status status = psfm_eigen_symmetric(ctx, (uint32_t)k, packed, d->ritz_value);
    if (status != PSFM_OK)
        return status;
    memset(d->ritz, 0, sizeof d->ritz);
    for (size_t c = 0; c < k; ++c)
        memcpy(d->ritz[c], packed + c * k, k * sizeof *packed);
    status = for_rows(ctx, d, residual_rows);
    *residual = sqrt(d->sums[0]);
    return status;
}

/* Makes the previous Ritz vector orthogonal to the first NUM_KEPT rows of the coefficients and
 * puts it behind them; false if little is left of it. Scaled before the second pass, because near
 * convergence what is left is small, and the basis must be orthonormal to the last digit. */
static bool add_previous(davidson *d) {
    double *to = d->coefficients[NUM_KEPT], left[2] = {0.0, 0.0};
    memcpy(to, d->previous, sizeof d->previous);
    for (int pass = 0; pass < 2; ++pass) {
        for (int c = 0; c < NUM_KEPT; ++c) {
            const double *kept = d->coefficients[c];
            double along = 0.0;
            for (int j = 0; j < d->size; ++j)
                along += kept[j] * to[j];
            for (int j = 0; j < d->size; ++j)
                to[j] -= along * kept[j];
        }
        for (int j = 0; j < d->size; ++j)
            left[pass] += to[j] * to[j];
        for (int j = 0; j < d->size; ++j)
            to[j] /= sqrt(left[pass]);
    }
    return left[0] > 1e-20 && left[1] > 0.5;
}

/* Cuts the basis down. r is kept, and the lowest Ritz vector is the first of the new basis. */
static psfm_status restart_basis(psfm_context *ctx, davidson *d) {
    double gram[MAX_BASIS][MAX_BASIS] = {{0.0}};
    memcpy(d->coefficients, d->ritz, NUM_KEPT * sizeof d->ritz[0]);
    d->num_columns = NUM_KEPT + add_previous(d);
    psfm_status status = for_rows(ctx, d, combine_rows);
    for (int a = 0; a < d->num_columns; ++a)
        for (int b = 0; b < d->num_columns; ++b)
            for (int i = 0; i < d->size; ++i)
                for (int j = 0; j < d->size; ++j)
                    gram[a][b] += d->coefficients[a][i] * d->gram[i][j] * d->coefficients[b][j];
    memcpy(d->gram, gram, sizeof gram);
    d->size = d->num_columns;
    memset(d->ritz, 0, sizeof d->ritz);
    d->ritz[0][0] = 1.0;
    return status;
}

/* How far the residual has come from `start` to `target`, in per cent of the digits. */
static psfm_status report_progress(psfm_context *ctx, const char *stage, double start,
                                   double residual, double target) {
    if (stage == NULL)
        return PSFM_OK;
    double share = log(start / residual) / log(start / target);
    return psfm_progress(ctx, stage, (size_t)(100.0 * fmin(fmax(share, 0.0), 1.0)), 100);
}

/* Iterates from the basis that is there. */
static psfm_status improve_basis(psfm_context *ctx, davidson *d, double tolerance,
                                 int max_iterations, const char *stage,
                                 psfm_fiedler_result *result) {
    double residual, start = 0.0;
    for (int iteration = 0;; ++iteration) {
        psfm_status status = find_ritz(ctx, d, &residual);
        if (status != PSFM_OK)
            return status;
        double target = fmax(tolerance * d->ritz_value[0], ROUNDING_FLOOR);
        start = iteration == 0 ? residual : start;
        result->value = d->ritz_value[0];
        result->converged = residual <= target;
        if (result->converged || iteration >= max_iterations)
            return PSFM_OK;
        bool appended;
        if ((status = report_progress(ctx, stage, start, residual, target)) != PSFM_OK ||
            (d->size == MAX_BASIS && (status = restart_basis(ctx, d)) != PSFM_OK) ||
            (status = psfm_multilevel_solve(ctx, d->multilevel, d->level, d->r, d->t)) != PSFM_OK ||
            (status = append_vector(ctx, d, &appended)) != PSFM_OK)
            return status;
        if (!appended) /* the basis holds all there is */
            return find_ritz(ctx, d, &residual);
    }
}

static void davidson_free(davidson *d) {
    free(d->V);
    free(d->LV);
    free(d->t);
    free(d->r);
    free(d->block_sums);
}

static psfm_status davidson_init(psfm_context *ctx, psfm_multilevel *m, int level, davidson *d) {
    const psfm_multilevel_graph g = psfm_multilevel_level(m, level);
    *d = (davidson){.multilevel = m, .level = level, .W = g.W, .mass = g.mass, .group = g.group};
    size_t n = d->W->n;
    for (size_t i = 0; i < n; ++i)
        d->total_mass += d->mass[i];
    psfm_status status;
    if ((status = psfm_alloc(ctx, n, MAX_BASIS * sizeof *d->V, &d->V)) != PSFM_OK ||
        (status = psfm_alloc(ctx, n, MAX_BASIS * sizeof *d->LV, &d->LV)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &d->t)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &d->r)) != PSFM_OK ||
        (status = psfm_alloc(ctx, n / ROWS_PER_TASK + 1, NUM_SUMS * sizeof *d->block_sums,
                             &d->block_sums)) != PSFM_OK)
        davidson_free(d);
    return status;
}

/* Fills the basis with NUM_START vectors: those of `coarse` (by columns), or random ones. */
static psfm_status start_basis(psfm_context *ctx, davidson *d, const double *coarse,
                               uint32_t num_coarse) {
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_EMBEDDING, 1, 0);
    for (int k = 0; k < NUM_START; ++k) {
        for (uint32_t i = 0; i < d->W->n; ++i)
            d->t[i] = coarse == NULL ? psfm_rng_range(&rng, -1.0, 1.0)
                                     : coarse[(size_t)k * num_coarse + d->group[i]];
        bool appended;
        psfm_status status = append_vector(ctx, d, &appended);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

/* The NUM_START lowest Ritz vectors, by columns; zero where there are fewer. */
static psfm_status copy_lowest(psfm_context *ctx, const davidson *d, double **out) {
    psfm_status status = psfm_alloc(ctx, d->W->n, NUM_START * sizeof **out, out);
    if (status != PSFM_OK)
        return status;
    for (int k = 0; k < NUM_START && k < d->size; ++k)
        for (size_t i = 0; i < d->W->n; ++i)
            for (int j = 0; j < d->size; ++j)
                (*out)[(size_t)k * d->W->n + i] += d->V[i * MAX_BASIS + (size_t)j] * d->ritz[k][j];
    return PSFM_OK;
}

psfm_status psfm_fiedler(psfm_context *ctx, const psfm_csr *W, const double *mass,
                         const psfm_fiedler_options *options, double *x,
                         psfm_fiedler_result *result) {
    const char *stage = options->stage;
    psfm_multilevel *m;
    double *lowest = NULL, *finer = NULL;
    uint32_t num_coarse = 0;
    psfm_status status = stage == NULL ? PSFM_OK : psfm_progress(ctx, stage, 0, 100);
    if (status != PSFM_OK || (status = psfm_multilevel_create(ctx, W, mass, &m)) != PSFM_OK)
        return status;
    int num_levels = psfm_multilevel_num_levels(m);
    for (int level = num_levels - 1; status == PSFM_OK && level >= 0; --level) {
        davidson d;
        if ((status = davidson_init(ctx, m, level, &d)) != PSFM_OK)
            break;
        status = start_basis(ctx, &d, lowest, num_coarse);
        if (status == PSFM_OK && level > 0)
            status = improve_basis(ctx, &d, COARSE_TOLERANCE, COARSE_ITERATIONS, NULL, result);
        else if (status == PSFM_OK)
            status =
                improve_basis(ctx, &d, options->tolerance, options->max_iterations, stage, result);
        if (status == PSFM_OK && level == 0)
            memcpy(x, d.t, W->n * sizeof *x);
        else if (status == PSFM_OK)
            status = copy_lowest(ctx, &d, &finer);
        free(lowest);
        lowest = finer;
        finer = NULL;
        num_coarse = d.W->n;
        davidson_free(&d);
    }
    free(lowest);
    psfm_multilevel_destroy(&m);
    return status;
}
