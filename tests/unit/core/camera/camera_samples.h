/* Realistic parameter sets of every camera model, mild to extreme, and the formula of each. */
#ifndef PSFM_TEST_CAMERA_SAMPLES_H
#define PSFM_TEST_CAMERA_SAMPLES_H

#include <math.h>

#include "planarsfm/camera.h"

static const psfm_camera camera_samples[] = {
    {1, PSFM_CAMERA_SIMPLE_PINHOLE, 1280, 720, {1200, 640, 360}, true},
    {2, PSFM_CAMERA_SIMPLE_PINHOLE, 4000, 3000, {350, 1980.3, 1510.9}, true},
    {3, PSFM_CAMERA_PINHOLE, 1280, 720, {1200, 1180, 641.5, 352.25}, true},
    {4, PSFM_CAMERA_PINHOLE, 640, 480, {40000, 40000, 320, 240}, true},
    {5, PSFM_CAMERA_SIMPLE_RADIAL, 1280, 720, {1200, 640, 360, -0.25}, true},
    {6, PSFM_CAMERA_SIMPLE_RADIAL, 1280, 720, {1200, 640, 360, -0.38}, true}, /* folds at 1.02 */
    {7, PSFM_CAMERA_SIMPLE_RADIAL, 1280, 720, {600, 640, 360, 0.5}, true},
    {8, PSFM_CAMERA_RADIAL, 1280, 720, {900, 650, 350, -0.3, 0.12}, true},
    {9, PSFM_CAMERA_RADIAL, 1280, 720, {700, 640, 360, 0.2, -0.03}, true},
    {10, PSFM_CAMERA_RADIAL, 1280, 720, {500, 640, 360, -0.28, 0.06}, true}, /* action camera */
    {11, PSFM_CAMERA_OPENCV, 1280, 720, {1200, 1195, 640, 360, -0.12, 0.05, 1e-3, -2e-3}, true},
    {12, PSFM_CAMERA_OPENCV, 1280, 720, {800, 810, 630, 370, -0.31, 0.11, 0.01, 0.02}, true},
    {13, PSFM_CAMERA_OPENCV, 1280, 720, {900, 900, 640, 360, 0.25, -0.04, -0.02, 0.01}, true},
    {14, PSFM_CAMERA_OPENCV, 1280, 720, {900, 900, 640, 360, 0, 0, -0.02, 0.01}, true},
    {15,
     PSFM_CAMERA_OPENCV_FISHEYE,
     1280,
     720,
     {480, 485, 640, 360, -0.01, 0.02, -0.01, 0.002},
     true},
    {16, PSFM_CAMERA_OPENCV_FISHEYE, 1280, 720, {475, 475, 640, 360, 0, 0, 0, 0}, true},
    {17, PSFM_CAMERA_OPENCV_FISHEYE, 1280, 960, {420, 420, 640, 480, 0.1, 0.05, 0.01, 0}, true},
    {18,
     PSFM_CAMERA_FULL_OPENCV,
     1280,
     720,
     {900, 905, 640, 360, -0.3, 0.1, 1e-3, -1e-3, 0.01, 0.02, 0.01, 0.001},
     true},
    {19, /* a wide camera as a calibration tool reports it: large terms that cancel */
     PSFM_CAMERA_FULL_OPENCV,
     1280,
     720,
     {610, 612, 640, 360, 2.1, 0.9, 2e-4, -1e-4, 0.05, 2.45, 1.6, 0.24},
     true},
    {20, PSFM_CAMERA_FOV, 1280, 720, {600, 605, 640, 360, 0.9}, true},
    {21, PSFM_CAMERA_FOV, 1280, 720, {1200, 1200, 640, 360, 1e-3}, true},
    {22, PSFM_CAMERA_FOV, 1280, 720, {740, 740, 640, 360, 1.55}, true}, /* 178 degrees */
    {23, PSFM_CAMERA_FOV, 1280, 720, {1200, 1200, 640, 360, 0}, true},
    {24, PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE, 1280, 720, {600, 640, 360, -0.05}, true},
    {25, PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE, 1280, 720, {480, 640, 360, 0.03}, true},
    {26, PSFM_CAMERA_RADIAL_FISHEYE, 1280, 720, {500, 640, 360, 0.05, -0.01}, true},
    {27, PSFM_CAMERA_RADIAL_FISHEYE, 1280, 720, {550, 640, 360, -0.1, 0.02}, true},
    {28,
     PSFM_CAMERA_THIN_PRISM_FISHEYE,
     1280,
     720,
     {500, 510, 650, 350, 0.05, -0.02, 1e-3, -2e-3, 0.01, -0.002, 1e-3, -1e-3},
     true},
    {29,
     PSFM_CAMERA_THIN_PRISM_FISHEYE,
     1280,
     720,
     {490, 490, 640, 360, 0, 0, 5e-3, 0, 0, 0, -4e-3, 3e-3},
     true},
    {30, /* as Project Aria reports its cameras */
     PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE,
     1408,
     1408,
     {611, 611, 716, 705, 0.406, -0.489, 0.1745, 1.133, -1.7, 0.651, 8e-4, -3e-4, 1e-3, -1e-4, 5e-4,
      -2e-4},
     true},
    {31,
     PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE,
     1280,
     720,
     {620, 610, 650, 350, -0.02, 0.01, -5e-3, 1e-3, 0, 0, 0.01, -0.02, 4e-3, 1e-3, -3e-3, 2e-3},
     true},
    {32,
     PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE,
     1280,
     720,
     {490, 490, 640, 360, 0, 0, 0, 0, 0, 0, 5e-3, 0, 0, 2e-3, 0, 0},
     true},
    {33, PSFM_CAMERA_SIMPLE_DIVISION, 1280, 720, {900, 640, 360, -0.25}, true},
    {34, PSFM_CAMERA_SIMPLE_DIVISION, 1280, 720, {700, 640, 360, 0.3}, true},
    {35, PSFM_CAMERA_DIVISION, 1280, 720, {600, 610, 650, 350, -0.5}, true}, /* to 157 degrees */
    {36, PSFM_CAMERA_DIVISION, 1280, 720, {600, 610, 650, 350, 0}, true},
    {37, PSFM_CAMERA_SIMPLE_FISHEYE, 1280, 720, {500, 641, 358}, true},
    {38, PSFM_CAMERA_FISHEYE, 1280, 720, {500, 510, 650, 350}, true},
    {39, PSFM_CAMERA_EUCM, 1280, 720, {700, 710, 640, 360, 0, 1}, true},
    {40, PSFM_CAMERA_EUCM, 1280, 720, {480, 485, 650, 350, 0.62, 1.05}, true},
    {41, PSFM_CAMERA_EUCM, 1280, 720, {800, 800, 640, 360, 1, 0.8}, true},
};

