/* One pair under given lenses: its motion, what it costs, and what it says of the lenses. */
#include "unit/core/calibration/pair_of_lenses.h"

static const double turn[3] = {0.15, -0.25, 0.1}, way[3] = {1.0, 0.3, -0.2};

/* Lenses of 1.1 and 0.9 longer sides, of pixels that are not square. */
static void make_lenses(psfm_camera lenses[2]) {
    lenses[0] = lens(1100.0, 1050.0);
    lenses[1] = lens(900.0, 950.0);
}

static double cost_under(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                         psfm_motion *motion) {
    assert_true(psfm_pair_motion_start(pair, lenses, motion));
    return psfm_pair_motion_refine(pair, lenses, 100, motion);
}

static void the_right_focal_lengths_cost_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera truth[2], rough[2];
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.0, 1);
    for (int side = 0; side < 2; ++side) { /* too short, too long */
        rough[side] = truth[side];
        rough[side].params[0] *= side == 0 ? 0.8 : 1.3;
        rough[side].params[1] *= side == 0 ? 0.8 : 1.3;
    }
    psfm_measured_pair pair = measure(ctx, &p, rough);
    psfm_pair_lenses right = lenses_of(rough, 1.0 / 0.8, 1.0 / 1.3);
    psfm_motion motion, expected;
    double E[9], E_true[9], t = psfm_norm3(way), dot = 0.0;
    assert_true(psfm_pair_motion_start(&pair, &right, &motion)); /* it is there already */
    assert_below(psfm_pair_motion_refine(&pair, &right, 0, &motion), 1e-12);
    assert_below(cost_under(&pair, &right, &motion), 1e-12);
    memcpy(expected.R_21, p.R_21, sizeof p.R_21);
    psfm_scale3(1.0 / t, way, expected.t_21);
    psfm_essential_from_motion(&motion, E);
    psfm_essential_from_motion(&expected, E_true);
    for (int k = 0; k < 9; ++k) /* either sign of t and the turn about it */
        dot += 0.5 * E[k] * E_true[k];
    assert_close(fabs(dot), 1.0, 1e-9);
    for (int k = 0; k < 4; ++k) { /* and no others */
        psfm_pair_lenses wrong = right;
        wrong.factor[k / 2] *= k % 2 == 0 ? 0.97 : 1.03;
        assert_true(cost_under(&pair, &wrong, &motion) > 1.0);
    }
    psfm_ray_pairs_free(&pair.rays);
    psfm_context_destroy(&ctx);
}

/* Takes lens parameter k of one side away from the truth by `by`: what the rays then say is wrong
 * by as much. */
static void change_lens(psfm_camera *camera, int parameter, double by) {
    double *p = camera->params;
    switch (parameter) {
    case PSFM_LENS_FOCAL:
        p[0] *= exp(by);
        p[1] *= exp(by);
        break;
    case PSFM_LENS_K1:
        p[4] += by * p[0] * p[1] / (PAIR_LONGER * PAIR_LONGER);
        break;
    default:
        p[1 + parameter] += by * PAIR_LONGER;
    }
}

/* What the pair costs if its lenses are others by these, its motion following. */
static double cost_beside(psfm_context *ctx, const photographs *p, const psfm_camera cameras[2],
                          const psfm_motion *motion, const double change[2 * PSFM_LENS_DIM]) {
    psfm_camera moved[2] = {cameras[0], cameras[1]};
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k)
        change_lens(&moved[k / PSFM_LENS_DIM], k % PSFM_LENS_DIM, change[k]);
    psfm_measured_pair pair = {.weight = 4.0, .rays = rays_under(ctx, p, moved)};
    psfm_pair_lenses same = lenses_of(moved, 1.0, 1.0);
    psfm_motion follows = *motion;
    double cost = psfm_pair_motion_refine(&pair, &same, 100, &follows);
    psfm_ray_pairs_free(&pair.rays);
    return cost;
}

