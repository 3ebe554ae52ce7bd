#include "test_util.h"

#include "planarsfm/calibration.h"
#include "synth/scene.h"

/* A synthetic scene as the public header takes it. */
typedef struct {
    psfm_scene scene;
    psfm_camera *cameras;
    uint32_t *image_camera, *pairs, *matches;
    size_t *keypoint_begin, *match_begin;
    double *keypoints, *sigma;
    psfm_matched_images images;
} arrays;

static void make_arrays(psfm_context *ctx, psfm_scene_kind kind, arrays *a) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 12;
    options.focal_spread = 1.25;
    memset(a, 0, sizeof *a);
    assert_ok(ctx, psfm_scene_make(ctx, kind, 1, &options, &a->scene));
    const psfm_match_set *set = &a->scene.matches;
    a->cameras = calloc(set->num_cameras, sizeof *a->cameras);
    a->sigma = calloc(set->num_cameras, sizeof *a->sigma);
    a->image_camera = calloc(set->num_views, sizeof *a->image_camera);
    a->keypoint_begin = calloc(set->num_views + 1, sizeof *a->keypoint_begin);
    a->pairs = calloc(2 * set->num_pairs, sizeof *a->pairs);
    a->match_begin = calloc(set->num_pairs + 1, sizeof *a->match_begin);
    for (size_t v = 0; v < set->num_views; ++v)
        a->keypoint_begin[v + 1] = a->keypoint_begin[v] + set->views[v].num_keypoints;
    for (size_t p = 0; p < set->num_pairs; ++p)
        a->match_begin[p + 1] = a->match_begin[p] + set->pairs[p].num_matches;
    a->keypoints = calloc(2 * a->keypoint_begin[set->num_views], sizeof *a->keypoints);
    a->matches = calloc(2 * a->match_begin[set->num_pairs], sizeof *a->matches);
    for (size_t k = 0; k < set->num_cameras; ++k) {
        a->cameras[k] = set->cameras[k];
        a->cameras[k].params[0] = a->cameras[k].params[1] = 1500.0; /* forgotten */
    }
    for (size_t v = 0; v < set->num_views; ++v) {
        a->image_camera[v] = set->views[v].camera_idx;
        memcpy(a->keypoints + 2 * a->keypoint_begin[v], set->views[v].keypoints,
               set->views[v].num_keypoints * sizeof *set->views[v].keypoints);
    }
    for (size_t p = 0; p < set->num_pairs; ++p) {
        a->pairs[2 * p] = set->pairs[p].view1;
        a->pairs[2 * p + 1] = set->pairs[p].view2;
        memcpy(a->matches + 2 * a->match_begin[p], set->pairs[p].matches,
               set->pairs[p].num_matches * sizeof *set->pairs[p].matches);
    }
    a->images =
        (psfm_matched_images){sizeof a->images, set->num_cameras, a->cameras,        NULL,
                              set->num_views,   a->image_camera,  a->keypoint_begin, a->keypoints,
                              set->num_pairs,   a->pairs,         a->match_begin,    a->matches};
}

static void free_arrays(arrays *a) {
    psfm_scene_free(&a->scene);
    free(a->cameras);
    free(a->sigma);
    free(a->image_camera);
    free(a->keypoint_begin);
    free(a->pairs);
    free(a->match_begin);
    free(a->keypoints);
    free(a->matches);
}

static void test_focal_lengths(void **state) {
    psfm_context *ctx = *state;
    arrays a;
    bool known[12] = {false, false, true};
    psfm_calibration_result result = {.struct_size = sizeof result};
    make_arrays(ctx, PSFM_SCENE_ARENA, &a);
    a.images.camera_known = known;
    a.cameras[2] = a.scene.matches.cameras[2];
    assert_ok(ctx, psfm_calibrate_cameras(ctx, &a.images, NULL, a.sigma, &result));
    assert_int_equal(result.num_determined, 11);
    assert_true(result.num_planes > 0 && result.num_homographies > 0);
    for (size_t k = 0; k < 12; ++k) {
        double error = log(a.cameras[k].params[0] / a.scene.matches.cameras[k].params[0]);
        assert_below(fabs(error), 0.005);
        assert_true(k == 2 ? a.sigma[k] == 0.0 : a.sigma[k] > 0.0 && a.sigma[k] < 0.02);
    }
    free_arrays(&a);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    arrays a;
    make_arrays(ctx, PSFM_SCENE_ARENA, &a);
    psfm_calibration_options odd = {.struct_size = sizeof odd, .max_sigma = -1.0};
    assert_int_equal(psfm_calibrate_cameras(NULL, &a.images, NULL, a.sigma, NULL),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_calibrate_cameras(ctx, NULL, NULL, a.sigma, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_calibrate_cameras(ctx, &a.images, NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_calibrate_cameras(ctx, &a.images, &odd, a.sigma, NULL),
                     PSFM_ERR_ARGUMENT);
    const size_t needed[] = {
        offsetof(psfm_matched_images, cameras),        offsetof(psfm_matched_images, image_camera),
        offsetof(psfm_matched_images, keypoint_begin), offsetof(psfm_matched_images, keypoints),
        offsetof(psfm_matched_images, pairs),          offsetof(psfm_matched_images, match_begin),
        offsetof(psfm_matched_images, matches)};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; ++k) {
        psfm_matched_images without = a.images;
        memset((char *)&without + needed[k], 0, sizeof(void *));
        assert_int_equal(psfm_calibrate_cameras(ctx, &without, NULL, a.sigma, NULL),
                         PSFM_ERR_ARGUMENT);
    }
    a.matches[5] = 1000000;
    assert_int_equal(psfm_calibrate_cameras(ctx, &a.images, NULL, a.sigma, NULL),
                     PSFM_ERR_ARGUMENT);
    a.matches[5] = 0;
    a.image_camera[0] = 12;
    assert_int_equal(psfm_calibrate_cameras(ctx, &a.images, NULL, a.sigma, NULL),
                     PSFM_ERR_ARGUMENT);
    free_arrays(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_focal_lengths),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
