/* Conjugate gradients against the factor: the same steps, the same end, the same deviations. */
#include "unit/core/bundle/bundle_run.h"

#include "core/bundle/bundle_internal.h"
#include "core/bundle/covariance.h"

static void make(scene *s, int num_planes, size_t num_cameras) {
    scene_options o = small_scene;
    o.noise_px = 0.7;
    o.num_planes = num_planes;
    o.num_cameras = num_cameras;
    scene_make(&o, s);
    scene_perturb(s, 3, 0.02, 0.1, NULL);
}

static psfm_bundle_options options_of(int solver, int planes, int refine) {
    psfm_bundle_options options = default_options();
    options.solver = solver;
    options.planes = planes;
    options.refine = refine;
    options.plane_sigma_px = 0.5;
    return options;
}

/* The step that lambda gives; returns its number of scalars. */
static size_t step_of(psfm_context *ctx, scene *s, const psfm_bundle_options *options,
                      bool in_tiles, double *step) {
    psfm_bundle b;
    double cost;
    assert_ok(ctx, psfm_bundle_setup(ctx, &s->problem, options, &b));
    assert_int_equal(b.cg != NULL, options->solver == PSFM_BUNDLE_ITERATIVE);
    b.in_tiles = in_tiles;
    assert_ok(ctx, psfm_bundle_linearize(ctx, &b, &cost));
    assert_ok(ctx, psfm_bundle_reduce(ctx, &b, 1e-4));
    assert_ok(ctx, psfm_bundle_solve(ctx, &b, b.rhs, b.step));
    size_t n = b.pattern.scalar_begin[b.pattern.num_blocks];
    memcpy(step, b.step, n * sizeof *step);
    psfm_bundle_teardown(&b);
    return n;
}

static void assert_steps(const double *a, const double *b, size_t n, double within) {
    for (size_t k = 0; k < n; ++k)
        assert_close(a[k], b[k], within * (1.0 + fabs(b[k])));
}

/* With one camera, with some, and with one for each image; the factor's system summed as small
 * ones and as large ones are. */
static void steps_are_the_same(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    static const size_t cameras[] = {1, 2, 8};
    double direct[256], other[256];
    for (int mode = PSFM_PLANES_FREE; mode <= PSFM_PLANES_HARD; ++mode)
        for (int k = 0; k < 9; ++k) {
            make(&s, 2, cameras[k % 3]);
            psfm_bundle_options options =
                options_of(PSFM_BUNDLE_DIRECT, mode, PSFM_REFINE_NONE + k / 3);
            size_t n = step_of(ctx, &s, &options, false, direct);
            assert_int_equal(step_of(ctx, &s, &options, true, other), n);
            assert_steps(other, direct, n, 1e-9);
            options.solver = PSFM_BUNDLE_ITERATIVE;
            assert_int_equal(step_of(ctx, &s, &options, false, other), n);
            assert_steps(other, direct, n, 1e-6);
        }
    psfm_context_destroy(&ctx);
}

/* Enough observations for several shares and for threads. */
static void steps_do_not_depend_on_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    double steps[2][2][256];
    size_t n = 0;
    psfm_bundle_options options =
        options_of(PSFM_BUNDLE_DIRECT, PSFM_PLANES_SOFT, PSFM_REFINE_FOCAL);
    scene_make(&threaded_scene, &s);
    scene_perturb(&s, 3, 0.02, 0.1, NULL);
    for (int threads = 0; threads < 2; ++threads)
        for (int in_tiles = 0; in_tiles < 2; ++in_tiles) {
            psfm_context_set_threads(ctx, 1 + 2 * threads);
            n = step_of(ctx, &s, &options, in_tiles, steps[threads][in_tiles]);
        }
    assert_memory_equal(steps[1][0], steps[0][0], n * sizeof(double));
    assert_memory_equal(steps[1][1], steps[0][1], n * sizeof(double));
    assert_steps(steps[0][1], steps[0][0], n, 1e-9);
    psfm_context_destroy(&ctx);
}

