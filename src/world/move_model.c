/* Models and planes under a similarity y = s R x + t. A pose becomes R_cam R^T with the moved
 * centre, whose translation has the new unit; a plane n . X = d becomes (R n) . Y = s d + (R n) .
 * t. */
#include "world/move_model.h"

#include <string.h>

#include "linalg/mat3.h"

static void move_image(psfm_model_image *image, const psfm_sim3 *s) {
    double R[9], moved[9], center[3], at[3];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, center);
    psfm_sim3_apply(s, center, at);
    psfm_mat3_mul_t(R, s->R, moved);
    psfm_rotation_to_quat(moved, image->cam_from_world_q);
    psfm_mat3_mul_vec(moved, at, image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
}

void psfm_model_move(psfm_model *model, const psfm_sim3 *to_from) {
    for (size_t k = 0; k < model->num_images; ++k)
        move_image(&model->images[k], to_from);
    for (size_t k = 0; k < model->num_points; ++k) {
        double X[3];
        psfm_sim3_apply(to_from, model->points[k].xyz, X);
        memcpy(model->points[k].xyz, X, sizeof X);
    }
}

void psfm_scene_plane_move(psfm_scene_plane *plane, const psfm_sim3 *to_from) {
    double n[3];
    psfm_mat3_mul_vec(to_from->R, plane->normal, n);
    memcpy(plane->normal, n, sizeof n);
    plane->distance = to_from->scale * plane->distance + psfm_dot3(n, to_from->t);
    plane->sigma *= to_from->scale;
    plane->area *= to_from->scale * to_from->scale;
    for (uint32_t k = 0; k < plane->num_corners; ++k) {
        double corner[3];
        psfm_sim3_apply(to_from, plane->polygon[k], corner);
        memcpy(plane->polygon[k], corner, sizeof corner);
    }
}
