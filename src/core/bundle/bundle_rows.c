/* Rows of the reduced system, point by point.
 *
 * With the derivatives P_o of an observation by a block i of the reduced system, a pose or a
 * camera's intrinsics, and the half U_i of the point (bundle_elimination.c), a point adds
 *   to S_ij:      [sum_o P_o^T P'_o] - U_i U_j^T,
 *   to g_i:       -sum_o P_o^T r_o - U_i G^T b,
 *   to S_i,plane: (sum_o P_o^T s_o - U_i G^T q) m^T,
 * s_o being the residual's derivative along the normal for a hard point and zero for a soft one. To
 * the row of its plane it adds (sigma - q^T V^-1 q) m m^T; see bundle_linearize.c for m, q, sigma.
 */
#include "core/bundle/bundle_rows.h"

#include "core/linalg/vec3.h"

/* A point and its rows. */
typedef struct {
    const psfm_bundle_rows *to;
    const psfm_bundle *b;
    const psfm_bundle_system *system;
    uint32_t plane_block;        /* or NONE */
    double root_b[3], root_q[3]; /* G^T b, G^T q */
} point_sum;

/* y = G^T x. */
static void multiply_root(const double G[6], const double x[3], double y[3]) {
    y[0] = G[0] * x[0];
    y[1] = G[1] * x[0] + G[3] * x[1];
    y[2] = G[2] * x[0] + G[4] * x[1] + G[5] * x[2];
}

static double *find_target(const psfm_bundle_row_sum *row, uint32_t block) {
    return row->blocks + row->slot[block];
}

/* The row of a block, or NULL if it is not among those that are summed. */
static psfm_bundle_row_sum *row_of(const point_sum *s, uint32_t block) {
    bool here = block != PSFM_BUNDLE_NONE && block - s->to->first < s->to->num;
    return here ? &s->to->rows[block - s->to->first] : NULL;
}

/* What an observation with the derivatives P by a camera adds to its row before elimination. */
static void add_own(const psfm_bundle_row_sum *row, const double *P, const double r[2]) {
    uint32_t dim = row->dim;
    for (uint32_t u = 0; u < dim; ++u) {
        row->rhs[u] -= P[u] * r[0] + P[dim + u] * r[1];
        row->diagonal[u] += P[u] * P[u] + P[dim + u] * P[dim + u];
        for (uint32_t v = 0; v < dim; ++v)
            row->blocks[u * dim + v] += P[u] * P[v] + P[dim + u] * P[dim + v];
    }
}

/* The right-hand side of a camera with the half U, and its block with the point's plane. */
static void subtract_point(const point_sum *s, const psfm_bundle_row_sum *row, const double *U) {
    const double *b = s->root_b, *q = s->root_q, *m = s->system->m;
    uint32_t dim = row->dim;
    for (uint32_t u = 0; u < dim; ++u)
        row->rhs[u] -= U[u] * b[0] + U[dim + u] * b[1] + U[2 * dim + u] * b[2];
    if (s->plane_block == PSFM_BUNDLE_NONE)
        return;
    double *S = find_target(row, s->plane_block);
    for (uint32_t u = 0; u < dim; ++u) {
        double f = U[u] * q[0] + U[dim + u] * q[1] + U[2 * dim + u] * q[2];
        for (uint32_t k = 0; k < 3; ++k)
            S[k * dim + u] -= f * m[k];
    }
}

/* What an observation of a hard point adds to the block with the plane before elimination. */
static void add_hard_plane(const point_sum *s, const psfm_bundle_row_sum *row, uint32_t o,
                           const double *P) {
    if (s->plane_block == PSFM_BUNDLE_NONE || s->b->options.planes != PSFM_PLANES_HARD)
        return;
    const double *J = s->b->rows[o].J_point;
    double *S = find_target(row, s->plane_block);
    for (uint32_t v = 0; v < 3; ++v)
        for (uint32_t u = 0; u < row->dim; ++u)
            S[v * row->dim + u] += (P[u] * J[2] + P[row->dim + u] * J[5]) * s->system->m[v];
}

