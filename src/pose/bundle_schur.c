/* The reduced system: points eliminated (Schur complement).
 *
 * A point p with observations o has J_o = d r_o / d point (2 x 3), the damped V_p = sum J_o^T J_o
 * and b_p = -sum J_o^T r_o. An observation's derivative by a block of the reduced system, a pose
 * or a camera's intrinsics, is P_o (2 x 6 or 2 x k). Then
 *   S_ij = [sum_o P_o^T P'_o] - sum_p sum_{o in i, o' in j} P_o^T (J_o V_p^-1 J_o'^T) P_o',
 *   g_i  = sum_o P_o^T (-r_o - J_o V_p^-1 b_p),
 * where the matrix in parentheses is only 2 x 2. A plane meets a block i by
 *   S_i,plane = sum_o P_o^T (s_o - J_o V_p^-1 q_p) m_p^T,
 * s_o being the residual's derivative along the normal for a hard point and zero for a soft one,
 * and itself by sum_p (sigma_p - q_p^T V_p^-1 q_p) m_p m_p^T; see bundle_linearize.c for m, q,
 * sigma.
 *
 * One task owns a few consecutive block rows and sums over their observations in a fixed order. So
 * no two threads write to one place, and the result does not depend on the number of threads. A
 * few rows rather than one, because images next to each other mostly see the same points, whose
 * rows then are loaded once for all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/vec3.h"
#include "pose/bundle_internal.h"
#include "pose/schur_kernel.h"

#define TILE 4            /* pose rows of a task */
#define MIN_DIAGONAL 1e-9 /* of what damping multiplies, so that an unseen direction gets some */

typedef struct {
    psfm_bundle *b;
    double lambda;
    size_t block_stride; /* largest block in scalars */
    double **scratch;    /* per worker: the blocks of TILE rows */
    uint32_t **slot;     /* per worker and row of its tile: block column -> place in the row */
    psfm_schur_subtract subtract;
} reduction;

/* The row being summed. */
typedef struct {
    const psfm_bundle *b;
    uint32_t block, dim;
    double *blocks;
    size_t block_stride;
    const uint32_t *slot;
    double diagonal[PSFM_CAMERA_MAX_PARAMS]; /* before elimination, for the damping */
    double *rhs;
    psfm_schur_subtract subtract;
} row_sum;

static double damped(double diagonal, double lambda) {
    return diagonal + lambda * fmax(diagonal, MIN_DIAGONAL);
}

/* Inverse of a packed symmetric positive definite 3 x 3 matrix by cofactors; zero if singular. */
static void invert(const double A[6], double out[6]) {
    double c0 = A[3] * A[5] - A[4] * A[4];
    double c1 = A[2] * A[4] - A[1] * A[5];
    double c2 = A[1] * A[4] - A[2] * A[3];
    double det = A[0] * c0 + A[1] * c1 + A[2] * c2;
    memset(out, 0, 6 * sizeof *out);
    if (!(det > 1e-15 * A[0] * A[3] * A[5]))
        return;
    out[0] = c0 / det;
    out[1] = c1 / det;
    out[2] = c2 / det;
    out[3] = (A[0] * A[5] - A[2] * A[2]) / det;
    out[4] = (A[1] * A[2] - A[0] * A[4]) / det;
    out[5] = (A[0] * A[3] - A[1] * A[1]) / det;
}

/* The same for the upper left 2 x 2 part, the rest zero. */
static void invert_in_plane(const double A[6], double out[6]) {
    double det = A[0] * A[3] - A[1] * A[1];
    memset(out, 0, 6 * sizeof *out);
    if (!(det > 1e-15 * A[0] * A[3]))
        return;
    out[0] = A[3] / det;
    out[1] = -A[1] / det;
    out[3] = A[0] / det;
}

