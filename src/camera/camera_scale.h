/* Intrinsics of an image that was made smaller or larger. */
#ifndef PSFM_CAMERA_CAMERA_SCALE_H
#define PSFM_CAMERA_CAMERA_SCALE_H

#include "planarsfm/camera.h"

/* Changes size, focal lengths and principal point to an image of new_width x new_height pixels.
 * Distortion does not depend on the size. A model with one focal length takes the mean of the two
 * scales, as COLMAP does; exact if they are equal. Both sizes must be positive. */
void psfm_camera_scale(psfm_camera *camera, uint64_t new_width, uint64_t new_height);

#endif
