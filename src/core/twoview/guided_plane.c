/* Planes under a known motion.
 *
 * With X1 = z x1 the plane n . X1 = d reads m . x1 = 1 / z for |t| = 1, m = n / d: linear in the
 * inverse depth. A match gives its own inverse depth, from P2 (R x1 + (1 / z) t) = 0 in the least
 * squares sense; three of them give m. Samples are scored by the difference in inverse depth, in
 * pixels to first order; the best are fitted with the full error. */
#include "core/twoview/guided_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/mat3.h"
#include "core/twoview/homography.h"
#include "core/twoview/joint_motion.h"

#define MAX_ITERATIONS 200
#define WINDOW 24
#define MAX_SCORED_BLOCKS 256
#define MAX_LOG10_FALSE_ALARMS (-3.0)

void psfm_guided_plane_fit(const psfm_motion *motion, const psfm_ray_pairs *pairs, psfm_loss loss,
                           double m[3]) {
    double cost = INFINITY, next[3];
    memcpy(next, m, sizeof next);
    for (int iteration = 0; iteration < 10; ++iteration) {
        psfm_normal9 at;
        double H[9], A[9] = {0}, step[3] = {0};
        psfm_joint_homography(motion, next, H);
        psfm_homography_normal_equations(pairs, pairs->num_blocks, H, loss, &at);
        if (!(at.cost < cost))
            break;
        bool converged = cost - at.cost < 1e-4 * at.inlier_cost;
        cost = at.cost;
        memcpy(m, next, sizeof next);
        for (int k = 0; k < 9; ++k) {
            step[k % 3] -= motion->t_21[k / 3] * at.g[k];
            for (int j = 0; j < 9; ++j)
                A[3 * (k % 3) + j % 3] +=
                    motion->t_21[k / 3] * motion->t_21[j / 3] * at.N[9 * k + j];
        }
        if (converged || !psfm_solve_spd(A, 3, step))
            break;
        psfm_axpy3(m, 1.0, step, next);
    }
}

/* What scoring needs of the pairs, one row each: rays of image 1, inverse depths, and px^2 per
 * squared inverse depth. */
typedef struct {
    size_t num; /* rounded up to PSFM_LANES; rows beyond the pairs cost the same for every plane */
    double *ray[3], *rho, *scale;
} depth_table;

/* A pair's inverse depth and its scale; 0 and 0 if t does not move the pixel. */
static void measure_depth(const psfm_motion *motion, const psfm_ray_pairs *pairs, size_t i,
                          depth_table *table) {
    const psfm_ray_block *b = &pairs->blocks[i / PSFM_LANES];
    size_t l = i % PSFM_LANES;
    double ray1[3], ray2[3], turned[3], along = 0.0, square = 0.0;
    psfm_ray_pairs_get(pairs, i, ray1, ray2);
    psfm_mat3_mul_vec(motion->R_21, ray1, turned);
    for (int k = 0; k < 6; k += 3) {
        double px[3] = {b->px2[k][l], b->px2[k + 1][l], b->px2[k + 2][l]};
        double per_t = psfm_dot3(px, motion->t_21);
        along -= per_t * psfm_dot3(px, turned);
        square += per_t * per_t;
    }
    for (int k = 0; k < 3; ++k)
        table->ray[k][i] = ray1[k];
    if (!(square > 0.0))
        return;
    table->rho[i] = along / square;
    double depth = psfm_dot3(ray2, turned) + table->rho[i] * psfm_dot3(ray2, motion->t_21);
    table->scale[i] = 0.5 * square / (depth * depth); /* half, for noise in both images */
}

/* Sum of losses of the plane m, to first order. Given up above `stop`. */
static double table_cost(const depth_table *t, const double m[3], psfm_loss loss, double stop) {
    double cost = 0.0;
    for (size_t i = 0; i < t->num && cost < stop; i += PSFM_LANES) {
        double losses[PSFM_LANES];
        for (size_t l = 0; l < PSFM_LANES; ++l) {
            double off = m[0] * t->ray[0][i + l] + m[1] * t->ray[1][i + l] +
                         m[2] * t->ray[2][i + l] - t->rho[i + l];
            losses[l] = psfm_loss_value(loss, t->scale[i + l] * off * off);
        }
        cost += psfm_sum_lanes(losses);
    }
    return cost;
}

