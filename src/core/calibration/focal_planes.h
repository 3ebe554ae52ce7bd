/* Focal lengths from the homographies of planes, and how surely they are known. */
#ifndef PSFM_CALIBRATION_FOCAL_PLANES_H
#define PSFM_CALIBRATION_FOCAL_PLANES_H

#include "core/base/options.h"
#include "core/calibration/measured_planes.h"

typedef struct {
    int max_planes;   /* physical planes that are used, largest first */
    double max_sigma; /* standard deviation of log f below which f is determined */
} psfm_focal_options;

extern const psfm_option_table psfm_focal_option_table;

typedef struct {
    size_t num_views, num_groups;
    const uint32_t *group; /* per view: the camera, or group of cameras, of one focal length */
    const double *known;   /* per group: focal length in units of the longer side, 0 if unknown */
    /* Per group: prior of k1 (see measured_planes.h) and its standard deviation, 0 where the lens
     * is as it is; NULL: all are. */
    const double *prior_k1, *prior_k1_sigma;
} psfm_focal_input;

/* Per group. Owns its arrays. */
typedef struct {
    double *focal; /* in units of the longer side; what is known, or a value within the range */
    double *sigma; /* of log focal; INFINITY if no plane says anything */
    double *k1;    /* by how much the radial distortion differs from what the rays have */
    double *k1_sigma;
    uint32_t num_planes, num_homographies; /* that took part */
} psfm_focal_estimate;

/* Estimates the focal lengths that are not known. Undetermined is a result: sigma is then large.
 * Deterministic for any number of threads. */
psfm_status psfm_focal_from_planes(psfm_context *ctx, const psfm_measured_planes *measured,
                                   const psfm_focal_input *input, const psfm_focal_options *options,
                                   psfm_focal_estimate *out);
void psfm_focal_estimate_free(psfm_focal_estimate *estimate);

#endif
