/* The networks on photographs, against what PyTorch computed with the same weights. Needs the test
 * data; skipped when PLANARSFM_TEST_DATA does not name their folder. */
#include "nn_util.h"

#include <cjson/cJSON.h>

#include "core/base/path.h"
#include "images/feature/detector.h"
#include "images/match/lightglue.h"
#include "images/match/superglue.h"

#define TOLERANCE 1e-4

typedef struct {
    uint8_t *pixels;
    psfm_gray_view view;
} photo;

/* One pair of the manifest. */
typedef struct {
    psfm_context *ctx;
    const char *folder;
    const cJSON *json;
    char *bytes; /* of its .bin file */
    size_t size;
    photo photos[2];
    psfm_keypoint_set reference[2]; /* keypoints in our convention */
} pair_data;

static char *read_all(psfm_context *ctx, const char *folder, const char *name, size_t *size) {
    char path[2200], *bytes;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(ctx, psfm_read_file(ctx, path, (size_t)1 << 30, &bytes, size));
    return bytes;
}

static photo read_photo(psfm_context *ctx, const char *folder, const char *name) {
    size_t size, width, height;
    int at = 0;
    char *bytes = read_all(ctx, folder, name, &size);
    assert_int_equal(sscanf(bytes, "P5 %zu %zu 255%n", &width, &height, &at), 2);
    assert_int_equal(size, (size_t)at + 1 + width * height);
    photo p = {nn_new(width * height, 1), {NULL, width, height, width}};
    memcpy(p.pixels, bytes + at + 1, width * height);
    p.view.pixels = p.pixels;
    free(bytes);
    return p;
}

/* An array of the pair's .bin file, and its first two dimensions. */
static const void *array(const pair_data *p, const char *name, size_t *num, size_t *dim) {
    const cJSON *entry = cJSON_GetObjectItem(cJSON_GetObjectItem(p->json, "arrays"), name);
    const cJSON *shape = cJSON_GetObjectItem(entry, "shape");
    size_t offset = (size_t)cJSON_GetObjectItem(entry, "offset")->valuedouble;
    *num = (size_t)cJSON_GetArrayItem(shape, 0)->valuedouble;
    *dim = cJSON_GetArraySize(shape) < 2 ? 1 : (size_t)cJSON_GetArrayItem(shape, 1)->valuedouble;
    assert_true(offset + *num * *dim * 4 <= p->size);
    return p->bytes + offset;
}

static void read_features(const pair_data *p, int side, psfm_keypoint_set *f) {
    char name[32];
    size_t num, dim;
    snprintf(name, sizeof name, "descriptors%d", side);
    const float *descriptors = array(p, name, &num, &dim);
    assert_ok(p->ctx, psfm_neural_features_init(p->ctx, num, dim, f));
    memcpy(f->descriptors_f32, descriptors, num * dim * sizeof *descriptors);
    snprintf(name, sizeof name, "scores%d", side);
    memcpy(f->scores, array(p, name, &num, &dim), num * sizeof *f->scores);
    snprintf(name, sizeof name, "keypoints%d", side);
    const float *xy = array(p, name, &num, &dim);
    for (size_t k = 0; k < num; ++k)
        f->keypoints[k] = psfm_keypoint_make(xy[2 * k] + 0.5f, xy[2 * k + 1] + 0.5f, 1, 0);
}

typedef void (*pair_fn)(pair_data *p, void *models);

/* Calls `run` for every pair of a manifest whose files are there. */
static void for_each_pair(psfm_context *ctx, const char *folder, const char *set, pair_fn run,
                          void *models) {
    char path[2048], name[128];
    size_t size, num = 0;
    snprintf(path, sizeof path, "%s/%s", folder, set);
    char *text = read_all(ctx, path, "manifest.json", &size);
    cJSON *manifest = cJSON_Parse(text);
    const cJSON *json;
    cJSON_ArrayForEach(json, cJSON_GetObjectItem(manifest, "pairs")) {
        pair_data p = {.ctx = ctx, .folder = folder, .json = json};
        snprintf(name, sizeof name, "%s/%s", set, cJSON_GetObjectItem(json, "bin")->valuestring);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (!psfm_path_is_file(path))
            continue;
        p.bytes = read_all(ctx, folder, name, &p.size);
        const cJSON *images = cJSON_GetObjectItem(json, "images");
        for (int s = 0; s < 2; ++s) {
            p.photos[s] = read_photo(ctx, folder, cJSON_GetArrayItem(images, s)->valuestring);
            read_features(&p, s, &p.reference[s]);
        }
        run(&p, models);
        ++num;
        for (int s = 0; s < 2; ++s) {
            free(p.photos[s].pixels);
            psfm_keypoint_set_free(&p.reference[s]);
        }
        free(p.bytes);
    }
    assert_true(num >= 5);
    cJSON_Delete(manifest);
    free(text);
}

