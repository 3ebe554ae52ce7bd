/* Edge (a, b) that disagrees wants a moved by w = baseline - (c_a - c_b), or b by -w. Edges to the
 * next repetition all name the same w or its inverse. To move a set by -w is to move all others by
 * w, up to the frame; so each vector is tried once, by a labelling: who moves, who stays. */
#include "core/positions/position_shift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/labelling/labelling.h"
#include "core/linalg/loss.h"
#include "core/linalg/vec3.h"

enum { MOST_WISHES = 256 }; /* that are compared with each other */

/* Residual, as a share of the baseline, at which an edge counts half: less than half of what a
 * repetition shifts, more than the noise of a baseline. */
static const double agreeing_share = 0.1;

/* An edge asks for a shift if it is off by more than this share of its baseline. */
static const double asking_share = 0.2;

/* So many edges must ask for a shift before anything is moved by it. */
static const uint32_t fewest_to_move = 2;

/* What a shift must gain, in mean weights of an edge. */
static const double least_gain = 0.5;

double psfm_baseline_agreement(const double residual[3], double length) {
    double scale = agreeing_share * length;
    return psfm_cauchy_weight(psfm_dot3(residual, residual), fmax(scale * scale, 1e-300));
}

/* What is missing from c_a - c_b to the baseline. */
static void find_missing(const psfm_weighted_baseline *edge, const double center_a[3],
                         const double center_b[3], double out[3]) {
    double between[3];
    psfm_sub3(center_a, center_b, between);
    psfm_sub3(edge->baseline, between, out);
}

/* ---- what edges ask for ---- */

typedef struct {
    double shift[3];
    double reach; /* of what is the same */
    double weight;
    double votes; /* weight of the wishes that are the same, its own included */
} wish;

/* Every stride-th edge that asks; returns how many. wishes may be NULL. */
static uint32_t list_wishes(const psfm_shift_problem *p, const double *centers, uint32_t stride,
                            wish *wishes) {
    uint32_t num = 0, seen = 0;
    for (uint32_t k = 0; k < p->num_edges; ++k) {
        const psfm_weighted_baseline *edge = &p->edges[k];
        double length = psfm_baseline_ruler(edge);
        wish own = {.weight = edge->weight, .reach = asking_share * length};
        find_missing(edge, centers + 3 * (size_t)edge->a, centers + 3 * (size_t)edge->b, own.shift);
        if (!(psfm_norm3(own.shift) > own.reach) || seen++ % stride != 0)
            continue;
        if (wishes != NULL)
            wishes[num] = own;
        ++num;
    }
    return num;
}

static bool are_one(const wish *a, const wish *b) {
    double difference[3], sum[3];
    psfm_sub3(a->shift, b->shift, difference);
    psfm_axpy3(a->shift, 1.0, b->shift, sum);
    return fmin(psfm_norm3(difference), psfm_norm3(sum)) < fmin(a->reach, b->reach);
}

/* Votes of each wish; one that fewer than `fewest` edges have has none. */
static void count_votes(wish *wishes, uint32_t num, uint32_t fewest) {
    for (uint32_t i = 0; i < num; ++i) {
        uint32_t same = 0;
        wishes[i].votes = 0.0;
        for (uint32_t j = 0; j < num; ++j) {
            if (j == i || are_one(&wishes[i], &wishes[j])) {
                wishes[i].votes += wishes[j].weight;
                ++same;
            }
        }
        if (same < fewest)
            wishes[i].votes = 0.0;
    }
}

/* The wish with most votes, all that are the same without a vote from now on; NULL if none has. */
static const wish *take_most_wanted(wish *wishes, uint32_t num) {
    wish *best = NULL;
    for (uint32_t k = 0; k < num; ++k)
        if (wishes[k].votes > (best == NULL ? 0.0 : best->votes))
            best = &wishes[k];
    for (uint32_t k = 0; best != NULL && k < num; ++k)
        if (&wishes[k] != best && are_one(best, &wishes[k]))
            wishes[k].votes = 0.0;
    if (best != NULL)
        best->votes = 0.0;
    return best;
}

