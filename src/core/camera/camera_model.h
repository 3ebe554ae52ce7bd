/* Camera models by name and number. */
#ifndef PSFM_CAMERA_CAMERA_MODEL_H
#define PSFM_CAMERA_CAMERA_MODEL_H

#include "core/camera/lens.h"

/* COLMAP's names, ended by NULL. */
extern const char *const psfm_camera_model_names[PSFM_NUM_CAMERA_MODELS + 1];

/* The row of a model; NULL for an unknown one. */
const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model);

/* Index of the first parameter of a known model's distortion; 0: it has none. */
int psfm_camera_first_coefficient(psfm_camera_model model);

#endif
