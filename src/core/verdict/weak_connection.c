/* Duplicate structure and repeated bays give edges that agree with each other and not with the
 * others. A ring with two neighbours on either side has three edges across each gap: if two of them
 * lead to the duplicate, the third, true one is rejected, and nothing inside the triangle
 * components tells. What tells is that the two stand in no triangle with others, and that a third
 * contradicts them. */
#include "core/verdict/weak_connection.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/base/union_find.h"
#include "core/linalg/order_statistics.h"

/* Edges between two triangle components, named by their lowest numbers. */
typedef struct {
    uint32_t part1, part2;
    uint32_t accepted, rejected;
} connecting_edges;

static bool is_inside(const psfm_pose_graph *graph, uint32_t e, const psfm_poses *poses,
                      uint32_t component) {
    return poses->component[graph->edges[e].node1] == component &&
           poses->component[graph->edges[e].node2] == component;
}

/* Sets mark[u] to `value` for the accepted neighbours u of v. */
static void mark_neighbours(const psfm_pose_graph *graph, const bool *accepted, uint32_t v,
                            bool value, bool *mark) {
    const uint32_t *at = psfm_adjacency_at(&graph->incident, v);
    for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k)
        if (accepted[at[k]])
            mark[psfm_edge_other(&graph->edges[at[k]], v)] = value;
}

static bool has_marked_neighbour(const psfm_pose_graph *graph, const bool *accepted, uint32_t v,
                                 const bool *mark) {
    const uint32_t *at = psfm_adjacency_at(&graph->incident, v);
    for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k)
        if (accepted[at[k]] && mark[psfm_edge_other(&graph->edges[at[k]], v)])
            return true;
    return false;
}

/* Joins the ends of accepted edges that are in a triangle. */
static psfm_status join_triangles(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const bool *accepted, const psfm_poses *poses, uint32_t component,
                                  uint32_t *parent) {
    bool *mark = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &mark);
    for (uint32_t v = 0; status == PSFM_OK && v < graph->num_nodes; ++v) {
        if (poses->component[v] != component)
            continue;
        const uint32_t *at = psfm_adjacency_at(&graph->incident, v);
        mark_neighbours(graph, accepted, v, true, mark);
        for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k) {
            uint32_t u = psfm_edge_other(&graph->edges[at[k]], v);
            if (v < u && accepted[at[k]] && poses->component[u] == component &&
                has_marked_neighbour(graph, accepted, u, mark))
                (void)psfm_sets_unite(parent, v, u);
        }
        mark_neighbours(graph, accepted, v, false, mark);
    }
    free(mark);
    return status;
}

/* One entry for each edge between triangle components. */
static size_t list_connecting_edges(const psfm_pose_graph *graph, const bool *accepted,
                                    const psfm_poses *poses, uint32_t component,
                                    const uint32_t *triangle, connecting_edges *list) {
    size_t num = 0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        if (!is_inside(graph, e, poses, component))
            continue;
        uint32_t a = triangle[graph->edges[e].node1];
        uint32_t b = triangle[graph->edges[e].node2];
        if (a != b)
            list[num++] =
                (connecting_edges){a < b ? a : b, a < b ? b : a, accepted[e], !accepted[e]};
    }
    return num;
}

static double find_weakest(connecting_edges *list, size_t num) {
    double weakest = 0.0;
    qsort(list, num, sizeof *list, psfm_compare_u32_pair);
    for (size_t k = 0, next; k < num; k = next) {
        uint32_t accepted = 0, rejected = 0;
        for (next = k; next < num && psfm_compare_u32_pair(&list[k], &list[next]) == 0; ++next) {
            accepted += list[next].accepted;
            rejected += list[next].rejected;
        }
        double ratio = (rejected + 0.5) / (accepted + 0.5);
        if (accepted > 0 && ratio > weakest)
            weakest = ratio;
    }
    return weakest;
}

/* The lowest label of a component: triangle components are labelled by decreasing size. */
static uint32_t find_largest(const psfm_poses *poses, uint32_t component, const uint32_t *label) {
    uint32_t largest = UINT32_MAX;
    for (uint32_t v = 0; v < poses->num_views; ++v)
        if (poses->component[v] == component && label[v] < largest)
            largest = label[v];
    return largest;
}

psfm_status psfm_triangle_components_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                          const bool *accepted, const psfm_poses *poses,
                                          uint32_t component, uint32_t *triangle) {
    uint32_t num_triangles = 0;
    psfm_sets_init(triangle, graph->num_nodes);
    psfm_status status = join_triangles(ctx, graph, accepted, poses, component, triangle);
    if (status == PSFM_OK)
        status = psfm_sets_label(ctx, triangle, graph->num_nodes, triangle, &num_triangles);
    return status;
}

psfm_status psfm_weak_connection_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *accepted, const psfm_poses *poses,
                                      uint32_t component, double *weak_connection) {
    uint32_t *triangle = NULL;
    connecting_edges *list = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &triangle);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &list);
    if (status == PSFM_OK)
        status = psfm_triangle_components_find(ctx, graph, accepted, poses, component, triangle);
    if (status == PSFM_OK) {
        uint32_t largest = find_largest(poses, component, triangle);
        double weakest = find_weakest(
            list, list_connecting_edges(graph, accepted, poses, component, triangle, list));
        for (uint32_t v = 0; v < poses->num_views; ++v)
            if (poses->component[v] == component)
                weak_connection[v] = triangle[v] == largest ? 0.0 : weakest;
    }
    free(list);
    free(triangle);
    return status;
}

