/* Searches with results made by hand, taken over into keypoints and tracks. */
#include "images/photometric/track_results.h"

#include "core/base/alloc.h"
#include "test_util.h"

enum { NUM_VIEWS = 5, NUM_KEYPOINTS = 3 };

typedef struct {
    psfm_context *ctx;
    psfm_match_set set;
    psfm_structure structure;
} fixture;

static const psfm_camera camera = {.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                                   .width = 100,
                                   .height = 100,
                                   .params = {100.0, 50.0, 50.0}};

/* Two points: point 0 in views 0, 1, 3, point 1 in views 1, 2; keypoint k of view v at (10 v, k).
 */
static fixture make_fixture(void) {
    static const uint32_t view[5] = {0, 1, 3, 1, 2}, keypoint[5] = {2, 0, 1, 1, 0};
    static const size_t begin[3] = {0, 3, 5};
    fixture f = {.ctx = psfm_context_create()};
    psfm_tracks *t = &f.structure.tracks;
    f.set.num_views = NUM_VIEWS;
    f.set.num_cameras = 1;
    assert_ok(f.ctx, PSFM_ALLOC(f.ctx, 1, &f.set.cameras));
    f.set.cameras[0] = camera;
    assert_ok(f.ctx, PSFM_ALLOC(f.ctx, NUM_VIEWS, &f.set.views));
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        f.set.views[v].num_keypoints = NUM_KEYPOINTS;
        assert_ok(f.ctx, PSFM_ALLOC(f.ctx, NUM_KEYPOINTS, &f.set.views[v].keypoints));
        for (uint32_t k = 0; k < NUM_KEYPOINTS; ++k) {
            f.set.views[v].keypoints[k][0] = 10.0 * v;
            f.set.views[v].keypoints[k][1] = k;
        }
    }
    assert_ok(f.ctx, psfm_match_set_compute_rays(f.ctx, &f.set, NULL));
    f.structure.num_points = t->num_tracks = 2;
    assert_ok(f.ctx, PSFM_ALLOC(f.ctx, 3, &t->begin));
    assert_ok(f.ctx, PSFM_ALLOC(f.ctx, 5, &t->view));
    assert_ok(f.ctx, PSFM_ALLOC(f.ctx, 5, &t->keypoint));
    memcpy(t->begin, begin, sizeof begin);
    memcpy(t->view, view, sizeof view);
    memcpy(t->keypoint, keypoint, sizeof keypoint);
    return f;
}

static void free_fixture(fixture *f) {
    psfm_structure_free(&f->structure);
    psfm_match_set_free(&f->set);
    psfm_context_destroy(&f->ctx);
}

/* Point 0 by its patch in view 0: moved in view 1, not found in view 3, new in views 2 and 4.
 * Point 1 by its patch in view 1: not found. */
static psfm_track_search searches[5] = {
    {.from = 0,
     .to = 1,
     .point = 0,
     .keypoint = 0,
     .found = {.outcome = PSFM_PATCH_ALIGNED, .xy2 = {12.5, 0.5}, .cov2 = {0.04, 0.0, 0.04}}},
    {.from = 0,
     .to = 2,
     .point = 0,
     .keypoint = UINT32_MAX,
     .found = {.outcome = PSFM_PATCH_ALIGNED, .xy2 = {33.0, 44.0}, .cov2 = {0.16, 0.0, 0.01}}},
    {.from = 0,
     .to = 3,
     .point = 0,
     .keypoint = 1,
     .found = {.outcome = PSFM_PATCH_UNLIKE, .xy2 = {1.0, 1.0}, .cov2 = {1.0, 0.0, 1.0}}},
    {.from = 0,
     .to = 4,
     .point = 0,
     .keypoint = UINT32_MAX,
     .found = {.outcome = PSFM_PATCH_ALIGNED, .xy2 = {55.0, 66.0}, .cov2 = {0.04, 0.0, 0.04}}},
    {.from = 1, .to = 2, .point = 1, .keypoint = 0, .found = {.outcome = PSFM_PATCH_DIVERGED}},
};
static uint32_t reference[2] = {0, 3};
static const psfm_track_plan plan = {
    .reference = reference, .searches = searches, .num_searches = 5};

