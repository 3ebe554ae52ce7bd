/* A model on its way from the files: growing arrays of records, and where each record stood, so
 * that a contradiction found later can still be pinned to a line or byte. */
#include <stdlib.h>

#include "base/alloc.h"
#include "io/colmap_model.h"

static psfm_status add_origin(psfm_context *ctx, psfm_model_origin *origin, uint64_t id,
                              size_t at) {
    psfm_status status =
        PSFM_RESERVE(ctx, &origin->records, &origin->capacity, origin->num_records + 1);
    if (status == PSFM_OK)
        origin->records[origin->num_records++] = (psfm_model_record){id, at};
    return status;
}

psfm_status psfm_model_add_camera(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                  size_t at, psfm_camera **camera) {
    psfm_model *model = &builder->model;
    psfm_status status = PSFM_RESERVE(ctx, &model->cameras, &builder->capacity[PSFM_MODEL_CAMERAS],
                                      model->num_cameras + 1);
    if (status == PSFM_OK)
        status = add_origin(ctx, &builder->origin[PSFM_MODEL_CAMERAS], id, at);
    if (status != PSFM_OK)
        return status;
    *camera = &model->cameras[model->num_cameras++];
    (*camera)->id = id;
    return PSFM_OK;
}

psfm_status psfm_model_add_image(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                 size_t at, psfm_model_image **image) {
    psfm_model *model = &builder->model;
    psfm_status status = PSFM_RESERVE(ctx, &model->images, &builder->capacity[PSFM_MODEL_IMAGES],
                                      model->num_images + 1);
    if (status == PSFM_OK)
        status = add_origin(ctx, &builder->origin[PSFM_MODEL_IMAGES], id, at);
    if (status != PSFM_OK)
        return status;
    *image = &model->images[model->num_images++];
    (*image)->id = id;
    return PSFM_OK;
}

psfm_status psfm_model_add_point(psfm_context *ctx, psfm_model_builder *builder, uint64_t id,
                                 size_t at, psfm_model_point **point) {
    psfm_model *model = &builder->model;
    psfm_status status = PSFM_RESERVE(ctx, &model->points, &builder->capacity[PSFM_MODEL_POINTS],
                                      model->num_points + 1);
    if (status == PSFM_OK)
        status = add_origin(ctx, &builder->origin[PSFM_MODEL_POINTS], id, at);
    if (status != PSFM_OK)
        return status;
    *point = &model->points[model->num_points++];
    (*point)->id = id;
    return PSFM_OK;
}

psfm_status psfm_model_image_alloc(psfm_context *ctx, psfm_model_image *image, size_t num) {
    psfm_status status = PSFM_ALLOC(ctx, num, &image->keypoints);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &image->point3D_ids);
    if (status == PSFM_OK)
        image->num_keypoints = num;
    return status;
}

psfm_status psfm_model_point_alloc(psfm_context *ctx, psfm_model_point *point, size_t num) {
    psfm_status status = PSFM_ALLOC(ctx, num, &point->track);
    if (status == PSFM_OK)
        point->track_length = num;
    return status;
}

static int compare_ids(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_records(const void *a, const void *b) {
    const psfm_model_record *left = a, *right = b;
    int order = compare_ids(left->id, right->id);
    return order != 0 ? order : compare_ids(left->at, right->at);
}

static int compare_cameras(const void *a, const void *b) {
    return compare_ids(((const psfm_camera *)a)->id, ((const psfm_camera *)b)->id);
}

static int compare_images(const void *a, const void *b) {
    return compare_ids(((const psfm_model_image *)a)->id, ((const psfm_model_image *)b)->id);
}

static int compare_points(const void *a, const void *b) {
    return compare_ids(((const psfm_model_point *)a)->id, ((const psfm_model_point *)b)->id);
}

static psfm_status sort_origin(psfm_context *ctx, psfm_model_origin *origin, const char *what) {
    psfm_model_record *records = origin->records;
    if (origin->num_records > 1)
        qsort(records, origin->num_records, sizeof *records, compare_records);
    for (size_t k = 1; k < origin->num_records; ++k)
        if (records[k].id == records[k - 1].id)
            return psfm_fail(ctx, PSFM_ERR_FORMAT,
                             "%s: %s %zu: %s id %llu was given before, at %s %zu", origin->path,
                             origin->unit, records[k].at, what, (unsigned long long)records[k].id,
                             origin->unit, records[k - 1].at);
    return PSFM_OK;
}

psfm_status psfm_model_sort(psfm_context *ctx, psfm_model_builder *builder) {
    static const char *const names[PSFM_NUM_MODEL_FILES] = {"camera", "image", "point"};
    for (int part = 0; part < PSFM_NUM_MODEL_FILES; ++part) {
        psfm_status status = sort_origin(ctx, &builder->origin[part], names[part]);
        if (status != PSFM_OK)
            return status;
    }
    /* The ids are distinct from here on, so they order the records fully. */
    psfm_model *model = &builder->model;
    if (model->num_cameras > 1)
        qsort(model->cameras, model->num_cameras, sizeof *model->cameras, compare_cameras);
    if (model->num_images > 1)
        qsort(model->images, model->num_images, sizeof *model->images, compare_images);
    if (model->num_points > 1)
        qsort(model->points, model->num_points, sizeof *model->points, compare_points);
    return PSFM_OK;
}
