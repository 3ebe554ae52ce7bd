/* One camera said by another model, or of an image that was made smaller or larger. */
#ifndef PSFM_CAMERA_CAMERA_CONVERT_H
#define PSFM_CAMERA_CAMERA_CONVERT_H

#include "planarsfm/camera.h"

/* The camera by another model of its kind, perspective or fisheye: focal lengths, principal point
 * and coefficients keep their values, those that the old model does not have are 0 (EUCM's beta 1),
 * and those that the new one does not have are lost. A model with one focal length gets the mean of
 * two. A panorama stays what it is, and nothing becomes one. */
psfm_camera psfm_camera_convert(const psfm_camera *camera, psfm_camera_model model);

/* Changes size, focal lengths and principal point to an image of new_width x new_height pixels.
 * Distortion does not depend on the size. A model with one focal length takes the mean of the two
 * scales, as COLMAP does; exact if they are equal. Both sizes must be positive. */
void psfm_camera_scale(psfm_camera *camera, uint64_t new_width, uint64_t new_height);

#endif
