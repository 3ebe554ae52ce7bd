/* Links between homographies by shared keypoints, found camera by camera (parallel): the overlaps
 * of all planes at a camera are counted on bit sets (core/posegraph/shared_inliers.c). O(degree^2)
 * overlaps per camera; the lists of the cameras are joined in order, so that nothing depends on the
 * schedule. */
#include "core/posegraph/plane_links.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/posegraph/shared_inliers.h"

/* The links found at one camera. */
typedef struct {
    psfm_plane_link *links;
    size_t num, capacity;
} bucket;

typedef struct {
    const psfm_pose_graph *graph;
    uint32_t min_overlap;
    psfm_camera_planes *scratch; /* per worker */
    bucket *buckets;             /* per camera */
} finder;

static bool share_both_cameras(const psfm_edge *e, const psfm_edge *f) {
    return e->node1 == f->node1 && e->node2 == f->node2;
}

static psfm_status link_edges(psfm_context *ctx, const finder *f, uint32_t node, uint32_t a,
                              uint32_t b, const psfm_camera_planes *planes, bucket *out) {
    for (uint32_t p = planes->first_plane[a]; p < planes->first_plane[a + 1]; ++p) {
        for (uint32_t q = planes->first_plane[b]; q < planes->first_plane[b + 1]; ++q) {
            uint32_t overlap = psfm_camera_planes_overlap(planes, p, q);
            if (overlap < f->min_overlap)
                continue;
            psfm_status status = PSFM_RESERVE(ctx, &out->links, &out->capacity, out->num + 1);
            if (status != PSFM_OK)
                return status;
            out->links[out->num++] =
                (psfm_plane_link){(uint32_t)(planes->planes[p] - f->graph->planes),
                                  (uint32_t)(planes->planes[q] - f->graph->planes), node, overlap};
        }
    }
    return PSFM_OK;
}

static psfm_status find_at_camera(psfm_context *ctx, size_t index, int worker, void *user) {
    const finder *f = user;
    const psfm_pose_graph *graph = f->graph;
    psfm_camera_planes *planes = &f->scratch[worker];
    uint32_t node = (uint32_t)index;
    const uint32_t *incident = psfm_adjacency_at(&graph->incident, node);
    uint32_t d = psfm_adjacency_degree(&graph->incident, node);
    psfm_status status = psfm_camera_planes_set(ctx, graph, node, planes);
    for (uint32_t a = 0; a < d; ++a)
        for (uint32_t b = a + 1; status == PSFM_OK && b < d; ++b)
            if (!share_both_cameras(&graph->edges[incident[a]], &graph->edges[incident[b]]))
                status = link_edges(ctx, f, node, a, b, planes, &f->buckets[node]);
    return status;
}

/* Joins the buckets in the order of the cameras. */
static psfm_status collect_links(psfm_context *ctx, const finder *f, psfm_plane_links *out) {
    size_t total = 0, num = 0;
    for (uint32_t v = 0; v < f->graph->num_nodes; ++v)
        total += f->buckets[v].num;
    psfm_status status = PSFM_ALLOC(ctx, total, &out->links);
    for (uint32_t v = 0; status == PSFM_OK && v < f->graph->num_nodes; ++v) {
        const bucket *b = &f->buckets[v];
        if (b->num > 0)
            memcpy(out->links + num, b->links, b->num * sizeof *b->links);
        num += b->num;
    }
    out->num = num;
    return status;
}

psfm_status psfm_plane_links_build(psfm_context *ctx, const psfm_pose_graph *graph,
                                   uint32_t min_overlap, psfm_plane_links *out) {
    finder f = {.graph = graph, .min_overlap = min_overlap < 1 ? 1 : min_overlap};
    uint32_t n = graph->num_nodes;
    int num_workers = psfm_parallel_workers(ctx, n);
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num_workers, &f.scratch);
    *out = (psfm_plane_links){0};
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &f.buckets);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, n, find_at_camera, &f);
    if (status == PSFM_OK)
        status = collect_links(ctx, &f, out);
    for (int k = 0; f.scratch != NULL && k < num_workers; ++k)
        psfm_camera_planes_free(&f.scratch[k]);
    for (uint32_t v = 0; f.buckets != NULL && v < n; ++v)
        free(f.buckets[v].links);
    free(f.scratch);
    free(f.buckets);
    return status;
}

void psfm_plane_links_free(psfm_plane_links *links) {
    free(links->links);
    *links = (psfm_plane_links){0};
}