static psfm_status damp_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const reduction *job = user;
    psfm_bundle *b = job->b;
    uint32_t first = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
    for (uint32_t p = first; p < psfm_bundle_task_end(b, index); ++p) {
        psfm_bundle_system *s = &b->systems[p];
        double A[6];
        memcpy(A, s->V, sizeof A);
        A[0] = damped(A[0], job->lambda);
        A[3] = damped(A[3], job->lambda);
        A[5] = damped(A[5], job->lambda);
        if (b->point_fixed[p])
            memset(s->inverse, 0, sizeof s->inverse);
        else if (b->options.planes == PSFM_PLANES_HARD && b->point_plane[p] != PSFM_BUNDLE_NONE)
            invert_in_plane(A, s->inverse);
        else
            invert(A, s->inverse);
        psfm_sym3_mul(s->inverse, s->b, s->e);
    }
    return PSFM_OK;
}

/* S -= P^T N Q, P (2 x rows), N (2 x 2), Q (2 x cols). */
__attribute__((always_inline)) static inline void product(const double *restrict P, uint32_t rows,
                                                          const double N[4],
                                                          const double *restrict Q, uint32_t cols,
                                                          double *restrict S) {
    double T[2 * PSFM_CAMERA_MAX_PARAMS];
    for (uint32_t v = 0; v < cols; ++v) {
        T[v] = N[0] * Q[v] + N[1] * Q[cols + v];
        T[cols + v] = N[2] * Q[v] + N[3] * Q[cols + v];
    }
    for (uint32_t u = 0; u < rows; ++u)
        for (uint32_t v = 0; v < cols; ++v)
            *S++ -= P[u] * T[v] + P[rows + u] * T[cols + v];
}

/* The same; the sizes that one or two focal lengths make are compiled on their own. */
static void subtract_product(const double *P, uint32_t rows, const double N[4], const double *Q,
                             uint32_t cols, double *S) {
    if (rows == 6 && cols == 2)
        product(P, 6, N, Q, 2, S);
    else if (rows == 6 && cols == 1)
        product(P, 6, N, Q, 1, S);
    else if (rows == 2 && cols == 2)
        product(P, 2, N, Q, 2, S);
    else
        product(P, rows, N, Q, cols, S);
}

/* N = Z J'^T, Z = J V^-1. */
static inline void couple(const double Z[6], const double J[6], double N[4]) {
    N[0] = psfm_dot3(Z, J);
    N[1] = psfm_dot3(Z, J + 3);
    N[2] = psfm_dot3(Z + 3, J);
    N[3] = psfm_dot3(Z + 3, J + 3);
}

static double *target(const row_sum *row, uint32_t block) {
    return row->blocks + row->slot[block] * row->block_stride;
}

/* Blocks with the poses of the other observations of the point, for the row of a pose. */
static void add_poses(const row_sum *row, uint32_t o, uint32_t end, const double Z[6]) {
    const psfm_bundle *b = row->b;
    const double *P = b->rows[o].J_pose;
    for (uint32_t other = o + 1; other < end; ++other) {
        uint32_t block = b->image_block[b->obs_image[other]];
        if (block == PSFM_BUNDLE_NONE)
            continue;
        double N[4];
        couple(Z, b->rows[other].J_point, N);
        row->subtract(P, N, b->rows[other].J_pose, target(row, block));
    }
}

/* Blocks with the intrinsics of all observations of the point. */
static void add_cameras(const row_sum *row, uint32_t o, const double *P, const double Z[6]) {
    static const double minus_identity[4] = {-1, 0, 0, -1};
    const psfm_bundle *b = row->b;
    uint32_t p = b->obs_point[o];
    for (uint32_t other = b->point_begin[p]; other < b->point_begin[p + 1]; ++other) {
        uint32_t camera = b->problem->image_camera[b->obs_image[other]];
        uint32_t block = b->camera_block[camera];
        if (block == PSFM_BUNDLE_NONE || block < row->block)
            continue;
        const double *Q = b->camera_rows + 2 * (size_t)b->max_free_params * other;
        uint32_t num = b->num_free_params[camera];
        double N[4];
        couple(Z, b->rows[other].J_point, N);
        subtract_product(P, row->dim, N, Q, num, target(row, block));
        if (other == o)
            subtract_product(P, row->dim, minus_identity, Q, num, target(row, block));
    }
}

