#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/twoview/essential.h"
#include "core/twoview/two_view.h"
#include "planarsfm/camera.h"
#include "synth/scene.h"
#include "unit/core/twoview/twoview_util.h"

static psfm_image_pair images_of(const scene *s) {
    return (psfm_image_pair){{{s->size[0], s->size[1]}, {s->size[0], s->size[1]}}, {1, 2}};
}

static psfm_two_view estimate(psfm_context *ctx, const scene *s,
                              const psfm_two_view_options *options) {
    const psfm_image_pair images = images_of(s);
    psfm_two_view view;
    assert_ok(ctx, psfm_two_view_estimate(ctx, &s->c, &images, options, &view));
    return view;
}

/* Every promise of the header that can be checked without the truth. */
static void check_promises(const scene *s, const psfm_two_view *view) {
    bool *taken = calloc(s->c.num + 1, sizeof *taken);
    for (size_t h = 0; h < view->num_homographies; ++h) {
        const psfm_homography *H = &view->homographies[h];
        double U[9], w[3], V[9];
        psfm_mat3_svd(H->H_21, U, w, V);
        assert_close(w[1], 1.0, 1e-9);
        assert_true(psfm_mat3_det(H->H_21) > 0.0);
        assert_true(H->num_motions >= 1 && H->num_motions <= 2);
        assert_true(h == 0 || H->num_inliers <= view->homographies[h - 1].num_inliers);
        for (size_t k = 0; k < H->num_inliers; ++k) {
            assert_true(k == 0 || H->inliers[k] > H->inliers[k - 1]);
            assert_true(H->inliers[k] < s->c.num);
            assert_false(taken[H->inliers[k]]);
            taken[H->inliers[k]] = true;
        }
        for (int k = 0; k < H->num_motions; ++k) {
            const psfm_plane_motion *m = &H->motions[k];
            double n2[3];
            for (int i = 0; i < 9; ++i)
                assert_close(m->R_21[i] + m->t_21[i / 3] * m->n1[i % 3], H->H_21[i], 1e-9);
            psfm_mat3_mul_vec(m->R_21, m->n1, n2);
            for (int i = 0; i < 3; ++i)
                assert_close(n2[i], m->n2[i], 1e-9);
            assert_close(m->d2_over_d1, 1.0 + psfm_dot3(m->n2, m->t_21), 1e-9);
            assert_true(m->d2_over_d1 > 0.0);
            if (!H->is_rotation)
                assert_true(psfm_dot3(m->n1, s->c.ray1[H->inliers[0]]) > -0.2);
        }
    }
    const psfm_essential *E = &view->essential;
    for (size_t k = 1; k < E->num_inliers; ++k)
        assert_true(E->inliers[k] > E->inliers[k - 1]);
    if (E->found)
        assert_close(psfm_norm3(E->t_21), 1.0, 1e-12);
    free(taken);
}

/* Degrees from the truth, of the best motion of the first homography. */
static double best_error(const scene *s, const psfm_two_view *view) {
    double best = 180.0;
    for (int k = 0; view->num_homographies > 0 && k < view->homographies[0].num_motions; ++k) {
        const psfm_plane_motion *m = &view->homographies[0].motions[k];
        best = fmin(best, motion_error_deg(m->R_21, m->t_21, s->R_21, s->t_21));
    }
    return best;
}

