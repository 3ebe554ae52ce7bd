/* Parallel rigidity of a graph of directions.
 *
 * Points with all edge directions given can still be translated and scaled together: 4 degrees of
 * freedom in space. A graph is (generically) parallel rigid if nothing else is left free. Each
 * direction is two equations on the 3 n coordinates, and by Whiteley's theorem ("Some matroids from
 * discrete applied geometry", 1996) a set of equations, taken as copies of edges, two of each, is
 * independent exactly if every n' nodes span at most 3 n' - 4 of them. So rigidity is counting, and
 * the pebble game counts.
 *
 * First rigid bodies are grown locally (core/rigidity/rigid_growth.h). A body is then as good as
 * any other minimal rigid graph on those of its nodes where it meets other bodies, so what is left
 * for the game is the graph of these boundary nodes, which is small or empty for most graphs.
 * Finally the largest rigid set around each body is asked for, and the bodies inside it are united.
 *
 * For the use with directions between cameras: Kennedy, Daniilidis, Naroditsky and Taylor,
 * "Identifying Maximal Rigid Components in Bearing-Based Localization", 2012. */
#include "core/rigidity/rigidity.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/order_statistics.h"
#include "core/rigidity/pebble_game.h"
#include "core/rigidity/rigid_growth.h"

#define NONE UINT32_MAX

typedef struct {
    const psfm_topology *graph;
    psfm_rigid_bodies bodies;
    uint32_t *num_bodies_at; /* per node */
    uint32_t *small;         /* per node: its index among the boundary nodes, or NONE */
    uint32_t num_small;
    /* The graph of the boundary nodes: every body with at least two of them as a minimal rigid
     * graph; its edges, each single, lie at body_edges[b] .. body_edges[b + 1]. */
    uint32_t *node1, *node2;
    size_t *body_edges;
    uint32_t *parent; /* sets of bodies that are one component */
    uint64_t rank;    /* of all equations */
} analysis;

/* Number of boundary nodes of a body; writes the small indices of the first two. */
static uint32_t count_boundary(const analysis *a, const psfm_rigid_body *body, uint32_t first[2]) {
    uint32_t num = 0;
    for (uint32_t k = 0; k < body->num_nodes; ++k) {
        uint32_t s = a->small[body->nodes[k]];
        if (s == NONE)
            continue;
        if (num < 2)
            first[num] = s;
        ++num;
    }
    return num;
}

static psfm_status find_boundary(psfm_context *ctx, analysis *a) {
    uint32_t n = a->graph->num_nodes;
    psfm_status status = PSFM_ALLOC(ctx, n, &a->num_bodies_at);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &a->small);
    for (uint32_t b = 0; status == PSFM_OK && b < a->bodies.num_bodies; ++b)
        for (uint32_t k = 0; k < a->bodies.bodies[b].num_nodes; ++k)
            ++a->num_bodies_at[a->bodies.bodies[b].nodes[k]];
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v)
        a->small[v] = a->num_bodies_at[v] > 1 ? a->num_small++ : NONE;
    return status;
}

/* Edges of the minimal rigid graph on the boundary of a body: two between the first two nodes,
 * two and one from every other node to these. */
static void fill_body(const analysis *a, const psfm_rigid_body *body, size_t at) {
    uint32_t first[2], num = 0;
    for (uint32_t k = 0; k < body->num_nodes; ++k) {
        uint32_t s = a->small[body->nodes[k]];
        if (s == NONE)
            continue;
        for (uint32_t copy = 0; num >= 1 && copy < (num == 1 ? 2u : 3u); ++copy) {
            a->node1[at] = s;
            a->node2[at++] = first[copy == 2];
        }
        if (num < 2)
            first[num] = s;
        ++num;
    }
}

