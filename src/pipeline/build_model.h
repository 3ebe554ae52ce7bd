/* COLMAP models from a pose solution. */
#ifndef PSFM_PIPELINE_BUILD_MODEL_H
#define PSFM_PIPELINE_BUILD_MODEL_H

#include "pipeline/pose_solution.h"
#include "planarsfm/model.h"

/* One model per component, with the cameras and the posed images of it; ids and names as in the
 * match set, no keypoints and no points. *models is an array of *num_models, each to be freed with
 * psfm_model_free, then the array. */
psfm_status psfm_build_models(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_pose_solution *solution, psfm_model **models,
                              size_t *num_models);

#endif
