/* From the solution of the reduced system to trial values.
 *
 * Poses move by R <- exp(w) R, c <- c + d; a centre whose distance is fixed goes back to it along
 * the new direction. Points follow by back-substitution,
 *   d_p = V_p^-1 (b_p - sum_o J_o^T P_o d_i(o) - q_p (m_p . d_plane)),
 * and are put along the normal of their moved plane: hard points onto it, soft ones to the distance
 * that the step says. A soft plane may be far stiffer than the images, and what the step curves it
 * by in the second order would cost more than the step gains. A point whose step would lose one of
 * its images takes a smaller one: a single point near a camera must not stop all others. */
#include <string.h>

#include "core/bundle/bundle_elimination.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

#define FEW_OBSERVATIONS 64 /* of a point, whose changes by the blocks are computed once */
#define STRAIGHT 0.75 /* share of the predicted decrease from which a step need not be curved */

void psfm_bundle_hold_distance(psfm_bundle *b, uint32_t image) {
    uint32_t anchor = b->scale_anchor[image];
    double u[3], *c = b->trial.c[image];
    if (anchor == PSFM_BUNDLE_NONE)
        return;
    psfm_sub3(c, b->now.c[anchor], u);
    psfm_normalize3(u);
    psfm_axpy3(b->now.c[anchor], b->scale_distance[image], u, c);
}

static void move_pose(psfm_bundle *b, uint32_t image, const double *d) {
    double E[9];
    psfm_rotation_exp(d, E);
    psfm_mat3_mul(E, b->now.R[image], b->trial.R[image]);
    psfm_axpy3(b->now.c[image], 1.0, d + 3, b->trial.c[image]);
    psfm_bundle_hold_distance(b, image);
}

static void move_plane(psfm_bundle *b, uint32_t plane, const double *d) {
    const double *frame = b->now.plane_frame[plane], *anchor = b->plane_anchor[plane];
    const psfm_bundle_plane *from = &b->now.planes[plane];
    psfm_bundle_plane *to = &b->trial.planes[plane];
    double offset = from->distance - psfm_dot3(from->normal, anchor);
    psfm_axpy3(from->normal, d[0], frame, to->normal);
    psfm_axpy3(to->normal, d[1], frame + 3, to->normal);
    psfm_normalize3(to->normal);
    to->distance = psfm_dot3(to->normal, anchor) + offset + d[2];
    psfm_bundle_plane_frame(to->normal, b->trial.plane_frame[plane]);
}

static void move_blocks(psfm_bundle *b) {
    uint32_t cameras_end = b->num_pose_blocks + b->num_camera_blocks;
    for (uint32_t k = 0; k < b->pattern.num_blocks; ++k) {
        const double *d = b->step + b->pattern.scalar_begin[k];
        if (k < b->num_pose_blocks)
            move_pose(b, b->block_source[k], d);
        else if (k < cameras_end)
            psfm_bundle_move_camera(b, b->block_source[k], d);
        else
            move_plane(b, b->block_source[k], d);
    }
}

/* Change of an observation's residual by the blocks of the reduced system; `along` is how far the
 * plane takes a hard point along its normal. */
static void change_by_blocks(const psfm_bundle *b, uint32_t o, double along, double t[2]) {
    const psfm_bundle_row *row = &b->rows[o];
    uint32_t image = b->obs_image[o], block = b->image_block[image];
    t[0] = row->J_point[2] * along;
    t[1] = row->J_point[5] * along;
    if (block != PSFM_BUNDLE_NONE) {
        const double *d = b->step + b->pattern.scalar_begin[block];
        for (int k = 0; k < 6; ++k) {
            t[0] += row->J_pose[k] * d[k];
            t[1] += row->J_pose[6 + k] * d[k];
        }
    }
    if (b->border != NULL) {
        double move[2];
        psfm_bundle_shape_move(b, b->obs_point[o], move);
        for (int d = 0; d < 2; ++d) {
            t[0] += row->J_point[d] * move[d] * b->shape_step[d];
            t[1] += row->J_point[3 + d] * move[d] * b->shape_step[d];
        }
    }
    uint32_t camera = b->problem->image_camera[image];
    if (b->camera_block[camera] != PSFM_BUNDLE_NONE) {
        const double *d = b->step + b->pattern.scalar_begin[b->camera_block[camera]];
        const double *J = b->camera_rows + 2 * (size_t)b->max_free_params * o;
        uint32_t num = b->num_free_params[camera];
        for (uint32_t k = 0; k < num; ++k) {
            t[0] += J[k] * d[k];
            t[1] += J[num + k] * d[k];
        }
    }
}

/* Predicted decrease of the cost as a soft plane's pixels per unit follow the images. */
static double decrease_by_pulls(const psfm_bundle *b, uint32_t p) {
    double sum = 0.0;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        uint32_t block = b->image_block[b->obs_image[o]];
        double rhs[3] = {0};
        if (b->rows[o].pull == 0.0 || block == PSFM_BUNDLE_NONE)
            continue;
        psfm_bundle_add_pull(b, o, rhs);
        sum += psfm_dot3(rhs, b->step + b->pattern.scalar_begin[block] + 3);
    }
    return sum;
}

