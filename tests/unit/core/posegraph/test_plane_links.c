#include "unit/core/posegraph/graph_util.h"

#include "core/posegraph/plane_links.h"

static uint32_t count_shared(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b) {
    uint32_t shared = 0;
    for (uint32_t i = 0; i < num_a; ++i)
        for (uint32_t j = 0; j < num_b; ++j)
            shared += a[i] == b[j];
    return shared;
}

/* Overlap of planes p and q in a camera that their edges share, by brute force; *node is it. */
static uint32_t naive_overlap(const psfm_pose_graph *g, uint32_t p, uint32_t q, uint32_t *node) {
    const psfm_edge_plane *P = &g->planes[p], *Q = &g->planes[q];
    const psfm_edge *e = &g->edges[P->edge], *f = &g->edges[Q->edge];
    bool at1 = e->node1 == f->node1 || e->node1 == f->node2;
    bool at2 = e->node2 == f->node1 || e->node2 == f->node2;
    if (at1 == at2)
        return 0; /* no camera in common, or both */
    *node = at1 ? e->node1 : e->node2;
    return count_shared(at1 ? P->keypoints1 : P->keypoints2, P->num_inliers,
                        f->node1 == *node ? Q->keypoints1 : Q->keypoints2, Q->num_inliers);
}

static void equals_brute_force(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 20; ++round) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 1 + (int)(round % 4));
        psfm_rng rng = psfm_rng_make(round, PSFM_RNG_TEST, 0, 0);
        psfm_pose_graph g;
        random_pose_graph(ctx, &rng, 6, 12, 60, &g);
        psfm_plane_links links;
        uint32_t min_overlap = 1 + (uint32_t)(round % 5);
        assert_ok(ctx, psfm_plane_links_build(ctx, &g, min_overlap, &links));
        size_t expected = 0;
        for (uint32_t p = 0; p < g.num_planes; ++p) {
            for (uint32_t q = p + 1; q < g.num_planes; ++q) {
                uint32_t node;
                expected += naive_overlap(&g, p, q, &node) >= min_overlap;
            }
        }
        assert_int_equal(links.num, expected);
        assert_true(links.num > 0);
        for (size_t k = 0; k < links.num; ++k) {
            const psfm_plane_link *l = &links.links[k];
            uint32_t node = 0;
            assert_int_equal(l->overlap, naive_overlap(&g, l->plane1, l->plane2, &node));
            assert_int_equal(l->node, node);
            assert_true(g.planes[l->plane1].edge < g.planes[l->plane2].edge);
        }
        psfm_plane_links_free(&links);
        psfm_pose_graph_free(&g);
        psfm_context_destroy(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_brute_force)};
    return cmocka_run_group_tests_name("posegraph/plane_links", tests, NULL, NULL);
}
