/* Corners of photographs, and the alignment of pairs of them, as tasks for any rank. */
#ifndef PSFM_REFINE_PAIR_TASKS_H
#define PSFM_REFINE_PAIR_TASKS_H

#include "refine/pair_input.h"
#include "refine/photo_work.h"

extern const psfm_task_kind psfm_corner_tasks, psfm_pair_tasks;

/* Where everything is at the first rank. */
typedef struct {
    const psfm_photo_cache *photos; /* its folder and size; nothing is read here */
    const psfm_match_set *set;
    const psfm_two_view *two_views; /* per pair of the set */
    const psfm_pair_plane_options *planes;
    const psfm_patch_options *patch;
} psfm_pair_spread;

/* The corners of `num` views, over the ranks of the context's link, into corners[view]. */
psfm_status psfm_corners_spread(psfm_context *ctx, const psfm_pair_spread *spread,
                                const uint32_t *views, size_t num, psfm_view_corners *corners);

/* Aligns `num` pairs of the set in this order, over the ranks of the context's link, into
 * out[pair], with the corners of all views. */
psfm_status psfm_pairs_spread(psfm_context *ctx, const psfm_pair_spread *spread,
                              const size_t *pairs, size_t num, const psfm_view_corners *corners,
                              psfm_pair_refined *out);

#endif
