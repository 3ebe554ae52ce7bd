/* Which homographies of different pairs are of one physical plane. */
#ifndef PSFM_CALIBRATION_PHYSICAL_PLANES_H
#define PSFM_CALIBRATION_PHYSICAL_PLANES_H

#include "core/calibration/measured_planes.h"

/* Lists of indices into the measured planes, one list a physical plane, most inliers first; each
 * list ascends. Owns its arrays. */
typedef struct {
    size_t num;
    size_t *begin; /* num + 1, into items */
    uint32_t *items;
} psfm_physical_planes;

/* Joins homographies that share inlier keypoints in a view which tell where the plane is, best
 * overlap first. Two homographies of one pair are two planes: groups that hold the same pair are
 * never joined. No focal length is needed, as no normal is compared. */
psfm_status psfm_physical_planes_find(psfm_context *ctx, const psfm_measured_planes *measured,
                                      size_t num_views, psfm_physical_planes *out);
void psfm_physical_planes_free(psfm_physical_planes *planes);

#endif
