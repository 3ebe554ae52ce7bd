/* Images without a pose, placed by the points of the others. */
#ifndef PSFM_REFINE_LEFT_OVER_H
#define PSFM_REFINE_LEFT_OVER_H

#include "pose/resection.h"
#include "scene/triangulate.h"

typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    const uint32_t *part; /* per view: images of two parts (UINT32_MAX is none) never share a model;
                             NULL: there are no parts */
    const psfm_resection_options *resection;
} psfm_left_over;

/* Resects the images without a pose on the points that their matches lead to, and places the ones
 * that are surest now: those with at least half as many agreeing points as the best. Others wait
 * for the points that these bring. Sets poses and placed[v] of the images placed (num_views
 * entries, others untouched), and their number. */
psfm_status psfm_left_over_place(psfm_context *ctx, const psfm_left_over *in, psfm_poses *poses,
                                 bool *placed, size_t *num_placed);

#endif
