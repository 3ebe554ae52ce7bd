/* How many matches obey the epipolar geometry of true poses, to first order in pixels. */
#ifndef PSFM_BENCH_EPIPOLAR_TRUTH_H
#define PSFM_BENCH_EPIPOLAR_TRUTH_H

#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"
#include "images/feature/keypoint_set.h"
#include "images/match/nearest_neighbour.h"
#include "planarsfm/model.h"

#define MAX_ERROR_PX 2.0

static inline const psfm_model_image *truth_image(const psfm_model *truth, const char *name) {
    for (size_t k = 0; k < truth->num_images; ++k)
        if (strcmp(truth->images[k].name, name) == 0)
            return &truth->images[k];
    return NULL;
}

/* The ray of a keypoint, and how it changes by a pixel to the right and down. */
static inline bool ray_with_steps(const psfm_camera *camera, const psfm_keypoint *p,
                                  double ray[3][3]) {
    const double at[3][2] = {{p->x, p->y}, {p->x + 1.0, p->y}, {p->x, p->y + 1.0}};
    for (int k = 0; k < 3; ++k)
        if (!psfm_camera_unproject(camera, at[k], ray[k]))
            return false;
    psfm_sub3(ray[1], ray[0], ray[1]);
    psfm_sub3(ray[2], ray[0], ray[2]);
    return true;
}

/* Distance of a match from the epipolar geometry, in pixels. */
static inline double epipolar_error(const double E[9], const double ray1[3][3],
                                    const double ray2[3][3]) {
    double line[3], c, square = 0.0;
    psfm_mat3_mul_vec(E, ray1[0], line);
    c = psfm_dot3(ray2[0], line);
    for (int k = 1; k < 3; ++k) {
        double step[3], u, v = psfm_dot3(ray2[k], line);
        psfm_mat3_mul_vec(E, ray1[k], step);
        u = psfm_dot3(ray2[0], step);
        square += u * u + v * v;
    }
    return fabs(c) / sqrt(square);
}

static inline void true_essential(const psfm_model_image *a, const psfm_model_image *b,
                                  double E[9]) {
    double Ra[9], Rb[9], R[9], moved[3], t[3];
    psfm_rotation_from_quat(a->cam_from_world_q, Ra);
    psfm_rotation_from_quat(b->cam_from_world_q, Rb);
    psfm_mat3_mul_t(Rb, Ra, R);
    psfm_mat3_mul_vec(R, a->cam_from_world_t, moved);
    psfm_sub3(b->cam_from_world_t, moved, t);
    const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    psfm_mat3_mul(cross, R, E);
}

/* Matches of two images within MAX_ERROR_PX; 0 if the truth lacks one of them. */
static inline size_t count_right(const psfm_model *truth, const char *name1, const char *name2,
                                 const psfm_keypoint_set *set1, const psfm_keypoint_set *set2,
                                 const psfm_match_list *list) {
    const psfm_model_image *a = truth_image(truth, name1), *b = truth_image(truth, name2);
    size_t num = 0;
    double E[9];
    if (a == NULL || b == NULL)
        return 0;
    const psfm_camera *camera1 = psfm_model_camera(truth, a->camera_id);
    const psfm_camera *camera2 = psfm_model_camera(truth, b->camera_id);
    true_essential(a, b, E);
    for (size_t k = 0; k < list->num; ++k) {
        double ray1[3][3], ray2[3][3];
        if (ray_with_steps(camera1, &set1->keypoints[list->matches[k][0]], ray1) &&
            ray_with_steps(camera2, &set2->keypoints[list->matches[k][1]], ray2))
            num += epipolar_error(E, (const double(*)[3])ray1, (const double(*)[3])ray2) <
                   MAX_ERROR_PX;
    }
    return num;
}

#endif
