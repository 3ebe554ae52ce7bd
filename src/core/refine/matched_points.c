/* Images without a pose, by the points that their matches lead to: match, keypoint of the other
 * image, its track, its point. Points of the component that most matches lead to are used, and the
 * pose is found by resection (core/structure/resection.c). */
#include "core/refine/matched_points.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "core/matches/canonical_order.h"

/* Lists the pairs of each view. */
static psfm_status index_pairs(psfm_context *ctx, psfm_point_views *l) {
    const psfm_match_set *set = l->set;
    size_t num = set->num_pairs;
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * num, &ends);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < num; ++p) {
        ends[p] = set->pairs[p].view1;
        ends[num + p] = set->pairs[p].view2;
    }
    psfm_topology topology = {(uint32_t)set->num_views, (uint32_t)num, ends, ends + num};
    status = psfm_adjacency_init(ctx, &topology, NULL, (uint32_t)num, &l->pairs);
    free(ends);
    return status;
}

psfm_status psfm_point_views_init(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_structure *structure, const psfm_poses *poses,
                                  psfm_point_views *out) {
    psfm_point_views l = {.set = set, .structure = structure};
    psfm_status status = PSFM_ALLOC(ctx, set->num_views + 1, &l.keypoint_begin);
    if (status != PSFM_OK)
        return status;
    for (size_t v = 0; v < set->num_views; ++v)
        l.keypoint_begin[v + 1] = l.keypoint_begin[v] + set->views[v].num_keypoints;
    size_t total = l.keypoint_begin[set->num_views];
    status = PSFM_ALLOC(ctx, total, &l.point_of_keypoint);
    if (status == PSFM_OK)
        status = index_pairs(ctx, &l);
    if (status != PSFM_OK) {
        psfm_point_views_free(&l);
        return status;
    }
    for (size_t k = 0; k < total; ++k)
        l.point_of_keypoint[k] = UINT32_MAX;
    const psfm_tracks *tracks = &structure->tracks;
    for (size_t p = 0; p < structure->num_points; ++p)
        for (size_t k = tracks->begin[p]; k < tracks->begin[p + 1]; ++k)
            if (psfm_has_pose(poses, tracks->view[k]))
                l.point_of_keypoint[l.keypoint_begin[tracks->view[k]] + tracks->keypoint[k]] =
                    (uint32_t)p;
    *out = l;
    return PSFM_OK;
}

/* Leaves one lead of those that say the same: several pairs do so of a point that several images
 * see, and that is evidence only once. */
static size_t drop_repeats(psfm_lead *leads, size_t num) {
    size_t kept = 0;
    if (num == 0)
        return 0;
    qsort(leads, num, sizeof *leads, psfm_compare_u32_pair);
    for (size_t k = 0; k < num; ++k)
        if (kept == 0 || psfm_compare_u32_pair(&leads[k], &leads[kept - 1]) != 0)
            leads[kept++] = leads[k];
    return kept;
}

psfm_status psfm_point_views_leads(psfm_context *ctx, const psfm_point_views *l, uint32_t v,
                                   psfm_lead **leads, size_t *num) {
    size_t capacity = 0, found = 0;
    const uint32_t *pairs = psfm_adjacency_at(&l->pairs, v);
    for (uint32_t k = 0; k < psfm_adjacency_degree(&l->pairs, v); ++k) {
        const psfm_match_pair *pair = &l->set->pairs[pairs[k]];
        int side = pair->view1 == v ? 0 : 1;
        uint32_t other = side == 0 ? pair->view2 : pair->view1;
        psfm_status status = PSFM_RESERVE(ctx, leads, &capacity, found + pair->num_matches);
        if (status != PSFM_OK)
            return status;
        for (size_t m = 0; m < pair->num_matches; ++m) {
            uint32_t point =
                l->point_of_keypoint[l->keypoint_begin[other] + pair->matches[m][1 - side]];
            if (point != UINT32_MAX)
                (*leads)[found++] = (psfm_lead){pair->matches[m][side], point};
        }
    }
    *num = drop_repeats(*leads, found);
    return PSFM_OK;
}

/* The component that most leads end in; the lowest on ties. */
static uint32_t largest_component(const uint32_t *component, const psfm_lead *leads, size_t num) {
    uint32_t best = PSFM_NO_COMPONENT;
    size_t best_count = 0;
    for (size_t k = 0; k < num; ++k) {
        uint32_t own = component[leads[k].point];
        size_t count = 0;
        if (own == best)
            continue;
        for (size_t m = 0; m < num; ++m)
            count += component[leads[m].point] == own;
        if (count > best_count || (count == best_count && own < best)) {
            best_count = count;
            best = own;
        }
    }
    return best;
}

psfm_status psfm_point_views_resect(psfm_context *ctx, const psfm_point_views *links, uint32_t v,
                                    const psfm_resection_options *options, psfm_resection *pose,
                                    uint32_t *component) {
    psfm_lead *leads = NULL;
    size_t num = 0, kept = 0;
    double(*xy)[2] = NULL, (*X)[3] = NULL;
    *pose = (psfm_resection){0};
    psfm_status status = psfm_point_views_leads(ctx, links, v, &leads, &num);
    if (status != PSFM_OK || num < (size_t)options->min_inliers)
        goto cleanup;
    if ((status = PSFM_ALLOC(ctx, num, &xy)) || (status = PSFM_ALLOC(ctx, num, &X)))
        goto cleanup;
    const psfm_structure *st = links->structure;
    const psfm_view *view = &links->set->views[v];
    *component = largest_component(st->component, leads, num);
    for (size_t k = 0; k < num; ++k) {
        if (st->component[leads[k].point] != *component)
            continue;
        memcpy(xy[kept], view->keypoints[leads[k].keypoint], sizeof *xy);
        memcpy(X[kept++], st->points[leads[k].point], sizeof *X);
    }
    psfm_seen_points seen = {&links->set->cameras[view->camera_idx], kept, (const double(*)[2])xy,
                             (const double(*)[3])X};
    status = psfm_resection_estimate(ctx, &seen, psfm_view_stream(view), options, pose, NULL);

cleanup:
    free(leads);
    free(xy);
    free(X);
    return status;
}

void psfm_point_views_free(psfm_point_views *links) {
    free(links->keypoint_begin);
    free(links->point_of_keypoint);
    psfm_adjacency_free(&links->pairs);
    *links = (psfm_point_views){0};
}
