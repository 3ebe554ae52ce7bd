/* Quarter turns of photographs. Distortion is the same about the axis, but for the tangential and
 * prism parts: these are q r^2 + 2 p (q . p) with q = (p2, p1), and s r^2 with s = (sx1, sy1), so
 * that q and s turn as vectors. */
#include "core/camera/camera_turn.h"

#include "core/camera/camera_model.h"

void psfm_pixel_turn(int quarters, double width, double height, double xy[2]) {
    const double x = xy[0], y = xy[1];
    switch (quarters & 3) {
    case 1:
        xy[0] = height - y;
        xy[1] = x;
        break;
    case 2:
        xy[0] = width - x;
        xy[1] = height - y;
        break;
    case 3:
        xy[0] = y;
        xy[1] = width - x;
        break;
    default:
        break;
    }
}

void psfm_vector_turn(int quarters, double xy[2]) {
    psfm_pixel_turn(quarters, 0.0, 0.0, xy);
}

/* Two parameters that are a vector; index 0 of the first: the model has none. */
static void turn_parameters(int quarters, int x, int y, double *params) {
    double v[2];
    if (x == 0)
        return;
    v[0] = params[x];
    v[1] = params[y];
    psfm_vector_turn(quarters, v);
    params[x] = v[0];
    params[y] = v[1];
}

psfm_camera psfm_camera_turn(const psfm_camera *camera, int quarters) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    psfm_camera out = *camera;
    if (info->is_panorama) /* what lies across it is no longer its horizon */
        return out;
    double center[2] = {camera->params[info->center[0]], camera->params[info->center[1]]};
    psfm_pixel_turn(quarters, (double)camera->width, (double)camera->height, center);
    out.params[info->center[0]] = center[0];
    out.params[info->center[1]] = center[1];
    turn_parameters(quarters, info->tangential[1], info->tangential[0], out.params);
    turn_parameters(quarters, info->prism[0], info->prism[1], out.params);
    turn_parameters(quarters, info->prism[2], info->prism[3], out.params);
    if ((quarters & 1) == 0)
        return out;
    out.width = camera->height;
    out.height = camera->width;
    out.params[info->focal[0]] = camera->params[info->focal[1]];
    out.params[info->focal[1]] = camera->params[info->focal[0]];
    return out;
}

void psfm_pose_turn(int quarters, double R[9], double t[3]) {
    for (int c = 0; c < 3; ++c) {
        double column[2] = {R[c], R[3 + c]};
        psfm_vector_turn(quarters, column);
        R[c] = column[0];
        R[3 + c] = column[1];
    }
    psfm_vector_turn(quarters, t);
}
