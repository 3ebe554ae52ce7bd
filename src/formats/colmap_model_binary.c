/* COLMAP's binary model, little endian, no padding. Each file begins with the number of records:
 *   cameras.bin   u64 n, n x (u32 id, u32 model, u64 width, u64 height, f64 params...)
 *   images.bin    u64 n, n x (u32 id, f64 q[4], f64 t[3], u32 camera_id, name '\0',
 *                             u64 m, m x (f64 x, f64 y, u64 point3D_id))
 *   points3D.bin  u64 n, n x (u64 id, f64 xyz[3], u8 rgb[3], f64 error,
 *                             u64 m, m x (u32 image_id, u32 keypoint_idx))
 * A count is believed only if the rest of the file could hold so many records. */
#include <string.h>

#include "core/base/alloc.h"
#include "formats/colmap_model.h"
#include "formats/little_endian.h"

enum {
    MIN_CAMERA_BYTES = 4 + 4 + 8 + 8 + 2 * 8, /* of EQUIRECTANGULAR */
    MIN_IMAGE_BYTES = 4 + 7 * 8 + 4 + 2 + 8,  /* a name of one letter */
    KEYPOINT_BYTES = 8 + 8 + 8,
    MIN_POINT_BYTES = 8 + 3 * 8 + 3 + 8 + 8,
    TRACK_ELEMENT_BYTES = 4 + 4,
};

typedef struct {
    psfm_context *ctx;
    const psfm_model_file *file;
    size_t at;
} reader;

static size_t bytes_left(const reader *r) {
    return r->file->size - r->at;
}

/* Takes `num` bytes, or NULL with a message if the file is shorter. */
static const char *take_bytes(reader *r, size_t num, const char *what) {
    if (num > bytes_left(r)) {
        (void)!psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: byte %zu: the file ends within %s",
                         r->file->path, r->at, what);
        return NULL;
    }
    const char *bytes = r->file->bytes + r->at;
    r->at += num;
    return bytes;
}

static psfm_status take_count(reader *r, size_t min_bytes, const char *what, size_t *count) {
    size_t start = r->at;
    const char *bytes = take_bytes(r, 8, "a count");
    if (bytes == NULL)
        return PSFM_ERR_FORMAT;
    uint64_t value = psfm_get_u64(bytes);
    if (value > bytes_left(r) / min_bytes)
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                         "%s: byte %zu: %llu %s announced, but %zu bytes are left, room for %zu",
                         r->file->path, start, (unsigned long long)value, what, bytes_left(r),
                         bytes_left(r) / min_bytes);
    *count = (size_t)value;
    return PSFM_OK;
}

static void get_doubles(const char *bytes, size_t num, double *out) {
    for (size_t k = 0; k < num; ++k)
        out[k] = psfm_get_f64(bytes + 8 * k);
}

static psfm_status check_id(const reader *r, size_t at, const char *what, uint32_t id) {
    if (id != UINT32_MAX)
        return PSFM_OK;
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: byte %zu: %s id %u means \"none\"",
                     r->file->path, at, what, id);
}

static psfm_status parse_camera(reader *r, psfm_model_builder *builder) {
    size_t start = r->at;
    const char *bytes = take_bytes(r, 24, "a camera");
    if (bytes == NULL)
        return PSFM_ERR_FORMAT;
    uint32_t id = psfm_get_u32(bytes), model = psfm_get_u32(bytes + 4);
    psfm_status status = check_id(r, start, "camera", id);
    if (status != PSFM_OK)
        return status;
    if (model >= PSFM_NUM_CAMERA_MODELS)
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                         "%s: byte %zu: camera %u has model number %d, which is not known",
                         r->file->path, start, id, (int)model);
    psfm_camera *camera = NULL;
    status = psfm_model_add_camera(r->ctx, builder, id, start, &camera);
    if (status != PSFM_OK)
        return status;
    camera->model = (psfm_camera_model)model;
    camera->width = psfm_get_u64(bytes + 8);
    camera->height = psfm_get_u64(bytes + 16);
    size_t num = (size_t)psfm_camera_num_params(camera->model);
    const char *params = take_bytes(r, 8 * num, "the parameters of a camera");
    if (params == NULL)
        return PSFM_ERR_FORMAT;
    get_doubles(params, num, camera->params);
    return PSFM_OK;
}

static psfm_status take_name(reader *r, char **name) {
    const char *bytes = r->file->bytes + r->at;
    const char *end = memchr(bytes, '\0', bytes_left(r));
    if (end == NULL)
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: byte %zu: the file ends within a name",
                         r->file->path, r->at);
    r->at += (size_t)(end - bytes) + 1;
    return psfm_strdup(r->ctx, bytes, name);
}

static psfm_status parse_keypoints(reader *r, psfm_model_image *image) {
    size_t num = 0;
    psfm_status status = take_count(r, KEYPOINT_BYTES, "keypoints", &num);
    if (status == PSFM_OK)
        status = psfm_model_image_alloc(r->ctx, image, num);
    if (status != PSFM_OK)
        return status;
    const char *bytes = r->file->bytes + r->at; /* take_count saw that they are there */
    for (size_t k = 0; k < num; ++k, bytes += KEYPOINT_BYTES) {
        get_doubles(bytes, 2, image->keypoints[k]);
        image->point3D_ids[k] = psfm_get_u64(bytes + 16);
    }
    r->at += num * KEYPOINT_BYTES;
    return PSFM_OK;
}

