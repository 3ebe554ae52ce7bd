/* Decomposition of a calibrated homography (Eq. 1): H = R + t n^T, plane n . X = 1.
 *
 * H keeps the lengths of vectors of the plane orthogonal to n, on which it equals R. With
 * H = U diag(s1, 1, s3) V^T, s1 >= 1 >= s3, there are two planes of such vectors, both through v2;
 * their other directions are
 *   u = (sqrt(1 - s3^2) v1 +- sqrt(s1^2 - 1) v3) / sqrt(s1^2 - s3^2),   n = v2 x u,
 * and R takes the frame (v2, u, v2 x u) to (H v2, H u, H v2 x H u), t = (H - R) n. (Tsai, Huang and
 * Zhu 1982; Ma, Soatto, Kosecka and Sastry 2004.) det H = 1 + (R n) . t = d2 / d1.
 *
 * Precision. Differences of singular values carry an absolute error of a few units of the last
 * place. A difference below that is taken as zero: s1 = 1 or s3 = 1 means that t is parallel to n
 * (motion along the normal) and the two solutions are one; both mean a rotation. Formed from a
 * difference of rounding errors, the roots would be off by 1e-8. */
#include "core/twoview/homography_decompose.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"

/* Singular values closer than this are the same, relative to the largest. */
#define SAME_SINGULAR_VALUE (16.0 * DBL_EPSILON)

/* A motion that fewer than this share of the points can see is dropped if the other does better. */
#define MIN_VISIBLE_SHARE 0.9

static void motion_from_frame(const double H[9], const double v2[3], const double u[3],
                              psfm_plane_motion *m) {
    double frame1[9], frame2[9], difference[9];
    memcpy(frame1, v2, 3 * sizeof *v2);
    memcpy(frame1 + 3, u, 3 * sizeof *u);
    psfm_cross3(v2, u, frame1 + 6);
    psfm_mat3_mul_vec(H, v2, frame2);
    psfm_mat3_mul_vec(H, u, frame2 + 3);
    psfm_normalize3(frame2);
    psfm_normalize3(frame2 + 3);
    psfm_cross3(frame2, frame2 + 3, frame2 + 6);
    psfm_mat3_t_mul(frame2, frame1, m->R_21); /* frames hold their vectors as rows */
    memcpy(m->n1, frame1 + 6, sizeof m->n1);
    for (int k = 0; k < 9; ++k)
        difference[k] = H[k] - m->R_21[k];
    psfm_mat3_mul_vec(difference, m->n1, m->t_21);
    psfm_mat3_mul_vec(m->R_21, m->n1, m->n2);
    m->d2_over_d1 = 1.0 + psfm_dot3(m->n2, m->t_21);
}

int psfm_homography_decompose(const double H_21[9], psfm_plane_motion motions[2]) {
    double U[9], s[3], V[9];
    memset(motions, 0, 2 * sizeof *motions);
    psfm_mat3_svd(H_21, U, s, V);
    double same = SAME_SINGULAR_VALUE * s[0];
    double above = s[0] - s[1] > same ? (s[0] - s[1]) * (s[0] + s[1]) : 0.0;
    double below = s[1] - s[2] > same ? (s[1] - s[2]) * (s[1] + s[2]) : 0.0;
    if (above == 0.0 && below == 0.0) {
        psfm_mat3_nearest_rotation(H_21, motions[0].R_21);
        motions[0].d2_over_d1 = 1.0;
        return 1;
    }
    double along1 = sqrt(below / (above + below)), along3 = sqrt(above / (above + below));
    int num = above > 0.0 && below > 0.0 ? 2 : 1;
    const double v1[3] = {V[0], V[3], V[6]}, v2[3] = {V[1], V[4], V[7]}, v3[3] = {V[2], V[5], V[8]};
    for (int k = 0; k < num; ++k) {
        double u[3], sign = k == 0 ? along3 : -along3;
        for (int r = 0; r < 3; ++r)
            u[r] = along1 * v1[r] + sign * v3[r];
        motion_from_frame(H_21, v2, u, &motions[k]);
    }
    return num;
}

static void flip_plane(psfm_plane_motion *m) {
    psfm_scale3(-1.0, m->t_21, m->t_21);
    psfm_scale3(-1.0, m->n1, m->n1);
    psfm_scale3(-1.0, m->n2, m->n2);
}

/* How well a motion agrees with the points being seen. */
typedef struct {
    size_t visible;
    double frontal; /* sum of the cosines between normal and ray in image 1 */
} support;

/* Orients the plane and counts who sees it. */
static support orient_plane(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                            psfm_plane_motion *m) {
    size_t front = 0, behind = 0;
    double frontal = 0.0;
    for (size_t i = 0; i < num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(pairs, idx[i], ray1, ray2);
        double c1 = psfm_dot3(m->n1, ray1), c2 = psfm_dot3(m->n2, ray2);
        front += c1 > 0.0 && c2 > 0.0;
        behind += c1 < 0.0 && c2 < 0.0;
        frontal += c1;
    }
    if (behind > front || (behind == front && frontal < 0.0)) {
        flip_plane(m);
        return (support){behind, -frontal};
    }
    return (support){front, frontal};
}

int psfm_plane_motions_keep_visible(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                                    psfm_plane_motion motions[2], int num_motions) {
    support s[2];
    for (int k = 0; k < num_motions; ++k)
        s[k] = orient_plane(pairs, idx, num, &motions[k]);
    if (num_motions < 2)
        return num_motions;
    bool swap = s[1].visible > s[0].visible ||
                (s[1].visible == s[0].visible && s[1].frontal > s[0].frontal);
    if (swap) {
        psfm_plane_motion m = motions[0];
        motions[0] = motions[1];
        motions[1] = m;
    }
    const support *worse = &s[swap ? 0 : 1], *better = &s[swap ? 1 : 0];
    bool drop = worse->visible < better->visible &&
                (double)worse->visible < MIN_VISIBLE_SHARE * (double)num;
    return drop ? 1 : 2;
}