static void exact_plane_gives_the_exact_motion(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.num_matches = 100;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        o.outliers = seed % 2 == 0 ? 0.0 : 0.4;
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        assert_int_equal(view.kind, PSFM_PAIR_OK);
        assert_int_equal(view.num_homographies, 1);
        assert_below(best_error(&s, &view), 1e-6);
        assert_below(view.homographies[0].rms_px, 1e-6);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

static void noisy_plane_within_bounds(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.outliers = 0.4;
    int within_one = 0, within_five = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        assert_int_equal(view.kind, PSFM_PAIR_OK);
        assert_int_equal(view.num_homographies, 1);
        assert_true(view.homographies[0].num_inliers >= 295);
        assert_true(view.essential.found && view.essential.is_degenerate);
        double error = best_error(&s, &view);
        within_one += error < 1.0;
        within_five += error < 5.0;
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(within_one >= 52);
    assert_true(within_five >= 59);
    psfm_context_destroy(&ctx);
}

/* A dozen labelled points, no wrong ones. */
static void few_points_are_enough(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.max_tilt = 0.9;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        o.num_matches = 8 + seed % 5;
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        assert_int_equal(view.kind, PSFM_PAIR_OK);
        assert_true(view.homographies[0].num_inliers >= 8);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

/* A search as long as most pairs need finds one in eight of these planes. */
static void nine_of_ten_matches_may_be_wrong(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    size_t found = 0;
    o.noise_px = 0.7;
    o.num_matches = 700;
    o.outliers = 0.9;
    for (uint64_t seed = 0; seed < 8; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        found += view.kind == PSFM_PAIR_OK && view.homographies[0].num_inliers > 50;
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(found >= 7);
    psfm_context_destroy(&ctx);
}

static void kinds_of_pairs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.num_matches = 7;
    scene few = scene_make(&o, 1);
    psfm_two_view view = estimate(ctx, &few, NULL);
    assert_int_equal(view.kind, PSFM_PAIR_FEW_MATCHES);
    assert_int_equal(view.num_homographies, 0);
    psfm_two_view_free(&view);
    few.c.num = 0;
    view = estimate(ctx, &few, NULL);
    assert_int_equal(view.kind, PSFM_PAIR_FEW_MATCHES);
    psfm_two_view_free(&view);
    o.num_matches = 100;
    o.outliers = 1.0;
    scene wrong = scene_make(&o, 2);
    view = estimate(ctx, &wrong, NULL);
    assert_int_equal(view.kind, PSFM_PAIR_NO_HOMOGRAPHY);
    assert_false(view.essential.found);
    psfm_two_view_free(&view);
    o.outliers = 0.3;
    o.baseline[0] = o.baseline[1] = 0.0;
    scene rotation = scene_make(&o, 3);
    view = estimate(ctx, &rotation, NULL);
    check_promises(&rotation, &view);
    assert_int_equal(view.kind, PSFM_PAIR_ROTATION);
    assert_true(view.homographies[0].is_rotation);
    assert_int_equal(view.homographies[0].num_motions, 1);
    assert_true(psfm_norm3(view.homographies[0].motions[0].t_21) == 0.0);
    assert_below(psfm_rotation_angle(view.homographies[0].motions[0].R_21, rotation.R_21), 0.002);
    assert_false(view.essential.found);
    psfm_two_view_free(&view);
    assert_string_equal(psfm_pair_kind_name(PSFM_PAIR_OK), "ok");
    assert_string_equal(psfm_pair_kind_name(PSFM_PAIR_FEW_MATCHES), "few_matches");
    assert_string_equal(psfm_pair_kind_name(PSFM_PAIR_NO_HOMOGRAPHY), "no_homography");
    assert_string_equal(psfm_pair_kind_name(PSFM_PAIR_ROTATION), "rotation");
    few.c.num = 7;
    scene_free(&few);
    scene_free(&wrong);
    scene_free(&rotation);
    psfm_context_destroy(&ctx);
}

/* Points off the plane leave one motion, and a better one than the plane alone. */
static void points_off_the_plane_settle_the_motion(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_two_view_options without;
    psfm_options_init(&psfm_two_view_option_table, &without);
    without.estimate_essential = false;
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.off_plane = 0.3;
    o.outliers = 0.2;
    double with_error = 0.0, without_error = 0.0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL), plain = estimate(ctx, &s, &without);
        check_promises(&s, &view);
        check_promises(&s, &plain);
        assert_true(view.essential.found && !view.essential.is_degenerate);
        assert_false(plain.essential.found);
        assert_int_equal(view.num_homographies, 1);
        assert_int_equal(view.homographies[0].num_motions, 1);
        assert_below(motion_error_deg(view.homographies[0].motions[0].R_21,
                                      view.homographies[0].motions[0].t_21, view.essential.R_21,
                                      view.essential.t_21),
                     1e-6);
        with_error += fmin(best_error(&s, &view), 5.0);
        without_error += fmin(best_error(&s, &plain), 5.0);
        psfm_two_view_free(&view);
        psfm_two_view_free(&plain);
        scene_free(&s);
    }
    assert_below(with_error, 0.75 * without_error);
    psfm_context_destroy(&ctx);
}

