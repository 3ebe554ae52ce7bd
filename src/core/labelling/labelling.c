/* Where few edges ask for flips, what binds nodes together is contracted first, which mostly leaves
 * a graph small enough for exact elimination: flip_by_bounds.
 *
 * The search beyond exact elimination goes in rounds. A round eliminates what it can within the
 * width of its tables, holds the other nodes at their labels (which ones, chance says), and takes
 * the best flips of all nodes eliminated. Then nodes that want to stay together are contracted in
 * pairs and the same is done on the smaller graph, where flipping a node flips a set, and so on
 * until everything is one exact table. No step lowers the sum. It starts from the labels given, and
 * again from where annealing ends a few times. */
#include "core/labelling/labelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/labelling/edge_connectivity.h"
#include "core/labelling/labelling_exact.h"

const psfm_labelling_options psfm_labelling_defaults = {.exact_width = 20,
                                                        .exact_entries = 4000000,
                                                        .search_width = 8,
                                                        .patience = 8,
                                                        .anneals = 4,
                                                        .sweeps = 200};

/* A flip problem with its arrays. */
typedef struct {
    psfm_topology graph;
    uint32_t *ends; /* node1 and node2 of all edges, where it owns them */
    double (*value)[4];
    double *own; /* what flipping a node adds by itself */
    psfm_adjacency adjacency;
    bool *fixed;
} level;

static void level_free(level *l) {
    free(l->ends);
    free(l->value);
    free(l->own);
    free(l->fixed);
    psfm_adjacency_free(&l->adjacency);
}

static psfm_flip_problem view_level(const level *l) {
    return (psfm_flip_problem){&l->graph, &l->adjacency, (const double(*)[4])l->value, l->own};
}

/* Makes the flipped state the one without flips. */
static void apply_flips(level *l, const bool *flip) {
    for (uint32_t e = 0; e < l->graph.num_edges; ++e) {
        int shift = 2 * flip[l->graph.node1[e]] + flip[l->graph.node2[e]];
        double old[4];
        memcpy(old, l->value[e], sizeof old);
        for (int s = 0; s < 4; ++s)
            l->value[e][s] = old[s ^ shift];
    }
    for (uint32_t v = 0; v < l->graph.num_nodes; ++v)
        l->own[v] = flip[v] ? -l->own[v] : l->own[v];
}

/* A copy with the labels given; `own` and `fixed` may be NULL. */
static psfm_status level_init(psfm_context *ctx, const psfm_topology *graph,
                              const double (*value)[4], const double *own, const bool *label,
                              const bool *fixed, level *l) {
    psfm_status status;
    *l = (level){.graph = *graph};
    if ((status = PSFM_ALLOC(ctx, graph->num_edges, &l->value)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &l->own)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &l->fixed)) ||
        (status = psfm_adjacency_init(ctx, graph, NULL, graph->num_edges, &l->adjacency)))
        return status;
    if (graph->num_edges > 0)
        memcpy(l->value, value, graph->num_edges * sizeof *value);
    if (own != NULL)
        memcpy(l->own, own, graph->num_nodes * sizeof *own);
    if (fixed != NULL)
        memcpy(l->fixed, fixed, graph->num_nodes * sizeof *fixed);
    apply_flips(l, label);
    return PSFM_OK;
}

/* How much an edge loses if one of its ends flips without the other. */
static double bond_strength(const double value[4]) {
    return 0.5 * (value[0] + value[3] - value[1] - value[2]);
}

/* Pairs nodes that want to stay together: group[v] in [0, *num). A node prefers strong bonds, but
 * chance has a say, so that other sets form in other rounds. */
static psfm_status pair_nodes(psfm_context *ctx, const level *l, psfm_rng *rng, uint32_t *group,
                              uint32_t *num) {
    uint32_t n = l->graph.num_nodes, *order = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &order);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < n; ++v) {
        order[v] = v;
        group[v] = UINT32_MAX;
    }
    psfm_rng_shuffle(rng, order, n);
    *num = 0;
    for (uint32_t k = 0; k < n; ++k) {
        uint32_t v = order[k], partner = UINT32_MAX;
        double most = 0.0;
        if (group[v] != UINT32_MAX)
            continue;
        for (size_t i = l->adjacency.begin[v]; i < l->adjacency.begin[v + 1]; ++i) {
            uint32_t e = l->adjacency.edge[i], u = psfm_topology_other(&l->graph, e, v);
            double strength = bond_strength(l->value[e]) * psfm_rng_uniform(rng);
            if (group[u] == UINT32_MAX && strength > most) {
                most = strength;
                partner = u;
            }
        }
        group[v] = *num;
        if (partner != UINT32_MAX)
            group[partner] = *num;
        ++*num;
    }
    free(order);
    return PSFM_OK;
}

