/* Camera models by name and number, and the table of all of them. */
#ifndef PSFM_CAMERA_CAMERA_MODEL_H
#define PSFM_CAMERA_CAMERA_MODEL_H

#include "core/camera/lens.h"

/* COLMAP's names, ended by NULL. */
extern const char *const psfm_camera_model_names[PSFM_NUM_CAMERA_MODELS + 1];

/* The row of a model; NULL for an unknown one. */
const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model);

/* As psfm_camera_check, for what computes with cameras: EQUIRECTANGULAR is refused, too, since
 * panoramas have no focal length and show what is behind them. */
psfm_status psfm_camera_check_lens(psfm_context *ctx, const psfm_camera *camera);

/* The geometric mean of the focal lengths; of a panorama, pixels per radian at its equator. */
double psfm_camera_mean_focal(const psfm_camera *camera);

/* Index of the first parameter of a known model's distortion; 0: it has none. */
int psfm_camera_first_coefficient(psfm_camera_model model);

#endif
