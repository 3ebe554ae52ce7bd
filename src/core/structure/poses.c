#include "core/structure/poses.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"

psfm_status psfm_poses_init(psfm_context *ctx, uint32_t num_views, psfm_poses *poses) {
    psfm_poses made = {.num_views = num_views};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_views, &made.cam_from_world)) ||
        (status = PSFM_ALLOC(ctx, num_views, &made.center)) ||
        (status = PSFM_ALLOC(ctx, num_views, &made.component)))
        psfm_poses_free(&made);
    for (uint32_t v = 0; v < made.num_views; ++v)
        psfm_mat3_identity(made.cam_from_world[v]);
    *poses = made;
    return status;
}

void psfm_poses_free(psfm_poses *poses) {
    free(poses->cam_from_world);
    free(poses->center);
    free(poses->component);
    *poses = (psfm_poses){0};
}

bool psfm_has_pose(const psfm_poses *poses, uint32_t view) {
    return poses->component[view] != PSFM_NO_COMPONENT;
}

bool psfm_share_world(const psfm_poses *poses, uint32_t view1, uint32_t view2) {
    return psfm_has_pose(poses, view1) && poses->component[view1] == poses->component[view2];
}
