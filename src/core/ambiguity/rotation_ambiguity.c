/* Gauge rotations of sets are labellings (core/labelling/runner_up.h). Flips are looked for image
 * by image: a plane seen in two images has two decompositions, and where few pairs hold an image,
 * all over the same plane, the other ones may agree with each other nearly as well. */
#include "core/ambiguity/rotation_ambiguity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"
#include "core/rotations/consensus_search.h"

typedef struct {
    psfm_consensus_search s;
    bool *agrees; /* per edge, as the images are */
    double unit;  /* mean support of an agreeing edge */
    double max_ratio;
    double moves[2 * PSFM_CONSENSUS_GAUGES]
                [9]; /* the rotations that edges ask for, and their inverses */
    int num_moves;
} finder;

/* Support of an edge with an end turned. A candidate that agrees either way, because its matches
 * determine it poorly, does not ask for the rotation: where an image is within the reach of one
 * candidate is decided by the points. */
static double support_turned(const psfm_consensus_search *s, uint32_t e, uint32_t now,
                             const double R1[9], const double R2[9]) {
    uint32_t best;
    double support = psfm_consensus_support(s, e, R1, R2, &best);
    return best == now ? 0.0 : support;
}

static void weigh_rotation(const void *data, int move, double (*value)[4]) {
    const finder *f = data;
    const double *G = f->moves[move];
    const psfm_topology *t = f->s.topology;
    for (uint32_t e = 0; e < t->num_edges; ++e) {
        const double *R1 = f->s.R[t->node1[e]], *R2 = f->s.R[t->node2[e]];
        double turned1[9], turned2[9];
        uint32_t now;
        psfm_mat3_mul(R1, G, turned1);
        psfm_mat3_mul(R2, G, turned2);
        value[e][0] = value[e][3] = psfm_consensus_support(&f->s, e, R1, R2, &now);
        value[e][1] = support_turned(&f->s, e, now, R1, turned2);
        value[e][2] = support_turned(&f->s, e, now, turned1, R2);
    }
}

static psfm_status list_moves(psfm_context *ctx, const uint32_t *chosen, finder *f) {
    psfm_gauge_rotation rotations[PSFM_CONSENSUS_GAUGES];
    int num = 0;
    psfm_status status = psfm_consensus_find_gauges(ctx, &f->s, chosen, rotations, &num);
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        double back[9];
        psfm_mat3_transpose(rotations[k].G, back);
        memcpy(f->moves[f->num_moves++], rotations[k].G, sizeof back);
        if (psfm_rotation_angle(rotations[k].G, back) > f->s.reach)
            memcpy(f->moves[f->num_moves++], back, sizeof back);
    }
    return status;
}

/* Says how the set of an item turns: by the gauge rotation G, as its reference sees it. */
static void describe_rotation(const finder *f, const double G[9], psfm_ambiguity *item) {
    double vector[3], axis[3];
    psfm_rotation_log(G, vector);
    double angle = psfm_norm3(vector);
    item->rotation_deg = psfm_degrees(angle);
    psfm_scale3(angle > 0.0 ? (item->cut.back ? -1.0 : 1.0) / angle : 0.0, vector, axis);
    psfm_mat3_mul_vec(f->s.R[item->cut.reference], axis, item->direction);
}

static psfm_status find_rotations(psfm_context *ctx, const finder *f, uint64_t seed,
                                  psfm_ambiguities *out) {
    psfm_runner_ups found;
    const psfm_runner_up_problem problem = {.graph = f->s.topology,
                                            .agrees = f->agrees,
                                            .unit = f->unit,
                                            .search_ratio = f->max_ratio,
                                            .max_ratio = f->max_ratio,
                                            .seed = seed,
                                            .num_moves = f->num_moves,
                                            .weigh = weigh_rotation,
                                            .data = f};
    psfm_status status = psfm_runner_ups_find(ctx, &problem, &found);
    for (size_t k = 0; status == PSFM_OK && k < found.num; ++k) {
        psfm_ambiguity item = {.kind = PSFM_AMBIGUITY_ROTATION, .cut = found.item[k]};
        found.item[k] = (psfm_runner_up){0};
        describe_rotation(f, f->moves[item.cut.move], &item);
        status = psfm_ambiguities_add(ctx, &item, out);
        psfm_runner_up_free(&item.cut);
    }
    out->part = found.part;
    found.part = NULL;
    for (uint32_t v = 0; out->part != NULL && v < f->s.topology->num_nodes; ++v)
        if (out->part[v] != UINT32_MAX && out->part[v] >= out->num_parts)
            out->num_parts = out->part[v] + 1;
    psfm_runner_ups_free(&found);
    return status;
}

