#include "test_util.h"

#include "core/base/alloc.h"
#include "core/matches/canonical_order.h"

/* Three views named c, a, b with ids 1, 2, 3; two cameras of which the second is met first. */
static void make_set(psfm_context *ctx, psfm_match_set *set) {
    static const char *const names[] = {"c", "a", "b"};
    static const double xy[3][2] = {{5, 1}, {2, 7}, {2, 3}};
    static const uint32_t matches[2][2] = {{0, 1}, {1, 2}};
    *set = (psfm_match_set){.num_cameras = 3, .num_views = 3, .num_pairs = 2};
    assert_ok(ctx, PSFM_ALLOC(ctx, 3, &set->cameras));
    assert_ok(ctx, PSFM_ALLOC(ctx, 3, &set->views));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2, &set->pairs));
    for (uint32_t k = 0; k < 3; ++k) {
        psfm_view *view = &set->views[k];
        set->cameras[k].id = 10 + k;
        *view = (psfm_view){.id = k + 1, .camera_idx = k == 0 ? 0 : 2, .num_keypoints = 3};
        assert_ok(ctx, psfm_strdup(ctx, names[k], &view->name));
        assert_ok(ctx, PSFM_ALLOC(ctx, 3, &view->keypoints));
        memcpy(view->keypoints, xy, sizeof xy);
    }
    for (uint32_t p = 0; p < 2; ++p) {
        set->pairs[p] = (psfm_match_pair){.view1 = p, .view2 = p + 1, .num_matches = 2};
        assert_ok(ctx, PSFM_ALLOC(ctx, 2, &set->pairs[p].matches));
        memcpy(set->pairs[p].matches, matches, sizeof matches);
    }
}

/* Images without anything of their own: names decide. */
static void sorts_equal_images_by_name(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    make_set(ctx, &set);
    assert_ok(ctx, psfm_match_set_canonical(ctx, &set));
    static const uint32_t ids[] = {2, 3, 1}, cameras[] = {12, 10, 11}, used[] = {0, 0, 1};
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(set.views[k].id, ids[k]);
        assert_int_equal(set.views[k].camera_idx, used[k]);
        assert_int_equal(set.cameras[k].id, cameras[k]);
    }
    /* a-b as it was, but by places: x = 2 stands before x = 5; c-a turned round */
    assert_int_equal(set.pairs[0].view1, 0);
    assert_int_equal(set.pairs[0].view2, 1);
    assert_int_equal(set.pairs[0].matches[0][0], 1);
    assert_int_equal(set.pairs[0].matches[0][1], 2);
    assert_int_equal(set.pairs[1].view1, 0);
    assert_int_equal(set.pairs[1].view2, 2);
    assert_int_equal(set.pairs[1].matches[0][0], 2);
    assert_int_equal(set.pairs[1].matches[0][1], 1);
    assert_int_equal(set.pairs[1].matches[1][0], 1);
    assert_int_equal(set.pairs[1].matches[1][1], 0);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
}

/* What is in the images decides, or their cameras: other names change nothing. */
static void names_do_not_decide_otherwise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int by_camera = 0; by_camera < 2; ++by_camera) {
        psfm_match_set set, renamed;
        make_set(ctx, &set);
        make_set(ctx, &renamed);
        for (uint32_t k = 0; k < 3; ++k) {
            set.views[k].camera_idx = renamed.views[k].camera_idx = k;
            if (by_camera)
                set.cameras[k].params[1] = renamed.cameras[k].params[1] = k * 7 % 3;
            else
                set.views[k].keypoints[1][0] = renamed.views[k].keypoints[1][0] = k + 0.5;
        }
        renamed.views[0].name[0] = 'b';
        renamed.views[2].name[0] = 'c';
        assert_ok(ctx, psfm_match_set_canonical(ctx, &set));
        assert_ok(ctx, psfm_match_set_canonical(ctx, &renamed));
        for (int k = 0; k < 3; ++k) {
            assert_int_equal(set.views[k].id, renamed.views[k].id);
            assert_int_equal(set.cameras[k].id, renamed.cameras[k].id);
        }
        for (int p = 0; p < 2; ++p) {
            assert_int_equal(set.pairs[p].view1, renamed.pairs[p].view1);
            assert_int_equal(set.pairs[p].view2, renamed.pairs[p].view2);
        }
        psfm_match_set_free(&set);
        psfm_match_set_free(&renamed);
    }
    psfm_context_destroy(&ctx);
}

static void people_see_names_in_order(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    uint32_t *by_name = NULL;
    make_set(ctx, &set);
    assert_ok(ctx, psfm_match_set_by_name(ctx, &set, &by_name));
    static const uint32_t order[] = {1, 2, 0}; /* of c, a, b */
    assert_memory_equal(by_name, order, sizeof order);
    free(by_name);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
}

static void streams_know_places_only(void **state) {
    (void)state;
    double one[3][2] = {{5, 1}, {2, 7}, {2, 3}}, other[3][2] = {{2, 3}, {5, 1}, {2, 7}};
    psfm_view a = {.id = 1, .name = (char *)"a", .num_keypoints = 3, .keypoints = one};
    psfm_view b = {.id = 2, .name = (char *)"b", .num_keypoints = 3, .keypoints = other};
    assert_true(psfm_view_stream(&a) == psfm_view_stream(&b));
    other[0][1] = 4;
    assert_true(psfm_view_stream(&a) != psfm_view_stream(&b));
}

static void survives_failing_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status == PSFM_ERR_MEMORY; ++n) {
        psfm_match_set set;
        make_set(ctx, &set);
        psfm_alloc_fail_after(n);
        status = psfm_match_set_canonical(ctx, &set);
        psfm_alloc_fail_after(0);
        psfm_match_set_free(&set);
    }
    assert_ok(ctx, status);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_equal_images_by_name),
        cmocka_unit_test(names_do_not_decide_otherwise),
        cmocka_unit_test(people_see_names_in_order),
        cmocka_unit_test(streams_know_places_only),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests_name("matches/canonical_order", tests, NULL, NULL);
}
