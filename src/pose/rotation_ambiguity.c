/* Runner-ups, one part of the graph after the other. A part is labelled by each of the turns that
 * its edges ask for, one image held (the others turned is the same as this one turned back), and
 * the set against whose turn least speaks is the runner-up. */
#include "pose/rotation_ambiguity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/labelling.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"
#include "linalg/vec3.h"
#include "pose/consensus_search.h"

/* Cuts that are followed up. */
enum { MAX_CUTS = 64 };

typedef struct {
    psfm_consensus_search s;
    bool *agrees; /* per edge, as the images are */
    double unit;  /* mean support of an agreeing edge */
    double max_ratio;
    uint64_t seed;
    psfm_world_turn turns[PSFM_CONSENSUS_TURNS];
    int num_turns;
    double (*value)[4]; /* of the turn at hand */
    double turn[3];     /* of the best set so far, as a rotation vector */
    size_t room;        /* for items */
} finder;

/* One part as a graph of its own. */
typedef struct {
    uint32_t *local; /* per node of the whole: its number here */
    uint32_t *node;  /* of each local node: its number in the whole */
    uint32_t *edge;  /* the same of its edges */
    uint32_t *node1, *node2;
    double (*value)[4];
    bool *held, *none, *flip, *best;
    psfm_topology graph;
} part_graph;

static void free_part(part_graph *p) {
    free(p->local);
    free(p->node);
    free(p->edge);
    free(p->node1);
    free(p->node2);
    free(p->value);
    free(p->held);
    free(p->none);
    free(p->flip);
    free(p->best);
}

static psfm_status alloc_part(psfm_context *ctx, uint32_t n, uint32_t m, part_graph *p) {
    psfm_status status;
    *p = (part_graph){0};
    if ((status = PSFM_ALLOC(ctx, n, &p->local)) || (status = PSFM_ALLOC(ctx, n, &p->node)) ||
        (status = PSFM_ALLOC(ctx, m, &p->edge)) || (status = PSFM_ALLOC(ctx, m, &p->node1)) ||
        (status = PSFM_ALLOC(ctx, m, &p->node2)) || (status = PSFM_ALLOC(ctx, m, &p->value)) ||
        (status = PSFM_ALLOC(ctx, n, &p->held)) || (status = PSFM_ALLOC(ctx, n, &p->none)) ||
        (status = PSFM_ALLOC(ctx, n, &p->flip)) || (status = PSFM_ALLOC(ctx, n, &p->best)))
        return status;
    return PSFM_OK;
}