/* ---- flips ---- */

/* Weighs the edges at v as it is and with rotation R. */
static void weigh_flip(const finder *f, uint32_t v, const double R[9], psfm_runner_up *out) {
    const psfm_topology *t = f->s.topology;
    *out = (psfm_runner_up){0};
    for (size_t k = f->s.adjacency.begin[v]; k < f->s.adjacency.begin[v + 1]; ++k) {
        uint32_t e = f->s.adjacency.edge[k], now;
        bool first = t->node1[e] == v;
        const double *R1 = f->s.R[t->node1[e]], *R2 = f->s.R[t->node2[e]];
        out->agreeing += psfm_consensus_support(&f->s, e, R1, R2, &now) / f->unit;
        double flipped = support_turned(&f->s, e, now, first ? R : R1, first ? R2 : R) / f->unit;
        out->opposing += flipped;
        out->num_opposing += flipped > 0.0 ? 1 : 0;
        out->num_agreeing += f->agrees[e] ? 1 : 0;
        if (f->agrees[e])
            out->reference = first ? t->node2[e] : t->node1[e];
    }
    out->decided = psfm_evidence_ratio(out->agreeing, out->opposing) <= f->max_ratio;
}

/* The rotation that candidate q of edge e gives to v, its other end as it is. */
static void rotation_by(const finder *f, uint32_t v, uint32_t e, uint32_t q, double R[9]) {
    const psfm_topology *t = f->s.topology;
    const double *R_21 = f->s.candidates->R_21[q];
    if (t->node2[e] == v)
        psfm_mat3_mul(R_21, f->s.R[t->node1[e]], R);
    else
        psfm_mat3_t_mul(R_21, f->s.R[t->node2[e]], R);
}

/* Whether the flip of v would be decided even if the other candidates of all its edges agreed. */
static bool is_plain(const finder *f, uint32_t v, const uint32_t *chosen) {
    const psfm_rotation_candidates *c = f->s.candidates;
    double agreeing = 0.0, most = 0.0;
    for (size_t k = f->s.adjacency.begin[v]; k < f->s.adjacency.begin[v + 1]; ++k) {
        uint32_t e = f->s.adjacency.edge[k], now;
        double other = 0.0;
        for (uint32_t q = c->begin[e]; q < c->begin[e + 1]; ++q)
            other = q == chosen[e] ? other : fmax(other, f->s.confidence[q]);
        agreeing += psfm_consensus_support(&f->s, e, f->s.R[f->s.topology->node1[e]],
                                           f->s.R[f->s.topology->node2[e]], &now);
        most += c->weight[e] * other;
    }
    return psfm_evidence_ratio(agreeing / f->unit, most / f->unit) <= f->max_ratio;
}

/* The flip of v with most support, of those that the edges agreeing with it have as their other
 * candidates; false if there is none. */
static bool find_best_flip(const finder *f, uint32_t v, const uint32_t *chosen, double best[9],
                           psfm_runner_up *cut) {
    const psfm_rotation_candidates *c = f->s.candidates;
    bool found = false;
    for (size_t k = f->s.adjacency.begin[v]; k < f->s.adjacency.begin[v + 1]; ++k) {
        uint32_t e = f->s.adjacency.edge[k];
        for (uint32_t q = c->begin[e]; f->agrees[e] && q < c->begin[e + 1]; ++q) {
            double R[9];
            psfm_runner_up own;
            rotation_by(f, v, e, q, R);
            if (q == chosen[e] || psfm_rotation_angle(R, f->s.R[v]) < f->s.reach)
                continue;
            weigh_flip(f, v, R, &own);
            if (found && !(own.opposing > cut->opposing))
                continue;
            *cut = own;
            memcpy(best, R, sizeof R);
            found = true;
        }
    }
    return found;
}

