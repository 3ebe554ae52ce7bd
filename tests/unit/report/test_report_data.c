#include <cjson/cJSON.h>

#include "linalg/mat3.h"
#include "report/report_data.h"
#include "test_util.h"

static psfm_context *ctx;

/* What was printed, as the tree { "x": 0, ... }. */
static cJSON *printed(FILE *file, char **text) {
    fputc('}', file);
    assert_int_equal(fclose(file), 0);
    cJSON *tree = cJSON_Parse(*text);
    assert_non_null(tree);
    free(*text);
    return tree;
}

static FILE *begin(char **text, size_t *size) {
    FILE *file = open_memstream(text, size);
    assert_non_null(file);
    fputs("{\"x\":0", file);
    return file;
}

static const cJSON *get(const cJSON *tree, const char *object, const char *name) {
    return cJSON_GetObjectItem(cJSON_GetObjectItem(tree, object), name);
}

/* The bytes behind a column; free them. */
static uint8_t *column(const cJSON *tree, const char *object, const char *name, size_t *size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = cJSON_GetStringValue(get(tree, object, name));
    assert_non_null(text);
    size_t length = strlen(text);
    uint8_t *bytes = malloc(length + 1);
    uint32_t bits = 0;
    *size = 0;
    for (size_t k = 0; k < length && text[k] != '='; ++k) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text[k]) - digits);
        if (k % 4 > 0)
            bytes[(*size)++] = (uint8_t)(bits >> (6 - 2 * (k % 4)));
    }
    return bytes;
}

/* Pairs 0 .. num - 1: the first is the tree's, the next two kept, then pruned ones, then others. */
static psfm_status print_chain(size_t num, size_t max_pairs, cJSON **tree) {
    psfm_graph_pair pairs[20] = {0};
    psfm_graph_file graph = {.pairs = pairs, .num_pairs = num};
    for (uint32_t p = 0; p < num; ++p)
        pairs[p] = (psfm_graph_pair){
            .image1 = p, .image2 = p + 1, .is_edge = p < 8, .in_tree = p == 0, .kept = p < 3};
    char *text = NULL;
    size_t size = 0;
    FILE *file = begin(&text, &size);
    psfm_status status = psfm_report_print_pairs(ctx, &graph, max_pairs, file);
    *tree = printed(file, &text);
    return status;
}

