/* How likely poses are right that lines hold. */
#include "court/line_verdict.h"

#include "core/verdict/signal_calibration.h"
#include "unit/core/refine/court_model.h"

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

/* The log-odds term by term: lines up to ten, the runner-up as a share between 0 and 1, and what
 * other photographs show. */
static void probabilities_are_those_of_the_formula(void **state) {
    (void)state;
    static const struct {
        double score, runner_up, share;
        int num_lines;
        bool is_shown;
    } cases[] = {{5000.0, 1000.0, 0.2, 4, false},  {5000.0, 1000.0, 0.2, 4, true},
                 {5000.0, -300.0, 0.0, 12, false}, {5000.0, 9000.0, 1.0, 10, false},
                 {0.0, 0.0, 1.0, 7, true},         {-5.0, 10.0, 1.0, 0, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const psfm_court_pose pose = {.score = cases[k].score,
                                      .runner_up = cases[k].runner_up,
                                      .num_lines = cases[k].num_lines};
        double odds = -3.2 + 0.84 * fmin(cases[k].num_lines, 10) - 5.3 * cases[k].share +
                      (cases[k].is_shown ? 2.0 : 0.0);
        assert_close(psfm_line_probability(&pose, cases[k].is_shown), 1.0 / (1.0 + exp(-odds)),
                     1e-12);
    }
}

/* A pair of floors says by how much view 2 is to be turned for view 1: it counts either way round,
 * modulo a whole turn, and with both views in the model only. */
static void votes_are_turns_between_two_views(void **state) {
    (void)state;
    static const int turns[][3] = {/* of view 0, of view 1, of the pair */
                                   {0, 2, 2}, {2, 0, 2}, {2, 2, 0}, {3, 1, 2},
                                   {1, 0, 3}, {0, 3, 3}, {0, 1, 3}, {2, 2, 2}};
    static const int votes[] = {1, 1, 1, 1, 1, 1, -1, -1};
    court_model m;
    make_court_model(as_drawn, &m);
    m.court.links = calloc(1, sizeof *m.court.links);
    assert_non_null(m.court.links);
    m.court.num_links = 1;
    m.court.num_turns = 4;
    for (size_t k = 0; k < sizeof votes / sizeof *votes; ++k) {
        m.court.quarters[0] = turns[k][0];
        m.court.quarters[1] = turns[k][1];
        m.court.links[0] = (psfm_turn_link){0, 1, turns[k][2], 0.3, 0.1};
        double expected = 1.0 / (1.0 + exp(-0.75 * votes[k]));
        for (uint32_t v = 0; v < 2; ++v)
            assert_close(psfm_turn_probability(&m.court, v), expected, 1e-12);
        assert_close(psfm_turn_probability(&m.court, 2), 0.5, 1e-12);
        m.court.agrees[1] = false;
        assert_close(psfm_turn_probability(&m.court, 0), 0.5, 1e-12);
        m.court.agrees[1] = true;
    }
    free_court_model(&m);
}

/* Images 0 and 1 are held by lines, 2 and 3 by points, of which 2 has a verdict: the model is as
 * sure as its lines together, the worst of its turns, and the worst of the others. */
static void lines_and_points_are_judged_together(void **state) {
    (void)state;
    court_model m;
    psfm_verdicts verdicts = {0};
    double registered[COURT_VIEWS], turned[COURT_VIEWS];
    make_court_model(as_drawn, &m);
    psfm_verdict_input input = {.solution = &m.solution, .refined = &m.refined};
    m.court.links = calloc(1, sizeof *m.court.links);
    verdicts.models = calloc(1, sizeof *verdicts.models);
    verdicts.images = calloc(COURT_VIEWS, sizeof *verdicts.images);
    assert_true(m.court.links != NULL && verdicts.models != NULL && verdicts.images != NULL);
    m.court.links[0] = (psfm_turn_link){0, 2, 0, 0.3, 0.1}; /* speaks for 0 and 2 */
    m.court.num_links = 1;
    verdicts.num_models = 1;
    verdicts.num_images = COURT_VIEWS;
    verdicts.models[0] = (psfm_model_verdict){.probability = 0.1, .num_by_lines = 9};
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
        m.refined.images[v].num_points = v < 2 ? 14 : 15;
        m.court.poses[v].score = 5000.0;
        m.court.poses[v].runner_up = 300.0 * v;
        m.court.poses[v].num_lines = 6;
        verdicts.images[v].probability = v == 2 ? 0.97 : v == 3 ? 0.4 : (double)NAN;
    }
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
        registered[v] = psfm_line_probability(&m.court.poses[v], true);
        turned[v] = psfm_turn_probability(&m.court, v);
    }
    assert_true(turned[0] > turned[1] && registered[3] * turned[3] > 0.4);
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
        double own = v == 2 ? 0.97 : registered[v] * turned[v];
        assert_close(verdicts.images[v].probability, own, 1e-12);
        assert_int_equal(verdicts.images[v].by_lines, v < 2);
    }
    double others = fmin(0.97, registered[3] * turned[3]);
    assert_close(verdicts.models[0].probability, registered[0] * registered[1] * turned[1] * others,
                 1e-12);
    assert_true(isnan(verdicts.models[0].sigma_factor));
    assert_int_equal(verdicts.models[0].num_by_lines, 2);
    /* without a verdict and without a registration an image of points spoils the model */
    m.court.agrees[3] = false;
    verdicts.images[3].probability = (double)NAN;
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    assert_true(verdicts.models[0].probability == 0.0);
    psfm_verdicts_free(&verdicts);
    free_court_model(&m);
}

/* Verdicts that are made anew know nothing of models that lines do not hold. */
static void other_models_stay_unknown(void **state) {
    (void)state;
    court_model m;
    psfm_verdicts verdicts = {0};
    make_court_model(as_drawn, &m);
    psfm_verdict_input input = {.solution = &m.solution, .refined = &m.refined};
    m.solution.num_components = 2;
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
        m.refined.images[v].num_points = v < 2 ? 0 : 100;
        m.solution.poses.component[v] = v < 2 ? 1 : 0;
        m.court.poses[v].score = 5000.0;
    }
    assert_ok(m.ctx, psfm_line_verdicts_find(m.ctx, &m.court, &input, 15, &verdicts));
    assert_true(verdicts.num_models == 2 && verdicts.num_images == COURT_VIEWS);
    assert_true(isnan(verdicts.models[0].probability) && isnan(verdicts.images[2].probability));
    assert_true(verdicts.models[1].probability > 0.0 && verdicts.images[1].probability > 0.0);
    psfm_verdicts_free(&verdicts);
    m.solution.num_components = 1;
    free_court_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registrations_are_weighed),
        cmocka_unit_test(turns_are_voted_on),
        cmocka_unit_test(models_are_judged),
        cmocka_unit_test(probabilities_are_those_of_the_formula),
        cmocka_unit_test(votes_are_turns_between_two_views),
        cmocka_unit_test(lines_and_points_are_judged_together),
        cmocka_unit_test(other_models_stay_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