/* By how much the essential matrix costs more than what the true motion is refined to, px^2. */
static double excess_over_truth(const scene *s, const psfm_essential *e) {
    const psfm_loss loss = {16.0, 0.0};
    psfm_ray_pairs pairs = pairs_of(s);
    psfm_motion truth, found;
    double E[9];
    memcpy(truth.R_21, s->R_21, sizeof truth.R_21);
    memcpy(truth.t_21, s->t_21, sizeof truth.t_21);
    psfm_normalize3(truth.t_21);
    memcpy(found.R_21, e->R_21, sizeof found.R_21);
    memcpy(found.t_21, e->t_21, sizeof found.t_21);
    double best = psfm_motion_refine(&pairs, pairs.num_blocks, loss, 50, &truth);
    psfm_essential_from_motion(&found, E);
    double excess = psfm_essential_cost(&pairs, E, loss, INFINITY) - best;
    psfm_ray_pairs_free(&pairs);
    return excess;
}

/* A round thing through a long lens: its middle looks flat, so that a plane is found at once, but
 * no motion of that plane, and no two points beside it, are near the true motion. */
static void round_things_are_no_planes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.camera = (scene_camera){1000, 660, 3000, NULL, NULL, NULL};
    o.num_planes = 0;
    o.sphere = 0.1;
    o.num_matches = 150;
    o.noise_px = 0.7;
    o.outliers = 0.1;
    o.baseline[0] = 0.3;
    o.baseline[1] = 0.8;
    int missed = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        const psfm_essential *e = &view.essential;
        missed += !e->found || e->is_degenerate || excess_over_truth(&s, e) > 0.1 * 135.0;
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(missed <= 5); /* 30 with the motions of planes alone */
    psfm_context_destroy(&ctx);
}

static void several_planes_share_the_motion(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.noise_px = 0.7;
    o.baseline[0] = 0.3;
    int complete = 0, single = 0, all = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        o.num_planes = 2 + (int)(seed % 3);
        o.outliers = seed % 2 == 0 ? 0.0 : 0.3;
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        assert_int_equal(view.kind, PSFM_PAIR_OK);
        complete += view.num_homographies == (size_t)o.num_planes;
        for (size_t h = 0; h < view.num_homographies; ++h, ++all)
            single += view.homographies[h].num_motions == 1;
        if (!view.essential.is_degenerate)
            assert_below(best_error(&s, &view), 3.0);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    assert_true(complete >= 25);
    assert_true(single >= all * 9 / 10);
    psfm_context_destroy(&ctx);
}

static void bad_input_is_refused_or_ignored(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.num_matches = 60;
    scene s = scene_make(&o, 1);
    psfm_two_view view;
    const double sizes[4][2] = {{0, 768}, {1024, -1}, {NAN, 768}, {1024, INFINITY}};
    const psfm_image_pair images = images_of(&s);
    for (int k = 0; k < 4; ++k) {
        psfm_image_pair wrong = images;
        memcpy(wrong.size[0], sizes[k], sizeof sizes[k]);
        assert_int_equal(psfm_two_view_estimate(ctx, &s.c, &wrong, NULL, &view), PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), "size"));
        assert_int_equal(view.num_homographies, 0);
    }
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.max_error_px = NAN;
    assert_int_equal(psfm_two_view_estimate(ctx, &s.c, &images, &options, &view),
                     PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "max-error-px"));
    for (size_t i = 0; i < 20; ++i) { /* a third is rubbish */
        s.c.ray1[i][i % 3] = i % 2 == 0 ? NAN : INFINITY;
        memset(s.c.px2[i], 0, sizeof s.c.px2[i]);
    }
    view = estimate(ctx, &s, NULL);
    check_promises(&s, &view);
    assert_int_equal(view.kind, PSFM_PAIR_OK);
    assert_int_equal(view.homographies[0].num_inliers, 40);
    assert_int_equal(view.homographies[0].inliers[0], 20);
    psfm_two_view_free(&view);
    for (size_t i = 0; i < 60; ++i)
        s.c.ray2[i][0] = NAN;
    view = estimate(ctx, &s, NULL);
    assert_int_equal(view.kind, PSFM_PAIR_FEW_MATCHES);
    psfm_two_view_free(&view);
    scene_free(&s);
    psfm_context_destroy(&ctx);
}