/* Adds up the edges from node v of group a to groups b > a. edge_to[b] is the coarse edge to b, if
 * it is one of those of group a, which begin at `first`. */
static void contract_node(const level *fine, const uint32_t *group, uint32_t v, uint32_t first,
                          uint32_t *edge_to, level *coarse) {
    uint32_t *node1 = coarse->ends, *node2 = coarse->ends + fine->graph.num_edges;
    for (size_t i = fine->adjacency.begin[v]; i < fine->adjacency.begin[v + 1]; ++i) {
        uint32_t e = fine->adjacency.edge[i];
        uint32_t b = group[psfm_topology_other(&fine->graph, e, v)];
        const double *value = fine->value[e];
        bool swapped = fine->graph.node1[e] != v;
        if (b == group[v] && !swapped)
            coarse->own[b] += value[3] - value[0];
        if (b <= group[v])
            continue;
        uint32_t at = edge_to[b];
        if (at < first || at >= coarse->graph.num_edges || node2[at] != b) {
            at = edge_to[b] = coarse->graph.num_edges++;
            node1[at] = group[v];
            node2[at] = b;
        }
        coarse->value[at][0] += value[0];
        coarse->value[at][1] += value[swapped ? 2 : 1];
        coarse->value[at][2] += value[swapped ? 1 : 2];
        coarse->value[at][3] += value[3];
    }
}

/* The graph of the groups, parallel edges added up. */
static psfm_status contract_level(psfm_context *ctx, const level *fine, const uint32_t *group,
                                  uint32_t num, level *coarse) {
    uint32_t n = fine->graph.num_nodes, *begin = NULL, *member = NULL, *edge_to = NULL;
    psfm_status status;
    *coarse = (level){0};
    if ((status = PSFM_ALLOC(ctx, 2 * (size_t)fine->graph.num_edges, &coarse->ends)) ||
        (status = PSFM_ALLOC(ctx, fine->graph.num_edges, &coarse->value)) ||
        (status = PSFM_ALLOC(ctx, num, &coarse->own)) ||
        (status = PSFM_ALLOC(ctx, num, &coarse->fixed)) ||
        (status = PSFM_ALLOC(ctx, (size_t)num + 1, &begin)) ||
        (status = PSFM_ALLOC(ctx, n, &member)) || (status = PSFM_ALLOC(ctx, num, &edge_to)))
        goto cleanup;
    psfm_list_labelled(group, n, num, begin, member);
    for (uint32_t v = 0; v < n; ++v) {
        coarse->own[group[v]] += fine->own[v];
        coarse->fixed[group[v]] = coarse->fixed[group[v]] || fine->fixed[v];
    }
    coarse->graph = (psfm_topology){num, 0, coarse->ends, coarse->ends + fine->graph.num_edges};
    for (uint32_t a = 0; a < num; ++a) {
        uint32_t first = coarse->graph.num_edges;
        for (uint32_t i = begin[a]; i < begin[a + 1]; ++i)
            contract_node(fine, group, member[i], first, edge_to, coarse);
    }
    status =
        psfm_adjacency_init(ctx, &coarse->graph, NULL, coarse->graph.num_edges, &coarse->adjacency);

cleanup:
    free(begin);
    free(member);
    free(edge_to);
    return status;
}

/* What flips are looked for, and how. */
typedef struct {
    int width;          /* of the tables, at most ... */
    size_t max_entries; /* ... and so many entries in all */
    bool all;           /* nothing is done unless no node but the fixed ones is left out */
    bool differ;        /* at least one flip */
} flip_task;

