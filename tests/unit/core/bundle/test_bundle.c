/* The adjustment as a whole: what it recovers, what it holds, what it refuses. */
#include "unit/core/bundle/bundle_run.h"

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/camera/camera_model.h"

/* Largest rotation error relative to image 0, in radians, and largest position error after the
 * similarity that maps image 0 and the distance 0 - `far` onto the truth. */
static void pose_errors(const scene *s, double *rotation, double *position) {
    size_t far = s->problem.num_images / 2;
    double Q[9], D[3], E[3];
    psfm_mat3_t_mul(s->true_R[0], s->R[0], Q); /* true world <- estimated world */
    psfm_sub3(s->true_c[far], s->true_c[0], D);
    psfm_sub3(s->c[far], s->c[0], E);
    double scale = psfm_norm3(D) / psfm_norm3(E);
    *rotation = *position = 0.0;
    for (size_t i = 0; i < s->problem.num_images; ++i) {
        double R[9], at[3];
        psfm_mat3_mul_t(s->R[i], Q, R);
        *rotation = fmax(*rotation, psfm_rotation_angle(R, s->true_R[i]));
        psfm_sub3(s->c[i], s->c[0], at);
        psfm_mat3_mul_vec(Q, at, at);
        psfm_axpy3(s->true_c[0], scale, at, at);
        psfm_sub3(at, s->true_c[i], at);
        *position = fmax(*position, psfm_norm3(at));
    }
}

static void noise_free_scenes_are_recovered(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int num_planes = 0; num_planes <= 2; ++num_planes)
        for (int mode = PSFM_PLANES_FREE; mode <= PSFM_PLANES_HARD; ++mode) {
            scene_options o = small_scene;
            o.num_planes = num_planes;
            scene_make(&o, &s);
            scene_perturb(&s, 2, 0.03, 0.1, NULL);
            psfm_bundle_options options = default_options();
            options.planes = mode;
            psfm_bundle_stats stats = adjust(ctx, &s, &options);
            double rotation, position;
            pose_errors(&s, &rotation, &position);
            assert_int_equal(stats.stop, PSFM_BUNDLE_CONVERGED);
            assert_int_equal(stats.num_planes, mode == PSFM_PLANES_FREE ? 0 : num_planes);
            assert_below(stats.mean_px, 1e-7);
            assert_below(rotation, 1e-11);
            assert_below(position, 1e-9);
            assert_below(stats.iterations, 25);
            for (size_t k = 0; num_planes > 0 && mode == PSFM_PLANES_HARD && k < o.num_points;
                 ++k) {
                const psfm_bundle_plane *plane = &s.planes[s.point_plane[k]];
                assert_close(psfm_dot3(plane->normal, s.points[k]), plane->distance, 1e-12);
            }
            psfm_bundle_stats_free(&stats);
        }
    psfm_context_destroy(&ctx);
}

static void different_starts_reach_one_optimum(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, first;
    bool fixed[SCENE_MAX_IMAGES] = {true, [4] = true}; /* the same frame for all starts */
    for (int mode = PSFM_PLANES_FREE; mode <= PSFM_PLANES_HARD; ++mode) {
        double cost = 0.0;
        for (uint64_t start = 0; start < 4; ++start) {
            scene_options o = small_scene;
            o.noise_px = 0.7;
            o.num_planes = 2;
            scene_make(&o, &s);
            s.problem.image_fixed = fixed;
            scene_perturb(&s, start, 0.05, 0.2, fixed); /* 3 degrees, 20 cm of 9 m */
            psfm_bundle_options options = default_options();
            options.planes = mode;
            options.tolerance = 1e-12;
            options.converged = 0.0;
            /* The weight of a soft plane depends on the start a little. */
            options.plane_sigma_px = 1e-3;
            psfm_bundle_stats stats = adjust(ctx, &s, &options);
            assert_int_equal(stats.stop, PSFM_BUNDLE_CONVERGED);
            if (start == 0) {
                cost = stats.final_cost;
                first = s;
            }
            assert_close(stats.final_cost / cost, 1.0, mode == PSFM_PLANES_SOFT ? 1e-3 : 1e-9);
            for (size_t i = 0; i < o.num_images; ++i) {
                double D[3], bound = mode == PSFM_PLANES_SOFT ? 1e-4 : 1e-6;
                psfm_sub3(s.c[i], first.c[i], D);
                assert_below(psfm_norm3(D), bound);
                assert_below(psfm_rotation_angle(s.R[i], first.R[i]), bound);
            }
            psfm_bundle_stats_free(&stats);
        }
    }
    psfm_context_destroy(&ctx);
}

