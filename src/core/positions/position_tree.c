/* Centres along the best edges: Kruskal's tree of the largest weights, then breadth first from node
 * 0, adding up baselines. A start for scenes where false edges are many but weak: the tree needs
 * one good edge per image, not a majority. O(n log n) for the sort. */
#include "core/positions/position_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/mat3.h"

#define NONE UINT32_MAX

typedef struct {
    double weight;
    uint32_t edge;
} ranked;

/* The edges of the tree are chained per node: next[2 e] follows edge e at its node a, next[2 e + 1]
 * at b. */
typedef struct {
    uint32_t num_nodes, num_edges;
    const psfm_weighted_baseline *edges;
    uint32_t *parent; /* of the union-find, then the edge that reached a node */
    uint32_t *head, *next, *queue;
    ranked *order;
} tree;

static int by_weight(const void *a, const void *b) {
    const ranked *p = a, *q = b;
    if (p->weight != q->weight)
        return p->weight > q->weight ? -1 : 1;
    return p->edge < q->edge ? -1 : p->edge > q->edge;
}

static psfm_status tree_init(psfm_context *ctx, tree *t) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, t->num_nodes, &t->parent)) ||
        (status = PSFM_ALLOC(ctx, t->num_nodes, &t->head)) ||
        (status = PSFM_ALLOC(ctx, t->num_nodes, &t->queue)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)t->num_edges, &t->next)) ||
        (status = PSFM_ALLOC(ctx, t->num_edges, &t->order)))
        return status;
    psfm_sets_init(t->parent, t->num_nodes);
    for (uint32_t v = 0; v < t->num_nodes; ++v)
        t->head[v] = NONE;
    for (uint32_t e = 0; e < t->num_edges; ++e)
        t->order[e] = (ranked){t->edges[e].weight, e};
    if (t->num_edges > 0)
        qsort(t->order, t->num_edges, sizeof *t->order, by_weight);
    return PSFM_OK;
}

static void tree_free(tree *t) {
    free(t->parent);
    free(t->head);
    free(t->next);
    free(t->queue);
    free(t->order);
}

/* Joins parts by the heaviest edges; true if everything hangs together. */
static bool grow_tree(tree *t) {
    uint32_t joined = 1;
    for (uint32_t i = 0; i < t->num_edges; ++i) {
        uint32_t e = t->order[i].edge, a = t->edges[e].a, b = t->edges[e].b;
        if (!psfm_sets_unite(t->parent, a, b))
            continue;
        t->next[2 * e] = t->head[a];
        t->head[a] = 2 * e;
        t->next[2 * e + 1] = t->head[b];
        t->head[b] = 2 * e + 1;
        ++joined;
    }
    return joined == t->num_nodes;
}

static void place_centers(tree *t, double *centers) {
    uint32_t num = 1;
    memset(centers, 0, 3 * sizeof *centers);
    t->queue[0] = 0;
    t->parent[0] = NONE;
    for (uint32_t done = 0; done < num; ++done) {
        uint32_t v = t->queue[done];
        for (uint32_t i = t->head[v]; i != NONE; i = t->next[i]) {
            const psfm_weighted_baseline *edge = &t->edges[i / 2];
            uint32_t other = i % 2 == 0 ? edge->b : edge->a;
            if (i / 2 == t->parent[v])
                continue;
            psfm_axpy3(centers + 3 * v, i % 2 == 0 ? -1.0 : 1.0, edge->baseline,
                       centers + 3 * other);
            t->parent[other] = i / 2;
            t->queue[num++] = other;
        }
    }
}

double psfm_baseline_ruler(const psfm_weighted_baseline *edge) {
    return edge->ruler > 0.0 ? edge->ruler : psfm_norm3(edge->baseline);
}

psfm_status psfm_centers_along_tree(psfm_context *ctx, uint32_t num_nodes,
                                    const psfm_weighted_baseline *edges, uint32_t num_edges,
                                    double *centers, bool *spans) {
    tree t = {.num_nodes = num_nodes, .num_edges = num_edges, .edges = edges};
    psfm_status status = tree_init(ctx, &t);
    *spans = status == PSFM_OK && num_nodes > 0 && grow_tree(&t);
    if (*spans)
        place_centers(&t, centers);
    tree_free(&t);
    return status;
}
