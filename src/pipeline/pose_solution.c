#include "pipeline/pose_solution.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/mat3.h"

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
        psfm_pose_graph_components(ctx, graph, keep, s->node_component, &num_labels);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num_labels, sizeof *size, (void **)&size);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        ++size[s->node_component[v]];
    while (s->num_components < num_labels && size[s->num_components] >= 2)
        ++s->num_components;
    status = psfm_alloc(ctx, s->num_components, sizeof *s->components, (void **)&s->components);
    for (uint32_t c = 0; status == PSFM_OK && c < s->num_components; ++c)
        s->components[c].num_images = size[c];
    /* an image alone has no pose */
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        if (s->node_component[v] >= s->num_components)
            s->node_component[v] = UINT32_MAX;
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
    if ((status = psfm_alloc(ctx, n, sizeof *order, (void **)&order)) ||
        (status = psfm_alloc(ctx, n, sizeof *rank, (void **)&rank)) ||
        (status = psfm_alloc(ctx, n, sizeof *facts, (void **)&facts)))
        goto cleanup;
    for (uint32_t c = 0; c < n; ++c)
        order[c].component = c;
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        if (s->node_component[v] != UINT32_MAX)
            ++order[s->node_component[v]].size;
    qsort(order, n, sizeof *order, by_size);
    for (uint32_t c = 0; c < n; ++c) {
        rank[order[c].component] = order[c].size >= 2 ? kept++ : UINT32_MAX;
        facts[c] = s->components[order[c].component];
        facts[c].num_images = order[c].size;
    }
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        if (s->node_component[v] != UINT32_MAX)
            s->node_component[v] = rank[s->node_component[v]];
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

psfm_status psfm_pose_solution_init(psfm_context *ctx, const psfm_pose_graph *graph,
                                    psfm_pose_solution *solution) {
    psfm_pose_solution s = {.num_nodes = graph->num_nodes, .num_edges = graph->num_edges};
    size_t n = graph->num_nodes, m = graph->num_edges;
    psfm_status status;
    if ((status = psfm_alloc(ctx, n, sizeof *s.node_component, (void **)&s.node_component)) ||
        (status = psfm_alloc(ctx, n, sizeof *s.cam_from_world_R, (void **)&s.cam_from_world_R)) ||
        (status = psfm_alloc(ctx, n, sizeof *s.center, (void **)&s.center)) ||
        (status = psfm_alloc(ctx, m, sizeof *s.h, (void **)&s.h)) ||
        (status = psfm_alloc(ctx, m, sizeof *s.similarity_component,
                             (void **)&s.similarity_component)) ||
        (status = psfm_alloc(ctx, m, sizeof *s.in_tree, (void **)&s.in_tree)) ||
        (status = psfm_alloc(ctx, m, sizeof *s.in_graph, (void **)&s.in_graph)) ||
        (status = psfm_alloc(ctx, m, sizeof *s.edge_pose, (void **)&s.edge_pose)))
        goto failed;
    for (size_t v = 0; v < n; ++v)
        psfm_mat3_identity(s.cam_from_world_R[v]);
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
    free(s->node_component);
    free(s->cam_from_world_R);
    free(s->center);
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
    if ((status = psfm_alloc(ctx, graph->num_nodes, sizeof *local, (void **)&local)) ||
        (status = psfm_alloc(ctx, graph->num_nodes, sizeof *s.node, (void **)&s.node)) ||
        (status = psfm_alloc(ctx, graph->num_edges, sizeof *s.edge, (void **)&s.edge)) ||
        (status = psfm_alloc(ctx, graph->num_edges, sizeof *s.node1, (void **)&s.node1)) ||
        (status = psfm_alloc(ctx, graph->num_edges, sizeof *s.node2, (void **)&s.node2))) {
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

void psfm_subgraph_free(psfm_subgraph *s) {
    free(s->node);
    free(s->edge);
    free(s->node1);
    free(s->node2);
    *s = (psfm_subgraph){0};
}
