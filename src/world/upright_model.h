/* A model of photographs as they are shown. */
#ifndef PSFM_WORLD_UPRIGHT_MODEL_H
#define PSFM_WORLD_UPRIGHT_MODEL_H

#include "core/base/context.h"
#include "planarsfm/model.h"

/* Turns keypoints, poses and cameras of the model to the pixels of photographs that stand upright:
 * each image by quarters[k] clockwise quarter turns. A camera whose images turn differently becomes
 * several. What the cameras see stays where it is. */
psfm_status psfm_model_turn(psfm_context *ctx, const int *quarters, psfm_model *model);

/* The same by the EXIF data of the photographs in a folder, which must all be there. *num: how many
 * are turned. */
psfm_status psfm_model_turn_upright(psfm_context *ctx, const char *folder, psfm_model *model,
                                    size_t *num);

#endif