static void adjustments_end_in_the_same_place(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene direct, iterative;
    for (int mode = PSFM_PLANES_FREE; mode <= PSFM_PLANES_HARD; ++mode) {
        psfm_bundle_options options = options_of(PSFM_BUNDLE_DIRECT, mode, PSFM_REFINE_NONE);
        options.tolerance = 1e-13;
        options.converged = 0.0;
        make(&direct, 2, 1);
        make(&iterative, 2, 1);
        psfm_bundle_stats a = adjust(ctx, &direct, &options);
        options.solver = PSFM_BUNDLE_ITERATIVE;
        psfm_bundle_stats b = adjust(ctx, &iterative, &options);
        assert_int_equal(a.inner_steps, 0);
        assert_true(b.inner_steps > 0 && b.factor_entries == 0);
        assert_close(b.final_cost / a.final_cost, 1.0, 1e-9);
        for (size_t i = 0; i < small_scene.num_images; ++i) {
            double D[3];
            psfm_sub3(direct.c[i], iterative.c[i], D);
            assert_below(psfm_norm3(D), 1e-6);
            assert_below(psfm_rotation_angle(direct.R[i], iterative.R[i]), 1e-6);
        }
        psfm_bundle_stats_free(&a);
        psfm_bundle_stats_free(&b);
    }
    psfm_context_destroy(&ctx);
}

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, once;
    psfm_bundle_options options =
        options_of(PSFM_BUNDLE_ITERATIVE, PSFM_PLANES_SOFT, PSFM_REFINE_FOCAL);
    for (int threads = 1; threads <= 3; threads += 2) {
        psfm_context_set_threads(ctx, threads);
        scene_make(&threaded_scene, &s);
        scene_perturb(&s, 3, 0.02, 0.1, NULL);
        assert_true(s.problem.num_observations > 4000);
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        psfm_bundle_stats_free(&stats);
        if (threads == 1)
            once = s;
        assert_memory_equal(s.R, once.R, sizeof s.R);
        assert_memory_equal(s.c, once.c, sizeof s.c);
        assert_memory_equal(s.points, once.points, sizeof s.points);
    }
    psfm_context_destroy(&ctx);
}

static void deviations_are_the_same(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    double direct[SCENE_MAX_IMAGES][36], iterative[SCENE_MAX_IMAGES][36];
    psfm_bundle_options options =
        options_of(PSFM_BUNDLE_DIRECT, PSFM_PLANES_FREE, PSFM_REFINE_NONE);
    make(&s, 0, 1);
    psfm_bundle_stats stats = adjust(ctx, &s, &options);
    psfm_bundle_stats_free(&stats);
    assert_ok(ctx, psfm_pose_covariance(ctx, &s.problem, &options, false, direct, NULL));
    options.solver = PSFM_BUNDLE_ITERATIVE;
    assert_ok(ctx, psfm_pose_covariance(ctx, &s.problem, &options, false, iterative, NULL));
    for (size_t i = 0; i < small_scene.num_images; ++i)
        for (int k = 0; k < 36; k += 7)
            assert_close(sqrt(iterative[i][k]), sqrt(direct[i][k]), 1e-6);
    psfm_context_destroy(&ctx);
}

/* Where steps had no factor, deviations may have one: for all images instead of a few. */
static void a_factor_is_made_for_deviations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int solver = PSFM_BUNDLE_AUTO; solver <= PSFM_BUNDLE_ITERATIVE; ++solver) {
        psfm_bundle b;
        psfm_bundle_options options = options_of(solver, PSFM_PLANES_FREE, PSFM_REFINE_NONE);
        make(&s, 0, 1);
        assert_ok(ctx, psfm_bundle_setup(ctx, &s.problem, &options, &b));
        psfm_block_spd_destroy(&b.spd);
        if (b.cg == NULL)
            assert_ok(ctx, psfm_bundle_cg_create(ctx, &b, &b.cg));
        assert_ok(ctx, psfm_bundle_prefer_factor(ctx, &b));
        assert_int_equal(b.cg == NULL, solver == PSFM_BUNDLE_AUTO);
        assert_int_equal(b.spd != NULL, solver == PSFM_BUNDLE_AUTO);
        psfm_bundle_teardown(&b);
    }
    psfm_context_destroy(&ctx);
}

