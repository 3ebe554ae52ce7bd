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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/base/parallel.h"
#include "core/base/print_number.h"
#include "core/base/text.h"
#include "formats/colmap_model.h"

typedef struct {
    psfm_context *ctx;
    const psfm_model_file *file;
    const char *next_line, *file_end;
    const char *at, *line_end; /* what is left of the current line, blanks trimmed at its end */
    size_t line;               /* number of the current line, from 1 */
    psfm_status status;        /* after a failure what is taken is nothing */
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

static void fail_line(reader *r, const char *what, const char *problem) {
    if (r->status == PSFM_OK)
        r->status = psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s %s", r->file->path,
                              r->line, what, problem);
}

static void fail_field(reader *r, const char *what, const char *field, size_t length,
                       const char *problem) {
    char text[96];
    int shown = length > 40 ? 40 : (int)length;
    snprintf(text, sizeof text, "'%.*s%s' %s", shown, field, length > 40 ? "..." : "", problem);
    if (r->status == PSFM_OK)
        r->status = psfm_fail(r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s: %s", r->file->path,
                              r->line, what, text);
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

/* Takes the next field, which must be there. */
static const char *need_field(reader *r, const char *what, size_t *length) {
    const char *field = take_field(r, length);
    if (*length == 0)
        fail_line(r, what, "is missing");
    return field;
}

static void take_doubles(reader *r, const char *what, size_t num, double *out) {
    for (size_t k = 0; r->status == PSFM_OK && k < num; ++k) {
        size_t length;
        const char *field = need_field(r, what, &length);
        char *end;
        out[k] = strtod(field, &end);
        if (end != field + length)
            fail_field(r, what, field, length, "is not a number");
        else if (!isfinite(out[k]))
            fail_field(r, what, field, length, "is not finite");
    }
}

static uint64_t take_uint(reader *r, const char *what, uint64_t max) {
    size_t length;
    const char *field = need_field(r, what, &length);
    uint64_t value = 0;
    for (size_t k = 0; r->status == PSFM_OK && k < length; ++k) {
        uint64_t digit = (uint64_t)(field[k] - '0');
        if (field[k] < '0' || field[k] > '9')
            fail_field(r, what, field, length, "is not a whole number");
        else if (value > (UINT64_MAX - digit) / 10 || value * 10 + digit > max)
            fail_field(r, what, field, length, "is too large");
        else
            value = value * 10 + digit;
    }
    return r->status == PSFM_OK ? value : 0;
}

/* 2^32 - 1 is COLMAP's "no id". */
static uint32_t take_id(reader *r, const char *what) {
    return (uint32_t)take_uint(r, what, UINT32_MAX - 1);
}

static psfm_camera_model take_camera_model(reader *r) {
    size_t length;
    char name[64];
    psfm_camera_model model = PSFM_CAMERA_SIMPLE_PINHOLE;
    const char *field = need_field(r, "camera model", &length);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, field);
    if (!psfm_camera_model_from_name(name, &model))
        fail_field(r, "camera model", field, length, "is not known");
    return model;
}

static void parse_camera(reader *r, psfm_model_builder *builder) {
    psfm_camera *camera = NULL;
    uint32_t id = take_id(r, "camera id");
    if (r->status == PSFM_OK)
        r->status = psfm_model_add_camera(r->ctx, builder, id, r->line, &camera);
    if (r->status != PSFM_OK)
        return;
    camera->model = take_camera_model(r);
    camera->width = take_uint(r, "width", UINT64_MAX);
    camera->height = take_uint(r, "height", UINT64_MAX);
    size_t num = (size_t)psfm_camera_num_params(camera->model), given = count_fields(*r);
    if (r->status == PSFM_OK && given != num)
        r->status = psfm_fail(
            r->ctx, PSFM_ERR_FORMAT, "%s: line %zu: camera %u has %zu parameters, %s takes %zu",
            r->file->path, r->line, id, given, psfm_camera_model_name(camera->model), num);
    take_doubles(r, "camera parameter", num, camera->params);
}

static void take_name(reader *r, char **name) {
    skip_blanks(r);
    size_t length = (size_t)(r->line_end - r->at);
    if (length == 0)
        fail_line(r, "image name", "is missing");
    if (r->status == PSFM_OK)
        r->status = PSFM_ALLOC(r->ctx, length + 1, name);
    if (r->status == PSFM_OK)
        memcpy(*name, r->at, length);
}

static uint64_t take_point_id(reader *r) {
    reader ahead = *r;
    size_t length;
    const char *field = take_field(&ahead, &length);
    if (length != 2 || memcmp(field, "-1", 2) != 0)
        return take_uint(r, "point id of a keypoint", PSFM_NO_POINT - 1);
    *r = ahead;
    return PSFM_NO_POINT;
}