/* ---- two-edge cuts ---- */

/* Cuts of one and two edges by labels in the cycle space (Pritchard and Thurimella 2011): every
 * edge outside a spanning tree gets a random number, every edge of the tree the exclusive or of the
 * numbers of those that close a cycle over it. An edge that is in no cycle has 0. Two edges are a
 * cut if and only if every cycle has both or none, and then their numbers are equal; that others
 * are has a probability of 2^-64 each. */

#define NO_EDGE UINT32_MAX

/* The edges of one component, accepted or not, and a spanning tree of them. */
typedef struct {
    const psfm_pose_graph *graph;
    const psfm_poses *poses;
    uint32_t component;
    uint32_t *order, num; /* its images, breadth first */
    uint32_t *parent;     /* per image: the edge it was reached by */
    bool *reached;
    uint64_t *sum;   /* per image: exclusive or of the labels at it, then of the images beyond */
    uint64_t *label; /* per edge */
} cut_finder;

static psfm_status alloc_finder(psfm_context *ctx, cut_finder *f) {
    uint32_t n = f->graph->num_nodes;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &f->order)) || (status = PSFM_ALLOC(ctx, n, &f->parent)) ||
        (status = PSFM_ALLOC(ctx, n, &f->reached)) || (status = PSFM_ALLOC(ctx, n, &f->sum)))
        return status;
    return PSFM_ALLOC(ctx, f->graph->num_edges, &f->label);
}

static void free_finder(cut_finder *f) {
    free(f->order);
    free(f->parent);
    free(f->reached);
    free(f->sum);
    free(f->label);
}

static bool takes_part(const cut_finder *f, uint32_t e) {
    const psfm_edge *edge = &f->graph->edges[e];
    return f->poses->component[edge->node1] == f->component &&
           f->poses->component[edge->node2] == f->component;
}

static void reach_image(cut_finder *f, uint32_t v, uint32_t by) {
    f->reached[v] = true;
    f->parent[v] = by;
    f->order[f->num++] = v;
}

/* Images that no edge reaches (they were resected) start trees of their own. */
static void span_images(cut_finder *f) {
    uint32_t next = 0;
    for (uint32_t root = 0; root < f->graph->num_nodes; ++root) {
        if (f->poses->component[root] != f->component || f->reached[root])
            continue;
        reach_image(f, root, NO_EDGE);
        for (; next < f->num; ++next) {
            uint32_t v = f->order[next];
            const uint32_t *at = psfm_adjacency_at(&f->graph->incident, v);
            for (uint32_t k = 0; k < psfm_adjacency_degree(&f->graph->incident, v); ++k) {
                uint32_t u = psfm_edge_other(&f->graph->edges[at[k]], v);
                if (takes_part(f, at[k]) && !f->reached[u])
                    reach_image(f, u, at[k]);
            }
        }
    }
}

static bool is_in_tree(const cut_finder *f, uint32_t e) {
    const psfm_edge *edge = &f->graph->edges[e];
    return f->parent[edge->node1] == e || f->parent[edge->node2] == e;
}

static void label_edges(cut_finder *f) {
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_VERDICT, f->component, 0);
    for (uint32_t e = 0; e < f->graph->num_edges; ++e) {
        if (!takes_part(f, e) || is_in_tree(f, e))
            continue;
        f->label[e] = psfm_rng_next(&rng);
        f->sum[f->graph->edges[e].node1] ^= f->label[e];
        f->sum[f->graph->edges[e].node2] ^= f->label[e];
    }
    for (uint32_t k = f->num; k-- > 0;) {
        uint32_t v = f->order[k], by = f->parent[v];
        if (by == NO_EDGE)
            continue;
        f->label[by] = f->sum[v];
        f->sum[psfm_edge_other(&f->graph->edges[by], v)] ^= f->sum[v];
    }
}

/* Of the first `num` labels, those that are 0 or not alone. Orders them. */
static uint32_t count_cuts(uint64_t *label, size_t num) {
    uint32_t count = 0;
    qsort(label, num, sizeof *label, psfm_compare_u64);
    for (size_t k = 0; k < num; ++k)
        count += label[k] == 0 || (k > 0 && label[k - 1] == label[k]) ||
                 (k + 1 < num && label[k + 1] == label[k]);
    return count;
}

psfm_status psfm_two_edge_cuts_count(psfm_context *ctx, const psfm_pose_graph *graph,
                                     const bool *accepted, const psfm_poses *poses,
                                     uint32_t component, uint32_t *count) {
    cut_finder f = {.graph = graph, .poses = poses, .component = component};
    uint32_t *triangle = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &triangle);
    if (status == PSFM_OK)
        status = psfm_triangle_components_find(ctx, graph, accepted, poses, component, triangle);
    if (status == PSFM_OK)
        status = alloc_finder(ctx, &f);
    if (status == PSFM_OK) {
        span_images(&f);
        label_edges(&f);
        for (uint32_t e = 0; e < graph->num_edges; ++e)
            if (accepted[e] && takes_part(&f, e) &&
                triangle[graph->edges[e].node1] != triangle[graph->edges[e].node2])
                f.label[num++] = f.label[e];
        *count = count_cuts(f.label, num);
    }
    free_finder(&f);
    free(triangle);
    return status;
}
