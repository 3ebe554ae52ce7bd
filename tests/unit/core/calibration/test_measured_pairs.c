/* Fundamental matrices of pairs as measurements. */
#include "unit/core/calibration/pair_rig.h"

#include "core/calibration/pair_motion.h"
#include "core/twoview/fundamental.h"

/* A rig of three cameras about a cloud of points: its pairs are (0, 1), (0, 2) and (1, 2), twice.
 */
static void set_up(psfm_context *ctx, rig *r, uint64_t seed, double noise_px, double outliers,
                   double flat) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 43, 0);
    *r = new_rig(&rng, false);
    r->num = 3;
    r->noise_px = noise_px;
    r->outliers = outliers;
    for (size_t k = 0; k < 3; ++k) {
        const double center[3] = {-2.4, 0.9 * ((double)k - 1.0), 1.2 + 0.3 * (double)(k % 2)};
        const double target[3] = {0.0, 0.3 * (double)k - 0.2, 0.2 * (double)(k % 2)};
        look_at(r, k, center, target, 0.2 * (double)k);
    }
    make_set(ctx, r, &rng, flat);
    for (size_t k = 3; k < r->set.num_pairs; ++k)
        free(r->set.pairs[k].matches);
    r->set.num_pairs = 3;
}

static psfm_measured_pairs measure(psfm_context *ctx, rig *r, const bool *wanted,
                                   const psfm_two_view *two_views) {
    static const psfm_two_view none[3];
    static const bool all[3] = {true, true, true};
    psfm_two_view_options options;
    psfm_measured_pairs out;
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.estimate_essential = false;
    assert_ok(ctx, psfm_measured_pairs_init(ctx, &r->set, two_views == NULL ? none : two_views,
                                            wanted == NULL ? all : wanted, &options, &out));
    return out;
}

/* The true fundamental matrix of a pair between rays of the cameras as they are, of unit norm. */
static void true_matrix(const rig *r, const psfm_measured_pair *m, double F[9]) {
    psfm_motion motion;
    double C[3], norm = 0.0;
    psfm_sub3(r->center[m->view1], r->center[m->view2], C);
    psfm_mat3_mul_vec(r->R[m->view2], C, motion.t_21);
    psfm_mat3_mul_t(r->R[m->view2], r->R[m->view1], motion.R_21);
    psfm_essential_from_motion(&motion, F);
    double s1 = PSFM_GUESS_FACTOR * WIDTH / r->focal[m->view1];
    double s2 = PSFM_GUESS_FACTOR * WIDTH / r->focal[m->view2];
    for (int k = 0; k < 9; ++k) {
        F[k] *= (k / 3 < 2 ? s2 : 1.0) * (k % 3 < 2 ? s1 : 1.0);
        norm += F[k] * F[k];
    }
    for (int k = 0; k < 9; ++k)
        F[k] /= sqrt(norm);
}

static double apart(const double A[9], const double B[9]) {
    double plus = 0.0, minus = 0.0;
    for (int k = 0; k < 9; ++k) {
        plus += (A[k] - B[k]) * (A[k] - B[k]);
        minus += (A[k] + B[k]) * (A[k] + B[k]);
    }
    return sqrt(fmin(plus, minus));
}

/* Of cameras whose focal lengths are a guess. Of wrong matches a few lie near their epipolar lines,
 * and remain. */
static void exact_matches_give_exact_matrices(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int wrong = 0; wrong < 2; ++wrong) {
        rig r;
        set_up(ctx, &r, 1, 0.0, wrong ? 0.2 : 0.0, 1.0);
        psfm_measured_pairs pairs = measure(ctx, &r, NULL, NULL);
        assert_int_equal(pairs.num, 3);
        for (uint32_t k = 0; k < 3; ++k) {
            const psfm_measured_pair *m = &pairs.items[k];
            size_t num = r.set.pairs[k].num_matches;
            double F[9], norm = 0.0;
            assert_true(m->view1 == r.set.pairs[k].view1 && m->view2 == r.set.pairs[k].view2);
            true_matrix(&r, m, F);
            assert_below(apart(m->F, F), wrong ? 1e-3 : 1e-9);
            for (int i = 0; i < 9; ++i)
                norm += m->F[i] * m->F[i];
            assert_close(norm, 1.0, 1e-12);
            assert_close(psfm_mat3_det(m->F), 0.0, 1e-12);
            if (wrong)
                assert_in_range(m->rays.num, num * 75 / 100, num * 85 / 100);
            else
                assert_int_equal(m->rays.num, num);
        }
        psfm_measured_pairs_free(&pairs);
        assert_null(pairs.items);
        psfm_match_set_free(&r.set);
    }
    psfm_context_destroy(&ctx);
}

