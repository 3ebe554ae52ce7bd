/* Keypoints whose precision is known, put into a view. */
#ifndef PSFM_REFINE_PRECISE_KEYPOINTS_H
#define PSFM_REFINE_PRECISE_KEYPOINTS_H

#include "view/match_set.h"

/* Keypoints to be appended to one view. Owns its arrays. */
typedef struct {
    size_t num, capacity;
    double (*xy)[2];  /* pixels */
    double (*cov)[3]; /* px^2: xx, xy, yy */
} psfm_precise_keypoints;

psfm_status psfm_precise_keypoints_add(psfm_context *ctx, psfm_precise_keypoints *list,
                                       const double xy[2], const double cov[3]);
void psfm_precise_keypoints_free(psfm_precise_keypoints *list);

/* Appends them to the view, with rays by `camera` and their information. Keypoints that the view
 * has already count as a detector's if it did not say otherwise. */
psfm_status psfm_view_append(psfm_context *ctx, const psfm_camera *camera,
                             const psfm_precise_keypoints *list, psfm_view *view);

/* Moves keypoint k of a view that knows its keypoints' information. */
void psfm_view_move(const psfm_camera *camera, size_t k, const double xy[2], const double cov[3],
                    psfm_view *view);

#endif
