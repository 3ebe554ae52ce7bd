/* Cuts of one and two edges by labels in the cycle space (Pritchard and Thurimella 2011): every
 * edge outside a spanning tree gets a random number, every edge of the tree the exclusive or of the
 * numbers of those that close a cycle over it. An edge that is in no cycle has 0. Two edges are a
 * cut if and only if every cycle has both or none, and then their numbers are equal; that others
 * are has a probability of 2^-64 each. */
#include "verdict/thin_cut.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "verdict/weak_joint.h"

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

static uint32_t other_end(const cut_finder *f, uint32_t e, uint32_t node) {
    const psfm_edge *edge = &f->graph->edges[e];
    return edge->node1 == node ? edge->node2 : edge->node1;
}

static void reach(cut_finder *f, uint32_t v, uint32_t by) {
    f->reached[v] = true;
    f->parent[v] = by;
    f->order[f->num++] = v;
}

/* Images that no edge reaches (they were resected) start trees of their own. */
static void span(cut_finder *f) {
    uint32_t next = 0;
    for (uint32_t root = 0; root < f->graph->num_nodes; ++root) {
        if (f->poses->component[root] != f->component || f->reached[root])
            continue;
        reach(f, root, NO_EDGE);
        for (; next < f->num; ++next) {
            uint32_t v = f->order[next];
            const uint32_t *at = psfm_adjacency_at(&f->graph->incident, v);
            for (uint32_t k = 0; k < psfm_adjacency_degree(&f->graph->incident, v); ++k)
                if (takes_part(f, at[k]) && !f->reached[other_end(f, at[k], v)])
                    reach(f, other_end(f, at[k], v), at[k]);
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
        f->sum[other_end(f, by, v)] ^= f->sum[v];
    }
}

static int compare_labels(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Of the first `num` labels, those that are 0 or not alone. Orders them. */
static uint32_t count_cuts(uint64_t *label, size_t num) {
    uint32_t count = 0;
    qsort(label, num, sizeof *label, compare_labels);
    for (size_t k = 0; k < num; ++k)
        count += label[k] == 0 || (k > 0 && label[k - 1] == label[k]) ||
                 (k + 1 < num && label[k + 1] == label[k]);
    return count;
}

psfm_status psfm_thin_cuts_count(psfm_context *ctx, const psfm_pose_graph *graph,
                                 const bool *accepted, const psfm_poses *poses, uint32_t component,
                                 uint32_t *count) {
    cut_finder f = {.graph = graph, .poses = poses, .component = component};
    uint32_t *part = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &part);
    if (status == PSFM_OK)
        status = psfm_joined_parts_find(ctx, graph, accepted, poses, component, part);
    if (status == PSFM_OK)
        status = alloc_finder(ctx, &f);
    if (status == PSFM_OK) {
        span(&f);
        label_edges(&f);
        for (uint32_t e = 0; e < graph->num_edges; ++e)
            if (accepted[e] && takes_part(&f, e) &&
                part[graph->edges[e].node1] != part[graph->edges[e].node2])
                f.label[num++] = f.label[e];
        *count = count_cuts(f.label, num);
    }
    free_finder(&f);
    free(part);
    return status;
}
