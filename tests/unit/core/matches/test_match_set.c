#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/matches/match_set.h"

#define NUM_VIEWS 3
#define NUM_KEYPOINTS 50

static void *must_alloc(size_t count, size_t size) {
    void *p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

/* Three views, a pinhole and a fisheye camera, pairs (0,1), (0,2), (1,2) that match keypoint k
 * with 49 - k. */
static psfm_match_set make_set(void) {
    psfm_match_set set = {.num_cameras = 2, .num_views = NUM_VIEWS, .num_pairs = 3};
    set.cameras = must_alloc(2, sizeof *set.cameras);
    set.cameras[0] = (psfm_camera){1, PSFM_CAMERA_PINHOLE, 1280, 720, {1200, 1180, 640, 360}, true};
    set.cameras[1] = (psfm_camera){2,   PSFM_CAMERA_OPENCV_FISHEYE,          1280,
                                   720, {480, 480, 640, 360, 0.01, 0, 0, 0}, true};
    set.views = must_alloc(NUM_VIEWS, sizeof *set.views);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 2, 0);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        psfm_view *view = &set.views[v];
        view->id = 3 * v + 2;
        view->name = must_alloc(16, 1);
        snprintf(view->name, 16, "cam_%u.jpg", view->id);
        view->camera_idx = v == 1;
        view->num_keypoints = NUM_KEYPOINTS;
        view->keypoints = must_alloc(NUM_KEYPOINTS, sizeof *view->keypoints);
        for (int k = 0; k < NUM_KEYPOINTS; ++k) {
            view->keypoints[k][0] = psfm_rng_range(&rng, 0, 1280);
            view->keypoints[k][1] = psfm_rng_range(&rng, 0, 720);
        }
    }
    set.pairs = must_alloc(3, sizeof *set.pairs);
    const uint32_t ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int p = 0; p < 3; ++p) {
        psfm_match_pair *pair = &set.pairs[p];
        *pair = (psfm_match_pair){ends[p][0], ends[p][1], NUM_KEYPOINTS, NULL};
        pair->matches = must_alloc(NUM_KEYPOINTS, sizeof *pair->matches);
        for (uint32_t k = 0; k < NUM_KEYPOINTS; ++k) {
            pair->matches[k][0] = k;
            pair->matches[k][1] = NUM_KEYPOINTS - 1 - k;
        }
    }
    return set;
}

static void rays_belong_to_keypoints(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set set = make_set();
    size_t without = 99;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &set, &without));
    assert_int_equal(without, 0);
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 2, 0);
    for (int v = 0; v < NUM_VIEWS; ++v) {
        const psfm_view *view = &set.views[v];
        for (int k = 0; k < NUM_KEYPOINTS; ++k) {
            const double *ray = view->rays[k], *px = view->px_from_ray[k];
            double xy[2], near[3], offset[3];
            assert_close(psfm_norm3(ray), 1.0, 1e-15);
            assert_true(psfm_camera_project(&set.cameras[view->camera_idx], ray, xy));
            for (int r = 0; r < 2; ++r) {
                assert_close(xy[r], view->keypoints[k][r], 1e-9);
                assert_close(psfm_dot3(px + 3 * r, ray), 0.0, 1e-10);
            }
            /* a ray 1e-5 away is off by px_from_ray (r / (r . ray)) pixels */
            psfm_rng_direction(&rng, offset);
            psfm_axpy3(ray, 1e-5, offset, near);
            psfm_scale3(7.0, near, near);
            double shifted[2], scale = 1.0 / psfm_dot3(near, ray);
            assert_true(psfm_camera_project(&set.cameras[view->camera_idx], near, shifted));
            for (int r = 0; r < 2; ++r)
                assert_close(scale * psfm_dot3(px + 3 * r, near), shifted[r] - xy[r], 1e-5);
        }
    }
    psfm_match_set_free(&set);
    assert_null(set.views);
}

static void keypoints_without_a_ray_are_counted_and_left_out(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set set = make_set();
    set.views[0].keypoints[3][1] = NAN;
    set.views[1].keypoints[10][0] = 5000; /* beyond the fisheye's half space */
    size_t without = 0;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &set, &without));
    assert_int_equal(without, 2);
    assert_true(psfm_norm3(set.views[0].rays[3]) == 0.0);
    assert_true(psfm_norm3(set.views[1].rays[10]) == 0.0);
    psfm_correspondences c;
    assert_ok(ctx, psfm_correspondences_init(ctx, &set, &set.pairs[0], &c));
    assert_int_equal(c.num, NUM_KEYPOINTS - 2);
    for (size_t k = 0; k < c.num; ++k) {
        uint32_t m = c.match_idx[k];
        assert_true(m != 3 && m != NUM_KEYPOINTS - 1 - 10);
        assert_memory_equal(c.ray1[k], set.views[0].rays[m], sizeof *c.ray1);
        assert_memory_equal(c.ray2[k], set.views[1].rays[NUM_KEYPOINTS - 1 - m], sizeof *c.ray2);
        assert_memory_equal(c.px1[k], set.views[0].px_from_ray[m], sizeof *c.px1);
        assert_memory_equal(c.px2[k], set.views[1].px_from_ray[NUM_KEYPOINTS - 1 - m],
                            sizeof *c.px2);
    }
    psfm_correspondences_free(&c);
    assert_int_equal(c.num, 0);
    psfm_match_set_free(&set);
}

