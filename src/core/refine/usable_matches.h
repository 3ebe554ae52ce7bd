/* Which matches may form tracks. */
#ifndef PSFM_REFINE_USABLE_MATCHES_H
#define PSFM_REFINE_USABLE_MATCHES_H

#include "core/refine/refine_poses.h"

/* `use` runs over the matches of all pairs in order (psfm_match_set_total). */

/* The inliers of all homographies, and of the essential matrix, of accepted edges. */
psfm_status psfm_usable_matches_of_edges(const psfm_refine_input *input, bool *use);

/* The matches of all pairs of posed images of one component whose epipolar error under the poses
 * is at most max_error_px, if they are more than chance and a fair share of those that the pair's
 * own geometry explains: a pair that was matched to duplicate structure has a few that agree by
 * chance, and many that agree among themselves on something else. Parallel. */
psfm_status psfm_usable_matches_of_poses(psfm_context *ctx, const psfm_refine_input *input,
                                         const psfm_poses *poses, double max_error_px, bool *use);

/* How far the poses are off, in pixels: per image the median epipolar error of the matches that its
 * accepted edges' own geometry explains; of the images the one at `share` (0 to 1) in ascending
 * order. Holds the noise, too. 0 if there is nothing to judge by. */
psfm_status psfm_pose_error(psfm_context *ctx, const psfm_refine_input *input,
                            const psfm_poses *poses, double share, double *error_px);

/* Counts them for all edges between images of one component; zeros for the others. O(matches). */
void psfm_edge_matches_count(const psfm_refine_input *input, const psfm_poses *poses,
                             double max_error_px, psfm_edge_matches *edges);

#endif