static psfm_status parse_image(reader *r, psfm_model_builder *builder) {
    size_t start = r->at;
    const char *bytes = take_bytes(r, 4 + 7 * 8 + 4, "an image");
    if (bytes == NULL)
        return PSFM_ERR_FORMAT;
    uint32_t id = psfm_get_u32(bytes);
    psfm_model_image *image = NULL;
    psfm_status status = check_id(r, start, "image", id);
    if (status == PSFM_OK)
        status = psfm_model_add_image(r->ctx, builder, id, start, &image);
    if (status != PSFM_OK)
        return status;
    get_doubles(bytes + 4, 4, image->cam_from_world_q);
    get_doubles(bytes + 36, 3, image->cam_from_world_t);
    image->camera_id = psfm_get_u32(bytes + 60);
    status = take_name(r, &image->name);
    return status == PSFM_OK ? parse_keypoints(r, image) : status;
}

static psfm_status parse_track(reader *r, psfm_model_point *point) {
    size_t num = 0;
    psfm_status status = take_count(r, TRACK_ELEMENT_BYTES, "track elements", &num);
    if (status == PSFM_OK)
        status = psfm_model_point_alloc(r->ctx, point, num);
    if (status != PSFM_OK)
        return status;
    const char *bytes = r->file->bytes + r->at;
    for (size_t k = 0; k < num; ++k, bytes += TRACK_ELEMENT_BYTES)
        point->track[k] = (psfm_track_element){psfm_get_u32(bytes), psfm_get_u32(bytes + 4)};
    r->at += num * TRACK_ELEMENT_BYTES;
    return PSFM_OK;
}

static psfm_status parse_point(reader *r, psfm_model_builder *builder) {
    size_t start = r->at;
    const char *bytes = take_bytes(r, 8 + 3 * 8 + 3 + 8, "a point");
    if (bytes == NULL)
        return PSFM_ERR_FORMAT;
    psfm_model_point *point = NULL;
    psfm_status status = psfm_model_add_point(r->ctx, builder, psfm_get_u64(bytes), start, &point);
    if (status != PSFM_OK)
        return status;
    get_doubles(bytes + 8, 3, point->xyz);
    memcpy(point->rgb, bytes + 32, 3);
    point->error = psfm_get_f64(bytes + 35);
    return parse_track(r, point);
}

psfm_status psfm_model_parse_binary(psfm_context *ctx, const psfm_model_file *file,
                                    psfm_model_part part, psfm_model_builder *builder) {
    static psfm_status (*const parsers[PSFM_NUM_MODEL_FILES])(reader *, psfm_model_builder *) = {
        parse_camera, parse_image, parse_point};
    static const size_t min_bytes[PSFM_NUM_MODEL_FILES] = {MIN_CAMERA_BYTES, MIN_IMAGE_BYTES,
                                                           MIN_POINT_BYTES};
    static const char *const names[PSFM_NUM_MODEL_FILES] = {"cameras", "images", "points"};
    reader r = {.ctx = ctx, .file = file};
    size_t num = 0;
    psfm_status status = take_count(&r, min_bytes[part], names[part], &num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = parsers[part](&r, builder);
    if (status == PSFM_OK && bytes_left(&r) > 0)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT,
                           "%s: byte %zu: the file goes on after the last of its %zu %s",
                           file->path, r.at, num, names[part]);
    return status;
}

static void print_u32(uint32_t value, FILE *file) {
    char bytes[4];
    psfm_put_u32(value, bytes);
    fwrite(bytes, 1, sizeof bytes, file);
}

static void print_u64(uint64_t value, FILE *file) {
    char bytes[8];
    psfm_put_u64(value, bytes);
    fwrite(bytes, 1, sizeof bytes, file);
}

static void print_doubles(const double *values, size_t num, FILE *file) {
    for (size_t k = 0; k < num; ++k) {
        char bytes[8];
        psfm_put_f64(values[k], bytes);
        fwrite(bytes, 1, sizeof bytes, file);
    }
}

static void print_cameras(const psfm_model *model, FILE *file) {
    print_u64(model->num_cameras, file);
    for (size_t i = 0; i < model->num_cameras; ++i) {
        const psfm_camera *camera = &model->cameras[i];
        print_u32(camera->id, file);
        print_u32((uint32_t)camera->model, file);
        print_u64(camera->width, file);
        print_u64(camera->height, file);
        print_doubles(camera->params, (size_t)psfm_camera_num_params(camera->model), file);
    }
}

static void print_images(const psfm_model *model, FILE *file) {
    print_u64(model->num_images, file);
    for (size_t i = 0; i < model->num_images; ++i) {
        const psfm_model_image *image = &model->images[i];
        print_u32(image->id, file);
        print_doubles(image->cam_from_world_q, 4, file);
        print_doubles(image->cam_from_world_t, 3, file);
        print_u32(image->camera_id, file);
        fwrite(image->name, 1, strlen(image->name) + 1, file);
        print_u64(image->num_keypoints, file);
        for (size_t k = 0; k < image->num_keypoints; ++k) {
            print_doubles(image->keypoints[k], 2, file);
            print_u64(image->point3D_ids[k], file);
        }
    }
}

static void print_points(const psfm_model *model, FILE *file) {
    print_u64(model->num_points, file);
    for (size_t i = 0; i < model->num_points; ++i) {
        const psfm_model_point *point = &model->points[i];
        print_u64(point->id, file);
        print_doubles(point->xyz, 3, file);
        fwrite(point->rgb, 1, 3, file);
        print_doubles(&point->error, 1, file);
        print_u64(point->track_length, file);
        for (size_t k = 0; k < point->track_length; ++k) {
            print_u32(point->track[k].image_id, file);
            print_u32(point->track[k].keypoint_idx, file);
        }
    }
}

void psfm_model_print_binary(const psfm_model *model, psfm_model_part part, FILE *file) {
    if (part == PSFM_MODEL_CAMERAS)
        print_cameras(model, file);
    else if (part == PSFM_MODEL_IMAGES)
        print_images(model, file);
    else
        print_points(model, file);
}
