/* How usual an angle is, and how much an edge supports rotations, by their formulas. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/rotations/consensus_search.h"

enum { EDGES = 30, EXEMPT = 3, CANDIDATES = 2 * EDGES };

/* A star of edges with two candidates each; the last EXEMPT are no pairs of images. */
typedef struct {
    uint32_t node1[EDGES], node2[EDGES], begin[EDGES + 1];
    double R_21[CANDIDATES][9], confidence[CANDIDATES], sigma[CANDIDATES], weight[EDGES];
    int angle_deg[CANDIDATES];
    double R[EDGES + 1][9];
    psfm_topology topology;
    psfm_rotation_candidates candidates;
    psfm_consensus_search search;
} star;

static void turn_by(psfm_rng *rng, double degrees, double R[9]) {
    double axis[3];
    psfm_rng_direction(rng, axis);
    psfm_scale3(psfm_radians(degrees), axis, axis);
    psfm_rotation_exp(axis, R);
}

static void open_star(psfm_context *ctx, uint64_t seed, bool knows_sigma, star *s) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 48, 0);
    memset(s, 0, sizeof *s);
    for (uint32_t e = 0; e < EDGES; ++e) {
        s->node2[e] = e + 1;
        s->begin[e + 1] = 2 * e + 2;
        s->weight[e] = psfm_rng_range(&rng, 0.5, 2.0);
        psfm_mat3_identity(s->R[e + 1]);
    }
    psfm_mat3_identity(s->R[0]);
    for (uint32_t q = 0; q < CANDIDATES; ++q) {
        bool is_rare = psfm_rng_uniform(&rng) < 0.1;
        s->angle_deg[q] = (int)psfm_rng_below(&rng, 40) + (is_rare ? 130 : 0);
        turn_by(&rng, s->angle_deg[q], s->R_21[q]);
        s->confidence[q] = psfm_rng_range(&rng, 0.1, 1.0);
        s->sigma[q] = psfm_radians(q % 3 == 0 ? 4.0 : 0.5);
    }
    s->topology = (psfm_topology){
        .num_nodes = EDGES + 1, .num_edges = EDGES, .node1 = s->node1, .node2 = s->node2};
    s->candidates = (psfm_rotation_candidates){.begin = s->begin,
                                               .R_21 = (const double(*)[9])s->R_21,
                                               .confidence = s->confidence,
                                               .sigma_rad = knows_sigma ? s->sigma : NULL,
                                               .weight = s->weight,
                                               .num_exempt = EXEMPT};
    psfm_rotation_problem problem = {&s->topology, &s->candidates, 1};
    assert_ok(ctx, psfm_consensus_init(ctx, &problem, s->R, &s->search));
}

/* Of the angles that count, smoothed by 30 degrees. */
static double angle_density(const star *s, const uint32_t *chosen, int angle_deg) {
    double sum = 0.0;
    for (uint32_t q = 0; q < CANDIDATES - 2 * EXEMPT; ++q) {
        double off = (angle_deg - s->angle_deg[q]) / 30.0;
        if (chosen == NULL || chosen[q / 2] == q)
            sum += s->weight[q / 2] * s->confidence[q] * exp(-0.5 * off * off);
    }
    return sum;
}

static void assert_typical(const star *s, const uint32_t *chosen) {
    double largest = 0.0, least = 1.0;
    for (int a = 0; a <= 180; ++a)
        largest = fmax(largest, angle_density(s, chosen, a));
    for (uint32_t q = 0; q < CANDIDATES; ++q) {
        double share = fmax(angle_density(s, chosen, s->angle_deg[q]) / largest, 0.01);
        double typical = q < CANDIDATES - 2 * EXEMPT ? share * share * share : 1.0;
        assert_close(s->search.confidence[q], s->confidence[q] * typical, 1e-12);
        least = fmin(least, typical);
    }
    assert_below(least, 0.1);
}

static void rare_angles_count_less(void **state) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        star s;
        uint32_t chosen[EDGES];
        open_star(*state, seed, false, &s);
        assert_typical(&s, NULL);
        for (uint32_t e = 0; e < EDGES; ++e)
            chosen[e] = e % 3 == 0 ? UINT32_MAX : 2 * e + e % 2;
        psfm_consensus_learn_typical(&s.search, chosen);
        assert_typical(&s, chosen);
        psfm_consensus_free(&s.search);
    }
}

/* Nothing is chosen: nothing is known of angles, and all are as usual. */
static void without_a_choice_all_angles_are_usual(void **state) {
    star s;
    uint32_t none[EDGES];
    open_star(*state, 7, false, &s);
    memset(none, 0xff, sizeof none);
    psfm_consensus_learn_typical(&s.search, none);
    for (uint32_t q = 0; q < CANDIDATES; ++q)
        assert_close(s.search.confidence[q], s.confidence[q], 1e-15);
    psfm_consensus_free(&s.search);
}

/* 1 - (angle / reach)^2 of the confidence, of the candidate for which that is most; the reach is 5
 * degrees, or three standard deviations. */
static void support_falls_to_the_reach(void **state) {
    for (int knows_sigma = 0; knows_sigma < 2; ++knows_sigma) {
        star s;
        uint32_t num_agreeing = 0, chosen[EDGES], best;
        double sum = 0.0;
        open_star(*state, 8, knows_sigma == 1, &s);
        psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 48, 1);
        for (uint32_t e = 0; e < EDGES; ++e) {
            double off[9];
            turn_by(&rng, psfm_rng_range(&rng, 0.0, 12.0), off);
            psfm_mat3_mul(s.R_21[2 * e + e % 2], off, s.R[e + 1]);
            double most = 0.0;
            uint32_t expected = UINT32_MAX;
            for (uint32_t q = 2 * e; q < 2 * e + 2; ++q) {
                double reach = psfm_radians(knows_sigma && q % 3 == 0 ? 12.0 : 5.0);
                double x = psfm_rotation_angle(s.R[e + 1], s.R_21[q]) / reach;
                double value = s.search.confidence[q] * (1.0 - x * x);
                if (value > most) {
                    most = value;
                    expected = q;
                }
            }
            double support = psfm_consensus_support(&s.search, e, s.R[0], s.R[e + 1], &best);
            assert_close(support, most * s.weight[e], 1e-9);
            assert_int_equal(best, expected);
            assert_int_equal(psfm_consensus_agrees(&s.search, e, s.R[0], s.R[e + 1]), most > 0.0);
            num_agreeing += most > 0.0;
            sum += support;
        }
        assert_true(num_agreeing > 3 && num_agreeing < EDGES - 3);
        assert_close(psfm_consensus_choose(&s.search, chosen), sum, 1e-12);
        psfm_consensus_free(&s.search);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_angles_count_less),
        cmocka_unit_test(without_a_choice_all_angles_are_usual),
        cmocka_unit_test(support_falls_to_the_reach),
    };
    return cmocka_run_group_tests_name("rotations/consensus_support", tests, open_context,
                                       close_context);
}
