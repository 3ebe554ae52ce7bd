/* How likely poses are right that lines hold. */
#include "verdict/line_verdict.h"

#include "../refine/court_model.h"
#include "verdict/calibration.h"

static const double as_drawn[2] = {0.0, 0.0};

/* More lines, and runners-up that are farther behind, are better. */
static void registrations_are_weighed(void **state) {
    (void)state;
    psfm_court_pose good = {.score = 5000.0, .runner_up = 500.0, .num_lines = 12};
    psfm_court_pose few = good, close = good, nothing = {.num_lines = 0};
    few.num_lines = 5;
    close.runner_up = 2700.0;
    assert_true(psfm_line_probability(&good, false) > 0.99 &&
                psfm_line_probability(&good, false) < 1.0);
    assert_true(psfm_line_probability(&few, false) < 0.9);
    assert_true(psfm_line_probability(&close, false) < psfm_line_probability(&good, false));
    assert_true(psfm_line_probability(&nothing, false) < 0.05);
    assert_true(psfm_line_probability(&few, true) > psfm_line_probability(&few, false));
}

/* Two floors more for the turn than against it are three quarters each in log-odds. */
static void turns_are_voted_on(void **state) {
    (void)state;
    court_model m;
    make_court_model(as_drawn, &m);
    assert_close(psfm_turn_probability(&m.court, 0), 0.5, 1e-12);
    psfm_turn_link links[] = {{0, 1, 2, 0.3, 0.1},  /* right: view 1 is turned */
                              {2, 0, 0, 0.3, 0.1},  /* right */
                              {0, 3, 0, 0.3, 0.1},  /* right */
                              {1, 0, 0, 0.3, 0.1},  /* wrong */
                              {0, 2, 2, 0.3, 0.0},  /* says nothing */
                              {2, 3, 2, 0.3, 0.1}}; /* of others */
    m.court.links = calloc(6, sizeof *m.court.links);
    assert_non_null(m.court.links);
    memcpy(m.court.links, links, sizeof links);
    m.court.num_links = 6;
    m.court.quarters[1] = 2;
    assert_close(psfm_turn_probability(&m.court, 0), 1.0 / (1.0 + exp(-0.75 * 2.0)), 1e-12);
    m.court.num_turns = 1;
    assert_close(psfm_turn_probability(&m.court, 0), 1.0, 1e-12);
    free_court_model(&m);
}

/* A model of lines alone gets a verdict; one that points hold keeps its own. */
static void models_are_judged(void **state) {
    (void)state;
    court_model m;
    psfm_verdicts verdicts = {0};
    make_court_model(as_drawn, &m);
    psfm_verdict_input input = {.solution = &m.solution, .refined = &m.refined};
    m.court.num_turns = 1;
    for (int v = 0; v < COURT_VIEWS; ++v) {
        m.refined.images[v].num_points = 50;
        m.court.poses[v].score = 5000.0;
        m.court.poses[v].runner_up = 400.0;
        m.court.poses[v].num_lines = 12;
    }
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    assert_null(verdicts.models);
    for (int v = 0; v < COURT_VIEWS; ++v)
        m.refined.images[v].num_points = 0;
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    double one = psfm_line_probability(&m.court.poses[0], true);
    assert_int_equal(verdicts.models[0].num_by_lines, COURT_VIEWS);
    assert_close(verdicts.images[2].probability, one, 1e-12);
    assert_close(verdicts.models[0].probability, one * one * one * one, 1e-12);
    assert_true(psfm_is_called_right(&verdicts.models[0]));
    m.court.poses[1].num_lines = 3;
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    assert_false(psfm_is_called_right(&verdicts.models[0]));
    psfm_verdict_reason reason;
    assert_int_equal(psfm_verdict_reasons(&verdicts.models[0], 1, &reason), 1);
    assert_non_null(strstr(reason.text, "lines"));
    psfm_verdicts_free(&verdicts);
    free_court_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registrations_are_weighed),
        cmocka_unit_test(turns_are_voted_on),
        cmocka_unit_test(models_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
