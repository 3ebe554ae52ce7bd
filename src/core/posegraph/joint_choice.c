/* Joint choice of hypotheses by relaxation.
 *
 * Variables: per plane (homography) of an edge, which of its one or two decompositions p is true.
 * Evidence between two planes a, b:
 *   - of different edges that meet in a camera s, with O >= 3 keypoints of s inliers of
 *     both: they are one physical plane there, so that the normals agree,
 *       m_pq = exp(-(angle(n_p, n_q) / bandwidth)^2), strength min(1, O / 20);
 *   - of the same edge: the cameras moved once, so that rotations and directions agree,
 *       m_pq = exp(-(angle(R_p, R_q)^2 + angle(t_p, t_q)^2) / bandwidth^2), strength 1.
 * Evidence of one plane alone: the essential matrix of its edge, in proportion to the inliers of
 * it that no plane explains, since on a plane it has the same ambiguity.
 *
 * Belief b_p = softmax(log e_p + sum over links of strength * log(floor + sum_q m_pq b_q)),
 * iterated with damping from equal beliefs: mean-field-like relaxation (Rosenfeld, Hummel and
 * Zucker). The floor keeps one contradicting link, say to a falsely matched image, from deciding
 * alone. */
#include "core/posegraph/joint_choice.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/plane_links.h"

#define NORMAL_BANDWIDTH_DEG 5.0 /* at which the agreement of two normals is 1/e: their noise */
#define ROTATION_BANDWIDTH_DEG                                                    \
    5.0            /* the same of planes of one pair, and of the essential matrix \
                    */
#define FLOOR 0.05 /* evidence that a contradiction leaves */

enum {
    MIN_OVERLAP = 3,   /* shared keypoints below which two homographies are not compared */
    FULL_OVERLAP = 20, /* from which a comparison counts in full */
    ITERATIONS = 40,   /* of the relaxation; half of a step is damping */
};

/* A link as seen from plane `to`: agreement[2 * p + q] of its decomposition p with the other's q.
 */
typedef struct {
    uint32_t other; /* plane */
    double strength;
    double agreement[4];
} link;

typedef struct {
    const psfm_pose_graph *graph;
    size_t *link_begin; /* per plane */
    link *links;
    double *prior; /* per hypothesis: log e */
    double *belief, *next;
} relaxation;

static double gauss_kernel(double x) {
    return exp(-x * x);
}

/* Angle between two translations; 0 if one is too short to have a direction. */
static double direction_angle(const double a[3], const double b[3]) {
    const double shortest = 1e-3; /* of the plane's distance */
    if (psfm_norm3(a) < shortest || psfm_norm3(b) < shortest)
        return 0.0;
    return psfm_angle3(a, b);
}

static void fill_agreement(const relaxation *r, uint32_t a, uint32_t b, uint32_t node,
                           double agreement[4]) {
    const psfm_pose_graph *g = r->graph;
    const psfm_edge_plane *A = &g->planes[a], *B = &g->planes[b];
    for (uint32_t p = A->hypothesis_begin; p < A->hypothesis_end; ++p) {
        for (uint32_t q = B->hypothesis_begin; q < B->hypothesis_end; ++q) {
            const psfm_hypothesis *h = &g->hypotheses[p], *k = &g->hypotheses[q];
            double value;
            if (A->edge == B->edge) {
                double rotation = psfm_rotation_angle(h->motion.R_21, k->motion.R_21);
                double direction = direction_angle(h->motion.t_21, k->motion.t_21);
                value =
                    gauss_kernel(hypot(rotation, direction) / psfm_radians(ROTATION_BANDWIDTH_DEG));
            } else {
                value = gauss_kernel(psfm_angle3(psfm_hypothesis_normal(g, h, node),
                                                 psfm_hypothesis_normal(g, k, node)) /
                                     psfm_radians(NORMAL_BANDWIDTH_DEG));
            }
            agreement[2 * (p - A->hypothesis_begin) + (q - B->hypothesis_begin)] = value;
        }
    }
}

/* Stores a link on both its planes; `fill` holds the next free slot of each plane. */
static void add_link(relaxation *r, size_t *fill, uint32_t a, uint32_t b, uint32_t node,
                     double strength) {
    link *ab = &r->links[fill[a]++], *ba = &r->links[fill[b]++];
    *ab = (link){.other = b, .strength = strength};
    fill_agreement(r, a, b, node, ab->agreement);
    *ba = (link){.other = a, .strength = strength};
    for (int p = 0; p < 2; ++p)
        for (int q = 0; q < 2; ++q)
            ba->agreement[2 * q + p] = ab->agreement[2 * p + q];
}

/* Counts (links == NULL) or stores all links: between edges, and between planes of one edge. */
static void visit_links(relaxation *r, const psfm_plane_links *found, size_t *slot) {
    for (size_t k = 0; k < found->num; ++k) {
        const psfm_plane_link *l = &found->links[k];
        double strength = fmin(1.0, l->overlap / (double)FULL_OVERLAP);
        if (r->links == NULL)
            ++slot[l->plane1 + 1], ++slot[l->plane2 + 1];
        else
            add_link(r, slot, l->plane1, l->plane2, l->node, strength);
    }
    for (uint32_t e = 0; e < r->graph->num_edges; ++e) {
        const psfm_edge *edge = &r->graph->edges[e];
        for (uint32_t a = edge->plane_begin; a < edge->plane_end; ++a) {
            for (uint32_t b = a + 1; b < edge->plane_end; ++b) {
                if (r->links == NULL)
                    ++slot[a + 1], ++slot[b + 1];
                else
                    add_link(r, slot, a, b, edge->node1, 1.0);
            }
        }
    }
}

