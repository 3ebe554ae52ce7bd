/* How well poses explain what the images show, and whether the true ones do it better. */
#ifndef PSFM_EVAL_TRACK_FIT_H
#define PSFM_EVAL_TRACK_FIT_H

#include "planarsfm/model.h"

typedef struct {
    size_t num_observations; /* of tracks of three images or more that both models have */
    /* Typical residual, px: the standard deviation in one coordinate that a normal distribution of
     * the same median would have, each point placed where its observations want it. NAN without
     * observations. */
    double estimate_px, truth_px;
} psfm_track_fit;

/* Fits each track of the model twice, with the model's poses and intrinsics and with those of the
 * truth. A truth that fits worse than the estimate is not exact enough to judge it: two poses that
 * are equally right fit equally well. Images are matched by name. Parallel; O(observations). */
psfm_status psfm_track_fit_measure(psfm_context *ctx, const psfm_model *truth,
                                   const psfm_model *model, psfm_track_fit *out);

#endif
