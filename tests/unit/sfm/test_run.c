/* Photographs of one textured plane from known places, through all stages. */
#include "sfm/registry.h"
#include "sfm/run.h"
#include "sfm/summary_parts.h"

#include "core/base/path.h"
#include "unit/images/photometric/plane_photos.h"

enum { NUM_PHOTOS = 5 };

typedef struct {
    psfm_context *ctx;
    char folder[32], photos[64], out[64];
    psfm_run_options options;
} fixture;

/* The plane is normal . X = 1 in the frame of the first camera. */
static const double normal[3] = {0.1, -0.15, 0.98};

/* Motion from the first camera to camera k. */
static void motion_to(int k, double R[9], double t[3]) {
    static const double turns[NUM_PHOTOS][3] = {
        {0, 0, 0}, {0.05, 0.12, 0.02}, {-0.12, 0.02, -0.2}, {0.1, -0.1, 0.1}, {-0.05, -0.12, 0.3}};
    static const double shifts[NUM_PHOTOS][3] = {
        {0, 0, 0}, {-0.15, 0.02, 0.03}, {0.02, 0.16, -0.05}, {0.14, -0.12, 0.04}, {0.15, 0.1, 0.1}};
    psfm_rotation_exp(turns[k], R);
    memcpy(t, shifts[k], 3 * sizeof *t);
}

static void put_photo(const fixture *f, int k) {
    const psfm_camera camera = pinhole(300.0);
    texture t = make_texture(5);
    double R[9], shift[3], H[9], H_1[9];
    char path[96];
    psfm_pyramid photo;
    motion_to(k, R, shift);
    for (int e = 0; e < 9; ++e)
        H[e] = R[e] + shift[e / 3] * normal[e % 3];
    assert_true(psfm_mat3_inverse(H, H_1));
    take_photo(f->ctx, &t, &camera, &camera, H_1, 1.0, 0.0, 1.0, &photo);
    const psfm_image image = {
        .width = photo.levels[0].width, .height = photo.levels[0].height, .gray = photo.memory};
    snprintf(path, sizeof path, "%s/%d.png", f->photos, k);
    assert_ok(f->ctx, psfm_image_write(f->ctx, &image, 95, path));
    psfm_pyramid_free(&photo);
}

static void make_fixture(fixture *f) {
    *f = (fixture){.ctx = psfm_context_create(), .folder = "/tmp/psfm_run_XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->photos, sizeof f->photos, "%s/photos", f->folder);
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    assert_ok(f->ctx, psfm_make_folders(f->ctx, f->photos));
    for (int k = 0; k < NUM_PHOTOS; ++k)
        put_photo(f, k);
    psfm_run_options *o = &f->options;
    psfm_run_options_init(PSFM_MODE_ROBUST, o);
    assert_ok(f->ctx, psfm_run_option_set(f->ctx, PSFM_OF_RUN, "camera",
                                          "PINHOLE,320,240,300,300,160,120", o));
}

static void free_fixture(fixture *f) {
    psfm_run_options_free(&f->options);
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

static bool has_file(const fixture *f, const char *name) {
    char *path = NULL;
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->out, name, &path));
    bool found = psfm_path_is_file(path);
    free(path);
    return found;
}

static double number(const cJSON *root, const char *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(root, object), name);
    if (!cJSON_IsNumber(item))
        fail_msg("there is no number %s.%s", object, name);
    return item->valuedouble;
}

static void read_model(const fixture *f, psfm_model *model) {
    char *path = NULL;
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->out, "model/0", &path));
    assert_ok(f->ctx, psfm_model_read(f->ctx, path, model));
    free(path);
}

/* Largest error of the rotations from the first camera to the others, radians. */
static double rotation_error(const psfm_model *model) {
    double first[9], worst = 0.0;
    psfm_rotation_from_quat(model->images[0].cam_from_world_q, first);
    for (int k = 1; k < NUM_PHOTOS; ++k) {
        double R[9], to[9], truth[9], t[3];
        motion_to(k, truth, t);
        psfm_rotation_from_quat(model->images[k].cam_from_world_q, R);
        psfm_mat3_mul_t(R, first, to);
        worst = fmax(worst, psfm_rotation_angle(to, truth));
    }
    return worst;
}

static void photographs_get_their_poses(void **state) {
    (void)state;
    fixture f;
    psfm_model model, again;
    cJSON *summary = NULL;
    make_fixture(&f);
    assert_ok(f.ctx, psfm_run(f.ctx, f.photos, f.out, &f.options, &summary));
    assert_true(cJSON_GetObjectItem(summary, "images_posed")->valuedouble == NUM_PHOTOS);
    assert_true(number(summary, "photographs", "extracted") == NUM_PHOTOS);
    assert_true(number(summary, "matching", "matched") == NUM_PHOTOS * (NUM_PHOTOS - 1) / 2);
    assert_true(number(summary, "refine_matches", "accepted") > 100);
    assert_true(number(summary, "seconds", "extraction") >= 0.0);
    assert_true(number(summary, "cpu_seconds", "extraction") > 0.0);
    assert_true(number(summary, "seconds", "matching") >= 0.0);
    cJSON_Delete(summary);
    assert_true(has_file(&f, "database.db") && has_file(&f, "summary.json"));
    assert_true(has_file(&f, "report.html") && has_file(&f, "planes.json"));
    read_model(&f, &model);
    assert_int_equal(model.num_images, NUM_PHOTOS);
    assert_below(rotation_error(&model), 0.002);

    /* again, with nothing to extract or match, and without a page */
    f.options.settings.no_report = true;
    assert_ok(f.ctx, psfm_run(f.ctx, f.photos, f.out, &f.options, &summary));
    assert_true(number(summary, "photographs", "unchanged") == NUM_PHOTOS);
    assert_true(number(summary, "matching", "matched") == 0);
    cJSON_Delete(summary);
    read_model(&f, &again);
    for (int k = 0; k < NUM_PHOTOS; ++k)
        assert_memory_equal(model.images[k].cam_from_world_q, again.images[k].cam_from_world_q,
                            sizeof model.images[k].cam_from_world_q);
    psfm_model_free(&model);
    psfm_model_free(&again);

    /* guided matching, too, is by the run's options of two-view geometry */
    f.options.settings.options.two_view.min_inliers = 9;
    assert_ok(f.ctx, psfm_run(f.ctx, f.photos, f.out, &f.options, &summary));
    assert_true(number(summary, "matching", "matched") == NUM_PHOTOS * (NUM_PHOTOS - 1) / 2);
    cJSON_Delete(summary);
    free_fixture(&f);
}

