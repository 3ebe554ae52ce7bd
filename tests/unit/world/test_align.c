/* A true model is moved away by a known similarity and must come back. */
#include "world/align.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "synth/scene.h"
#include "test_util.h"
#include "world/align_points.h"
#include "world/frame.h"

static psfm_context *ctx;

typedef struct {
    psfm_scene truth;
    psfm_model model; /* the same cameras and points, elsewhere */
    psfm_sim3 model_from_world;
} fixture;

/* Poses and points again, so that the moved copy can be compared with the truth. */
static void make_fixture(psfm_scene_kind kind, fixture *f) {
    psfm_scene_options options;
    psfm_scene again;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 12;
    options.num_points = 300;
    options.off_plane = 0.3;
    assert_ok(ctx, psfm_scene_make(ctx, kind, 3, &options, &f->truth));
    assert_ok(ctx, psfm_scene_make(ctx, kind, 3, &options, &again));
    f->model = again.truth;
    again.truth = (psfm_model){0};
    psfm_scene_free(&again);
    f->model_from_world = (psfm_sim3){.scale = 0.07, .t = {1.5, -2.5, 0.3}};
    const double turn[3] = {0.4, -1.2, 0.7};
    psfm_rotation_exp(turn, f->model_from_world.R);
    psfm_model_move(&f->model, &f->model_from_world);
}

static void free_fixture(fixture *f) {
    psfm_scene_free(&f->truth);
    psfm_model_free(&f->model);
}

/* Applies the alignment and compares centres, rotations and points with the truth. */
static void check_back(const fixture *f, const psfm_alignment *a, double tolerance) {
    psfm_model model = f->model;
    assert_close(a->world_from_model.scale * f->model_from_world.scale, 1.0, tolerance);
    psfm_model_move(&model, &a->world_from_model);
    for (size_t k = 0; k < model.num_images; ++k) {
        double c[3], d[3], R[9], S[9];
        psfm_model_image_center(&model.images[k], c);
        psfm_model_image_center(&f->truth.truth.images[k], d);
        psfm_rotation_from_quat(model.images[k].cam_from_world_q, R);
        psfm_rotation_from_quat(f->truth.truth.images[k].cam_from_world_q, S);
        for (int e = 0; e < 3; ++e)
            assert_close(c[e], d[e], 30.0 * tolerance);
        assert_below(psfm_rotation_angle(R, S), fmax(tolerance, 1e-7));
    }
    for (size_t k = 0; k < model.num_points; ++k)
        for (int e = 0; e < 3; ++e)
            assert_close(model.points[k].xyz[e], f->truth.truth.points[k].xyz[e], 30.0 * tolerance);
}

static void known_positions(const fixture *f, psfm_positions *positions) {
    *positions = (psfm_positions){0};
    for (size_t k = 0; k < f->truth.truth.num_images; ++k) {
        double c[3];
        psfm_model_image_center(&f->truth.truth.images[k], c);
        assert_ok(ctx, psfm_positions_add(ctx, positions, f->truth.truth.images[k].name, c));
    }
}

static void test_positions(void **state) {
    (void)state;
    fixture f;
    psfm_positions positions;
    psfm_alignment a;
    make_fixture(PSFM_SCENE_ARENA, &f);
    known_positions(&f, &positions);
    const double elsewhere[3] = {1, 2, 3};
    assert_ok(ctx, psfm_positions_add(ctx, &positions, "not in the model.jpg", elsewhere));
    for (int k = 0; k < 3; ++k) /* a quarter is wrong */
        positions.items[3 * k].at[k] += 20.0 + k;
    assert_ok(ctx, psfm_align_positions(ctx, &f.model, &positions, &a));
    assert_int_equal(a.num_items, 12);
    assert_int_equal(a.num_inliers, 9);
    assert_false(a.items[0].is_inlier);
    assert_close(a.items[3].residual, 21.0, 1e-6);
    assert_true(isnan(a.rms_inliers_px));
    check_back(&f, &a, 1e-9);
    psfm_alignment_free(&a);
    psfm_positions_free(&positions);
    free_fixture(&f);
}

