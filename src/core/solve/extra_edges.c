/* Candidates of pairs are judged by how usual their angle is; further edges are exempt from that.
 *
 * The consensus improves what it starts from, one image or one set of images at a time. Images that
 * pairs connect start as the spanning tree left them, in a frame of their own. So each connected
 * set is first turned as most of its edges to the world want it. */
#include "core/solve/extra_edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"

static uint32_t num_extra(const psfm_extra_edges *extra) {
    return extra == NULL ? 0 : extra->num_between + extra->num_to_world;
}

psfm_status psfm_extra_edges_init(psfm_context *ctx, uint32_t num_edges, uint32_t num_candidates,
                                  psfm_extra_edges *extra) {
    psfm_candidate_list *list = &extra->list;
    psfm_status status;
    *extra = (psfm_extra_edges){0};
    if ((status = PSFM_ALLOC(ctx, num_edges, &extra->node1)) ||
        (status = PSFM_ALLOC(ctx, num_edges, &extra->node2)) ||
        (status = PSFM_ALLOC(ctx, num_edges, &extra->chosen)) ||
        (status = PSFM_ALLOC(ctx, (size_t)num_edges + 1, &list->begin)) ||
        (status = PSFM_ALLOC(ctx, num_edges, &list->weight)) ||
        (status = PSFM_ALLOC(ctx, num_candidates, &list->R_21)) ||
        (status = PSFM_ALLOC(ctx, num_candidates, &list->confidence)) ||
        (status = PSFM_ALLOC(ctx, num_candidates, &list->sigma_rad)))
        return status;
    for (uint32_t e = 0; e < num_edges; ++e)
        extra->chosen[e] = UINT32_MAX;
    return PSFM_OK;
}

void psfm_extra_edges_free(psfm_extra_edges *extra) {
    free(extra->node1);
    free(extra->node2);
    free(extra->chosen);
    psfm_candidate_list_free(&extra->list);
    *extra = (psfm_extra_edges){0};
}

static void append_ends(const psfm_topology *pairs, const psfm_extra_edges *extra, uint32_t *node1,
                        uint32_t *node2) {
    uint32_t n = pairs->num_edges, num = num_extra(extra);
    memcpy(node1, pairs->node1, n * sizeof *node1);
    memcpy(node2, pairs->node2, n * sizeof *node2);
    for (uint32_t e = 0; e < num; ++e) {
        node1[n + e] = extra->node1[e];
        node2[n + e] = extra->node2[e];
    }
}

/* The candidates of one list behind those of another, which has num_edges edges so far. */
static void append_candidates(const psfm_candidate_list *from, uint32_t num, uint32_t num_edges,
                              psfm_candidate_list *to) {
    uint32_t first = to->begin[num_edges], n = from->begin[num];
    for (uint32_t e = 0; e < num; ++e) {
        to->begin[num_edges + e + 1] = first + from->begin[e + 1];
        to->weight[num_edges + e] = from->weight[e];
    }
    if (n == 0)
        return;
    memcpy(to->R_21 + first, from->R_21, n * sizeof *to->R_21);
    memcpy(to->confidence + first, from->confidence, n * sizeof *to->confidence);
    memcpy(to->sigma_rad + first, from->sigma_rad, n * sizeof *to->sigma_rad);
}

/* Pairs and further edges in one graph. */
static psfm_status join_edges(psfm_context *ctx, const psfm_topology *pairs,
                              const psfm_candidate_list *list, const psfm_extra_edges *extra,
                              psfm_extended_graph *g) {
    uint32_t n = pairs->num_edges, num_edges = n + num_extra(extra);
    size_t num = (size_t)list->begin[n] + extra->list.begin[num_edges - n];
    psfm_candidate_list *to = &g->list;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num_edges + 1, &to->begin)) ||
        (status = PSFM_ALLOC(ctx, num, &to->R_21)) ||
        (status = PSFM_ALLOC(ctx, num, &to->confidence)) ||
        (status = PSFM_ALLOC(ctx, num, &to->sigma_rad)) ||
        (status = PSFM_ALLOC(ctx, num_edges, &to->weight)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)num_edges, &g->ends)))
        return status;
    append_ends(pairs, extra, g->ends, g->ends + num_edges);
    append_candidates(list, n, 0, to);
    append_candidates(&extra->list, num_edges - n, n, to);
    g->topology = (psfm_topology){pairs->num_nodes + 1, num_edges, g->ends, g->ends + num_edges};
    g->num_between = extra->num_between;
    g->has_world = true;
    return PSFM_OK;
}

