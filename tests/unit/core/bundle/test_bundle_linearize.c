/* Derivatives against differences, and steps against what the linear model predicts. */
#include "unit/core/bundle/bundle_run.h"

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/camera/camera_model.h"

/* Residual of observation o after moving one parameter by h. which: 0-5 pose, 6-8 point, 9.. the
 * camera's free parameters. */
static void moved_residual(psfm_bundle *b, uint32_t o, int which, double h, double r[2]) {
    uint32_t image = b->obs_image[o], camera = b->problem->image_camera[image];
    double R[9], c[3], X[3], w[3] = {0}, E[9];
    psfm_camera saved = b->now.cameras[camera];
    memcpy(R, b->now.R[image], sizeof R);
    memcpy(c, b->now.c[image], sizeof c);
    memcpy(X, b->now.X[b->obs_point[o]], sizeof X);
    if (which < 3) {
        w[which] = h;
        psfm_rotation_exp(w, E);
        psfm_mat3_mul(E, R, b->now.R[image]);
    } else if (which < 6) {
        b->now.c[image][which - 3] += h;
    } else if (which < 9) {
        X[which - 6] += h;
    } else {
        double step[PSFM_CAMERA_MAX_PARAMS] = {0};
        step[which - 9] = h;
        psfm_bundle_move_camera(b, camera, step);
        b->now.cameras[camera] = b->trial.cameras[camera];
    }
    assert_true(psfm_bundle_residual(b, &b->now, o, X, r));
    memcpy(b->now.R[image], R, sizeof R);
    memcpy(b->now.c[image], c, sizeof c);
    b->now.cameras[camera] = saved;
}

static double analytic(const psfm_bundle *b, uint32_t o, int which, int side) {
    if (which < 6)
        return b->rows[o].J_pose[6 * side + which];
    if (which < 9)
        return b->rows[o].J_point[3 * side + which - 6];
    uint32_t num = b->num_free_params[b->problem->image_camera[b->obs_image[o]]];
    return b->camera_rows[2 * b->max_free_params * o + (uint32_t)side * num + (uint32_t)which - 9];
}

static void derivatives_agree_with_differences_for_every_camera_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    static double sqrt_info[SCENE_MAX_IMAGES * SCENE_MAX_POINTS][3];
    for (int round = 0; round < 2 * PSFM_CAMERA_EQUIRECTANGULAR; ++round) {
        int model = round / 2;
        scene_options o = {.num_images = 3, .num_points = 12, .num_cameras = 1, .visible = 1.0};
        o.model = (psfm_camera_model)model;
        scene_make(&o, &s);
        scene_perturb(&s, 3, 0.01, 0.05, NULL);
        for (size_t k = 0; k < s.problem.num_observations; ++k) {
            double info[3] = {1.5 + 0.01 * (double)k, -0.4, 0.7};
            memcpy(sqrt_info[k], info, sizeof info);
        }
        s.problem.obs_sqrt_info = (const double(*)[3])sqrt_info;
        psfm_bundle_options options = default_options();
        options.loss = PSFM_LOSS_SQUARED;
        options.refine = PSFM_REFINE_ALL;
        options.two_focals = round % 2 == 1;
        psfm_bundle b;
        double cost;
        assert_ok(ctx, psfm_bundle_setup(ctx, &s.problem, &options, &b));
        for (uint32_t i = 0; i < 3; ++i)
            b.scale_anchor[i] = PSFM_BUNDLE_NONE; /* the projection is tested elsewhere */
        assert_ok(ctx, psfm_bundle_linearize(ctx, &b, &cost));
        int num = 9 + (int)b.num_free_params[0];
        const psfm_camera_model_info *info = psfm_camera_model_get(o.model);
        bool joint = !options.two_focals && info->focal[0] != info->focal[1];
        assert_int_equal(b.num_free_params[0], info->num_params - joint);
        for (uint32_t k = 0; k < b.num_obs; ++k)
            for (int which = 0; which < num; ++which) {
                int param = which < 9 ? 0 : (int)b.free_params[0][which - 9];
                bool in_pixels = which >= 9 && param <= info->center[1];
                double h = in_pixels ? 1e-2 : 1e-5;
                double plus[2], minus[2];
                moved_residual(&b, k, which, h, plus);
                moved_residual(&b, k, which, -h, minus);
                for (int side = 0; side < 2; ++side) {
                    double numeric = (plus[side] - minus[side]) / (2 * h);
                    assert_close(analytic(&b, k, which, side), numeric, 2e-6 * (1 + fabs(numeric)));
                }
            }
        psfm_bundle_teardown(&b);
    }
    psfm_context_destroy(&ctx);
}

