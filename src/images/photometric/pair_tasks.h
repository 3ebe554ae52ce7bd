/* Corners of photographs, and the alignment of pairs of them, as tasks for any rank. */
#ifndef PSFM_PHOTOMETRIC_PAIR_TASKS_H
#define PSFM_PHOTOMETRIC_PAIR_TASKS_H

#include "images/photometric/photo_tasks.h"

extern const psfm_task_kind psfm_corner_tasks, psfm_pair_tasks;

/* The corners of `num` views of the setup's set, into corners[view]. */
psfm_status psfm_corners_run(psfm_context *ctx, psfm_photo_setup *setup, const uint32_t *views,
                             size_t num, psfm_view_corners *corners);

/* Aligns `num` pairs of the setup's set, which has its corners, in this order, into out[pair].
 * `two_views` has an entry for each pair of the set. */
psfm_status psfm_pairs_run(psfm_context *ctx, psfm_photo_setup *setup,
                           const psfm_two_view *two_views, const size_t *pairs, size_t num,
                           psfm_pair_refined *out);

#endif