/* Bumps on one plane only: its sigma is found, the other's is small_scene. The bumps are 0.03 units
 * seen from about 9 with f = 1000, 3.2 px, or 6.5 times the noise. */
static void the_flatness_of_planes_is_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    scene_options o = {.num_images = 8,
                       .num_points = SCENE_MAX_POINTS,
                       .num_cameras = 1,
                       .model = PSFM_CAMERA_PINHOLE,
                       .noise_px = 0.5,
                       .visible = 0.5,
                       .num_planes = 2,
                       .bumps = 0.03,
                       .seed = 1};
    scene_make(&o, &s);
    scene_perturb(&s, 1, 0.01, 0.05, NULL);
    psfm_bundle_stats stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.stop, PSFM_BUNDLE_CONVERGED);
    assert_close(s.planes[0].sigma_px, 6.5, 1.5);
    assert_below(s.planes[1].sigma_px, 1.5);
    psfm_bundle_stats_free(&stats);

    s.planes[0].sigma_px = 0.0; /* found again from where it was left, and a given one is kept */
    s.planes[1].sigma_px = 0.25;
    stats = adjust(ctx, &s, NULL);
    assert_close(s.planes[0].sigma_px, 6.5, 1.5);
    assert_close(s.planes[1].sigma_px, 0.25, 0.0);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

static void wrong_observations_hardly_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    double rotation[3], position;
    for (int loss = PSFM_LOSS_SQUARED; loss <= PSFM_LOSS_CAUCHY; ++loss) {
        scene_options o = small_scene;
        o.num_points = 200;
        o.noise_px = 0.5;
        scene_make(&o, &s);
        psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
        for (size_t k = 0; k < s.problem.num_observations; k += 10) {
            s.obs_xy[k][0] = psfm_rng_range(&rng, 0, 1280);
            s.obs_xy[k][1] = psfm_rng_range(&rng, 0, 720);
        }
        scene_perturb(&s, 2, 0.02, 0.05, NULL);
        psfm_bundle_options options = default_options();
        options.loss = loss;
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        pose_errors(&s, &rotation[loss], &position);
        psfm_bundle_stats_free(&stats);
    }
    assert_below(rotation[PSFM_LOSS_CAUCHY], 1e-3);
    assert_below(2 * rotation[PSFM_LOSS_CAUCHY], rotation[PSFM_LOSS_HUBER]);
    assert_below(rotation[PSFM_LOSS_HUBER], rotation[PSFM_LOSS_SQUARED]);
    psfm_context_destroy(&ctx);
}

/* An observation of no weight does nothing, and a common factor changes only the cost. */
/* Wrong observations creep for long; the poses stop where the residuals tell no more. */
static void settled_poses_end_it(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, best;
    scene_options o = small_scene;
    double error = 0.0, left, position;
    int steps = 0;
    o.num_points = 200;
    o.noise_px = 0.5;
    for (int settles = 0; settles < 2; ++settles) {
        scene_make(&o, &s);
        psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
        for (size_t k = 0; k < s.problem.num_observations; k += 10)
            s.obs_xy[k][0] += psfm_rng_range(&rng, -20, 20);
        scene_perturb(&s, 2, 0.02, 0.05, NULL);
        psfm_bundle_options options = default_options();
        options.tolerance = settles ? 0.0 : 1e-13;
        options.converged = settles ? 0.1 : 0.0;
        options.max_iterations = 1000;
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        assert_int_equal(stats.stop, PSFM_BUNDLE_CONVERGED);
        if (!settles) {
            pose_errors(&s, &error, &position);
            steps = stats.iterations;
            best = s;
        } else {
            assert_below(stats.iterations, steps / 2);
        }
        psfm_bundle_stats_free(&stats);
    }
    memcpy(s.true_R, best.R, sizeof s.true_R);
    memcpy(s.true_c, best.c, sizeof s.true_c);
    pose_errors(&s, &left, &position);
    assert_true(error > 1e-5);
    assert_below(left, 0.1 * error);
    psfm_context_destroy(&ctx);
}

