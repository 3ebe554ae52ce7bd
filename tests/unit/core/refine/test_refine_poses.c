/* Refinement from poses that are off by a little, on scenes whose true poses are known. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "refine_defaults.h"
#include "refine_util.h"
#include "synth/scene.h"

enum { NUM_VIEWS = 10 };

/* A scene with verified pairs, its graph with all edges accepted, and the true poses. */
typedef struct {
    psfm_scene scene;
    psfm_two_view *two_views;
    psfm_pose_graph graph;
    bool *accepted;
    uint32_t *group;
    psfm_pose_solution solution;
    psfm_refine_options options;
} problem;

/* The rest of a problem whose scene is there. */
static void make_rest(psfm_context *ctx, problem *p) {
    psfm_two_view_options verification;
    psfm_options_init(&psfm_two_view_option_table, &verification);
    assert_ok(ctx, psfm_two_views_make(ctx, &p->scene.matches, &verification, &p->two_views));
    assert_ok(ctx, psfm_pose_graph_build(ctx, &p->scene.matches, p->two_views, true, &p->graph));
    p->accepted = calloc(p->graph.num_edges, sizeof *p->accepted);
    p->group = calloc(p->graph.num_planes, sizeof *p->group); /* one floor */
    for (uint32_t e = 0; e < p->graph.num_edges; ++e)
        p->accepted[e] = true;
    assert_ok(ctx, psfm_pose_solution_init(ctx, &p->graph, &p->solution));
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        const psfm_model_image *image = &p->scene.truth.images[v];
        psfm_rotation_from_quat(image->cam_from_world_q, p->solution.poses.cam_from_world[v]);
        psfm_model_image_center(image, p->solution.poses.center[v]);
    }
    init_options(&p->options);
}

static void make_from(psfm_context *ctx, const psfm_scene_options *options, problem *p) {
    *p = (problem){0};
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 3, options, &p->scene));
    make_rest(ctx, p);
}

static void make(psfm_context *ctx, double noise_px, double outliers, problem *p) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_VIEWS;
    options.noise_px = noise_px;
    options.outliers = outliers;
    make_from(ctx, &options, p);
}

static void drop(problem *p) {
    psfm_two_views_free(&p->two_views, p->scene.matches.num_pairs);
    psfm_pose_graph_free(&p->graph);
    psfm_pose_solution_free(&p->solution);
    free(p->accepted);
    free(p->group);
    psfm_scene_free(&p->scene);
}

/* Turns each camera by about `degrees`, and moves it by about `metres`. */
static void shake(problem *p, double degrees, double metres) {
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        double w[3], turn[9], R[9];
        for (int k = 0; k < 3; ++k) {
            w[k] = psfm_radians(degrees) * psfm_rng_normal(&rng);
            p->solution.poses.center[v][k] += metres * psfm_rng_normal(&rng);
        }
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, p->solution.poses.cam_from_world[v], R);
        memcpy(p->solution.poses.cam_from_world[v], R, sizeof R);
    }
}

static void refine(psfm_context *ctx, problem *p, psfm_refined *out) {
    psfm_refine_input input = {
        &p->scene.matches, p->two_views, &p->graph, p->accepted, p->group, 1, NULL};
    assert_ok(ctx, refine_poses(ctx, &input, &p->options, &p->solution, out));
}

/* Largest rotation error, in degrees, over the pairs of posed images of one component. */
static double worst_rotation(const problem *p) {
    const psfm_poses *poses = &p->solution.poses;
    double truth[NUM_VIEWS][9], worst = 0.0;
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        psfm_rotation_from_quat(p->scene.truth.images[v].cam_from_world_q, truth[v]);
    for (uint32_t a = 0; a < NUM_VIEWS; ++a) {
        for (uint32_t b = 0; b < a; ++b) {
            double found[9], exact[9];
            if (!psfm_share_world(poses, a, b))
                continue;
            psfm_mat3_mul_t(poses->cam_from_world[a], poses->cam_from_world[b], found);
            psfm_mat3_mul_t(truth[a], truth[b], exact);
            worst = fmax(worst, psfm_degrees(psfm_rotation_angle(found, exact)));
        }
    }
    return worst;
}

static void exact_matches_give_exact_poses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem p;
    psfm_refined out;
    make(ctx, 0.0, 0.0, &p);
    shake(&p, 0.5, 0.2);
    refine(ctx, &p, &out);
    assert_below(worst_rotation(&p), 1e-5);
    assert_below(out.mean_px, 1e-4);
    assert_int_equal(out.planes.num_planes, 1);
    psfm_refined_free(&out);
    drop(&p);
    psfm_context_destroy(&ctx);
}

static void noise_and_wrong_matches_stay_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem p;
    psfm_refined out;
    make(ctx, 0.7, 0.3, &p);
    shake(&p, 0.5, 0.2);
    refine(ctx, &p, &out);
    assert_below(worst_rotation(&p), 0.1);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        const psfm_refined_image *image = &out.images[v];
        assert_true(psfm_has_pose(&p.solution.poses, v) && !image->resected);
        assert_true(image->rotation_sigma_deg < 0.1); /* 0: fixes the gauge */
        assert_true(image->num_points > 100 && image->mean_px < 1.5);
    }
    psfm_refined_free(&out);
    drop(&p);
    psfm_context_destroy(&ctx);
}