/* The best flips on one level. *whole if only the fixed nodes were left out. */
static psfm_status flip_level(psfm_context *ctx, const level *l, const flip_task *task,
                              psfm_rng *rng, bool *flip, double *gain, bool *whole) {
    psfm_elimination order;
    psfm_flip_problem problem = view_level(l);
    uint32_t num = 0;
    psfm_status status =
        psfm_eliminate(ctx, &l->graph, &l->adjacency, l->fixed, task->width, rng, &order);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < l->graph.num_nodes; ++v)
        num += !l->fixed[v];
    *whole = order.num == num && order.num_entries <= task->max_entries;
    *gain = task->differ ? -INFINITY : 0.0;
    if (*whole || !task->all)
        status = psfm_flips_best(ctx, &problem, &order, task->differ, flip, gain);
    if (!(*gain > 0.0) && !task->differ)
        memset(flip, 0, l->graph.num_nodes * sizeof *flip);
    psfm_elimination_free(&order);
    return status;
}

/* Sets that flip as one on the contracted graph `coarse`: adds what they gain, or, with `differ`,
 * takes them if they lose less. */
static void take_groups(const uint32_t *group, const bool *coarse_flip, double coarse_gain,
                        bool differ, uint32_t n, bool *flip, double *gain) {
    if (differ && coarse_gain <= *gain)
        return;
    for (uint32_t v = 0; v < n; ++v)
        flip[v] = coarse_flip[group[v]] ^ (!differ && flip[v]);
    *gain = coarse_gain + (differ ? 0.0 : *gain);
}

/* One round of the search, from level l down to the coarsest. Values of l change to those of the
 * flips that are found, unless `differ`. */
static psfm_status descend_levels(psfm_context *ctx, level *l, int width, bool differ,
                                  psfm_rng *rng, bool *flip, double *gain) {
    uint32_t n = l->graph.num_nodes, *group = NULL, num = 0;
    bool whole, *coarse_flip = NULL;
    double coarse_gain = 0.0;
    level coarse = {0};
    const flip_task task = {width, SIZE_MAX, false, differ};
    psfm_status status = flip_level(ctx, l, &task, rng, flip, gain, &whole);
    if (status != PSFM_OK || whole)
        return status;
    if (!differ)
        apply_flips(l, flip);
    if ((status = PSFM_ALLOC(ctx, n, &group)) || (status = pair_nodes(ctx, l, rng, group, &num)))
        goto cleanup;
    if (num < n && (status = contract_level(ctx, l, group, num, &coarse)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num, &coarse_flip)) == PSFM_OK &&
        (status = descend_levels(ctx, &coarse, width, differ, rng, coarse_flip, &coarse_gain)) ==
            PSFM_OK)
        take_groups(group, coarse_flip, coarse_gain, differ, n, flip, gain);

cleanup:
    free(group);
    free(coarse_flip);
    level_free(&coarse);
    return status;
}

/* Rounds from the flips given until `patience` of them find nothing better. `gain` is that of the
 * flips, or, with `differ`, of the best set found so far. */
static psfm_status go_rounds(psfm_context *ctx, const level *start,
                             const psfm_labelling_options *options, bool differ, psfm_rng *rng,
                             bool *flip, double *gain) {
    uint32_t n = start->graph.num_nodes;
    bool *found = NULL, *from = NULL;
    double tolerance = 0.0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &found)) || (status = PSFM_ALLOC(ctx, n, &from)))
        goto cleanup;
    for (uint32_t e = 0; e < start->graph.num_edges; ++e)
        for (int s = 0; s < 4; ++s)
            tolerance = fmax(tolerance, 1e-9 * fabs(start->value[e][s]));
    for (int idle = 0; status == PSFM_OK && idle < options->patience; ++idle) {
        level l;
        double more = 0.0;
        for (uint32_t v = 0; v < n; ++v)
            from[v] = !differ && flip[v];
        status = level_init(ctx, &start->graph, (const double(*)[4])start->value, start->own, from,
                            start->fixed, &l);
        if (status == PSFM_OK)
            status = descend_levels(ctx, &l, options->search_width, differ, rng, found, &more);
        level_free(&l);
        if (status == PSFM_OK && more > (differ ? *gain : 0.0) + tolerance) {
            idle = -1;
            *gain = differ ? more : *gain + more;
            for (uint32_t v = 0; v < n; ++v)
                flip[v] = found[v] ^ from[v];
        }
    }

cleanup:
    free(found);
    free(from);
    return status;
}

