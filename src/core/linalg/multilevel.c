/* Multilevel solver for graph Laplacians: aggregation without smoothing, and a K-cycle.
 *
 * L_0 = L of the given graph; L_{k+1} = P^T L_k P is the Laplacian of the contracted graph
 * (core/linalg/coarsen.h), until a graph is small enough for a sparse Cholesky factor. A cycle at
 * level k:
 *
 *   x = S b                      relax, from zero
 *   x += P c,  c ~ L_{k+1}^-1 P^T (b - L_k x)
 *   x += S^T (b - L_k x)         relax, backward
 *
 * where c comes from one or two steps of flexible conjugate gradients at level k + 1,
 * preconditioned by the same cycle there. That is the K-cycle of Notay and Vassilevski. Plain
 * V-cycles over piecewise constant vectors get worse with every level: on a field of 100,000
 * cameras (1,000,000 edges) the eigenvector took 67 of them, and 24 K-cycles.
 *
 * S is Gauss-Seidel within fixed blocks of rows and Jacobi between them, so that blocks run in
 * parallel with a result that does not depend on the threads. Links that leave the block count
 * twice in the diagonal (the l1 smoother of Baker, Falgout, Kolev and Yang). Without that, two
 * nodes that are linked to little but each other, in different blocks, would swap their errors for
 * ever, and being one group they get no help from the coarse level.
 *
 * L is singular: the constants are its kernel. Right-hand sides are orthogonal to it, and stay so
 * on the way down (P^T keeps sums). Only the factor needs a small shift. */
#include "core/linalg/multilevel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/coarsen.h"
#include "core/linalg/laplacian.h"
#include "core/linalg/vec3.h"

#define MAX_LEVELS 64
#define COARSEST_NODES 1000
#define STALL_SHARE 0.9       /* no further level if it would have more than this share of nodes */
#define TWO_STEPS_SHARE 0.6   /* two inner steps if a level has less than this share of entries */
#define ENOUGH_REDUCTION 0.25 /* of the residual by the first inner step to do without a second */
#define ROWS_PER_BLOCK 4096

typedef struct {
    const psfm_csr *W;
    const double *mass;
    uint32_t *group;  /* per node, its node of the next level; NULL at the coarsest */
    double *degree;   /* sum of weights to others */
    double *diagonal; /* of the relaxation: degree plus the weights that leave the block */
    double *work;
    bool two_steps;
    double *b, *x, *step1, *step2, *product2; /* of the inner iteration; NULL at level 0 */
    psfm_csr own_W;                           /* what W and mass point to, but for level 0 */
    double *own_mass;
} level;

struct psfm_multilevel {
    int num_levels;
    level levels[MAX_LEVELS];
    psfm_spd *factor; /* of the coarsest level */
};

