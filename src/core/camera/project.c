/* Ray to pixel and back: ray -> plane (u, v) -> distorted plane -> pixel.
 *
 * Perspective cameras have u = X / Z. Fisheye and FOV cameras have (u, v) in the direction of
 * (X, Y) with the length atan2(a rho, Z) / b, rho = |(X, Y)|: a = b = 1 for fisheyes (the angle to
 * the optical axis), a = 2 tan(omega / 2) and b = omega for the FOV model. All of them see the half
 * space Z > 0 only, as in COLMAP. Panoramas have no plane and see everything: their pixels are
 * longitude and latitude. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"
#include "core/camera/lens.h"
#include "core/linalg/vec3.h"

/* Ray to plane; N is the 2 x 3 derivative, or NULL. */
static void plane_from_ray(const psfm_lens *lens, const double ray[3], double uv[2], double N[6]) {
    double X = ray[0], Y = ray[1], Z = ray[2];
    double rho = lens->is_angular ? hypot(X, Y) : 0.0;
    if (!(rho > DBL_MIN)) { /* perspective, or a fisheye's very centre, where it is the same */
        double slope = lens->is_angular ? lens->angle_in / lens->angle_out : 1.0;
        uv[0] = slope * X / Z;
        uv[1] = slope * Y / Z;
        if (N != NULL) {
            double inverse = 1.0 / Z;
            double derivative[6] = {slope * inverse, 0.0, -uv[0] * inverse, 0.0, slope * inverse,
                                    -uv[1] * inverse};
            memcpy(N, derivative, sizeof derivative);
        }
        return;
    }
    double a = lens->angle_in, b = lens->angle_out;
    double length = atan2(a * rho, Z) / b;
    double c = X / rho, s = Y / rho;
    uv[0] = length * c;
    uv[1] = length * s;
    if (N != NULL) {
        double hypotenuse = hypot(a * rho, Z);
        double outward = a * (Z / hypotenuse) / (b * hypotenuse); /* d length / d rho */
        double along = -a * (rho / hypotenuse) / (b * hypotenuse);
        double around = length / rho;
        N[0] = c * c * outward + s * s * around;
        N[1] = N[3] = c * s * (outward - around);
        N[2] = c * along;
        N[4] = s * s * outward + c * c * around;
        N[5] = s * along;
    }
}

/* The unit ray along (u, v, 1); false if it is not finite. */
static bool ray_from_slope(double u, double v, double ray[3]) {
    double square = 1.0 + u * u + v * v;
    if (!(square < HUGE_VAL))
        return false;
    double scale = 1.0 / sqrt(square);
    ray[0] = scale * u;
    ray[1] = scale * v;
    ray[2] = scale;
    return true;
}

/* Plane to unit ray; false if the point is beyond the half space in front of the camera. */
static bool ray_from_plane(const psfm_lens *lens, const double uv[2], double ray[3]) {
    if (!lens->is_angular)
        return ray_from_slope(uv[0], uv[1], ray);
    double length = hypot(uv[0], uv[1]);
    double angle = length * lens->angle_out;
    if (!(angle < M_PI_2))
        return false;
    double scale = length > 0.0 ? sin(angle) / length : 0.0;
    double out[3] = {scale * uv[0], scale * uv[1], lens->angle_in * cos(angle)};
    psfm_normalize3(out);
    memcpy(ray, out, sizeof out);
    return true;
}

/* The two models without a lens are the frequent ones and take a short way of their own. */
static bool is_pinhole(const psfm_camera *camera) {
    return camera->model == PSFM_CAMERA_PINHOLE || camera->model == PSFM_CAMERA_SIMPLE_PINHOLE;
}

static bool project_pinhole(const psfm_camera *camera, const double ray[3], double xy[2],
                            double *jacobian) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    const double *p = camera->params;
    double inverse = 1.0 / ray[2];
    double fx = p[info->focal[0]] * inverse, fy = p[info->focal[1]] * inverse;
    double dx = fx * ray[0], dy = fy * ray[1];
    double x = dx + p[info->center[0]], y = dy + p[info->center[1]];
    if (!isfinite(x) || !isfinite(y))
        return false;
    if (jacobian != NULL) {
        double derivative[6] = {fx, 0.0, -dx * inverse, 0.0, fy, -dy * inverse};
        if (!isfinite(derivative[2]) || !isfinite(derivative[5]) || !isfinite(fx + fy))
            return false;
        memcpy(jacobian, derivative, sizeof derivative);
    }
    xy[0] = x;
    xy[1] = y;
    return true;
}

static bool unproject_pinhole(const psfm_camera *camera, const double xy[2], double ray[3]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    const double *p = camera->params;
    double u = (xy[0] - p[info->center[0]]) / p[info->focal[0]];
    double v = (xy[1] - p[info->center[1]]) / p[info->focal[1]];
    return ray_from_slope(u, v, ray);
}

/* x = w (1/2 + longitude / 2 pi), from the z axis towards x; y = h (1/2 + latitude / pi), towards
 * y. At the poles there is no longitude. */