static void parse_keypoints(reader *r, psfm_model_image *image) {
    size_t num = count_fields(*r);
    if (num % 3 != 0)
        r->status = psfm_fail(r->ctx, PSFM_ERR_FORMAT,
                              "%s: line %zu: expected the keypoints of image %u as X Y POINT3D_ID "
                              "(an empty line if there are none), found %zu fields",
                              r->file->path, r->line, image->id, num);
    else
        r->status = psfm_model_image_alloc(r->ctx, image, num / 3);
    for (size_t k = 0; r->status == PSFM_OK && k < image->num_keypoints; ++k) {
        take_doubles(r, "keypoint", 2, image->keypoints[k]);
        image->point3D_ids[k] = take_point_id(r);
    }
}

static void parse_image(reader *r, psfm_model_builder *builder) {
    psfm_model_image *image = NULL;
    uint32_t id = take_id(r, "image id");
    if (r->status == PSFM_OK)
        r->status = psfm_model_add_image(r->ctx, builder, id, r->line, &image);
    if (r->status != PSFM_OK)
        return;
    take_doubles(r, "quaternion", 4, image->cam_from_world_q);
    take_doubles(r, "translation", 3, image->cam_from_world_t);
    image->camera_id = take_id(r, "camera id");
    take_name(r, &image->name);
    if (r->status != PSFM_OK)
        return;
    if (next_line(r))
        parse_keypoints(r, image);
    else /* the last image may lack its empty line of keypoints */
        r->status = psfm_model_image_alloc(r->ctx, image, 0);
}

static void parse_track(reader *r, psfm_model_point *point) {
    size_t num = count_fields(*r);
    if (num % 2 != 0)
        fail_line(r, "track", "has an image id without a keypoint index");
    if (r->status == PSFM_OK)
        r->status = psfm_model_point_alloc(r->ctx, point, num / 2);
    for (size_t k = 0; r->status == PSFM_OK && k < point->track_length; ++k) {
        point->track[k].image_id = take_id(r, "image id in a track");
        point->track[k].keypoint_idx =
            (uint32_t)take_uint(r, "keypoint index in a track", UINT32_MAX);
    }
}

static void parse_point(reader *r, psfm_model_builder *builder) {
    psfm_model_point *point = NULL;
    uint64_t id = take_uint(r, "point id", PSFM_NO_POINT - 1);
    if (r->status == PSFM_OK)
        r->status = psfm_model_add_point(r->ctx, builder, id, r->line, &point);
    if (r->status != PSFM_OK)
        return;
    take_doubles(r, "point coordinate", 3, point->xyz);
    for (int k = 0; k < 3; ++k)
        point->rgb[k] = (uint8_t)take_uint(r, "colour", 255);
    take_doubles(r, "point error", 1, &point->error);
    parse_track(r, point);
}

psfm_status psfm_model_parse_text(psfm_context *ctx, const psfm_model_file *file,
                                  psfm_model_part part, psfm_model_builder *builder) {
    static void (*const parsers[PSFM_NUM_MODEL_FILES])(reader *, psfm_model_builder *) = {
        parse_camera, parse_image, parse_point};
    const char *zero = memchr(file->bytes, '\0', file->size);
    if (zero != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: byte %zu is zero: this is not a text file",
                         file->path, (size_t)(zero - file->bytes));
    reader r = {
        .ctx = ctx, .file = file, .next_line = file->bytes, .file_end = file->bytes + file->size};
    if (file->size >= 3 && memcmp(file->bytes, "\xEF\xBB\xBF", 3) == 0)
        r.next_line += 3;
    while (r.status == PSFM_OK && next_record(&r))
        parsers[part](&r, builder);
    return r.status;
}

/* COLMAP's text model, written; colmap_model_text.c has what is in it. Doubles are printed with 17
 * digits, enough to read back the same bits. Blocks of records are printed to memory side by side
 * and put into the file in order. */

static void put_double(double x, FILE *file) {
    char text[PSFM_NUMBER_CHARS];
    fwrite(text, 1, psfm_print_double(x, text), file);
}

static void put_count(uint64_t n, FILE *file) {
    char text[PSFM_NUMBER_CHARS];
    fwrite(text, 1, psfm_print_count(n, text), file);
}

/* Each after a space. */
static void put_doubles(const double *x, int num, FILE *file) {
    for (int k = 0; k < num; ++k) {
        fputc(' ', file);
        put_double(x[k], file);
    }
}

static void print_camera(const psfm_model *model, size_t index, FILE *file) {
    const psfm_camera *camera = &model->cameras[index];
    fprintf(file, "%" PRIu32 " %s %" PRIu64 " %" PRIu64, camera->id,
            psfm_camera_model_name(camera->model), camera->width, camera->height);
    put_doubles(camera->params, psfm_camera_num_params(camera->model), file);
    fputc('\n', file);
}