static psfm_status alloc_vectors(psfm_context *ctx, uint32_t n, size_t num, double **out[]) {
    for (size_t k = 0; k < num; ++k) {
        psfm_status status = PSFM_ALLOC(ctx, n, out[k]);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

static void fill_diagonals(level *l) {
    for (uint32_t i = 0; i < l->W->n; ++i) {
        uint32_t first = i - i % ROWS_PER_BLOCK;
        double degree = 0.0, outside = 0.0;
        for (size_t k = l->W->row_begin[i]; k < l->W->row_begin[i + 1]; ++k) {
            uint32_t j = l->W->col[k];
            if (j != i)
                degree += l->W->value[k];
            if (j < first || j - first >= ROWS_PER_BLOCK)
                outside += l->W->value[k];
        }
        l->degree[i] = degree;
        l->diagonal[i] = degree + outside;
    }
}

/* Completes a level whose W and mass are set. */
static psfm_status init_level(psfm_context *ctx, level *l, const level *finer) {
    double **always[] = {&l->degree, &l->diagonal, &l->work};
    double **inner[] = {&l->b, &l->x, &l->step1, &l->step2, &l->product2};
    psfm_status status = alloc_vectors(ctx, l->W->n, 3, always);
    if (status == PSFM_OK && finer != NULL)
        status = alloc_vectors(ctx, l->W->n, 5, inner);
    if (status != PSFM_OK)
        return status;
    fill_diagonals(l);
    if (finer != NULL)
        l->two_steps = (double)l->W->row_begin[l->W->n] <
                       TWO_STEPS_SHARE * (double)finer->W->row_begin[finer->W->n];
    return PSFM_OK;
}

/* Adds the next level; *added is false if the graph is small or does not get much smaller. */
static psfm_status add_level(psfm_context *ctx, psfm_multilevel *m, bool *added) {
    level *fine = &m->levels[m->num_levels - 1], *coarse = &m->levels[m->num_levels];
    uint32_t n = fine->W->n, num_groups;
    *added = false;
    if (n <= COARSEST_NODES || m->num_levels == MAX_LEVELS)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, n, &fine->group);
    if (status != PSFM_OK || (status = psfm_coarsen_group(ctx, fine->W, fine->mass, fine->group,
                                                          &num_groups)) != PSFM_OK)
        return status;
    if (num_groups < 2 || num_groups > STALL_SHARE * n) {
        free(fine->group);
        fine->group = NULL;
        return PSFM_OK;
    }
    ++m->num_levels;
    if ((status = PSFM_ALLOC(ctx, num_groups, &coarse->own_mass)) != PSFM_OK ||
        (status = psfm_coarsen_contract(ctx, fine->W, fine->mass, fine->group, num_groups,
                                        &coarse->own_W, coarse->own_mass)) != PSFM_OK)
        return status;
    coarse->W = &coarse->own_W;
    coarse->mass = coarse->own_mass;
    *added = true;
    return init_level(ctx, coarse, fine);
}

/* Factors the coarsest L + shift M. The shift is far below the eigenvalues that matter, but not so
 * small that rounding errors, blown up to constants of 1 / shift, drown the rest. It is raised if
 * the matrix turns out indefinite all the same. */
static psfm_status factor_coarsest(psfm_context *ctx, psfm_multilevel *m) {
    const level *l = &m->levels[m->num_levels - 1];
    uint32_t n = l->W->n;
    size_t num = 0, room = n + l->W->row_begin[n];
    uint32_t *row = NULL, *col = NULL;
    double *value = NULL, rate = 0.0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, room, &row)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, room, &col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, room, &value)) != PSFM_OK)
        goto cleanup;
    for (uint32_t i = 0; i < n; ++i) {
        row[num] = col[num] = i;
        value[num++] = l->degree[i];
        rate = fmax(rate, l->degree[i] / l->mass[i]);
    }
    for (uint32_t i = 0; i < n; ++i) {
        for (size_t k = l->W->row_begin[i]; k < l->W->row_begin[i + 1]; ++k) {
            if (l->W->col[k] <= i)
                continue;
            row[num] = i;
            col[num] = l->W->col[k];
            value[num++] = -l->W->value[k];
        }
    }
    status = psfm_spd_create(ctx, n, num, row, col, &m->factor);
    double shift = 1e-10 * rate;
    for (int attempt = 0; status == PSFM_OK; ++attempt) {
        for (uint32_t i = 0; i < n; ++i)
            value[i] = l->degree[i] + shift * l->mass[i];
        status = psfm_spd_factor(ctx, m->factor, value, 0.0);
        if (status != PSFM_ERR_NUMERIC || attempt == 3)
            break;
        status = PSFM_OK;
        shift *= 100.0;
    }

cleanup:
    free(row);
    free(col);
    free(value);
    return status;
}

psfm_status psfm_multilevel_create(psfm_context *ctx, const psfm_csr *W, const double *mass,
                                   psfm_multilevel **out) {
    psfm_multilevel *m;
    *out = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &m);
    if (status != PSFM_OK)
        return status;
    m->num_levels = 1;
    m->levels[0] = (level){.W = W, .mass = mass};
    status = init_level(ctx, &m->levels[0], NULL);
    for (bool added = true; status == PSFM_OK && added;)
        status = add_level(ctx, m, &added);
    if (status == PSFM_OK)
        status = factor_coarsest(ctx, m);
    if (status != PSFM_OK)
        psfm_multilevel_destroy(&m);
    *out = m;
    return status;
}

void psfm_multilevel_destroy(psfm_multilevel **multilevel) {
    psfm_multilevel *m = *multilevel;
    if (m == NULL)
        return;
    for (int k = 0; k < m->num_levels; ++k) {
        level *l = &m->levels[k];
        double *vectors[] = {l->degree, l->diagonal, l->work,     l->b,       l->x,
                             l->step1,  l->step2,    l->product2, l->own_mass};
        for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; ++v)
            free(vectors[v]);
        free(l->group);
        psfm_csr_free(&l->own_W);
    }
    psfm_spd_destroy(&m->factor);
    free(m);
    *multilevel = NULL;
}

int psfm_multilevel_num_levels(const psfm_multilevel *m) {
    return m->num_levels;
}

psfm_multilevel_graph psfm_multilevel_level(const psfm_multilevel *m, int k) {
    const level *l = &m->levels[k];
    return (psfm_multilevel_graph){l->W, l->mass, l->group};
}

typedef struct {
    const level *l;
    const double *b;
    const double *old; /* what the backward sweep starts from */
    double *x;
} relaxation;

/* Forward from zero: rows outside the block are still zero, so that only earlier ones count. */
static psfm_status relax_forward(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const relaxation *s = user;
    const psfm_csr *W = s->l->W;
    size_t first = index * ROWS_PER_BLOCK;
    size_t last = first + ROWS_PER_BLOCK < W->n ? first + ROWS_PER_BLOCK : W->n;
    for (size_t i = first; i < last; ++i) {
        double sum = s->b[i];
        for (size_t k = W->row_begin[i]; k < W->row_begin[i + 1]; ++k)
            if (W->col[k] >= first && W->col[k] < i)
                sum += W->value[k] * s->x[W->col[k]];
        s->x[i] = sum / s->l->diagonal[i];
    }
    return PSFM_OK;
}

