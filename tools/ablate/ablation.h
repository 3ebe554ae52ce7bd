/* The paper's ablation: pruning on/off x confidence on/off, and three ways to positions. */
#ifndef PSFM_ABLATE_ABLATION_H
#define PSFM_ABLATE_ABLATION_H

#include <cjson/cJSON.h>

#include "eval/evaluate.h"
#include "sfm/reconstruct_options.h"

/* Matches of a scene and its true poses (images by name). */
typedef struct {
    psfm_match_set set;
    psfm_model truth;
} psfm_ablation_scene;

/* Mean and standard deviation over the runs, at each threshold of the evaluation. */
typedef struct {
    double mean[PSFM_NUM_AUC], sigma[PSFM_NUM_AUC];
} psfm_ablation_score;

#define PSFM_NUM_ABLATIONS (4 + PSFM_NUM_POSITIONS)

/* One row: four of rotations, then those of positions by the full method, whose errors are the
 * larger one of rotation and direction of translation. */
typedef struct {
    const char *name;
    bool pruning, confidence;
    bool has_positions;
    int positions; /* psfm_paper_positions_kind */
    psfm_ablation_score auc, recall;
} psfm_ablation_row;

typedef struct {
    size_t num_scenes, num_runs; /* runs: scenes times seeds */
    psfm_ablation_row rows[PSFM_NUM_ABLATIONS];
} psfm_ablation;

/* The matches of a database with a camera each image, as a run has them; uncalibrated cameras are
 * calibrated under the context's seed. Free *set in any case. */
psfm_status psfm_ablation_read(psfm_context *ctx, const char *database,
                               const psfm_reconstruct_options *options, psfm_match_set *set);

/* Runs every row num_seeds times on every scene, with the context's seed and those that follow it:
 * a seed draws the samples of the two-view estimation, which all rows of a run share, and the
 * random trees and weights. The full method with agreeing edges is what paper mode gives under that
 * seed. Every pair of the truth counts, one with an unposed image as failed.
 * Parallel over pairs and rows. */
psfm_status psfm_ablate(psfm_context *ctx, const psfm_ablation_scene *scenes, size_t num_scenes,
                        const psfm_reconstruct_options *options, int num_seeds, psfm_ablation *out);

cJSON *psfm_ablation_to_json(const psfm_ablation *ablation);

#endif
