/* Log-distances of planes.
 *
 * Unknowns x_{v,g} = log of the distance of camera v from physical plane g. A chosen hypothesis of
 * an edge (1, 2) on plane g says
 *     x_{2,g} - x_{1,g} = log(d2 / d1),
 * (0 if the edge is a rotation), and two planes g, h of one edge share the baseline |t|, known in
 * units of either distance: x_{1,g} + log|t_g| = x_{1,h} + log|t_h|. All equations are differences,
 * so the unknowns form a graph; each of its components has one free scale, fixed at its first
 * unknown. Sum of absolute misfits by IRLS (weights 1 / max(|r|, floor)), on the Laplacian of that
 * graph. */
#include "core/positions/plane_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/sparse.h"
#include "core/linalg/vec3.h"
#include "core/posegraph/rotation_edges.h"

/* A baseline shorter than this share of the plane's distance has no usable length. */
static const double shortest = 1e-4;

/* Misfits below this (of a logarithm) count in full: rounding must not decide what is an outlier.
 */
static const double small_misfit = 1e-3;

typedef struct {
    uint32_t a, b; /* unknowns: x_b - x_a = value */
    double value, weight;
} equation;

/* One plane of one edge in the system. */
typedef struct {
    uint32_t plane;
    uint32_t unknown1, unknown2; /* of its two cameras */
} use;

typedef struct {
    const psfm_pose_graph *graph;
    use *uses;
    uint32_t num_uses;
    equation *equations;
    uint32_t num_equations;
    uint32_t num_unknowns;
    uint32_t *component; /* per unknown */
    double *x;
} scale_system;

/* A (camera, group) that occurs, for numbering. */
typedef struct {
    uint32_t node, group, use, side;
} occurrence;

static int by_pair(const void *a, const void *b) {
    const occurrence *p = a, *q = b;
    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    if (p->use != q->use)
        return p->use < q->use ? -1 : 1;
    return p->side < q->side ? -1 : p->side > q->side;
}

/* Numbers the unknowns: one per (camera, group) that a kept plane has. */
static psfm_status number_unknowns(psfm_context *ctx, const bool *keep,
                                   const psfm_plane_groups *groups, scale_system *s) {
    const psfm_pose_graph *graph = s->graph;
    occurrence *list = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, graph->num_planes, &s->uses)) ||
        (status = PSFM_ALLOC(ctx, 2 * (size_t)graph->num_planes, &list)))
        return status;
    size_t num = 0;
    for (uint32_t p = 0; p < graph->num_planes; ++p) {
        const psfm_edge *edge = &graph->edges[graph->planes[p].edge];
        if (groups->group[p] == UINT32_MAX || (keep != NULL && !keep[graph->planes[p].edge]))
            continue;
        s->uses[s->num_uses].plane = p;
        list[num++] = (occurrence){edge->node1, groups->group[p], s->num_uses, 0};
        list[num++] = (occurrence){edge->node2, groups->group[p], s->num_uses++, 1};
    }
    qsort(list, num, sizeof *list, by_pair);
    for (size_t k = 0; k < num; ++k) {
        if (k == 0 || list[k].node != list[k - 1].node || list[k].group != list[k - 1].group)
            ++s->num_unknowns;
        use *u = &s->uses[list[k].use];
        *(list[k].side == 0 ? &u->unknown1 : &u->unknown2) = s->num_unknowns - 1;
    }
    free(list);
    return PSFM_OK;
}

static double log_length(const psfm_hypothesis *h) {
    return log(psfm_norm3(h->motion.t_21));
}

static bool has_length(const psfm_hypothesis *h) {
    return psfm_norm3(h->motion.t_21) > shortest;
}

/* Two planes of one edge share its baseline. */
static void tie_planes(const use *last, const use *u, double weight, scale_system *s) {
    const psfm_hypothesis *h = psfm_plane_choice(s->graph, u->plane);
    const psfm_hypothesis *other = psfm_plane_choice(s->graph, last->plane);
    if (last->unknown1 != u->unknown1)
        s->equations[s->num_equations++] =
            (equation){last->unknown1, u->unknown1, log_length(other) - log_length(h), weight};
}

static psfm_status list_equations(psfm_context *ctx, scale_system *s) {
    const psfm_pose_graph *graph = s->graph;
    const use *last = NULL; /* with a length, of the same edge: uses of one follow each other */
    psfm_status status = PSFM_ALLOC(ctx, 2 * (size_t)s->num_uses, &s->equations);
    for (uint32_t k = 0; status == PSFM_OK && k < s->num_uses; ++k) {
        const use *u = &s->uses[k];
        const psfm_hypothesis *h = psfm_plane_choice(graph, u->plane);
        double weight = sqrt((double)graph->planes[u->plane].num_inliers + 1.0);
        if (graph->edges[h->edge].is_rotation)
            weight *= PSFM_ROTATION_WEIGHT;
        s->equations[s->num_equations++] =
            (equation){u->unknown1, u->unknown2, log(h->motion.d2_over_d1), weight};
        if (last != NULL && graph->planes[last->plane].edge != graph->planes[u->plane].edge)
            last = NULL;
        if (!has_length(h))
            continue;
        if (last != NULL)
            tie_planes(last, u, weight, s);
        last = u;
    }
    return status;
}

