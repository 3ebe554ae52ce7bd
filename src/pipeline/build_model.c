#include "pipeline/build_model.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/mat3.h"

/* Copies the cameras that some image of the component uses, in the order of their ids. */
static psfm_status add_cameras(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_pose_solution *solution, uint32_t component,
                               psfm_model *model) {
    bool *used = NULL;
    psfm_status status = psfm_alloc(ctx, set->num_cameras, sizeof *used, (void **)&used);
    if (status == PSFM_OK)
        status =
            psfm_alloc(ctx, set->num_cameras, sizeof *model->cameras, (void **)&model->cameras);
    for (uint32_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        if (solution->node_component[v] == component)
            used[set->views[v].camera_idx] = true;
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c)
        if (used[c])
            model->cameras[model->num_cameras++] = set->cameras[c];
    free(used);
    return status;
}

static psfm_status add_image(psfm_context *ctx, const psfm_match_set *set, uint32_t v,
                             const psfm_pose_solution *solution, psfm_model *model) {
    const psfm_view *view = &set->views[v];
    psfm_model_image *image = &model->images[model->num_images++];
    const double *R = solution->cam_from_world_R[v];
    image->id = view->id;
    image->camera_id = set->cameras[view->camera_idx].id;
    psfm_rotation_to_quat(R, image->cam_from_world_q);
    psfm_mat3_mul_vec(R, solution->center[v], image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
    return psfm_strdup(ctx, view->name, &image->name);
}

static psfm_status build(psfm_context *ctx, const psfm_match_set *set,
                         const psfm_pose_solution *solution, uint32_t component,
                         psfm_model *model) {
    psfm_status status = add_cameras(ctx, set, solution, component, model);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, solution->components[component].num_images, sizeof *model->images,
                            (void **)&model->images);
    for (uint32_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        if (solution->node_component[v] == component)
            status = add_image(ctx, set, v, solution, model);
    return status;
}

psfm_status psfm_build_models(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_pose_solution *solution, psfm_model **models,
                              size_t *num_models) {
    psfm_model *built = NULL;
    psfm_status status = psfm_alloc(ctx, solution->num_components, sizeof *built, (void **)&built);
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c)
        status = build(ctx, set, solution, c, &built[c]);
    if (status != PSFM_OK) {
        for (uint32_t c = 0; built != NULL && c < solution->num_components; ++c)
            psfm_model_free(&built[c]);
        free(built);
        return status;
    }
    *models = built;
    *num_models = solution->num_components;
    return PSFM_OK;
}
