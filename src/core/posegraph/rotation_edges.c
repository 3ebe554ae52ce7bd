/* Planes in what rotations show, and the cameras that they put in one place.
 *
 * A rotation is the same homography for all planes, H = R, so that it knows no normal, and its
 * inliers are of anything. But what it shows are things that other pairs have seen: a plane of
 * another edge at camera 1 with the normal n there is seen from camera 2 with the normal R n, from
 * the same distance. So a rotation takes the plane that it shares most keypoints with, keeps the
 * matches of these, and passes it on to the next rotation: in rounds, so that of several ways the
 * one with fewest rotations counts. Only points that are on the plane pass it on; a camera that
 * turns away from the plane loses it. O(rounds * links at rotations + their inliers), of which
 * there is one round for each rotation in a row. */
#include "core/posegraph/rotation_edges.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/posegraph/plane_links.h"

typedef struct {
    psfm_pose_graph *graph;
    const bool *keep;
    uint32_t min_overlap;
    psfm_plane_links links; /* those by which a plane may still be taken */
    psfm_plane_link *taken; /* per plane: the link it is taken by in this round; overlap 0: none */
} search;

static bool is_rotation(const psfm_pose_graph *graph, uint32_t plane) {
    return graph->edges[graph->planes[plane].edge].is_rotation;
}

/* Its hypothesis in use; NULL if none is. */
static const psfm_hypothesis *chosen_hypothesis(const search *s, uint32_t plane) {
    return s->keep[s->graph->planes[plane].edge] ? psfm_plane_choice(s->graph, plane) : NULL;
}

static bool has_normal(const search *s, uint32_t plane) {
    return psfm_norm3(chosen_hypothesis(s, plane)->motion.n1) > 0.0;
}

static const uint32_t *keypoints_at(const psfm_pose_graph *graph, uint32_t plane, uint32_t node) {
    const psfm_edge_plane *p = &graph->planes[plane];
    return graph->edges[p->edge].node1 == node ? p->keypoints1 : p->keypoints2;
}

/* Keypoints that the two planes have now: rotations have lost some since the links were made. */
static uint32_t count_shared(const search *s, const psfm_plane_link *link) {
    const uint32_t *a = keypoints_at(s->graph, link->plane1, link->node);
    const uint32_t *b = keypoints_at(s->graph, link->plane2, link->node);
    uint32_t num_a = s->graph->planes[link->plane1].num_inliers;
    uint32_t num_b = s->graph->planes[link->plane2].num_inliers, shared = 0;
    for (uint32_t i = 0, k = 0; i < num_a && k < num_b;) {
        shared += a[i] == b[k];
        if (a[i] < b[k])
            ++i;
        else
            ++k;
    }
    return shared;
}

/* Notes for each rotation without a plane the link with most keypoints to one. Drops the links that
 * are of no more use. */
static bool find_planes(search *s) {
    size_t kept = 0;
    bool any = false;
    for (size_t k = 0; k < s->links.num; ++k) {
        psfm_plane_link link = s->links.links[k];
        if (chosen_hypothesis(s, link.plane1) == NULL || chosen_hypothesis(s, link.plane2) == NULL)
            continue;
        bool first = has_normal(s, link.plane1), second = has_normal(s, link.plane2);
        if (!first && !second)
            s->links.links[kept++] = link;
        if (first == second)
            continue;
        link.overlap = count_shared(s, &link);
        psfm_plane_link *taken = &s->taken[first ? link.plane2 : link.plane1];
        if (link.overlap >= s->min_overlap && link.overlap > taken->overlap) {
            *taken = link;
            any = true;
        }
    }
    s->links.num = kept;
    return any;
}

