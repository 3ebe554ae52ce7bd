/* COLMAP models from a pose solution. */
#ifndef PSFM_WORLD_BUILD_MODEL_H
#define PSFM_WORLD_BUILD_MODEL_H

#include "core/refine/refine_poses.h"
#include "core/solve/pose_solution.h"
#include "planarsfm/model.h"

/* One model per component with a posed image, most images first: its cameras, its posed images,
 * and, from `refined` (may be NULL), keypoints and points. Ids and names as in the match set; point
 * ids count from 1 in each model. *models is an array of *num_models, each to be freed with
 * psfm_model_free, then the array. */
psfm_status psfm_build_models(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_pose_solution *solution, const psfm_refined *refined,
                              psfm_model **models, size_t *num_models);

#endif