/* With rays computed anew by the camera models. At the truth the cost is x^T N x. */
static void information_is_what_wrong_lenses_cost(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 42, 0);
    psfm_camera truth[2];
    psfm_motion motion;
    psfm_lens_information at;
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.0, 2);
    psfm_measured_pair pair = measure(ctx, &p, truth);
    psfm_pair_lenses lenses = lenses_of(truth, 1.0, 1.0);
    cost_under(&pair, &lenses, &motion);
    assert_true(psfm_pair_information(&pair, &lenses, &motion, true, &at));
    for (int trial = 0; trial < 24; ++trial) {
        double x[2 * PSFM_LENS_DIM] = {0.0}, expected = 0.0;
        for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k) /* each alone, then mixed */
            if (trial >= 8 || k == trial)
                x[k] = 1e-4 * (trial < 8 ? 1.0 : psfm_rng_normal(&rng));
        for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k)
            for (int i = 0; i < 2 * PSFM_LENS_DIM; ++i)
                expected += x[k] * at.N[k][i] * x[i];
        assert_true(expected > 1e-6);
        assert_close(cost_beside(ctx, &p, truth, &motion, x) / expected, 1.0, 3e-3);
    }
    psfm_ray_pairs_free(&pair.rays);
    psfm_context_destroy(&ctx);
}

/* Beside the truth and with noise: half the derivative of the cost by every parameter. */
static void the_gradient_is_that_of_the_cost(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera truth[2];
    psfm_motion motion;
    psfm_lens_information at;
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.3, 3);
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k)
        change_lens(&truth[k / PSFM_LENS_DIM], k % PSFM_LENS_DIM, k % 2 == 0 ? 2e-3 : -1e-3);
    psfm_measured_pair pair = measure(ctx, &p, truth);
    psfm_pair_lenses lenses = lenses_of(truth, 1.0, 1.0);
    cost_under(&pair, &lenses, &motion);
    assert_true(psfm_pair_information(&pair, &lenses, &motion, true, &at));
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k) {
        double x[2 * PSFM_LENS_DIM] = {0.0}, cost[2], size = sqrt(at.N[k][k]);
        for (int s = 0; s < 2; ++s) {
            x[k] = s == 0 ? -1e-4 : 1e-4;
            cost[s] = cost_beside(ctx, &p, truth, &motion, x);
        }
        double slope = (cost[1] - cost[0]) / 2e-4;
        assert_close(slope / size, 2.0 * at.g[k] / size, 0.01);
    }
    psfm_ray_pairs_free(&pair.rays);
    psfm_context_destroy(&ctx);
}

static void focal_lengths_alone_leave_the_rest_zero(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera truth[2];
    psfm_motion motion;
    psfm_lens_information all, focal;
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.3, 4);
    psfm_measured_pair pair = measure(ctx, &p, truth);
    psfm_pair_lenses lenses = lenses_of(truth, 1.02, 0.98);
    cost_under(&pair, &lenses, &motion);
    assert_true(psfm_pair_information(&pair, &lenses, &motion, true, &all));
    assert_true(psfm_pair_information(&pair, &lenses, &motion, false, &focal));
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k) {
        bool is_focal = k % PSFM_LENS_DIM == PSFM_LENS_FOCAL;
        assert_close(focal.g[k], is_focal ? all.g[k] : 0.0, 1e-12 * fabs(all.g[k]));
        for (int i = 0; i < 2 * PSFM_LENS_DIM; ++i) {
            bool both = is_focal && i % PSFM_LENS_DIM == PSFM_LENS_FOCAL;
            assert_close(focal.N[k][i], both ? all.N[k][i] : 0.0, 1e-12 * fabs(all.N[k][i]));
        }
    }
    psfm_ray_pairs_free(&pair.rays);
    psfm_context_destroy(&ctx);
}

/* Image 2 for image 1: the same, by the other side. */
static void the_order_of_the_images_does_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera truth[2];
    psfm_lens_information at[2];
    double cost[2];
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.3, 5), q = p;
    memcpy(q.xy[0], p.xy[1], sizeof p.xy[0]);
    memcpy(q.xy[1], p.xy[0], sizeof p.xy[0]);
    q.lenses[0] = p.lenses[1];
    q.lenses[1] = p.lenses[0];
    psfm_mat3_transpose(p.R_21, q.R_21);
    psfm_mat3_tmul_vec(p.R_21, p.t_21, q.t_21);
    psfm_scale3(-1.0, q.t_21, q.t_21);
    for (int k = 0; k < 2; ++k) {
        psfm_measured_pair pair = measure(ctx, k == 0 ? &p : &q, k == 0 ? p.lenses : q.lenses);
        psfm_pair_lenses l =
            lenses_of(k == 0 ? p.lenses : q.lenses, k == 0 ? 1.01 : 0.98, k == 0 ? 0.98 : 1.01);
        psfm_motion motion;
        cost[k] = cost_under(&pair, &l, &motion);
        assert_true(psfm_pair_information(&pair, &l, &motion, true, &at[k]));
        psfm_ray_pairs_free(&pair.rays);
    }
    assert_close(cost[0] / cost[1], 1.0, 1e-6);
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k)
        for (int i = 0; i < 2 * PSFM_LENS_DIM; ++i) {
            double size = sqrt(at[0].N[k][k] * at[0].N[i][i]);
            assert_close(at[0].N[k][i], at[1].N[(k + PSFM_LENS_DIM) % 8][(i + PSFM_LENS_DIM) % 8],
                         1e-3 * size);
        }
    psfm_context_destroy(&ctx);
}

