/* From a region of a plane to all of it.
 *
 * Views are added in order of their links from the region. A view that has neighbours with known
 * maps G gets the map H G from each: the images of the plane's circular points under it give its
 * focal length in closed form (see plane_search.c), and the strongest neighbour gives its pose.
 * Whenever the region has doubled, it is adjusted, so that errors do not pile up along chains. All
 * steps together cost about twice the last one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calib/plane_map.h"
#include "calib/plane_minima.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define SURE_TILT                                                                   \
    0.03 /* sine below which a view's tilt against the plane does not tell its lens \
          */
#define MAX_NEIGHBOURS 32

/* What is known so far, per view of the plane and per group among all. */
typedef struct {
    const psfm_plane_task *task;
    uint32_t *order; /* places of views, in order of growth */
    size_t num_order;
    bool *placed;
    psfm_plane_sight *sights;
    double *focal; /* 0 if unknown */
} growth;

/* Lists all views in order of their links from the first num_order ones. */
static psfm_status order_views(psfm_context *ctx, growth *g) {
    const psfm_plane_views *v = g->task->views;
    bool *listed = NULL;
    psfm_status status = PSFM_ALLOC(ctx, v->num_views, &listed);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < g->num_order; ++k)
        listed[g->order[k]] = true;
    for (size_t k = 0; k < g->num_order; ++k)
        for (size_t i = v->begin[g->order[k]]; i < v->begin[g->order[k] + 1]; ++i) {
            const uint32_t *ends = v->ends[v->incident[i]];
            uint32_t other = ends[ends[0] == g->order[k] ? 1 : 0];
            if (!listed[other])
                g->order[g->num_order++] = other;
            listed[other] = true;
        }
    free(listed);
    return PSFM_OK;
}

/* The map of a view by an edge to a neighbour that has one. */
static bool map_by_edge(const growth *g, uint32_t edge, uint32_t place, double M[9]) {
    const psfm_plane_views *v = g->task->views;
    bool is_second = v->ends[edge][1] == place;
    uint32_t other = v->ends[edge][is_second ? 0 : 1];
    double G[9], H[9];
    if (!g->placed[other])
        return false;
    memcpy(H, v->edges[edge]->H, sizeof H);
    if (!is_second && !psfm_mat3_inverse(v->edges[edge]->H, H))
        return false;
    psfm_plane_map(&g->sights[other], g->focal[g->task->group[other]], G);
    psfm_mat3_mul(H, G, M);
    return true;
}

/* The square of the focal length that a map asks for. Seen straight on, a plane says nothing of
 * the lens: the usual value has the weight of a little tilt. */
static double focal2_of_map(const double M[9], double usual) {
    double v[6], w[2], z[2], size = 0.0, least = SURE_TILT * SURE_TILT;
    for (int k = 0; k < 6; ++k) {
        v[k] = M[3 * (k % 3) + k / 3];
        size += v[k] * v[k] / (k % 3 < 2 ? usual * usual : 1.0);
    }
    for (int k = 0; k < 6; ++k)
        v[k] /= sqrt(size);
    psfm_circular_split(v, w, z);
    return psfm_clip_focal2((-(w[0] * z[0] + w[1] * z[1]) + least * least * usual * usual) /
                            (z[0] * z[0] + z[1] * z[1] + least * least));
}

/* Gives a view its pose, and its group a focal length if it has none. */
static void place_view(growth *g, uint32_t place, double usual) {
    const psfm_plane_views *v = g->task->views;
    double M[9], best[9] = {0}, focal2[MAX_NEIGHBOURS], *focal = &g->focal[g->task->group[place]];
    uint32_t most = 0;
    size_t num = 0;
    for (size_t i = v->begin[place]; i < v->begin[place + 1]; ++i) {
        uint32_t inliers = v->edges[v->incident[i]]->num;
        if (!map_by_edge(g, v->incident[i], place, M))
            continue;
        if (num < MAX_NEIGHBOURS)
            focal2[num++] = focal2_of_map(M, usual);
        if (inliers > most || most == 0)
            memcpy(best, M, sizeof best);
        most = inliers > most ? inliers : most;
    }
    if (!(*focal > 0.0))
        *focal = num == 0 ? usual : sqrt(psfm_median(focal2, num));
    for (int i = 0; i < 6; ++i)
        best[i] /= *focal;
    psfm_plane_pose(best, &g->sights[place]);
    g->placed[place] = true;
}