static void the_pairs_that_matter_come_first(void **state) {
    (void)state;
    static const struct {
        size_t most, num;
        uint8_t first[8];
    } cases[] = {
        {100, 12, {0, 1, 2, 3, 4, 5, 6, 7}},
        {3, 3, {0, 1, 2}},
        {2, 2, {0, 2}},
        {1, 1, {0}},
        {5, 5, {0, 1, 2, 5, 7}},
        {0, 0, {0}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        cJSON *tree;
        size_t size;
        assert_ok(ctx, print_chain(12, cases[c].most, &tree));
        assert_int_equal(get(tree, "pairs", "total")->valueint, 12);
        uint8_t *image1 = column(tree, "pairs", "image1", &size);
        assert_int_equal(size, 4 * cases[c].num);
        for (size_t k = 0; k < cases[c].num && k < 8; ++k)
            assert_int_equal(image1[4 * k], cases[c].first[k]);
        free(image1);
        cJSON_Delete(tree);
    }
}

/* Two images of a grid of points; the keypoints of the second are off by (0.25, 0.5) px. */
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

static void make_model(fixture *f) {
    memset(f, 0, sizeof *f);
    f->camera = (psfm_camera){.id = 1,
                              .model = PSFM_CAMERA_PINHOLE,
                              .width = 640,
                              .height = 480,
                              .params = {500, 500, 320, 240}};
    f->model = (psfm_model){&f->camera, 1, f->images, 2, f->points, NUM};
    for (uint32_t i = 0; i < 2; ++i) {
        f->images[i] = (psfm_model_image){.id = i + 1,
                                          .camera_id = 1,
                                          .name = (char *)(i == 0 ? "a" : "b"),
                                          .cam_from_world_q = {0.9, 0.1, -0.2 * i, 0.05},
                                          .cam_from_world_t = {0.1 * i, 0.2, 5.0},
                                          .num_keypoints = NUM,
                                          .keypoints = f->keypoints[i],
                                          .point3D_ids = f->ids[i]};
        double R[9], ray[3];
        psfm_rotation_from_quat(f->images[i].cam_from_world_q, R);
        for (uint32_t k = 0; k < NUM; ++k) {
            const double X[3] = {0.1 * (k % 10), 0.1 * (k / 10), 0.0};
            psfm_mat3_mul_vec(R, X, ray);
            for (int d = 0; d < 3; ++d)
                ray[d] += f->images[i].cam_from_world_t[d];
            assert_true(psfm_camera_project(&f->camera, ray, f->keypoints[i][k]));
            f->keypoints[i][k][0] -= 0.25 * i;
            f->keypoints[i][k][1] -= 0.5 * i;
            f->ids[i][k] = 10 + k;
            f->tracks[k][i] = (psfm_track_element){i + 1, k};
            f->points[k] = (psfm_model_point){
                .id = 10 + k, .xyz = {X[0], X[1], X[2]}, .track_length = 2, .track = f->tracks[k]};
        }
    }
    f->ids[0][3] = PSFM_NO_POINT;
    f->views[0] = 2; /* image 0 of the graph has no pose, a is the third, b the second */
    f->views[1] = 1;
    f->model_views = f->views;
    f->input = (psfm_report_input){.graph = {.num_images = 3},
                                   .models = &f->model,
                                   .model_views = &f->model_views,
                                   .num_models = 1};
}

static void residuals_are_those_of_the_model(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    char *text = NULL;
    size_t size = 0;
    FILE *file = begin(&text, &size);
    assert_ok(ctx, psfm_report_print_residuals(ctx, &f.input, 1000000, file));
    cJSON *tree = printed(file, &text);
    assert_int_equal(get(tree, "residuals", "observations")->valueint, 2 * NUM - 1);
    assert_int_equal(get(tree, "residuals", "above")->valueint, 0);
    assert_int_equal(cJSON_GetArrayItem(get(tree, "residuals", "lengths"), 2)->valueint, NUM);
    /* 99 exact ones in the first bin, 100 of 0.559 px */
    const cJSON *bins = get(tree, "residuals", "bins");
    double limit = get(tree, "residuals", "limit")->valuedouble;
    int bin = (int)(hypot(0.25, 0.5) / limit * cJSON_GetArraySize(bins));
    assert_int_equal(cJSON_GetArrayItem(bins, 0)->valueint, NUM - 1);
    assert_int_equal(cJSON_GetArrayItem(bins, bin)->valueint, NUM);
    uint8_t *first = column(tree, "residuals", "first", &size);
    assert_int_equal(size, 16);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[4], 0);
    assert_int_equal(first[8], NUM); /* b has all, as they fit */
    assert_int_equal(first[12], 2 * NUM - 1);
    uint8_t *samples = column(tree, "residuals", "samples", &size);
    int unit = get(tree, "residuals", "unit")->valueint;
    assert_int_equal(samples[4] | samples[5] << 8, unit / 4);
    assert_int_equal(samples[6] | samples[7] << 8, unit / 2);
    free(first);
    free(samples);
    cJSON_Delete(tree);
}

/* a has no residuals, b (-0.25, -0.5) off everywhere: a cell has the mean of those that fell into
 * it. */