/* How many edges to the world agree if the world of a set of images is turned by G. */
static double count_agreeing(const psfm_extra_edges *extra, const uint32_t *set, uint32_t of,
                             const double G[9], double agreement, double (*R)[9]) {
    double sum = 0.0;
    for (uint32_t e = extra->num_between; e < num_extra(extra); ++e) {
        double turned[9], wanted[9], nearest = agreement;
        if (set[extra->node1[e]] != of)
            continue;
        psfm_mat3_mul(R[extra->node1[e]], G, turned);
        for (uint32_t k = extra->list.begin[e]; k < extra->list.begin[e + 1]; ++k) {
            psfm_mat3_transpose(extra->list.R_21[k], wanted);
            nearest = fmin(nearest, psfm_rotation_angle(turned, wanted));
        }
        sum += 1.0 - nearest / agreement;
    }
    return sum;
}

/* Turns each connected set of images as most of its edges to the world want it. */
static void turn_sets(const psfm_extra_edges *extra, const uint32_t *set, uint32_t num_sets,
                      uint32_t num_images, double agreement, double (*R)[9]) {
    for (uint32_t of = 0; of < num_sets; ++of) {
        double best[9], most = 0.0;
        for (uint32_t e = extra->num_between; e < num_extra(extra); ++e) {
            double as_found[9], G[9];
            if (set[extra->node1[e]] != of)
                continue;
            psfm_mat3_transpose(extra->list.R_21[extra->list.begin[e]], as_found);
            psfm_mat3_t_mul(R[extra->node1[e]], as_found, G);
            double sum = count_agreeing(extra, set, of, G, agreement, R);
            if (sum > most) {
                most = sum;
                memcpy(best, G, sizeof best);
            }
        }
        for (uint32_t v = 0; most > 0.0 && v < num_images; ++v) {
            double turned[9];
            psfm_mat3_mul(R[v], best, turned);
            if (set[v] == of)
                memcpy(R[v], turned, sizeof turned);
        }
    }
    psfm_mat3_identity(R[num_images]);
}

psfm_status psfm_extended_graph_make(psfm_context *ctx, const psfm_topology *topology,
                                     psfm_candidate_list *list, const psfm_extra_edges *extra,
                                     double agreement_deg, double (*cam_from_world)[9],
                                     psfm_extended_graph *graph) {
    uint32_t *set = NULL, num_sets = 0, n = topology->num_nodes;
    psfm_candidate_list pairs = *list;
    *list = (psfm_candidate_list){0};
    *graph = (psfm_extended_graph){.num_pairs = topology->num_edges, .topology = *topology};
    psfm_status status = PSFM_OK;
    if (extra == NULL)
        graph->list = pairs;
    else {
        status = join_edges(ctx, topology, &pairs, extra, graph);
        psfm_candidate_list_free(&pairs);
    }
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)n + 1, &graph->R);
    if (status != PSFM_OK)
        return status;
    memcpy(graph->R, cam_from_world, n * sizeof *graph->R);
    graph->candidates = psfm_candidate_list_view(&graph->list);
    if (extra == NULL)
        return PSFM_OK;
    graph->candidates.num_exempt = num_extra(extra);
    status = PSFM_ALLOC(ctx, n, &set);
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, topology, NULL, set, &num_sets);
    if (status == PSFM_OK)
        turn_sets(extra, set, num_sets, n, psfm_radians(agreement_deg), graph->R);
    free(set);
    return status;
}

void psfm_extended_graph_free(psfm_extended_graph *graph) {
    free(graph->ends);
    free(graph->R);
    psfm_candidate_list_free(&graph->list);
    *graph = (psfm_extended_graph){0};
}

void psfm_extended_graph_images(const psfm_extended_graph *graph, psfm_topology *topology,
                                psfm_rotation_candidates *candidates) {
    *topology = graph->topology;
    topology->num_nodes -= graph->has_world;
    topology->num_edges = graph->num_pairs + graph->num_between;
    *candidates = graph->candidates;
    candidates->num_exempt = graph->num_between;
}

void psfm_extended_graph_hand_out(const psfm_extended_graph *graph, const uint32_t *chosen,
                                  double (*cam_from_world)[9], psfm_extra_edges *extra) {
    const uint32_t n = graph->topology.num_nodes - graph->has_world;
    for (uint32_t v = 0; v < n; ++v) {
        if (graph->has_world)
            psfm_mat3_mul_t(graph->R[v], graph->R[n], cam_from_world[v]);
        else
            memcpy(cam_from_world[v], graph->R[v], sizeof *graph->R);
    }
    for (uint32_t k = 0; k < num_extra(extra); ++k) {
        const uint32_t e = graph->num_pairs + k;
        extra->chosen[k] = chosen[e] == UINT32_MAX ? UINT32_MAX : chosen[e] - graph->list.begin[e];
    }
}
