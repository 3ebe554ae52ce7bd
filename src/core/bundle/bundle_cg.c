/* The reduced system solved by conjugate gradients, without ever forming it.
 *
 * With B the derivatives of all residuals by the blocks (poses, intrinsics, planes) and C those by
 * the points, the reduced system is S = B^T B - B^T C V^-1 C^T B + E; V is the damped C^T C, and E
 * what stands on the diagonal beside the observations: damping, priors, the fixed distance. So
 *   S x = B^T (B x + C d) + E x,   d = -V^-1 C^T B x,
 * which is one pass over the points (d and the change of each residual) and one over the blocks.
 * Memory and time of a product are proportional to the observations, whatever sees what.
 *
 * The preconditioner is block-Jacobi: the diagonal blocks of S, of intrinsics without the terms
 * between two observations of one point. A block's sums are made by one task in a fixed order, dot
 * products by one thread: the same bytes for any number of threads.
 *
 * A step that is not exact is still one downhill: with the steps cut off by their number, the
 * adjustment takes more of them but ends in the same place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_rows.h"
#include "core/linalg/vec3.h"

#define BLOCKS_PER_TASK 16
#define MAX_STEPS 500
#define TOLERANCE 1e-8    /* of the residual against its start, in the preconditioner's norm */
#define MIN_DIAGONAL 1e-9 /* of what damping multiplies */
#define MIN_PIVOT 1e-14   /* share of the diagonal */

struct psfm_bundle_cg {
    double lambda;
    size_t *begin;  /* per block: its place in the two below */
    double *extra;  /* E, block by block */
    double *factor; /* lower Cholesky factors of the preconditioner */
    double *change; /* per observation: 2, of its residual */
    double *along;  /* per point: what the change means for its plane, along m */
    double *r, *z, *p, *q;
    const double *x; /* what the product is taken with */
    double *y;       /* where it goes */
    size_t num_steps;
};

static uint32_t dim_of(const psfm_bundle *b, uint32_t block) {
    return b->pattern.scalar_begin[block + 1] - b->pattern.scalar_begin[block];
}

static size_t num_scalars(const psfm_bundle *b) {
    return b->pattern.scalar_begin[b->pattern.num_blocks];
}

static const double *camera_row(const psfm_bundle *b, uint32_t o) {
    return b->camera_rows + 2 * (size_t)b->max_free_params * o;
}

/* ---- the right-hand side, E and the preconditioner ---- */

/* The block being summed. */
typedef struct {
    const psfm_bundle *b;
    uint32_t dim;
    double *block, *extra, *rhs;
    double diagonal[PSFM_CAMERA_MAX_PARAMS]; /* before elimination, for the damping */
} block_sum;

/* An observation with the derivative P (2 x dim): block += P^T (I - J V^-1 J^T) P. */
static void add_observation(block_sum *s, uint32_t o, const double *P) {
    const psfm_bundle_row *row = &s->b->rows[o];
    const psfm_bundle_system *point = &s->b->systems[s->b->obs_point[o]];
    double M[4] = {1.0, 0.0, 0.0, 1.0}, f[2];
    for (size_t side = 0; side < 2; ++side) {
        double z[3];
        psfm_sym3_mul(point->inverse, row->J_point + 3 * side, z);
        M[2 * side] -= psfm_dot3(z, row->J_point);
        M[2 * side + 1] -= psfm_dot3(z, row->J_point + 3);
        f[side] = -row->r[side] - psfm_dot3(row->J_point + 3 * side, point->e);
    }
    for (uint32_t u = 0; u < s->dim; ++u) {
        double p0 = P[u], p1 = P[s->dim + u];
        double t0 = p0 * M[0] + p1 * M[2], t1 = p0 * M[1] + p1 * M[3];
        s->rhs[u] += p0 * f[0] + p1 * f[1];
        s->diagonal[u] += p0 * p0 + p1 * p1;
        for (uint32_t v = 0; v < s->dim; ++v)
            s->block[u * s->dim + v] += t0 * P[v] + t1 * P[s->dim + v];
    }
}

static void sum_pose(block_sum *s, uint32_t image) {
    const psfm_bundle *b = s->b;
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k) {
        add_observation(s, b->image_obs[k], b->rows[b->image_obs[k]].J_pose);
        psfm_bundle_add_pull(b, b->image_obs[k], s->rhs + 3);
    }
    psfm_bundle_add_pivot(b, image, s->diagonal, s->extra);
}

