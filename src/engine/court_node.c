/* A registration is an edge between an image and the drawing. Of a court that looks the same after
 * half a turn it has two candidates, and which of them is true shows only in how images go
 * together: by the pairs between them, and by their floors. So all of it is one consensus (see
 * pose/rotation_consensus.h): pairs that contradict registrations lose against them and the other
 * way round, images without matches are held by the drawing, and pairs that were matched to the
 * court's twin are outvoted by floors.
 *
 * Candidates of pairs are judged by how usual their angle is; these edges are not. */
#include "engine/court_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "court/turns.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

#define REGISTERED 2.0   /* weight of a registration, in pairs with the median of the inliers */
#define FLOOR 0.5        /* weight of two floors that clearly go together one way */
#define CLEAR_MARGIN 0.1 /* of their likeness */

static void turned_rotation(const psfm_court_evidence *court, uint32_t view, int quarters,
                            double R[9]) {
    double center[3];
    psfm_turn_pose(court->middle, quarters, court->poses[view].R, court->poses[view].center, R,
                   center);
}

static uint32_t count_registered(const psfm_court_evidence *court) {
    uint32_t num = 0;
    for (uint32_t v = 0; v < court->num_views; ++v)
        num += psfm_court_accepts(court, v);
    return num;
}

static bool is_useful(const psfm_court_evidence *court, const psfm_turn_link *link) {
    return link->margin > 0.0 && psfm_court_accepts(court, link->view1) &&
           psfm_court_accepts(court, link->view2);
}

/* Adds a candidate of edge e, the last one so far. */
static void add_candidate(psfm_court_graph *g, uint32_t e, const double R_21[9],
                          double confidence) {
    uint32_t at = g->list.begin[e + 1]++;
    memcpy(g->list.R_21[at], R_21, sizeof *g->list.R_21);
    g->list.confidence[at] = confidence;
}

static uint32_t add_edge(psfm_court_graph *g, uint32_t e, uint32_t node1, uint32_t node2,
                         double weight) {
    g->ends[e] = node1;
    g->ends[g->topology.num_edges + e] = node2;
    g->list.weight[e] = weight;
    g->list.begin[e + 1] = g->list.begin[e];
    return e;
}

/* Two floors are one edge with one candidate: the turn under which they are most alike. */
static void add_links(const psfm_court_evidence *court, uint32_t *next, psfm_court_graph *g) {
    for (size_t k = 0; k < court->num_links; ++k) {
        const psfm_turn_link *link = &court->links[k];
        double R1[9], R2[9], R_21[9];
        if (!is_useful(court, link))
            continue;
        turned_rotation(court, link->view1, 0, R1);
        turned_rotation(court, link->view2, link->quarters, R2);
        psfm_mat3_mul_t(R2, R1, R_21);
        uint32_t e = add_edge(g, (*next)++, link->view1, link->view2, FLOOR);
        add_candidate(g, e, R_21, fmin(link->margin / CLEAR_MARGIN, 1.0));
        ++g->num_links;
    }
}

static void add_registrations(const psfm_court_evidence *court, uint32_t *next,
                              psfm_court_graph *g) {
    for (uint32_t v = 0; v < court->num_views; ++v) {
        if (!psfm_court_accepts(court, v))
            continue;
        uint32_t e = add_edge(g, (*next)++, v, court->num_views, REGISTERED);
        for (int t = 0; t < court->num_turns; ++t) {
            double R[9], back[9];
            turned_rotation(court, v, court->turns[t], R);
            psfm_mat3_transpose(R, back);
            add_candidate(g, e, back, 1.0);
        }
        ++g->num_registered;
    }
}

/* Grows the candidates of the pairs by room for the others. */
static psfm_status grow(psfm_context *ctx, const psfm_topology *pairs, psfm_candidate_list *list,
                        uint32_t num_edges, uint32_t num_candidates, psfm_court_graph *g) {
    uint32_t n = pairs->num_edges, num = list->begin[n];
    psfm_candidate_list *to = &g->list;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num_edges + 1, &to->begin)) ||
        (status = PSFM_ALLOC(ctx, num + num_candidates, &to->R_21)) ||
        (status = PSFM_ALLOC(ctx, num + num_candidates, &to->confidence)) ||
        (status = PSFM_ALLOC(ctx, num + num_candidates, &to->sigma_rad)) ||
        (status = PSFM_ALLOC(ctx, num_edges, &to->weight)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)num_edges, &g->ends)) ||
        (status = PSFM_ALLOC(ctx, (size_t)pairs->num_nodes + 1, &g->R)))
        return status;
    memcpy(to->begin, list->begin, ((size_t)n + 1) * sizeof *to->begin);
    memcpy(to->R_21, list->R_21, num * sizeof *to->R_21);
    memcpy(to->confidence, list->confidence, num * sizeof *to->confidence);
    memcpy(to->sigma_rad, list->sigma_rad, num * sizeof *to->sigma_rad);
    memcpy(to->weight, list->weight, n * sizeof *to->weight);
    memcpy(g->ends, pairs->node1, n * sizeof *g->ends);
    memcpy(g->ends + num_edges, pairs->node2, n * sizeof *g->ends);
    g->topology = (psfm_topology){pairs->num_nodes + 1, num_edges, g->ends, g->ends + num_edges};
    g->num_pairs = n;
    psfm_candidate_list_free(list);
    return PSFM_OK;
}

