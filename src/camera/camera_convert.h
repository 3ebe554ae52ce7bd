/* One camera said by another model. */
#ifndef PSFM_CAMERA_CAMERA_CONVERT_H
#define PSFM_CAMERA_CAMERA_CONVERT_H

#include "planarsfm/camera.h"

/* The camera by another model of its kind, perspective or fisheye: focal lengths, principal point
 * and coefficients keep their values, those that the old model does not have are 0, and those that
 * the new one does not have are lost. A model with one focal length gets the mean of two. */
psfm_camera psfm_camera_convert(const psfm_camera *camera, psfm_camera_model model);

#endif
