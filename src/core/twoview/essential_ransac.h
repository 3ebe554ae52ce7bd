/* One essential matrix out of contaminated matches, given the homographies of the pair. */
#ifndef PSFM_TWOVIEW_ESSENTIAL_RANSAC_H
#define PSFM_TWOVIEW_ESSENTIAL_RANSAC_H

#include "core/twoview/essential.h"
#include "core/twoview/multi_homography.h"

typedef struct {
    bool found;
    psfm_motion motion;
    uint32_t *inliers; /* indices of pairs, ascending; owned, free with free() */
    size_t num_inliers;
    double plane_share; /* largest share of the inliers that one homography explains */
    bool has_off_plane; /* inliers beyond the largest plane are more than chance */
} psfm_essential_found;

/* Whether more than one plane decided the motion. */
bool psfm_essential_is_determined(const psfm_essential_found *essential);

typedef struct {
    const psfm_motion *items;
    size_t num;
} psfm_motion_list;

/* Estimates the motion. `starts` are the motions behind the homographies in `planes` (any number of
 * either). Without a plane five-point samples are drawn; with one, the motion is looked for among
 * the starts and those that two matches off the largest plane complete it to, which takes a small
 * part of the time. With options->independent five-point samples alone, whatever the planes: they
 * only serve to tell what share of the inliers they explain. found is false if the matches support
 * no motion beyond chance. */
psfm_status psfm_essential_ransac(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                  const psfm_plane_set *planes, const psfm_motion_list *starts,
                                  const psfm_two_view_options *options, psfm_rng *rng,
                                  psfm_essential_found *out);

#endif
