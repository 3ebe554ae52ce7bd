/* Intrinsics of uncalibrated cameras, before there are poses (part of libplanarsfm-core;
 * conventions in homography.h). */
#ifndef PLANARSFM_CALIBRATION_H
#define PLANARSFM_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Images with keypoints, and matches between them. */
typedef struct {
    size_t struct_size;
    size_t num_cameras;
    psfm_camera *cameras;     /* those that are not known are changed in place */
    const bool *camera_known; /* per camera; NULL: none is */
    size_t num_images;
    const uint32_t *image_camera; /* per image: index into cameras */
    const size_t *keypoint_begin; /* num_images + 1: image k has the rows keypoint_begin[k] ... */
    const double *keypoints;      /* pixels, 2, of all images one after the other */
    size_t num_pairs;
    const uint32_t *pairs;     /* per pair: its images, the lower first; each pair once */
    const size_t *match_begin; /* num_pairs + 1: pair k has the rows match_begin[k] ... */
    const uint32_t *matches;   /* keypoint of the first image, of the second, each counted from its
                                  image's first */
} psfm_matched_images;

typedef struct {
    size_t struct_size;
    double max_error_px; /* 4: of an inlier of a homography */
    double max_sigma;    /* 0.02: of log f, below which a focal length is determined */
    int distortion;      /* 0: radial distortion as well, where the model has it; negative: not */
} psfm_calibration_options;

typedef struct {
    size_t struct_size;
    size_t num_determined;                 /* focal lengths of those not known */
    uint32_t num_planes, num_homographies; /* that said it */
    uint32_t num_pairs; /* whose epipolar geometry said it where planes did not */
} psfm_calibration_result;

/* Finds homographies of all pairs and from them the focal lengths of cameras that are not known,
 * which start from any positive value: a plane in three images determines a common one, in four one
 * each, unless all look at it in the same way. Where planes do not tell, pairs' fundamental
 * matrices are asked. focal_sigma (num_cameras) is the standard deviation of log f, infinite where
 * nothing is known and 0 of known ones; such cameras stay as they were. result may be NULL. That
 * nothing is determined is a result. */
PSFM_API psfm_status psfm_calibrate_cameras(psfm_context *ctx, const psfm_matched_images *images,
                                            const psfm_calibration_options *options,
                                            double *focal_sigma, psfm_calibration_result *result);

#ifdef __cplusplus
}
#endif
#endif
