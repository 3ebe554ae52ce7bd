#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/cycle_consistency.h"

/* Four cameras: triangle 0-1-2 and an edge 2-3 that no triangle closes; S joins all edges that
 * meet. One hypothesis an edge. */
enum { EDGES = 4 };
static const uint32_t ends[EDGES][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};

static psfm_pose_graph make_graph(psfm_context *ctx, double (*R)[9]) {
    psfm_pose_graph g = {.num_nodes = 4, .num_edges = EDGES, .num_hypotheses = EDGES};
    g.edges = calloc(EDGES, sizeof *g.edges);
    g.hypotheses = calloc(EDGES, sizeof *g.hypotheses);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int v = 0; v < 4; ++v) {
        double w[3];
        psfm_rng_direction(&rng, w);
        psfm_rotation_exp(w, R[v]);
    }
    for (uint32_t e = 0; e < EDGES; ++e) {
        g.edges[e] = (psfm_edge){.node1 = ends[e][0],
                                 .node2 = ends[e][1],
                                 .hypothesis_begin = e,
                                 .hypothesis_end = e + 1};
        g.hypotheses[e] = (psfm_hypothesis){.edge = e, .weight = 1.0};
        psfm_mat3_mul_t(R[ends[e][1]], R[ends[e][0]], g.hypotheses[e].motion.R_21);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g));
    return g;
}

static bool meet(uint32_t e, uint32_t f) {
    return ends[e][0] == ends[f][0] || ends[e][0] == ends[f][1] || ends[e][1] == ends[f][0] ||
           ends[e][1] == ends[f][1];
}

static psfm_csr make_similarity(void) {
    psfm_csr S = {.n = EDGES};
    S.row_begin = calloc(EDGES + 1, sizeof *S.row_begin);
    S.col = calloc(EDGES * EDGES, sizeof *S.col);
    S.value = calloc(EDGES * EDGES, sizeof *S.value);
    size_t k = 0;
    for (uint32_t e = 0; e < EDGES; ++e) {
        for (uint32_t f = 0; f < EDGES; ++f) {
            if (e != f && meet(e, f)) {
                S.col[k] = f;
                S.value[k++] = 1.0;
            }
        }
        S.row_begin[e + 1] = k;
    }
    return S;
}

static double entry(const psfm_csr *S, uint32_t e, uint32_t f) {
    for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
        if (S->col[k] == f)
            return S->value[k];
    fail_msg("no entry (%u, %u)", e, f);
    return 0;
}

static void weighs_triangles_by_their_closure(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double R[4][9], support[EDGES], turn[9], broken[9];
    const double angles_deg[] = {0, 3, 90};
    for (int round = 0; round < 3; ++round) {
        psfm_pose_graph g = make_graph(ctx, R);
        double axis[3] = {0, 0, psfm_radians(angles_deg[round])};
        psfm_rotation_exp(axis, turn);
        psfm_mat3_mul(turn, g.hypotheses[2].motion.R_21, broken);
        memcpy(g.hypotheses[2].motion.R_21, broken, sizeof broken);
        psfm_csr S = make_similarity();
        assert_ok(ctx, psfm_cycle_evidence(ctx, &g, &S, support));
        double want = fmax(exp(-pow(angles_deg[round] / 3, 2)), 0.01 * PSFM_CYCLE_NEUTRAL);
        for (uint32_t e = 0; e < 3; ++e)
            for (uint32_t f = 0; f < 3; ++f)
                if (e != f)
                    assert_close(entry(&S, e, f), want, 1e-9);
        assert_close(entry(&S, 2, 3), PSFM_CYCLE_NEUTRAL, 1e-12);
        assert_close(entry(&S, 3, 1), PSFM_CYCLE_NEUTRAL, 1e-12);
        assert_close(support[0], exp(-pow(angles_deg[round] / 3, 2)), 1e-9);
        assert_close(support[3], PSFM_CYCLE_NEUTRAL, 1e-12);
        psfm_csr_free(&S);
        psfm_pose_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(weighs_triangles_by_their_closure)};
    return cmocka_run_group_tests_name("posegraph/cycle_consistency", tests, NULL, NULL);
}