/* How many registrations of a set of images agree if its world is turned by G. */
static double count_agreeing(const psfm_court_evidence *court, const uint32_t *set, uint32_t of,
                             const double G[9], double agreement, double (*R)[9]) {
    double sum = 0.0;
    for (uint32_t v = 0; v < court->num_views; ++v) {
        double turned[9], wanted[9], nearest = agreement;
        if (set[v] != of || !psfm_court_accepts(court, v))
            continue;
        psfm_mat3_mul(R[v], G, turned);
        for (int t = 0; t < court->num_turns; ++t) {
            turned_rotation(court, v, court->turns[t], wanted);
            nearest = fmin(nearest, psfm_rotation_angle(turned, wanted));
        }
        sum += 1.0 - nearest / agreement;
    }
    return sum;
}

/* Turns each connected set of images as most of its registrations want it. */
static void start(const psfm_court_evidence *court, const uint32_t *set, uint32_t num_sets,
                  double agreement, double (*R)[9]) {
    for (uint32_t of = 0; of < num_sets; ++of) {
        double best[9], most = 0.0;
        for (uint32_t v = 0; v < court->num_views; ++v) {
            double G[9];
            if (set[v] != of || !psfm_court_accepts(court, v))
                continue;
            psfm_mat3_t_mul(R[v], court->poses[v].R, G);
            double sum = count_agreeing(court, set, of, G, agreement, R);
            if (sum > most) {
                most = sum;
                memcpy(best, G, sizeof best);
            }
        }
        for (uint32_t v = 0; most > 0.0 && v < court->num_views; ++v) {
            double turned[9];
            psfm_mat3_mul(R[v], best, turned);
            if (set[v] == of)
                memcpy(R[v], turned, sizeof turned);
        }
    }
    psfm_mat3_identity(R[court->num_views]);
}

psfm_status psfm_court_graph_make(psfm_context *ctx, const psfm_topology *topology,
                                  psfm_candidate_list *list, const psfm_court_evidence *court,
                                  double agreement_deg, double (*cam_from_world)[9],
                                  psfm_court_graph *graph) {
    uint32_t *set = NULL, num_sets = 0, num_links = 0, num = count_registered(court);
    for (size_t k = 0; k < court->num_links; ++k)
        num_links += is_useful(court, &court->links[k]);
    *graph = (psfm_court_graph){0};
    uint32_t num_edges = topology->num_edges + num_links + num;
    psfm_status status =
        grow(ctx, topology, list, num_edges, num_links + num * (uint32_t)court->num_turns, graph);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, topology->num_nodes, &set);
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, topology, NULL, set, &num_sets);
    if (status == PSFM_OK) {
        uint32_t next = topology->num_edges;
        add_links(court, &next, graph);
        add_registrations(court, &next, graph);
        memcpy(graph->R, cam_from_world, topology->num_nodes * sizeof *graph->R);
        start(court, set, num_sets, psfm_radians(agreement_deg), graph->R);
        graph->candidates = psfm_candidate_list_view(&graph->list);
        graph->candidates.num_exempt = num_links + num;
    }
    free(set);
    return status;
}

void psfm_court_graph_free(psfm_court_graph *graph) {
    free(graph->ends);
    free(graph->R);
    psfm_candidate_list_free(&graph->list);
    *graph = (psfm_court_graph){0};
}

void psfm_court_graph_images(const psfm_court_graph *graph, psfm_topology *topology,
                             psfm_rotation_candidates *candidates) {
    *topology = graph->topology;
    --topology->num_nodes;
    topology->num_edges = graph->num_pairs + graph->num_links;
    *candidates = graph->candidates;
    candidates->num_exempt = graph->num_links;
}

void psfm_court_graph_settle(const psfm_court_graph *graph, const uint32_t *chosen,
                             double (*cam_from_world)[9], psfm_court_evidence *court) {
    uint32_t n = court->num_views, first = graph->num_pairs + graph->num_links;
    for (uint32_t v = 0; v < n; ++v)
        psfm_mat3_mul_t(graph->R[v], graph->R[n], cam_from_world[v]);
    for (uint32_t e = first; e < graph->topology.num_edges; ++e) {
        uint32_t v = graph->topology.node1[e];
        court->agrees[v] = chosen[e] != UINT32_MAX;
        if (court->agrees[v])
            court->quarters[v] = court->turns[chosen[e] - graph->list.begin[e]];
    }
}