/* One camera is somewhere else altogether: it loses its pose and gets it back from the points. */
static void a_wrong_pose_is_found_again(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem p;
    psfm_refined out;
    make(ctx, 0.3, 0.1, &p);
    double(*R)[9] = p.solution.poses.cam_from_world, w[3] = {0.2, 1.5, -0.3}, turn[9], turned[9];
    psfm_rotation_exp(w, turn);
    psfm_mat3_mul(turn, R[4], turned);
    memcpy(R[4], turned, sizeof turned);
    refine(ctx, &p, &out);
    assert_true(psfm_has_pose(&p.solution.poses, 4));
    assert_true(out.images[4].resected);
    assert_below(worst_rotation(&p), 0.1);
    psfm_refined_free(&out);
    drop(&p);
    psfm_context_destroy(&ctx);
}

/* Two halves without a common pair, the second in a world of its own, refine as if the other were
 * not there. */
/* In a chain each image can only be placed by the points of the one before it. */
static void one_image_leads_to_the_next(void **state) {
    psfm_context *ctx = *state;
    psfm_scene_options options;
    problem p;
    psfm_refined out;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_VIEWS;
    options.neighbours = 1;
    options.open_chain = true;
    options.noise_px = 0.3;
    make_from(ctx, &options, &p);
    for (uint32_t v = 3; v < NUM_VIEWS; ++v)
        p.solution.poses.component[v] = PSFM_NO_COMPONENT;
    refine(ctx, &p, &out);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        assert_true(psfm_has_pose(&p.solution.poses, v));
        assert_true(out.images[v].resected == (v >= 3));
    }
    assert_below(worst_rotation(&p), 0.3);
    psfm_refined_free(&out);
    drop(&p);
}

static void components_do_not_disturb_each_other(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem p;
    psfm_refined out;
    make(ctx, 0.0, 0.0, &p);
    psfm_match_set *set = &p.scene.matches;
    for (size_t k = 0; k < set->num_pairs; ++k)
        if ((set->pairs[k].view1 < 5) != (set->pairs[k].view2 < 5))
            set->pairs[k].num_matches = 0;
    for (uint32_t e = 0; e < p.graph.num_edges; ++e)
        p.accepted[e] = set->pairs[p.graph.edges[e].pair].num_matches > 0;
    shake(&p, 0.5, 0.2);
    for (uint32_t v = 5; v < NUM_VIEWS; ++v) {
        p.solution.poses.component[v] = 1;
        for (int k = 0; k < 3; ++k)
            p.solution.poses.center[v][k] *= 3.0;
    }
    refine(ctx, &p, &out);
    assert_below(worst_rotation(&p), 1e-5);
    assert_int_equal(out.planes.num_planes, 2);
    for (size_t k = 0; k < out.structure.num_points; ++k)
        for (size_t e = out.structure.tracks.begin[k]; e < out.structure.tracks.begin[k + 1]; ++e)
            assert_int_equal(p.solution.poses.component[out.structure.tracks.view[e]],
                             out.structure.component[k]);
    psfm_refined_free(&out);
    drop(&p);
    psfm_context_destroy(&ctx);
}

/* One camera, taken to be that of all views, whose focal length is known to 5 %. Each view was
 * enlarged about its middle. */
static void make_enlarged(psfm_context *ctx, const double *zoom, problem *p) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_VIEWS;
    options.noise_px = 0.5;
    *p = (problem){0};
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 3, &options, &p->scene));
    psfm_match_set *set = &p->scene.matches;
    assert_int_equal(set->num_cameras, 1);
    set->origins = calloc(1, sizeof *set->origins);
    set->origins[0] = (psfm_camera_origin){.source = PSFM_FOCAL_EXIF,
                                           .sigma = 0.05,
                                           .before = set->cameras[0],
                                           .group = set->cameras[0].id};
    for (size_t v = 0; v < set->num_views; ++v)
        for (size_t k = 0; k < set->views[v].num_keypoints; ++k)
            for (int i = 0; i < 2; ++i) {
                double middle = i == 0 ? 640.0 : 360.0, *x = &set->views[v].keypoints[k][i];
                *x = middle + zoom[v] * (*x - middle);
            }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
    make_rest(ctx, p);
}

static void views_of_other_focal_lengths_are_split_off(void **state) {
    (void)state;
    static const struct {
        double zoom[NUM_VIEWS];
        size_t num_cameras;
    } cases[] = {{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1},
                 {{1, 1, 1, 1.04, 1, 1, 1, 1, 1, 1}, 2},
                 {{1, 1.03, 1, 1.03, 1, 1, 1.03, 1, 1.03, 1}, 2},
                 {{1, 1.05, 1.02, 0.98, 1.03, 0.97, 1.01, 0.99, 1.04, 1.06}, NUM_VIEWS}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        psfm_context *ctx = psfm_context_create();
        psfm_refined out;
        problem p;
        make_enlarged(ctx, cases[c].zoom, &p);
        const double focal = p.scene.matches.cameras[0].params[0];
        refine(ctx, &p, &out);
        const psfm_match_set *set = &p.scene.matches;
        assert_int_equal(set->num_cameras, cases[c].num_cameras);
        for (size_t v = 0; v < set->num_views; ++v) {
            double found = out.cameras[set->views[v].camera_idx].params[0];
            assert_close(found / (focal * cases[c].zoom[v]), 1.0, 0.002);
        }
        assert_below(worst_rotation(&p), 0.05);
        psfm_refined_free(&out);
        drop(&p);
        psfm_context_destroy(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_give_exact_poses),
        cmocka_unit_test(noise_and_wrong_matches_stay_out),
        cmocka_unit_test(a_wrong_pose_is_found_again),
        cmocka_unit_test(one_image_leads_to_the_next),
        cmocka_unit_test(components_do_not_disturb_each_other),
        cmocka_unit_test(views_of_other_focal_lengths_are_split_off),
    };
    return cmocka_run_group_tests_name("refine/refine_poses", tests, NULL, NULL);
}
