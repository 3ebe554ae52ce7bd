/* Many pixels or rays of one camera, and its matrix. */
#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"

void psfm_camera_project_points(const psfm_camera *camera, size_t num, const double *rays,
                                double *xy) {
    for (size_t k = 0; rays != NULL && xy != NULL && k < num; ++k)
        if (!psfm_camera_project(camera, &rays[3 * k], &xy[2 * k]))
            xy[2 * k] = xy[2 * k + 1] = NAN;
}

void psfm_camera_unproject_points(const psfm_camera *camera, size_t num, const double *xy,
                                  double *rays) {
    for (size_t k = 0; xy != NULL && rays != NULL && k < num; ++k)
        if (!psfm_camera_unproject(camera, &xy[2 * k], &rays[3 * k]))
            rays[3 * k] = rays[3 * k + 1] = rays[3 * k + 2] = NAN;
}

bool psfm_camera_matrix(const psfm_camera *camera, double K[9]) {
    const psfm_camera_model_info *info =
        camera == NULL || K == NULL ? NULL : psfm_camera_model_get(camera->model);
    if (info == NULL || info->is_panorama)
        return false;
    const double *p = camera->params;
    const double matrix[9] = {p[info->focal[0]],
                              0.0,
                              p[info->center[0]],
                              0.0,
                              p[info->focal[1]],
                              p[info->center[1]],
                              0.0,
                              0.0,
                              1.0};
    memcpy(K, matrix, sizeof matrix);
    return true;
}