static void rays_do_not_depend_on_threads(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set one = make_set(), four = make_set();
    psfm_context_set_threads(ctx, 1);
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &one, NULL));
    psfm_context_set_threads(ctx, 4);
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &four, NULL));
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &four, NULL)); /* again: replaces the arrays */
    for (int v = 0; v < NUM_VIEWS; ++v) {
        size_t n = NUM_KEYPOINTS;
        assert_memory_equal(one.views[v].rays, four.views[v].rays, n * sizeof *one.views[v].rays);
        assert_memory_equal(one.views[v].px_from_ray, four.views[v].px_from_ray,
                            n * sizeof *one.views[v].px_from_ray);
    }
    psfm_match_set_free(&one);
    psfm_match_set_free(&four);
}

static void rays_must_come_first(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set set = make_set();
    psfm_correspondences c;
    assert_int_equal(psfm_correspondences_init(ctx, &set, &set.pairs[0], &c), PSFM_ERR_ARGUMENT);
    psfm_correspondences_free(&c);
    psfm_match_set_free(&set);
}

static void assert_refused(psfm_context *ctx, psfm_match_set *set, const char *words) {
    assert_int_equal(psfm_match_set_check(ctx, set), PSFM_ERR_DATA);
    if (strstr(psfm_context_message(ctx), words) == NULL)
        fail_msg("'%s' lacks '%s'", psfm_context_message(ctx), words);
    psfm_match_set_free(set);
    *set = make_set();
}

static void check_names_the_image(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set set = make_set();
    assert_ok(ctx, psfm_match_set_check(ctx, &set));
    set.views[2].id = 5;
    assert_refused(ctx, &set, "cam_8.jpg: image id 5 comes after 5");
    set.views[1].id = 1;
    assert_refused(ctx, &set, "cam_5.jpg: image id 1 comes after 2");
    free(set.views[1].name);
    set.views[1].name = NULL;
    assert_refused(ctx, &set, "image 5 has no name");
    set.views[1].camera_idx = 2;
    assert_refused(ctx, &set, "cam_5.jpg: camera index 2");
    set.cameras[1].params[0] = NAN;
    assert_refused(ctx, &set, "camera 2: parameter 1");
    free(set.views[1].keypoints);
    set.views[1].keypoints = NULL;
    assert_refused(ctx, &set, "cam_5.jpg: 50 keypoints");
    set.pairs[1].matches[7][1] = NUM_KEYPOINTS;
    assert_refused(ctx, &set, "pair cam_2.jpg, cam_8.jpg: match 7 joins keypoints 7 and 50");
    set.pairs[0].matches[7][0] = UINT32_MAX;
    assert_refused(ctx, &set, "pair cam_2.jpg, cam_5.jpg: match 7");
    set.pairs[2].view1 = 2;
    assert_refused(ctx, &set, "views 2 and 2");
    set.pairs[2].view2 = 3;
    assert_refused(ctx, &set, "views 1 and 3");
    set.pairs[1].view2 = 1;
    assert_refused(ctx, &set, "pair cam_2.jpg, cam_5.jpg: pairs must be sorted");
    free(set.pairs[0].matches);
    set.pairs[0].matches = NULL;
    assert_refused(ctx, &set, "50 matches");
    psfm_match_set_free(&set);
}

static void empty_sets_are_fine(void **state) {
    psfm_context *ctx = *state;
    psfm_match_set set = {0};
    size_t without = 1;
    assert_ok(ctx, psfm_match_set_check(ctx, &set));
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &set, &without));
    assert_int_equal(without, 0);
    psfm_match_set_free(&set);
    set = make_set();
    set.pairs[0].num_matches = 0;
    psfm_correspondences c;
    assert_ok(ctx, psfm_correspondences_init(ctx, &set, &set.pairs[0], &c));
    assert_int_equal(c.num, 0);
    psfm_correspondences_free(&c);
    psfm_match_set_free(&set);
}

static void every_failing_allocation_is_survived(void **state) {
    psfm_context *ctx = *state;
    psfm_context_set_threads(ctx, 1);
    psfm_match_set set = make_set();
    psfm_correspondences c = {0};
    size_t n = 1;
    for (psfm_status status = PSFM_ERR_MEMORY; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_match_set_compute_rays(ctx, &set, NULL);
        if (status == PSFM_OK)
            status = psfm_correspondences_init(ctx, &set, &set.pairs[0], &c);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
    }
    psfm_alloc_fail_after(0);
    assert_true(n > 2 * NUM_VIEWS + 5);
    psfm_correspondences_free(&c);
    psfm_match_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_belong_to_keypoints),
        cmocka_unit_test(keypoints_without_a_ray_are_counted_and_left_out),
        cmocka_unit_test(rays_do_not_depend_on_threads),
        cmocka_unit_test(rays_must_come_first),
        cmocka_unit_test(check_names_the_image),
        cmocka_unit_test(empty_sets_are_fine),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("matches/match_set", tests, open_context, close_context);
}