/* Components of the unknowns; label by the lowest unknown. */
static psfm_status find_components(psfm_context *ctx, scale_system *s) {
    psfm_status status = PSFM_ALLOC(ctx, s->num_unknowns, &s->component);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(s->component, s->num_unknowns);
    for (uint32_t k = 0; k < s->num_equations; ++k)
        psfm_sets_unite(s->component, s->equations[k].a, s->equations[k].b);
    for (uint32_t v = 0; v < s->num_unknowns; ++v)
        s->component[v] = psfm_sets_find(s->component, v);
    return PSFM_OK;
}

/* Start: distances along a breadth-first forest, so that IRLS begins near the solution. */
static void start_values(scale_system *s, bool *known) {
    for (uint32_t v = 0; v < s->num_unknowns; ++v)
        known[v] = s->component[v] == v;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < s->num_equations; ++k) {
            const equation *e = &s->equations[k];
            if (known[e->a] == known[e->b])
                continue;
            if (known[e->a])
                s->x[e->b] = s->x[e->a] + e->value;
            else
                s->x[e->a] = s->x[e->b] - e->value;
            known[e->a] = known[e->b] = changed = true;
        }
    }
}

static double equation_misfit(const scale_system *s, const equation *e) {
    return s->x[e->b] - s->x[e->a] - e->value;
}

static double median_misfit(const scale_system *s, double *scratch) {
    for (uint32_t k = 0; k < s->num_equations; ++k)
        scratch[k] = fabs(equation_misfit(s, &s->equations[k]));
    return psfm_median(scratch, s->num_equations);
}

/* Pattern of the normal equations: three entries an equation, then one for each pinned unknown. */
static psfm_status make_pattern(psfm_context *ctx, const scale_system *s, psfm_spd **spd,
                                size_t *num_triplets) {
    uint32_t *row = NULL, *col = NULL;
    size_t room = 3 * (size_t)s->num_equations + s->num_unknowns, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, room, &row);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, room, &col);
    for (uint32_t k = 0; status == PSFM_OK && k < s->num_equations; ++k) {
        const equation *e = &s->equations[k];
        row[num] = e->a, col[num++] = e->a;
        row[num] = e->b, col[num++] = e->b;
        row[num] = e->a, col[num++] = e->b;
    }
    for (uint32_t v = 0; status == PSFM_OK && v < s->num_unknowns; ++v)
        if (s->component[v] == v)
            row[num] = v, col[num++] = v;
    if (status == PSFM_OK)
        status = psfm_spd_create(ctx, s->num_unknowns, num, row, col, spd);
    *num_triplets = num;
    free(row);
    free(col);
    return status;
}

static psfm_status solve_scales(psfm_context *ctx, scale_system *s, int iterations) {
    psfm_spd *spd = NULL;
    double *value = NULL, *rhs = NULL, *scratch = NULL;
    bool *known = NULL;
    size_t num_triplets = 0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_unknowns, &s->x)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &rhs)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &known)) ||
        (status = PSFM_ALLOC(ctx, s->num_equations, &scratch)) ||
        (status = make_pattern(ctx, s, &spd, &num_triplets)) ||
        (status = PSFM_ALLOC(ctx, num_triplets, &value)))
        goto cleanup;
    start_values(s, known);
    for (int it = 0; it < iterations; ++it) {
        double floor = fmax(0.1 * median_misfit(s, scratch), small_misfit);
        size_t num = 0;
        memset(rhs, 0, s->num_unknowns * sizeof *rhs);
        for (uint32_t k = 0; k < s->num_equations; ++k) {
            const equation *e = &s->equations[k];
            double w = e->weight * floor / fmax(fabs(equation_misfit(s, e)), floor);
            value[num++] = w;
            value[num++] = w;
            value[num++] = -w;
            rhs[e->b] += w * e->value;
            rhs[e->a] -= w * e->value;
        }
        while (num < num_triplets)
            value[num++] = 1.0;
        if ((status = psfm_spd_factor(ctx, spd, value, 0.0)) ||
            (status = psfm_spd_solve(ctx, spd, 1, rhs, s->x)))
            goto cleanup;
    }