static void weights_weigh(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene plain, weighted;
    static double info[SCENE_MAX_IMAGES * SCENE_MAX_POINTS][3];
    scene_options o = small_scene;
    o.noise_px = 0.5;
    o.visible = 1.0;
    psfm_bundle_options options = default_options();
    options.loss = PSFM_LOSS_SQUARED;
    options.tolerance = 1e-13;
    options.converged = 0.0;
    scene_make(&o, &plain);
    scene_make(&o, &weighted);
    for (size_t k = 0; k < plain.problem.num_observations; ++k) {
        info[k][0] = info[k][2] = k % 7 == 3 ? 0.0 : 3.0;
        if (k % 7 == 3)
            weighted.obs_xy[k][0] += 50.0;
    }
    weighted.problem.obs_sqrt_info = (const double(*)[3])info;
    size_t kept = 0;
    for (size_t k = 0; k < plain.problem.num_observations; ++k)
        if (k % 7 != 3) {
            plain.obs_image[kept] = plain.obs_image[k];
            plain.obs_point[kept] = plain.obs_point[k];
            memcpy(plain.obs_xy[kept++], plain.obs_xy[k], sizeof *plain.obs_xy);
        }
    plain.problem.num_observations = kept;
    psfm_bundle_stats a = adjust(ctx, &plain, &options), b = adjust(ctx, &weighted, &options);
    assert_close(b.final_cost / (9.0 * a.final_cost), 1.0, 1e-9);
    for (size_t i = 0; i < o.num_images; ++i)
        assert_below(psfm_rotation_angle(plain.R[i], weighted.R[i]), 1e-7);
    psfm_bundle_stats_free(&a);
    psfm_bundle_stats_free(&b);
    psfm_context_destroy(&ctx);
}

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, once;
    for (int threads = 1; threads <= 5; threads += 2) {
        scene_make(&threaded_scene, &s);
        scene_perturb(&s, 2, 0.02, 0.1, NULL);
        assert_true(s.problem.num_observations > 4000);
        psfm_context_set_threads(ctx, threads);
        psfm_bundle_options options = default_options();
        options.planes = PSFM_PLANES_HARD;
        options.refine = PSFM_REFINE_FOCAL;
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        psfm_bundle_stats_free(&stats);
        if (threads == 1)
            once = s;
        assert_memory_equal(s.R, once.R, sizeof s.R);
        assert_memory_equal(s.c, once.c, sizeof s.c);
        assert_memory_equal(s.points, once.points, sizeof s.points);
        assert_memory_equal(s.cameras, once.cameras, sizeof s.cameras);
        assert_memory_equal(s.planes, once.planes, sizeof s.planes);
    }
    psfm_context_destroy(&ctx);
}

static double distance(const scene *s, size_t i, size_t j) {
    double D[3];
    psfm_sub3(s->c[i], s->c[j], D);
    return psfm_norm3(D);
}

/* One image and one distance carry the frame; fixed images replace them. */
static void the_gauge_is_held(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, start;
    for (int num_fixed = 0; num_fixed <= 2; ++num_fixed) {
        bool fixed[SCENE_MAX_IMAGES] = {[3] = num_fixed > 0, [6] = num_fixed > 1};
        scene_options o = small_scene;
        o.noise_px = 0.5;
        scene_make(&o, &s);
        s.problem.image_fixed = fixed;
        scene_perturb(&s, 2, 0.02, 0.1, fixed);
        start = s;
        psfm_bundle_stats stats = adjust(ctx, &s, NULL);
        size_t num_datum = 0, num_scale = 0, datum = 3, far = 0;
        for (size_t i = 0; i < o.num_images; ++i) {
            num_datum += stats.images[i].state == PSFM_IMAGE_DATUM;
            num_scale += stats.images[i].fixes_scale;
            datum = stats.images[i].state == PSFM_IMAGE_DATUM ? i : datum;
            far = stats.images[i].fixes_scale ? i : far;
            assert_int_equal(stats.images[i].state == PSFM_IMAGE_FIXED, fixed[i]);
            if (stats.images[i].state != PSFM_IMAGE_ADJUSTED) {
                assert_memory_equal(s.R[i], start.R[i], sizeof s.R[i]);
                assert_memory_equal(s.c[i], start.c[i], sizeof s.c[i]);
            } else {
                assert_memory_not_equal(s.R[i], start.R[i], sizeof s.R[i]);
            }
        }
        assert_int_equal(num_datum, num_fixed == 0);
        assert_int_equal(num_scale, num_fixed < 2);
        if (num_scale == 1)
            assert_close(distance(&s, datum, far), distance(&start, datum, far), 1e-12);
        assert_int_equal(stats.num_parameters, num_fixed < 2 ? 6 * 7 - 1 : 6 * 6);
        psfm_bundle_stats_free(&stats);
    }
    psfm_context_destroy(&ctx);
}

