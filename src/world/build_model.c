/* COLMAP models from the solution: one per component, with the cameras that it uses, its images
 * and, after a refinement, its points. */
#include "world/build_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

/* One model being built from the views of a component. */
typedef struct {
    const psfm_match_set *set;
    const psfm_pose_solution *solution;
    const psfm_refined *refined;
    uint32_t component;
    psfm_model *model;
    psfm_model_image **image; /* per view: in the model, NULL if not */
} assembly;

static bool is_member(const assembly *a, size_t v) {
    return a->solution->poses.component[v] == a->component;
}

/* Copies the cameras that some image of the component uses. */
static psfm_status add_cameras(psfm_context *ctx, const assembly *a) {
    const psfm_match_set *set = a->set;
    const psfm_camera *cameras = a->refined == NULL ? set->cameras : a->refined->cameras;
    psfm_model *model = a->model;
    bool *used = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, &used);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_cameras, &model->cameras);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        if (is_member(a, v))
            used[set->views[v].camera_idx] = true;
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c)
        if (used[c])
            model->cameras[model->num_cameras++] = cameras[c];
    free(used);
    return status;
}

static psfm_status add_keypoints(psfm_context *ctx, const psfm_view *view,
                                 psfm_model_image *image) {
    size_t n = view->num_keypoints;
    psfm_status status = PSFM_ALLOC(ctx, n, &image->keypoints);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &image->point3D_ids);
    if (status != PSFM_OK)
        return status;
    image->num_keypoints = n;
    for (uint32_t k = 0; k < n; ++k) {
        memcpy(image->keypoints[psfm_view_origin(view, k)], view->keypoints[k],
               sizeof *image->keypoints);
        image->point3D_ids[k] = PSFM_NO_POINT;
    }
    return PSFM_OK;
}

static psfm_status add_image(psfm_context *ctx, assembly *a, size_t v) {
    const psfm_view *view = &a->set->views[v];
    psfm_model_image *image = &a->model->images[a->model->num_images++];
    const double *R = a->solution->poses.cam_from_world[v];
    a->image[v] = image;
    image->id = view->id;
    image->camera_id = a->set->cameras[view->camera_idx].id;
    psfm_rotation_to_quat(R, image->cam_from_world_q);
    psfm_mat3_mul_vec(R, a->solution->poses.center[v], image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
    psfm_status status = psfm_strdup(ctx, view->name, &image->name);
    if (status == PSFM_OK && a->refined != NULL)
        status = add_keypoints(ctx, view, image);
    return status;
}

static psfm_status add_point(psfm_context *ctx, assembly *a, size_t p) {
    const psfm_structure *st = &a->refined->structure;
    size_t first = st->tracks.begin[p], last = st->tracks.begin[p + 1];
    psfm_model_point *point = &a->model->points[a->model->num_points++];
    point->id = a->model->num_points;
    memcpy(point->xyz, st->points[p], sizeof point->xyz);
    memset(point->rgb, 128, sizeof point->rgb);
    point->error = st->error_px[p];
    psfm_status status = PSFM_ALLOC(ctx, last - first, &point->track);
    for (size_t k = first; status == PSFM_OK && k < last; ++k) {
        const uint32_t v = st->tracks.view[k];
        const uint32_t keypoint = psfm_view_origin(&a->set->views[v], st->tracks.keypoint[k]);
        a->image[v]->point3D_ids[keypoint] = point->id;
        point->track[point->track_length++] = (psfm_track_element){a->image[v]->id, keypoint};
    }
    return status;
}

static psfm_status add_points(psfm_context *ctx, assembly *a) {
    const psfm_structure *st = &a->refined->structure;
    size_t num = 0;
    for (size_t p = 0; p < st->num_points; ++p)
        num += st->component[p] == a->component;
    psfm_status status = PSFM_ALLOC(ctx, num, &a->model->points);
    for (size_t p = 0; status == PSFM_OK && p < st->num_points; ++p)
        if (st->component[p] == a->component)
            status = add_point(ctx, a, p);
    return status;
}

/* Models are sorted by ids, whatever the order of the set. */
static psfm_status build_model(psfm_context *ctx, assembly *a) {
    const psfm_match_set *set = a->set;
    psfm_model *model = a->model;
    size_t num_images = 0;
    for (size_t v = 0; v < set->num_views; ++v)
        num_images += is_member(a, v);
    psfm_status status = add_cameras(ctx, a);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_images, &model->images);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &a->image);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        if (is_member(a, v))
            status = add_image(ctx, a, v);
    if (status == PSFM_OK && a->refined != NULL)
        status = add_points(ctx, a);
    if (status == PSFM_OK) {
        if (model->num_cameras > 0)
            qsort(model->cameras, model->num_cameras, sizeof *model->cameras, psfm_compare_u32);
        if (model->num_images > 0)
            qsort(model->images, model->num_images, sizeof *model->images, psfm_compare_u32);
    }
    free((void *)a->image);
    a->image = NULL;
    return status;
}

psfm_status psfm_build_models(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_pose_solution *solution, const psfm_refined *refined,
                              psfm_model **models, size_t *num_models) {
    psfm_model *built = NULL;
    uint32_t n = solution->num_components;
    psfm_status status = PSFM_ALLOC(ctx, n, &built);
    for (uint32_t c = 0; status == PSFM_OK && c < n; ++c) {
        assembly a = {set, solution, refined, c, &built[c], NULL};
        status = build_model(ctx, &a);
    }
    if (status != PSFM_OK) {
        for (uint32_t c = 0; built != NULL && c < n; ++c)
            psfm_model_free(&built[c]);
        free(built);
        return status;
    }
    *models = built;
    *num_models = n;
    return PSFM_OK;
}