cleanup:
    psfm_spd_destroy(&spd);
    free(value);
    free(rhs);
    free(known);
    free(scratch);
    return status;
}

/* The first use of uses begin to end - 1 that has a length, or the first if none has. */
static uint32_t reference_use(const scale_system *s, uint32_t begin, uint32_t end) {
    for (uint32_t k = begin; k < end; ++k)
        if (has_length(psfm_plane_choice(s->graph, s->uses[k].plane)))
            return k;
    return begin;
}

/* Length of an edge: the weighted mean of log|t| + log d1 over its planes that hang together with
 * the first one that has a length, and have one; over all of them if none has. */
static psfm_baseline mean_length(const scale_system *s, uint32_t begin, uint32_t end) {
    uint32_t first = reference_use(s, begin, end);
    double distance = s->x[s->uses[first].unknown1], sum = 0.0, weight = 0.0;
    uint32_t component = s->component[s->uses[first].unknown1];
    bool shown = has_length(psfm_plane_choice(s->graph, s->uses[first].plane));
    for (uint32_t k = first; k < end; ++k) {
        const use *u = &s->uses[k];
        const psfm_hypothesis *h = psfm_plane_choice(s->graph, u->plane);
        double w = s->graph->planes[u->plane].num_inliers;
        if (s->component[u->unknown1] != component || has_length(h) != shown)
            continue;
        sum += w * (log_length(h) + s->x[u->unknown1]);
        weight += w;
    }
    return (psfm_baseline){weight > 0.0 ? exp(sum / weight) : 0.0, component, exp(distance)};
}

static void set_lengths(const scale_system *s, psfm_baseline *baseline) {
    const psfm_pose_graph *graph = s->graph;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        baseline[e] = (psfm_baseline){NAN, UINT32_MAX, NAN};
    for (uint32_t begin = 0, end; begin < s->num_uses; begin = end) {
        uint32_t e = graph->planes[s->uses[begin].plane].edge;
        for (end = begin + 1; end < s->num_uses && graph->planes[s->uses[end].plane].edge == e;)
            ++end;
        baseline[e] = mean_length(s, begin, end);
    }
}

typedef struct {
    uint32_t num_edges, label;
} ranked;

static int by_edges(const void *a, const void *b) {
    const ranked *p = a, *q = b;
    if (p->num_edges != q->num_edges)
        return p->num_edges > q->num_edges ? -1 : 1;
    return p->label < q->label ? -1 : p->label > q->label;
}

/* Renumbers the components of the edges, those with most edges first. Rotations have no length:
 * they do not count, and one that hangs together with nothing else has no scale. */
static psfm_status rank_components(psfm_context *ctx, const scale_system *s,
                                   psfm_baseline *baseline, uint32_t *num_components) {
    uint32_t n = s->num_unknowns, m = s->graph->num_edges, *rank = NULL;
    ranked *order = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &order);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &rank);
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v)
        order[v].label = v;
    for (uint32_t e = 0; e < m; ++e)
        if (baseline[e].scale_component != UINT32_MAX && !s->graph->edges[e].is_rotation)
            ++order[baseline[e].scale_component].num_edges;
    qsort(order, n, sizeof *order, by_edges);
    for (uint32_t k = 0; k < n; ++k)
        rank[k] = UINT32_MAX;
    *num_components = 0;
    while (*num_components < n && order[*num_components].num_edges > 0) {
        rank[order[*num_components].label] = *num_components;
        ++*num_components;
    }
    for (uint32_t e = 0; e < m; ++e)
        if (baseline[e].scale_component != UINT32_MAX)
            baseline[e].scale_component = rank[baseline[e].scale_component];

cleanup:
    free(order);
    free(rank);
    return status;
}

psfm_status psfm_plane_scale(psfm_context *ctx, const psfm_pose_graph *graph, const bool *keep,
                             const psfm_plane_groups *groups, int iterations,
                             psfm_baseline *baseline, psfm_plane_scale_stats *stats) {
    scale_system s = {.graph = graph};
    double *scratch = NULL;
    psfm_status status;
    if ((status = number_unknowns(ctx, keep, groups, &s)) || (status = list_equations(ctx, &s)) ||
        (status = find_components(ctx, &s)))
        goto cleanup;
    if (s.num_unknowns > 0)
        status = solve_scales(ctx, &s, iterations);
    if (status == PSFM_OK) {
        set_lengths(&s, baseline);
        status = rank_components(ctx, &s, baseline, &stats->num_components);
    }
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, s.num_equations, &scratch);
    if (status == PSFM_OK)
        stats->residual = median_misfit(&s, scratch);

cleanup:
    free(scratch);
    free(s.uses);
    free(s.equations);
    free(s.component);
    free(s.x);
    return status;
}
