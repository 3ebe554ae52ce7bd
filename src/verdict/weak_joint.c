/* Twins and repeated bays give edges that agree with each other and not with the others. A ring
 * with two neighbours on either side has three edges across each gap: if two of them lead to the
 * twin, the third, true one is rejected, and nothing inside the parts tells. What tells is that the
 * two stand in no triangle with others, and that a third contradicts them. */
#include "verdict/weak_joint.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/union_find.h"

/* Edges between two parts, named by their lowest numbers. */
typedef struct {
    uint32_t part1, part2;
    uint32_t accepted, rejected;
} joint_edges;

static bool is_inside(const psfm_pose_graph *graph, uint32_t e, const psfm_poses *poses,
                      uint32_t component) {
    return poses->component[graph->edges[e].node1] == component &&
           poses->component[graph->edges[e].node2] == component;
}

static uint32_t other_end(const psfm_edge *edge, uint32_t node) {
    return edge->node1 == node ? edge->node2 : edge->node1;
}

/* Sets mark[u] to `value` for the accepted neighbours u of v. */
static void mark_neighbours(const psfm_pose_graph *graph, const bool *accepted, uint32_t v,
                            bool value, bool *mark) {
    const uint32_t *at = psfm_adjacency_at(&graph->incident, v);
    for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k)
        if (accepted[at[k]])
            mark[other_end(&graph->edges[at[k]], v)] = value;
}

static bool has_marked_neighbour(const psfm_pose_graph *graph, const bool *accepted, uint32_t v,
                                 const bool *mark) {
    const uint32_t *at = psfm_adjacency_at(&graph->incident, v);
    for (uint32_t k = 0; k < psfm_adjacency_degree(&graph->incident, v); ++k)
        if (accepted[at[k]] && mark[other_end(&graph->edges[at[k]], v)])
            return true;
    return false;
}

/* Joins the ends of accepted edges that stand in a triangle. */
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
            uint32_t u = other_end(&graph->edges[at[k]], v);
            if (v < u && accepted[at[k]] && poses->component[u] == component &&
                has_marked_neighbour(graph, accepted, u, mark))
                (void)psfm_sets_unite(parent, v, u);
        }
        mark_neighbours(graph, accepted, v, false, mark);
    }
    free(mark);
    return status;
}

static int compare_joints(const void *a, const void *b) {
    const joint_edges *x = a, *y = b;
    if (x->part1 != y->part1)
        return x->part1 < y->part1 ? -1 : 1;
    return x->part2 < y->part2 ? -1 : x->part2 > y->part2;
}

/* One entry for each edge between parts. */
static size_t list_joints(const psfm_pose_graph *graph, const bool *accepted,
                          const psfm_poses *poses, uint32_t component, const uint32_t *part,
                          joint_edges *list) {
    size_t num = 0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        if (!is_inside(graph, e, poses, component))
            continue;
        uint32_t a = part[graph->edges[e].node1];
        uint32_t b = part[graph->edges[e].node2];
        if (a != b)
            list[num++] = (joint_edges){a < b ? a : b, a < b ? b : a, accepted[e], !accepted[e]};
    }
    return num;
}

static double find_weakest(joint_edges *list, size_t num) {
    double weakest = 0.0;
    qsort(list, num, sizeof *list, compare_joints);
    for (size_t k = 0, next; k < num; k = next) {
        uint32_t accepted = 0, rejected = 0;
        for (next = k; next < num && compare_joints(&list[k], &list[next]) == 0; ++next) {
            accepted += list[next].accepted;
            rejected += list[next].rejected;
        }
        double ratio = (rejected + 0.5) / (accepted + 0.5);
        if (accepted > 0 && ratio > weakest)
            weakest = ratio;
    }
    return weakest;
}

/* The lowest label of a component: parts are labelled by decreasing size. */
static uint32_t find_largest(const psfm_poses *poses, uint32_t component, const uint32_t *label) {
    uint32_t largest = UINT32_MAX;
    for (uint32_t v = 0; v < poses->num_views; ++v)
        if (poses->component[v] == component && label[v] < largest)
            largest = label[v];
    return largest;
}

psfm_status psfm_joined_parts_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                   const bool *accepted, const psfm_poses *poses,
                                   uint32_t component, uint32_t *part) {
    uint32_t num_parts = 0;
    psfm_sets_init(part, graph->num_nodes);
    psfm_status status = join_triangles(ctx, graph, accepted, poses, component, part);
    if (status == PSFM_OK)
        status = psfm_sets_label(ctx, part, graph->num_nodes, part, &num_parts);
    return status;
}

psfm_status psfm_weak_joint_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                 const bool *accepted, const psfm_poses *poses, uint32_t component,
                                 double *joint) {
    uint32_t *part = NULL;
    joint_edges *list = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &part);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &list);
    if (status == PSFM_OK)
        status = psfm_joined_parts_find(ctx, graph, accepted, poses, component, part);
    if (status == PSFM_OK) {
        uint32_t largest = find_largest(poses, component, part);
        double weakest =
            find_weakest(list, list_joints(graph, accepted, poses, component, part, list));
        for (uint32_t v = 0; v < poses->num_views; ++v)
            if (poses->component[v] == component)
                joint[v] = part[v] == largest ? 0.0 : weakest;
    }
    free(list);
    free(part);
    return status;
}