#define NUM_CAMERA_SAMPLES (sizeof camera_samples / sizeof *camera_samples)

/* COLMAP's formulas as its documentation gives them, model by model, for Z > 0; written apart from
 * the library on purpose. */
static inline void reference_project(const psfm_camera *camera, const double ray[3], double xy[2]) {
    const double *p = camera->params;
    bool one_focal =
        camera->model == PSFM_CAMERA_SIMPLE_PINHOLE || camera->model == PSFM_CAMERA_SIMPLE_RADIAL ||
        camera->model == PSFM_CAMERA_RADIAL || camera->model == PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE ||
        camera->model == PSFM_CAMERA_RADIAL_FISHEYE ||
        camera->model == PSFM_CAMERA_SIMPLE_DIVISION || camera->model == PSFM_CAMERA_SIMPLE_FISHEYE;
    double fx = p[0], fy = one_focal ? p[0] : p[1];
    double cx = one_focal ? p[1] : p[2], cy = one_focal ? p[2] : p[3];
    const double *e = p + (one_focal ? 3 : 4);
    double u = ray[0] / ray[2], v = ray[1] / ray[2];
    double r = sqrt(u * u + v * v), r2 = r * r, r4 = r2 * r2, r6 = r4 * r2;
    double t = atan(r), t2 = t * t, t4 = t2 * t2, t6 = t4 * t2, t8 = t4 * t4;
    double angular = r > 0 ? t / r : 1.0, radial = 1.0, x = u, y = v;
    switch (camera->model) {
    case PSFM_CAMERA_SIMPLE_PINHOLE:
    case PSFM_CAMERA_PINHOLE:
        break;
    case PSFM_CAMERA_SIMPLE_RADIAL:
        radial = 1 + e[0] * r2;
        break;
    case PSFM_CAMERA_RADIAL:
        radial = 1 + e[0] * r2 + e[1] * r4;
        break;
    case PSFM_CAMERA_OPENCV:
        radial = 1 + e[0] * r2 + e[1] * r4;
        break;
    case PSFM_CAMERA_OPENCV_FISHEYE:
        radial = angular * (1 + e[0] * t2 + e[1] * t4 + e[2] * t6 + e[3] * t8);
        break;
    case PSFM_CAMERA_FULL_OPENCV:
        radial = (1 + e[0] * r2 + e[1] * r4 + e[4] * r6) / (1 + e[5] * r2 + e[6] * r4 + e[7] * r6);
        break;
    case PSFM_CAMERA_FOV:
        if (e[0] > 0 && r > 0)
            radial = atan(2 * r * tan(e[0] / 2)) / (r * e[0]);
        break;
    case PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE:
        radial = angular * (1 + e[0] * t2);
        break;
    case PSFM_CAMERA_RADIAL_FISHEYE:
        radial = angular * (1 + e[0] * t2 + e[1] * t4);
        break;
    case PSFM_CAMERA_THIN_PRISM_FISHEYE:
        u *= angular;
        v *= angular;
        radial = 1 + e[0] * t2 + e[1] * t4 + e[4] * t6 + e[5] * t8;
        break;
    case PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE: /* the rest takes what this comes to */
        radial =
            1 + e[0] * t2 + e[1] * t4 + e[2] * t6 + e[3] * t8 + e[4] * t8 * t2 + e[5] * t8 * t4;
        u *= angular * radial;
        v *= angular * radial;
        radial = 1;
        break;
    case PSFM_CAMERA_SIMPLE_DIVISION: /* the smaller root of k r x^2 - x + r = 0 */
    case PSFM_CAMERA_DIVISION:
        if (e[0] != 0 && r > 0)
            radial = (1 - sqrt(1 - 4 * e[0] * r2)) / (2 * e[0] * r2);
        break;
    case PSFM_CAMERA_SIMPLE_FISHEYE:
    case PSFM_CAMERA_FISHEYE:
        radial = angular;
        break;
    case PSFM_CAMERA_EUCM:
        radial =
            ray[2] / (e[0] * sqrt(e[1] * (ray[0] * ray[0] + ray[1] * ray[1]) + ray[2] * ray[2]) +
                      (1 - e[0]) * ray[2]);
        break;
    case PSFM_CAMERA_EQUIRECTANGULAR:
        xy[0] = p[0] * (0.5 + atan2(ray[0], ray[2]) / (2 * M_PI));
        xy[1] =
            p[1] *
            (0.5 + asin(ray[1] / sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2])) / M_PI);
        return;
    }
    x = radial * u;
    y = radial * v;
    r2 = u * u + v * v;
    if (camera->model == PSFM_CAMERA_OPENCV || camera->model == PSFM_CAMERA_FULL_OPENCV ||
        camera->model == PSFM_CAMERA_THIN_PRISM_FISHEYE) {
        x += 2 * e[2] * u * v + e[3] * (r2 + 2 * u * u);
        y += 2 * e[3] * u * v + e[2] * (r2 + 2 * v * v);
    }
    if (camera->model == PSFM_CAMERA_THIN_PRISM_FISHEYE) {
        x += e[6] * r2;
        y += e[7] * r2;
    }
    if (camera->model == PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE) {
        x += 2 * e[7] * u * v + e[6] * (r2 + 2 * u * u) + e[8] * r2 + e[9] * r2 * r2;
        y += 2 * e[6] * u * v + e[7] * (r2 + 2 * v * v) + e[10] * r2 + e[11] * r2 * r2;
    }
    xy[0] = fx * x + cx;
    xy[1] = fy * y + cy;
}

#endif