/* What an adjusted region says goes into the growth, */
static void learn(growth *g, const psfm_plane_region *r, const psfm_plane_minimum *m) {
    for (size_t k = 0; k < r->num_sights; ++k) {
        g->sights[r->place[k]] = m->sights[k];
        g->placed[r->place[k]] = true;
    }
    for (size_t k = 0; k < r->num_groups; ++k)
        g->focal[r->global[k]] = exp(m->log_focal[k]);
}

/* and the other way round, before it is adjusted. */
static void recall(const growth *g, const psfm_plane_region *r, psfm_plane_minimum *m) {
    for (size_t k = 0; k < r->num_sights; ++k)
        m->sights[k] = g->sights[r->place[k]];
    for (size_t k = 0; k < r->num_groups; ++k)
        m->log_focal[k] = log(g->focal[r->global[k]]);
}

/* Places views until there are `wanted`, and adjusts all. */
static psfm_status extend(psfm_context *ctx, growth *g, size_t before, size_t wanted,
                          psfm_plane_region *r, psfm_plane_minimum *m) {
    const psfm_plane_task *task = g->task;
    double *known = NULL;
    psfm_status status = PSFM_ALLOC(ctx, before, &known);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < before; ++k)
        known[k] = g->focal[task->group[g->order[k]]];
    double usual = psfm_median(known, before);
    free(known);
    for (size_t k = before; k < wanted; ++k)
        place_view(g, g->order[k], usual);
    if ((status = psfm_plane_region_init(ctx, task->views, task->group, g->order, wanted, r)) !=
            PSFM_OK ||
        (status = psfm_plane_minimum_init(ctx, r, m)) != PSFM_OK)
        return status;
    recall(g, r, m);
    status = psfm_plane_region_adjust(
        ctx, task->in, r, wanted < g->num_order ? PSFM_PLANE_GROWING : PSFM_PLANE_GROWN, m);
    if (status == PSFM_OK && m->found)
        learn(g, r, m);
    return status;
}

static psfm_status begin(psfm_context *ctx, growth *g, const psfm_plane_region *region,
                         const psfm_plane_minimum *minimum) {
    size_t n = g->task->views->num_views, num_groups = g->task->in->num_groups;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &g->order)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->placed)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->sights)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_groups, &g->focal)) != PSFM_OK)
        return status;
    memcpy(g->focal, g->task->held, num_groups * sizeof *g->focal);
    memcpy(g->order, region->place, region->num_sights * sizeof *g->order);
    g->num_order = region->num_sights;
    learn(g, region, minimum);
    return order_views(ctx, g);
}

psfm_status psfm_plane_grow(psfm_context *ctx, const psfm_plane_task *task,
                            const psfm_plane_region *region, const psfm_plane_minimum *minimum,
                            psfm_plane_region *whole, psfm_plane_minimum *grown) {
    growth g = {.task = task};
    size_t num = region->num_sights;
    psfm_status status = begin(ctx, &g, region, minimum);
    do {
        size_t wanted = 2 * num < g.num_order ? 2 * num : g.num_order;
        psfm_plane_region_free(whole);
        psfm_plane_minimum_free(grown);
        if (status == PSFM_OK)
            status = extend(ctx, &g, num, wanted, whole, grown);
        num = wanted;
    } while (status == PSFM_OK && num < g.num_order);
    free(g.order);
    free(g.placed);
    free(g.sights);
    free(g.focal);
    return status;
}