static psfm_status fill_boundary_graph(psfm_context *ctx, analysis *a) {
    uint32_t num = a->bodies.num_bodies, first[2];
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num + 1, &a->body_edges);
    if (status != PSFM_OK)
        return status;
    for (uint32_t b = 0; b < num; ++b) {
        const psfm_rigid_body *body = &a->bodies.bodies[b];
        uint32_t size = count_boundary(a, body, first);
        size_t edges = size < 2 ? 0 : (size_t)PSFM_PEBBLES * size - PSFM_COMMON;
        a->body_edges[b + 1] = a->body_edges[b] + edges;
        if (body->nodes != NULL) /* what its inner nodes add to the rank */
            a->rank += (uint64_t)PSFM_PEBBLES * body->num_nodes - PSFM_COMMON - edges;
    }
    if (a->body_edges[num] >= UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many edges for the rigidity analysis");
    status = PSFM_ALLOC(ctx, a->body_edges[num], &a->node1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, a->body_edges[num], &a->node2);
    for (uint32_t b = 0; status == PSFM_OK && b < num; ++b)
        fill_body(a, &a->bodies.bodies[b], a->body_edges[b]);
    return status;
}

/* Unites the bodies with at least two boundary nodes in the set; `bodies_at` lists the bodies of
 * each boundary node, `count` is zero for every body at rest. */
static void unite_bodies(analysis *a, const psfm_adjacency *bodies_at, const uint32_t *set,
                         uint32_t size, uint32_t body, uint32_t *count) {
    for (uint32_t k = 0; k < size; ++k)
        for (size_t i = bodies_at->begin[set[k]]; i < bodies_at->begin[set[k] + 1]; ++i)
            if (++count[bodies_at->edge[i]] == 2)
                psfm_sets_unite(a->parent, bodies_at->edge[i], body);
    for (uint32_t k = 0; k < size; ++k)
        for (size_t i = bodies_at->begin[set[k]]; i < bodies_at->begin[set[k] + 1]; ++i)
            count[bodies_at->edge[i]] = 0;
}

/* Lists the bodies at each boundary node. */
static psfm_status list_bodies(psfm_context *ctx, const analysis *a, psfm_adjacency *out) {
    size_t total = 0;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)a->num_small + 1, &out->begin);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < a->graph->num_nodes; ++v)
        if (a->small[v] != NONE)
            out->begin[a->small[v]] = a->num_bodies_at[v];
    for (uint32_t s = 0; s <= a->num_small; ++s) {
        total += s < a->num_small ? out->begin[s] : 0;
        out->begin[s] = total;
    }
    status = PSFM_ALLOC(ctx, total, &out->edge);
    for (uint32_t b = a->bodies.num_bodies; status == PSFM_OK && b-- > 0;)
        for (uint32_t k = 0; k < a->bodies.bodies[b].num_nodes; ++k) {
            uint32_t s = a->small[a->bodies.bodies[b].nodes[k]];
            if (s != NONE)
                out->edge[--out->begin[s]] = b;
        }
    return status;
}

/* Asks for the largest rigid set around each body that is not in one yet. */
static psfm_status unite_components(psfm_context *ctx, analysis *a, psfm_pebbles *game,
                                    const psfm_topology *boundary_graph) {
    psfm_adjacency adjacency = {0}, bodies_at = {0};
    uint32_t *set = NULL, *count = NULL, first[2] = {0, 0};
    psfm_status status =
        psfm_adjacency_init(ctx, boundary_graph, NULL, boundary_graph->num_edges, &adjacency);
    if (status == PSFM_OK)
        status = list_bodies(ctx, a, &bodies_at);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, a->num_small, &set);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, a->bodies.num_bodies, &count);
    for (uint32_t b = 0; status == PSFM_OK && b < a->bodies.num_bodies; ++b) {
        if (psfm_sets_find(a->parent, b) != b || count_boundary(a, &a->bodies.bodies[b], first) < 2)
            continue;
        uint32_t size =
            psfm_pebbles_rigid_set(game, boundary_graph, &adjacency, first[0], first[1], set);
        unite_bodies(a, &bodies_at, set, size, b, count);
    }
    psfm_adjacency_free(&adjacency);
    psfm_adjacency_free(&bodies_at);
    free(set);
    free(count);
    return status;
}