static psfm_status build_links(psfm_context *ctx, relaxation *r) {
    psfm_plane_links found = {0};
    size_t n = r->graph->num_planes, *fill = NULL;
    psfm_status status = psfm_plane_links_build(ctx, r->graph, MIN_OVERLAP, &found);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n + 1, &r->link_begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n + 1, &fill);
    if (status != PSFM_OK)
        goto cleanup;
    visit_links(r, &found, r->link_begin);
    for (size_t p = 0; p < n; ++p)
        r->link_begin[p + 1] += r->link_begin[p];
    memcpy(fill, r->link_begin, (n + 1) * sizeof *fill);
    status = PSFM_ALLOC(ctx, r->link_begin[n], &r->links);
    if (status == PSFM_OK)
        visit_links(r, &found, fill);

cleanup:
    free(fill);
    psfm_plane_links_free(&found);
    return status;
}

/* log e of each hypothesis: the essential matrix, as far as its off-plane inliers support it. */
static void fill_priors(relaxation *r) {
    const psfm_pose_graph *g = r->graph;
    for (uint32_t k = 0; k < g->num_hypotheses; ++k) {
        const psfm_edge *edge = &g->edges[g->hypotheses[k].edge];
        if (!edge->has_essential)
            continue;
        double off_plane = edge->essential_inliers * (1.0 - edge->essential_plane_share);
        double strength = fmin(1.0, off_plane / PSFM_FULL_OFF_PLANE);
        double angle = psfm_rotation_angle(g->hypotheses[k].motion.R_21, edge->essential_R_21);
        double agreement = gauss_kernel(angle / psfm_radians(ROTATION_BANDWIDTH_DEG));
        r->prior[k] = strength * log(FLOOR + agreement);
    }
}

/* New belief of the decompositions of one plane. */
static psfm_status update_plane(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const relaxation *r = user;
    const psfm_edge_plane *plane = &r->graph->planes[index];
    uint32_t first = plane->hypothesis_begin, num = plane->hypothesis_end - first;
    double score[2] = {0.0, -INFINITY};
    for (uint32_t p = 0; p < num; ++p)
        score[p] = r->prior[first + p];
    for (size_t k = r->link_begin[index]; k < r->link_begin[index + 1]; ++k) {
        const link *l = &r->links[k];
        const psfm_edge_plane *other = &r->graph->planes[l->other];
        for (uint32_t p = 0; p < num; ++p) {
            double support = 0.0;
            for (uint32_t q = other->hypothesis_begin; q < other->hypothesis_end; ++q)
                support += l->agreement[2 * p + (q - other->hypothesis_begin)] * r->belief[q];
            score[p] += l->strength * log(FLOOR + support);
        }
    }
    double top = fmax(score[0], score[1]), sum = 0.0;
    for (uint32_t p = 0; p < num; ++p)
        sum += exp(score[p] - top);
    for (uint32_t p = 0; p < num; ++p)
        r->next[first + p] = 0.5 * r->belief[first + p] + 0.5 * exp(score[p] - top) / sum;
    return PSFM_OK;
}

static psfm_status relax_beliefs(psfm_context *ctx, relaxation *r) {
    const psfm_pose_graph *g = r->graph;
    psfm_status status = PSFM_OK;
    for (uint32_t p = 0; p < g->num_planes; ++p)
        for (uint32_t h = g->planes[p].hypothesis_begin; h < g->planes[p].hypothesis_end; ++h)
            r->belief[h] = 1.0 / (g->planes[p].hypothesis_end - g->planes[p].hypothesis_begin);
    for (int k = 0; status == PSFM_OK && k < ITERATIONS; ++k) {
        status = psfm_parallel_for(ctx, NULL, g->num_planes, update_plane, r);
        double *swap = r->belief;
        r->belief = r->next;
        r->next = swap;
    }
    return status;
}

/* Never quite 0, so that an edge of empty planes still has its choice. */
static double inliers_of(const psfm_edge_plane *plane) {
    return fmax(plane->num_inliers, DBL_MIN);
}

static void set_weights(const relaxation *r, psfm_pose_graph *graph) {
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        double inliers = 0.0;
        for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
            inliers += inliers_of(&graph->planes[p]);
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h) {
            psfm_hypothesis *hypothesis = &graph->hypotheses[h];
            hypothesis->weight =
                r->belief[h] * inliers_of(&graph->planes[hypothesis->plane]) / inliers;
        }
    }
}

psfm_status psfm_joint_choice(psfm_context *ctx, psfm_pose_graph *graph, double *confidence) {
    relaxation r = {.graph = graph};
    size_t n = graph->num_hypotheses;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &r.prior)) || (status = PSFM_ALLOC(ctx, n, &r.belief)) ||
        (status = PSFM_ALLOC(ctx, n, &r.next)) || (status = build_links(ctx, &r)))
        goto cleanup;
    fill_priors(&r);
    status = relax_beliefs(ctx, &r);
    if (status == PSFM_OK) {
        set_weights(&r, graph);
        if (confidence != NULL)
            memcpy(confidence, r.belief, n * sizeof *confidence);
    }

cleanup:
    free(r.link_begin);
    free(r.links);
    free(r.prior);
    free(r.belief);
    free(r.next);
    return status;
}