static void test_too_few_positions(void **state) {
    (void)state;
    fixture f;
    psfm_positions positions;
    psfm_alignment a;
    make_fixture(PSFM_SCENE_ARENA, &f);
    known_positions(&f, &positions);
    positions.num = 2;
    assert_int_equal(psfm_align_positions(ctx, &f.model, &positions, &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "2 of the model's"));
    psfm_alignment_free(&a);
    positions.num = 12;
    for (size_t k = 0; k < 12; ++k) /* on a line */
        positions.items[k].at[0] = positions.items[k].at[1] = positions.items[k].at[2] = (double)k;
    for (size_t k = 0; k < f.model.num_images; ++k) {
        double *t = f.model.images[k].cam_from_world_t;
        psfm_rotation_to_quat((const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                              f.model.images[k].cam_from_world_q);
        t[0] = -(double)k;
        t[1] = t[2] = 0.0;
    }
    assert_int_equal(psfm_align_positions(ctx, &f.model, &positions, &a), PSFM_ERR_DATA);
    psfm_alignment_free(&a);
    psfm_positions_free(&positions);
    free_fixture(&f);
}

static void add_view(psfm_control_set *set, size_t point, const char *image, const double xy[2]) {
    assert_ok(ctx, PSFM_RESERVE(ctx, &set->views, &set->views_capacity, set->num_views + 1));
    psfm_control_view *view = &set->views[set->num_views++];
    view->point = (uint32_t)point;
    memcpy(view->xy, xy, sizeof view->xy);
    assert_ok(ctx, psfm_strdup(ctx, image, &view->image));
}

/* Projects points into the true images, at most `max_views` each. */
static void make_points(const fixture *f, const char *const *labels, size_t num, size_t max_views,
                        double noise_px, psfm_control_set *set) {
    psfm_court court;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    assert_true(psfm_court_get("basketball", &court));
    *set = (psfm_control_set){0};
    for (size_t p = 0; p < num; ++p) {
        size_t views = 0;
        assert_ok(ctx, PSFM_RESERVE(ctx, &set->points, &set->points_capacity, p + 1));
        set->num_points = p + 1;
        assert_ok(ctx, psfm_strdup(ctx, labels[p], &set->points[p].label));
        assert_true(psfm_court_find(&court, labels[p], set->points[p].at));
        for (size_t k = 0; k < f->truth.truth.num_images && views < max_views; ++k) {
            const psfm_model_image *image = &f->truth.truth.images[k];
            double R[9], c[3], X[3], xy[2];
            psfm_rotation_from_quat(image->cam_from_world_q, R);
            psfm_model_image_center(image, c);
            psfm_sub3(set->points[p].at, c, X);
            psfm_mat3_mul_vec(R, X, X);
            if (!psfm_camera_project(&f->truth.truth.cameras[0], X, xy) || xy[0] < 0.0 ||
                xy[0] > 1280.0 || xy[1] < 0.0 || xy[1] > 720.0)
                continue;
            xy[0] += noise_px * psfm_rng_normal(&rng);
            xy[1] += noise_px * psfm_rng_normal(&rng);
            add_view(set, p, image->name, xy);
            ++views;
        }
    }
}

static const char *const court_labels[] = {"corner-w-n", "corner-e-s", "half-n",   "half-s",
                                           "key-w-n",    "elbow-e-s",  "circle-n", "elbow-w-s"};

static void test_points(void **state) {
    (void)state;
    fixture f;
    psfm_control_set set;
    psfm_alignment a;
    make_fixture(PSFM_SCENE_ARENA, &f);
    make_points(&f, court_labels, 8, 4, 0.0, &set);
    const double nowhere[2] = {10, 10};
    add_view(&set, 0, "not in the model.jpg", nowhere);
    assert_ok(ctx, psfm_align_points(ctx, &f.model, &set, NULL, &a));
    assert_int_equal(a.num_inliers, 8);
    assert_below(a.rms_inliers_px, 1e-6);
    check_back(&f, &a, 1e-9);
    psfm_alignment_free(&a);
    psfm_control_free(&set);
    free_fixture(&f);
}

/* One image shows each point: they lie on the dominant plane. A wrong label is found. */
static void test_points_on_plane(void **state) {
    (void)state;
    fixture f;
    psfm_control_set set;
    psfm_alignment a;
    psfm_scene_plane plane;
    make_fixture(PSFM_SCENE_ARENA, &f);
    make_points(&f, court_labels, 8, 1, 0.0, &set);
    assert_int_equal(psfm_align_points(ctx, &f.model, &set, NULL, &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "0 of the 8"));
    psfm_alignment_free(&a);
    assert_ok(ctx, psfm_model_dominant_plane(ctx, &f.model, &plane));
    set.points[2].at[0] += 4.0;
    assert_ok(ctx, psfm_align_points(ctx, &f.model, &set, &plane, &a));
    assert_int_equal(a.num_inliers, 7);
    assert_false(a.items[2].is_inlier);
    assert_true(a.items[2].residual > 3.9);
    check_back(&f, &a, 1e-7);
    psfm_alignment_free(&a);
    psfm_control_free(&set);
    free(plane.polygon);
    free_fixture(&f);
}

/* From a rough similarity to the exact one, by the pixels alone. */
static void test_refinement(void **state) {
    (void)state;
    fixture f;
    psfm_control_set set;
    psfm_control_ray *rays = NULL;
    size_t num = 0;
    bool use[8] = {true, true, true, true, true, true, true, true};
    make_fixture(PSFM_SCENE_ARENA, &f);
    make_points(&f, court_labels, 8, 3, 0.0, &set);
    assert_ok(ctx, psfm_control_rays_make(ctx, &f.model, &set, &rays, &num));
    psfm_alignment a = {0};
    const psfm_sim3 *m = &f.model_from_world;
    double turn[9], error[2];
    psfm_mat3_transpose(m->R, a.world_from_model.R);
    a.world_from_model.scale = 1.0 / m->scale;
    psfm_mat3_tmul_vec(m->R, m->t, a.world_from_model.t);
    psfm_scale3(-1.0 / m->scale, a.world_from_model.t, a.world_from_model.t);
    for (size_t k = 0; k < num; ++k) /* the inverse is the solution */
        assert_below(psfm_control_ray_error(&rays[k], &a.world_from_model,
                                            set.points[rays[k].point].at, error),
                     1e-8);
    psfm_sim3 rough = a.world_from_model;
    psfm_rotation_exp((const double[3]){0.02, -0.03, 0.01}, turn);
    psfm_mat3_mul(turn, a.world_from_model.R, rough.R);
    rough.scale *= 1.03;
    rough.t[0] += 0.4;
    rough.t[2] -= 0.5;
    a.world_from_model = rough;
    assert_true(psfm_sim3_refine_pixels(rays, num, set.points, use, &a.world_from_model));
    check_back(&f, &a, 1e-9);
    free(rays);
    psfm_control_free(&set);
    free_fixture(&f);
}

/* Two pixels of noise on clicked points, and one label two metres off. */
static void test_noisy_points(void **state) {
    (void)state;
    fixture f;
    psfm_control_set set;
    psfm_alignment a;
    make_fixture(PSFM_SCENE_ARENA, &f);
    make_points(&f, court_labels, 8, 5, 2.0, &set);
    set.points[3].at[1] += 2.0;
    assert_ok(ctx, psfm_align_points(ctx, &f.model, &set, NULL, &a));
    assert_int_equal(a.num_inliers, 7);
    assert_false(a.items[3].is_inlier);
    assert_below(a.rms_inliers_px, 4.0);
    assert_true(a.rms_inliers_px > 1.0);
    check_back(&f, &a, 5e-3); /* decimetres at most in a hall of 30 m */
    psfm_alignment_free(&a);
    psfm_control_free(&set);
    free_fixture(&f);
}

static void test_distance(void **state) {
    (void)state;
    fixture f;
    psfm_alignment a;
    psfm_scene_plane plane;
    psfm_control_set set;
    char end1[128], end2[128];
    make_fixture(PSFM_SCENE_ARENA, &f);
    assert_ok(ctx, psfm_model_dominant_plane(ctx, &f.model, &plane));
    double c[3], d[3];
    psfm_model_image_center(&f.truth.truth.images[0], c);
    psfm_model_image_center(&f.truth.truth.images[5], d);
    psfm_sub3(c, d, d);
    assert_ok(ctx, psfm_align_distance(ctx, &f.model, "cam_0001.jpg", "cam_0006.jpg", psfm_norm3(d),
                                       NULL, &a));
    assert_close(a.world_from_model.scale * f.model_from_world.scale, 1.0, 1e-9);
    psfm_alignment_free(&a);
    const char *const two[] = {"half-n", "half-s"};
    make_points(&f, two, 2, 1, 0.0, &set);
    snprintf(end1, sizeof end1, "%s:%.12f,%.12f", set.views[0].image, set.views[0].xy[0],
             set.views[0].xy[1]);
    snprintf(end2, sizeof end2, "%s:%.12f,%.12f", set.views[1].image, set.views[1].xy[0],
             set.views[1].xy[1]);
    assert_ok(ctx, psfm_align_distance(ctx, &f.model, end1, end2, 15.0, &plane, &a));
    assert_close(a.world_from_model.scale * f.model_from_world.scale, 1.0, 1e-6);
    psfm_alignment_free(&a);
    assert_int_equal(psfm_align_distance(ctx, &f.model, end1, end2, 15.0, NULL, &a), PSFM_ERR_DATA);
    psfm_alignment_free(&a);
    assert_int_equal(psfm_align_distance(ctx, &f.model, end1, end1, 15.0, &plane, &a),
                     PSFM_ERR_DATA);
    psfm_alignment_free(&a);
    assert_int_equal(psfm_align_distance(ctx, &f.model, "nobody", end1, 15.0, &plane, &a),
                     PSFM_ERR_ARGUMENT);
    psfm_alignment_free(&a);
    psfm_control_free(&set);
    free(plane.polygon);
    free_fixture(&f);
}

static void test_upright(void **state) {
    (void)state;
    fixture f;
    psfm_alignment a;
    psfm_scene_plane plane;
    make_fixture(PSFM_SCENE_ARENA, &f);
    assert_ok(ctx, psfm_model_dominant_plane(ctx, &f.model, &plane));
    assert_ok(ctx, psfm_align_upright(ctx, &plane, &a));
    psfm_model_move(&f.model, &a.world_from_model);
    for (size_t k = 0; k < f.model.num_points; ++k)
        if (f.truth.truth.points[k].xyz[2] == 0.0)
            assert_close(f.model.points[k].xyz[2], 0.0, 1e-9);
    for (size_t k = 0; k < f.model.num_images; ++k) {
        double c[3];
        psfm_model_image_center(&f.model.images[k], c);
        assert_true(c[2] > 0.0);
    }
    psfm_alignment_free(&a);
    free(plane.polygon);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),  cmocka_unit_test(test_too_few_positions),
        cmocka_unit_test(test_points),     cmocka_unit_test(test_points_on_plane),
        cmocka_unit_test(test_refinement), cmocka_unit_test(test_noisy_points),
        cmocka_unit_test(test_distance),   cmocka_unit_test(test_upright),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