/* Blocks of a pose with the half U and the cameras of the point. */
static void meet_cameras(const point_sum *s, const psfm_bundle_row_sum *row, uint32_t o,
                         const double *U) {
    const psfm_bundle *b = s->b;
    const psfm_bundle_halves *h = s->to->halves;
    for (uint32_t c = 0; c < h->num_cameras; ++c)
        s->to->kernel->subtract(h->intrinsics[c], b->num_free_params[h->camera[c]], U,
                                find_target(row, b->camera_block[h->camera[c]]));
    uint32_t camera = b->problem->image_camera[b->obs_image[o]];
    if (b->camera_block[camera] != PSFM_BUNDLE_NONE)
        s->to->kernel->add(b->camera_rows + 2 * (size_t)b->max_free_params * o,
                           b->num_free_params[camera], b->rows[o].J_pose,
                           find_target(row, b->camera_block[camera]));
}

/* Adds observation o, whose pose is entry i of the halves, to its row. */
static void add_pose(const point_sum *s, const psfm_bundle_row_sum *row, uint32_t o, uint32_t i) {
    const psfm_bundle *b = s->b;
    const psfm_bundle_halves *h = s->to->halves;
    const double *U = h->pose[i];
    double *plane = s->plane_block == PSFM_BUNDLE_NONE ? NULL : find_target(row, s->plane_block);
    s->to->kernel->pose(&(psfm_schur_pose){b->rows[o].J_pose, b->rows[o].r, h->point[i], U,
                                           s->root_b, s->root_q, s->system->m},
                        &(psfm_schur_row){row->rhs, row->diagonal, row->blocks, plane});
    psfm_bundle_add_pull(b, o, row->rhs + 3);
    for (uint32_t j = i + 1; j < h->num_poses; ++j)
        s->to->kernel->subtract(U, 6, h->pose[j], find_target(row, h->pose_block[j]));
    add_hard_plane(s, row, o, b->rows[o].J_pose);
    if (b->num_camera_blocks > 0)
        meet_cameras(s, row, o, U);
}

/* The block of an observation's pose that moves and is not before the rows, or NONE. */
static uint32_t block_from_rows(const point_sum *s, uint32_t o) {
    uint32_t block = s->b->image_block[s->b->obs_image[o]];
    return block != PSFM_BUNDLE_NONE && block >= s->to->first ? block : PSFM_BUNDLE_NONE;
}

static void add_poses(const point_sum *s, uint32_t p) {
    const psfm_bundle *b = s->b;
    uint32_t o = b->point_begin[p], end = b->point_begin[p + 1], i = 0;
    while (o < end && block_from_rows(s, o) == PSFM_BUNDLE_NONE)
        ++o;
    if (o == end || row_of(s, block_from_rows(s, o)) == NULL)
        return;
    psfm_bundle_halve_poses(b, s->to->kernel, o, end, s->to->halves);
    for (; o < end; ++o) {
        const psfm_bundle_row_sum *row = row_of(s, block_from_rows(s, o));
        if (row != NULL)
            add_pose(s, row, o, i++);
    }
}

/* S -= A^T B, A 3 x rows, B 3 x cols. */
static void subtract_product(const double *restrict A, uint32_t rows, const double *restrict B,
                             uint32_t cols, double *restrict S) {
    for (uint32_t u = 0; u < rows; ++u)
        for (uint32_t v = 0; v < cols; ++v)
            *S++ -= A[u] * B[v] + A[rows + u] * B[cols + v] + A[2 * rows + u] * B[2 * cols + v];
}

/* Adds observation o to the row of its camera, before elimination. */
static void add_camera(const point_sum *s, uint32_t o) {
    const psfm_bundle *b = s->b;
    const psfm_bundle_row_sum *row =
        row_of(s, b->camera_block[b->problem->image_camera[b->obs_image[o]]]);
    const double *P = b->camera_rows + 2 * (size_t)b->max_free_params * o;
    if (row == NULL)
        return;
    add_own(row, P, b->rows[o].r);
    add_hard_plane(s, row, o, P);
}

