/* COLMAP's text model. Fields are separated by blanks, lines that begin with '#' are comments:
 *   cameras.txt   CAMERA_ID MODEL WIDTH HEIGHT PARAMS...
 *   images.txt    IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME
 *                 X Y POINT3D_ID  X Y POINT3D_ID ...          (empty if there are no keypoints)
 *   points3D.txt  POINT3D_ID X Y Z R G B ERROR  IMAGE_ID KEYPOINT_IDX ...
 * The name is the rest of its line. COLMAP writes it so, too, but reads back the first word only.
 * Windows line ends, a byte order mark, tabs, repeated blanks and a missing last line end are
 * taken as they come. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/colmap_model.h"

typedef struct {
    psfm_context *ctx;
    const psfm_model_file *file;
    const char *next_line, *file_end;
    const char *at, *line_end; /* what is left of the current line, blanks trimmed at its end */
    size_t line;               /* number of the current line, from 1 */
} reader;

static void skip_blanks(reader *r) {
    while (r->at < r->line_end && psfm_is_blank(*r->at))
        ++r->at;
}

/* Goes to the next line; false at the end of the file. */
static bool next_line(reader *r) {
    if (r->next_line >= r->file_end)
        return false;
    size_t left = (size_t)(r->file_end - r->next_line);
    const char *end = memchr(r->next_line, '\n', left);
    r->at = r->next_line;
    r->line_end = end == NULL ? r->file_end : end;
    r->next_line = end == NULL ? r->file_end : end + 1;
    ++r->line;
    skip_blanks(r);
    while (r->line_end > r->at && psfm_is_blank(r->line_end[-1]))
        --r->line_end;
    return true;
}

/* Goes to the next line that is neither empty nor a comment. */
static bool next_record(reader *r) {
    while (next_line(r))
        if (r->at < r->line_end && *r->at != '#')
            return true;
    return false;
}

static psfm_status fail_line(const reader *r, const char *what, const char *problem) {
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s %s", r->file->path, r->line, what,
                     problem);
}

static psfm_status fail_field(const reader *r, const char *what, const char *field, size_t length,
                              const char *problem) {
    int shown = length > 40 ? 40 : (int)length;
    return psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s: '%.*s%s' %s", r->file->path,
                     r->line, what, shown, field, length > 40 ? "..." : "", problem);
}

/* Takes the next field; *length is 0 if there is none. */
static const char *take_field(reader *r, size_t *length) {
    skip_blanks(r);
    const char *field = r->at;
    while (r->at < r->line_end && !psfm_is_blank(*r->at))
        ++r->at;
    *length = (size_t)(r->at - field);
    return field;
}

static size_t count_fields(reader r) {
    size_t num = 0, length;
    while (take_field(&r, &length) != NULL && length > 0)
        ++num;
    return num;
}

static psfm_status take_double(reader *r, const char *what, double *out) {
    size_t length;
    const char *field = take_field(r, &length);
    if (length == 0)
        return fail_line(r, what, "is missing");
    char *end;
    *out = strtod(field, &end);
    if (end != field + length)
        return fail_field(r, what, field, length, "is not a number");
    if (!isfinite(*out))
        return fail_field(r, what, field, length, "is not finite");
    return PSFM_OK;
}

static psfm_status take_doubles(reader *r, const char *what, size_t num, double *out) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = take_double(r, what, &out[k]);
    return status;
}

static psfm_status take_uint(reader *r, const char *what, uint64_t max, uint64_t *out) {
    size_t length;
    const char *field = take_field(r, &length);
    if (length == 0)
        return fail_line(r, what, "is missing");
    uint64_t value = 0;
    for (size_t k = 0; k < length; ++k) {
        if (field[k] < '0' || field[k] > '9')
            return fail_field(r, what, field, length, "is not a whole number");
        uint64_t digit = (uint64_t)(field[k] - '0');
        if (value > (UINT64_MAX - digit) / 10 || value * 10 + digit > max)
            return fail_field(r, what, field, length, "is too large");
        value = value * 10 + digit;
    }
    *out = value;
    return PSFM_OK;
}

/* 2^32 - 1 is COLMAP's "no id". */
static psfm_status take_id(reader *r, const char *what, uint32_t *out) {
    uint64_t value = 0;
    psfm_status status = take_uint(r, what, UINT32_MAX - 1, &value);
    *out = (uint32_t)value;
    return status;
}

static psfm_status take_camera_model(reader *r, psfm_camera_model *model) {
    size_t length;
    char name[64];
    const char *field = take_field(r, &length);
    if (length == 0)
        return fail_line(r, "camera model", "is missing");
    if (length < sizeof name) {
        memcpy(name, field, length);
        name[length] = '\0';
        if (psfm_camera_model_from_name(name, model))
            return PSFM_OK;
    }
    return fail_field(r, "camera model", field, length, "is not known");
}

static psfm_status parse_camera(reader *r, psfm_model_builder *builder) {
    uint32_t id = 0;
    psfm_camera *camera = NULL;
    psfm_status status = take_id(r, "camera id", &id);
    if (status == PSFM_OK)
        status = psfm_model_add_camera(r->ctx, builder, id, r->line, &camera);
    if (status == PSFM_OK)
        status = take_camera_model(r, &camera->model);
    if (status == PSFM_OK)
        status = take_uint(r, "width", UINT64_MAX, &camera->width);
    if (status == PSFM_OK)
        status = take_uint(r, "height", UINT64_MAX, &camera->height);
    if (status != PSFM_OK)
        return status;
    size_t num = (size_t)psfm_camera_num_params(camera->model), given = count_fields(*r);
    if (given != num)
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                         "%s: line %zu: camera %u has %zu parameters, %s takes %zu", r->file->path,
                         r->line, id, given, psfm_camera_model_name(camera->model), num);
    return take_doubles(r, "camera parameter", num, camera->params);
}

