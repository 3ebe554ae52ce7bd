/* Chains by Dijkstra's method. A link costs 1 / sqrt(inliers), so that a chain of strong links is
 * preferred to a short one of weak ones; beyond SURE inliers more do not help. The graph is small
 * (the views of one plane), and its edges are few, so the queue is a plain binary heap. */
#include "core/calibration/plane_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define SURE 300.0 /* inliers from which on a link is as good as any */

static uint32_t place_of(const psfm_plane_views *v, uint32_t view) {
    const uint32_t *found = bsearch(&view, v->views, v->num_views, sizeof view, psfm_compare_u32);
    return (uint32_t)(found - v->views);
}

/* The views of all edges, each once, ascending. */
static void list_views(psfm_plane_views *out) {
    size_t num = 0;
    for (size_t e = 0; e < out->num_edges; ++e) {
        out->views[num++] = out->edges[e]->view1;
        out->views[num++] = out->edges[e]->view2;
    }
    qsort(out->views, num, sizeof *out->views, psfm_compare_u32);
    for (size_t k = 0; k < num; ++k)
        if (k == 0 || out->views[k] != out->views[out->num_views - 1])
            out->views[out->num_views++] = out->views[k];
}

static void list_incident(psfm_plane_views *out) {
    for (size_t e = 0; e < out->num_edges; ++e) {
        const psfm_measured_plane *m = out->edges[e];
        const uint32_t ends[2] = {place_of(out, m->view1), place_of(out, m->view2)};
        for (int side = 0; side < 2; ++side) {
            out->ends[e][side] = ends[side];
            ++out->begin[ends[side] + 2];
            out->weight[ends[side]] += fmin(m->num, SURE);
        }
    }
    for (size_t k = 0; k < out->num_views; ++k)
        out->begin[k + 2] += out->begin[k + 1];
    for (uint32_t e = 0; e < out->num_edges; ++e)
        for (int side = 0; side < 2; ++side)
            out->incident[out->begin[out->ends[e][side] + 1]++] = e;
}

psfm_status psfm_plane_views_init(psfm_context *ctx, const psfm_measured_planes *measured,
                                  const uint32_t *items, size_t num, psfm_plane_views *out) {
    *out = (psfm_plane_views){.num_edges = num};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, 2 * num, &out->views)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->ends)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, 2 * num, &out->incident)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, 2 * num + 2, &out->begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, 2 * num, &out->weight)) != PSFM_OK) {
        psfm_plane_views_free(out);
        return status;
    }
    for (size_t k = 0; k < num; ++k)
        out->edges[k] = &measured->planes[items[k]];
    list_views(out);
    list_incident(out);
    return PSFM_OK;
}

void psfm_plane_views_free(psfm_plane_views *v) {
    free(v->views);
    free(v->edges);
    free(v->ends);
    free(v->incident);
    free(v->begin);
    free(v->weight);
    *v = (psfm_plane_views){0};
}

/* ---- chains ---- */

typedef struct {
    double cost;
    uint32_t view, edge; /* the last link; UINT32_MAX for the reference */
} visit;

typedef struct {
    visit *items;
    size_t num;
} heap;

static bool is_before(const visit *a, const visit *b) {
    if (a->cost != b->cost)
        return a->cost < b->cost;
    return a->view != b->view ? a->view < b->view : a->edge < b->edge;
}

static void push_visit(heap *h, visit item) {
    size_t k = h->num++;
    for (; k > 0 && is_before(&item, &h->items[(k - 1) / 2]); k = (k - 1) / 2)
        h->items[k] = h->items[(k - 1) / 2];
    h->items[k] = item;
}

static visit pop_visit(heap *h) {
    visit top = h->items[0], last = h->items[--h->num];
    size_t k = 0;
    for (;;) {
        size_t child = 2 * k + 1;
        if (child >= h->num)
            break;
        if (child + 1 < h->num && is_before(&h->items[child + 1], &h->items[child]))
            ++child;
        if (!is_before(&h->items[child], &last))
            break;
        h->items[k] = h->items[child];
        k = child;
    }
    h->items[k] = last;
    return top;
}

/* H_to = link H_from at unit norm. det keeps its sign: points in front stay in front. */
static void extend_chain(const psfm_plane_views *v, uint32_t edge, uint32_t from,
                         const double H_from[9], double H_to[9]) {
    const psfm_measured_plane *m = v->edges[edge];
    double link[9], norm = 0.0;
    memcpy(link, m->H, sizeof link);
    if (v->ends[edge][0] != from && !psfm_mat3_inverse(m->H, link))
        psfm_mat3_identity(link);
    psfm_mat3_mul(link, H_from, H_to);
    for (int k = 0; k < 9; ++k)
        norm += H_to[k] * H_to[k];
    for (int k = 0; k < 9; ++k)
        H_to[k] /= sqrt(norm);
}

static void follow_links(const psfm_plane_views *v, const visit *at, const uint32_t *hops,
                         heap *queue) {
    for (size_t k = v->begin[at->view]; k < v->begin[at->view + 1]; ++k) {
        uint32_t edge = v->incident[k];
        uint32_t other = v->ends[edge][v->ends[edge][0] == at->view ? 1 : 0];
        double cost = sqrt(SURE / fmin(fmax(v->edges[edge]->num, 1.0), SURE));
        if (hops[other] == UINT32_MAX)
            push_visit(queue, (visit){at->cost + cost, other, edge});
    }
}

psfm_status psfm_plane_chain(psfm_context *ctx, const psfm_plane_views *v, size_t reference,
                             double (*H)[9], uint32_t *hops) {
    heap queue = {0};
    psfm_status status = PSFM_ALLOC(ctx, 2 * v->num_edges + 1, &queue.items);
    if (status != PSFM_OK)
        return status;
    memset(hops, 0xff, v->num_views * sizeof *hops);
    push_visit(&queue, (visit){0.0, (uint32_t)reference, UINT32_MAX});
    while (queue.num > 0) {
        visit at = pop_visit(&queue);
        if (hops[at.view] != UINT32_MAX)
            continue;
        if (at.edge == UINT32_MAX) {
            psfm_mat3_identity(H[at.view]);
            hops[at.view] = 0;
        } else {
            uint32_t from = v->ends[at.edge][v->ends[at.edge][0] == at.view ? 1 : 0];
            extend_chain(v, at.edge, from, H[from], H[at.view]);
            hops[at.view] = hops[from] + 1;
        }
        follow_links(v, &at, hops, &queue);
    }
    free(queue.items);
    return PSFM_OK;
}