/* Step of point p in its basis (the third coordinate of a hard point is the plane's doing;
 * *by_plane is how far the plane itself moves there), and the predicted decrease of the cost of its
 * observations. */
static double substitute_back(const psfm_bundle *b, uint32_t p, double d[3], double *by_plane) {
    const psfm_bundle_system *s = &b->systems[p];
    bool hard = b->options.planes == PSFM_PLANES_HARD;
    double a[3], decrease = 0.0, t[2];
    memcpy(a, s->b, sizeof a);
    *by_plane = 0.0;
    if (b->point_plane[p] != PSFM_BUNDLE_NONE) {
        uint32_t block = b->plane_block[b->point_plane[p]];
        *by_plane = psfm_dot3(s->m, b->step + b->pattern.scalar_begin[block]);
        if (!hard)
            psfm_axpy3(a, -*by_plane, s->q, a);
    }
    double along = hard ? *by_plane : 0.0, changes[FEW_OBSERVATIONS][2];
    const uint32_t first = b->point_begin[p], end = b->point_begin[p + 1];
    for (uint32_t o = first; o < end; ++o) {
        change_by_blocks(b, o, along, t);
        if (o - first < FEW_OBSERVATIONS)
            memcpy(changes[o - first], t, sizeof t);
        psfm_axpy3(a, -t[0], b->rows[o].J_point, a);
        psfm_axpy3(a, -t[1], b->rows[o].J_point + 3, a);
    }
    psfm_sym3_mul(s->inverse, a, d);
    psfm_axpy3(d, b->stretch - 1.0, s->e, d); /* the part that no block moves */
    for (uint32_t o = first; o < end; ++o) {
        const psfm_bundle_row *row = &b->rows[o];
        if (o - first >= FEW_OBSERVATIONS)
            change_by_blocks(b, o, along, t);
        const double *before = o - first < FEW_OBSERVATIONS ? changes[o - first] : t;
        for (size_t side = 0; side < 2; ++side) {
            double change = before[side] + psfm_dot3(row->J_point + 3 * side, d);
            decrease -= change * (row->r[side] + 0.5 * change);
        }
    }
    double soft = s->w_soft * (d[2] - *by_plane);
    decrease -= soft * (s->r_soft + 0.5 * soft);
    decrease += psfm_dot3(s->pull, d) + decrease_by_pulls(b, p);
    d[2] += along;
    return decrease;
}

/* Signed distance of a place from a plane. */
static double plane_height(const psfm_bundle_plane *plane, const double X[3]) {
    return psfm_dot3(plane->normal, X) - plane->distance;
}

static void move_point(const psfm_bundle *b, uint32_t p, const double d[3], double by_plane,
                       double share, double X[3]) {
    bool on_plane = b->point_plane[p] != PSFM_BUNDLE_NONE;
    double D[3], move[2] = {0.0, 0.0};
    memcpy(D, d, sizeof D);
    if (on_plane)
        psfm_mat3_tmul_vec(b->now.plane_frame[b->point_plane[p]], d, D);
    psfm_axpy3(b->now.X[p], share, D, X);
    if (!on_plane && b->border != NULL)
        psfm_bundle_shape_move(b, p, move);
    for (int k = 0; k < 2; ++k)
        X[k] += move[k] * b->shape_step[k];
    if (b->along_tree && !b->point_fixed[p])
        psfm_bundle_tree_carry(b, p, X);
    if (on_plane) {
        uint32_t k = b->point_plane[p];
        const psfm_bundle_plane *plane = &b->trial.planes[k];
        double wanted =
            b->options.planes == PSFM_PLANES_HARD
                ? 0.0
                : plane_height(&b->now.planes[k], b->now.X[p]) + share * d[2] - by_plane;
        psfm_axpy3(X, wanted - plane_height(plane, X), plane->normal, X);
    }
}

/* Whether an observation has an image now; a row that has none is zero. */
static bool is_valid(const psfm_bundle_row *row) {
    return row->J_point[0] != 0.0 || row->J_point[1] != 0.0 || row->J_point[2] != 0.0;
}

/* Loss of a point's residuals at the trial values; *lost says that an image was lost. */
static double trial_loss(const psfm_bundle *b, uint32_t p, const double X[3], bool *lost) {
    psfm_bundle_losses losses = {0};
    *lost = false;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        double r[2], squared = PSFM_BUNDLE_INVALID_PX * PSFM_BUNDLE_INVALID_PX;
        psfm_bundle_prefetch(b, o);
        if (psfm_bundle_residual(b, &b->trial, o, X, r))
            squared = r[0] * r[0] + r[1] * r[1];
        else
            *lost = *lost || is_valid(&b->rows[o]);
        psfm_bundle_add_loss(&b->options, squared, &losses);
    }
    if (b->options.planes == PSFM_PLANES_SOFT && b->point_plane[p] != PSFM_BUNDLE_NONE) {
        double r = psfm_bundle_soft_residual(b, &b->trial, p, X);
        psfm_bundle_add_loss(&b->options, r * r, &losses);
    }
    return psfm_bundle_total_loss(&b->options, &losses);
}

