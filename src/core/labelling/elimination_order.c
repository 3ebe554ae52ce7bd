/* Minimum-degree elimination. Each node has a list of its neighbours, which may hold some that have
 * left; they are dropped when the list is next walked. Nodes of few neighbours wait on one stack
 * per degree; an entry whose node has left, or has another degree by now, is stale. */
#include "core/labelling/elimination_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Nodes drawn, of which the one with most neighbours is fixed. */
enum { DRAWS = 4 };

typedef struct {
    uint32_t *item;
    size_t num, room;
} list;

typedef struct {
    uint32_t num_nodes;
    int max_width;
    list *neighbours; /* of each node, with some that have left */
    uint32_t *degree; /* those still there */
    bool *left;       /* eliminated or fixed */
    uint32_t *mark, stamp;
    list *waiting;        /* per degree up to max_width */
    uint32_t *there, *at; /* nodes still there, and where each is among them */
    uint32_t num_there;
    size_t scope_room;
} work;

static psfm_status push_value(psfm_context *ctx, list *l, uint32_t value) {
    psfm_status status = PSFM_OK;
    if (l->num == l->room)
        status = PSFM_RESERVE(ctx, &l->item, &l->room, l->num + 1);
    if (status == PSFM_OK)
        l->item[l->num++] = value;
    return status;
}

static psfm_status line_up(psfm_context *ctx, work *w, uint32_t v) {
    if (w->degree[v] > (uint32_t)w->max_width)
        return PSFM_OK;
    return push_value(ctx, &w->waiting[w->degree[v]], v);
}

static psfm_status list_neighbours(psfm_context *ctx, const psfm_topology *graph,
                                   const psfm_adjacency *adjacency, work *w, uint32_t v) {
    psfm_status status = PSFM_OK;
    ++w->stamp;
    for (size_t k = adjacency->begin[v]; status == PSFM_OK && k < adjacency->begin[v + 1]; ++k) {
        uint32_t u = psfm_topology_other(graph, adjacency->edge[k], v);
        if (w->left[u] || w->mark[u] == w->stamp)
            continue;
        w->mark[u] = w->stamp;
        ++w->degree[v];
        status = push_value(ctx, &w->neighbours[v], u);
    }
    return status;
}

static psfm_status begin_work(psfm_context *ctx, const psfm_topology *graph,
                              const psfm_adjacency *adjacency, const bool *fixed, int max_width,
                              work *w) {
    uint32_t n = graph->num_nodes;
    psfm_status status;
    w->num_nodes = n;
    w->max_width = max_width;
    if ((status = PSFM_ALLOC(ctx, n, &w->neighbours)) ||
        (status = PSFM_ALLOC(ctx, n, &w->degree)) || (status = PSFM_ALLOC(ctx, n, &w->left)) ||
        (status = PSFM_ALLOC(ctx, n, &w->mark)) ||
        (status = PSFM_ALLOC(ctx, (size_t)max_width + 1, &w->waiting)) ||
        (status = PSFM_ALLOC(ctx, n, &w->there)) || (status = PSFM_ALLOC(ctx, n, &w->at)))
        return status;
    if (fixed != NULL)
        memcpy(w->left, fixed, n * sizeof *fixed);
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v) {
        if (w->left[v])
            continue;
        w->at[v] = w->num_there;
        w->there[w->num_there++] = v;
        status = list_neighbours(ctx, graph, adjacency, w, v);
    }
    for (uint32_t k = w->num_there; status == PSFM_OK && k-- > 0;)
        status = line_up(ctx, w, w->there[k]);
    return status;
}

static void end_work(work *w) {
    for (uint32_t v = 0; w->neighbours != NULL && v < w->num_nodes; ++v)
        free(w->neighbours[v].item);
    for (int d = 0; w->waiting != NULL && d <= w->max_width; ++d)
        free(w->waiting[d].item);
    free(w->neighbours);
    free(w->degree);
    free(w->left);
    free(w->mark);
    free(w->waiting);
    free(w->there);
    free(w->at);
}

/* The node with fewest neighbours; UINT32_MAX if all have more than max_width. */
static uint32_t pop_smallest(work *w) {
    for (int d = 0; d <= w->max_width; ++d) {
        list *l = &w->waiting[d];
        while (l->num > 0) {
            uint32_t v = l->item[--l->num];
            if (!w->left[v] && w->degree[v] == (uint32_t)d)
                return v;
        }
    }
    return UINT32_MAX;
}

static void remove_node(work *w, uint32_t v) {
    uint32_t last = w->there[--w->num_there];
    w->there[w->at[v]] = last;
    w->at[last] = w->at[v];
    w->left[v] = true;
}

