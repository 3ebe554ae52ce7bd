/* Errors of essential matrices, and the motions behind them.
 *
 * Error. c = x2^T E x1 changes with the pixels of the two points by u1 = T1^T E^T x2 and
 * u2 = T2^T E x1, T the 3 x 2 derivative of the ray by the pixel; the shortest move that makes c
 * vanish, to first order, has the squared length c^2 / (|u1|^2 + |u2|^2). */
#include "core/twoview/essential.h"

#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"
#include "core/twoview/epipolar.h"

void psfm_essential_from_motion(const psfm_motion *motion, double E[9]) {
    const double *t = motion->t_21;
    const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    psfm_mat3_mul(cross, motion->R_21, E);
}

static inline void block_errors(const psfm_ray_block *b, const double E[9],
                                double squared[PSFM_LANES]) {
    for (int l = 0; l < PSFM_LANES; ++l) {
        psfm_epipolar e = psfm_epipolar_at(b, l, E);
        double none = e.g > 0.0 ? 0.0 : (double)INFINITY;
        squared[l] = e.c * e.c / (e.g > 0.0 ? e.g : 1.0) + none;
    }
}

void psfm_essential_errors(const psfm_ray_pairs *pairs, const double E[9], double *squared) {
    for (size_t k = 0; k < pairs->num_blocks; ++k)
        block_errors(&pairs->blocks[k], E, squared + k * PSFM_LANES);
}

double psfm_essential_cost(const psfm_ray_pairs *pairs, const double E[9], psfm_loss loss,
                           double stop_above) {
    double cost = -(double)psfm_ray_pairs_unused(pairs) * loss.max_squared;
    for (size_t k = 0; k < pairs->num_blocks; ++k) {
        double squared[PSFM_LANES];
        block_errors(&pairs->blocks[k], E, squared);
        for (int l = 0; l < PSFM_LANES; ++l)
            squared[l] = psfm_loss_value(loss, squared[l]);
        cost += psfm_sum_lanes(squared);
        if (cost > stop_above)
            break;
    }
    return cost;
}

bool psfm_in_front(const psfm_motion *motion, const double ray1[3], const double ray2[3]) {
    /* depths a, b of the midpoint of b ray2 = a R ray1 + t, times sin^2 of the angle between */
    double turned[3];
    psfm_mat3_mul_vec(motion->R_21, ray1, turned);
    double cosine = psfm_dot3(turned, ray2);
    double along1 = psfm_dot3(turned, motion->t_21), along2 = psfm_dot3(ray2, motion->t_21);
    double depth1 = cosine * along2 - along1, depth2 = along2 - cosine * along1;
    bool parallel = cosine > 1.0 - 0.5e-6; /* a milliradian */
    return parallel || (depth1 > 0.0 && depth2 > 0.0);
}

size_t psfm_num_in_front(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                         const psfm_motion *motion) {
    size_t count = 0;
    for (size_t i = 0; i < num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(pairs, idx[i], ray1, ray2);
        count += psfm_in_front(motion, ray1, ray2);
    }
    return count;
}

bool psfm_essential_to_motion(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                              const double E[9], psfm_motion *motion) {
    static const double W[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
    double U[9], s[3], V[9], UW[9], sign = 1.0;
    psfm_mat3_svd(E, U, s, V);
    if (!(s[1] > 1e-6 * s[0]))
        return false;
    if (psfm_mat3_det(U) * psfm_mat3_det(V) < 0.0)
        sign = -1.0;
    size_t best = 0;
    for (int k = 0; k < 4; ++k) {
        psfm_motion m;
        double Wk[9];
        memcpy(Wk, W, sizeof Wk);
        Wk[1] = k & 1 ? 1.0 : -1.0;
        Wk[3] = -Wk[1];
        Wk[8] = sign;
        psfm_mat3_mul(U, Wk, UW);
        psfm_mat3_mul_t(UW, V, m.R_21);
        for (int r = 0; r < 3; ++r)
            m.t_21[r] = k & 2 ? -U[3 * r + 2] : U[3 * r + 2];
        size_t count = psfm_num_in_front(pairs, idx, num, &m);
        if (k == 0 || count > best) {
            best = count;
            *motion = m;
        }
    }
    return true;
}