/* All points the same, or all on a line: nothing to find, and nothing to crash. */
static void degenerate_matches(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.num_matches = 100;
    for (int kind = 0; kind < 3; ++kind) {
        scene s = scene_make(&o, 1);
        for (size_t i = 0; i < 100; ++i) {
            double x = kind == 0 ? 0.0 : 0.003 * (double)i;
            double a[3] = {x, 0.5 * x, 1.0}, b[3] = {kind == 2 ? 0.01 : x, 0.1, 1.0};
            psfm_normalize3(a);
            psfm_normalize3(b);
            memcpy(s.c.ray1[i], a, sizeof a);
            memcpy(s.c.ray2[i], b, sizeof b);
            angular_pixels(a, 1000.0, s.c.px1[i]);
            angular_pixels(b, 1000.0, s.c.px2[i]);
        }
        psfm_two_view view = estimate(ctx, &s, NULL);
        assert_int_equal(view.kind, PSFM_PAIR_NO_HOMOGRAPHY);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

/* The match indices of the result go through match_idx. */
static void inliers_index_the_matches(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.num_matches = 50;
    scene s = scene_make(&o, 4);
    for (uint32_t i = 0; i < 50; ++i)
        s.c.match_idx[i] = 3 * i + 1;
    psfm_two_view view = estimate(ctx, &s, NULL);
    assert_int_equal(view.homographies[0].num_inliers, 50);
    for (uint32_t i = 0; i < 50; ++i)
        assert_int_equal(view.homographies[0].inliers[i], 3 * i + 1);
    psfm_two_view_free(&view);
    scene_free(&s);
    psfm_context_destroy(&ctx);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    scene_options o = scene_defaults();
    o.noise_px = 0.7;
    o.num_planes = 2;
    o.off_plane = 0.2;
    o.num_matches = 150;
    scene s = scene_make(&o, 5);
    const psfm_image_pair images = images_of(&s);
    psfm_status status = PSFM_ERR_MEMORY;
    int n = 0;
    while (status != PSFM_OK && n < 1000) {
        psfm_two_view view;
        psfm_alloc_fail_after((size_t)++n);
        status = psfm_two_view_estimate(ctx, &s.c, &images, NULL, &view);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            psfm_two_view_free(&view);
        else {
            assert_int_equal(status, PSFM_ERR_MEMORY);
            assert_null(view.homographies);
            assert_null(view.essential.inliers);
        }
    }
    assert_true(n > 20 && n < 1000);
    scene_free(&s);
    psfm_context_destroy(&ctx);
}

static void assert_same(const psfm_two_view *a, const psfm_two_view *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->num_homographies, b->num_homographies);
    for (size_t h = 0; h < a->num_homographies; ++h) {
        const psfm_homography *p = &a->homographies[h], *q = &b->homographies[h];
        assert_memory_equal(p->H_21, q->H_21, sizeof p->H_21);
        assert_int_equal(p->num_inliers, q->num_inliers);
        assert_memory_equal(p->inliers, q->inliers, p->num_inliers * sizeof *p->inliers);
        assert_int_equal(p->num_motions, q->num_motions);
        assert_memory_equal(p->motions, q->motions, sizeof p->motions);
    }
    assert_int_equal(a->essential.found, b->essential.found);
    assert_memory_equal(a->essential.R_21, b->essential.R_21, sizeof a->essential.R_21);
    assert_memory_equal(a->essential.t_21, b->essential.t_21, sizeof a->essential.t_21);
}

static psfm_two_view *estimate_set(const psfm_match_set *set, int threads, uint64_t seed) {
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, threads);
    psfm_context_set_seed(ctx, seed);
    psfm_two_view *views = calloc(set->num_pairs, sizeof *views);
    assert_ok(ctx, psfm_two_view_estimate_all(ctx, set, NULL, views));
    psfm_context_destroy(&ctx);
    return views;
}

static void free_set(psfm_two_view *views, size_t num) {
    for (size_t k = 0; k < num; ++k)
        psfm_two_view_free(&views[k]);
    free(views);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene synth;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 8;
    options.num_points = 200;
    options.noise_px = 0.7;
    options.outliers = 0.2;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &synth));
    const psfm_match_set *set = &synth.matches;
    psfm_two_view *one = estimate_set(set, 1, 0), *many = estimate_set(set, 7, 0);
    psfm_two_view *other = estimate_set(set, 2, 1);
    bool differs = false;
    size_t num_ok = 0;
    for (size_t k = 0; k < set->num_pairs; ++k) {
        assert_same(&one[k], &many[k]);
        num_ok += one[k].kind == PSFM_PAIR_OK;
        differs = differs || one[k].num_homographies != other[k].num_homographies ||
                  (one[k].num_homographies > 0 &&
                   memcmp(one[k].homographies[0].H_21, other[k].homographies[0].H_21,
                          sizeof one[k].homographies[0].H_21) != 0);
    }
    assert_true(num_ok * 10 >= set->num_pairs * 9);
    assert_true(differs); /* the seed does */
    free_set(one, set->num_pairs);
    free_set(many, set->num_pairs);
    free_set(other, set->num_pairs);
    psfm_scene_free(&synth);
    psfm_context_destroy(&ctx);
}