static void add_plane(const row_sum *row, uint32_t o, const double *P, const double Z[6]) {
    const psfm_bundle *b = row->b;
    const psfm_bundle_system *s = &b->systems[b->obs_point[o]];
    uint32_t plane = b->point_plane[b->obs_point[o]];
    if (plane == PSFM_BUNDLE_NONE)
        return;
    double *S = target(row, b->plane_block[plane]);
    double h[2] = {-psfm_dot3(Z, s->q), -psfm_dot3(Z + 3, s->q)};
    if (b->options.planes == PSFM_PLANES_HARD) {
        h[0] += b->rows[o].J_point[2];
        h[1] += b->rows[o].J_point[5];
    }
    for (uint32_t u = 0; u < row->dim; ++u) {
        double f = P[u] * h[0] + P[row->dim + u] * h[1];
        for (int v = 0; v < 3; ++v)
            S[3 * u + (uint32_t)v] += f * s->m[v];
    }
}

/* Right-hand side, the diagonal before elimination, and Z = J V^-1 for the blocks. */
static void start_observation(row_sum *row, uint32_t o, const double *P, double Z[6]) {
    const psfm_bundle_row *r = &row->b->rows[o];
    const psfm_bundle_system *s = &row->b->systems[row->b->obs_point[o]];
    double f[2];
    for (size_t side = 0; side < 2; ++side) {
        psfm_sym3_mul(s->inverse, r->J_point + 3 * side, Z + 3 * side);
        f[side] = -r->r[side] - psfm_dot3(r->J_point + 3 * side, s->e);
    }
    for (uint32_t u = 0; u < row->dim; ++u) {
        double p0 = P[u], p1 = P[row->dim + u];
        row->rhs[u] += p0 * f[0] + p1 * f[1];
        row->diagonal[u] += p0 * p0 + p1 * p1;
    }
}

static void add_observation(row_sum *row, uint32_t o) {
    const psfm_bundle *b = row->b;
    const double *P = b->rows[o].J_pose;
    double Z[6], N[4];
    start_observation(row, o, P, Z);
    psfm_bundle_add_pull(b, o, row->rhs + 3);
    couple(Z, b->rows[o].J_point, N);
    N[0] -= 1.0;
    N[3] -= 1.0;
    row->subtract(P, N, P, row->blocks);
    add_poses(row, o, b->point_begin[b->obs_point[o] + 1], Z);
    if (b->num_camera_blocks > 0)
        add_cameras(row, o, P, Z);
    add_plane(row, o, P, Z);
}

/* The direction that hold_distance took out of the derivatives gets a pivot of its own. */
static void hold_scale(row_sum *row, uint32_t image) {
    const psfm_bundle *b = row->b;
    if (b->scale_anchor[image] == PSFM_BUNDLE_NONE)
        return;
    double u[3], weight = row->diagonal[3] + row->diagonal[4] + row->diagonal[5] + 1.0;
    psfm_sub3(b->now.c[image], b->now.c[b->scale_anchor[image]], u);
    psfm_normalize3(u);
    for (size_t r = 0; r < 3; ++r)
        for (size_t c = 0; c < 3; ++c)
            row->blocks[6 * (3 + r) + 3 + c] += weight * u[r] * u[c];
}

/* Whether observation o is its point's first one by an adjusted image from `first` on. */
static bool starts_tile(const psfm_bundle *b, uint32_t o, uint32_t first) {
    uint32_t begin = b->point_begin[b->obs_point[o]];
    for (; o > begin && b->obs_image[o - 1] >= first; --o)
        if (b->image_block[b->obs_image[o - 1]] != PSFM_BUNDLE_NONE)
            return false;
    return true;
}

/* Sums the rows of consecutive poses, blocks tile .. tile + num - 1. A point is visited at its
 * first observation in the tile; the others in the tile follow it in memory. */