static psfm_status take_name(reader *r, char **name) {
    skip_blanks(r);
    size_t length = (size_t)(r->line_end - r->at);
    if (length == 0)
        return fail_line(r, "image name", "is missing");
    psfm_status status = PSFM_ALLOC(r->ctx, length + 1, name);
    if (status == PSFM_OK)
        memcpy(*name, r->at, length);
    return status;
}

static psfm_status take_point_id(reader *r, uint64_t *id) {
    reader ahead = *r;
    size_t length;
    const char *field = take_field(&ahead, &length);
    if (length == 2 && memcmp(field, "-1", 2) == 0) {
        *r = ahead;
        *id = PSFM_NO_POINT;
        return PSFM_OK;
    }
    return take_uint(r, "point id of a keypoint", PSFM_NO_POINT - 1, id);
}

static psfm_status parse_keypoints(reader *r, psfm_model_image *image) {
    size_t num = count_fields(*r);
    if (num % 3 != 0)
        return psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                         "%s: line %zu: expected the keypoints of image %u as X Y POINT3D_ID (an "
                         "empty line if there are none), found %zu fields",
                         r->file->path, r->line, image->id, num);
    psfm_status status = psfm_model_image_alloc(r->ctx, image, num / 3);
    for (size_t k = 0; status == PSFM_OK && k < image->num_keypoints; ++k) {
        status = take_doubles(r, "keypoint", 2, image->keypoints[k]);
        if (status == PSFM_OK)
            status = take_point_id(r, &image->point3D_ids[k]);
    }
    return status;
}

static psfm_status parse_image(reader *r, psfm_model_builder *builder) {
    uint32_t id = 0;
    psfm_model_image *image = NULL;
    psfm_status status = take_id(r, "image id", &id);
    if (status == PSFM_OK)
        status = psfm_model_add_image(r->ctx, builder, id, r->line, &image);
    if (status == PSFM_OK)
        status = take_doubles(r, "quaternion", 4, image->cam_from_world_q);
    if (status == PSFM_OK)
        status = take_doubles(r, "translation", 3, image->cam_from_world_t);
    if (status == PSFM_OK)
        status = take_id(r, "camera id", &image->camera_id);
    if (status == PSFM_OK)
        status = take_name(r, &image->name);
    if (status != PSFM_OK)
        return status;
    if (!next_line(r)) /* the last image may lack its empty line of keypoints */
        return psfm_model_image_alloc(r->ctx, image, 0);
    return parse_keypoints(r, image);
}

static psfm_status parse_track(reader *r, psfm_model_point *point) {
    size_t num = count_fields(*r);
    if (num % 2 != 0)
        return fail_line(r, "track", "has an image id without a keypoint index");
    psfm_status status = psfm_model_point_alloc(r->ctx, point, num / 2);
    for (size_t k = 0; status == PSFM_OK && k < point->track_length; ++k) {
        uint64_t keypoint_idx = 0;
        status = take_id(r, "image id in a track", &point->track[k].image_id);
        if (status == PSFM_OK)
            status = take_uint(r, "keypoint index in a track", UINT32_MAX, &keypoint_idx);
        point->track[k].keypoint_idx = (uint32_t)keypoint_idx;
    }
    return status;
}

static psfm_status parse_point(reader *r, psfm_model_builder *builder) {
    uint64_t id = 0;
    psfm_model_point *point = NULL;
    psfm_status status = take_uint(r, "point id", PSFM_NO_POINT - 1, &id);
    if (status == PSFM_OK)
        status = psfm_model_add_point(r->ctx, builder, id, r->line, &point);
    if (status == PSFM_OK)
        status = take_doubles(r, "point coordinate", 3, point->xyz);
    for (int k = 0; status == PSFM_OK && k < 3; ++k) {
        uint64_t value = 0;
        status = take_uint(r, "colour", 255, &value);
        point->rgb[k] = (uint8_t)value;
    }
    if (status == PSFM_OK)
        status = take_double(r, "point error", &point->error);
    if (status == PSFM_OK)
        status = parse_track(r, point);
    return status;
}

psfm_status psfm_model_parse_text(psfm_context *ctx, const psfm_model_file *file,
                                  psfm_model_part part, psfm_model_builder *builder) {
    static psfm_status (*const parsers[PSFM_NUM_MODEL_FILES])(reader *, psfm_model_builder *) = {
        parse_camera, parse_image, parse_point};
    const char *zero = memchr(file->bytes, '\0', file->size);
    if (zero != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: byte %zu is zero: this is not a text file",
                         file->path, (size_t)(zero - file->bytes));
    reader r = {
        .ctx = ctx, .file = file, .next_line = file->bytes, .file_end = file->bytes + file->size};
    if (file->size >= 3 && memcmp(file->bytes, "\xEF\xBB\xBF", 3) == 0)
        r.next_line += 3;
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && next_record(&r))
        status = parsers[part](&r, builder);
    return status;
}