/* Finds for each reference keypoint ours at the same place; one at the cut of the best k may be
 * missing. shift: of our keypoints against the reference's. */
static void compare_features(const pair_data *p, int side, const psfm_keypoint_set *ours,
                             double shift_x, double shift_y) {
    const psfm_keypoint_set *ref = &p->reference[side];
    float lowest = INFINITY;
    double score = 0, descriptor = 0;
    size_t missing = 0;
    for (size_t k = 0; k < ref->num; ++k)
        lowest = fminf(lowest, ref->scores[k]);
    for (size_t k = 0; k < ref->num; ++k) {
        size_t j = 0;
        while (j < ours->num &&
               (fabs(ours->keypoints[j].x - shift_x - ref->keypoints[k].x) > 1e-3 ||
                fabs(ours->keypoints[j].y - shift_y - ref->keypoints[k].y) > 1e-3))
            ++j;
        if (j == ours->num) {
            assert_below(ref->scores[k] - lowest, TOLERANCE);
            ++missing;
            continue;
        }
        score = fmax(score, fabs(ours->scores[j] - ref->scores[k]));
        for (size_t c = 0; c < ref->descriptor_size; ++c)
            descriptor = fmax(descriptor, fabs(ours->descriptors_f32[j * ref->descriptor_size + c] -
                                               ref->descriptors_f32[k * ref->descriptor_size + c]));
    }
    printf("  %zu x %zu: %zu of %zu keypoints, scores within %.1e, descriptors within %.1e\n",
           p->photos[side].view.width, p->photos[side].view.height, ref->num - missing, ref->num,
           score, descriptor);
    assert_int_equal(ours->num, ref->num);
    assert_below(score, TOLERANCE);
    assert_below(descriptor, TOLERANCE);
    assert_true(missing <= 2);
}

/* Matches per keypoint of the first image, -1 for none, against the reference's. */
static void compare_matches(const pair_data *p, const char *matches_name, const char *scores_name,
                            float threshold, const psfm_neural_matches *all) {
    size_t num, dim, equal = 0, found = 0;
    const int32_t *indices = array(p, matches_name, &num, &dim);
    const float *scores = array(p, scores_name, &num, &dim);
    double worst = 0;
    for (size_t k = 0, at = 0; k < num; ++k) {
        int32_t partner = -1;
        float confidence = 0;
        if (at < all->list.num && all->list.matches[at][0] == k) {
            confidence = all->confidence[at];
            partner = confidence > threshold ? (int32_t)all->list.matches[at][1] : -1;
            ++at;
        }
        equal += partner == indices[k];
        found += partner >= 0;
        if (confidence > threshold || scores[k] > threshold)
            worst = fmax(worst, fabs(confidence - scores[k]));
    }
    printf("  %zu matches, %zu of %zu equal, confidence within %.1e\n", found, equal, num, worst);
    assert_true((double)equal >= 0.999 * (double)num);
    assert_below(worst, TOLERANCE);
}

typedef struct {
    psfm_engine *nn;
    void *superpoint;
    psfm_superglue *superglue;
    void *xfeat;
    psfm_lightglue *lightglue;
} models;

static void set_inputs(const pair_data *p, const psfm_keypoint_set *sets,
                       psfm_neural_input inputs[2]) {
    for (int s = 0; s < 2; ++s)
        inputs[s] =
            (psfm_neural_input){&sets[s], p->photos[s].view.width, p->photos[s].view.height};
}

static psfm_status match_superglue(const pair_data *p, const models *m,
                                   const psfm_keypoint_set *sets,
                                   const psfm_superglue_options *options,
                                   psfm_neural_matches *matches) {
    psfm_neural_input inputs[2];
    set_inputs(p, sets, inputs);
    return psfm_superglue_match(p->ctx, m->superglue, &inputs[0], &inputs[1], options, matches);
}

