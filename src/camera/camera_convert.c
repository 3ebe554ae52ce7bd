/* The table of models says where each number goes. */
#include "camera/camera_convert.h"

#include <math.h>
#include <string.h>

#include "camera/camera_model.h"

/* Moves coefficients from one list of indices to another; 0 is "none" in both. */
static void move(const psfm_camera *from, const int *old, const int *new, int num, double *params) {
    for (int k = 0; k < num; ++k)
        if (new[k] != 0)
            params[new[k]] = old[k] == 0 ? 0.0 : from->params[old[k]];
}

psfm_camera psfm_camera_convert(const psfm_camera *camera, psfm_camera_model model) {
    const psfm_camera_model_info *old = psfm_camera_model_get(camera->model);
    const psfm_camera_model_info *new = psfm_camera_model_get(model);
    const double *p = camera->params;
    psfm_camera out = *camera;
    out.model = model;
    memset(out.params, 0, sizeof out.params);
    bool is_single = new->focal[0] == new->focal[1];
    double mean = sqrt(p[old->focal[0]] * p[old->focal[1]]);
    for (int k = 0; k < 2; ++k) {
        out.params[new->focal[k]] = is_single ? mean : p[old->focal[k]];
        out.params[new->center[k]] = p[old->center[k]];
    }
    move(camera, old->radial, new->radial, 4, out.params);
    move(camera, old->denominator, new->denominator, 3, out.params);
    move(camera, old->tangential, new->tangential, 2, out.params);
    move(camera, old->prism, new->prism, 2, out.params);
    move(camera, &old->omega, &new->omega, 1, out.params);
    return out;
}
