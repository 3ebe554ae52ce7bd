/* The ablation under other readings of the paper's formulas. */
#ifndef PSFM_ABLATE_ABLATION_SWEEP_H
#define PSFM_ABLATE_ABLATION_SWEEP_H

#include "ablate/ablation.h"

/* One reading: what it says, and the options that make it, "name=value" with a blank between. */
typedef struct {
    const char *name, *settings;
} psfm_ablation_reading;

#define PSFM_MAX_READINGS 32
extern const psfm_ablation_reading psfm_ablation_readings[]; /* name == NULL ends */

/* psfm_ablate once per reading, each on top of `options`; out has PSFM_MAX_READINGS entries, *num
 * of them are filled. */
psfm_status psfm_ablate_readings(psfm_context *ctx, const psfm_ablation_scene *scenes,
                                 size_t num_scenes, const psfm_reconstruct_options *options,
                                 int num_seeds, psfm_ablation *out, size_t *num);

/* An array of the readings with their ablations. */
cJSON *psfm_ablation_readings_to_json(const psfm_ablation *ablations, size_t num);

#endif