static void sum_camera(block_sum *s, uint32_t camera) {
    const psfm_bundle *b = s->b;
    for (uint32_t i = b->camera_images_begin[camera]; i < b->camera_images_begin[camera + 1]; ++i) {
        uint32_t image = b->camera_images[i];
        for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k)
            add_observation(s, b->image_obs[k], camera_row(b, b->image_obs[k]));
    }
    psfm_bundle_add_priors(b, camera, s->extra, s->rhs, s->diagonal);
}

static void sum_plane(block_sum *s, uint32_t plane) {
    const psfm_bundle *b = s->b;
    for (uint32_t k = b->plane_begin[plane]; k < b->plane_begin[plane + 1]; ++k)
        psfm_bundle_add_plane_point(&b->systems[b->plane_points[k]], s->block, s->rhs, s->diagonal);
}

/* Lower Cholesky factor in place; what rounding took from a pivot is given back. */
static void factor_block(double *A, uint32_t n) {
    for (uint32_t j = 0; j < n; ++j) {
        double pivot = A[j * n + j], least = MIN_PIVOT * pivot;
        for (uint32_t k = 0; k < j; ++k)
            pivot -= A[j * n + k] * A[j * n + k];
        if (!(pivot > least))
            pivot = least > 0.0 ? least : 1.0;
        A[j * n + j] = sqrt(pivot);
        for (uint32_t i = j + 1; i < n; ++i) {
            double sum = A[i * n + j];
            for (uint32_t k = 0; k < j; ++k)
                sum -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = sum / A[j * n + j];
        }
    }
}

static void prepare_block(psfm_bundle *b, uint32_t k) {
    psfm_bundle_cg *cg = b->cg;
    uint32_t dim = dim_of(b, k), source = b->block_source[k];
    block_sum s = {.b = b,
                   .dim = dim,
                   .block = cg->factor + cg->begin[k],
                   .extra = cg->extra + cg->begin[k],
                   .rhs = b->rhs + b->pattern.scalar_begin[k]};
    memset(s.block, 0, (size_t)dim * dim * sizeof *s.block);
    memset(s.extra, 0, (size_t)dim * dim * sizeof *s.extra);
    memset(s.rhs, 0, dim * sizeof *s.rhs);
    if (k < b->num_pose_blocks)
        sum_pose(&s, source);
    else if (k < b->num_pose_blocks + b->num_camera_blocks)
        sum_camera(&s, source);
    else
        sum_plane(&s, source);
    for (uint32_t u = 0; u < dim; ++u)
        s.extra[u * dim + u] += cg->lambda * fmax(s.diagonal[u], MIN_DIAGONAL);
    for (uint32_t e = 0; e < dim * dim; ++e)
        s.block[e] += s.extra[e];
    factor_block(s.block, dim);
}

typedef void (*block_fn)(psfm_bundle *b, uint32_t block);

typedef struct {
    psfm_bundle *b;
    block_fn fn;
} block_job;

static psfm_status do_blocks(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const block_job *job = user;
    size_t first = index * BLOCKS_PER_TASK, n = job->b->pattern.num_blocks;
    for (size_t k = first; k < first + BLOCKS_PER_TASK && k < n; ++k)
        job->fn(job->b, (uint32_t)k);
    return PSFM_OK;
}

static psfm_status for_blocks(psfm_context *ctx, psfm_bundle *b, block_fn fn) {
    block_job job = {b, fn};
    size_t n = b->pattern.num_blocks;
    return psfm_bundle_for(ctx, b, (n + BLOCKS_PER_TASK - 1) / BLOCKS_PER_TASK, do_blocks, &job);
}

psfm_status psfm_bundle_cg_prepare(psfm_context *ctx, psfm_bundle *b, double lambda) {
    b->cg->lambda = lambda;
    return for_blocks(ctx, b, prepare_block);
}

/* ---- the product ---- */

/* Change of an observation's residual by the blocks, and by its point's plane that takes it
 * `along` its normal. */