static void check_keypoint(const fixture *f, uint32_t v, size_t k, double x, double y) {
    const double *xy = f->set.views[v].keypoints[k], *ray = f->set.views[v].rays[k];
    assert_close(xy[0], x, 0.0);
    assert_close(xy[1], y, 0.0);
    assert_close(ray[0] / ray[2], (x - 50.0) / 100.0, 1e-12);
}

static void found_places_move_keypoints_and_lengthen_tracks(void **state) {
    (void)state;
    fixture f = make_fixture();
    const size_t begin[3] = {0, 5, 7};
    const uint32_t view[7] = {0, 1, 2, 3, 4, 1, 2}, keypoint[7] = {2, 0, 3, 1, 3, 1, 0};
    assert_ok(f.ctx, psfm_track_results_take(f.ctx, &plan, f.set.cameras, &f.set, &f.structure));
    assert_memory_equal(f.structure.tracks.begin, begin, sizeof begin);
    assert_memory_equal(f.structure.tracks.view, view, sizeof view);
    assert_memory_equal(f.structure.tracks.keypoint, keypoint, sizeof keypoint);
    check_keypoint(&f, 0, 2, 0.0, 2.0); /* where it is by definition */
    check_keypoint(&f, 1, 0, 12.5, 0.5);
    check_keypoint(&f, 2, 3, 33.0, 44.0);
    check_keypoint(&f, 4, 3, 55.0, 66.0);
    check_keypoint(&f, 3, 1, 30.0, 1.0); /* not found: as it was */
    check_keypoint(&f, 1, 1, 10.0, 1.0);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        assert_int_equal(f.set.views[v].num_keypoints, NUM_KEYPOINTS + (v == 2 || v == 4));
    free_fixture(&f);
}

static void information_is_that_of_the_alignments(void **state) {
    (void)state;
    fixture f = make_fixture();
    const double pixel[3] = {1.0, 0.0, 1.0};
    assert_ok(f.ctx, psfm_track_results_take(f.ctx, &plan, f.set.cameras, &f.set, &f.structure));
    const psfm_view *views = f.set.views;
    assert_close(views[1].sqrt_info[0][0], 1.0 / 0.2, 1e-12);
    assert_close(views[2].sqrt_info[3][0], 1.0 / 0.4, 1e-12);
    assert_close(views[2].sqrt_info[3][2], 1.0 / 0.1, 1e-12);
    /* the patch: half of the geometric mean of the areas 0.2 0.2, 0.4 0.1 and 0.2 0.2 */
    assert_close(views[0].sqrt_info[2][0], 1.0 / sqrt(0.5 * 0.04), 1e-9);
    assert_close(views[0].sqrt_info[2][2], 1.0 / sqrt(0.5 * 0.04), 1e-9);
    assert_memory_equal(views[3].sqrt_info[1], pixel, sizeof pixel);
    assert_memory_equal(views[1].sqrt_info[1], pixel, sizeof pixel); /* a patch nobody found */
    free_fixture(&f);
}

/* A later failure must leave a structure that still fits the set. */
static void tracks_stay_when_memory_is_out(void **state) {
    (void)state;
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        fixture f = make_fixture();
        psfm_alloc_fail_after(n);
        status = psfm_track_results_take(f.ctx, &plan, f.set.cameras, &f.set, &f.structure);
        psfm_alloc_fail_after(0);
        assert_int_equal(f.structure.tracks.begin[2], status == PSFM_OK ? 7 : 5);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        assert_true(n < 100);
        free_fixture(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_places_move_keypoints_and_lengthen_tracks),
        cmocka_unit_test(information_is_that_of_the_alignments),
        cmocka_unit_test(tracks_stay_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
