/* A ring of six nodes with two chords, and one more node that hangs on it by one edge: its
 * minimum-range tree and what that is extended to.
 * cc graph.c $(pkg-config --cflags --libs planarsfm-core) */
#include <planarsfm/core.h>
#include <stdio.h>

enum { NODES = 7, EDGES = 9 };

static const uint32_t edges[EDGES][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5},
                                         {5, 0}, {0, 3}, {1, 4}, {5, 6}};
static const double weight[EDGES] = {0.1, 0.2, 0.9, 0.3, 0.25, 0.35, 0.4, 0.15, 0.3};

static void print_marked(const char *name, const bool *mark, uint32_t num) {
    printf("%s:", name);
    for (uint32_t k = 0; k < num; ++k)
        if (mark[k])
            printf(" %u", k);
    printf("\n");
}

int main(void) {
    psfm_context *ctx = psfm_context_create();
    psfm_graph graph = {sizeof graph, NODES, EDGES, *edges, weight};
    uint32_t label[NODES], tree[NODES - 1], component[EDGES], num, num_rigid;
    bool in_graph[EDGES], is_cut[NODES], is_bridge[EDGES];
    double range[2], h[4];
    uint64_t num_free;
    psfm_status failed = PSFM_OK;
    if ((failed = psfm_graph_components(ctx, &graph, label, &num)) ||
        (failed = psfm_min_range_tree(ctx, &graph, tree, range)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("components: %u\ntree:", num);
    for (int k = 0; k < NODES - 1; ++k)
        printf(" %u", tree[k]);
    printf(", weights from %.2f to %.2f\n", range[0], range[1]);
    if ((failed =
             psfm_biconnected_extension(ctx, &graph, tree, in_graph, is_cut, is_bridge, range)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    print_marked("bi-connected", in_graph, EDGES);
    print_marked("cut nodes", is_cut, NODES);
    print_marked("bridges", is_bridge, EDGES);
    if ((failed = psfm_extend_rigidly(ctx, &graph, in_graph)) ||
        (failed = psfm_find_rigid_components(ctx, &graph, component, &num_rigid, &num_free)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    print_marked("rigid as far as it goes", in_graph, EDGES);
    printf("rigid components: %u, free: %u\n", num_rigid, (unsigned)num_free);

    /* Four things, the first two and the last two similar. */
    size_t row_begin[] = {0, 1, 3, 5, 6};
    uint32_t col[] = {1, 0, 2, 1, 3, 2};
    double value[] = {1, 1, 0.01, 0.01, 1, 1};
    const psfm_csr S = {4, row_begin, col, value};
    if ((failed = psfm_embed_similarity(ctx, &S, h, NULL)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("embedding: %.2f %.2f %.2f %.2f\n", h[0], h[1], h[2], h[3]);
    psfm_context_destroy(&ctx);
    return 0;
}
