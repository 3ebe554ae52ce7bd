/* A problem put together in any order becomes one match set. */
#include "sfm/problem.h"

#include "test_util.h"

typedef struct {
    psfm_context *ctx;
    psfm_problem *problem;
    psfm_match_set set;
} fixture;

static const double keypoints[4][2] = {{10.0, 20.0}, {30.0, 40.0}, {NAN, 1.0}, {50.0, 60.0}};

static void make_fixture(fixture *f) {
    *f = (fixture){.ctx = psfm_context_create(), .problem = psfm_problem_create()};
    for (uint32_t id = 9; id >= 8; --id) {
        psfm_camera camera = {id,  PSFM_CAMERA_SIMPLE_PINHOLE, 100,
                              100, {50.0 + id, 50.0, 50.0},    true};
        assert_ok(f->ctx, psfm_problem_add_camera(f->ctx, f->problem, &camera));
    }
}

static void free_fixture(fixture *f) {
    psfm_match_set_free(&f->set);
    psfm_problem_destroy(&f->problem);
    psfm_problem_destroy(&f->problem); /* twice is fine */
    psfm_context_destroy(&f->ctx);
}

static psfm_status add_image(fixture *f, uint32_t id, uint32_t camera_id, const char *name) {
    return psfm_problem_add_image(f->ctx, f->problem, id, camera_id, name, 4, &keypoints[0][0]);
}

static psfm_status add_matches(fixture *f, uint32_t id1, uint32_t id2, size_t num,
                               const uint32_t (*matches)[2]) {
    return psfm_problem_add_matches(f->ctx, f->problem, id1, id2, num, &matches[0][0]);
}

static void everything_is_sorted_by_id(void **state) {
    (void)state;
    fixture f;
    const uint32_t some[2][2] = {{0, 1}, {1, 3}}, one[1][2] = {{3, 0}};
    make_fixture(&f);
    assert_ok(f.ctx, add_image(&f, 30, 9, "late.jpg"));
    assert_ok(f.ctx, add_image(&f, 10, 8, NULL));
    assert_ok(f.ctx, add_image(&f, 20, 9, "middle.jpg"));
    assert_ok(f.ctx, add_matches(&f, 30, 20, 2, some));
    assert_ok(f.ctx, add_matches(&f, 10, 30, 1, one));
    assert_ok(f.ctx, add_matches(&f, 10, 20, 0, one)); /* looked at, nothing found */
    assert_ok(f.ctx, psfm_problem_compile(f.ctx, f.problem, &f.set));
    assert_ok(f.ctx, psfm_match_set_check(f.ctx, &f.set));
    assert_true(f.set.num_cameras == 2 && f.set.num_views == 3 && f.set.num_pairs == 2);
    assert_string_equal(f.set.views[0].name, "image_10");
    assert_string_equal(f.set.views[1].name, "middle.jpg");
    assert_int_equal(f.set.views[2].id, 30);
    assert_true(f.set.cameras[0].id == 8 && f.set.cameras[f.set.views[0].camera_idx].id == 8);
    assert_int_equal(f.set.cameras[f.set.views[2].camera_idx].id, 9);
    const psfm_match_pair *first = &f.set.pairs[0], *second = &f.set.pairs[1];
    assert_true(first->view1 == 0 && first->view2 == 2 && second->view1 == 1 && second->view2 == 2);
    assert_true(first->matches[0][0] == 3 && first->matches[0][1] == 0);
    assert_true(second->matches[0][0] == 1 && second->matches[0][1] == 0); /* turned round */
    assert_true(second->matches[1][0] == 3 && second->matches[1][1] == 1);
    free_fixture(&f);
}

static void rays_are_those_of_the_cameras(void **state) {
    (void)state;
    fixture f;
    const double none[3] = {0};
    size_t without_ray;
    make_fixture(&f);
    assert_ok(f.ctx, add_image(&f, 1, 8, NULL));
    assert_ok(f.ctx, psfm_problem_compile(f.ctx, f.problem, &f.set));
    assert_ok(f.ctx, psfm_match_set_compute_rays(f.ctx, &f.set, &without_ray));
    const double *ray = f.set.views[0].rays[0];
    assert_close(ray[0] / ray[2], (10.0 - 50.0) / 58.0, 1e-12);
    assert_close(ray[1] / ray[2], (20.0 - 50.0) / 58.0, 1e-12);
    assert_memory_equal(f.set.views[0].rays[2], none, sizeof none); /* not a number */
    free_fixture(&f);
}