static double sum_squares(const psfm_measured_pair *m) {
    double *squared = calloc(m->rays.num_blocks * PSFM_LANES, sizeof *squared), sum = 0.0;
    psfm_essential_errors(&m->rays, m->F, squared);
    for (size_t i = 0; i < m->rays.num; ++i)
        sum += squared[i];
    free(squared);
    return sum;
}

/* A squared error counts by the noise, and as if at most 200 errors were independent: the sum over
 * the inliers is then that of as many, less the seven numbers of F in proportion. */
static void errors_are_weighed_by_their_noise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double cost = 0.0, expected = 0.0;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        rig r;
        const double noise = 0.3 + 0.4 * (double)seed;
        set_up(ctx, &r, seed, noise, 0.0, 1.0);
        psfm_measured_pairs pairs = measure(ctx, &r, NULL, NULL);
        assert_int_equal(pairs.num, 3);
        for (size_t k = 0; k < 3; ++k) {
            const psfm_measured_pair *m = &pairs.items[k];
            double num = (double)m->rays.num, share = fmin(1.0, 200.0 / num);
            assert_true(num > 200.0 && m->rays.num_blocks == (m->rays.num + 7) / 8);
            assert_close(m->weight * noise * noise / share, 1.0, 0.3);
            assert_close(m->free_cost, m->weight * sum_squares(m), 1e-6 * m->free_cost);
            cost += m->free_cost;
            expected += share * (num - 7.0);
        }
        psfm_measured_pairs_free(&pairs);
        psfm_match_set_free(&r.set);
    }
    assert_close(cost / expected, 1.0, 0.1);
    psfm_context_destroy(&ctx);
}

/* As it came: no errors are cut off, however large. */
static void far_errors_count_in_full(void **state) {
    (void)state;
    assert_close(psfm_loss_value(psfm_pair_loss, 1e6), 1e6, 1e-3);
    assert_close(psfm_loss_weight(psfm_pair_loss, 1e6), 1.0, 0.0);
}

static void unwanted_and_small_pairs_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    rig r;
    const bool wanted[3] = {true, false, true};
    set_up(ctx, &r, 2, 0.5, 0.0, 1.0);
    r.set.pairs[2].num_matches = 45;
    psfm_measured_pairs pairs = measure(ctx, &r, wanted, NULL);
    assert_int_equal(pairs.num, 2);
    assert_true(pairs.items[0].view1 == 0 && pairs.items[0].view2 == 1);
    psfm_measured_pairs_free(&pairs);
    r.set.pairs[2].num_matches = 29;
    pairs = measure(ctx, &r, wanted, NULL);
    assert_int_equal(pairs.num, 1);
    psfm_measured_pairs_free(&pairs);
    for (size_t k = 0; k < 3; ++k)
        r.set.pairs[k].num_matches = 0;
    pairs = measure(ctx, &r, NULL, NULL);
    assert_int_equal(pairs.num, 0);
    psfm_measured_pairs_free(&pairs);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

/* Whatever epipolar geometry is fitted to points of one plane. */
static void pairs_that_see_one_plane_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    rig r;
    psfm_two_view_options options;
    psfm_two_view *two_views = NULL;
    set_up(ctx, &r, 3, 0.5, 0.1, 0.0);
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.estimate_essential = false;
    assert_ok(ctx, psfm_two_views_make(ctx, &r.set, &options, &two_views));
    for (size_t k = 0; k < 3; ++k)
        assert_true(two_views[k].num_homographies > 0);
    psfm_measured_pairs pairs = measure(ctx, &r, NULL, two_views);
    assert_int_equal(pairs.num, 0);
    psfm_measured_pairs_free(&pairs);
    psfm_two_views_free(&two_views, r.set.num_pairs);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    rig r;
    psfm_measured_pairs pairs[2];
    set_up(ctx, &r, 4, 0.7, 0.3, 1.0);
    for (int k = 0; k < 2; ++k) {
        psfm_context_set_threads(ctx, k == 0 ? 1 : 3);
        pairs[k] = measure(ctx, &r, NULL, NULL);
    }
    assert_int_equal(pairs[0].num, 3);
    for (size_t k = 0; k < 3; ++k) {
        const psfm_measured_pair *a = &pairs[0].items[k], *b = &pairs[1].items[k];
        assert_memory_equal(a->F, b->F, sizeof a->F);
        assert_int_equal(a->rays.num, b->rays.num);
        assert_true(a->free_cost == b->free_cost && a->weight == b->weight);
    }
    psfm_measured_pairs_free(&pairs[0]);
    psfm_measured_pairs_free(&pairs[1]);
    psfm_match_set_free(&r.set);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_give_exact_matrices),
        cmocka_unit_test(errors_are_weighed_by_their_noise),
        cmocka_unit_test(far_errors_count_in_full),
        cmocka_unit_test(unwanted_and_small_pairs_are_left_out),
        cmocka_unit_test(pairs_that_see_one_plane_are_left_out),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