/* m through three pairs; false if they are collinear. */
static bool solve_plane(const depth_table *t, const uint32_t idx[3], double m[3]) {
    double rays[9], inverse[9], rho[3];
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 3; ++c)
            rays[3 * k + c] = t->ray[c][idx[k]];
        rho[k] = t->rho[idx[k]];
    }
    if (!psfm_mat3_inverse(rays, inverse))
        return false;
    psfm_mat3_mul_vec(inverse, rho, m);
    return isfinite(m[0]) && isfinite(m[1]) && isfinite(m[2]);
}

typedef struct {
    const psfm_motion *motion;
    const psfm_ray_pairs *pairs;
    psfm_ray_pairs scored;
    psfm_loss loss;
    depth_table table; /* of all pairs */
    uint32_t *order;
} search;

/* The loop; returns whether it found anything. */
static bool sample_planes(const search *s, double confidence, psfm_rng *rng, double m[3]) {
    double best = INFINITY;
    int needed = MAX_ITERATIONS;
    depth_table scored = s->table;
    scored.num = s->scored.num_blocks * PSFM_LANES;
    for (int iteration = 0; iteration < needed; ++iteration) {
        uint32_t idx[3];
        double trial[3], H[9];
        if (iteration % 2 == 0)
            psfm_sample_window(rng, s->order, s->pairs->num, WINDOW, 3, idx);
        else
            psfm_rng_sample(rng, s->pairs->num, 3, idx);
        if (!solve_plane(&s->table, idx, trial) ||
            !(table_cost(&scored, trial, s->loss, best) < best))
            continue;
        psfm_guided_plane_fit(s->motion, &s->scored, s->loss, trial);
        double cost = table_cost(&scored, trial, s->loss, INFINITY);
        if (!(cost < best))
            continue;
        best = cost;
        memcpy(m, trial, sizeof trial);
        psfm_joint_homography(s->motion, trial, H);
        size_t num = psfm_homography_count(&s->scored, H, sqrt(s->loss.max_squared));
        needed = psfm_ransac_iterations((double)num / (double)s->scored.num, 3, confidence,
                                        MAX_ITERATIONS);
    }
    return isfinite(best);
}

psfm_status psfm_guided_plane_ransac(psfm_context *ctx, const psfm_motion *motion,
                                     const psfm_ray_pairs *pairs, double max_error_px,
                                     double confidence, psfm_rng *rng, psfm_guided_plane *plane) {
    search s = {.motion = motion,
                .pairs = pairs,
                .scored = psfm_ray_pairs_head(pairs, MAX_SCORED_BLOCKS),
                .loss = psfm_search_loss(max_error_px * max_error_px, pairs->num)};
    size_t lanes = pairs->num_blocks * PSFM_LANES;
    double *memory = NULL;
    plane->found = false;
    if (pairs->num < 4)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, 5 * lanes, &memory);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pairs->num, &s.order);
    if (status == PSFM_OK)
        status = psfm_spatial_order(ctx, pairs, s.order);
    if (status == PSFM_OK) {
        s.table = (depth_table){lanes,
                                {memory, memory + lanes, memory + 2 * lanes},
                                memory + 3 * lanes,
                                memory + 4 * lanes};
        for (size_t i = 0; i < pairs->num; ++i)
            measure_depth(motion, pairs, i, &s.table);
        plane->found = sample_planes(&s, confidence, rng, plane->m);
    }
    free(memory);
    free(s.order);
    return status;
}

bool psfm_is_peak(size_t num, size_t num_around, size_t num_inliers) {
    double n = (double)num_around, q = (double)num_inliers / n;
    if (num < 4 || !(q > 1.0 / 3.0))
        return false;
    /* Chernoff's bound of the binomial tail, relative entropy against a third */
    double entropy = q * log(3.0 * q) + (q < 1.0 ? (1.0 - q) * log(1.5 * (1.0 - q)) : 0.0);
    double triples = (double)num * (double)(num - 1) * (double)(num - 2) / 6.0;
    return log10(triples) - n * entropy / log(10.0) < MAX_LOG10_FALSE_ALARMS;
}