static void superpoint_pair(pair_data *p, void *user) {
    models *m = user;
    psfm_neural_options options;
    psfm_options_init(psfm_superpoint_detector.options, &options);
    options.max_keypoints = 1024;
    options.subpixel = false;
    printf("%s: SuperPoint and SuperGlue\n", p->json->string);
    psfm_keypoint_set ours[2];
    for (int s = 0; s < 2; ++s) {
        assert_ok(p->ctx, psfm_neural_extract(p->ctx, &psfm_superpoint_detector, m->superpoint,
                                              &p->photos[s].view, &options, &ours[s]));
        compare_features(p, s, &ours[s], 0, 0);
    }
    psfm_superglue_options low = {.threshold = 0};
    psfm_neural_matches matches;
    assert_ok(p->ctx, match_superglue(p, m, p->reference, &low, &matches));
    compare_matches(p, "matches0", "matching_scores0", 0.2f, &matches);
    psfm_neural_matches_free(&matches);
    /* From pixels to matches. */
    assert_ok(p->ctx, match_superglue(p, m, ours, NULL, &matches));
    int expected = cJSON_GetObjectItem(p->json, "n_matches")->valueint;
    printf("  from pixels: %zu matches, PyTorch %d\n", matches.list.num, expected);
    assert_in_range(matches.list.num, expected - 1, expected + 1);
    psfm_neural_matches_free(&matches);
    psfm_keypoint_set_free(&ours[0]), psfm_keypoint_set_free(&ours[1]);
}

static void xfeat_pair(pair_data *p, void *user) {
    models *m = user;
    psfm_neural_options options;
    psfm_options_init(psfm_xfeat_detector.options, &options);
    options.max_keypoints = 1024;
    options.subpixel = false;
    printf("%s: XFeat and LighterGlue\n", p->json->string);
    psfm_keypoint_set ours[2];
    for (int s = 0; s < 2; ++s) {
        size_t w = p->photos[s].view.width, h = p->photos[s].view.height;
        assert_ok(p->ctx, psfm_neural_extract(p->ctx, &psfm_xfeat_detector, m->xfeat,
                                              &p->photos[s].view, &options, &ours[s]));
        /* Ours are pixel centres of the image given, half a pixel of the shrunk one further. */
        compare_features(p, s, &ours[s], 0.5 * (double)w / (double)(w / 32 * 32) - 0.5,
                         0.5 * (double)h / (double)(h / 32 * 32) - 0.5);
    }
    psfm_lightglue_options low = {.threshold = 0};
    psfm_neural_matches matches;
    psfm_neural_input inputs[2];
    set_inputs(p, p->reference, inputs);
    assert_ok(p->ctx,
              psfm_lightglue_match(p->ctx, m->lightglue, &inputs[0], &inputs[1], &low, &matches));
    compare_matches(p, "lg_matches0", "lg_scores0", 0.1f, &matches);
    psfm_neural_matches_free(&matches);
    psfm_nearest_float_options mutual = {0.82, 1};
    psfm_match_list list;
    assert_ok(p->ctx,
              psfm_nearest_match_f32(p->ctx, &p->reference[0], &p->reference[1], &mutual, &list));
    size_t num, dim;
    const uint32_t *pairs = array(p, "mnn_pairs", &num, &dim);
    printf("  mutual neighbours: %zu, PyTorch %zu\n", list.num, num);
    assert_int_equal(list.num, num);
    assert_memory_equal(list.matches, pairs, num * sizeof *list.matches);
    psfm_match_list_free(&list);
    psfm_keypoint_set_free(&ours[0]), psfm_keypoint_set_free(&ours[1]);
}

static const char *data_folder(char path[1024]) {
    const char *folder = getenv("PLANARSFM_TEST_DATA");
    if (folder == NULL) {
        printf("skipped: PLANARSFM_TEST_DATA is not set to the folder of the test data\n");
        skip();
    }
    snprintf(path, 1024, "%s/neural", folder == NULL ? "" : folder);
    return path;
}

static void superpoint_and_superglue(void **state) {
    (void)state;
    char folder[1024], path[1100];
    data_folder(folder);
    psfm_context *ctx = psfm_context_create();
    models m = {0};
    assert_ok(ctx, psfm_engine_create(ctx, &m.nn));
    snprintf(path, sizeof path, "%s/weights/superpoint_synth.safetensors", folder);
    assert_ok(
        ctx, psfm_network_create(ctx, psfm_superpoint_detector.network, m.nn, path, &m.superpoint));
    snprintf(path, sizeof path, "%s/weights/superglue_synth.safetensors", folder);
    assert_ok(ctx, psfm_network_create(ctx, &psfm_superglue_network, m.nn, path, &m.superglue));
    for_each_pair(ctx, folder, "sp_sg_synth", superpoint_pair, &m);
    psfm_network_destroy(psfm_superpoint_detector.network, &m.superpoint);
    psfm_network_destroy(&psfm_superglue_network, &m.superglue);
    psfm_engine_destroy(&m.nn);
    psfm_context_destroy(&ctx);
}