static int cancel(const char *stage, size_t done, size_t total, void *user) {
    (void)stage, (void)done, (void)total, (void)user;
    return 1;
}

static void cancelling_leaves_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene synth;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 5;
    options.num_points = 100;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &synth));
    size_t num = synth.matches.num_pairs;
    psfm_two_view *views = calloc(num, sizeof *views);
    psfm_context_set_progress(ctx, cancel, NULL);
    assert_int_equal(psfm_two_view_estimate_all(ctx, &synth.matches, NULL, views),
                     PSFM_ERR_CANCELLED);
    for (size_t k = 0; k < num; ++k)
        assert_null(views[k].homographies);
    free(views);
    psfm_scene_free(&synth);
    psfm_context_destroy(&ctx);
}

static bool project(const void *camera, const double ray[3], double xy[2], double jacobian[6]) {
    return psfm_camera_project_jacobian(camera, ray, xy, jacobian);
}

static bool unproject(const void *camera, const double xy[2], double ray[3]) {
    return psfm_camera_unproject(camera, xy, ray);
}

/* Distorted and fisheye cameras work the same, since everything is on rays. */
static void distorted_cameras(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const psfm_camera cameras[2] = {
        {1, PSFM_CAMERA_OPENCV, 1024, 768, {900, 910, 512, 384, 0.05, -0.02, 1e-3, -1e-3}, true},
        {2, PSFM_CAMERA_OPENCV_FISHEYE, 1024, 768, {500, 500, 512, 384, 0.02, -0.01}, true},
    };
    for (uint64_t seed = 0; seed < 40; ++seed) {
        scene_options o = scene_defaults();
        o.camera = (scene_camera){1024, 768, 0, &cameras[seed % 2], project, unproject};
        o.noise_px = 0.5;
        o.outliers = 0.3;
        o.baseline[0] = 0.3;
        scene s = scene_make(&o, seed);
        psfm_two_view view = estimate(ctx, &s, NULL);
        check_promises(&s, &view);
        assert_int_equal(view.kind, PSFM_PAIR_OK);
        assert_true(view.homographies[0].num_inliers >= 345);
        assert_below(best_error(&s, &view), 2.0);
        psfm_two_view_free(&view);
        scene_free(&s);
    }
    psfm_context_destroy(&ctx);
}

/* What is kept of verification depends on more than its options. */
static void hashes_know_the_revision(void **state) {
    (void)state;
    const psfm_option_table *table = &psfm_two_view_option_table;
    psfm_two_view_options options;
    psfm_options_init(table, &options);
    const uint64_t whole = psfm_two_view_hash(&options, PSFM_HASH_START);
    assert_true(whole != psfm_options_hash(table, &options, PSFM_HASH_START));
    options.min_inliers = 9;
    assert_true(whole != psfm_two_view_hash(&options, PSFM_HASH_START));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_plane_gives_the_exact_motion),
        cmocka_unit_test(noisy_plane_within_bounds),
        cmocka_unit_test(few_points_are_enough),
        cmocka_unit_test(nine_of_ten_matches_may_be_wrong),
        cmocka_unit_test(kinds_of_pairs),
        cmocka_unit_test(points_off_the_plane_settle_the_motion),
        cmocka_unit_test(round_things_are_no_planes),
        cmocka_unit_test(several_planes_share_the_motion),
        cmocka_unit_test(bad_input_is_refused_or_ignored),
        cmocka_unit_test(degenerate_matches),
        cmocka_unit_test(inliers_index_the_matches),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(distorted_cameras),
        cmocka_unit_test(hashes_know_the_revision),
    };
    return cmocka_run_group_tests_name("twoview/two_view", tests, NULL, NULL);
}