static void change_by_blocks(const psfm_bundle *b, uint32_t o, double along, double t[2]) {
    const psfm_bundle_row *row = &b->rows[o];
    uint32_t image = b->obs_image[o], block = b->image_block[image];
    uint32_t camera = b->problem->image_camera[image];
    t[0] = row->J_point[2] * along;
    t[1] = row->J_point[5] * along;
    if (block != PSFM_BUNDLE_NONE) {
        const double *x = b->cg->x + b->pattern.scalar_begin[block];
        for (int k = 0; k < 6; ++k) {
            t[0] += row->J_pose[k] * x[k];
            t[1] += row->J_pose[6 + k] * x[k];
        }
    }
    if (b->camera_block[camera] != PSFM_BUNDLE_NONE) {
        const double *x = b->cg->x + b->pattern.scalar_begin[b->camera_block[camera]];
        const double *J = camera_row(b, o);
        uint32_t num = b->num_free_params[camera];
        for (uint32_t k = 0; k < num; ++k) {
            t[0] += J[k] * x[k];
            t[1] += J[num + k] * x[k];
        }
    }
}

/* The point follows the blocks; what is left of the changes of its residuals is kept. */
static void change_point(psfm_bundle *b, uint32_t p) {
    const psfm_bundle_system *s = &b->systems[p];
    uint32_t first = b->point_begin[p], end = b->point_begin[p + 1], plane = b->point_plane[p];
    bool hard = b->options.planes == PSFM_PLANES_HARD;
    double a[3] = {0.0, 0.0, 0.0}, d[3], by_plane = 0.0, along = 0.0;
    if (plane != PSFM_BUNDLE_NONE)
        by_plane = psfm_dot3(s->m, b->cg->x + b->pattern.scalar_begin[b->plane_block[plane]]);
    if (!hard)
        psfm_axpy3(a, -by_plane, s->q, a);
    for (uint32_t o = first; o < end; ++o) {
        double *t = b->cg->change + 2 * (size_t)o;
        change_by_blocks(b, o, hard ? by_plane : 0.0, t);
        psfm_axpy3(a, -t[0], b->rows[o].J_point, a);
        psfm_axpy3(a, -t[1], b->rows[o].J_point + 3, a);
    }
    psfm_sym3_mul(s->inverse, a, d);
    for (uint32_t o = first; o < end; ++o) {
        double *t = b->cg->change + 2 * (size_t)o;
        const double *J = b->rows[o].J_point;
        t[0] += psfm_dot3(J, d);
        t[1] += psfm_dot3(J + 3, d);
        along += J[2] * t[0] + J[5] * t[1];
    }
    b->cg->along[p] = hard ? along : s->sigma * (by_plane - d[2]);
}

static psfm_status change_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    psfm_bundle *b = user;
    uint32_t first = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
    for (uint32_t p = first; p < psfm_bundle_task_end(b, index); ++p)
        change_point(b, p);
    return PSFM_OK;
}

static void gather_observation(const psfm_bundle *b, uint32_t o, const double *P, uint32_t dim,
                               double *y) {
    const double *t = b->cg->change + 2 * (size_t)o;
    for (uint32_t u = 0; u < dim; ++u)
        y[u] += P[u] * t[0] + P[dim + u] * t[1];
}

static void gather_camera(const psfm_bundle *b, uint32_t camera, uint32_t dim, double *y) {
    for (uint32_t i = b->camera_images_begin[camera]; i < b->camera_images_begin[camera + 1]; ++i) {
        uint32_t image = b->camera_images[i];
        for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k)
            gather_observation(b, b->image_obs[k], camera_row(b, b->image_obs[k]), dim, y);
    }
}

/* y = B^T change + E x, one block. */
static void gather_block(psfm_bundle *b, uint32_t k) {
    const psfm_bundle_cg *cg = b->cg;
    uint32_t dim = dim_of(b, k), source = b->block_source[k];
    const double *x = cg->x + b->pattern.scalar_begin[k], *extra = cg->extra + cg->begin[k];
    double *y = cg->y + b->pattern.scalar_begin[k];
    for (uint32_t u = 0; u < dim; ++u) {
        y[u] = 0.0;
        for (uint32_t v = 0; v < dim; ++v)
            y[u] += extra[u * dim + v] * x[v];
    }
    if (k < b->num_pose_blocks) {
        for (uint32_t i = b->image_begin[source]; i < b->image_begin[source + 1]; ++i)
            gather_observation(b, b->image_obs[i], b->rows[b->image_obs[i]].J_pose, 6, y);
    } else if (k < b->num_pose_blocks + b->num_camera_blocks) {
        gather_camera(b, source, dim, y);
    } else {
        for (uint32_t i = b->plane_begin[source]; i < b->plane_begin[source + 1]; ++i)
            psfm_axpy3(y, cg->along[b->plane_points[i]], b->systems[b->plane_points[i]].m, y);
    }
}

