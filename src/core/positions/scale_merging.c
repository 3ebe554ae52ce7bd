/* Scales from cameras that two components share.
 *
 * The unit of a scale component could be one more unknown beside the centres. But where two large
 * components meet in a few cameras, the least sum of residuals is not at the true one: a component
 * that shrinks to a point has no residuals left inside, and thousands of noisy edges outvote the
 * few that hold it open. So units are found by themselves. Each component puts its cameras along
 * the tree of its best edges; an edge of another one between two of these cameras then has a length
 * in both units, and the median of the ratios counts. Components are joined to the first, those
 * with most such edges first.
 *
 * O(n log n) in the edges, for the trees and sorts, beside the links times the components. */
#include "core/positions/scale_merging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/positions/position_tree.h"

#define NONE UINT32_MAX
#define MIN_COSINE 0.5 /* between the two baselines of a pair of cameras */

/* A camera in a component: its place there. */
typedef struct {
    uint32_t node, component;
} incidence;

/* Edge of one component between cameras of another. */
typedef struct {
    uint32_t a, b;    /* a < b */
    double log_ratio; /* of the unit of b to that of a */
} vote;

typedef struct {
    uint32_t a, b, num;
    double log_ratio;
} scale_link;

typedef struct {
    const psfm_scale_links_input *in;
    const psfm_baseline *baseline;
    uint32_t *num_edges; /* per component, rotations not counted */
    incidence *list;     /* by node, then component */
    uint32_t num;
    double *place; /* per incidence */
    vote *votes;
    size_t num_votes;
    scale_link *links;
    size_t num_links;
} search;

static int by_components(const void *x, const void *y) {
    const vote *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a->log_ratio > b->log_ratio) - (a->log_ratio < b->log_ratio);
}

static int by_votes(const void *x, const void *y) {
    const scale_link *a = x, *b = y;
    if (a->num != b->num)
        return a->num > b->num ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* Whether an edge is in a component of more than one. */
static bool edge_counts(const search *s, uint32_t e) {
    uint32_t component = s->baseline[e].scale_component;
    return (s->in->keep == NULL || s->in->keep[e]) && component != NONE &&
           s->num_edges[component] > 1;
}

static void count_edges(search *s) {
    const psfm_pose_graph *graph = s->in->graph;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (s->baseline[e].scale_component != NONE && !graph->edges[e].is_rotation)
            ++s->num_edges[s->baseline[e].scale_component];
}

static psfm_status list_incidences(psfm_context *ctx, search *s) {
    const psfm_pose_graph *graph = s->in->graph;
    psfm_status status = PSFM_ALLOC(ctx, 2 * (size_t)graph->num_edges, &s->list);
    uint32_t num = 0;
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        if (!edge_counts(s, e))
            continue;
        s->list[num++] = (incidence){graph->edges[e].node1, s->baseline[e].scale_component};
        s->list[num++] = (incidence){graph->edges[e].node2, s->baseline[e].scale_component};
    }
    if (num > 0)
        qsort(s->list, num, sizeof *s->list, psfm_compare_u32_pair);
    for (uint32_t k = 0; k < num; ++k)
        if (k == 0 || psfm_compare_u32_pair(&s->list[k - 1], &s->list[k]) != 0)
            s->list[s->num++] = s->list[k];
    return status;
}

static uint32_t find_incidence(const search *s, uint32_t node, uint32_t component) {
    const incidence key = {node, component};
    const incidence *found = bsearch(&key, s->list, s->num, sizeof key, psfm_compare_u32_pair);
    return found == NULL ? NONE : (uint32_t)(found - s->list);
}

/* c_1 - c_2 of an edge in the unit of its component. */
static void baseline_of(const search *s, uint32_t e, double b[3]) {
    psfm_mat3_tmul_vec(s->in->cam_from_world_R[s->in->graph->edges[e].node2],
                       s->in->edge_pose[e].t_21, b);
    psfm_scale3(s->in->graph->edges[e].is_rotation ? 0.0 : s->baseline[e].length, b, b);
}

/* Places all cameras of all components along trees. What joins the trees to one weighs least. */
static psfm_status place_cameras(psfm_context *ctx, search *s) {
    const psfm_pose_graph *graph = s->in->graph;
    psfm_weighted_baseline *edges = NULL;
    uint32_t num = 0;
    bool spans;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)graph->num_edges + s->num, &edges);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 3 * (size_t)s->num, &s->place);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        if (!edge_counts(s, e))
            continue;
        psfm_weighted_baseline *to = &edges[num++];
        to->a = find_incidence(s, edge->node1, s->baseline[e].scale_component);
        to->b = find_incidence(s, edge->node2, s->baseline[e].scale_component);
        to->weight = edge->is_rotation ? 0.0 : 1.0;
        for (uint32_t p = edge->plane_begin; p < edge->plane_end && !edge->is_rotation; ++p)
            to->weight += graph->planes[p].num_inliers;
        baseline_of(s, e, to->baseline);
    }
    for (uint32_t k = 1; status == PSFM_OK && k < s->num; ++k)
        edges[num++] = (psfm_weighted_baseline){.a = k - 1, .b = k, .weight = -1.0};
    if (status == PSFM_OK)
        status = psfm_centers_along_tree(ctx, s->num, edges, num, s->place, &spans);
    free(edges);
    return status;
}

