/* What the search of points in photographs makes of keypoints and tracks. */
#ifndef PSFM_PHOTOMETRIC_TRACK_RESULTS_H
#define PSFM_PHOTOMETRIC_TRACK_RESULTS_H

#include "images/photometric/track_plan.h"

/* Takes the aligned searches of a plan over: keypoints of the set move to where they were found,
 * new ones are appended, all with their information, and the structure's tracks get the new
 * observations, views ascending. `cameras` are those of the set's views. Fails only when memory is
 * out; the structure is then as it was. O(searches + observations). */
psfm_status psfm_track_results_take(psfm_context *ctx, const psfm_track_plan *plan,
                                    const psfm_camera *cameras, psfm_match_set *set,
                                    psfm_structure *structure);

#endif
