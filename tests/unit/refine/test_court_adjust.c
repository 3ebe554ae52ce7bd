/* Poses, and the size of a court, from its lines alone. */
#include "refine/court_adjust.h"

#include "base/rng.h"
#include "court_model.h"

static psfm_refine_options default_options(void) {
    psfm_refine_options options = {0};
    psfm_options_init(&psfm_refine_control_option_table, &options.control);
    psfm_options_init(&psfm_bundle_option_table, &options.bundle);
    options.control.probes = false;
    options.bundle.tolerance = 1e-14;
    options.bundle.settled = 0.0;
    options.bundle.refine = PSFM_REFINE_NONE;
    return options;
}

/* Moves poses off by a degree and some decimetres. */
static void disturb(court_model *m) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 1, 0);
    for (int v = 0; v < COURT_VIEWS; ++v) {
        double w[3], turn[9], R[9];
        for (int d = 0; d < 3; ++d) {
            w[d] = 0.01 * psfm_rng_normal(&rng);
            m->solution.poses.center[v][d] += 0.1 * psfm_rng_normal(&rng);
        }
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, m->solution.poses.cam_from_world[v], R);
        memcpy(m->solution.poses.cam_from_world[v], R, sizeof R);
    }
}

static void adjust(court_model *m) {
    psfm_refine_options options = default_options();
    assert_ok(m->ctx, psfm_court_adjust(m->ctx, &options, &m->evidence, &m->solution, &m->refined));
}

static void poses_come_from_lines(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0};
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    disturb(&m);
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-9);
    assert_below(away, 1e-9);
    assert_true(m.drawing.size[0] == 28.0 && m.court.sigma_size[0] == 0.0);
    free_court_model(&m);
}

/* A court that is 12 cm longer and 7 cm narrower than the book: with a tolerance its size is found
 * with the poses, without one the poses are off. */
static void a_size_is_found(void **state) {
    (void)state;
    static const double grow[2] = {0.12, -0.07};
    court_model m;
    double turn, away;
    make_court_model(grow, &m);
    disturb(&m);
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_true(away > 0.01);
    m.court.options.tolerance = 1e4;
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-8);
    assert_below(away, 1e-7);
    for (int d = 0; d < 2; ++d)
        assert_close(m.drawing.size[d], (d == 0 ? 28.0 : 15.0) + grow[d], 1e-7);
    free_court_model(&m);
}

/* With noise the size is within its standard deviations, and a tight prior holds it. */
static void a_size_has_a_sigma(void **state) {
    (void)state;
    static const double grow[2] = {0.05, 0.03};
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 2, 0);
    court_model m;
    make_court_model(grow, &m);
    for (int v = 0; v < COURT_VIEWS; ++v)
        for (size_t k = 0; k < m.court.poses[v].lines.num; ++k)
            for (int d = 0; d < 2; ++d)
                m.court.poses[v].lines.items[k].xy[d] += 0.5 * psfm_rng_normal(&rng);
    m.court.options.tolerance = 0.1;
    adjust(&m);
    for (int d = 0; d < 2; ++d) {
        double off = m.drawing.size[d] - (d == 0 ? 28.0 : 15.0) - grow[d];
        assert_true(m.court.sigma_size[d] > 1e-4 && m.court.sigma_size[d] < 0.02);
        assert_below(fabs(off), 4.0 * m.court.sigma_size[d]);
    }
    free_court_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_come_from_lines),
        cmocka_unit_test(a_size_is_found),
        cmocka_unit_test(a_size_has_a_sigma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
