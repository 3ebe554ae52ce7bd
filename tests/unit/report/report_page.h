/* What the page's data say, decoded: trees of JSON with columns of numbers; and a model to print.
 */
#ifndef PSFM_TEST_REPORT_PAGE_H
#define PSFM_TEST_REPORT_PAGE_H

#include <cjson/cJSON.h>

#include "core/linalg/mat3.h"
#include "report/report_input.h"
#include "test_util.h"

/* A embedding_component of the data is printed between begin_part and end_part, which gives the
 * tree { "x": 0, ... }. */
typedef struct {
    char *text;
    size_t size;
    FILE *file;
} printed_part;

static inline FILE *begin_part(printed_part *embedding_component) {
    embedding_component->file =
        open_memstream(&embedding_component->text, &embedding_component->size);
    assert_non_null(embedding_component->file);
    fputs("{\"x\":0", embedding_component->file);
    return embedding_component->file;
}

static inline cJSON *end_part(printed_part *embedding_component) {
    fputc('}', embedding_component->file);
    assert_int_equal(fclose(embedding_component->file), 0);
    cJSON *tree = cJSON_Parse(embedding_component->text);
    if (tree == NULL)
        fail_msg("no JSON: %s", embedding_component->text);
    free(embedding_component->text);
    return tree;
}

static inline const cJSON *member(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item == NULL)
        fail_msg("no member %s", name);
    return item;
}

static inline double number_of(const cJSON *object, const char *name) {
    assert_true(cJSON_IsNumber(member(object, name)));
    return member(object, name)->valuedouble;
}

static inline const char *string_of(const cJSON *object, const char *name) {
    assert_true(cJSON_IsString(member(object, name)));
    return member(object, name)->valuestring;
}

/* The bytes behind a base64 text; free them. */
static inline uint8_t *decode_text(const char *text, size_t *size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    uint8_t *bytes = malloc(length + 1);
    uint32_t bits = 0;
    assert_true(bytes != NULL && length % 4 == 0);
    *size = 0;
    for (size_t k = 0; k < length && text[k] != '='; ++k) {
        const char *digit = strchr(digits, text[k]);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (k % 4 > 0)
            bytes[(*size)++] = (uint8_t)(bits >> (6 - 2 * (k % 4)));
    }
    return bytes;
}

typedef enum { COLUMN_U8, COLUMN_U16, COLUMN_I16, COLUMN_U32, COLUMN_F32 } column_type;

static inline double column_value(const uint8_t *at, column_type type) {
    uint32_t bits = at[0];
    float real;
    for (int k = 1; k < (type == COLUMN_U8 ? 1 : type < COLUMN_U32 ? 2 : 4); ++k)
        bits |= (uint32_t)at[k] << (8 * k);
    memcpy(&real, &bits, sizeof real);
    return type == COLUMN_F32   ? (double)real
           : type == COLUMN_I16 ? (double)(int16_t)bits
                                : (double)bits;
}

/* A column as the browser's typed array has it, in doubles; free it. */
static inline double *column_of(const cJSON *object, const char *name, column_type type,
                                size_t *num) {
    size_t size, step = type == COLUMN_U8 ? 1 : type < COLUMN_U32 ? 2 : 4;
    uint8_t *bytes = decode_text(string_of(object, name), &size);
    assert_int_equal(size % step, 0);
    *num = size / step;
    double *values = calloc(*num + 1, sizeof *values);
    assert_non_null(values);
    for (size_t k = 0; k < *num; ++k)
        values[k] = column_value(bytes + step * k, type);
    free(bytes);
    return values;
}

/* A column must have these values, each within a relative tolerance; NAN is NAN. */
static inline void assert_column(const cJSON *object, const char *name, column_type type,
                                 const double *expected, size_t num, double tolerance) {
    size_t found;
    double *values = column_of(object, name, type, &found);
    if (found != num)
        fail_msg("%s has %zu values, not %zu", name, found, num);
    for (size_t k = 0; k < num; ++k)
        if (!(fabs(values[k] - expected[k]) <= tolerance * fmax(fabs(expected[k]), 1.0)) &&
            !(isnan(values[k]) && isnan(expected[k])))
            fail_msg("%s[%zu] = %.9g, not %.9g", name, k, values[k], expected[k]);
    free(values);
}

/* Two images of a grid of points; the keypoints of the second are off by (0.25, 0.5) px. Image 0
 * of the graph has no pose, a is the third, b the second. */
enum { NUM = 100 };
typedef struct {
    psfm_model model;
    psfm_camera camera;
    psfm_model_image images[2];
    psfm_model_point points[NUM];
    double keypoints[2][NUM][2];
    uint64_t ids[2][NUM];
    psfm_track_element tracks[NUM][2];
    uint32_t views[2], *model_views;
    psfm_report_input input;
} fixture;

static inline void make_image(fixture *f, uint32_t i) {
    double R[9], ray[3];
    f->images[i] = (psfm_model_image){.id = i + 1,
                                      .camera_id = 1,
                                      .name = (char *)(i == 0 ? "a" : "b"),
                                      .cam_from_world_q = {0.9, 0.1, -0.2 * i, 0.05},
                                      .cam_from_world_t = {0.1 * i, 0.2, 5.0},
                                      .num_keypoints = NUM,
                                      .keypoints = f->keypoints[i],
                                      .point3D_ids = f->ids[i]};
    psfm_rotation_from_quat(f->images[i].cam_from_world_q, R);
    for (uint32_t k = 0; k < NUM; ++k) {
        psfm_mat3_mul_vec(R, f->points[k].xyz, ray);
        psfm_axpy3(ray, 1.0, f->images[i].cam_from_world_t, ray);
        assert_true(psfm_camera_project(&f->camera, ray, f->keypoints[i][k]));
        f->keypoints[i][k][0] -= 0.25 * i;
        f->keypoints[i][k][1] -= 0.5 * i;
        f->ids[i][k] = 10 + k;
        f->tracks[k][i] = (psfm_track_element){i + 1, k};
    }
}

static inline void make_fixture(fixture *f) {
    memset(f, 0, sizeof *f);
    f->camera = (psfm_camera){.id = 1,
                              .model = PSFM_CAMERA_PINHOLE,
                              .width = 640,
                              .height = 480,
                              .params = {500, 500, 320, 240}};
    f->model = (psfm_model){&f->camera, 1, f->images, 2, f->points, NUM};
    for (uint32_t k = 0; k < NUM; ++k)
        f->points[k] = (psfm_model_point){.id = 10 + k,
                                          .xyz = {0.1 * (k % 10), 0.1 * (k / 10), 0.0},
                                          .rgb = {(uint8_t)k, 7, (uint8_t)(255 - k)},
                                          .error = 0.125 * k - 1.0,
                                          .track_length = 2,
                                          .track = f->tracks[k]};
    make_image(f, 0);
    make_image(f, 1);
    f->ids[0][3] = PSFM_NO_POINT;
    f->views[0] = 2;
    f->views[1] = 1;
    f->model_views = f->views;
    f->input = (psfm_report_input){.graph = {.num_images = 3},
                                   .models = &f->model,
                                   .model_views = &f->model_views,
                                   .num_models = 1};
}

#endif
