/* Intrinsics of uncalibrated cameras, from the homographies of a match set. */
#ifndef PSFM_CALIBRATION_CALIBRATE_H
#define PSFM_CALIBRATION_CALIBRATE_H

#include "core/calibration/focal_planes.h"
#include "core/twoview/two_view.h"

typedef enum {
    PSFM_CALIBRATE_AUTO, /* cameras whose focal length is a guess or from EXIF data */
    PSFM_CALIBRATE_OFF,
    PSFM_CALIBRATE_ALL, /* all, whatever was given */
} psfm_calibrate_which;

typedef struct {
    int cameras; /* psfm_calibrate_which */
    bool distortion;
    int camera_model; /* 0: chosen by the data; else 1 + psfm_camera_model */
} psfm_calibrate_options;

extern const psfm_option_table psfm_calibrate_option_table;

typedef struct {
    bool done;
    size_t num_unknown;    /* cameras that were to be calibrated */
    size_t num_determined; /* of these */
    size_t num_wrong_exif; /* whose EXIF focal length contradicts the planes */
    uint32_t num_planes, num_homographies;
    size_t num_by_pairs;      /* of the determined: from the epipolar geometry of pairs, */
    uint32_t num_pairs;       /* so many of them */
    size_t num_fisheye;       /* that look like equidistant fisheyes, */
    double fisheye_focal;     /* of this focal length in units of the longer side */
    double distortion;        /* first radial coefficient for a focal length of one longer side */
    size_t num_k1_free;       /* cameras whose own distortion was estimated about it */
    size_t num_k1_determined; /* of these: determined */
} psfm_calibrate_stats;

/* Whether there is a camera to calibrate. */
bool psfm_needs_calibration(const psfm_match_set *set, const psfm_calibrate_options *options);

/* Verifies the pairs without essential matrices, searches the distortion and estimates the focal
 * lengths; where they are determined, the cameras of the set and their origins change and all rays
 * are computed anew. Where they are not, cameras stay as they are, a warning says so and what would
 * help. */
psfm_status psfm_calibrate(psfm_context *ctx, const psfm_calibrate_options *options,
                           const psfm_focal_options *focal, const psfm_two_view_options *two_view,
                           psfm_match_set *set, psfm_calibrate_stats *stats);

/* One sentence about what was found. */
void psfm_calibrate_describe(const psfm_calibrate_stats *stats, char *text, size_t size);

#endif