static void fields_are_means_over_the_sensor(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    char *text = NULL;
    size_t size = 0;
    double num = 0.0, sum[2] = {0};
    FILE *file = begin(&text, &size);
    assert_ok(ctx, psfm_report_print_residuals(ctx, &f.input, 1000000, file));
    cJSON *tree = printed(file, &text);
    assert_close(get(tree, "residuals", "mean")->valuedouble,
                 hypot(0.25, 0.5) * NUM / (2 * NUM - 1), 1e-6);
    cJSON *fields = cJSON_DetachItemFromObject(cJSON_GetObjectItem(tree, "residuals"), "fields");
    assert_int_equal(cJSON_GetArraySize(fields), 1);
    cJSON_AddItemToObject(tree, "field", cJSON_DetachItemFromArray(fields, 0));
    assert_int_equal(get(tree, "field", "images")->valueint, 2);
    uint8_t *mean = column(tree, "field", "mean", &size);
    assert_int_equal(size, 12 * 16 * 3 * sizeof(float));
    for (size_t k = 0; k < size / 12; ++k) {
        float cell[3];
        memcpy(cell, mean + 12 * k, sizeof cell);
        num += (double)cell[0];
        for (int d = 0; d < 2; ++d)
            sum[d] += (double)cell[0] * (double)cell[1 + d];
    }
    assert_close(num, 2 * NUM - 1, 0.0);
    assert_close(sum[0], 0.25 * NUM, 1e-3);
    assert_close(sum[1], 0.5 * NUM, 1e-3);
    free(mean);
    cJSON_Delete(fields);
    cJSON_Delete(tree);
}

/* A lens that bends has a grid of rays, a pinhole none. */
static void bent_photographs_have_their_rays(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    for (int round = 0; round < 2; ++round) {
        char *text = NULL;
        size_t size = 0;
        if (round == 1) {
            const double bent[4] = {500, 320, 240, -0.1};
            f.camera.model = PSFM_CAMERA_SIMPLE_RADIAL;
            memcpy(f.camera.params, bent, sizeof bent);
        }
        FILE *file = begin(&text, &size);
        assert_ok(ctx, psfm_report_print_models(ctx, &f.input, 10, file));
        cJSON *tree = printed(file, &text);
        const cJSON *model = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "models"), 0);
        const cJSON *rays = cJSON_GetObjectItem(model, "rays");
        int side = cJSON_GetObjectItem(rays, "side")->valueint;
        cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(rays, "xy"), 0);
        size_t length = strlen(cJSON_GetStringValue(first));
        assert_int_equal(length, round == 0 ? 0 : (side * side * 8 + 2) / 3 * 4);
        cJSON_Delete(tree);
    }
}

static void points_are_thinned_evenly(void **state) {
    (void)state;
    fixture f;
    make_model(&f);
    for (int round = 0; round < 2; ++round) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = begin(&text, &size);
        assert_ok(ctx, psfm_report_print_models(ctx, &f.input, round == 0 ? 10 : 1000, file));
        cJSON *tree = printed(file, &text);
        cJSON *model = cJSON_DetachItemFromArray(cJSON_GetObjectItem(tree, "models"), 0);
        cJSON_AddItemToObject(tree, "model", model);
        assert_int_equal(get(tree, "model", "points")->valueint, NUM);
        uint8_t *xyz = column(tree, "model", "xyz", &size);
        assert_int_equal(size, 12 * (round == 0 ? 10 : NUM));
        float y;
        memcpy(&y, xyz + (round == 0 ? 12 * 4 + 4 : 12 * 40 + 4), sizeof y);
        assert_close((double)y, 0.4, 1e-6);
        uint8_t *corners = column(tree, "model", "corners", &size);
        assert_int_equal(size, 2 * 8 * sizeof(float));
        float x;
        memcpy(&x, corners, sizeof x);
        assert_close((double)x, -320.0 / 500.0, 1e-6);
        free(xyz);
        free(corners);
        cJSON_Delete(tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pairs_that_matter_come_first),
        cmocka_unit_test(residuals_are_those_of_the_model),
        cmocka_unit_test(fields_are_means_over_the_sensor),
        cmocka_unit_test(bent_photographs_have_their_rays),
        cmocka_unit_test(points_are_thinned_evenly),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
