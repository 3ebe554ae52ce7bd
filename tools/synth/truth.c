/* The true model of a scene: camera, poses, and the points that are seen, with their tracks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "synth/observe.h"

psfm_status psfm_synth_image_name(psfm_context *ctx, size_t index, char **name) {
    char text[40];
    snprintf(text, sizeof text, "cam_%04zu.jpg", index + 1);
    return psfm_strdup(ctx, text, name);
}

/* Colours by plane, and one for points on none. */
static void paint_plane(int plane, uint8_t rgb[3]) {
    static const uint8_t colors[7][3] = {{205, 133, 63}, {230, 230, 220}, {70, 130, 180},
                                         {95, 158, 160}, {178, 34, 34},   {188, 143, 143},
                                         {128, 128, 128}};
    memcpy(rgb, colors[plane < 0 ? 6 : plane % 6], 3);
}

/* Numbers the points that are seen: new_index[k] is the index in the model, or PSFM_NO_INDEX, and
 * counts of observations go to length[k]. Returns how many are seen. */
static size_t number_points(const psfm_world *world, const psfm_synth_view *views, uint32_t *length,
                            uint32_t *new_index) {
    for (size_t i = 0; i < world->plan.num_cameras; ++i)
        for (size_t k = 0; k < views[i].num; ++k)
            ++length[views[i].points[k]];
    size_t num = 0;
    for (size_t k = 0; k < world->num_points; ++k)
        new_index[k] = length[k] > 0 ? (uint32_t)num++ : PSFM_NO_INDEX;
    return num;
}

static psfm_status make_points(psfm_context *ctx, const psfm_world *world, const uint32_t *length,
                               const uint32_t *new_index, psfm_model *model, int *point_plane) {
    for (size_t k = 0; k < world->num_points; ++k) {
        if (new_index[k] == PSFM_NO_INDEX)
            continue;
        psfm_model_point *point = &model->points[new_index[k]];
        point->id = (uint64_t)new_index[k] + 1;
        memcpy(point->xyz, world->points[k], sizeof point->xyz);
        paint_plane(world->plane[k], point->rgb);
        point_plane[new_index[k]] = world->plane[k];
        psfm_status status = PSFM_ALLOC(ctx, length[k], &point->track);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

/* Distance between a keypoint and the exact image of its point. */
static double reprojection_error(const psfm_world *world, size_t image, const double point[3],
                                 const double keypoint[2]) {
    const psfm_synth_pose *pose = &world->poses[image];
    const psfm_camera camera = psfm_plan_camera(&world->plan, image);
    double ray[3], xy[2] = {0};
    psfm_mat3_mul_vec(pose->R, point, ray);
    for (int k = 0; k < 3; ++k)
        ray[k] += pose->t[k];
    if (!psfm_camera_project(&camera, ray, xy))
        return 0.0; /* not seen, then */
    return hypot(xy[0] - keypoint[0], xy[1] - keypoint[1]);
}

/* Makes image `index` and appends its observations to the tracks. */
static psfm_status make_image(psfm_context *ctx, const psfm_world *world,
                              const psfm_synth_view *view, size_t index, const uint32_t *new_index,
                              psfm_model *model) {
    psfm_model_image *image = &model->images[index];
    const psfm_synth_pose *pose = &world->poses[index];
    psfm_status status = psfm_synth_image_name(ctx, index, &image->name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num, &image->keypoints);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num, &image->point3D_ids);
    if (status != PSFM_OK)
        return status;
    image->id = (uint32_t)index + 1;
    image->camera_id = psfm_plan_camera(&world->plan, index).id;
    memcpy(image->cam_from_world_q, pose->q, sizeof pose->q);
    memcpy(image->cam_from_world_t, pose->t, sizeof pose->t);
    image->num_keypoints = view->num;
    memcpy(image->keypoints, view->xy, view->num * sizeof *view->xy);
    for (size_t k = 0; k < view->num; ++k) {
        psfm_model_point *point = &model->points[new_index[view->points[k]]];
        uint32_t keypoint = view->keypoints[k];
        image->point3D_ids[keypoint] = point->id;
        point->track[point->track_length++] = (psfm_track_element){image->id, keypoint};
        point->error += reprojection_error(world, index, point->xyz, view->xy[keypoint]);
    }
    return PSFM_OK;
}

/* Allocates cameras, images and points of the model. */
static psfm_status allocate_model(psfm_context *ctx, const psfm_world *world, size_t num_points,
                                  psfm_model *model) {
    *model = (psfm_model){0};
    size_t num_cameras = psfm_plan_num_cameras(&world->plan);
    psfm_status status = PSFM_ALLOC(ctx, num_cameras, &model->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, world->plan.num_cameras, &model->images);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_points, &model->points);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num_cameras; ++k)
        model->cameras[k] = psfm_plan_camera(&world->plan, k);
    model->num_cameras = num_cameras;
    model->num_images = world->plan.num_cameras;
    model->num_points = num_points;
    return PSFM_OK;
}

psfm_status psfm_synth_truth(psfm_context *ctx, const psfm_world *world,
                             const psfm_synth_view *views, psfm_model *model, int **point_plane) {
    uint32_t *length = NULL, *new_index = NULL;
    psfm_status status = PSFM_ALLOC(ctx, world->num_points, &length);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, world->num_points, &new_index);
    if (status != PSFM_OK)
        goto cleanup;
    size_t num_points = number_points(world, views, length, new_index);
    status = PSFM_ALLOC(ctx, num_points, point_plane);
    if (status == PSFM_OK)
        status = allocate_model(ctx, world, num_points, model);
    if (status == PSFM_OK)
        status = make_points(ctx, world, length, new_index, model, *point_plane);
    for (size_t i = 0; i < world->plan.num_cameras && status == PSFM_OK; ++i)
        status = make_image(ctx, world, &views[i], i, new_index, model);
    for (size_t k = 0; k < num_points && status == PSFM_OK; ++k)
        model->points[k].error /= (double)model->points[k].track_length;
cleanup:
    free(length);
    free(new_index);
    return status;
}