/* The graph of one part; its first node is held. */
static void extract(const psfm_topology *t, const uint32_t *part, uint32_t which, part_graph *p) {
    uint32_t n = 0, m = 0;
    for (uint32_t v = 0; v < t->num_nodes; ++v) {
        if (part[v] != which)
            continue;
        p->local[v] = n;
        p->held[n] = n == 0;
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

/* Support of an edge with an end turned. A candidate that agrees either way, because its matches
 * determine it poorly, does not ask for the turn: where an image is within the reach of one
 * candidate is settled by the points. */
static double support_turned(const finder *f, uint32_t e, uint32_t now, const double R1[9],
                             const double R2[9]) {
    uint32_t best;
    double support = psfm_consensus_support(&f->s, e, R1, R2, &best);
    return best == now ? 0.0 : support;
}

/* The values of all edges for a turn by G, for graph/labelling.h. */
static void weigh_turn(finder *f, const double G[9]) {
    const psfm_topology *t = f->s.topology;
    for (uint32_t e = 0; e < t->num_edges; ++e) {
        const double *R1 = f->s.R[t->node1[e]], *R2 = f->s.R[t->node2[e]];
        double turned1[9], turned2[9];
        uint32_t now;
        psfm_mat3_mul(R1, G, turned1);
        psfm_mat3_mul(R2, G, turned2);
        f->value[e][0] = f->value[e][3] = psfm_consensus_support(&f->s, e, R1, R2, &now);
        f->value[e][1] = support_turned(f, e, now, R1, turned2);
        f->value[e][2] = support_turned(f, e, now, turned1, R2);
    }
}

/* Weighs the cut round the set p->best at the turn at hand. */
static void weigh_cut(const finder *f, const part_graph *p, psfm_rotation_ambiguity *out) {
    for (uint32_t k = 0; k < p->graph.num_edges; ++k) {
        int state = 2 * p->best[p->node1[k]] + p->best[p->node2[k]];
        if (state == 0 || state == 3)
            continue;
        uint32_t e = p->edge[k];
        out->agreeing += f->value[e][0] / f->unit;
        out->opposing += f->value[e][state] / f->unit;
        out->num_agreeing += f->agrees[e] ? 1 : 0;
        out->num_opposing += f->value[e][state] > 0.0 ? 1 : 0;
    }
    out->decided = psfm_rotation_ambiguity_ratio(out) <= f->max_ratio;
}

/* The set of the part against whose turn by G least speaks: agreeing weight counts max_ratio times
 * what opposing does, so that the least decided set is found, not the smallest. *least is what the
 * best one costs so far, and *out what it is. */
static psfm_status try_turn(psfm_context *ctx, finder *f, part_graph *p, const double G[9],
                            double *least, psfm_rotation_ambiguity *out) {
    psfm_labelling_result result;
    weigh_turn(f, G);
    for (uint32_t k = 0; k < p->graph.num_edges; ++k) {
        memcpy(p->value[k], f->value[p->edge[k]], sizeof *p->value);
        p->value[k][0] *= f->max_ratio;
        p->value[k][3] *= f->max_ratio;
    }
    const psfm_labelling_problem problem = {&p->graph, (const double(*)[4])p->value, f->seed};
    psfm_status status =
        psfm_labelling_runner_up(ctx, &problem, p->none, p->held, NULL, p->flip, &result);
    if (status != PSFM_OK || !(-result.gain < *least))
        return status;
    *least = -result.gain;
    memcpy(p->best, p->flip, p->graph.num_nodes * sizeof *p->best);
    *out = (psfm_rotation_ambiguity){0};
    psfm_rotation_log(G, f->turn);
    weigh_cut(f, p, out);
    return PSFM_OK;
}

/* Lists the smaller side of the cut and the agreeing edges across it, and says how it turns. */
static psfm_status describe_cut(psfm_context *ctx, const finder *f, const part_graph *p,
                                psfm_rotation_ambiguity *out) {
    uint32_t n = p->graph.num_nodes, num = 0, edges = 0;
    double axis[3], angle = psfm_norm3(f->turn);
    for (uint32_t v = 0; v < n; ++v)
        num += p->best[v];
    bool side = 2 * num <= n;
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
        if (p->best[p->node1[k]] != p->best[p->node2[k]] && f->agrees[p->edge[k]])
            out->edge[edges++] = p->edge[k];
    out->turn_deg = psfm_degrees(angle);
    psfm_scale3(angle > 0.0 ? 1.0 / angle : 0.0, f->turn, axis);
    psfm_mat3_mul_vec(f->s.R[out->reference], axis, out->axis_cam);
    return status;
}

/* The runner-up of one part; out->node stays NULL if there is none. */
static psfm_status find_runner_up(psfm_context *ctx, finder *f, const uint32_t *part,
                                  uint32_t which, part_graph *p, psfm_rotation_ambiguity *out) {
    double least = INFINITY;
    psfm_status status = PSFM_OK;
    extract(f->s.topology, part, which, p);
    for (int k = 0; status == PSFM_OK && k < f->num_turns; ++k) {
        const double *G = f->turns[k].G;
        double back[9];
        psfm_mat3_transpose(G, back);
        status = try_turn(ctx, f, p, G, &least, out);
        if (status == PSFM_OK && psfm_rotation_angle(G, back) > f->s.reach)
            status = try_turn(ctx, f, p, back, &least, out);
    }
    return status == PSFM_OK && isfinite(least) ? describe_cut(ctx, f, p, out) : status;
}

/* Numbers the parts anew after p->best was cut from part `which`: its pieces, connected by edges
 * that agree, get numbers from *num on. */
static psfm_status cut(psfm_context *ctx, const finder *f, const part_graph *p, uint32_t *part,
                       uint32_t *num) {
    bool *keep = NULL;
    uint32_t *label = NULL, pieces;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->graph.num_edges, &keep)) ||
        (status = PSFM_ALLOC(ctx, p->graph.num_nodes, &label)))
        goto cleanup;
    for (uint32_t k = 0; k < p->graph.num_edges; ++k)
        keep[k] = f->agrees[p->edge[k]] && p->best[p->node1[k]] == p->best[p->node2[k]];
    status = psfm_topology_components(ctx, &p->graph, keep, label, &pieces);
    for (uint32_t v = 0; status == PSFM_OK && v < p->graph.num_nodes; ++v)
        part[p->node[v]] = *num + label[v];
    if (status == PSFM_OK)
        *num += pieces;