/* A machine with little memory, or a run that may take little of it, gives the same bytes. */
static void the_choice_is_not_by_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, once;
    psfm_bundle_options options = options_of(PSFM_BUNDLE_AUTO, PSFM_PLANES_FREE, PSFM_REFINE_NONE);
    for (int small = 0; small < 2; ++small) {
        make(&s, 0, 1);
        if (small)
            psfm_context_set_memory(ctx, 1000);
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        assert_int_equal(stats.inner_steps, 0);
        psfm_bundle_stats_free(&stats);
        if (!small)
            once = s;
        assert_memory_equal(s.R, once.R, sizeof s.R);
        assert_memory_equal(s.c, once.c, sizeof s.c);
        assert_memory_equal(s.points, once.points, sizeof s.points);
    }
    psfm_context_destroy(&ctx);
}

/* Images in a grid that look the same way; each point is seen by a square of them. */
enum { SIDE = 32, MOST_OBSERVATIONS = 20000 };
typedef struct {
    psfm_bundle_problem problem;
    psfm_camera camera;
    uint32_t image_camera[SIDE * SIDE];
    double R[SIDE * SIDE][9], c[SIDE * SIDE][3], points[SIDE * SIDE][3];
    uint32_t obs_image[MOST_OBSERVATIONS], obs_point[MOST_OBSERVATIONS];
    double obs_xy[MOST_OBSERVATIONS][2];
} grid;

static void see(grid *g, uint32_t image, uint32_t point) {
    size_t o = g->problem.num_observations++;
    double D[3];
    assert_true(o < MOST_OBSERVATIONS);
    g->obs_image[o] = image;
    g->obs_point[o] = point;
    psfm_sub3(g->points[point], g->c[image], D);
    assert_true(psfm_camera_project(&g->camera, D, g->obs_xy[o]));
}

/* side x side images; so many points per square of `reach` x `reach` images. */
static void make_grid(grid *g, uint32_t side, uint32_t reach, uint32_t points) {
    memset(g, 0, sizeof *g);
    g->camera = scene_camera(PSFM_CAMERA_PINHOLE);
    for (uint32_t i = 0; i < side * side; ++i) {
        psfm_mat3_identity(g->R[i]);
        g->c[i][0] = i % side;
        g->c[i][1] = i / side;
    }
    g->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &g->camera,
                                       .num_images = (size_t)side * side,
                                       .image_camera = g->image_camera,
                                       .cam_from_world = g->R,
                                       .centers = g->c,
                                       .points = g->points,
                                       .obs_image = g->obs_image,
                                       .obs_point = g->obs_point,
                                       .obs_xy = (const double(*)[2])g->obs_xy};
    for (uint32_t y = 0; y + reach <= side; ++y)
        for (uint32_t x = 0; x + reach <= side; ++x)
            for (uint32_t k = 0; k < points; ++k) {
                uint32_t p = (uint32_t)g->problem.num_points++;
                g->points[p][0] = x + 0.1 * k;
                g->points[p][1] = y + 0.03 * k * k;
                g->points[p][2] = 20.0 + k % 3;
                for (uint32_t i = 0; i < reach * reach; ++i)
                    see(g, (y + i / reach) * side + x + i % reach, p);
            }
}

/* Conjugate gradients pay where all images see the same points, and not across a wide field. */
static void distances_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static grid g;
    psfm_bundle_options options = options_of(PSFM_BUNDLE_AUTO, PSFM_PLANES_FREE, PSFM_REFINE_NONE);
    for (int wide = 0; wide < 2; ++wide) {
        psfm_bundle b;
        make_grid(&g, wide ? SIDE : 17, wide ? 4 : 17, wide ? 1 : 10);
        assert_ok(ctx, psfm_bundle_setup(ctx, &g.problem, &options, &b));
        assert_int_equal(b.cg == NULL, wide);
        psfm_bundle_teardown(&b);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_same),
        cmocka_unit_test(steps_do_not_depend_on_threads),
        cmocka_unit_test(adjustments_end_in_the_same_place),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(deviations_are_the_same),
        cmocka_unit_test(a_factor_is_made_for_deviations),
        cmocka_unit_test(the_choice_is_not_by_memory),
        cmocka_unit_test(distances_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
