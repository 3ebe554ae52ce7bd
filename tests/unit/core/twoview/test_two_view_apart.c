/* Homographies and essential matrix estimated apart: neither knows of the other. */
#include "test_util.h"

#include "core/twoview/two_view.h"
#include "unit/core/twoview/twoview_util.h"

static psfm_two_view_options apart(void) {
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.independent = true;
    return options;
}

static psfm_two_view estimate(psfm_context *ctx, const scene *s,
                              const psfm_two_view_options *options) {
    const psfm_image_pair images = {{{s->size[0], s->size[1]}, {s->size[0], s->size[1]}}, {1, 2}};
    psfm_two_view view;
    assert_ok(ctx, psfm_two_view_estimate(ctx, &s->c, &images, options, &view));
    return view;
}

static scene make_scene(uint64_t seed) {
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.off_plane = 0.3;
    o.outliers = 0.2;
    o.num_planes = 1 + (int)(seed % 2);
    return scene_make(&o, seed);
}

static void homographies_know_nothing_of_the_essential_matrix(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options with = apart(), without = apart();
    without.estimate_essential = false;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = make_scene(seed);
        psfm_two_view a = estimate(ctx, &s, &with), b = estimate(ctx, &s, &without);
        assert_true(a.essential.found && !b.essential.found);
        assert_int_equal(a.num_homographies, b.num_homographies);
        for (size_t h = 0; h < a.num_homographies; ++h) {
            const psfm_homography *p = &a.homographies[h], *q = &b.homographies[h];
            assert_memory_equal(p->H_21, q->H_21, sizeof p->H_21);
            assert_int_equal(p->num_motions, q->num_motions);
            assert_memory_equal(p->motions, q->motions, sizeof p->motions);
            assert_int_equal(p->num_inliers, q->num_inliers);
            assert_memory_equal(p->inliers, q->inliers, p->num_inliers * sizeof *p->inliers);
        }
        psfm_two_view_free(&a);
        psfm_two_view_free(&b);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

/* Two planes, one, or none at all leave the same essential matrix. */
static void essential_matrix_knows_nothing_of_the_homographies(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options all = apart(), one = apart(), none = apart();
    one.max_homographies = 1;
    none.min_area = 1.0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = make_scene(seed);
        psfm_two_view view = estimate(ctx, &s, &all);
        psfm_two_view other[2] = {estimate(ctx, &s, &one), estimate(ctx, &s, &none)};
        assert_int_equal(other[0].num_homographies, 1);
        assert_int_equal(other[1].num_homographies, 0);
        assert_true(view.essential.found);
        for (int k = 0; k < 2; ++k) {
            const psfm_essential *a = &view.essential, *b = &other[k].essential;
            assert_true(b->found);
            assert_memory_equal(a->R_21, b->R_21, sizeof a->R_21);
            assert_memory_equal(a->t_21, b->t_21, sizeof a->t_21);
            assert_int_equal(a->num_inliers, b->num_inliers);
            psfm_two_view_free(&other[k]);
        }
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

/* Made to agree, a plane has one motion; apart it keeps both, and the true one is among them. */
static void all_decompositions_are_kept(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options options = apart();
    int num_two = 0, num_near = 0;
    for (uint64_t seed = 0; seed < 40; seed += 2) {
        scene s = make_scene(seed);
        psfm_two_view together = estimate(ctx, &s, NULL), view = estimate(ctx, &s, &options);
        const psfm_homography *h = &view.homographies[0];
        double best = 180.0;
        for (int k = 0; k < h->num_motions; ++k)
            best = fmin(best, psfm_degrees(psfm_rotation_angle(h->motions[k].R_21, s.R_21)));
        assert_int_equal(together.homographies[0].num_motions, 1);
        num_two += h->num_motions == 2;
        num_near += best < 1.0;
        psfm_two_view_free(&together);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(num_two >= 15 && num_near >= 18);
    psfm_context_destroy(&ctx);
}

/* Five points find the motion where a third of the matches is off the plane. */
static void essential_matrix_is_near_the_truth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options options = apart();
    int num_near = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = make_scene(seed);
        psfm_two_view view = estimate(ctx, &s, &options);
        num_near += psfm_degrees(psfm_rotation_angle(view.essential.R_21, s.R_21)) < 1.0;
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(num_near >= 17);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(homographies_know_nothing_of_the_essential_matrix),
        cmocka_unit_test(essential_matrix_knows_nothing_of_the_homographies),
        cmocka_unit_test(all_decompositions_are_kept),
        cmocka_unit_test(essential_matrix_is_near_the_truth),
    };
    return cmocka_run_group_tests_name("twoview/two_view_apart", tests, NULL, NULL);
}