/* Images 0-3 see the even points, 4-7 the odd ones. */
static void two_components_are_both_adjusted(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    scene_make(&small_scene, &s);
    size_t kept = 0;
    for (size_t k = 0; k < s.problem.num_observations; ++k)
        if (s.obs_point[k] % 2 == s.obs_image[k] / 4) {
            s.obs_image[kept] = s.obs_image[k];
            s.obs_point[kept] = s.obs_point[k];
            memcpy(s.obs_xy[kept++], s.obs_xy[k], sizeof *s.obs_xy);
        }
    s.problem.num_observations = kept;
    scene_perturb(&s, 2, 0.01, 0.05, NULL);
    psfm_bundle_stats stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.stop, PSFM_BUNDLE_CONVERGED);
    assert_below(stats.mean_px, 1e-7);
    size_t num_datum = 0;
    for (size_t i = 0; i < 8; ++i)
        num_datum += stats.images[i].state == PSFM_IMAGE_DATUM;
    assert_int_equal(num_datum, 2);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

/* Image 2 keeps two observations, point 5 one, point 6 none. */
static void what_sees_too_little_is_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s, start;
    scene_options o = small_scene;
    o.visible = 1.0;
    scene_make(&o, &s);
    size_t kept = 0;
    for (size_t k = 0; k < s.problem.num_observations; ++k) {
        uint32_t image = s.obs_image[k], point = s.obs_point[k];
        if ((image == 2 && point > 1) || (point == 5 && image != 0) || point == 6)
            continue;
        s.obs_image[kept] = image;
        s.obs_point[kept] = point;
        memcpy(s.obs_xy[kept++], s.obs_xy[k], sizeof *s.obs_xy);
    }
    s.problem.num_observations = kept;
    scene_perturb(&s, 2, 0.02, 0.1, NULL);
    start = s;
    psfm_bundle_stats stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.images[2].state, PSFM_IMAGE_LEFT_OUT);
    assert_int_equal(stats.images[2].num_observations, 0);
    assert_int_equal(stats.num_points_left_out, 2);
    assert_int_equal(stats.num_observations, kept - 3);
    assert_memory_equal(s.R[2], start.R[2], sizeof s.R[2]);
    assert_memory_equal(s.points[5], start.points[5], sizeof s.points[5]);
    assert_memory_equal(s.points[6], start.points[6], sizeof s.points[6]);
    assert_memory_not_equal(s.points[7], start.points[7], sizeof s.points[7]);
    assert_below(stats.mean_px, 1e-7);
    psfm_bundle_stats_free(&stats);

    s.problem.num_observations = 3;
    stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.stop, PSFM_BUNDLE_EMPTY);
    psfm_bundle_stats_free(&stats);
    s.problem.num_observations = s.problem.num_points = s.problem.num_images = 0;
    stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.stop, PSFM_BUNDLE_EMPTY);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

