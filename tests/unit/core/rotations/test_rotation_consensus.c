#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/rotations/rotation_consensus.h"

enum { NODES = 40, NEIGHBOURS = 3, EDGES = NODES * NEIGHBOURS };

/* A ring with true rotations, one true candidate an edge and a false one beside it. */
typedef struct {
    uint32_t node1[EDGES], node2[EDGES], begin[EDGES + 1];
    double truth[NODES][9], start[NODES][9];
    double R_21[2 * EDGES][9];
    double confidence[2 * EDGES], weight[EDGES];
    uint32_t chosen[EDGES];
    psfm_topology topology;
    psfm_rotation_candidates candidates;
} ring;

static void random_rotation(psfm_rng *rng, double angle, double R[9]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(angle, w, w);
    psfm_rotation_exp(w, R);
}

static ring *make_ring(uint64_t seed) {
    ring *r = calloc(1, sizeof *r);
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    for (int v = 0; v < NODES; ++v) { /* each camera turned a little further round the vertical */
        double about[3] = {0, 0, 6.283185307179586 * v / NODES}, R[9], tilt[9];
        psfm_rotation_exp(about, R);
        random_rotation(&rng, 0.2, tilt);
        psfm_mat3_mul(tilt, R, r->truth[v]);
    }
    for (uint32_t e = 0; e < EDGES; ++e) {
        uint32_t a = e % NODES, b = (a + 1 + e / NODES) % NODES;
        double noise[9], exact[9];
        r->node1[e] = a < b ? a : b;
        r->node2[e] = a < b ? b : a;
        psfm_mat3_mul_t(r->truth[r->node2[e]], r->truth[r->node1[e]], exact);
        random_rotation(&rng, 0.005, noise);
        psfm_mat3_mul(noise, exact, r->R_21[2 * e]);
        random_rotation(&rng, psfm_rng_range(&rng, 0.3, 3), r->R_21[2 * e + 1]);
        r->confidence[2 * e] = r->confidence[2 * e + 1] = 0.5;
        r->begin[e + 1] = 2 * e + 2;
        r->weight[e] = 1.0;
    }
    r->topology = (psfm_topology){NODES, EDGES, r->node1, r->node2};
    r->candidates = (psfm_rotation_candidates){
        r->begin, (const double(*)[9])r->R_21, r->confidence, NULL, r->weight, 0};
    return r;
}

/* Largest rotation error after removing the free rotation of the world. */
static double worst_error(const ring *r) {
    double gauge[9], worst = 0;
    psfm_mat3_t_mul(r->start[0], r->truth[0], gauge);
    for (int v = 0; v < NODES; ++v) {
        double R[9];
        psfm_mat3_mul(r->start[v], gauge, R);
        worst = fmax(worst, psfm_rotation_angle(R, r->truth[v]));
    }
    return worst;
}

static psfm_rotation_consensus_stats solve(psfm_context *ctx, ring *r) {
    psfm_rotation_consensus_stats stats;
    const psfm_rotation_problem problem = {&r->topology, &r->candidates, 0};
    assert_ok(ctx, psfm_rotation_consensus(ctx, &problem, r->start, r->chosen, &stats));
    return stats;
}

static void keeps_the_truth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring *r = make_ring(1);
    memcpy(r->start, r->truth, sizeof r->truth);
    psfm_rotation_consensus_stats stats = solve(ctx, r);
    assert_int_equal(stats.num_agreeing, EDGES);
    assert_int_equal(stats.num_gauge_moves, 0);
    for (uint32_t e = 0; e < EDGES; ++e)
        assert_int_equal(r->chosen[e], 2 * e);
    free(r);
    psfm_context_destroy(&ctx);
}

static void moves_single_images_home(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring *r = make_ring(2);
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    memcpy(r->start, r->truth, sizeof r->truth);
    for (int v = 5; v < NODES; v += 7)
        random_rotation(&rng, 2.0, r->start[v]);
    psfm_rotation_consensus_stats stats = solve(ctx, r);
    assert_true(stats.num_node_moves >= 5);
    assert_below(worst_error(r), 0.05);
    free(r);
    psfm_context_destroy(&ctx);
}

/* A share of the edges joins the scene with its 180-degree duplicate, and the start has a whole arc
 * of the ring turned, as a tree through one of those edges gives. */
static void turns_an_arc_back(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint32_t seed = 0; seed < 10; ++seed) {
        ring *r = make_ring(10 + seed);
        double half_turn[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1}, turned[9];
        memcpy(r->start, r->truth, sizeof r->truth);
        for (uint32_t e = seed % 7; e < EDGES; e += 7) {
            psfm_mat3_mul(r->truth[r->node2[e]], half_turn, turned);
            psfm_mat3_mul_t(turned, r->truth[r->node1[e]], r->R_21[2 * e]);
        }
        for (int v = 12; v < 27; ++v) {
            psfm_mat3_mul(r->truth[v], half_turn, turned);
            memcpy(r->start[v], turned, sizeof turned);
        }
        psfm_rotation_consensus_stats stats = solve(ctx, r);
        assert_true(stats.num_gauge_moves >= 1);
        assert_below(worst_error(r), 0.05);
        for (uint32_t e = seed % 7; e < EDGES; e += 7)
            assert_true(r->chosen[e] != 2 * e);
        free(r);
    }
    psfm_context_destroy(&ctx);
}

/* An arc is turned by less than ten degrees, while edges elsewhere are off by a little more than
 * counts as agreement: of all the small turns that are asked for, one is what most want. */
static void finds_a_small_turn_among_others(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint32_t seed = 0; seed < 10; ++seed) {
        ring *r = make_ring(seed);
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        double G[9];
        random_rotation(&rng, 0.166, G);
        for (int v = 0; v < NODES; ++v) {
            if (v >= 12 && v < 30)
                psfm_mat3_mul(r->truth[v], G, r->start[v]);
            else
                memcpy(r->start[v], r->truth[v], sizeof r->truth[v]);
        }
        for (uint32_t e = 0; e < 8; e += 2) { /* on the other side of the ring */
            double off[9], R[9];
            memcpy(R, r->R_21[2 * e], sizeof R);
            random_rotation(&rng, 0.1, off);
            psfm_mat3_mul(off, R, r->R_21[2 * e]);
        }
        psfm_rotation_consensus_stats stats = solve(ctx, r);
        assert_true(stats.num_gauge_moves >= 1);
        assert_below(worst_error(r), 0.05);
        free(r);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_truth),
        cmocka_unit_test(moves_single_images_home),
        cmocka_unit_test(turns_an_arc_back),
        cmocka_unit_test(finds_a_small_turn_among_others),
    };
    return cmocka_run_group_tests_name("rotations/rotation_consensus", tests, NULL, NULL);
}
