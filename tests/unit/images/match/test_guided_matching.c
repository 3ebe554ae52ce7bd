#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "images/match/guided_matching.h"

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return 0;
}

/* Two cameras and a plane n . X = 4 in the first; keypoint k of both images is the same point of
 * it, but for the last OFF_PLANE, which lie off it. All descriptors come in duplicates, one at
 * either end of the image, so that a ratio test over the whole image fails. */
enum { NUM = 400, OFF_PLANE = 40, KNOWN = 60 };

typedef struct {
    psfm_match_set set;
    psfm_guide guide;
    uint8_t *descriptors1, *descriptors2;
} scene;

static void place(psfm_view *view, size_t k, const psfm_camera *camera, const double point[3],
                  double noise, psfm_rng *rng) {
    double ray[3] = {point[0], point[1], point[2]};
    assert_true(psfm_camera_project(camera, ray, view->keypoints[k]));
    for (int c = 0; c < 2; ++c)
        view->keypoints[k][c] += noise * psfm_rng_normal(rng);
}

static scene make_scene(double noise) {
    scene s = {0};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    const double w[3] = {0.05, -0.2, 0.1}, t[3] = {0.8, 0.1, -0.2}, n[3] = {0.1, 0.2, 0.97};
    double R[9];
    psfm_rotation_exp(w, R);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            s.guide.H_21[3 * r + c] = R[3 * r + c] + t[r] * n[c] / 4.0;
    psfm_match_set *set = &s.set;
    set->num_cameras = 1;
    set->cameras = calloc(1, sizeof *set->cameras);
    set->cameras[0] = (psfm_camera){.id = 1,
                                    .model = PSFM_CAMERA_SIMPLE_RADIAL,
                                    .width = 1200,
                                    .height = 900,
                                    .params = {1000, 600, 450, -0.05}};
    set->num_views = 2;
    set->views = calloc(2, sizeof *set->views);
    for (int v = 0; v < 2; ++v) {
        set->views[v].id = (uint32_t)v + 1;
        set->views[v].name = strdup(v ? "b" : "a");
        set->views[v].num_keypoints = NUM;
        set->views[v].keypoints = calloc(NUM, sizeof *set->views[v].keypoints);
    }
    for (size_t k = 0; k < NUM; ++k) {
        double point[3] = {psfm_rng_range(&rng, -1.6, 1.6), psfm_rng_range(&rng, -1.2, 1.2), 0};
        point[2] = (4.0 - n[0] * point[0] - n[1] * point[1]) / n[2];
        if (k >= NUM - OFF_PLANE)
            point[2] -= 0.7;
        double moved[3];
        psfm_mat3_mul_vec(R, point, moved);
        psfm_axpy3(moved, 1.0, t, moved);
        place(&set->views[0], k, &set->cameras[0], point, noise, &rng);
        place(&set->views[1], k, &set->cameras[0], moved, noise, &rng);
    }
    size_t without;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, &without));
    set->num_pairs = 1;
    set->pairs = calloc(1, sizeof *set->pairs);
    set->pairs[0] = (psfm_match_pair){.view1 = 0, .view2 = 1, .num_matches = KNOWN};
    set->pairs[0].matches = calloc(KNOWN, sizeof *set->pairs[0].matches);
    uint32_t *inliers = calloc(KNOWN, sizeof *inliers);
    for (uint32_t k = 0; k < KNOWN; ++k) {
        set->pairs[0].matches[k][0] = set->pairs[0].matches[k][1] = k;
        inliers[k] = k;
    }
    s.guide.inliers = inliers;
    s.guide.num_inliers = KNOWN;
    s.descriptors1 = malloc(128 * NUM);
    s.descriptors2 = malloc(128 * NUM);
    for (size_t k = 0; k < NUM; ++k) {
        for (size_t c = 0; c < 128; ++c) {
            int value = (int)psfm_rng_below(&rng, 2) * (int)psfm_rng_below(&rng, 110);
            if (k >= NUM / 2)
                value = s.descriptors1[128 * (k - NUM / 2) + c]; /* the duplicate */
            s.descriptors1[128 * k + c] = (uint8_t)value;
            s.descriptors2[128 * k + c] = (uint8_t)(value + (int)psfm_rng_below(&rng, 7));
        }
    }
    return s;
}

static void free_scene(scene *s) {
    free((void *)s->guide.inliers);
    free(s->descriptors1);
    free(s->descriptors2);
    psfm_match_set_free(&s->set);
}

static psfm_status run(const scene *s, psfm_guided_matches *out) {
    const psfm_guided_pair input = {&s->set.views[0],
                                    &s->set.views[1],
                                    &s->set.pairs[0],
                                    s->descriptors1,
                                    s->descriptors2,
                                    &s->guide,
                                    1};
    return psfm_guided_match(ctx, &input, out);
}

