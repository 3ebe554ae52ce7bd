/* Through a long lens, or of an object that fills little of the image, rays are nearly parallel.
 * Two such images are nearly related by an affine epipolar geometry, which tells how the camera
 * rolled and about which axis in the image plane it went round the object, but not by what angle: a
 * deeper relief seen with a smaller turn looks the same (Koenderink and van Doorn 1991; Belhumeur,
 * Kriegman and Yuille 1999). The turn and its negative, with the relief inside out, are then two
 * minima, and noise makes more of them along the valley between.
 *
 * With a1 and a2 the mean rays of the matches, R splits into a roll about a1 and the turn by the
 * angle between R a1 and a2 about their common normal u. The family is
 *   R(f) = exp((f - 1) angle [u]) R,
 * and t is the direction with the least sum of (t . (R x1 x x2))^2. */
#include "core/twoview/bas_relief.h"

#include <string.h>

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"

/* Turns R as far as the factor says. */
static void scale_turn(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                       const double R[9], double factor, double scaled[9]) {
    double ahead1[3] = {0}, ahead2[3] = {0}, turned[3], axis[3], step[9];
    for (size_t i = 0; i < num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(pairs, idx[i], ray1, ray2);
        psfm_axpy3(ahead1, 1.0, ray1, ahead1);
        psfm_axpy3(ahead2, 1.0, ray2, ahead2);
    }
    psfm_mat3_mul_vec(R, ahead1, turned);
    psfm_cross3(ahead2, turned, axis);
    psfm_normalize3(axis);
    psfm_scale3((factor - 1.0) * psfm_angle3(ahead2, turned), axis, axis);
    psfm_rotation_exp(axis, step);
    psfm_mat3_mul(step, R, scaled);
}

/* The direction of translation that fits a rotation best; most matches are in front. */
static void fit_translation(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                            psfm_motion *motion) {
    double A[9] = {0}, w[3], V[9];
    for (size_t i = 0; i < num; ++i) {
        double ray1[3], ray2[3], normal[3];
        psfm_ray_pairs_get(pairs, idx[i], ray1, ray2);
        psfm_mat3_mul_vec(motion->R_21, ray1, normal);
        psfm_cross3(normal, ray2, normal);
        for (int k = 0; k < 9; ++k)
            A[k] += normal[k / 3] * normal[k % 3];
    }
    psfm_mat3_eigen_symmetric(A, w, V);
    for (int k = 0; k < 3; ++k)
        motion->t_21[k] = V[3 * k]; /* of the least eigenvalue */
    if (2 * psfm_num_in_front(pairs, idx, num, motion) < num)
        psfm_scale3(-1.0, motion->t_21, motion->t_21);
}

void psfm_bas_relief(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                     const psfm_motion *motion, double factor, psfm_motion *out) {
    scale_turn(pairs, idx, num, motion->R_21, factor, out->R_21);
    fit_translation(pairs, idx, num, out);
}