/* Rounds from the labels as they are, and from where annealing ends; the best of these. */
static psfm_status search_rounds(psfm_context *ctx, const level *l,
                                 const psfm_labelling_options *options, psfm_rng *rng, bool *flip,
                                 double *gain) {
    psfm_flip_problem problem = view_level(l);
    bool *annealed = NULL;
    psfm_status status = go_rounds(ctx, l, options, false, rng, flip, gain);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, l->graph.num_nodes, &annealed);
    for (int k = 0; status == PSFM_OK && k < options->anneals; ++k) {
        psfm_flips_anneal(&problem, l->fixed, options->sweeps, rng, annealed);
        double sum = psfm_flips_sum(&problem, annealed) - psfm_flips_sum(&problem, NULL);
        status = go_rounds(ctx, l, options, false, rng, annealed, &sum);
        if (status == PSFM_OK && sum > *gain * (1.0 + 1e-9)) {
            *gain = sum;
            memcpy(flip, annealed, l->graph.num_nodes * sizeof *flip);
        }
    }
    free(annealed);
    return status;
}

/* ---- where few edges ask for flips ---- */

/* Flips, exactly, what is best of the sets that cut less than `least` of what is left; nothing
 * where that is too much for a table (*whole is false). Values of l change to those of the flips.
 */
static psfm_status flip_bound(psfm_context *ctx, level *l, const double *left, double least,
                              const flip_task *task, psfm_rng *rng, bool *flip, double *gain,
                              bool *whole) {
    uint32_t n = l->graph.num_nodes, *group = NULL, num = 0;
    bool *coarse_flip = NULL, *found = NULL;
    double more = 0.0;
    level coarse = {0};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &group)) || (status = PSFM_ALLOC(ctx, n, &found)) ||
        (status = psfm_heavy_groups(ctx, &l->graph, &l->adjacency, left, least, group, &num)) ||
        (status = contract_level(ctx, l, group, num, &coarse)) ||
        (status = PSFM_ALLOC(ctx, num, &coarse_flip)) ||
        (status = flip_level(ctx, &coarse, task, rng, coarse_flip, &more, whole)) || !(more > 0.0))
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v) {
        found[v] = coarse_flip[group[v]];
        flip[v] ^= found[v];
    }
    apply_flips(l, found);
    *gain += more;

cleanup:
    free(group);
    free(coarse_flip);
    free(found);
    level_free(&coarse);
    return status;
}

/* The best flips where few edges ask for some. What they gain is at most W, and a set that gains
 * cuts less than W of what binding edges have left (psfm_flips_bound). So nodes that only heavier
 * cuts come between are contracted, which leaves a graph that is mostly small. Sets that hardly
 * anything binds flip first, by contracting what a share of W holds together: what they ask for is
 * then no part of W any more. *exact if that shows the flips to be best. Values of l change. */
static psfm_status flip_by_bounds(psfm_context *ctx, level *l,
                                  const psfm_labelling_options *options, bool *flip, double *gain,
                                  bool *exact) {
    static const double share[] = {1e-9, 1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0};
    enum { LAST = sizeof share / sizeof *share - 1 };
    const flip_task task = {options->exact_width, options->exact_entries, true, false};
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_LABELLING, 1, 0);
    double *left = NULL;
    psfm_status status = PSFM_ALLOC(ctx, l->graph.num_edges, &left);
    bool whole = true;
    for (int k = 0; status == PSFM_OK && whole && !*exact && k <= LAST; ++k) {
        const psfm_flip_problem problem = view_level(l);
        double most = 0.0;
        if ((status = psfm_flips_bound(ctx, &problem, left, &most)) == PSFM_OK && most > 0.0)
            status = flip_bound(ctx, l, left, share[k] * most, &task, &rng, flip, gain, &whole);
        *exact = status == PSFM_OK && whole && (!(most > 0.0) || k == LAST);
    }
    free(left);
    return status;
}

/* Searches where the bound leaves something open: no set that gains comes between nodes that W or
 * more holds together, so they are searched as one. Values of l are those of the flips so far. */
static psfm_status search_contracted(psfm_context *ctx, const level *l,
                                     const psfm_labelling_options *options, psfm_rng *rng,
                                     bool *flip, double *gain) {
    uint32_t n = l->graph.num_nodes, *group = NULL, num = 0;
    const psfm_flip_problem problem = view_level(l);
    double *left = NULL, most = 0.0, more = 0.0;
    bool *found = NULL;
    level coarse = {0};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, l->graph.num_edges, &left)) ||
        (status = PSFM_ALLOC(ctx, n, &group)) ||
        (status = psfm_flips_bound(ctx, &problem, left, &most)) ||
        (status = psfm_heavy_groups(ctx, &l->graph, &l->adjacency, left, most, group, &num)) ||
        (status = contract_level(ctx, l, group, num, &coarse)) ||
        (status = PSFM_ALLOC(ctx, num, &found)) ||
        (status = search_rounds(ctx, &coarse, options, rng, found, &more)))
        goto cleanup;
    for (uint32_t v = 0; more > 0.0 && v < n; ++v)
        flip[v] ^= found[group[v]];
    *gain += fmax(more, 0.0);

