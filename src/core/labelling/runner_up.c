/* Runner-ups, one part of the graph after the other. A part is labelled by each of the moves, one
 * node fixed (the others moved is the same as this one moved back, so the inverse of a move must be
 * a move as well), and the set against whose move least speaks is the runner-up. */
#include "core/labelling/runner_up.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/labelling/labelling.h"

/* Cuts that are followed up. */
enum { MAX_CUTS = 64 };

/* One part as a graph of its own. */
typedef struct {
    uint32_t *local; /* per node of the whole: its number here */
    uint32_t *node;  /* of each local node: its number in the whole */
    uint32_t *edge;  /* the same of its edges */
    uint32_t *node1, *node2;
    double (*value)[4];
    bool *fixed, *none, *flip, *best;
    psfm_topology graph;
} part_graph;

typedef struct {
    const psfm_runner_up_problem *in;
    double (**value)[4]; /* per move: of all edges */
    part_graph part;
} finder;

static void finder_free(finder *f) {
    part_graph *p = &f->part;
    for (int k = 0; f->value != NULL && k < f->in->num_moves; ++k)
        free(f->value[k]);
    free(f->value);
    free(p->local);
    free(p->node);
    free(p->edge);
    free(p->node1);
    free(p->node2);
    free(p->value);
    free(p->fixed);
    free(p->none);
    free(p->flip);
    free(p->best);
}

static psfm_status finder_init(psfm_context *ctx, const psfm_runner_up_problem *in, finder *f) {
    uint32_t n = in->graph->num_nodes, m = in->graph->num_edges;
    part_graph *p = &f->part;
    psfm_status status;
    *f = (finder){.in = in};
    if ((status = PSFM_ALLOC(ctx, n, &p->local)) || (status = PSFM_ALLOC(ctx, n, &p->node)) ||
        (status = PSFM_ALLOC(ctx, m, &p->edge)) || (status = PSFM_ALLOC(ctx, m, &p->node1)) ||
        (status = PSFM_ALLOC(ctx, m, &p->node2)) || (status = PSFM_ALLOC(ctx, m, &p->value)) ||
        (status = PSFM_ALLOC(ctx, n, &p->fixed)) || (status = PSFM_ALLOC(ctx, n, &p->none)) ||
        (status = PSFM_ALLOC(ctx, n, &p->flip)) || (status = PSFM_ALLOC(ctx, n, &p->best)) ||
        (status = PSFM_ALLOC(ctx, (size_t)in->num_moves, &f->value)))
        return status;
    for (int k = 0; status == PSFM_OK && k < in->num_moves; ++k) {
        status = PSFM_ALLOC(ctx, m, &f->value[k]);
        if (status == PSFM_OK)
            in->weigh(in->data, k, f->value[k]);
    }
    return status;
}

/* The graph of one part; its first node is fixed. */
static void extract_part(const psfm_topology *t, const uint32_t *part, uint32_t which,
                         part_graph *p) {
    uint32_t n = 0, m = 0;
    for (uint32_t v = 0; v < t->num_nodes; ++v) {
        if (part[v] != which)
            continue;
        p->local[v] = n;
        p->fixed[n] = n == 0;
        p->node[n++] = v;
    }
    for (uint32_t e = 0; e < t->num_edges; ++e) {
        if (part[t->node1[e]] != which || part[t->node2[e]] != which)
            continue;
        p->node1[m] = p->local[t->node1[e]];
        p->node2[m] = p->local[t->node2[e]];
        p->edge[m++] = e;
    }
    p->graph = (psfm_topology){n, m, p->node1, p->node2};
}

/* Weighs the cut round the set part.best under a move. */
static void weigh_cut(const finder *f, int move, psfm_runner_up *out) {
    const part_graph *p = &f->part;
    *out = (psfm_runner_up){.move = move};
    for (uint32_t k = 0; k < p->graph.num_edges; ++k) {
        int state = 2 * p->best[p->node1[k]] + p->best[p->node2[k]];
        if (state == 0 || state == 3)
            continue;
        uint32_t e = p->edge[k];
        const double *value = f->value[move][e];
        out->agreeing += value[0] / f->in->unit;
        out->opposing += value[state] / f->in->unit;
        out->num_agreeing += f->in->agrees[e] ? 1 : 0;
        out->num_opposing += value[state] > value[0] ? 1 : 0;
    }
    out->decided = psfm_evidence_ratio(out->agreeing, out->opposing) <= f->in->max_ratio;
}

/* The set of the part whose move has least evidence against it. *least is what the best one costs
 * so far, and *out what it is. */
static psfm_status try_move(psfm_context *ctx, finder *f, int move, double *least,
                            psfm_runner_up *out) {
    part_graph *p = &f->part;
    psfm_labelling_result result;
    for (uint32_t k = 0; k < p->graph.num_edges; ++k) {
        memcpy(p->value[k], f->value[move][p->edge[k]], sizeof *p->value);
        p->value[k][0] *= f->in->search_ratio;
        p->value[k][3] *= f->in->search_ratio;
    }
    const psfm_labelling_problem problem = {&p->graph, (const double(*)[4])p->value, f->in->seed};
    psfm_status status =
        psfm_labelling_runner_up(ctx, &problem, p->none, p->fixed, NULL, p->flip, &result);
    if (status != PSFM_OK || !(-result.gain < *least))
        return status;
    *least = -result.gain;
    memcpy(p->best, p->flip, p->graph.num_nodes * sizeof *p->best);
    weigh_cut(f, move, out);
    return PSFM_OK;
}