static void xfeat_and_lighterglue(void **state) {
    (void)state;
    char folder[1024], path[1100];
    data_folder(folder);
    psfm_context *ctx = psfm_context_create();
    models m = {0};
    assert_ok(ctx, psfm_engine_create(ctx, &m.nn));
    snprintf(path, sizeof path, "%s/weights/xfeat.safetensors", folder);
    assert_ok(ctx, psfm_network_create(ctx, psfm_xfeat_detector.network, m.nn, path, &m.xfeat));
    snprintf(path, sizeof path, "%s/weights/xfeat_lighterglue_L3.safetensors", folder);
    assert_ok(ctx, psfm_network_create(ctx, &psfm_lightglue_network, m.nn, path, &m.lightglue));
    for_each_pair(ctx, folder, "xfeat_lg", xfeat_pair, &m);
    psfm_network_destroy(psfm_xfeat_detector.network, &m.xfeat);
    psfm_network_destroy(&psfm_lightglue_network, &m.lightglue);
    psfm_engine_destroy(&m.nn);
    psfm_context_destroy(&ctx);
}

/* Distance in pixels between H a and b; the homography is between pixel indices. */
static double transfer_error(const double *H, const psfm_keypoint *a, const psfm_keypoint *b) {
    double x = a->x - 0.5, y = a->y - 0.5, w = H[6] * x + H[7] * y + H[8];
    return hypot((H[0] * x + H[1] * y + H[2]) / w + 0.5 - b->x,
                 (H[3] * x + H[4] * y + H[5]) / w + 0.5 - b->y);
}

/* There are no stored results of EdgePoint2; its matches of a warped photograph obey the warp. */
static void edgepoint2_obeys_the_homography(void **state) {
    (void)state;
    static const char *const names[] = {"E64", "M64", "T32"};
    char folder[1024], path[1100];
    data_folder(folder);
    psfm_context *ctx = psfm_context_create();
    size_t size;
    char *text = read_all(ctx, folder, "img/images.json", &size);
    cJSON *json = cJSON_Parse(text);
    double H[9];
    for (int k = 0; k < 9; ++k)
        H[k] = cJSON_GetArrayItem(
                   cJSON_GetArrayItem(cJSON_GetObjectItem(json, "homog_640_H"), k / 3), k % 3)
                   ->valuedouble;
    photo photos[2] = {read_photo(ctx, folder, "img/homog_640_0.pgm"),
                       read_photo(ctx, folder, "img/homog_640_1.pgm")};
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    for (int k = 0; k < 3; ++k) {
        void *model;
        psfm_keypoint_set sets[2];
        psfm_match_list list;
        snprintf(path, sizeof path, "%s/weights/edgepoint2_%s.safetensors", folder, names[k]);
        assert_ok(ctx,
                  psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, path, &model));
        for (int s = 0; s < 2; ++s)
            assert_ok(ctx, psfm_neural_extract(ctx, &psfm_edgepoint2_detector, model,
                                               &photos[s].view, NULL, &sets[s]));
        psfm_nearest_float_options mutual = {0.5, 1};
        assert_ok(ctx, psfm_nearest_match_f32(ctx, &sets[0], &sets[1], &mutual, &list));
        size_t inliers = 0;
        for (size_t i = 0; i < list.num; ++i)
            inliers += transfer_error(H, &sets[0].keypoints[list.matches[i][0]],
                                      &sets[1].keypoints[list.matches[i][1]]) < 3;
        printf("EdgePoint2 %s: %zu and %zu keypoints, %zu matches, %zu obey the homography\n",
               names[k], sets[0].num, sets[1].num, list.num, inliers);
        assert_true(list.num > 500 && (double)inliers > 0.9 * (double)list.num);
        psfm_match_list_free(&list);
        psfm_keypoint_set_free(&sets[0]), psfm_keypoint_set_free(&sets[1]);
        psfm_network_destroy(psfm_edgepoint2_detector.network, &model);
    }
    psfm_engine_destroy(&nn);
    free(photos[0].pixels), free(photos[1].pixels);
    cJSON_Delete(json);
    free(text);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(superpoint_and_superglue),
        cmocka_unit_test(xfeat_and_lighterglue),
        cmocka_unit_test(edgepoint2_obeys_the_homography),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
