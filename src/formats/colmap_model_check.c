/* What must hold in a model, whoever made it:
 *   - cameras pass psfm_camera_check, all coordinates are finite, quaternions have a direction;
 *   - every image names a camera, every keypoint that sees a point names one that exists;
 *   - every track element names a keypoint that exists and that names the point in turn, once.
 * A keypoint may name a point whose track leaves it out: some exporters write no tracks. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "formats/colmap_model.h"

typedef struct {
    psfm_context *ctx;
    const psfm_model *model;
    const psfm_model_origin *origin; /* NULL: the model does not come from files */
    psfm_status status;              /* to fail with */
    char where[PSFM_MESSAGE_SIZE];   /* "images.txt: line 7: ", or "" */
    size_t *first_keypoint;          /* per image: its first entry in in_track; owned */
    bool *in_track;                  /* per keypoint of all images: a track names it; owned */
} checker;

/* Points `where` at a record, for the message to come. */
static const char *locate_record(checker *check, psfm_model_part part, uint64_t id) {
    check->where[0] = '\0';
    if (check->origin == NULL)
        return check->where;
    const psfm_model_origin *origin = &check->origin[part];
    size_t k = psfm_lower_bound(&id, origin->records, origin->num_records, sizeof *origin->records,
                                psfm_compare_u64);
    if (k < origin->num_records)
        snprintf(check->where, sizeof check->where, "%s: %s %zu: ", origin->path, origin->unit,
                 origin->records[k].at);
    return check->where;
}

static psfm_status check_camera(checker *check, size_t idx) {
    const psfm_camera *camera = &check->model->cameras[idx];
    if (idx > 0 && camera->id <= camera[-1].id)
        return psfm_fail(check->ctx, check->status, "cameras are not sorted by id at camera %u",
                         camera->id);
    if (psfm_camera_check(check->ctx, camera) == PSFM_OK)
        return PSFM_OK;
    char reason[PSFM_MESSAGE_SIZE];
    snprintf(reason, sizeof reason, "%s", psfm_context_message(check->ctx));
    return psfm_fail(check->ctx, check->status, "%s%s",
                     locate_record(check, PSFM_MODEL_CAMERAS, camera->id), reason);
}

static psfm_status fail_image(checker *check, const psfm_model_image *image, const char *reason) {
    return psfm_fail(check->ctx, check->status, "%simage %u (%.200s): %s",
                     locate_record(check, PSFM_MODEL_IMAGES, image->id), image->id,
                     image->name == NULL ? "" : image->name, reason);
}

static bool point_exists(const psfm_model *model, uint64_t id) {
    return psfm_find(&id, model->points, model->num_points, sizeof *model->points,
                     psfm_compare_u64) != NULL;
}

static psfm_status check_keypoints(checker *check, const psfm_model_image *image) {
    char reason[128];
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        if (!psfm_all_finite(image->keypoints[k], 2)) {
            snprintf(reason, sizeof reason, "keypoint %zu is not finite", k);
            return fail_image(check, image, reason);
        }
        uint64_t id = image->point3D_ids[k];
        if (id != PSFM_NO_POINT && !point_exists(check->model, id)) {
            snprintf(reason, sizeof reason, "keypoint %zu sees point %llu, which does not exist", k,
                     (unsigned long long)id);
            return fail_image(check, image, reason);
        }
    }
    return PSFM_OK;
}

static psfm_status check_image(checker *check, size_t idx) {
    const psfm_model_image *image = &check->model->images[idx];
    if (idx > 0 && image->id <= image[-1].id)
        return psfm_fail(check->ctx, check->status, "images are not sorted by id at image %u",
                         image->id);
    if (image->name == NULL || image->name[0] == '\0')
        return fail_image(check, image, "has no name");
    if (psfm_model_camera(check->model, image->camera_id) == NULL) {
        char reason[64];
        snprintf(reason, sizeof reason, "its camera %u does not exist", image->camera_id);
        return fail_image(check, image, reason);
    }
    const double *q = image->cam_from_world_q;
    double norm2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!psfm_all_finite(q, 4) || !psfm_all_finite(image->cam_from_world_t, 3))
        return fail_image(check, image, "its pose is not finite");
    if (!(norm2 >= DBL_MIN && norm2 <= DBL_MAX))
        return fail_image(check, image, "its quaternion has no direction (zero or huge norm)");
    return check_keypoints(check, image);
}

/* Marks the keypoint that a track element names; the reason it cannot be, or NULL. */
static const char *mark_keypoint(checker *check, uint64_t point_id, psfm_track_element element) {
    const psfm_model *model = check->model;
    const psfm_model_image *image = psfm_model_image_by_id(model, element.image_id);
    if (image == NULL)
        return "which does not exist";
    if (element.keypoint_idx >= image->num_keypoints)
        return "which has fewer keypoints";
    if (image->point3D_ids[element.keypoint_idx] != point_id)
        return "but that keypoint does not see this point";
    size_t first = check->first_keypoint[image - model->images];
    if (check->in_track[first + element.keypoint_idx])
        return "which the track has named before";
    check->in_track[first + element.keypoint_idx] = true;
    return NULL;
}