/* Of the matches of a rotation those whose keypoints the other plane has at the node. */
static psfm_status keep_shared(psfm_context *ctx, search *s, uint32_t plane, uint32_t from,
                               uint32_t node) {
    psfm_edge_plane *p = &s->graph->planes[plane];
    const uint32_t *other = keypoints_at(s->graph, from, node);
    uint32_t num = s->graph->planes[from].num_inliers, kept = 0, *sorted = NULL;
    bool at_first = s->graph->edges[p->edge].node1 == node;
    psfm_status status = PSFM_ALLOC(ctx, p->num_inliers, &sorted);
    if (status != PSFM_OK)
        return status;
    for (uint32_t k = 0; k < p->num_inliers; ++k) {
        const uint32_t *own = at_first ? &p->keypoints1[k] : &p->partner[k];
        if (bsearch(own, other, num, sizeof *other, psfm_compare_u32) == NULL)
            continue;
        p->keypoints1[kept] = p->keypoints1[k];
        sorted[kept] = p->partner[kept] = p->partner[k];
        ++kept;
    }
    qsort(sorted, kept, sizeof *sorted, psfm_compare_u32);
    free(p->keypoints2);
    p->keypoints2 = sorted;
    p->num_inliers = kept;
    return PSFM_OK;
}

static psfm_status take_plane(psfm_context *ctx, search *s, uint32_t plane) {
    const psfm_plane_link *link = &s->taken[plane];
    uint32_t from = link->plane1 == plane ? link->plane2 : link->plane1;
    const double *n = psfm_hypothesis_normal(s->graph, chosen_hypothesis(s, from), link->node);
    psfm_hypothesis *h = &s->graph->hypotheses[chosen_hypothesis(s, plane) - s->graph->hypotheses];
    if (s->graph->edges[h->edge].node1 == link->node) {
        memcpy(h->motion.n1, n, sizeof h->motion.n1);
        psfm_mat3_mul_vec(h->motion.R_21, n, h->motion.n2);
    } else {
        memcpy(h->motion.n2, n, sizeof h->motion.n2);
        psfm_mat3_tmul_vec(h->motion.R_21, n, h->motion.n1);
    }
    return keep_shared(ctx, s, plane, from, link->node);
}

static psfm_status take_planes(psfm_context *ctx, search *s) {
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && find_planes(s))
        for (uint32_t p = 0; status == PSFM_OK && p < s->graph->num_planes; ++p)
            if (s->taken[p].overlap > 0) {
                status = take_plane(ctx, s, p);
                s->taken[p].overlap = 0;
            }
    return status;
}

psfm_status psfm_rotation_edges_find_planes(psfm_context *ctx, const bool *keep,
                                            uint32_t min_overlap, psfm_pose_graph *graph) {
    search s = {.graph = graph, .keep = keep, .min_overlap = min_overlap};
    uint32_t num = 0;
    for (uint32_t p = 0; p < graph->num_planes; ++p)
        num += is_rotation(graph, p) && chosen_hypothesis(&s, p) != NULL;
    if (num == 0)
        return PSFM_OK;
    psfm_status status = psfm_plane_links_build(ctx, graph, min_overlap, &s.links);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_planes, &s.taken);
    if (status == PSFM_OK)
        status = take_planes(ctx, &s);
    psfm_plane_links_free(&s.links);
    free(s.taken);
    return status;
}

/* Parts that others connect are joined by one rotation each, so that no two nodes of a part come
 * into one place. */
psfm_status psfm_rotation_edges_join(psfm_context *ctx, const psfm_pose_graph *graph,
                                     const bool *keep, uint32_t *label) {
    uint32_t *part = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &part);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(part, graph->num_nodes);
    psfm_sets_init(label, graph->num_nodes);
    for (int rotates = 0; rotates < 2; ++rotates) {
        for (uint32_t e = 0; e < graph->num_edges; ++e) {
            const psfm_edge *edge = &graph->edges[e];
            if (edge->is_rotation != rotates || (keep != NULL && !keep[e]))
                continue;
            if (psfm_sets_unite(part, edge->node1, edge->node2) && rotates)
                psfm_sets_unite(label, edge->node1, edge->node2);
        }
    }
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        label[v] = psfm_sets_find(label, v);
    free(part);
    return PSFM_OK;
}