static psfm_status move_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    static const double shares[] = {1.0, 0.25, 0.0};
    psfm_bundle *b = user;
    double loss = 0.0, predicted = 0.0;
    uint32_t first = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
    for (uint32_t p = first; p < psfm_bundle_task_end(b, index); ++p) {
        double d[3], by_plane, point_loss = 0.0;
        bool lost = true;
        predicted += substitute_back(b, p, d, &by_plane);
        for (int k = 0; lost && k < 3; ++k) {
            move_point(b, p, d, by_plane, shares[k], b->trial.X[p]);
            point_loss = trial_loss(b, p, b->trial.X[p], &lost);
        }
        loss += point_loss;
    }
    b->partial[2 * index] = loss;
    b->partial[2 * index + 1] = predicted;
    return PSFM_OK;
}

/* Stretches the step; returns its length before, squared, in the metric of the reduced system. */
static double stretch_step(psfm_bundle *b, double stretch) {
    double moved = 0.0;
    for (uint32_t k = 0; k < b->pattern.scalar_begin[b->pattern.num_blocks]; ++k) {
        moved += b->rhs[k] * b->step[k];
        b->step[k] *= stretch;
    }
    for (int d = 0; d < 2; ++d)
        b->shape_step[d] *= stretch;
    b->stretch = stretch;
    return moved;
}

/* Observations that cannot be projected cost no more than a limit, also those of an image that is
 * nowhere. */
static bool is_finite_trial(const psfm_bundle *b) {
    double sum = 0.0;
    for (size_t i = 0; i < b->problem->num_images; ++i)
        for (int k = 0; k < 3; ++k)
            sum += 0.0 * b->trial.c[i][k];
    return sum == 0.0;
}

/* Moves everything by the step to the trial values and evaluates them. */
static psfm_status evaluate_step(psfm_context *ctx, psfm_bundle *b, psfm_bundle_trial *trial) {
    size_t num_tasks = psfm_bundle_num_point_tasks(b);
    move_blocks(b);
    psfm_status status = b->along_tree ? psfm_bundle_tree_move(ctx, b) : PSFM_OK;
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, num_tasks, move_points, b);
    trial->cost = psfm_bundle_prior_cost(b, &b->trial) + psfm_bundle_shape_cost(b, &b->trial);
    trial->predicted = psfm_bundle_prior_decrease(b) + psfm_bundle_shape_decrease(b);
    for (size_t k = 0; status == PSFM_OK && k < num_tasks; ++k) {
        trial->cost += 0.5 * b->partial[2 * k];
        trial->predicted += b->partial[2 * k + 1];
    }
    if (!is_finite_trial(b))
        trial->cost = INFINITY;
    return status;
}

psfm_status psfm_bundle_try_points(psfm_context *ctx, psfm_bundle *b, psfm_bundle_trial *trial) {
    size_t size = b->pattern.scalar_begin[b->pattern.num_blocks] * sizeof *b->step;
    if (size > 0)
        memset(b->step, 0, size);
    memset(b->shape_step, 0, sizeof b->shape_step);
    b->stretch = 1.0;
    *trial = (psfm_bundle_trial){0};
    psfm_status status = psfm_bundle_damp_points(ctx, b, 0.0);
    return status == PSFM_OK ? evaluate_step(ctx, b, trial) : status;
}

/* Takes the step along the tree instead, unless the trial values are better without: where parts
 * hang together by a plane alone, they mostly are. After each failure in a row it rests for one
 * more step. */
static psfm_status evaluate_along_tree(psfm_context *ctx, psfm_bundle *b,
                                       psfm_bundle_trial *trial) {
    psfm_bundle_trial along = *trial;
    psfm_status status = b->tree == NULL ? psfm_bundle_tree_create(ctx, b, &b->tree) : PSFM_OK;
    if (status != PSFM_OK)
        return status;
    b->along_tree = true;
    status = evaluate_step(ctx, b, &along);
    b->along_tree = false;
    bool better = along.cost < trial->cost;
    b->tree_failures = better ? 0 : b->tree_failures + 1;
    b->tree_rest = b->tree_failures;
    if (status == PSFM_OK && !better)
        return evaluate_step(ctx, b, trial);
    *trial = along;
    return status;
}

psfm_status psfm_bundle_try_step(psfm_context *ctx, psfm_bundle *b, double cost, double stretch,
                                 psfm_bundle_trial *trial) {
    psfm_status status = PSFM_OK;
    if (b->pattern.num_blocks > 0)
        status = psfm_bundle_solve(ctx, b, b->rhs, b->step);
    if (status != PSFM_OK)
        return status;
    if (b->border != NULL)
        psfm_bundle_step_shape(b);
    *trial = (psfm_bundle_trial){.moved = stretch_step(b, stretch)};
    status = evaluate_step(ctx, b, trial);
    if (status != PSFM_OK || cost - trial->cost >= STRAIGHT * trial->predicted ||
        b->border != NULL || b->num_pose_blocks < 2)
        return status;
    if (b->tree_rest == 0)
        return evaluate_along_tree(ctx, b, trial);
    --b->tree_rest;
    return status;
}
