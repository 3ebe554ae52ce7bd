/* The shape of known points: a border of the reduced system.
 *
 * With the residuals' derivatives P by the blocks of the reduced system S and K by the shape,
 *   [ S   B ] [x]   [g]        B = sum P^T K,  C = sum K^T K + prior,
 *   [ B^T C ] [s] = [h]        h = -sum K^T r - prior value,
 * so that s = (C - B^T S^-1 B)^-1 (h - B^T S^-1 g) and x = S^-1 g - S^-1 B s. Fixed points are not
 * eliminated, so nothing else couples with the shape. */
#include <string.h>

#include "core/bundle/bundle_internal.h"
#include "core/linalg/vec3.h"

bool psfm_bundle_has_shape(const psfm_bundle *b) {
    const psfm_bundle_shape *shape = b->problem->shape;
    return shape != NULL && b->pattern.num_blocks > 0 &&
           (shape->sigma[0] > 0.0 || shape->sigma[1] > 0.0);
}

void psfm_bundle_shape_move(const psfm_bundle *b, uint32_t point, double move[2]) {
    const psfm_bundle_shape *shape = b->problem->shape;
    for (int d = 0; d < 2; ++d)
        move[d] = b->point_fixed[point] && shape->sigma[d] > 0.0
                      ? shape->move[b->point_source[point]][d]
                      : 0.0;
}

static double prior_weight(const psfm_bundle *b, int d) {
    double sigma = b->problem->shape->sigma[d];
    return sigma > 0.0 ? 1.0 / (sigma * sigma) : 0.0;
}

static size_t num_scalars(const psfm_bundle *b) {
    return b->pattern.scalar_begin[b->pattern.num_blocks];
}

/* Adds P^T K of one observation to a column of the border. */
static void add_border(const psfm_bundle *b, uint32_t block, const double *P, uint32_t dim,
                       const double K[2], double *column) {
    double *to = column + b->pattern.scalar_begin[block];
    for (uint32_t u = 0; u < dim; ++u)
        to[u] += P[u] * K[0] + P[dim + u] * K[1];
}

static void add_observation(psfm_bundle *b, uint32_t o) {
    const psfm_bundle_row *row = &b->rows[o];
    uint32_t image = b->obs_image[o], camera = b->problem->image_camera[image];
    double move[2], K[2][2];
    psfm_bundle_shape_move(b, b->obs_point[o], move);
    for (int d = 0; d < 2; ++d)
        for (int side = 0; side < 2; ++side)
            K[d][side] = row->J_point[3 * side + d] * move[d];
    for (int d = 0; d < 2; ++d) {
        double *column = b->border + (size_t)d * num_scalars(b);
        b->corner_rhs[d] -= K[d][0] * row->r[0] + K[d][1] * row->r[1];
        for (int e = 0; e < 2; ++e)
            b->corner[2 * d + e] += K[d][0] * K[e][0] + K[d][1] * K[e][1];
        if (b->image_block[image] != PSFM_BUNDLE_NONE)
            add_border(b, b->image_block[image], row->J_pose, 6, K[d], column);
        if (b->camera_block[camera] != PSFM_BUNDLE_NONE)
            add_border(b, b->camera_block[camera],
                       b->camera_rows + 2 * (size_t)b->max_free_params * o,
                       b->num_free_params[camera], K[d], column);
    }
}

/* A direction that does not move, or that nothing sees, gets a pivot of its own. */
static void finish_corner(psfm_bundle *b, double lambda) {
    for (int d = 0; d < 2; ++d) {
        double weight = prior_weight(b, d), *diagonal = &b->corner[3 * d];
        *diagonal += weight;
        b->corner_rhs[d] -= weight * b->now.shape[d];
        *diagonal += lambda * *diagonal;
        if (!(*diagonal > 0.0))
            *diagonal = 1.0;
    }
}

psfm_status psfm_bundle_reduce_shape(psfm_context *ctx, psfm_bundle *b, double lambda) {
    size_t n = num_scalars(b);
    psfm_status status = PSFM_OK;
    memset(b->border, 0, 2 * n * sizeof *b->border);
    memset(b->corner, 0, sizeof b->corner);
    memset(b->corner_rhs, 0, sizeof b->corner_rhs);
    for (uint32_t o = 0; o < b->num_obs; ++o)
        if (b->point_fixed[b->obs_point[o]])
            add_observation(b, o);
    finish_corner(b, lambda);
    for (size_t d = 0; d < 2 && status == PSFM_OK; ++d)
        status = psfm_bundle_solve(ctx, b, b->border + d * n, b->solved_border + d * n);
    return status;
}

void psfm_bundle_shape_covariance(const psfm_bundle *b, double covariance[4]) {
    size_t n = num_scalars(b);
    double M[4];
    for (size_t d = 0; d < 2; ++d)
        for (size_t e = 0; e < 2; ++e)
            M[2 * d + e] =
                b->corner[2 * d + e] - psfm_dot(b->border + d * n, b->solved_border + e * n, n);
    double det = M[0] * M[3] - M[1] * M[2];
    covariance[0] = M[3] / det;
    covariance[3] = M[0] / det;
    covariance[1] = covariance[2] = -M[1] / det;
    for (int d = 0; d < 2; ++d)
        if (!(b->problem->shape->sigma[d] > 0.0))
            covariance[3 * d] = covariance[1] = covariance[2] = 0.0;
}

void psfm_bundle_step_shape(psfm_bundle *b) {
    size_t n = num_scalars(b);
    double covariance[4], left[2];
    psfm_bundle_shape_covariance(b, covariance);
    for (size_t d = 0; d < 2; ++d)
        left[d] = b->corner_rhs[d] - psfm_dot(b->border + d * n, b->step, n);
    for (size_t d = 0; d < 2; ++d) {
        b->shape_step[d] = covariance[2 * d] * left[0] + covariance[2 * d + 1] * left[1];
        b->trial.shape[d] = b->now.shape[d] + b->shape_step[d];
        for (size_t k = 0; k < n; ++k)
            b->step[k] -= b->solved_border[d * n + k] * b->shape_step[d];
    }
}

double psfm_bundle_shape_cost(const psfm_bundle *b, const psfm_bundle_values *values) {
    double cost = 0.0;
    for (int d = 0; d < 2 && b->problem->shape != NULL; ++d)
        cost += 0.5 * prior_weight(b, d) * values->shape[d] * values->shape[d];
    return cost;
}

double psfm_bundle_shape_decrease(const psfm_bundle *b) {
    double decrease = 0.0;
    for (int d = 0; d < 2 && b->problem->shape != NULL; ++d)
        decrease -=
            prior_weight(b, d) * b->shape_step[d] * (b->now.shape[d] + 0.5 * b->shape_step[d]);
    return decrease;
}
