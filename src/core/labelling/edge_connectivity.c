/* Maximum adjacency search.
 *
 * Nodes are visited one by one, next the one with the largest weight of edges to those visited. Of
 * an edge from the node just visited to one that is not, the weight of the edges from the latter
 * to visited nodes, up to this edge, is carried by paths between its two ends: no cut between them
 * is lighter (Nagamochi and Ibaraki, "Computing edge-connectivity in multigraphs and capacitated
 * graphs", 1992). Edges for which that is enough are contracted, and the search goes again over the
 * groups until it finds no more. Edges that are heavy themselves are contracted before. */
#include "core/labelling/edge_connectivity.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"

#define VISITED UINT32_MAX
enum { MOST_ROUNDS = 16 };

typedef struct {
    const psfm_topology *graph;
    const psfm_adjacency *adjacency;
    const double *weight;
    double least;
    uint32_t *group, num;     /* of the nodes, and their number */
    uint32_t *begin, *member; /* nodes by group */
    double *key;              /* of each group: weight to those visited */
    uint32_t *heap, *place;   /* of those not visited, the largest first; where each is in it */
    uint32_t in_heap;
    uint32_t *parent; /* sets of groups that belong together */
} search;

static bool is_before(const search *s, uint32_t a, uint32_t b) {
    return s->key[a] > s->key[b] || (s->key[a] == s->key[b] && a < b);
}

static void put_at(search *s, uint32_t at, uint32_t a) {
    s->heap[at] = a;
    s->place[a] = at;
}

static void rise_in_heap(search *s, uint32_t a) {
    uint32_t at = s->place[a];
    for (; at > 0 && is_before(s, a, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put_at(s, at, s->heap[(at - 1) / 2]);
    put_at(s, at, a);
}

static uint32_t take_first(search *s) {
    uint32_t first = s->heap[0], last = s->heap[--s->in_heap], at = 0;
    s->place[first] = VISITED;
    if (s->in_heap == 0)
        return first;
    for (uint32_t child; (child = 2 * at + 1) < s->in_heap; at = child) {
        if (child + 1 < s->in_heap && is_before(s, s->heap[child + 1], s->heap[child]))
            ++child;
        if (!is_before(s, s->heap[child], last))
            break;
        put_at(s, at, s->heap[child]);
    }
    put_at(s, at, last);
    return first;
}

/* Goes along the edges of the group just visited. Returns how many groups join others. */
static uint32_t visit_edges(search *s, uint32_t a) {
    uint32_t joined = 0;
    for (uint32_t i = s->begin[a]; i < s->begin[a + 1]; ++i) {
        uint32_t v = s->member[i];
        for (size_t k = s->adjacency->begin[v]; k < s->adjacency->begin[v + 1]; ++k) {
            uint32_t e = s->adjacency->edge[k], b = s->group[psfm_topology_other(s->graph, e, v)];
            if (s->place[b] == VISITED || !(s->weight[e] > 0.0))
                continue;
            s->key[b] += s->weight[e];
            rise_in_heap(s, b);
            if (s->key[b] >= s->least && psfm_sets_unite(s->parent, a, b))
                ++joined;
        }
    }
    return joined;
}

/* One search over all groups; those found to belong together become one. Whether there were any. */
static bool go_round(search *s) {
    uint32_t joined = 0, num = 0;
    psfm_list_labelled(s->group, s->graph->num_nodes, s->num, s->begin, s->member);
    psfm_sets_init(s->parent, s->num);
    for (uint32_t a = 0; a < s->num; ++a) {
        s->key[a] = 0.0;
        put_at(s, a, a);
    }
    s->in_heap = s->num;
    while (s->in_heap > 0)
        joined += visit_edges(s, take_first(s));
    for (uint32_t a = 0; a < s->num; ++a) { /* a set's root is its lowest */
        uint32_t root = psfm_sets_find(s->parent, a);
        s->place[a] = root == a ? num++ : s->place[root];
    }
    for (uint32_t v = 0; v < s->graph->num_nodes; ++v)
        s->group[v] = s->place[s->group[v]];
    s->num = num;
    return joined > 0;
}

static psfm_status join_heavy_edges(psfm_context *ctx, search *s) {
    bool *keep = NULL;
    psfm_status status = PSFM_ALLOC(ctx, s->graph->num_edges, &keep);
    for (uint32_t e = 0; status == PSFM_OK && e < s->graph->num_edges; ++e)
        keep[e] = s->weight[e] >= s->least;
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, s->graph, keep, s->group, &s->num);
    free(keep);
    return status;
}

psfm_status psfm_heavy_groups(psfm_context *ctx, const psfm_topology *graph,
                              const psfm_adjacency *adjacency, const double *weight, double least,
                              uint32_t *group, uint32_t *num) {
    uint32_t n = graph->num_nodes;
    search s = {
        .graph = graph, .adjacency = adjacency, .weight = weight, .least = least, .group = group};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)n + 1, &s.begin)) ||
        (status = PSFM_ALLOC(ctx, n, &s.member)) || (status = PSFM_ALLOC(ctx, n, &s.key)) ||
        (status = PSFM_ALLOC(ctx, n, &s.heap)) || (status = PSFM_ALLOC(ctx, n, &s.place)) ||
        (status = PSFM_ALLOC(ctx, n, &s.parent)) || (status = join_heavy_edges(ctx, &s)))
        goto cleanup;
    for (int round = 0; round < MOST_ROUNDS && go_round(&s); ++round)
        continue;
    *num = s.num;

cleanup:
    free(s.begin);
    free(s.member);
    free(s.key);
    free(s.heap);
    free(s.place);
    free(s.parent);
    return status;
}