/* The two numbers of log f that a pair tells: the smaller and the larger eigenvalue. */
static void find_eigenvalues(psfm_context *ctx, const double w[3], const double t[3],
                             double values[2], double vector[2]) {
    psfm_camera same = lens(1000.0, 1000.0);
    photographs p = take_photographs(w, t, &same, &same, 0.0, 6);
    psfm_measured_pair pair = measure(ctx, &p, p.lenses);
    psfm_pair_lenses l = lenses_of(p.lenses, 1.0, 1.0);
    psfm_lens_information at;
    psfm_motion motion;
    cost_under(&pair, &l, &motion);
    assert_true(psfm_pair_information(&pair, &l, &motion, false, &at));
    double a = at.N[0][0], b = at.N[0][PSFM_LENS_DIM];
    double d = at.N[PSFM_LENS_DIM][PSFM_LENS_DIM], root = hypot(0.5 * (a - d), b);
    values[0] = 0.5 * (a + d) - root;
    values[1] = 0.5 * (a + d) + root;
    vector[0] = b;
    vector[1] = values[0] - a;
    double norm = hypot(vector[0], vector[1]);
    vector[0] /= norm;
    vector[1] /= norm;
    psfm_ray_pairs_free(&pair.rays);
}

static void degenerate_pairs_tell_one_number_of_two(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double none[3] = {0, 0, 0}, turned[3] = {0.0, -0.3, 0.0};
    /* Both look at the point (0, 0, 4) from as far away: both lenses longer by as much is a scene
     * that is deeper. */
    const double R_z[3] = {4.0 * sin(0.3), 0.0, 4.0 - 4.0 * cos(0.3)};
    double values[2], vector[2];
    find_eigenvalues(ctx, turn, way, values, vector);
    assert_true(values[0] > 1e-3 * values[1]);
    find_eigenvalues(ctx, turned, R_z, values, vector);
    assert_true(values[1] > 1e3 && fabs(values[0]) < 1e-6 * values[1]);
    /* cameras that do not turn: the same, whatever their way */
    find_eigenvalues(ctx, none, way, values, vector);
    assert_true(values[1] > 1e3 && fabs(values[0]) < 1e-6 * values[1]);
    assert_close(fabs(vector[0] + vector[1]), sqrt(2.0), 1e-3);
    psfm_context_destroy(&ctx);
}

static void no_matches_determine_no_motion(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera truth[2];
    psfm_lens_information at;
    make_lenses(truth);
    photographs p = take_photographs(turn, way, &truth[0], &truth[1], 0.0, 7);
    psfm_measured_pair pair = measure(ctx, &p, truth), nothing = pair;
    psfm_pair_lenses lenses = lenses_of(truth, 1.0, 1.0);
    psfm_motion motion;
    cost_under(&pair, &lenses, &motion);
    nothing.rays.num = nothing.rays.num_blocks = 0;
    assert_false(psfm_pair_information(&nothing, &lenses, &motion, true, &at));
    for (int k = 0; k < 2 * PSFM_LENS_DIM; ++k)
        assert_true(at.g[k] == 0.0 && at.N[k][k] == 0.0);
    memset(nothing.F, 0, sizeof nothing.F);
    assert_false(psfm_pair_motion_start(&nothing, &lenses, &motion));
    psfm_ray_pairs_free(&pair.rays);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_focal_lengths_cost_nothing),
        cmocka_unit_test(information_is_what_wrong_lenses_cost),
        cmocka_unit_test(the_gradient_is_that_of_the_cost),
        cmocka_unit_test(focal_lengths_alone_leave_the_rest_zero),
        cmocka_unit_test(the_order_of_the_images_does_not_matter),
        cmocka_unit_test(degenerate_pairs_tell_one_number_of_two),
        cmocka_unit_test(no_matches_determine_no_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