static void sum_pose_rows(const psfm_bundle *b, uint32_t tile, row_sum *rows, uint32_t num) {
    const uint32_t *images = b->block_source + tile;
    uint32_t first = images[0], last = images[num - 1];
    for (uint32_t r = 0; r < num; ++r)
        for (uint32_t k = b->image_begin[images[r]]; k < b->image_begin[images[r] + 1]; ++k) {
            uint32_t o = b->image_obs[k], end = b->point_begin[b->obs_point[o] + 1];
            for (bool visit = starts_tile(b, o, first); visit && o < end && b->obs_image[o] <= last;
                 ++o) {
                uint32_t block = b->image_block[b->obs_image[o]];
                if (block != PSFM_BUNDLE_NONE)
                    add_observation(&rows[block - tile], o);
            }
        }
    for (uint32_t r = 0; r < num; ++r)
        hold_scale(&rows[r], images[r]);
}

static void sum_camera_row(row_sum *row, uint32_t camera) {
    const psfm_bundle *b = row->b;
    for (uint32_t i = b->camera_images_begin[camera]; i < b->camera_images_begin[camera + 1]; ++i) {
        uint32_t image = b->camera_images[i];
        for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k) {
            uint32_t o = b->image_obs[k];
            const double *P = b->camera_rows + 2 * (size_t)b->max_free_params * o;
            double Z[6];
            start_observation(row, o, P, Z);
            add_cameras(row, o, P, Z);
            add_plane(row, o, P, Z);
        }
    }
    for (uint32_t u = 0; u < row->dim; ++u) { /* the priors */
        psfm_bundle_prior prior = psfm_bundle_prior_of(b, camera, u);
        double value = b->now.cameras[camera].params[b->free_params[camera][u]];
        row->blocks[u * row->dim + u] += prior.weight;
        row->diagonal[u] += prior.weight;
        row->rhs[u] += prior.weight * (prior.value - value);
    }
}

static void sum_plane_row(row_sum *row, uint32_t plane) {
    const psfm_bundle *b = row->b;
    for (uint32_t k = b->plane_begin[plane]; k < b->plane_begin[plane + 1]; ++k) {
        const psfm_bundle_system *s = &b->systems[b->plane_points[k]];
        double inverse_q[3];
        psfm_sym3_mul(s->inverse, s->q, inverse_q);
        double sigma = s->sigma - psfm_dot3(s->q, inverse_q);
        double gamma = s->gamma - psfm_dot3(inverse_q, s->b);
        for (int u = 0; u < 3; ++u) {
            for (int v = 0; v < 3; ++v)
                row->blocks[3 * u + v] += sigma * s->m[u] * s->m[v];
            row->rhs[u] += gamma * s->m[u];
            row->diagonal[u] += s->sigma * s->m[u] * s->m[u];
        }
    }
}

/* Clears row `block` of the system. */
static row_sum start_row(const reduction *job, uint32_t block, double *blocks, uint32_t *slot) {
    const psfm_block_pattern *pattern = &job->b->pattern;
    size_t first = pattern->row_begin[block], end = pattern->row_begin[block + 1];
    uint32_t begin = pattern->scalar_begin[block];
    row_sum row = {.b = job->b,
                   .block = block,
                   .dim = pattern->scalar_begin[block + 1] - begin,
                   .blocks = blocks,
                   .block_stride = job->block_stride,
                   .slot = slot,
                   .rhs = job->b->rhs + begin,
                   .subtract = job->subtract};
    memset(blocks, 0, (end - first) * job->block_stride * sizeof *blocks);
    memset(row.rhs, 0, row.dim * sizeof *row.rhs);
    for (size_t k = first; k < end; ++k)
        slot[pattern->col[k]] = (uint32_t)(k - first);
    return row;
}

