/* Runner-ups of rings that are joined with their half-turned duplicates. */
#include "test_util.h"

#include "core/ambiguity/rotation_ambiguity.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "rotation_score.h"

enum { NODES = 24, NEIGHBOURS = 2, EDGES = NODES * NEIGHBOURS };

static const double half_turn[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};

/* Each camera is turned a little further round the vertical; one candidate an edge, room for one
 * more. */
typedef struct {
    uint32_t node1[EDGES], node2[EDGES], begin[EDGES + 1], chosen[EDGES];
    double R[NODES][9], R_21[EDGES + 1][9], confidence[EDGES + 1], weight[EDGES];
    psfm_topology topology;
    psfm_rotation_candidates candidates;
} ring;

static void make_ring(ring *r) {
    *r = (ring){0};
    for (int v = 0; v < NODES; ++v) {
        double about[3] = {0, 0, psfm_radians(360.0 * v / NODES)};
        psfm_rotation_exp(about, r->R[v]);
    }
    for (uint32_t e = 0; e < EDGES; ++e) {
        r->node1[e] = e % NODES;
        r->node2[e] = (e % NODES + 1 + e / NODES) % NODES;
        psfm_mat3_mul_t(r->R[r->node2[e]], r->R[r->node1[e]], r->R_21[e]);
        r->confidence[e] = r->weight[e] = 1.0;
        r->begin[e + 1] = e + 1;
    }
    r->topology = (psfm_topology){NODES, EDGES, r->node1, r->node2};
    r->candidates = (psfm_rotation_candidates){
        r->begin, (const double(*)[9])r->R_21, r->confidence, NULL, r->weight, 0};
}

/* Lets an edge say that its second image is turned by G. */
static void misplace(ring *r, uint32_t e, const double G[9]) {
    double turned[9];
    psfm_mat3_mul(r->R[r->node2[e]], G, turned);
    psfm_mat3_mul_t(turned, r->R[r->node1[e]], r->R_21[e]);
}

/* Matches an edge to the duplicate of the scene. */
static void falsify(ring *r, uint32_t e) {
    misplace(r, e, half_turn);
}

/* Whether an edge leads from before node `at` to it or beyond. */
static bool crosses(const ring *r, uint32_t e, uint32_t at) {
    uint32_t from = r->node1[e], ahead = (at + NODES - from) % NODES;
    return ahead >= 1 && ahead <= 1 + e / NODES;
}

static psfm_ambiguities find(psfm_context *ctx, ring *r) {
    psfm_ambiguities found;
    double score;
    const psfm_rotation_problem problem = {&r->topology, &r->candidates, 0};
    assert_ok(ctx, score_rotations(ctx, &problem, NULL, r->R, r->chosen, &score));
    assert_ok(ctx, psfm_rotation_ambiguities_find(ctx, &problem, 0.8, r->R, r->chosen, &found));
    return found;
}

static void nothing_contradicts_nothing_turns(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r;
    make_ring(&r);
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 0);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

/* Three of the four edges of one image are false: it is the runner-up, and the fourth decides. */
static void one_edge_holds_an_image(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r;
    make_ring(&r);
    uint32_t held_by = UINT32_MAX;
    for (uint32_t e = 0; e < EDGES; ++e) {
        if (r.node1[e] != 7 && r.node2[e] != 7)
            continue;
        if (held_by == UINT32_MAX)
            held_by = e;
        else
            falsify(&r, e);
    }
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 1);
    const psfm_runner_up *a = &found.item[0].cut;
    assert_int_equal(a->num_nodes, 1);
    assert_int_equal(a->node[0], 7);
    assert_int_equal(a->num_agreeing, 1);
    assert_int_equal(a->edge[0], held_by);
    assert_int_equal(a->num_opposing, 3);
    assert_close(a->agreeing, 1.0, 0.02); /* an average edge */
    assert_below(a->opposing, 0.1);       /* images half a turn apart are not typical */
    assert_true(a->decided);
    assert_close(found.item[0].rotation_deg, 180.0, 1e-6);
    double axis[3];
    psfm_mat3_tmul_vec(r.R[a->reference], found.item[0].direction, axis);
    assert_close(fabs(axis[2]), 1.0, 1e-9);
    for (uint32_t v = 0; v < NODES; ++v)
        assert_int_equal(found.part[v], UINT32_MAX);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