static psfm_status check_point(checker *check, size_t idx) {
    const psfm_model_point *point = &check->model->points[idx];
    unsigned long long id = point->id;
    if (idx > 0 && point->id <= point[-1].id)
        return psfm_fail(check->ctx, check->status, "points are not sorted by id at point %llu",
                         id);
    if (point->id == PSFM_NO_POINT)
        return psfm_fail(check->ctx, check->status, "%spoint id %llu means \"no point\"",
                         locate_record(check, PSFM_MODEL_POINTS, id), id);
    if (!psfm_all_finite(point->xyz, 3) || !isfinite(point->error))
        return psfm_fail(check->ctx, check->status,
                         "%spoint %llu: its coordinates or error are "
                         "not finite",
                         locate_record(check, PSFM_MODEL_POINTS, id), id);
    for (size_t k = 0; k < point->track_length; ++k) {
        const char *reason = mark_keypoint(check, point->id, point->track[k]);
        if (reason != NULL)
            return psfm_fail(check->ctx, check->status,
                             "%spoint %llu: its track names keypoint %u of image %u, %s",
                             locate_record(check, PSFM_MODEL_POINTS, id), id,
                             point->track[k].keypoint_idx, point->track[k].image_id, reason);
    }
    return PSFM_OK;
}

static psfm_status alloc_marks(checker *check) {
    const psfm_model *model = check->model;
    psfm_status status = PSFM_ALLOC(check->ctx, model->num_images, &check->first_keypoint);
    if (status != PSFM_OK)
        return status;
    size_t total = 0;
    for (size_t i = 0; i < model->num_images; ++i) {
        check->first_keypoint[i] = total;
        total += model->images[i].num_keypoints;
    }
    return PSFM_ALLOC(check->ctx, total, &check->in_track);
}

psfm_status psfm_model_check(psfm_context *ctx, const psfm_model *model,
                             const psfm_model_origin *origin, psfm_status status) {
    checker check = {.ctx = ctx, .model = model, .origin = origin, .status = status};
    psfm_status result = PSFM_OK;
    for (size_t k = 0; result == PSFM_OK && k < model->num_cameras; ++k)
        result = check_camera(&check, k);
    for (size_t k = 0; result == PSFM_OK && k < model->num_images; ++k)
        result = check_image(&check, k);
    if (result == PSFM_OK)
        result = alloc_marks(&check);
    for (size_t k = 0; result == PSFM_OK && k < model->num_points; ++k)
        result = check_point(&check, k);
    free(check.first_keypoint);
    free(check.in_track);
    return result;
}

/* ---- a model on its way ---- */

/* Makes room for one more element of an array, whose address is given, and notes where it stood. */
static psfm_status add_record(psfm_context *ctx, psfm_model_builder *builder, psfm_model_part part,
                              void *array, size_t num, size_t size, psfm_model_record record) {
    psfm_model_origin *origin = &builder->origin[part];
    psfm_status status = psfm_reserve(ctx, array, &builder->capacity[part], num + 1, size);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &origin->records, &origin->capacity, origin->num_records + 1);
    if (status == PSFM_OK)
        origin->records[origin->num_records++] = record;
    return status;
}

psfm_status psfm_model_add_camera(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                  size_t at, psfm_camera **camera) {
    psfm_model *model = &builder->model;
    psfm_status status =
        add_record(ctx, builder, PSFM_MODEL_CAMERAS, &model->cameras, model->num_cameras,
                   sizeof *model->cameras, (psfm_model_record){id, at});
    if (status != PSFM_OK)
        return status;
    *camera = &model->cameras[model->num_cameras++];
    (*camera)->id = id;
    return PSFM_OK;
}

psfm_status psfm_model_add_image(psfm_context *ctx, psfm_model_builder *builder, uint32_t id,
                                 size_t at, psfm_model_image **image) {
    psfm_model *model = &builder->model;
    psfm_status status =
        add_record(ctx, builder, PSFM_MODEL_IMAGES, &model->images, model->num_images,
                   sizeof *model->images, (psfm_model_record){id, at});
    if (status != PSFM_OK)
        return status;
    *image = &model->images[model->num_images++];
    (*image)->id = id;
    return PSFM_OK;
}

psfm_status psfm_model_add_point(psfm_context *ctx, psfm_model_builder *builder, uint64_t id,
                                 size_t at, psfm_model_point **point) {
    psfm_model *model = &builder->model;
    psfm_status status =
        add_record(ctx, builder, PSFM_MODEL_POINTS, &model->points, model->num_points,
                   sizeof *model->points, (psfm_model_record){id, at});
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

static int compare_records(const void *a, const void *b) {
    const psfm_model_record *left = a, *right = b;
    int order = psfm_compare_u64(left, right);
    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
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
        qsort(model->cameras, model->num_cameras, sizeof *model->cameras, psfm_compare_u32);
    if (model->num_images > 1)
        qsort(model->images, model->num_images, sizeof *model->images, psfm_compare_u32);
    if (model->num_points > 1)
        qsort(model->points, model->num_points, sizeof *model->points, psfm_compare_u64);
    return PSFM_OK;
}