/* Damps a summed row and hands it to the solver. */
static void finish_row(const reduction *job, row_sum *row) {
    psfm_bundle *b = job->b;
    size_t first = b->pattern.row_begin[row->block], end = b->pattern.row_begin[row->block + 1];
    for (uint32_t u = 0; u < row->dim; ++u)
        row->blocks[u * row->dim + u] += damped(row->diagonal[u], job->lambda) - row->diagonal[u];
    for (size_t k = first; k < end; ++k)
        psfm_block_spd_set(b->spd, k, row->blocks + (k - first) * job->block_stride);
}

static uint32_t num_tiles(const psfm_bundle *b) {
    return (b->num_pose_blocks + TILE - 1) / TILE;
}

/* Task: a tile of pose rows, or one row of a camera or plane. */
static psfm_status sum_rows(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const reduction *job = user;
    const psfm_bundle *b = job->b;
    bool poses = index < num_tiles(b);
    uint32_t first =
        poses ? (uint32_t)index * TILE : b->num_pose_blocks + (uint32_t)index - num_tiles(b);
    uint32_t num = !poses                              ? 1
                   : first + TILE < b->num_pose_blocks ? TILE
                                                       : b->num_pose_blocks - first;
    row_sum rows[TILE];
    double *blocks = job->scratch[worker];
    for (uint32_t r = 0; r < num; ++r) {
        const size_t *row_begin = b->pattern.row_begin + first + r;
        rows[r] = start_row(job, first + r, blocks,
                            job->slot[worker] + (size_t)r * b->pattern.num_blocks);
        blocks += (row_begin[1] - row_begin[0]) * job->block_stride;
    }
    if (poses)
        sum_pose_rows(b, first, rows, num);
    else if (first < b->num_pose_blocks + b->num_camera_blocks)
        sum_camera_row(rows, b->block_source[first]);
    else
        sum_plane_row(rows, b->block_source[first]);
    for (uint32_t r = 0; r < num; ++r)
        finish_row(job, &rows[r]);
    return PSFM_OK;
}

static psfm_status alloc_reduction(psfm_context *ctx, reduction *job, int num_workers) {
    const psfm_block_pattern *pattern = &job->b->pattern;
    size_t longest = 0, largest = 6;
    for (uint32_t r = 0; r < pattern->num_blocks; ++r) {
        size_t length = pattern->row_begin[r + 1] - pattern->row_begin[r];
        longest = length > longest ? length : longest;
    }
    if (job->b->max_free_params > largest)
        largest = job->b->max_free_params;
    job->block_stride = largest * largest;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num_workers, &job->scratch);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num_workers, &job->slot);
    for (int w = 0; status == PSFM_OK && w < num_workers; ++w) {
        status = PSFM_ALLOC(ctx, TILE * longest * job->block_stride, &job->scratch[w]);
        if (status == PSFM_OK)
            status = PSFM_ALLOC(ctx, TILE * (size_t)pattern->num_blocks, &job->slot[w]);
    }
    return status;
}

psfm_status psfm_bundle_reduce(psfm_context *ctx, psfm_bundle *b, double lambda) {
    reduction job = {.b = b, .lambda = lambda, .subtract = psfm_schur_subtract_choose()};
    if (b->pattern.num_blocks == 0) /* points alone */
        return psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), damp_points, &job);
    if (b->cg != NULL) {
        psfm_status prepared =
            psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), damp_points, &job);
        return prepared == PSFM_OK ? psfm_bundle_cg_prepare(ctx, b, lambda) : prepared;
    }
    size_t num_tasks = num_tiles(b) + b->num_camera_blocks + b->num_plane_blocks;
    int num_workers = psfm_parallel_workers(ctx, num_tasks);
    psfm_status status = alloc_reduction(ctx, &job, num_workers);
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), damp_points, &job);
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, num_tasks, sum_rows, &job);
    for (int w = 0; w < num_workers; ++w) {
        if (job.scratch != NULL)
            free(job.scratch[w]);
        if (job.slot != NULL)
            free(job.slot[w]);
    }
    free(job.scratch);
    free(job.slot);
    return status == PSFM_OK ? psfm_block_spd_factor(ctx, b->spd) : status;
}
