/* Time of one projection, projection with derivative, and unprojection, for every camera model.
 * Prints nanoseconds a call (the least of several rounds) and their ratio to the pinhole's. */
#include <math.h>
#include <stdio.h>

#include "core/base/timer.h"
#include "planarsfm/camera.h"

#define SIDE 64
#define ROUNDS 60

static const psfm_camera cameras[] = {
    {1, PSFM_CAMERA_SIMPLE_PINHOLE, 1280, 720, {1200, 640, 360}, true},
    {2, PSFM_CAMERA_PINHOLE, 1280, 720, {1200, 1200, 640, 360}, true},
    {3, PSFM_CAMERA_SIMPLE_RADIAL, 1280, 720, {1200, 640, 360, -0.1}, true},
    {4, PSFM_CAMERA_RADIAL, 1280, 720, {1200, 640, 360, -0.1, 0.02}, true},
    {5, PSFM_CAMERA_OPENCV, 1280, 720, {1200, 1200, 640, 360, -0.1, 0.02, 1e-3, 1e-3}, true},
    {6, PSFM_CAMERA_OPENCV_FISHEYE, 1280, 720, {600, 600, 640, 360, 0.02, -0.01, 0, 0}, true},
    {7,
     PSFM_CAMERA_FULL_OPENCV,
     1280,
     720,
     {1200, 1200, 640, 360, -0.1, 0.02, 1e-3, 1e-3, 0.01, 0.02, 0.01, 0},
     true},
    {8, PSFM_CAMERA_FOV, 1280, 720, {600, 600, 640, 360, 0.9}, true},
    {9, PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE, 1280, 720, {600, 640, 360, -0.02}, true},
    {10, PSFM_CAMERA_RADIAL_FISHEYE, 1280, 720, {600, 640, 360, -0.02, 0.01}, true},
    {11,
     PSFM_CAMERA_THIN_PRISM_FISHEYE,
     1280,
     720,
     {600, 600, 640, 360, 0.02, -0.01, 1e-3, 1e-3, 0, 0, 1e-3, 1e-3},
     true},
};

static double pixels[SIDE * SIDE][2], rays[SIDE * SIDE][3];
static volatile double sink; /* keeps the loops from being dropped */

static double unproject_ns(const psfm_camera *camera) {
    double best = HUGE_VAL;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = psfm_now();
        for (int k = 0; k < SIDE * SIDE; ++k)
            sink = psfm_camera_unproject(camera, pixels[k], rays[k]) ? 1.0 : 0.0;
        best = fmin(best, psfm_now() - start);
    }
    return 1e9 * best / (SIDE * SIDE);
}

static double project_ns(const psfm_camera *camera, int with_jacobian) {
    double best = HUGE_VAL;
    for (int round = 0; round < ROUNDS; ++round) {
        double xy[2], J[6];
        double start = psfm_now();
        for (int k = 0; k < SIDE * SIDE; ++k) {
            if (with_jacobian != 0)
                sink = psfm_camera_project_jacobian(camera, rays[k], xy, J) ? xy[0] : 0.0;
            else
                sink = psfm_camera_project(camera, rays[k], xy) ? xy[0] : 0.0;
        }
        best = fmin(best, psfm_now() - start);
    }
    return 1e9 * best / (SIDE * SIDE);
}

int main(void) {
    for (int k = 0; k < SIDE * SIDE; ++k) {
        int col = k % SIDE, row = k / SIDE;
        pixels[k][0] = 1280.0 * col / (SIDE - 1);
        pixels[k][1] = 720.0 * row / (SIDE - 1);
    }
    double base = unproject_ns(&cameras[1]);
    printf("%-22s %10s %10s %10s %8s\n", "model", "unproject", "project", "jacobian", "ratio");
    for (size_t c = 0; c < sizeof cameras / sizeof *cameras; ++c) {
        double back = unproject_ns(&cameras[c]);
        double project = project_ns(&cameras[c], 0), jacobian = project_ns(&cameras[c], 1);
        printf("%-22s %7.1f ns %7.1f ns %7.1f ns %8.1f\n", psfm_camera_model_name(cameras[c].model),
               back, project, jacobian, back / base);
    }
    return 0;
}