/* All poses known: only the points move. */
static void points_alone(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    bool fixed[SCENE_MAX_IMAGES];
    memset(fixed, true, sizeof fixed);
    scene_make(&small_scene, &s);
    s.problem.image_fixed = fixed;
    scene_perturb(&s, 2, 0.0, 0.2, fixed);
    psfm_bundle_stats stats = adjust(ctx, &s, NULL);
    assert_int_equal(stats.num_parameters, 0);
    for (size_t k = 0; k < small_scene.num_points; ++k) {
        double D[3];
        psfm_sub3(s.points[k], s.true_points[k], D);
        assert_below(psfm_norm3(D), 1e-9);
    }
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

/* A few points start behind all cameras: they cannot come back, but nothing else suffers. */
static void points_behind_the_cameras_do_no_harm(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    scene_make(&small_scene, &s);
    scene_perturb(&s, 2, 0.02, 0.1, NULL);
    size_t behind = 0;
    for (size_t k = 0; k < 5; ++k)
        s.points[k][2] = 500.0;
    for (size_t k = 0; k < s.problem.num_observations; ++k)
        behind += s.obs_point[k] < 5;
    psfm_bundle_stats stats = adjust(ctx, &s, NULL);
    double rotation, position;
    pose_errors(&s, &rotation, &position);
    assert_int_equal(stats.num_invalid, behind);
    assert_below(rotation, 1e-8);
    assert_below(position, 1e-7);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int fault = 0; fault < 12; ++fault) {
        scene_make(&small_scene, &s);
        psfm_bundle_options options = default_options();
        double *broken[] = {&s.R[1][3],
                            &s.c[2][0],
                            &s.points[4][1],
                            &s.obs_xy[9][1],
                            &s.planes[0].distance,
                            &s.planes[1].normal[0]};
        if (fault < 6)
            *broken[fault] = fault % 2 == 0 ? NAN : INFINITY;
        s.obs_image[3] = fault == 6 ? 8 : s.obs_image[3];
        s.obs_point[3] = fault == 7 ? 80 : s.obs_point[3];
        s.point_plane[3] = fault == 8 ? 2 : s.point_plane[3];
        s.image_camera[3] = fault == 9 ? 2 : s.image_camera[3];
        if (fault == 10) {
            s.obs_image[3] = s.obs_image[4];
            s.obs_point[3] = s.obs_point[4];
        }
        options.focal_sigma = fault == 11 ? NAN : options.focal_sigma;
        psfm_bundle_stats stats;
        assert_int_equal(psfm_bundle_adjust(ctx, &s.problem, &options, &stats), PSFM_ERR_ARGUMENT);
        assert_true(strlen(psfm_context_message(ctx)) > 10);
    }
    scene_make(&small_scene, &s);
    psfm_mat3_identity(s.R[0]);
    s.R[0][0] = -1.0; /* a mirror */
    assert_int_equal(psfm_bundle_adjust(ctx, &s.problem, NULL, NULL), PSFM_ERR_ARGUMENT);
    psfm_context_destroy(&ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    static scene s, start;
    scene_options o = small_scene;
    o.num_points = 30;
    o.noise_px = 0.5;
    psfm_bundle_options options = default_options();
    options.max_iterations = 2;
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        scene_make(&o, &s);
        start = s;
        psfm_alloc_fail_after(n);
        status = psfm_bundle_adjust(ctx, &s.problem, &options, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        assert_true(n < 1000);
        if (status != PSFM_OK)
            assert_memory_equal(s.points, start.points, sizeof s.points);
    }
    psfm_context_destroy(&ctx);
}

/* Points of a plane that are known, each seen by its image to one side only, as on painted lines:
 * they hold every pose by itself, in the frame of the points. */
static void known_points_hold_poses_to_one_side(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    static double sqrt_info[SCENE_MAX_IMAGES * SCENE_MAX_POINTS][3];
    static bool fixed[SCENE_MAX_POINTS];
    scene_options o = {.num_images = 5, .num_points = 60, .num_cameras = 1, .visible = 0.7};
    o.model = PSFM_CAMERA_PINHOLE;
    o.num_planes = 1;
    scene_make(&o, &s);
    scene_perturb(&s, 7, 0.01, 0.05, NULL);
    memcpy(s.points, s.true_points, sizeof s.points);
    memset(fixed, true, sizeof fixed);
    for (size_t k = 0; k < s.problem.num_observations; ++k) {
        double angle = 0.7 * (double)k;
        double info[3] = {cos(angle), sin(angle), 0.0};
        memcpy(sqrt_info[k], info, sizeof info);
        s.obs_xy[k][0] += 25.0 * sin(angle); /* along the line: nothing changes */
        s.obs_xy[k][1] -= 25.0 * cos(angle);
    }
    s.problem.point_fixed = fixed;
    s.problem.point_plane = NULL;
    s.problem.obs_sqrt_info = (const double(*)[3])sqrt_info;
    psfm_bundle_options options = default_options();
    options.tolerance = 1e-14;
    options.converged = 0.0;
    options.max_iterations = 100;
    psfm_bundle_stats stats = adjust(ctx, &s, &options);
    for (size_t i = 0; i < o.num_images; ++i) {
        assert_int_equal(stats.images[i].state, PSFM_IMAGE_ADJUSTED);
        assert_true(psfm_rotation_angle(s.R[i], s.true_R[i]) < 1e-7);
        for (int d = 0; d < 3; ++d)
            assert_close(s.c[i][d], s.true_c[i][d], 1e-6);
    }
    assert_memory_equal(s.points, s.true_points, o.num_points * sizeof *s.points);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_free_scenes_are_recovered),
        cmocka_unit_test(different_starts_reach_one_optimum),
        cmocka_unit_test(the_flatness_of_planes_is_found),
        cmocka_unit_test(wrong_observations_hardly_matter),
        cmocka_unit_test(settled_poses_end_it),
        cmocka_unit_test(weights_weigh),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(the_gauge_is_held),
        cmocka_unit_test(two_components_are_both_adjusted),
        cmocka_unit_test(what_sees_too_little_is_left_out),
        cmocka_unit_test(points_alone),
        cmocka_unit_test(points_behind_the_cameras_do_no_harm),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(known_points_hold_poses_to_one_side),
    };
    return cmocka_run_group_tests_name("bundle/bundle", tests, NULL, NULL);
}