static void points_of_the_plane_are_found(void **state) {
    (void)state;
    scene s = make_scene(0.3);
    psfm_guided_matches found;
    assert_ok(ctx, run(&s, &found));
    size_t right = 0;
    for (size_t k = 0; k < found.num; ++k) {
        assert_true(found.matches[k][0] >= KNOWN); /* nothing twice */
        assert_true(k == 0 || found.matches[k][0] > found.matches[k - 1][0]);
        right +=
            found.matches[k][0] == found.matches[k][1] && found.matches[k][0] < NUM - OFF_PLANE;
        assert_int_equal(found.guide[k], 0);
    }
    assert_int_equal(right, found.num);
    assert_true(right > (NUM - OFF_PLANE - KNOWN) * 95 / 100);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

static void the_region_limits_the_search(void **state) {
    (void)state;
    scene s = make_scene(0.0);
    /* only inliers of the left part; the region reaches a quarter further from its middle */
    uint32_t *inliers = (uint32_t *)s.guide.inliers;
    size_t num = 0;
    for (uint32_t k = 0; k < KNOWN; ++k)
        if (s.set.views[0].keypoints[k][0] < 480.0)
            inliers[num++] = k;
    s.guide.num_inliers = num;
    psfm_guided_matches found;
    assert_ok(ctx, run(&s, &found));
    assert_true(found.num > 50);
    for (size_t k = 0; k < found.num; ++k)
        assert_below(s.set.views[0].keypoints[found.matches[k][0]][0], 600.0);
    psfm_guided_matches_free(&found);
    s.guide.num_inliers = 2; /* no region */
    assert_ok(ctx, run(&s, &found));
    assert_int_equal(found.num, 0);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

static void keypoints_without_rays_and_wrong_homographies_give_nothing(void **state) {
    (void)state;
    scene s = make_scene(0.0);
    psfm_guided_matches found;
    memset(s.set.views[0].rays[100], 0, sizeof *s.set.views[0].rays);
    memset(s.set.views[1].rays[101], 0, sizeof *s.set.views[1].rays);
    assert_ok(ctx, run(&s, &found));
    for (size_t k = 0; k < found.num; ++k)
        assert_true(found.matches[k][0] != 100 && found.matches[k][1] != 101);
    psfm_guided_matches_free(&found);
    for (int k = 0; k < 9; ++k)
        s.guide.H_21[k] = -s.guide.H_21[k]; /* behind the camera */
    assert_ok(ctx, run(&s, &found));
    assert_int_equal(found.num, 0);
    psfm_guided_matches_free(&found);
    memset(s.guide.H_21, 0, sizeof s.guide.H_21);
    assert_ok(ctx, run(&s, &found));
    assert_int_equal(found.num, 0);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

static void ambiguous_neighbours_are_left_alone(void **state) {
    (void)state;
    scene s = make_scene(0.0);
    /* keypoint 120 of image 2 sits a pixel from 110 and looks like it */
    for (int c = 0; c < 2; ++c)
        s.set.views[1].keypoints[120][c] = s.set.views[1].keypoints[110][c] + 0.7;
    memcpy(s.descriptors2 + 128 * 120, s.descriptors2 + 128 * 110, 128);
    size_t without;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &s.set, &without));
    psfm_guided_matches found;
    assert_ok(ctx, run(&s, &found));
    for (size_t k = 0; k < found.num; ++k)
        assert_true(found.matches[k][0] != 110 && found.matches[k][1] != 110);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

/* Keypoint 120 of image 1 moves beside 110 and looks like it, but less so than 110 itself; and 121
 * of image 2 beside 5, which is matched already. */
static void rivals_and_matched_keypoints_get_nothing(void **state) {
    (void)state;
    scene s = make_scene(0.0);
    for (int c = 0; c < 2; ++c) {
        s.set.views[0].keypoints[120][c] = s.set.views[0].keypoints[110][c] + 0.7;
        s.set.views[1].keypoints[121][c] = s.set.views[1].keypoints[5][c] + 0.7;
    }
    memcpy(s.descriptors2 + 128 * 110, s.descriptors1 + 128 * 110, 128);
    memcpy(s.descriptors2 + 128 * 121, s.descriptors1 + 128 * 5, 128);
    for (int c = 0; c < 128; ++c)
        s.descriptors1[128 * 120 + c] =
            (uint8_t)(s.descriptors1[128 * 110 + c] * (c % 5 == 0 ? 0.5 : 1.0));
    size_t without, found_110 = 0;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &s.set, &without));
    psfm_guided_matches found;
    assert_ok(ctx, run(&s, &found));
    for (size_t k = 0; k < found.num; ++k) {
        found_110 += found.matches[k][0] == 110 && found.matches[k][1] == 110;
        assert_true(found.matches[k][0] != 120 && found.matches[k][0] != 5);
    }
    assert_int_equal(found_110, 1);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

static void failures_are_reported(void **state) {
    (void)state;
    scene s = make_scene(0.0);
    psfm_guided_matches found;
    size_t failures = 0;
    for (size_t n = 1;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = run(&s, &found);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(found.matches);
        ++failures;
    }
    assert_in_range(failures, 8, 20);
    psfm_guided_matches_free(&found);
    free_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_the_plane_are_found),
        cmocka_unit_test(the_region_limits_the_search),
        cmocka_unit_test(keypoints_without_rays_and_wrong_homographies_give_nothing),
        cmocka_unit_test(ambiguous_neighbours_are_left_alone),
        cmocka_unit_test(rivals_and_matched_keypoints_get_nothing),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("match/guided_matching", tests, make_context, free_context);
}