/* Norm of the gradient by the reduced blocks and points: zero at the optimum. */
static double gradient(psfm_context *ctx, psfm_bundle *b) {
    double cost, sum = 0.0;
    assert_ok(ctx, psfm_bundle_linearize(ctx, b, &cost));
    assert_ok(ctx, psfm_bundle_reduce(ctx, b, 1e-12));
    for (uint32_t k = 0; k < b->pattern.scalar_begin[b->pattern.num_blocks]; ++k)
        sum += b->rhs[k] * b->rhs[k];
    return sqrt(sum);
}

/* Close to the optimum of noisy data an undamped step must decrease the cost by what was
 * predicted, and leave next to no gradient: both fail if one coupling is wrong or left out. */
static void a_step_does_what_the_linear_model_says(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int mode = 0; mode < 12; ++mode) {
        scene_options o = small_scene;
        o.model = PSFM_CAMERA_OPENCV;
        o.noise_px = 0.01;
        o.num_planes = 2;
        o.visible = 1.0;
        scene_make(&o, &s);
        psfm_bundle_options options = default_options();
        options.loss = PSFM_LOSS_SQUARED;
        options.planes = mode % 3;
        options.refine = PSFM_REFINE_NONE + mode / 3;
        scene_perturb(&s, 5, 1e-4, 1e-3, NULL);
        psfm_bundle b;
        psfm_bundle_trial trial;
        double cost, before, after;
        assert_ok(ctx, psfm_bundle_setup(ctx, &s.problem, &options, &b));
        before = gradient(ctx, &b);
        assert_ok(ctx, psfm_bundle_linearize(ctx, &b, &cost));
        assert_ok(ctx, psfm_bundle_reduce(ctx, &b, 1e-12));
        assert_ok(ctx, psfm_bundle_try_step(ctx, &b, INFINITY, 1.0, &trial));
        assert_close((cost - trial.cost) / trial.predicted, 1.0, 2e-3);
        psfm_bundle_values swap = b.now;
        b.now = b.trial;
        b.trial = swap;
        after = gradient(ctx, &b);
        assert_below(after, 2e-3 * before);
        psfm_bundle_teardown(&b);
    }
    psfm_context_destroy(&ctx);
}

/* One logarithm of a product against a logarithm each: of residuals that only rounding left, of
 * usual ones, and of so many large ones that the product would be no number. */
static void losses_of_many_residuals_add_up(void **state) {
    (void)state;
    psfm_bundle_options options = default_options();
    double scale2 = options.loss_scale_px * options.loss_scale_px;
    const double squares[][2] = {{1e-24, 3e-23}, {0.5, 7.0}, {1e6, 1e12}};
    options.loss = PSFM_LOSS_CAUCHY;
    for (int k = 0; k < 3; ++k) {
        psfm_bundle_losses sum = {0};
        double expected = 0.0;
        for (int n = 0; n < 100; ++n) {
            double squared = squares[k][n % 2];
            double weight = psfm_bundle_add_loss(&options, squared, &sum);
            assert_close(weight, 1.0 / (1.0 + squared / scale2), 1e-15);
            expected += scale2 * log1p(squared / scale2);
        }
        assert_close(psfm_bundle_total_loss(&options, &sum) / expected, 1.0, 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_of_many_residuals_add_up),
        cmocka_unit_test(derivatives_agree_with_differences_for_every_camera_model),
        cmocka_unit_test(a_step_does_what_the_linear_model_says),
    };
    return cmocka_run_group_tests_name("bundle/bundle_linearize", tests, NULL, NULL);
}
