/* A baseline that agrees with the set shifted and not shifted, because it is long, says nothing:
 * what both have in common counts for neither. */
#include "core/ambiguity/shift_ambiguity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"
#include "core/positions/position_shift.h"

/* Agreement counts nearly as much as opposition when the least decided set is sought. */
#define SEARCH_RATIO 0.8

typedef struct {
    psfm_shift_problem problem;
    uint32_t *node1, *node2;
    psfm_topology graph;
    double *centers; /* of the local nodes */
    bool *agrees;    /* per edge */
    double unit;
    uint32_t ruler;                       /* the longest that agrees */
    double moves[2 * PSFM_NUM_SHIFTS][3]; /* the shifts that edges ask for, and their inverses */
    int num_moves;
} finder;

static void finder_free(finder *f) {
    free(f->node1);
    free(f->node2);
    free(f->centers);
    free(f->agrees);
}

/* Which baselines agree, how much they do in the mean, and the longest of them. */
static void find_agreeing(finder *f) {
    const psfm_shift_problem *p = &f->problem;
    double longest = 0.0, sum = 0.0;
    uint32_t num = 0;
    for (uint32_t k = 0; k < p->num_edges; ++k) {
        const psfm_weighted_baseline *edge = &p->edges[k];
        double off[3], length = psfm_norm3(edge->baseline);
        psfm_sub3(f->centers + 3 * (size_t)edge->a, f->centers + 3 * (size_t)edge->b, off);
        psfm_sub3(off, edge->baseline, off);
        double agreement = psfm_baseline_agreement(off, psfm_baseline_ruler(edge));
        f->agrees[k] = agreement > 0.5;
        if (!f->agrees[k])
            continue;
        sum += edge->weight * agreement;
        ++num;
        if (length > longest) {
            longest = length;
            f->ruler = k;
        }
    }
    f->unit = num > 0 ? sum / num : 0.0;
}

static psfm_status finder_init(psfm_context *ctx, const psfm_known_baselines *known,
                               const psfm_placed_nodes *nodes, finder *f) {
    psfm_status status;
    *f = (finder){
        .problem = {known->edges, known->num_edges, known->num_nodes, psfm_context_seed(ctx)}};
    if ((status = PSFM_ALLOC(ctx, known->num_edges, &f->node1)) ||
        (status = PSFM_ALLOC(ctx, known->num_edges, &f->node2)) ||
        (status = PSFM_ALLOC(ctx, known->num_edges, &f->agrees)) ||
        (status = PSFM_ALLOC(ctx, 3 * (size_t)known->num_nodes, &f->centers)))
        return status;
    for (uint32_t v = 0; v < known->num_nodes; ++v)
        memcpy(f->centers + 3 * (size_t)v, nodes->center[known->node[v]], 3 * sizeof *f->centers);
    for (uint32_t k = 0; k < known->num_edges; ++k) {
        f->node1[k] = known->edges[k].a;
        f->node2[k] = known->edges[k].b;
    }
    f->graph = (psfm_topology){known->num_nodes, known->num_edges, f->node1, f->node2};
    find_agreeing(f);
    return PSFM_OK;
}

static psfm_status list_moves(psfm_context *ctx, finder *f) {
    double shift[PSFM_NUM_SHIFTS][3];
    int num = 0;
    psfm_status status = psfm_shifts_wanted(ctx, &f->problem, f->centers, 1, shift, &num);
    for (int k = 0; status == PSFM_OK && k < num; ++k) {
        memcpy(f->moves[f->num_moves++], shift[k], sizeof *shift);
        psfm_scale3(-1.0, shift[k], f->moves[f->num_moves++]);
    }
    return status;
}

static void weigh_shift(const void *data, int move, double (*value)[4]) {
    const finder *f = data;
    psfm_shift_weigh(&f->problem, f->centers, f->moves[move], value);
    for (uint32_t k = 0; k < f->problem.num_edges; ++k) {
        double common = fmin(value[k][0], fmax(value[k][1], value[k][2]));
        for (int state = 0; state < 4; ++state)
            value[k][state] = fmax(0.0, value[k][state] - common);
    }
}

/* One runner-up, its nodes and edges numbered as in the graph. */
static psfm_status list_item(psfm_context *ctx, const finder *f, const psfm_known_baselines *known,
                             const psfm_placed_nodes *nodes, psfm_runner_up *found,
                             psfm_ambiguities *list) {
    psfm_ambiguity item = {.kind = PSFM_AMBIGUITY_SHIFT, .cut = *found};
    const double *shift = f->moves[found->move];
    double world[3], length = psfm_norm3(shift);
    *found = (psfm_runner_up){0};
    item.ruler = known->edge[f->ruler];
    item.shift = length / psfm_baseline_ruler(&known->edges[f->ruler]);
    for (uint32_t k = 0; k < item.cut.num_nodes; ++k)
        item.cut.node[k] = known->node[item.cut.node[k]];
    for (uint32_t k = 0; k < item.cut.num_agreeing; ++k)
        item.cut.edge[k] = known->edge[item.cut.edge[k]];
    item.cut.reference = known->node[item.cut.reference];
    psfm_scale3((item.cut.back ? -1.0 : 1.0) / length, shift, world);
    psfm_mat3_mul_vec(nodes->cam_from_world[item.cut.reference], world, item.direction);
    psfm_status status = psfm_ambiguities_add(ctx, &item, list);
    psfm_runner_up_free(&item.cut);
    return status;
}

/* Takes over the parts of a component that was cut. */
static psfm_status take_parts(psfm_context *ctx, const psfm_known_baselines *known,
                              const uint32_t *part, uint32_t num_nodes, psfm_ambiguities *list) {
    uint32_t most = 0;
    psfm_status status = PSFM_OK;
    if (list->part == NULL) {
        status = PSFM_ALLOC(ctx, num_nodes, &list->part);
        for (uint32_t v = 0; status == PSFM_OK && v < num_nodes; ++v)
            list->part[v] = UINT32_MAX;
    }
    for (uint32_t v = 0; status == PSFM_OK && v < known->num_nodes; ++v) {
        if (part[v] == UINT32_MAX)
            continue;
        list->part[known->node[v]] = list->num_parts + part[v];
        most = part[v] >= most ? part[v] + 1 : most;
    }
    list->num_parts += most;
    return status;
}

psfm_status psfm_shift_ambiguities_find(psfm_context *ctx, const psfm_known_baselines *known,
                                        const psfm_placed_nodes *nodes, double max_ratio,
                                        psfm_ambiguities *list) {
    finder f;
    psfm_runner_ups found = {0};
    psfm_status status = finder_init(ctx, known, nodes, &f);
    if (status == PSFM_OK)
        status = list_moves(ctx, &f);
    if (status != PSFM_OK || f.num_moves == 0 || !(f.unit > 0.0))
        goto cleanup;
    const psfm_runner_up_problem problem = {.graph = &f.graph,
                                            .agrees = f.agrees,
                                            .unit = f.unit,
                                            .search_ratio = SEARCH_RATIO,
                                            .max_ratio = max_ratio,
                                            .seed = f.problem.seed,
                                            .num_moves = f.num_moves,
                                            .weigh = weigh_shift,
                                            .data = &f};
    status = psfm_runner_ups_find(ctx, &problem, &found);
    for (size_t k = 0; status == PSFM_OK && k < found.num; ++k)
        status = list_item(ctx, &f, known, nodes, &found.item[k], list);
    if (status == PSFM_OK)
        status = take_parts(ctx, known, found.part, nodes->num, list);

cleanup:
    psfm_runner_ups_free(&found);
    finder_free(&f);
    return status;
}
