/* Next best first: an image that few points lead to is better placed after its neighbours, when
 * there are more points to lead to, and wrong poses spoil points for everybody. */
#include "refine/left_over.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "refine/point_views.h"

#define SURE 0.5 /* of the agreeing points of the surest image */

typedef struct {
    psfm_resection pose;
    uint32_t component;
} trial;

/* Whether an image may join a component: none of its images is of another part. */
static bool may_join(const psfm_left_over *in, const psfm_poses *poses, uint32_t v,
                     uint32_t component) {
    for (uint32_t w = 0; in->part != NULL && w < poses->num_views; ++w)
        if (poses->component[w] == component && in->part[w] != UINT32_MAX &&
            in->part[v] != UINT32_MAX && in->part[w] != in->part[v])
            return false;
    return true;
}

static psfm_status try_all(psfm_context *ctx, const psfm_left_over *in, const psfm_poses *poses,
                           trial *trials) {
    psfm_point_views links = {0};
    psfm_status status = psfm_point_views_init(ctx, in->set, in->structure, poses, &links);
    for (uint32_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v) {
        trial *t = &trials[v];
        if (psfm_has_pose(poses, v))
            continue;
        status = psfm_point_views_resect(ctx, &links, v, in->resection, &t->pose, &t->component);
        t->pose.found = t->pose.found && may_join(in, poses, v, t->component);
    }
    psfm_point_views_free(&links);
    return status;
}

psfm_status psfm_left_over_place(psfm_context *ctx, const psfm_left_over *in, psfm_poses *poses,
                                 bool *placed, size_t *num_placed) {
    trial *trials = NULL;
    size_t most = 0;
    *num_placed = 0;
    psfm_status status = PSFM_ALLOC(ctx, in->set->num_views, &trials);
    if (status == PSFM_OK)
        status = try_all(ctx, in, poses, trials);
    for (size_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v)
        if (trials[v].pose.found && trials[v].pose.num_inliers > most)
            most = trials[v].pose.num_inliers;
    for (size_t v = 0; status == PSFM_OK && v < in->set->num_views; ++v) {
        const psfm_resection *pose = &trials[v].pose;
        if (!pose->found || (double)pose->num_inliers < SURE * (double)most)
            continue;
        memcpy(poses->cam_from_world[v], pose->cam_from_world, sizeof pose->cam_from_world);
        memcpy(poses->center[v], pose->center, sizeof pose->center);
        poses->component[v] = trials[v].component;
        placed[v] = true;
        ++*num_placed;
    }
    free(trials);
    return status;
}