/* Lists the smaller side of the cut and the agreeing edges across it. */
static psfm_status describe_cut(psfm_context *ctx, const finder *f, psfm_runner_up *out) {
    const part_graph *p = &f->part;
    uint32_t n = p->graph.num_nodes, num = 0, edges = 0;
    for (uint32_t v = 0; v < n; ++v)
        num += p->best[v];
    bool side = 2 * num <= n;
    out->back = !side;
    psfm_status status = PSFM_ALLOC(ctx, side ? num : n - num, &out->node);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out->num_agreeing, &out->edge);
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v) {
        if (p->best[v] == side)
            out->node[out->num_nodes++] = p->node[v];
        else
            out->reference = p->node[v];
    }
    for (uint32_t k = 0; status == PSFM_OK && k < p->graph.num_edges; ++k)
        if (p->best[p->node1[k]] != p->best[p->node2[k]] && f->in->agrees[p->edge[k]])
            out->edge[edges++] = p->edge[k];
    return status;
}

/* The runner-up of one part; out->node stays NULL if there is none. */
static psfm_status find_one(psfm_context *ctx, finder *f, const uint32_t *part, uint32_t which,
                            psfm_runner_up *out) {
    double least = INFINITY;
    psfm_status status = PSFM_OK;
    extract_part(f->in->graph, part, which, &f->part);
    for (int k = 0; status == PSFM_OK && k < f->in->num_moves; ++k)
        status = try_move(ctx, f, k, &least, out);
    return status == PSFM_OK && isfinite(least) ? describe_cut(ctx, f, out) : status;
}

/* Numbers the parts anew after part.best was cut off: its connected components by edges that agree,
 * get numbers from *num on. */
static psfm_status cut_part(psfm_context *ctx, const finder *f, uint32_t *part, uint32_t *num) {
    const part_graph *p = &f->part;
    bool *keep = NULL;
    uint32_t *label = NULL, num_new;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->graph.num_edges, &keep)) ||
        (status = PSFM_ALLOC(ctx, p->graph.num_nodes, &label)))
        goto cleanup;
    for (uint32_t k = 0; k < p->graph.num_edges; ++k)
        keep[k] = f->in->agrees[p->edge[k]] && p->best[p->node1[k]] == p->best[p->node2[k]];
    status = psfm_topology_components(ctx, &p->graph, keep, label, &num_new);
    for (uint32_t v = 0; status == PSFM_OK && v < p->graph.num_nodes; ++v)
        part[p->node[v]] = *num + label[v];
    if (status == PSFM_OK)
        *num += num_new;

cleanup:
    free(keep);
    free(label);
    return status;
}

/* Moves an item to the end of the list. */
static psfm_status keep_item(psfm_context *ctx, psfm_runner_up *item, psfm_runner_ups *out) {
    psfm_status status = PSFM_RESERVE(ctx, &out->item, &out->room, out->num + 1);
    if (status != PSFM_OK)
        return status;
    out->item[out->num++] = *item;
    *item = (psfm_runner_up){0};
    return PSFM_OK;
}

/* Looks at the parts one after the other, cutting those that are undecided, whose components
 * follow. */
static psfm_status find_all(psfm_context *ctx, finder *f, uint32_t num_parts,
                            psfm_runner_ups *out) {
    uint32_t whole = num_parts, cuts = 0;
    psfm_status status = PSFM_OK;
    for (uint32_t k = 0; status == PSFM_OK && k < num_parts; ++k) {
        psfm_runner_up found = {0};
        status = find_one(ctx, f, out->part, k, &found);
        bool undecided = found.num_nodes > 0 && !found.decided;
        if (status == PSFM_OK && undecided && ++cuts <= MAX_CUTS)
            status = cut_part(ctx, f, out->part, &num_parts);
        if (status == PSFM_OK && (undecided || (k < whole && found.num_nodes > 0)))
            status = keep_item(ctx, &found, out);
        psfm_runner_up_free(&found);
    }
    for (uint32_t v = 0; v < f->in->graph->num_nodes; ++v)
        if (out->part[v] < whole)
            out->part[v] = UINT32_MAX;
    return status;
}

psfm_status psfm_runner_ups_find(psfm_context *ctx, const psfm_runner_up_problem *problem,
                                 psfm_runner_ups *out) {
    finder f = {.in = problem};
    uint32_t num_parts = 0;
    *out = (psfm_runner_ups){0};
    psfm_status status = PSFM_ALLOC(ctx, problem->graph->num_nodes, &out->part);
    if (status == PSFM_OK)
        status =
            psfm_topology_components(ctx, problem->graph, problem->agrees, out->part, &num_parts);
    if (status == PSFM_OK)
        status = finder_init(ctx, problem, &f);
    if (status == PSFM_OK)
        status = find_all(ctx, &f, num_parts, out);
    finder_free(&f);
    return status;
}

void psfm_runner_up_free(psfm_runner_up *item) {
    free(item->node);
    free(item->edge);
    *item = (psfm_runner_up){0};
}

void psfm_runner_ups_free(psfm_runner_ups *runner_ups) {
    for (size_t k = 0; k < runner_ups->num; ++k)
        psfm_runner_up_free(&runner_ups->item[k]);
    free(runner_ups->item);
    free(runner_ups->part);
    *runner_ups = (psfm_runner_ups){0};
}

double psfm_evidence_ratio(double agreeing, double opposing) {
    return fmin(1.0, (opposing + 0.5) / (agreeing + 0.5));
}
