/* Physical planes from overlaps.
 *
 * Two homographies of different edges show one flat thing if they share many inlier keypoints of a
 * camera and their normals agree there. Such links are taken greedily, most shared keypoints
 * first, and united by union-find. A link that would put two homographies of one edge into one set
 * is left out: within an edge they are different planes. To find out, the smaller set is walked,
 * so that all unions together cost O(n log n) steps beside the sort of the links.
 *
 * A short baseline tells little of the normal: the error goes with 1 / |t|. Where several follow
 * each other, a plane would end there. So sets that overlap are compared once more, by the mean
 * normals that they have about the camera, weighted with the squares of the baselines. */
#include "core/posegraph/plane_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/plane_links.h"

/* Of what two homographies of one physical plane share in a camera: which part of the smaller one's
 * inliers, and how far apart their normals may be, which a weak baseline tells poorly. */
#define MIN_OVERLAP_SHARE 0.03
#define MAX_NORMAL_DEG 15.0

const psfm_hypothesis *psfm_plane_choice(const psfm_pose_graph *graph, uint32_t plane) {
    const psfm_hypothesis *best = NULL;
    const psfm_edge_plane *p = &graph->planes[plane];
    for (uint32_t h = p->hypothesis_begin; h < p->hypothesis_end; ++h)
        if (graph->hypotheses[h].weight > (best == NULL ? 0.0 : best->weight))
            best = &graph->hypotheses[h];
    return best;
}

/* Most shared keypoints first. */
static int by_overlap(const void *a, const void *b) {
    const psfm_plane_link *p = a, *q = b;
    if (p->overlap != q->overlap)
        return p->overlap > q->overlap ? -1 : 1;
    if (p->plane1 != q->plane1)
        return p->plane1 < q->plane1 ? -1 : 1;
    return p->plane2 < q->plane2 ? -1 : p->plane2 > q->plane2;
}

static bool is_usable(const psfm_pose_graph *graph, const bool *keep, uint32_t plane) {
    const psfm_hypothesis *choice = psfm_plane_choice(graph, plane);
    return (keep == NULL || keep[graph->planes[plane].edge]) && choice != NULL &&
           psfm_norm3(choice->motion.n1) > 0.0; /* rotations may have none */
}

static bool inliers_overlap(const psfm_pose_graph *graph, const psfm_plane_link *link) {
    uint32_t a = graph->planes[link->plane1].num_inliers;
    uint32_t b = graph->planes[link->plane2].num_inliers;
    return link->overlap >= MIN_OVERLAP_SHARE * (a < b ? a : b);
}

static bool normals_agree(const psfm_pose_graph *graph, const psfm_plane_link *link) {
    const double *n1 =
        psfm_hypothesis_normal(graph, psfm_plane_choice(graph, link->plane1), link->node);
    const double *n2 =
        psfm_hypothesis_normal(graph, psfm_plane_choice(graph, link->plane2), link->node);
    return psfm_degrees(psfm_angle3(n1, n2)) <= MAX_NORMAL_DEG;
}

/* The edges of a set as a list threaded through its planes: next[p], and the last of each set. */
typedef struct {
    uint32_t *parent, *next, *last, *size;
} sets;

/* Whether some edge has a plane in both sets. Walks the smaller set. */
static bool share_an_edge(const psfm_pose_graph *graph, sets *s, uint32_t a, uint32_t b) {
    uint32_t small = s->size[a] < s->size[b] ? a : b, large = small == a ? b : a;
    for (uint32_t p = small; p != UINT32_MAX; p = s->next[p]) {
        const psfm_edge *edge = &graph->edges[graph->planes[p].edge];
        for (uint32_t q = edge->plane_begin; q < edge->plane_end; ++q)
            if (psfm_sets_find(s->parent, q) == large)
                return true;
    }
    return false;
}

static void join_sets(sets *s, uint32_t a, uint32_t b) {
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    psfm_sets_unite(s->parent, a, b);
    s->next[s->last[root]] = other;
    s->last[root] = s->last[other];
    s->size[root] += s->size[other];
}

static psfm_status init_sets(psfm_context *ctx, uint32_t n, sets *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &s->parent)) || (status = PSFM_ALLOC(ctx, n, &s->next)) ||
        (status = PSFM_ALLOC(ctx, n, &s->last)) || (status = PSFM_ALLOC(ctx, n, &s->size)))
        return status;
    psfm_sets_init(s->parent, n);
    for (uint32_t p = 0; p < n; ++p) {
        s->next[p] = UINT32_MAX;
        s->last[p] = p;
        s->size[p] = 1;
    }
    return PSFM_OK;
}

/* The plane of an edge that is in a set; UINT32_MAX if none is. */
static uint32_t plane_in_set(const psfm_pose_graph *graph, const sets *s, uint32_t edge,
                             uint32_t set) {
    for (uint32_t p = graph->edges[edge].plane_begin; p < graph->edges[edge].plane_end; ++p)
        if (psfm_sets_find(s->parent, p) == set)
            return p;
    return UINT32_MAX;
}

/* Adds the normals, in the frame of `node`, that the set's planes of edges there have. */
static void add_normals(const psfm_pose_graph *graph, const sets *s, uint32_t set, uint32_t node,
                        double sum[3]) {
    for (size_t k = graph->incident.begin[node]; k < graph->incident.begin[node + 1]; ++k) {
        uint32_t p = plane_in_set(graph, s, graph->incident.edge[k], set);
        if (p == UINT32_MAX)
            continue;
        const psfm_hypothesis *h = psfm_plane_choice(graph, p);
        double weight = graph->planes[p].num_inliers * psfm_dot3(h->motion.t_21, h->motion.t_21);
        psfm_axpy3(sum, weight, psfm_hypothesis_normal(graph, h, node), sum);
    }
}