/* Features that were extracted after planes had been aligned. */
typedef struct {
    bool has_aligned, has_more;
} course;

static int watch(const char *stage, size_t done, size_t total, void *user) {
    course *c = user;
    (void)done, (void)total;
    c->has_aligned = c->has_aligned || strcmp(stage, "refine matches") == 0;
    c->has_more = c->has_more || (c->has_aligned && strcmp(stage, "features") == 0);
    return 0;
}

static size_t num_second_pass(const cJSON *summary) {
    const cJSON *photographs = cJSON_GetObjectItem(summary, "photographs"), *level = NULL;
    size_t num = 0;
    cJSON_ArrayForEach(level, cJSON_GetObjectItem(photographs, "second_pass")) {
        num += (size_t)cJSON_GetArraySize(level);
    }
    return num;
}

/* All planes are given up after their alignment, so that all photographs need more features. They
 * are read in the background, for what is shown of them, while the stages are gone back over. */
static void photographs_get_more_features(void **state) {
    (void)state;
    fixture f;
    course c = {0};
    cJSON *summary = NULL;
    make_fixture(&f);
    psfm_context_set_threads(f.ctx, 3);
    psfm_context_set_progress(f.ctx, watch, &c);
    f.options.settings.options.photo.planes.min_matches = 100000;
    assert_ok(f.ctx, psfm_run(f.ctx, f.photos, f.out, &f.options, &summary));
    assert_true(c.has_more);
    assert_int_equal(num_second_pass(summary), NUM_PHOTOS);
    assert_true(cJSON_GetObjectItem(summary, "images_posed")->valuedouble == NUM_PHOTOS);
    assert_true(has_file(&f, "report.html"));
    cJSON_Delete(summary);
    free_fixture(&f);
}

/* Before the first photograph is looked at: a matcher of other features, and a network without its
 * weights. */
static void what_matching_lacks_is_missed_at_once(void **state) {
    (void)state;
    fixture f;
    cJSON *summary = (cJSON *)&f;
    make_fixture(&f);
    f.options.match.matcher.kind = PSFM_MATCHER_LIGHTGLUE;
    assert_int_equal(psfm_run(f.ctx, f.photos, f.out, &f.options, &summary), PSFM_ERR_ARGUMENT);
    assert_null(summary);
    f.options.folder.detector.kind = PSFM_FEATURES_SUPERPOINT;
    assert_int_not_equal(psfm_run(f.ctx, f.photos, f.out, &f.options, NULL), PSFM_OK);
    assert_false(has_file(&f, "database.db"));
    free_fixture(&f);
}

static void facts_become_json(void **state) {
    (void)state;
    psfm_unused_photo unused[1] = {{(char *)"a.tif", (char *)"not read"}};
    const psfm_extract_stats extracted = {.intrinsics = "one camera for all",
                                          .features = "sift",
                                          .num_images = 7,
                                          .num_removed = 2,
                                          .unused = unused,
                                          .num_unused = 1};
    const psfm_match_stats matched = {.rule = "ring:2", .matcher = "nearest", .num_kept = 11};
    cJSON *photographs = psfm_extract_stats_to_json(&extracted);
    cJSON *matching = psfm_match_stats_to_json(&matched);
    const cJSON *left_out = cJSON_GetArrayItem(cJSON_GetObjectItem(photographs, "left_out"), 0);
    assert_true(cJSON_GetObjectItem(photographs, "images")->valuedouble == 7);
    assert_true(cJSON_GetObjectItem(photographs, "removed")->valuedouble == 2);
    assert_string_equal(cJSON_GetObjectItem(photographs, "kind")->valuestring, "sift");
    assert_string_equal(cJSON_GetObjectItem(left_out, "name")->valuestring, "a.tif");
    assert_string_equal(cJSON_GetObjectItem(left_out, "reason")->valuestring, "not read");
    assert_string_equal(cJSON_GetObjectItem(matching, "pairs_rule")->valuestring, "ring:2");
    assert_true(cJSON_GetObjectItem(matching, "kept")->valuedouble == 11);
    cJSON_Delete(photographs);
    cJSON_Delete(matching);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photographs_get_their_poses),
        cmocka_unit_test(photographs_get_more_features),
        cmocka_unit_test(what_matching_lacks_is_missed_at_once),
        cmocka_unit_test(facts_become_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
