/* The search of one point of a surface in another photograph of it. */
#ifndef PSFM_PHOTOMETRIC_TRACK_SEARCH_H
#define PSFM_PHOTOMETRIC_TRACK_SEARCH_H

#include "images/photometric/track_plan.h"

/* A photograph, and from where it was taken. */
typedef struct {
    psfm_patch_view photo;
    const double *cam_from_world; /* rotation, 3 x 3 */
    const double *center;
} psfm_track_view;

/* A point, where its patch is in the first view, and the normal of the surface about it. */
typedef struct {
    double xy1[2];
    double point[3], normal[3];
} psfm_track_patch;

/* What a search of a plan starts from. */
psfm_track_patch psfm_track_patch_of(const psfm_match_set *set, const psfm_structure *structure,
                                     const psfm_track_plan *plan, const psfm_track_search *search);

/* Finds it in the second view, both ways, at most max_shift_px from where it should be. */
void psfm_track_patch_find(psfm_patch_aligner *aligner, const psfm_track_view views[2],
                           const psfm_track_patch *patch, double max_shift_px,
                           psfm_patch_match *found);

#endif
