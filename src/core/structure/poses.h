/* Poses of the views of a match set, and which of them share a world. */
#ifndef PSFM_STRUCTURE_POSES_H
#define PSFM_STRUCTURE_POSES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/context.h"

#define PSFM_NO_COMPONENT UINT32_MAX

/* Per view a pose, X_cam = R (X - c), and the component it belongs to. Each component has a gauge
 * of its own: coordinates of two components have nothing to do with each other. This is the one
 * place that says which image belongs to which model; points and planes take their component from
 * their images (core/structure/triangulate.h, core/structure/model_members.h). */
typedef struct {
    uint32_t num_views;
    double (*cam_from_world)[9];
    double (*center)[3];
    uint32_t *component; /* PSFM_NO_COMPONENT: the view has no pose */
} psfm_poses;

/* All views in the identity pose of component 0. */
psfm_status psfm_poses_init(psfm_context *ctx, uint32_t num_views, psfm_poses *poses);
void psfm_poses_free(psfm_poses *poses);

bool psfm_has_pose(const psfm_poses *poses, uint32_t view);
/* Whether both views have a pose, in one world. */
bool psfm_share_world(const psfm_poses *poses, uint32_t view1, uint32_t view2);

#endif