static psfm_status relax_backward(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const relaxation *s = user;
    const psfm_csr *W = s->l->W;
    size_t first = index * ROWS_PER_BLOCK;
    size_t last = first + ROWS_PER_BLOCK < W->n ? first + ROWS_PER_BLOCK : W->n;
    for (size_t i = last; i-- > first;) {
        double sum = s->b[i], x = s->x[i];
        for (size_t k = W->row_begin[i]; k < W->row_begin[i + 1]; ++k) {
            uint32_t j = W->col[k];
            sum -= W->value[k] * (x - (j >= first && j < last ? s->x[j] : s->old[j]));
        }
        s->x[i] = x + sum / s->l->diagonal[i];
    }
    return PSFM_OK;
}

static psfm_status relax_level(psfm_context *ctx, psfm_task_fn sweep, relaxation *s) {
    size_t num_blocks = ((size_t)s->l->W->n + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    if (num_blocks == 1)
        return sweep(ctx, 0, 0, s);
    return psfm_parallel_for(ctx, NULL, num_blocks, sweep, s);
}

/* x ~ L^-1 b by one or two steps of flexible conjugate gradients, with l->b and l->x. b becomes the
 * residual of the first. */
static psfm_status iterate_level(psfm_context *ctx, psfm_multilevel *m, int k) {
    level *l = &m->levels[k];
    uint32_t n = l->W->n;
    psfm_status status = psfm_multilevel_solve(ctx, m, k, l->b, l->x);
    if (status != PSFM_OK || k == m->num_levels - 1 || !l->two_steps)
        return status;
    if ((status = psfm_laplacian_mul(ctx, l->W, l->x, l->step1)) != PSFM_OK)
        return status;
    double energy1 = psfm_dot(l->x, l->step1, n), before = psfm_dot(l->b, l->b, n);
    if (!(energy1 > 0.0))
        return PSFM_OK;
    double length1 = psfm_dot(l->x, l->b, n) / energy1;
    for (uint32_t i = 0; i < n; ++i)
        l->b[i] -= length1 * l->step1[i];
    double c1 = length1, c2 = 0.0;
    if (psfm_dot(l->b, l->b, n) > ENOUGH_REDUCTION * ENOUGH_REDUCTION * before) {
        if ((status = psfm_multilevel_solve(ctx, m, k, l->b, l->step2)) != PSFM_OK ||
            (status = psfm_laplacian_mul(ctx, l->W, l->step2, l->product2)) != PSFM_OK)
            return status;
        double mixed = psfm_dot(l->step2, l->step1, n), along2 = psfm_dot(l->step2, l->b, n);
        double energy2 = psfm_dot(l->step2, l->product2, n) - mixed * mixed / energy1;
        if (energy2 > 0.0) {
            c1 -= mixed * along2 / (energy1 * energy2);
            c2 = along2 / energy2;
        }
    }
    for (uint32_t i = 0; i < n; ++i)
        l->x[i] = c1 * l->x[i] + (c2 != 0.0 ? c2 * l->step2[i] : 0.0);
    return PSFM_OK;
}

/* The coarsest level, without the constant that the solution may have. */
static psfm_status solve_coarsest(psfm_context *ctx, psfm_multilevel *m, const double *b,
                                  double *x) {
    uint32_t n = m->levels[m->num_levels - 1].W->n;
    double mean = 0.0;
    psfm_status status = psfm_spd_solve(ctx, m->factor, 1, b, x);
    if (status != PSFM_OK)
        return status;
    for (uint32_t i = 0; i < n; ++i)
        mean += x[i] / n;
    for (uint32_t i = 0; i < n; ++i)
        x[i] -= mean;
    return PSFM_OK;
}

psfm_status psfm_multilevel_solve(psfm_context *ctx, psfm_multilevel *m, int k, const double *b,
                                  double *x) {
    level *l = &m->levels[k];
    if (k == m->num_levels - 1)
        return solve_coarsest(ctx, m, b, x);
    level *coarse = &m->levels[k + 1];
    psfm_status status = relax_level(ctx, relax_forward, &(relaxation){l, b, NULL, x});
    if (status == PSFM_OK)
        status = psfm_laplacian_residual(ctx, l->W, x, b, l->work);
    if (status != PSFM_OK)
        return status;
    memset(coarse->b, 0, coarse->W->n * sizeof *coarse->b);
    for (uint32_t i = 0; i < l->W->n; ++i)
        coarse->b[l->group[i]] += l->work[i];
    if ((status = iterate_level(ctx, m, k + 1)) != PSFM_OK)
        return status;
    for (uint32_t i = 0; i < l->W->n; ++i)
        l->work[i] = x[i] += coarse->x[l->group[i]];
    return relax_level(ctx, relax_backward, &(relaxation){l, b, l->work, x});
}