/* Only false edges cross two gaps: the arc between them cannot be told from its duplicate. */
static void two_false_gaps_cannot_be_told(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r;
    make_ring(&r);
    for (uint32_t e = 0; e < EDGES; ++e)
        if (crosses(&r, e, 5) || crosses(&r, e, 14))
            falsify(&r, e);
    falsify(&r, 20);                    /* one more, elsewhere, so that something disagrees */
    for (uint32_t v = 5; v < 14; ++v) { /* as the search would, with three edges at either gap */
        double turned[9];
        psfm_mat3_mul(r.R[v], half_turn, turned);
        memcpy(r.R[v], turned, sizeof turned);
    }
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 1);
    const psfm_runner_up *a = &found.item[0].cut;
    assert_int_equal(a->num_nodes, 9);
    for (uint32_t k = 0; k < 9; ++k)
        assert_int_equal(a->node[k], 5 + k);
    assert_int_equal(a->num_agreeing, 6);
    assert_int_equal(a->num_opposing, 0);
    assert_false(a->decided);
    assert_true(psfm_ambiguity_ratio(&found.item[0]) > 0.9);
    for (uint32_t v = 0; v < NODES; ++v) {
        bool inside = v >= 5 && v < 14;
        assert_int_equal(found.part[v], found.part[inside ? 5 : 0]);
    }
    assert_true(found.part[5] != found.part[0] && found.part[0] != UINT32_MAX);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

/* One edge at either gap wants the arc between them turned by 15 degrees. The others there are
 * known to 10 degrees: they agree with that as well, but do not ask for it. */
static void edges_known_poorly_ask_for_no_turn(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double about[3] = {0, 0, psfm_radians(15.0)};
    double G[9], back[9], sigma[EDGES] = {0};
    ring r;
    make_ring(&r);
    psfm_rotation_exp(about, G);
    psfm_mat3_transpose(G, back);
    for (uint32_t e = 0; e < EDGES; ++e)
        sigma[e] = crosses(&r, e, 5) || crosses(&r, e, 14) ? psfm_radians(10.0) : 0.0;
    misplace(&r, 4, G);     /* from 4 to 5 */
    misplace(&r, 13, back); /* from 13 to 14 */
    sigma[4] = sigma[13] = 0.0;
    r.candidates.sigma_rad = sigma;
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 1);
    assert_true(found.item[0].cut.num_opposing <= 2);
    assert_true(found.item[0].cut.decided);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

/* Camera 0 hangs on one edge that has two decompositions, turned by the same angle about other
 * axes.
 */
static void hang_on(ring *r, double confidence) {
    const double about[3] = {psfm_radians(2 * 360.0 / NODES), 0, 0};
    uint32_t e = EDGES - 1;
    make_ring(r);
    r->node1[e] = NODES - 2;
    r->node2[e] = 0;
    for (uint32_t k = 0; k < e; ++k)
        if (r->node1[k] == 0 || r->node2[k] == 0)
            r->weight[k] = 0.0;
    psfm_mat3_mul_t(r->R[r->node2[e]], r->R[r->node1[e]], r->R_21[e]);
    psfm_rotation_exp(about, r->R_21[e + 1]);
    r->confidence[e] = confidence;
    r->confidence[e + 1] = 1.0 - confidence;
    r->begin[EDGES] = EDGES + 1;
}

static void an_even_flip_is_listed(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r;
    hang_on(&r, 0.55);
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 1);
    const psfm_runner_up *a = &found.item[0].cut;
    assert_int_equal(found.item[0].kind, PSFM_AMBIGUITY_FLIP);
    assert_int_equal(a->num_nodes, 1);
    assert_int_equal(a->node[0], 0);
    assert_int_equal(a->num_opposing, 1);
    assert_false(a->decided);
    double turn = psfm_rotation_angle(r.R_21[EDGES - 1], r.R_21[EDGES]);
    assert_close(found.item[0].rotation_deg, psfm_degrees(turn), 1e-6);
    assert_true(found.part[0] != UINT32_MAX && found.part[5] == UINT32_MAX);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

static void a_clear_flip_is_not(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r;
    hang_on(&r, 0.8);
    psfm_ambiguities found = find(ctx, &r);
    assert_int_equal(found.num, 0);
    psfm_ambiguities_free(&found);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_contradicts_nothing_turns),
        cmocka_unit_test(one_edge_holds_an_image),
        cmocka_unit_test(two_false_gaps_cannot_be_told),
        cmocka_unit_test(edges_known_poorly_ask_for_no_turn),
        cmocka_unit_test(an_even_flip_is_listed),
        cmocka_unit_test(a_clear_flip_is_not),
    };
    return cmocka_run_group_tests_name("ambiguity/rotation_ambiguity", tests, NULL, NULL);
}