static psfm_status play_pebbles(psfm_context *ctx, analysis *a) {
    uint32_t num = a->bodies.num_bodies;
    psfm_pebbles game = {0};
    psfm_topology boundary_graph = {a->num_small, (uint32_t)a->body_edges[num], a->node1, a->node2};
    psfm_status status = PSFM_ALLOC(ctx, num, &a->parent);
    if (status == PSFM_OK)
        status = psfm_pebbles_init(ctx, a->num_small, &game);
    if (status == PSFM_OK) {
        psfm_sets_init(a->parent, num);
        for (uint32_t e = 0; e < boundary_graph.num_edges; ++e)
            psfm_pebbles_add(&game, a->node1[e], a->node2[e]);
        a->rank += game.num_edges;
        status = unite_components(ctx, a, &game, &boundary_graph);
    }
    psfm_pebbles_free(&game);
    return status;
}

/* A component while it is being numbered. */
typedef struct {
    uint32_t num_nodes, lowest_edge, body;
} component;

static int by_size(const void *a, const void *b) {
    const component *x = a, *y = b;
    if (x->num_nodes != y->num_nodes)
        return x->num_nodes > y->num_nodes ? -1 : 1;
    return x->lowest_edge < y->lowest_edge ? -1 : x->lowest_edge > y->lowest_edge;
}

/* Pairs (set of bodies, node), sorted and without repeats: root of the set in the upper half. */
static psfm_status list_pairs(psfm_context *ctx, analysis *a, uint64_t **pairs, size_t *num) {
    size_t total = 0, kept = 0;
    for (uint32_t b = 0; b < a->bodies.num_bodies; ++b)
        total += a->bodies.bodies[b].num_nodes;
    psfm_status status = PSFM_ALLOC(ctx, total, pairs);
    if (status != PSFM_OK)
        return status;
    total = 0;
    for (uint32_t b = 0; b < a->bodies.num_bodies; ++b)
        for (uint32_t k = 0; k < a->bodies.bodies[b].num_nodes; ++k)
            (*pairs)[total++] =
                (uint64_t)psfm_sets_find(a->parent, b) << 32 | a->bodies.bodies[b].nodes[k];
    qsort(*pairs, total, sizeof **pairs, psfm_compare_u64);
    for (size_t k = 0; k < total; ++k)
        if (k == 0 || (*pairs)[k] != (*pairs)[k - 1])
            (*pairs)[kept++] = (*pairs)[k];
    *num = kept;
    return PSFM_OK;
}

/* Numbers the components: sorted[k] describes component k, label[root] is its number. */
static psfm_status number_components(psfm_context *ctx, analysis *a, const uint64_t *pairs,
                                     size_t num_pairs, component **sorted, uint32_t *num,
                                     uint32_t *label) {
    uint32_t count = 0;
    psfm_status status = PSFM_ALLOC(ctx, a->bodies.num_bodies, sorted);
    if (status != PSFM_OK)
        return status;
    component *c = *sorted;
    for (size_t k = 0; k < num_pairs; ++k) {
        uint32_t root = (uint32_t)(pairs[k] >> 32);
        if (k == 0 || root != (uint32_t)(pairs[k - 1] >> 32)) {
            label[root] = count;
            c[count++] = (component){.lowest_edge = NONE, .body = root};
        }
        ++c[count - 1].num_nodes;
    }
    for (uint32_t e = a->graph->num_edges; e-- > 0;)
        c[label[psfm_sets_find(a->parent, a->bodies.edge_body[e])]].lowest_edge = e;
    qsort(c, count, sizeof *c, by_size);
    for (uint32_t k = 0; k < count; ++k)
        label[c[k].body] = k;
    *num = count;
    return PSFM_OK;
}