/* Drops those that have left from v's list. */
static void tidy_neighbours(work *w, uint32_t v) {
    list *l = &w->neighbours[v];
    size_t kept = 0;
    for (size_t k = 0; k < l->num; ++k)
        if (!w->left[l->item[k]])
            l->item[kept++] = l->item[k];
    l->num = kept;
}

static psfm_status hold_one(psfm_context *ctx, work *w, psfm_rng *rng) {
    uint32_t v = w->there[psfm_rng_below(rng, w->num_there)];
    for (int k = 1; k < DRAWS; ++k) {
        uint32_t u = w->there[psfm_rng_below(rng, w->num_there)];
        if (w->degree[u] > w->degree[v])
            v = u;
    }
    psfm_status status = PSFM_OK;
    remove_node(w, v);
    tidy_neighbours(w, v);
    for (size_t k = 0; status == PSFM_OK && k < w->neighbours[v].num; ++k) {
        uint32_t u = w->neighbours[v].item[k];
        --w->degree[u];
        status = line_up(ctx, w, u);
    }
    return status;
}

/* Joins u to all of the scope of the node that has just left. */
static psfm_status join_to_scope(psfm_context *ctx, work *w, uint32_t u, const list *scope) {
    psfm_status status = PSFM_OK;
    tidy_neighbours(w, u);
    ++w->stamp;
    w->mark[u] = w->stamp;
    for (size_t k = 0; k < w->neighbours[u].num; ++k)
        w->mark[w->neighbours[u].item[k]] = w->stamp;
    for (size_t k = 0; status == PSFM_OK && k < scope->num; ++k)
        if (w->mark[scope->item[k]] != w->stamp)
            status = push_value(ctx, &w->neighbours[u], scope->item[k]);
    w->degree[u] = (uint32_t)w->neighbours[u].num;
    return status == PSFM_OK ? line_up(ctx, w, u) : status;
}

static psfm_status eliminate_one(psfm_context *ctx, work *w, uint32_t v, psfm_elimination *out) {
    list *scope = &w->neighbours[v];
    remove_node(w, v);
    tidy_neighbours(w, v);
    size_t begin = out->begin[out->num];
    psfm_status status = PSFM_RESERVE(ctx, &out->scope, &w->scope_room, begin + scope->num);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < scope->num; ++k)
        out->scope[begin + k] = scope->item[k];
    out->rank[v] = out->num;
    out->node[out->num++] = v;
    out->begin[out->num] = begin + scope->num;
    for (size_t k = 0; status == PSFM_OK && k < scope->num; ++k)
        status = join_to_scope(ctx, w, scope->item[k], scope);
    return status;
}

/* Drops from the scopes what came to be fixed after they were written. */
static void drop_fixed(psfm_elimination *out) {
    size_t kept = 0, k = 0;
    for (uint32_t r = 0; r < out->num; ++r) {
        size_t begin = kept;
        for (; k < out->begin[r + 1]; ++k)
            if (out->rank[out->scope[k]] != UINT32_MAX)
                out->scope[kept++] = out->scope[k];
        out->begin[r + 1] = kept;
        out->num_entries += (size_t)1 << (kept - begin);
    }
}

psfm_status psfm_eliminate(psfm_context *ctx, const psfm_topology *graph,
                           const psfm_adjacency *adjacency, const bool *fixed_in, int max_width,
                           psfm_rng *rng, psfm_elimination *out) {
    uint32_t n = graph->num_nodes;
    work w = {0};
    psfm_status status;
    *out = (psfm_elimination){0};
    if ((status = PSFM_ALLOC(ctx, n, &out->node)) || (status = PSFM_ALLOC(ctx, n, &out->rank)) ||
        (status = PSFM_ALLOC(ctx, (size_t)n + 1, &out->begin)) ||
        (status = begin_work(ctx, graph, adjacency, fixed_in, max_width, &w)))
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v)
        out->rank[v] = UINT32_MAX;
    while (status == PSFM_OK && w.num_there > 0) {
        uint32_t v = pop_smallest(&w);
        status = v == UINT32_MAX ? hold_one(ctx, &w, rng) : eliminate_one(ctx, &w, v, out);
    }
    drop_fixed(out);

cleanup:
    end_work(&w);
    if (status != PSFM_OK)
        psfm_elimination_free(out);
    return status;
}

void psfm_elimination_free(psfm_elimination *elimination) {
    free(elimination->node);
    free(elimination->rank);
    free(elimination->begin);
    free(elimination->scope);
    *elimination = (psfm_elimination){0};
}