/* The normal of a set at a node, by the edges there and at its neighbours. */
static void normal_of_set(const psfm_pose_graph *graph, const sets *s, uint32_t set, uint32_t node,
                          double sum[3]) {
    memset(sum, 0, 3 * sizeof *sum);
    add_normals(graph, s, set, node, sum);
    for (size_t k = graph->incident.begin[node]; k < graph->incident.begin[node + 1]; ++k) {
        const psfm_edge *edge = &graph->edges[graph->incident.edge[k]];
        uint32_t p = plane_in_set(graph, s, graph->incident.edge[k], set);
        double there[3] = {0}, here[3];
        if (p == UINT32_MAX)
            continue;
        const double *R_21 = psfm_plane_choice(graph, p)->motion.R_21;
        add_normals(graph, s, set, edge->node1 == node ? edge->node2 : edge->node1, there);
        if (edge->node1 == node)
            psfm_mat3_tmul_vec(R_21, there, here);
        else
            psfm_mat3_mul_vec(R_21, there, here);
        psfm_axpy3(sum, 1.0, here, sum);
    }
}

/* Whether two sets that a link joins agree in their normals about its camera. */
static bool sets_agree(const psfm_pose_graph *graph, const sets *s, const psfm_plane_link *link) {
    double n1[3], n2[3];
    normal_of_set(graph, s, psfm_sets_find(s->parent, link->plane1), link->node, n1);
    normal_of_set(graph, s, psfm_sets_find(s->parent, link->plane2), link->node, n2);
    return psfm_norm3(n1) > 0.0 && psfm_norm3(n2) > 0.0 &&
           psfm_degrees(psfm_angle3(n1, n2)) <= MAX_NORMAL_DEG;
}

/* Whether a link joins sets a and b: the cheap questions first. */
static bool joins_sets(const psfm_pose_graph *graph, sets *s, const psfm_plane_link *link,
                       bool by_sets, uint32_t a, uint32_t b) {
    if (a == b || (!by_sets && !normals_agree(graph, link)) || share_an_edge(graph, s, a, b))
        return false;
    return !by_sets || sets_agree(graph, s, link);
}

/* Takes the links, most shared keypoints first, by the normals of the planes or of their sets. */
static void take_links(const psfm_pose_graph *graph, const bool *keep,
                       const psfm_plane_links *links, bool by_sets, sets *s) {
    for (size_t k = 0; k < links->num; ++k) {
        const psfm_plane_link *link = &links->links[k];
        if (!is_usable(graph, keep, link->plane1) || !is_usable(graph, keep, link->plane2) ||
            !inliers_overlap(graph, link))
            continue;
        uint32_t a = psfm_sets_find(s->parent, link->plane1);
        uint32_t b = psfm_sets_find(s->parent, link->plane2);
        if (joins_sets(graph, s, link, by_sets, a, b))
            join_sets(s, a, b);
    }
}

typedef struct {
    uint64_t inliers;
    uint32_t root;
} group;

static int by_inliers(const void *a, const void *b) {
    const group *p = a, *q = b;
    if (p->inliers != q->inliers)
        return p->inliers > q->inliers ? -1 : 1;
    return p->root < q->root ? -1 : p->root > q->root;
}

/* Numbers the sets of usable planes by decreasing inliers. */
static psfm_status number_groups(psfm_context *ctx, const psfm_pose_graph *graph, const bool *keep,
                                 sets *s, psfm_plane_groups *out) {
    uint32_t n = graph->num_planes;
    group *groups = NULL;
    uint32_t *label = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &groups)) || (status = PSFM_ALLOC(ctx, n, &label)) ||
        (status = PSFM_ALLOC(ctx, n, &out->group)))
        goto cleanup;
    for (uint32_t p = 0; p < n; ++p) {
        if (psfm_sets_find(s->parent, p) != p || !is_usable(graph, keep, p))
            continue;
        group *g = &groups[out->num_groups++];
        g->root = p;
        for (uint32_t q = p; q != UINT32_MAX; q = s->next[q])
            g->inliers += graph->planes[q].num_inliers;
    }
    qsort(groups, out->num_groups, sizeof *groups, by_inliers);
    for (uint32_t k = 0; k < out->num_groups; ++k)
        label[groups[k].root] = k;
    for (uint32_t p = 0; p < n; ++p)
        out->group[p] =
            is_usable(graph, keep, p) ? label[psfm_sets_find(s->parent, p)] : UINT32_MAX;

cleanup:
    free(groups);
    free(label);
    return status;
}

psfm_status psfm_plane_groups_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                   const bool *keep, psfm_plane_groups *out) {
    psfm_plane_links links = {0};
    sets s = {0};
    *out = (psfm_plane_groups){0};
    psfm_status status = psfm_plane_links_build(ctx, graph, PSFM_PLANE_MIN_OVERLAP, &links);
    if (status == PSFM_OK)
        status = init_sets(ctx, graph->num_planes, &s);
    if (status != PSFM_OK)
        goto cleanup;
    qsort(links.links, links.num, sizeof *links.links, by_overlap);
    take_links(graph, keep, &links, false, &s);
    take_links(graph, keep, &links, true, &s);
    status = number_groups(ctx, graph, keep, &s, out);

cleanup:
    psfm_plane_links_free(&links);
    free(s.parent);
    free(s.next);
    free(s.last);
    free(s.size);
    if (status != PSFM_OK)
        psfm_plane_groups_free(out);
    return status;
}

void psfm_plane_groups_free(psfm_plane_groups *groups) {
    free(groups->group);
    *groups = (psfm_plane_groups){0};
}