/* The set is a copy: the problem may go, or grow and be compiled again. */
static void the_set_stands_on_its_own(void **state) {
    (void)state;
    fixture f;
    psfm_match_set again;
    make_fixture(&f);
    assert_ok(f.ctx, add_image(&f, 5, 8, NULL));
    assert_ok(f.ctx, psfm_problem_compile(f.ctx, f.problem, &f.set));
    assert_ok(f.ctx, add_image(&f, 4, 9, NULL));
    assert_ok(f.ctx, psfm_problem_compile(f.ctx, f.problem, &again));
    psfm_problem_destroy(&f.problem);
    assert_true(f.set.num_views == 1 && again.num_views == 2);
    assert_true(again.views[1].id == 5 && again.views[0].id == 4);
    assert_memory_equal(f.set.views[0].keypoints, keypoints, sizeof keypoints);
    psfm_match_set_free(&again);
    free_fixture(&f);
}

static void of_repeated_keypoints_the_first_match_stays(void **state) {
    (void)state;
    fixture f;
    const uint32_t matches[4][2] = {{0, 1}, {0, 2}, {3, 1}, {2, 3}}, next[1][2] = {{0, 0}};
    make_fixture(&f);
    for (uint32_t id = 1; id <= 3; ++id)
        assert_ok(f.ctx, add_image(&f, id, 8, NULL));
    assert_ok(f.ctx, add_matches(&f, 1, 2, 4, matches));
    assert_ok(f.ctx, add_matches(&f, 1, 3, 1, next)); /* keypoints of another pair are free */
    assert_ok(f.ctx, psfm_problem_compile(f.ctx, f.problem, &f.set));
    const uint32_t left[2][2] = {{0, 1}, {2, 3}};
    assert_int_equal(f.set.pairs[0].num_matches, 2);
    assert_memory_equal(f.set.pairs[0].matches, left, sizeof left);
    assert_int_equal(f.set.pairs[1].num_matches, 1);
    free_fixture(&f);
}

static void refused(const fixture *f, psfm_status status, const char *words) {
    assert_int_equal(status, PSFM_ERR_ARGUMENT);
    if (strstr(psfm_context_message(f->ctx), words) == NULL)
        fail_msg("'%s' does not say '%s'", psfm_context_message(f->ctx), words);
}

static void contradictions_are_refused(void **state) {
    (void)state;
    fixture f;
    const uint32_t good[1][2] = {{0, 0}}, wide[1][2] = {{0, 4}};
    psfm_camera camera = {8, PSFM_CAMERA_SIMPLE_PINHOLE, 100, 100, {50.0, 50.0, 50.0}, true};
    make_fixture(&f);
    refused(&f, psfm_problem_add_camera(f.ctx, f.problem, &camera), "given twice");
    camera.id = UINT32_MAX;
    refused(&f, psfm_problem_add_camera(f.ctx, f.problem, &camera), "not allowed");
    assert_ok(f.ctx, add_image(&f, 1, 8, "a"));
    refused(&f, add_image(&f, 1, 8, "b"), "given twice");
    refused(&f, add_image(&f, 2, 7, "b"), "no camera 7");
    assert_ok(f.ctx, add_image(&f, 2, 8, "b"));
    refused(&f, add_matches(&f, 1, 3, 1, good), "was not added");
    refused(&f, add_matches(&f, 1, 1, 1, good), "with itself");
    refused(&f, add_matches(&f, 1, 2, 1, wide), "match 0");
    assert_ok(f.ctx, add_matches(&f, 1, 2, 1, good));
    assert_ok(f.ctx, add_matches(&f, 2, 1, 1, good));
    refused(&f, psfm_problem_compile(f.ctx, f.problem, &f.set), "added twice");
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_sorted_by_id),
        cmocka_unit_test(rays_are_those_of_the_cameras),
        cmocka_unit_test(the_set_stands_on_its_own),
        cmocka_unit_test(of_repeated_keypoints_the_first_match_stays),
        cmocka_unit_test(contradictions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
