/* How far the poses of a probe are from those of a model, whatever the frame of either. */
#ifndef PSFM_VERDICT_POSE_SHIFT_H
#define PSFM_VERDICT_POSE_SHIFT_H

#include "refine/probes.h"
#include "scene/poses.h"

typedef struct {
    bool known;         /* the probe has a pose of this image */
    double rotation[3]; /* rotation vector in the axes of the camera, radians */
    double center[3];   /* in the frame and the unit of the model */
} psfm_pose_shift;

/* The shifts of the images of one component, after the similarity that brings most images of the
 * probe onto it (least sum of distances). shift[v] of other images is left as it is. Images less
 * than two: not known. O(images). */
void psfm_pose_shifts_find(const psfm_poses *poses, uint32_t component, const psfm_probe *probe,
                           psfm_pose_shift *shift);

#endif