static void add_cameras(const point_sum *s, uint32_t p) {
    const psfm_bundle *b = s->b;
    const psfm_bundle_halves *h = s->to->halves;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o)
        add_camera(s, o);
    for (uint32_t i = 0; i < h->num_cameras; ++i) {
        uint32_t block = b->camera_block[h->camera[i]];
        const psfm_bundle_row_sum *row = row_of(s, block);
        if (row == NULL)
            continue;
        subtract_point(s, row, h->intrinsics[i]);
        for (uint32_t j = 0; j < h->num_cameras; ++j) {
            uint32_t other = b->camera_block[h->camera[j]];
            if (other >= block)
                subtract_product(h->intrinsics[i], row->dim, h->intrinsics[j],
                                 b->num_free_params[h->camera[j]], find_target(row, other));
        }
    }
}

static void add_plane(const point_sum *s) {
    const psfm_bundle_row_sum *row = row_of(s, s->plane_block);
    const psfm_bundle_system *point = s->system;
    if (row == NULL)
        return;
    psfm_bundle_add_plane_point(point, row->blocks, row->rhs, row->diagonal);
}

void psfm_bundle_rows_add(const psfm_bundle_rows *rows, uint32_t p) {
    const psfm_bundle *b = rows->b;
    uint32_t cameras_end = b->num_pose_blocks + b->num_camera_blocks, plane = b->point_plane[p];
    point_sum s = {.to = rows, .b = b, .system = &b->systems[p]};
    s.plane_block = plane == PSFM_BUNDLE_NONE ? PSFM_BUNDLE_NONE : b->plane_block[plane];
    multiply_root(s.system->root, s.system->b, s.root_b);
    multiply_root(s.system->root, s.system->q, s.root_q);
    if (b->num_camera_blocks > 0 && rows->first < cameras_end)
        psfm_bundle_halve_cameras(b, p, rows->halves);
    if (rows->first < b->num_pose_blocks)
        add_poses(&s, p);
    if (rows->first < cameras_end && rows->first + rows->num > b->num_pose_blocks)
        add_cameras(&s, p);
    add_plane(&s);
}

void psfm_bundle_row_complete(const psfm_bundle *b, psfm_bundle_row_sum *row) {
    uint32_t source = b->block_source[row->block];
    if (row->block < b->num_pose_blocks)
        psfm_bundle_add_pivot(b, source, row->diagonal, row->blocks);
    else if (row->block < b->num_pose_blocks + b->num_camera_blocks)
        psfm_bundle_add_priors(b, source, row->blocks, row->rhs, row->diagonal);
}

void psfm_bundle_add_pivot(const psfm_bundle *b, uint32_t image, const double *diagonal,
                           double *block) {
    if (b->scale_anchor[image] == PSFM_BUNDLE_NONE)
        return;
    double u[3], weight = diagonal[3] + diagonal[4] + diagonal[5] + 1.0;
    psfm_sub3(b->now.c[image], b->now.c[b->scale_anchor[image]], u);
    psfm_normalize3(u);
    for (size_t r = 0; r < 3; ++r)
        for (size_t c = 0; c < 3; ++c)
            block[6 * (3 + r) + 3 + c] += weight * u[r] * u[c];
}

void psfm_bundle_add_priors(const psfm_bundle *b, uint32_t camera, double *block, double *rhs,
                            double *diagonal) {
    uint32_t dim = b->num_free_params[camera];
    for (uint32_t u = 0; u < dim; ++u) {
        psfm_bundle_prior prior = psfm_bundle_prior_of(b, camera, u);
        double value = b->now.cameras[camera].params[b->free_params[camera][u]];
        block[u * dim + u] += prior.weight;
        diagonal[u] += prior.weight;
        rhs[u] += prior.weight * (prior.value - value);
    }
}

void psfm_bundle_add_plane_point(const psfm_bundle_system *point, double *block, double *rhs,
                                 double *diagonal) {
    double inverse_q[3];
    psfm_sym3_mul(point->inverse, point->q, inverse_q);
    double sigma = point->sigma - psfm_dot3(point->q, inverse_q);
    double gamma = point->gamma - psfm_dot3(inverse_q, point->b);
    for (int u = 0; u < 3; ++u) {
        for (int v = 0; v < 3; ++v)
            block[3 * u + v] += sigma * point->m[u] * point->m[v];
        rhs[u] += gamma * point->m[u];
        diagonal[u] += point->sigma * point->m[u] * point->m[u];
    }
}
