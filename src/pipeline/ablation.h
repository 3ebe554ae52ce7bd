/* The paper's ablation: pruning on/off x confidence on/off. */
#ifndef PSFM_PIPELINE_ABLATION_H
#define PSFM_PIPELINE_ABLATION_H

#include <cjson/cJSON.h>

#include "engine/skeleton.h"
#include "eval/evaluate.h"

/* One row: rotation AUC averaged over seeds, with the standard deviation over seeds. */
typedef struct {
    const char *name;
    bool pruning, confidence;
    double mean[PSFM_NUM_AUC];
    double deviation[PSFM_NUM_AUC];
} psfm_ablation_row;

#define PSFM_NUM_ABLATIONS 4

/* Runs the four variants on a pose graph of the images of `set`, `num_seeds` times those that draw
 * random numbers, and evaluates the rotations against `truth` (images by name; every pair of the
 * truth counts, one with an unposed image as failed). Parallel over seeds. */
psfm_status psfm_ablate(psfm_context *ctx, const psfm_match_set *set, const psfm_pose_graph *graph,
                        const psfm_model *truth, const psfm_skeleton_options *options,
                        int num_seeds, psfm_ablation_row rows[PSFM_NUM_ABLATIONS]);

cJSON *psfm_ablation_to_json(const psfm_ablation_row rows[PSFM_NUM_ABLATIONS]);

#endif