psfm_status psfm_shifts_wanted(psfm_context *ctx, const psfm_shift_problem *problem,
                               const double *centers, uint32_t fewest,
                               double shift[PSFM_NUM_SHIFTS][3], int *num) {
    uint32_t stride = list_wishes(problem, centers, 1, NULL) / MOST_WISHES + 1;
    uint32_t num_wishes = list_wishes(problem, centers, stride, NULL);
    wish *wishes = NULL;
    *num = 0;
    if (num_wishes < fewest || num_wishes == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, num_wishes, &wishes);
    if (status != PSFM_OK)
        return status;
    list_wishes(problem, centers, stride, wishes);
    count_votes(wishes, num_wishes, fewest);
    while (*num < PSFM_NUM_SHIFTS) {
        const wish *wanted = take_most_wanted(wishes, num_wishes);
        if (wanted == NULL)
            break;
        memcpy(shift[(*num)++], wanted->shift, sizeof wanted->shift);
    }
    free(wishes);
    return PSFM_OK;
}

/* ---- who moves ---- */

typedef struct {
    const psfm_shift_problem *p;
    psfm_topology graph;
    uint32_t *node1, *node2;
    double (*value)[4];
    bool *moves;
    double mean_weight;
} mover;

static psfm_status mover_init(psfm_context *ctx, const psfm_shift_problem *p, mover *m) {
    psfm_status status;
    *m = (mover){.p = p};
    if ((status = PSFM_ALLOC(ctx, p->num_edges, &m->node1)) ||
        (status = PSFM_ALLOC(ctx, p->num_edges, &m->node2)) ||
        (status = PSFM_ALLOC(ctx, p->num_edges, &m->value)) ||
        (status = PSFM_ALLOC(ctx, p->num_nodes, &m->moves)))
        return status;
    for (uint32_t k = 0; k < p->num_edges; ++k) {
        m->node1[k] = p->edges[k].a;
        m->node2[k] = p->edges[k].b;
        m->mean_weight += p->edges[k].weight / p->num_edges;
    }
    m->graph = (psfm_topology){p->num_nodes, p->num_edges, m->node1, m->node2};
    return PSFM_OK;
}

static void mover_free(mover *m) {
    free(m->node1);
    free(m->node2);
    free(m->value);
    free(m->moves);
}

void psfm_shift_weigh(const psfm_shift_problem *problem, const double *centers,
                      const double shift[3], double (*value)[4]) {
    for (uint32_t k = 0; k < problem->num_edges; ++k) {
        const psfm_weighted_baseline *edge = &problem->edges[k];
        double wanted[3], left[3], length = psfm_baseline_ruler(edge);
        find_missing(edge, centers + 3 * (size_t)edge->a, centers + 3 * (size_t)edge->b, wanted);
        value[k][0] = value[k][3] = edge->weight * psfm_baseline_agreement(wanted, length);
        psfm_axpy3(wanted, 1.0, shift, left);
        value[k][1] = edge->weight * psfm_baseline_agreement(left, length);
        psfm_axpy3(wanted, -1.0, shift, left);
        value[k][2] = edge->weight * psfm_baseline_agreement(left, length);
    }
}

static psfm_status try_shift(psfm_context *ctx, mover *m, const double shift[3], double *centers,
                             bool *moved) {
    psfm_labelling_result result;
    const psfm_labelling_problem problem = {&m->graph, (const double(*)[4])m->value, m->p->seed};
    psfm_shift_weigh(m->p, centers, shift, m->value);
    memset(m->moves, 0, m->p->num_nodes * sizeof *m->moves);
    psfm_status status = psfm_labelling_best(ctx, &problem, NULL, m->moves, &result);
    *moved = status == PSFM_OK && result.gain > least_gain * m->mean_weight;
    for (uint32_t v = 0; *moved && v < m->p->num_nodes; ++v)
        if (m->moves[v])
            psfm_axpy3(centers + 3 * (size_t)v, 1.0, shift, centers + 3 * (size_t)v);
    return status;
}

psfm_status psfm_centers_shift(psfm_context *ctx, const psfm_shift_problem *problem,
                               double *centers, bool *moved) {
    double shift[PSFM_NUM_SHIFTS][3];
    int num = 0;
    mover m = {0};
    *moved = false;
    psfm_status status = psfm_shifts_wanted(ctx, problem, centers, fewest_to_move, shift, &num);
    if (status == PSFM_OK && num > 0)
        status = mover_init(ctx, problem, &m);
    for (int k = 0; status == PSFM_OK && k < num && !*moved; ++k)
        status = try_shift(ctx, &m, shift[k], centers, moved);
    mover_free(&m);
    return status;
}
