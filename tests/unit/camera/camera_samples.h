/* Realistic parameter sets of every camera model, mild to extreme. */
#ifndef PSFM_TEST_CAMERA_SAMPLES_H
#define PSFM_TEST_CAMERA_SAMPLES_H

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
};

#define NUM_CAMERA_SAMPLES (sizeof camera_samples / sizeof *camera_samples)

#endif