cleanup:
    free(keep);
    free(label);
    return status;
}

static void free_item(psfm_rotation_ambiguity *item) {
    free(item->node);
    free(item->edge);
    *item = (psfm_rotation_ambiguity){0};
}

/* Moves an item to the end of the list. */
static psfm_status keep(psfm_context *ctx, finder *f, psfm_rotation_ambiguity *item,
                        psfm_rotation_ambiguities *out) {
    psfm_status status = PSFM_RESERVE(ctx, &out->item, &f->room, out->num + 1);
    if (status != PSFM_OK)
        return status;
    out->item[out->num++] = *item;
    *item = (psfm_rotation_ambiguity){0};
    return PSFM_OK;
}

/* Looks at the parts one after the other, cutting those that are undecided, whose pieces follow. */
static psfm_status find_all(psfm_context *ctx, finder *f, uint32_t num_parts,
                            psfm_rotation_ambiguities *out) {
    const psfm_topology *t = f->s.topology;
    uint32_t whole = num_parts, cuts = 0;
    part_graph p;
    psfm_status status = alloc_part(ctx, t->num_nodes, t->num_edges, &p);
    for (uint32_t k = 0; status == PSFM_OK && k < num_parts; ++k) {
        psfm_rotation_ambiguity found = {0};
        status = find_runner_up(ctx, f, out->part, k, &p, &found);
        bool undecided = found.num_nodes > 0 && !found.decided;
        if (status == PSFM_OK && undecided && ++cuts <= MAX_CUTS)
            status = cut(ctx, f, &p, out->part, &num_parts);
        if (status == PSFM_OK && (undecided || (k < whole && found.num_nodes > 0)))
            status = keep(ctx, f, &found, out);
        free_item(&found);
    }
    for (uint32_t v = 0; v < t->num_nodes; ++v)
        if (out->part[v] < whole)
            out->part[v] = UINT32_MAX;
    free_part(&p);
    return status;
}

psfm_status psfm_rotation_ambiguities_find(psfm_context *ctx, const psfm_rotation_problem *problem,
                                           double max_ratio, double (*cam_from_world)[9],
                                           const uint32_t *chosen, psfm_rotation_ambiguities *out) {
    const psfm_topology *topology = problem->topology;
    finder f = {.max_ratio = max_ratio, .seed = problem->seed};
    uint32_t num_parts = 0, num_agreeing = 0, *agreed = NULL;
    psfm_status status;
    *out = (psfm_rotation_ambiguities){0};
    if ((status = psfm_consensus_init(ctx, problem, cam_from_world, &f.s)) ||
        (status = PSFM_ALLOC(ctx, topology->num_edges, &f.value)) ||
        (status = PSFM_ALLOC(ctx, topology->num_edges, &f.agrees)) ||
        (status = PSFM_ALLOC(ctx, topology->num_edges, &agreed)) ||
        (status = PSFM_ALLOC(ctx, topology->num_nodes, &out->part)))
        goto cleanup;
    for (uint32_t e = 0; e < topology->num_edges; ++e) {
        f.agrees[e] = psfm_consensus_agrees(&f.s, e, cam_from_world[topology->node1[e]],
                                            cam_from_world[topology->node2[e]]);
        num_agreeing += f.agrees[e] ? 1 : 0;
    }
    psfm_consensus_learn_typical(&f.s, chosen);
    f.unit = psfm_consensus_choose(&f.s, agreed) / fmax(1.0, num_agreeing);
    if ((status = psfm_topology_components(ctx, topology, f.agrees, out->part, &num_parts)) ||
        (status = psfm_consensus_find_turns(ctx, &f.s, chosen, f.turns, &f.num_turns)))
        goto cleanup;
    if (f.num_turns > 0 && f.unit > 0.0)
        status = find_all(ctx, &f, num_parts, out);

cleanup:
    psfm_consensus_free(&f.s);
    free(f.value);
    free(f.agrees);
    free(agreed);
    return status;
}

void psfm_rotation_ambiguities_free(psfm_rotation_ambiguities *ambiguities) {
    for (size_t k = 0; k < ambiguities->num; ++k)
        free_item(&ambiguities->item[k]);
    free(ambiguities->item);
    free(ambiguities->part);
    *ambiguities = (psfm_rotation_ambiguities){0};
}

double psfm_rotation_ambiguity_ratio(const psfm_rotation_ambiguity *ambiguity) {
    return fmin(1.0, (ambiguity->opposing + 0.5) / (ambiguity->agreeing + 0.5));
}