static bool project_panorama(const psfm_camera *camera, const double ray[3], double xy[2],
                             double *jacobian) {
    const double *p = camera->params;
    double X = ray[0], Y = ray[1], Z = ray[2], d = hypot(X, Z), n = hypot(d, Y);
    double scale_x = p[0] / (2.0 * M_PI), scale_y = p[1] / M_PI;
    double x = 0.5 * p[0] + scale_x * atan2(X, Z), y = 0.5 * p[1] + scale_y * atan2(Y, d);
    if (!(d > 0.0) || !(n < HUGE_VAL) || !isfinite(x) || !isfinite(y))
        return false;
    if (jacobian != NULL) {
        double across = scale_x / d, tilt = -scale_y * (Y / n) / n;
        const double derivative[6] = {across * (Z / d),      0.0,
                                      -across * (X / d),     tilt * (X / d),
                                      scale_y * (d / n) / n, tilt * (Z / d)};
        for (int k = 0; k < 6; ++k)
            if (!isfinite(derivative[k]))
                return false;
        memcpy(jacobian, derivative, sizeof derivative);
    }
    xy[0] = x;
    xy[1] = y;
    return true;
}

static bool unproject_panorama(const psfm_camera *camera, const double xy[2], double ray[3]) {
    const double *p = camera->params;
    if (!(xy[0] >= 0.0 && xy[0] <= p[0] && xy[1] >= 0.0 && xy[1] <= p[1] && p[0] > 0.0 &&
          p[1] > 0.0 && p[0] < HUGE_VAL && p[1] < HUGE_VAL))
        return false;
    double longitude = 2.0 * M_PI * (xy[0] / p[0] - 0.5), latitude = M_PI * (xy[1] / p[1] - 0.5);
    ray[0] = cos(latitude) * sin(longitude);
    ray[1] = sin(latitude);
    ray[2] = cos(latitude) * cos(longitude);
    return true;
}

/* The pixel, and its derivative by the ray if `jacobian` is not NULL. */
static bool project_ray(const psfm_camera *camera, const double ray[3], double xy[2],
                        double *jacobian) {
    psfm_lens lens;
    if (camera->model == PSFM_CAMERA_EQUIRECTANGULAR)
        return project_panorama(camera, ray, xy, jacobian);
    if (!(ray[2] > 0.0))
        return false;
    if (is_pinhole(camera))
        return project_pinhole(camera, ray, xy, jacobian);
    if (!psfm_lens_from_camera(camera, &lens))
        return false;
    double uv[2], image[2], N[6], J[4];
    plane_from_ray(&lens, ray, uv, jacobian == NULL ? NULL : N);
    if (!psfm_lens_in_range(&lens, uv))
        return false;
    psfm_lens_distort(&lens, uv, image, jacobian == NULL ? NULL : J);
    double out[2], derivative[6];
    for (int r = 0; r < 2; ++r) {
        out[r] = lens.focal[r] * image[r] + lens.center[r];
        if (!isfinite(out[r]))
            return false;
        const double *row = r == 0 ? J : J + 2;
        double *gradient = r == 0 ? derivative : derivative + 3;
        for (int k = 0; k < 3 && jacobian != NULL; ++k) {
            gradient[k] = lens.focal[r] * (row[0] * N[k] + row[1] * N[3 + k]);
            if (!isfinite(gradient[k]))
                return false;
        }
    }
    memcpy(xy, out, sizeof out);
    if (jacobian != NULL)
        memcpy(jacobian, derivative, sizeof derivative);
    return true;
}

bool psfm_camera_project(const psfm_camera *camera, const double ray[3], double xy[2]) {
    return camera != NULL && ray != NULL && xy != NULL && project_ray(camera, ray, xy, NULL);
}

bool psfm_camera_project_jacobian(const psfm_camera *camera, const double ray[3], double xy[2],
                                  double d_xy_d_ray[6]) {
    return camera != NULL && ray != NULL && xy != NULL && d_xy_d_ray != NULL &&
           project_ray(camera, ray, xy, d_xy_d_ray);
}

bool psfm_camera_unproject(const psfm_camera *camera, const double xy[2], double ray[3]) {
    psfm_lens lens;
    if (camera == NULL || xy == NULL || ray == NULL)
        return false;
    if (is_pinhole(camera))
        return unproject_pinhole(camera, xy, ray);
    if (camera->model == PSFM_CAMERA_EQUIRECTANGULAR)
        return unproject_panorama(camera, xy, ray);
    if (!psfm_lens_from_camera(camera, &lens))
        return false;
    double image[2] = {(xy[0] - lens.center[0]) / lens.focal[0],
                       (xy[1] - lens.center[1]) / lens.focal[1]};
    double uv[2] = {image[0], image[1]};
    if ((lens.has_radial || lens.has_tangential) && !psfm_lens_undistort(&lens, image, uv))
        return false;
    return ray_from_plane(&lens, uv, ray);
}
