/* The table of models says where each number is and where it goes. */
#include "core/camera/camera_convert.h"

#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"

/* Moves coefficients from one list of indices to another; 0 is "none" in both. */
static void move_coefficients(const psfm_camera *from, const int *old, const int *new, int num,
                              double *params) {
    for (int k = 0; k < num; ++k)
        if (new[k] != 0)
            params[new[k]] = old[k] == 0 ? 0.0 : from->params[old[k]];
}

psfm_camera psfm_camera_convert(const psfm_camera *camera, psfm_camera_model model) {
    const psfm_camera_model_info *old = psfm_camera_model_get(camera->model);
    const psfm_camera_model_info *new = psfm_camera_model_get(model);
    const double *p = camera->params;
    psfm_camera out = *camera;
    if (old->is_panorama || new->is_panorama)
        return out;
    out.model = model;
    memset(out.params, 0, sizeof out.params);
    bool is_single = new->focal[0] == new->focal[1];
    double mean = sqrt(p[old->focal[0]] * p[old->focal[1]]);
    for (int k = 0; k < 2; ++k) {
        out.params[new->focal[k]] = is_single ? mean : p[old->focal[k]];
        out.params[new->center[k]] = p[old->center[k]];
    }
    if (new->unified[1] != 0)
        out.params[new->unified[1]] = 1.0; /* with alpha = 0, no distortion */
    move_coefficients(camera, old->radial, new->radial, 6, out.params);
    move_coefficients(camera, old->denominator, new->denominator, 3, out.params);
    move_coefficients(camera, old->tangential, new->tangential, 2, out.params);
    move_coefficients(camera, old->prism, new->prism, 4, out.params);
    move_coefficients(camera, &old->omega, &new->omega, 1, out.params);
    move_coefficients(camera, &old->division, &new->division, 1, out.params);
    if (old->unified[0] != 0)
        move_coefficients(camera, old->unified, new->unified, 2, out.params);
    return out;
}

/* Pixel coordinates count from the corner of the image, so focal lengths and principal point scale
 * the same way and need no half pixel. */
void psfm_camera_scale(psfm_camera *camera, uint64_t new_width, uint64_t new_height) {
    double sx = (double)new_width / (double)camera->width;
    double sy = (double)new_height / (double)camera->height;
    const psfm_camera_model_info *model = psfm_camera_model_get(camera->model);
    double *p = camera->params;
    camera->width = new_width;
    camera->height = new_height;
    p[model->center[0]] *= sx;
    p[model->center[1]] *= sy;
    if (model->focal[0] == model->focal[1]) {
        p[model->focal[0]] *= 0.5 * (sx + sy);
    } else {
        p[model->focal[0]] *= sx;
        p[model->focal[1]] *= sy;
    }
}