static psfm_status list_flip(psfm_context *ctx, const finder *f, uint32_t v, const double R[9],
                             psfm_runner_up *cut, psfm_ambiguities *out) {
    psfm_ambiguity item = {.kind = PSFM_AMBIGUITY_FLIP, .cut = *cut};
    uint32_t num = 0;
    double G[9];
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, 1, &item.cut.node)) ||
        (status = PSFM_ALLOC(ctx, item.cut.num_agreeing, &item.cut.edge)))
        goto cleanup;
    item.cut.node[item.cut.num_nodes++] = v;
    for (size_t k = f->s.adjacency.begin[v]; k < f->s.adjacency.begin[v + 1]; ++k)
        if (f->agrees[f->s.adjacency.edge[k]])
            item.cut.edge[num++] = f->s.adjacency.edge[k];
    psfm_mat3_t_mul(f->s.R[v], R, G);
    describe_rotation(f, G, &item);
    status = psfm_ambiguities_add(ctx, &item, out);
    if (status == PSFM_OK)
        out->part[v] = out->num_parts++;

cleanup:
    psfm_runner_up_free(&item.cut);
    return status;
}

/* Whether v hangs on one edge whose other end hangs on it, too, and was listed: the same cut. */
static bool is_listed(const psfm_ambiguities *list, const psfm_runner_up *cut) {
    for (size_t k = list->num; cut->num_agreeing == 1 && k-- > 0;) {
        const psfm_ambiguity *other = &list->item[k];
        if (other->kind == PSFM_AMBIGUITY_FLIP && other->cut.node[0] == cut->reference)
            return other->cut.num_agreeing == 1;
    }
    return false;
}

/* Images whose flip nothing decides. */
static psfm_status find_flips(psfm_context *ctx, const finder *f, const uint32_t *chosen,
                              psfm_ambiguities *out) {
    psfm_status status = PSFM_OK;
    for (uint32_t v = 0; status == PSFM_OK && v < f->s.topology->num_nodes; ++v) {
        double R[9];
        psfm_runner_up cut;
        if (!is_plain(f, v, chosen) && find_best_flip(f, v, chosen, R, &cut) && !cut.decided &&
            !is_listed(out, &cut))
            status = list_flip(ctx, f, v, R, &cut, out);
    }
    return status;
}

psfm_status psfm_rotation_ambiguities_find(psfm_context *ctx, const psfm_rotation_problem *problem,
                                           double max_ratio, double (*cam_from_world)[9],
                                           const uint32_t *chosen, psfm_ambiguities *out) {
    const psfm_topology *topology = problem->topology;
    finder f = {.max_ratio = max_ratio};
    uint32_t num_agreeing = 0, *agreed = NULL;
    psfm_status status;
    *out = (psfm_ambiguities){0};
    if ((status = psfm_consensus_init(ctx, problem, cam_from_world, &f.s)) ||
        (status = PSFM_ALLOC(ctx, topology->num_edges, &f.agrees)) ||
        (status = PSFM_ALLOC(ctx, topology->num_edges, &agreed)))
        goto cleanup;
    for (uint32_t e = 0; e < topology->num_edges; ++e) {
        f.agrees[e] = psfm_consensus_agrees(&f.s, e, cam_from_world[topology->node1[e]],
                                            cam_from_world[topology->node2[e]]);
        num_agreeing += f.agrees[e] ? 1 : 0;
    }
    psfm_consensus_learn_typical(&f.s, chosen);
    f.unit = psfm_consensus_choose(&f.s, agreed) / fmax(1.0, num_agreeing);
    if (f.unit > 0.0)
        status = list_moves(ctx, chosen, &f);
    if (status == PSFM_OK)
        status = find_rotations(ctx, &f, problem->seed, out);
    if (status == PSFM_OK && f.unit > 0.0)
        status = find_flips(ctx, &f, agreed, out);

cleanup:
    psfm_consensus_free(&f.s);
    free(f.agrees);
    free(agreed);
    return status;
}