/* What an edge says of the component of an incidence at its first camera. */
static void add_vote(search *s, uint32_t e, const double own[3], uint32_t first) {
    uint32_t a = s->baseline[e].scale_component, b = s->list[first].component;
    uint32_t second = b == a ? NONE : find_incidence(s, s->in->graph->edges[e].node2, b);
    double other[3];
    if (second == NONE)
        return;
    psfm_sub3(s->place + 3 * (size_t)first, s->place + 3 * (size_t)second, other);
    double length = psfm_norm3(own), there = psfm_norm3(other);
    if (!(psfm_dot3(own, other) > MIN_COSINE * length * there))
        return;
    double log_ratio = log(length / there);
    s->votes[s->num_votes++] = a < b ? (vote){a, b, log_ratio} : (vote){b, a, -log_ratio};
}

static psfm_status collect_votes(psfm_context *ctx, search *s) {
    const psfm_pose_graph *graph = s->in->graph;
    uint32_t *begin = NULL; /* of the incidences at each node */
    size_t room = 0;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)graph->num_nodes + 1, &begin);
    if (status != PSFM_OK)
        return status;
    for (uint32_t k = 0; k < s->num; ++k)
        ++begin[s->list[k].node + 1];
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        begin[v + 1] += begin[v];
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        room += begin[graph->edges[e].node1 + 1] - begin[graph->edges[e].node1];
    status = PSFM_ALLOC(ctx, room, &s->votes);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        double own[3];
        if (!edge_counts(s, e) || graph->edges[e].is_rotation)
            continue;
        baseline_of(s, e, own);
        for (uint32_t k = begin[graph->edges[e].node1]; k < begin[graph->edges[e].node1 + 1]; ++k)
            add_vote(s, e, own, k);
    }
    if (s->num_votes > 0)
        qsort(s->votes, s->num_votes, sizeof *s->votes, by_components);
    free(begin);
    return status;
}

/* The median of the votes on each pair of components; most votes first. */
static psfm_status make_links(psfm_context *ctx, search *s) {
    psfm_status status = PSFM_ALLOC(ctx, s->num_votes, &s->links);
    for (size_t begin = 0, end; status == PSFM_OK && begin < s->num_votes; begin = end) {
        const vote *v = &s->votes[begin];
        for (end = begin; end < s->num_votes && s->votes[end].a == v->a && s->votes[end].b == v->b;)
            ++end;
        s->links[s->num_links++] =
            (scale_link){v->a, v->b, (uint32_t)(end - begin),
                         0.5 * (s->votes[(begin + end - 1) / 2].log_ratio +
                                s->votes[begin + (end - begin) / 2].log_ratio)};
    }
    if (s->num_links > 0)
        qsort(s->links, s->num_links, sizeof *s->links, by_votes);
    return status;
}

/* Logarithms of the units, NAN where nothing leads to the first component. */
static void find_units(const search *s, uint32_t num_components, double *log_unit) {
    for (uint32_t c = 0; c < num_components; ++c)
        log_unit[c] = c == 0 ? 0.0 : NAN;
    for (size_t k = 0; k < s->num_links;) {
        const scale_link *j = &s->links[k++];
        if (isnan(log_unit[j->a]) == isnan(log_unit[j->b]))
            continue;
        if (isnan(log_unit[j->b]))
            log_unit[j->b] = log_unit[j->a] + j->log_ratio;
        else
            log_unit[j->a] = log_unit[j->b] - j->log_ratio;
        k = 0; /* others may lead on from here */
    }
}

psfm_status psfm_scale_join(psfm_context *ctx, const psfm_scale_links_input *input,
                            uint32_t num_components, psfm_baseline *baseline) {
    search s = {.in = input, .baseline = baseline};
    double *log_unit = NULL;
    psfm_status status;
    if (num_components < 2)
        return PSFM_OK;
    if ((status = PSFM_ALLOC(ctx, num_components, &s.num_edges)) ||
        (status = PSFM_ALLOC(ctx, num_components, &log_unit)))
        goto cleanup;
    count_edges(&s);
    if ((status = list_incidences(ctx, &s)) || (status = place_cameras(ctx, &s)) ||
        (status = collect_votes(ctx, &s)) || (status = make_links(ctx, &s)))
        goto cleanup;
    find_units(&s, num_components, log_unit);
    for (uint32_t e = 0; e < input->graph->num_edges; ++e) {
        uint32_t c = baseline[e].scale_component;
        if (c == NONE || isnan(log_unit[c]))
            continue;
        baseline[e].length *= exp(log_unit[c]);
        baseline[e].distance *= exp(log_unit[c]);
        baseline[e].scale_component = 0;
    }

cleanup:
    free(s.num_edges);
    free(s.list);
    free(s.place);
    free(s.votes);
    free(s.links);
    free(log_unit);
    return status;
}