static psfm_status fill_result(psfm_context *ctx, analysis *a, psfm_rigidity *out) {
    uint64_t *pairs = NULL;
    size_t num_pairs = 0;
    component *sorted = NULL;
    uint32_t *label = NULL, m = a->graph->num_edges, num = 0;
    psfm_status status = list_pairs(ctx, a, &pairs, &num_pairs);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, a->bodies.num_bodies, &label);
    if (status == PSFM_OK)
        status = number_components(ctx, a, pairs, num_pairs, &sorted, &num, label);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &out->edge_component);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num + 1, &out->node_begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_pairs, &out->nodes);
    if (status != PSFM_OK)
        goto cleanup;
    out->num_components = num;
    for (uint32_t k = 0; k < num; ++k)
        out->node_begin[k + 1] = out->node_begin[k] + sorted[k].num_nodes;
    size_t at = 0;
    for (size_t k = 0; k < num_pairs; ++k) {
        uint32_t root = (uint32_t)(pairs[k] >> 32);
        if (k == 0 || root != (uint32_t)(pairs[k - 1] >> 32))
            at = out->node_begin[label[root]];
        out->nodes[at++] = (uint32_t)pairs[k];
    }
    for (uint32_t e = 0; e < m; ++e)
        out->edge_component[e] = label[psfm_sets_find(a->parent, a->bodies.edge_body[e])];

cleanup:
    free(pairs);
    free(sorted);
    free(label);
    return status;
}

static void release_analysis(analysis *a) {
    psfm_rigid_bodies_free(&a->bodies);
    free(a->num_bodies_at);
    free(a->small);
    free(a->node1);
    free(a->node2);
    free(a->body_edges);
    free(a->parent);
}

psfm_status psfm_rigidity_analyse(psfm_context *ctx, const psfm_topology *graph,
                                  const uint32_t *scale_group, psfm_rigidity *out) {
    analysis a = {.graph = graph};
    psfm_rigidity made = {0};
    psfm_status status = psfm_topology_check(ctx, graph);
    if (status == PSFM_OK)
        status = psfm_rigid_bodies_grow(ctx, graph, scale_group, &a.bodies);
    if (status == PSFM_OK)
        status = find_boundary(ctx, &a);
    if (status == PSFM_OK)
        status = fill_boundary_graph(ctx, &a);
    if (status == PSFM_OK)
        status = play_pebbles(ctx, &a);
    if (status == PSFM_OK)
        status = fill_result(ctx, &a, &made);
    if (status == PSFM_OK && graph->num_nodes > 1)
        made.num_free = (uint64_t)PSFM_PEBBLES * graph->num_nodes - PSFM_COMMON - a.rank;
    if (status != PSFM_OK)
        psfm_rigidity_free(&made);
    *out = made;
    release_analysis(&a);
    return status;
}

void psfm_rigidity_free(psfm_rigidity *rigidity) {
    free(rigidity->edge_component);
    free(rigidity->node_begin);
    free(rigidity->nodes);
    *rigidity = (psfm_rigidity){0};
}

/* Extension of a graph of directions until it is parallel rigid.
 *
 * Bi-connected is less than rigid: a ring is bi-connected, and every one of its edges can be
 * stretched. n nodes are rigid when 3 n - 4 of the equations (two per direction) are independent,
 * so n nodes in a plain ring need at least half as many chords. The pebble game counts independent
 * equations while edges are added (why counting is enough is said above), so that the test after
 * each edge costs one search. */

/* Adds the two equations of a direction; whether they say anything new. */
static bool add_direction(psfm_pebbles *game, const psfm_edge_list *graph, uint32_t e) {
    bool is_new = psfm_pebbles_add(game, graph->node1[e], graph->node2[e]);
    if (is_new)
        psfm_pebbles_add(game, graph->node1[e], graph->node2[e]);
    return is_new;
}

psfm_status psfm_rigid_extension(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                 double high, bool *is_used) {
    psfm_pebbles game = {0};
    uint32_t *order = NULL;
    size_t num = 0;
    if (graph->num_nodes < 2)
        return PSFM_OK;
    uint64_t needed = (uint64_t)PSFM_PEBBLES * graph->num_nodes - PSFM_COMMON;
    psfm_status status = psfm_pebbles_init(ctx, graph->num_nodes, &game);
    if (status == PSFM_OK)
        status = psfm_widening_order(ctx, graph, low, high, is_used, &order, &num);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (is_used[e])
            add_direction(&game, graph, e);
    for (size_t k = 0; status == PSFM_OK && k < num && game.num_edges < needed; ++k) {
        is_used[order[k]] = add_direction(&game, graph, order[k]);
    }
    psfm_pebbles_free(&game);
    free(order);
    return status;
}