cleanup:
    free(left);
    free(group);
    free(found);
    level_free(&coarse);
    return status;
}

/* The best flips that bounds and the search find. */
static psfm_status flip_and_search(psfm_context *ctx, const level *l,
                                   const psfm_labelling_options *options, psfm_rng *rng, bool *flip,
                                   psfm_labelling_result *result) {
    level copy = {0};
    psfm_status status =
        level_init(ctx, &l->graph, (const double(*)[4])l->value, l->own, flip, l->fixed, &copy);
    if (status == PSFM_OK)
        status = flip_by_bounds(ctx, &copy, options, flip, &result->gain, &result->exact);
    if (status == PSFM_OK && !result->exact)
        status = search_contracted(ctx, &copy, options, rng, flip, &result->gain);
    level_free(&copy);
    return status;
}

/* Whether it is easily shown that no flips gain. */
static psfm_status refute_gain(psfm_context *ctx, const level *l, bool *refuted) {
    const psfm_flip_problem problem = view_level(l);
    double *left = NULL, most = 0.0;
    psfm_status status = PSFM_ALLOC(ctx, l->graph.num_edges, &left);
    if (status == PSFM_OK)
        status = psfm_flips_bound(ctx, &problem, left, &most);
    *refuted = status == PSFM_OK && !(most > 0.0);
    free(left);
    return status;
}

/* The best flips of the labels given: none if that is easily shown, or exactly, or searched for. */
static psfm_status best_flips(psfm_context *ctx, const level *l, uint64_t seed,
                              const psfm_labelling_options *options, bool differ, bool *flip,
                              psfm_labelling_result *result) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_LABELLING, 0, 0);
    if (options == NULL)
        options = &psfm_labelling_defaults;
    const flip_task task = {options->exact_width, options->exact_entries, true, differ};
    const psfm_flip_problem problem = view_level(l);
    psfm_status status = differ ? PSFM_OK : refute_gain(ctx, l, &result->exact);
    result->score = psfm_flips_sum(&problem, NULL);
    if (status != PSFM_OK || result->exact)
        return status;
    status = flip_level(ctx, l, &task, &rng, flip, &result->gain, &result->exact);
    if (status == PSFM_OK && !result->exact)
        status = differ ? go_rounds(ctx, l, options, true, &rng, flip, &result->gain)
                        : flip_and_search(ctx, l, options, &rng, flip, result);
    result->score += result->gain;
    return status;
}

psfm_status psfm_labelling_best(psfm_context *ctx, const psfm_labelling_problem *problem,
                                const psfm_labelling_options *options, bool *label,
                                psfm_labelling_result *result) {
    uint32_t n = problem->graph->num_nodes;
    bool *flip = NULL;
    level l = {0};
    *result = (psfm_labelling_result){0};
    psfm_status status = PSFM_ALLOC(ctx, n, &flip);
    if (status == PSFM_OK)
        status = level_init(ctx, problem->graph, problem->value, NULL, label, NULL, &l);
    if (status == PSFM_OK)
        status = best_flips(ctx, &l, problem->seed, options, false, flip, result);
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v)
        label[v] ^= flip[v];
    level_free(&l);
    free(flip);
    return status;
}

psfm_status psfm_labelling_runner_up(psfm_context *ctx, const psfm_labelling_problem *problem,
                                     const bool *label, const bool *fixed,
                                     const psfm_labelling_options *options, bool *flip,
                                     psfm_labelling_result *result) {
    level l;
    *result = (psfm_labelling_result){0};
    memset(flip, 0, problem->graph->num_nodes * sizeof *flip);
    psfm_status status = level_init(ctx, problem->graph, problem->value, NULL, label, fixed, &l);
    if (status == PSFM_OK)
        status = best_flips(ctx, &l, problem->seed, options, true, flip, result);
    level_free(&l);
    return status;
}
