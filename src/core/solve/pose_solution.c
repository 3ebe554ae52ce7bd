/* The solution and its components.
 *
 * Components are found by the edges that count, largest first; an image without a partner has
 * none. When images lose their pose, components are numbered anew and their facts move along. A
 * subgraph copies one component with nodes numbered from 0, so that the solvers need not know of
 * others. */
#include "core/solve/pose_solution.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"

static void free_facts(psfm_pose_solution *s) {
    for (uint32_t c = 0; s->components != NULL && c < s->num_components; ++c) {
        free(s->components[c].cut_nodes);
        free(s->components[c].bridges);
    }
    free(s->components);
    s->components = NULL;
    s->num_components = 0;
}

psfm_status psfm_pose_solution_relabel(psfm_context *ctx, const psfm_pose_graph *graph,
                                       const bool *keep, psfm_pose_solution *s) {
    uint32_t num_labels = 0;
    uint32_t *size = NULL;
    free_facts(s);
    psfm_status status =
        psfm_pose_graph_components(ctx, graph, keep, s->poses.component, &num_labels);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_labels, &size);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        ++size[s->poses.component[v]];
    while (s->num_components < num_labels && size[s->num_components] >= 2)
        ++s->num_components;
    status = PSFM_ALLOC(ctx, s->num_components, &s->components);
    for (uint32_t c = 0; status == PSFM_OK && c < s->num_components; ++c)
        s->components[c].num_images = size[c];
    /* an image alone has no pose */
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        if (s->poses.component[v] >= s->num_components)
            s->poses.component[v] = UINT32_MAX;
    free(size);
    return status;
}

typedef struct {
    uint32_t size, component;
} ranked;

static int by_size(const void *a, const void *b) {
    const ranked *p = a, *q = b;
    if (p->size != q->size)
        return p->size > q->size ? -1 : 1;
    return p->component < q->component ? -1 : p->component > q->component;
}

psfm_status psfm_pose_solution_compact(psfm_context *ctx, psfm_pose_solution *s) {
    ranked *order = NULL;
    uint32_t *rank = NULL, n = s->num_components, kept = 0;
    psfm_component_facts *facts = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &order)) || (status = PSFM_ALLOC(ctx, n, &rank)) ||
        (status = PSFM_ALLOC(ctx, n, &facts)))
        goto cleanup;
    for (uint32_t c = 0; c < n; ++c)
        order[c].component = c;
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        if (s->poses.component[v] != UINT32_MAX)
            ++order[s->poses.component[v]].size;
    qsort(order, n, sizeof *order, by_size);
    for (uint32_t c = 0; c < n; ++c) {
        rank[order[c].component] = order[c].size >= 2 ? kept++ : UINT32_MAX;
        facts[c] = s->components[order[c].component];
        facts[c].num_images = order[c].size;
    }
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        if (s->poses.component[v] != UINT32_MAX)
            s->poses.component[v] = rank[s->poses.component[v]];
    for (uint32_t c = kept; c < n; ++c) {
        free(facts[c].cut_nodes);
        free(facts[c].bridges);
    }
    free(s->components);
    s->components = facts;
    s->num_components = kept;
    facts = NULL;

cleanup:
    free(order);
    free(rank);
    free(facts);
    return status;
}

psfm_status psfm_pose_solution_drop_still(psfm_context *ctx, const psfm_pose_graph *graph,
                                          const bool *keep, psfm_pose_solution *s) {
    bool *moves = NULL;
    psfm_status status = PSFM_ALLOC(ctx, s->num_components, &moves);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        uint32_t component = s->poses.component[graph->edges[e].node1];
        if (keep[e] && !graph->edges[e].is_rotation && component != UINT32_MAX)
            moves[component] = true;
    }
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        if (s->poses.component[v] != UINT32_MAX && !moves[s->poses.component[v]])
            s->poses.component[v] = UINT32_MAX;
    free(moves);
    return psfm_pose_solution_compact(ctx, s);
}

psfm_status psfm_pose_solution_init(psfm_context *ctx, const psfm_pose_graph *graph,
                                    psfm_pose_solution *solution) {
    psfm_pose_solution s = {.num_nodes = graph->num_nodes, .num_edges = graph->num_edges};
    size_t m = graph->num_edges;
    psfm_status status;
    if ((status = psfm_poses_init(ctx, graph->num_nodes, &s.poses)) ||
        (status = PSFM_ALLOC(ctx, m, &s.h)) ||
        (status = PSFM_ALLOC(ctx, m, &s.similarity_component)) ||
        (status = PSFM_ALLOC(ctx, m, &s.in_tree)) || (status = PSFM_ALLOC(ctx, m, &s.in_graph)) ||
        (status = PSFM_ALLOC(ctx, m, &s.edge_pose)))
        goto failed;
    status = psfm_pose_solution_relabel(ctx, graph, NULL, &s);
    if (status != PSFM_OK)
        goto failed;
    *solution = s;
    return PSFM_OK;

failed:
    psfm_pose_solution_free(&s);
    return status;
}

void psfm_pose_solution_free(psfm_pose_solution *s) {
    free_facts(s);
    psfm_poses_free(&s->poses);
    free(s->h);
    free(s->similarity_component);
    free(s->in_tree);
    free(s->in_graph);
    free(s->edge_pose);
    *s = (psfm_pose_solution){0};
}

psfm_status psfm_subgraph_extract(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const uint32_t *node_component, uint32_t component,
                                  const bool *keep, psfm_subgraph *out) {
    psfm_subgraph s = {0};
    uint32_t *local = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, graph->num_nodes, &local)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &s.node)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &s.edge)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &s.node1)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &s.node2))) {
        psfm_subgraph_free(&s);
        free(local);
        return status;
    }
    for (uint32_t v = 0; v < graph->num_nodes; ++v) {
        if (node_component[v] == component) {
            local[v] = s.num_nodes;
            s.node[s.num_nodes++] = v;
        }
    }
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        if (node_component[edge->node1] != component || node_component[edge->node2] != component ||
            (keep != NULL && !keep[e]))
            continue;
        s.edge[s.num_edges] = e;
        s.node1[s.num_edges] = local[edge->node1];
        s.node2[s.num_edges++] = local[edge->node2];
    }
    free(local);
    *out = s;
    return PSFM_OK;
}

psfm_status psfm_subgraph_weigh(psfm_context *ctx, const psfm_subgraph *subgraph,
                                const double *value, double **weight, psfm_edge_list *list) {
    psfm_status status = PSFM_ALLOC(ctx, subgraph->num_edges, weight);
    if (status != PSFM_OK)
        return status;
    for (uint32_t k = 0; k < subgraph->num_edges; ++k)
        (*weight)[k] = value[subgraph->edge[k]];
    *list = (psfm_edge_list){subgraph->num_nodes, subgraph->num_edges, subgraph->node1,
                             subgraph->node2, *weight};
    return PSFM_OK;
}

void psfm_subgraph_free(psfm_subgraph *s) {
    free(s->node);
    free(s->edge);
    free(s->node1);
    free(s->node2);
    *s = (psfm_subgraph){0};
}