static void print_keypoints(const psfm_model_image *image, FILE *file) {
    for (size_t k = 0; k < image->num_keypoints; ++k) {
        if (k > 0)
            fputc(' ', file);
        put_double(image->keypoints[k][0], file);
        fputc(' ', file);
        put_double(image->keypoints[k][1], file);
        fputc(' ', file);
        if (image->point3D_ids[k] == PSFM_NO_POINT)
            fputs("-1", file);
        else
            put_count(image->point3D_ids[k], file);
    }
    fputc('\n', file);
}

static void print_image(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_image *image = &model->images[index];
    put_count(image->id, file);
    put_doubles(image->cam_from_world_q, 4, file);
    put_doubles(image->cam_from_world_t, 3, file);
    fprintf(file, " %" PRIu32 " %s\n", image->camera_id, image->name);
    print_keypoints(image, file);
}

static void print_point(const psfm_model *model, size_t index, FILE *file) {
    const psfm_model_point *point = &model->points[index];
    put_count(point->id, file);
    put_doubles(point->xyz, 3, file);
    fprintf(file, " %d %d %d", point->rgb[0], point->rgb[1], point->rgb[2]);
    put_doubles(&point->error, 1, file);
    for (size_t k = 0; k < point->track_length; ++k) {
        fputc(' ', file);
        put_count(point->track[k].image_id, file);
        fputc(' ', file);
        put_count(point->track[k].keypoint_idx, file);
    }
    fputc('\n', file);
}

static void print_head(const psfm_model *model, psfm_model_part part, FILE *file) {
    if (part == PSFM_MODEL_CAMERAS)
        fprintf(file, "# cameras: %zu, one per line\n# CAMERA_ID MODEL WIDTH HEIGHT PARAMS[]\n",
                model->num_cameras);
    else if (part == PSFM_MODEL_IMAGES)
        fprintf(file,
                "# images: %zu, two lines each; X_cam = R(Q) X_world + T\n"
                "# IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME\n"
                "# X Y POINT3D_ID of every keypoint; -1 for no point\n",
                model->num_images);
    else
        fprintf(file,
                "# points: %zu, one per line\n"
                "# POINT3D_ID X Y Z R G B ERROR TRACK[] as IMAGE_ID KEYPOINT_IDX\n",
                model->num_points);
}

enum { WAVE = 64 }; /* blocks in memory at a time */

/* Blocks of one file's records as text. */
typedef struct {
    const psfm_model *model;
    void (*print)(const psfm_model *model, size_t index, FILE *file);
    size_t num, block; /* records, and how many of them are worth a thread's while */
    size_t first;      /* record of the wave */
    char *text[WAVE];
    size_t size[WAVE];
} blocks;

static blocks blocks_of(const psfm_model *model, psfm_model_part part) {
    blocks b = {.model = model, .print = print_point, .num = model->num_points, .block = 1024};
    if (part == PSFM_MODEL_CAMERAS)
        b = (blocks){
            .model = model, .print = print_camera, .num = model->num_cameras, .block = 256};
    if (part == PSFM_MODEL_IMAGES)
        b = (blocks){.model = model, .print = print_image, .num = model->num_images, .block = 2};
    return b;
}

static psfm_status print_block(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    blocks *b = user;
    size_t begin = b->first + index * b->block, end = begin + b->block;
    FILE *file = open_memstream(&b->text[index], &b->size[index]);
    if (file == NULL)
        return psfm_fail_memory(ctx);
    locale_t locale = psfm_number_locale_begin();
    for (size_t k = begin; k < end && k < b->num; ++k)
        b->print(b->model, k, file);
    psfm_number_locale_end(locale);
    bool is_whole = !ferror(file);
    if (fclose(file) != 0 || !is_whole)
        return psfm_fail_memory(ctx);
    return PSFM_OK;
}

psfm_status psfm_model_print_text(psfm_context *ctx, const psfm_model *model, psfm_model_part part,
                                  FILE *file) {
    blocks b = blocks_of(model, part);
    psfm_status status = PSFM_OK;
    print_head(model, part, file);
    for (; status == PSFM_OK && b.first < b.num; b.first += WAVE * b.block) {
        size_t left = (b.num - b.first + b.block - 1) / b.block;
        size_t num = left < WAVE ? left : WAVE;
        status = psfm_parallel_for(ctx, NULL, num, print_block, &b);
        for (size_t k = 0; k < num; ++k) {
            if (status == PSFM_OK)
                fwrite(b.text[k], 1, b.size[k], file);
            free(b.text[k]);
            b.text[k] = NULL;
        }
    }
    return status;
}
