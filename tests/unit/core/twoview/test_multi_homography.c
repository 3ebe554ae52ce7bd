#include "test_util.h"

#include "core/twoview/homography.h"
#include "core/twoview/multi_homography.h"
#include "unit/core/twoview/twoview_util.h"

static const double area[2] = {1024.0 * 768.0, 1024.0 * 768.0};

static psfm_plane_set find(const psfm_ray_pairs *pairs, const psfm_two_view_options *options,
                           size_t max_planes) {
    psfm_two_view_options o;
    psfm_plane_set set;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_HOMOGRAPHY, 0, 0);
    psfm_options_init(&psfm_two_view_option_table, &o);
    assert_ok(NULL, psfm_plane_set_init(NULL, pairs->num, 5, &set));
    assert_ok(NULL, psfm_multi_homography(NULL, pairs, area, options == NULL ? &o : options,
                                          max_planes, &rng, &set));
    return set;
}

static void check_set(const psfm_ray_pairs *pairs, const psfm_plane_set *set) {
    size_t counts[5] = {0};
    for (size_t i = 0; i < pairs->num; ++i) {
        assert_true(set->plane[i] == PSFM_NO_PLANE || set->plane[i] < set->num_planes);
        if (set->plane[i] != PSFM_NO_PLANE)
            ++counts[set->plane[i]];
    }
    for (size_t p = 0; p < set->num_planes; ++p) {
        double U[9], s[3], V[9];
        assert_int_equal(counts[p], set->num_inliers[p]);
        assert_true(p == 0 || counts[p - 1] >= counts[p]);
        psfm_mat3_svd(set->H_21[p], U, s, V);
        assert_close(s[1], 1.0, 1e-9);
        assert_true(psfm_mat3_det(set->H_21[p]) > 0.0);
    }
}

static void one_plane_is_one(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    for (uint64_t seed = 0; seed < 30; ++seed) {
        o.noise_px = seed % 2 == 0 ? 1.0 : 2.0; /* at 2 px a seventh of it is beyond the bound */
        o.outliers = 0.2 * (double)(seed % 4);
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_plane_set set = find(&pairs, NULL, 5);
        check_set(&pairs, &set);
        assert_int_equal(set.num_planes, 1);
        psfm_plane_set_free(&set);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* At 2 px a seventh of each plane is beyond the bound of 4 px: noise that could pass for planes. */
static void noise_of_planes_is_no_plane(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 2.0;
    o.outliers = 0.2;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        o.num_planes = 1 + (int)(seed % 3);
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_plane_set set = find(&pairs, NULL, 5);
        assert_true(set.num_planes <= (size_t)o.num_planes);
        psfm_plane_set_free(&set);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* Share of the true matches that are on the plane most of their fellows are on. */
static double share_assigned(const scene *s, const psfm_ray_pairs *pairs,
                             const psfm_plane_set *set) {
    size_t table[5][SCENE_MAX_PLANES] = {{0}}, right = 0, all = 0;
    for (size_t i = 0; i < pairs->num; ++i) {
        int truth = s->plane[pairs->row[i]];
        all += truth >= 0;
        if (truth >= 0 && set->plane[i] != PSFM_NO_PLANE)
            ++table[set->plane[i]][truth];
    }
    for (size_t p = 0; p < set->num_planes; ++p) {
        size_t most = 0;
        for (int k = 0; k < SCENE_MAX_PLANES; ++k)
            most = table[p][k] > most ? table[p][k] : most;
        right += most;
    }
    return (double)right / (double)all;
}

static void several_planes_are_told_apart(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 0.7;
    int found[2] = {0, 0};
    double share[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < 40; ++seed) {
        int kind = (int)(seed % 2);
        o.num_planes = 2 + kind;
        o.outliers = seed % 4 < 2 ? 0.0 : 0.3;
        o.baseline[0] = 0.3;
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_plane_set set = find(&pairs, NULL, 5);
        check_set(&pairs, &set);
        assert_true(set.num_planes <= (size_t)o.num_planes);
        found[kind] += set.num_planes == (size_t)o.num_planes;
        share[kind] += share_assigned(&s, &pairs, &set) / 20.0;
        psfm_plane_set_free(&set);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
    /* planes that lie within the bound of each other where both are seen are one */
    assert_true(found[0] >= 18 && found[1] >= 15);
    assert_true(share[0] > 0.95 && share[1] > 0.9);
}

static void chance_gives_no_plane(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.outliers = 1.0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const size_t sizes[3] = {12, 50, 300};
        o.num_matches = sizes[seed % 3];
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_plane_set set = find(&pairs, NULL, 5);
        assert_int_equal(set.num_planes, 0);
        psfm_plane_set_free(&set);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

static void repeated_keypoints_are_no_evidence(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 30;
    o.outliers = 1.0;
    scene s = scene_make(&o, 2);
    for (size_t i = 5; i < 30; ++i) { /* five random matches, six times each */
        memcpy(s.c.ray1[i], s.c.ray1[i % 5], sizeof s.c.ray1[i]);
        memcpy(s.c.ray2[i], s.c.ray2[i % 5], sizeof s.c.ray2[i]);
        memcpy(s.c.px1[i], s.c.px1[i % 5], sizeof s.c.px1[i]);
        memcpy(s.c.px2[i], s.c.px2[i % 5], sizeof s.c.px2[i]);
    }
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_plane_set set = find(&pairs, NULL, 5);
    assert_int_equal(set.num_planes, 0);
    psfm_plane_set_free(&set);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void a_cloud_has_no_plane(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 0;
    o.baseline[0] = 0.3;
    o.noise_px = 0.5;
    int num = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_plane_set set = find(&pairs, NULL, 5);
        num += set.num_planes > 0;
        psfm_plane_set_free(&set);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
    assert_true(num <= 4);
}

static void options_limit_what_is_found(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.baseline[0] = 0.3;
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    scene s = scene_make(&o, 3);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_plane_set both = find(&pairs, &options, 5), one = find(&pairs, &options, 1);
    assert_int_equal(both.num_planes, 2);
    assert_int_equal(one.num_planes, 1);
    options.min_inliers = 260;
    psfm_plane_set none = find(&pairs, &options, 5);
    assert_int_equal(none.num_planes, 0);
    options.min_inliers = 8;
    options.min_area = 0.9;
    psfm_plane_set small = find(&pairs, &options, 5);
    assert_int_equal(small.num_planes, 0);
    psfm_plane_set_free(&both);
    psfm_plane_set_free(&one);
    psfm_plane_set_free(&none);
    psfm_plane_set_free(&small);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void search_goes_on_from_known_planes(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.baseline[0] = 0.3;
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    scene s = scene_make(&o, 3);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_plane_set set = find(&pairs, NULL, 1);
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_HOMOGRAPHY, 0, 0);
    assert_ok(NULL, psfm_multi_homography(NULL, &pairs, area, &options, 5, &rng, &set));
    assert_int_equal(set.num_planes, 2);
    check_set(&pairs, &set);
    psfm_plane_set_free(&set);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plane_is_one),
        cmocka_unit_test(noise_of_planes_is_no_plane),
        cmocka_unit_test(several_planes_are_told_apart),
        cmocka_unit_test(chance_gives_no_plane),
        cmocka_unit_test(repeated_keypoints_are_no_evidence),
        cmocka_unit_test(a_cloud_has_no_plane),
        cmocka_unit_test(options_limit_what_is_found),
        cmocka_unit_test(search_goes_on_from_known_planes),
    };
    return cmocka_run_group_tests_name("twoview/multi_homography", tests, NULL, NULL);
}
