#include "test_util.h"

#include "core/twoview/homography.h"
#include "core/twoview/homography_ransac.h"
#include "unit/core/twoview/twoview_util.h"

static bool run(const psfm_ray_pairs *pairs, const uint32_t *order, psfm_homography_found *found) {
    double *scratch = malloc((pairs->num + PSFM_LANES) * sizeof *scratch);
    psfm_homography_search search = {4.0, 0.9999, 5000, scratch, order};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_HOMOGRAPHY, 0, 0);
    bool ok = psfm_homography_ransac(pairs, &search, &rng, found);
    free(scratch);
    return ok;
}

static void exact_matches_among_outliers(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 100;
    for (int round = 0; round < 20; ++round) {
        o.outliers = 0.2 * (round % 4);
        scene s = scene_make(&o, (uint64_t)round);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_homography_found found;
        assert_true(run(&pairs, NULL, &found));
        assert_same_up_to_scale(found.H_21, s.H_21[0], 1e-6);
        assert_true(found.num_inliers >= 100 - 20 * (size_t)(round % 4));
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* What a fit to the true inliers reaches is the yardstick: the mean transfer error over the image
 * must not be larger by more than a tenth. */
static void noisy_matches_as_good_as_with_known_inliers(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.outliers = 0.4;
    double ours = 0.0, known = 0.0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s), inliers;
        uint32_t idx[500];
        size_t num = 0;
        for (uint32_t i = 0; i < pairs.num; ++i)
            if (s.plane[pairs.row[i]] == 0)
                idx[num++] = i;
        assert_ok(NULL, psfm_ray_pairs_select(NULL, &pairs, idx, num, &inliers));
        psfm_homography_found found;
        double H[9];
        assert_true(run(&pairs, NULL, &found));
        assert_true(psfm_homography_fit(&inliers, inliers.num_blocks, H));
        psfm_homography_refine(&inliers, inliers.num_blocks, (psfm_loss){1e6, 0.0}, 50, H);
        for (size_t i = 0; i < inliers.num; i += 10) {
            double truth[2], a[2], b[2];
            psfm_homography_transfer(&inliers, i, s.H_21[0], truth);
            psfm_homography_transfer(&inliers, i, found.H_21, a);
            psfm_homography_transfer(&inliers, i, H, b);
            ours += hypot(a[0] - truth[0], a[1] - truth[1]);
            known += hypot(b[0] - truth[0], b[1] - truth[1]);
        }
        psfm_ray_pairs_free(&inliers);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
    assert_below(ours, 1.1 * known);
}

static void outlier_free_matches_need_few_samples(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    scene s = scene_make(&o, 5);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_homography_found found;
    assert_true(run(&pairs, NULL, &found));
    assert_true(found.num_iterations <= 3);
    assert_true(found.num_inliers >= 498);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void samples_of_neighbours_find_a_small_plane(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.outliers = 0.6;
    o.noise_px = 0.5;
    o.num_planes = 4; /* a plane is a quarter of the image; three are turned into outliers */
    int found_it = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        o.num_matches = 400;
        scene s = scene_make(&o, seed);
        for (size_t i = 0; i < s.c.num; ++i)
            if (s.plane[i] > 0)
                memcpy(s.c.ray2[i], s.c.ray2[(i * 7 + 1) % s.c.num], sizeof s.c.ray2[i]);
        psfm_ray_pairs pairs = pairs_of(&s);
        uint32_t *order = malloc(pairs.num * sizeof *order);
        assert_ok(NULL, psfm_spatial_order(NULL, &pairs, order));
        psfm_homography_found found;
        size_t hits = 0;
        if (run(&pairs, order, &found)) {
            double squared[400];
            psfm_homography_errors(&pairs, found.H_21, squared);
            for (size_t i = 0; i < pairs.num; ++i)
                hits += s.plane[pairs.row[i]] == 0 && squared[i] < 16.0;
        }
        found_it += hits >= 36; /* of 40 */
        free(order);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
    assert_true(found_it >= 33); /* samples from everywhere alone find about half of them */
}

static void too_few_or_useless_matches(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 10;
    scene s = scene_make(&o, 6);
    psfm_homography_found found;
    s.c.num = 3;
    psfm_ray_pairs pairs = pairs_of(&s);
    assert_false(run(&pairs, NULL, &found));
    psfm_ray_pairs_free(&pairs);
    s.c.num = 10;
    for (size_t i = 1; i < 10; ++i) { /* all the same match */
        memcpy(s.c.ray1[i], s.c.ray1[0], sizeof s.c.ray1[i]);
        memcpy(s.c.ray2[i], s.c.ray2[0], sizeof s.c.ray2[i]);
    }
    pairs = pairs_of(&s);
    assert_false(run(&pairs, NULL, &found));
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_among_outliers),
        cmocka_unit_test(noisy_matches_as_good_as_with_known_inliers),
        cmocka_unit_test(outlier_free_matches_need_few_samples),
        cmocka_unit_test(samples_of_neighbours_find_a_small_plane),
        cmocka_unit_test(too_few_or_useless_matches),
    };
    return cmocka_run_group_tests_name("twoview/homography_ransac", tests, NULL, NULL);
}
