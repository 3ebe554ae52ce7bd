/* The search of one point of a surface in another photograph of it. */
#ifndef PSFM_REFINE_TRACK_SEARCH_H
#define PSFM_REFINE_TRACK_SEARCH_H

#include "refine/track_plan.h"

/* Where the patch is in the first view, and the warp of the surface about it. */
typedef struct {
    double xy1[2];
    double H_21[9]; /* ray2 ~ H_21 ray1 */
} psfm_track_sight;

/* What a search of a plan starts from, by the poses of the scene. */
void psfm_track_sight_make(const psfm_track_scene *scene, const psfm_match_set *set,
                           const psfm_structure *structure, const psfm_track_plan *plan,
                           const psfm_track_search *search, psfm_track_sight *sight);

/* Finds it, both ways, at most max_shift_px from where it should be. */
void psfm_track_sight_seek(psfm_patch_aligner *aligner, const psfm_patch_view views[2],
                           const psfm_track_sight *sight, double max_shift_px,
                           psfm_patch_match *found);

#endif
