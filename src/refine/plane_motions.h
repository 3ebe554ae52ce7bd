/* Better homographies in the place of known ones, and the motions that follow. */
#ifndef PSFM_REFINE_PLANE_MOTIONS_H
#define PSFM_REFINE_PLANE_MOTIONS_H

#include "photo/pair_planes.h"
#include "twoview/two_view.h"

/* Replaces the homographies of a pair for which refined[h].refined, and their motions. The pair's
 * matches from `first_new` on are aligned patches, among the inliers already; its views have their
 * information. Where one plane decides, the motions are those of its decomposition that are nearest
 * to the known ones. Where the essential matrix does, motion and planes that obey it are fitted
 * anew together, to the patches of refined planes, the keypoints of the others and those off the
 * planes. What would change beyond recognition stays as it was. */
psfm_status psfm_replace_planes(psfm_context *ctx, const psfm_match_set *set, size_t pair,
                                size_t first_new, const psfm_refined_plane *refined,
                                psfm_two_view *view);

#endif