static psfm_status multiply_system(psfm_context *ctx, psfm_bundle *b, const double *x, double *y) {
    b->cg->x = x;
    b->cg->y = y;
    psfm_status status = psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), change_points, b);
    return status == PSFM_OK ? for_blocks(ctx, b, gather_block) : status;
}

/* ---- conjugate gradients ---- */

/* z = M^-1 r */
static void precondition_residual(const psfm_bundle *b, const double *r, double *z) {
    for (uint32_t k = 0; k < b->pattern.num_blocks; ++k) {
        uint32_t n = dim_of(b, k), at = b->pattern.scalar_begin[k];
        const double *L = b->cg->factor + b->cg->begin[k];
        double *y = z + at;
        for (uint32_t i = 0; i < n; ++i) {
            y[i] = r[at + i];
            for (uint32_t j = 0; j < i; ++j)
                y[i] -= L[i * n + j] * y[j];
            y[i] /= L[i * n + i];
        }
        for (uint32_t i = n; i-- > 0;) {
            for (uint32_t j = i + 1; j < n; ++j)
                y[i] -= L[j * n + i] * y[j];
            y[i] /= L[i * n + i];
        }
    }
}

psfm_status psfm_bundle_cg_solve(psfm_context *ctx, psfm_bundle *b, const double *rhs, double *x) {
    psfm_bundle_cg *cg = b->cg;
    size_t n = num_scalars(b);
    psfm_status status = PSFM_OK;
    memcpy(cg->r, rhs, n * sizeof *rhs);
    memset(x, 0, n * sizeof *x);
    precondition_residual(b, cg->r, cg->z);
    memcpy(cg->p, cg->z, n * sizeof *cg->p);
    double rho = psfm_dot(cg->r, cg->z, n), goal = TOLERANCE * TOLERANCE * rho;
    for (int step = 0; step < MAX_STEPS && rho > goal; ++step) {
        if ((status = multiply_system(ctx, b, cg->p, cg->q)) != PSFM_OK)
            break;
        double curvature = psfm_dot(cg->p, cg->q, n);
        if (!(curvature > 0.0)) /* rounding: what there is, is a step downhill */
            break;
        for (size_t k = 0; k < n; ++k) {
            x[k] += rho / curvature * cg->p[k];
            cg->r[k] -= rho / curvature * cg->q[k];
        }
        precondition_residual(b, cg->r, cg->z);
        double before = rho;
        rho = psfm_dot(cg->r, cg->z, n);
        for (size_t k = 0; k < n; ++k)
            cg->p[k] = cg->z[k] + rho / before * cg->p[k];
        ++cg->num_steps;
    }
    return status;
}

size_t psfm_bundle_cg_num_steps(const psfm_bundle_cg *cg) {
    return cg->num_steps;
}

psfm_status psfm_bundle_cg_create(psfm_context *ctx, const psfm_bundle *b, psfm_bundle_cg **out) {
    psfm_bundle_cg *cg = NULL;
    size_t n = num_scalars(b), entries = 0;
    psfm_status status;
    *out = NULL;
    if ((status = PSFM_ALLOC(ctx, 1, &cg)) ||
        (status = PSFM_ALLOC(ctx, (size_t)b->pattern.num_blocks, &cg->begin)))
        goto cleanup;
    for (uint32_t k = 0; k < b->pattern.num_blocks; ++k) {
        cg->begin[k] = entries;
        entries += (size_t)dim_of(b, k) * dim_of(b, k);
    }
    if ((status = PSFM_ALLOC(ctx, entries, &cg->extra)) ||
        (status = PSFM_ALLOC(ctx, entries, &cg->factor)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)b->num_obs, &cg->change)) ||
        (status = PSFM_ALLOC(ctx, b->num_points, &cg->along)) ||
        (status = PSFM_ALLOC(ctx, n, &cg->r)) || (status = PSFM_ALLOC(ctx, n, &cg->z)) ||
        (status = PSFM_ALLOC(ctx, n, &cg->p)) || (status = PSFM_ALLOC(ctx, n, &cg->q)))
        goto cleanup;

cleanup:
    if (status != PSFM_OK)
        psfm_bundle_cg_destroy(&cg);
    *out = cg;
    return status;
}

void psfm_bundle_cg_destroy(psfm_bundle_cg **cg) {
    if (*cg == NULL)
        return;
    psfm_bundle_cg *c = *cg;
    void *owned[] = {c->begin, c->extra, c->factor, c->change, c->along, c->r, c->z, c->p, c->q};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k)
        free(owned[k]);
    free(c);
    *cg = NULL;
}
