/* Triangle evidence.
 *
 * Normals cannot tell duplicate structure: the floor of a court turned by 180 degrees has the
 * same normal. Rotations can: along i -> j -> k -> i they must multiply to the identity, and a
 * false edge breaks every triangle that it is in. The factor of two edges is the closure of the
 * triangle they span, so that after embedding the edges of broken triangles drift apart from the
 * others. */
#include "core/posegraph/cycle_consistency.h"

#include <math.h>

#include "core/base/parallel.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"

/* A triangle that fails to close by so much has dropped to 1/e: a few times what rotations of pairs
 * are off, far less than a duplicate's turn. */
#define CLOSURE_BANDWIDTH_DEG 3.0

/* Rows of S that one task works on. */
#define ROWS_PER_TASK 256

typedef struct {
    const psfm_pose_graph *graph;
    double bandwidth;
    psfm_csr *S;
    double *support;
} closures;

/* Rotation of a hypothesis from node `from` to the other end of its edge. */
static void rotation_from(const psfm_edge *edge, const psfm_hypothesis *h, uint32_t from,
                          double R[9]) {
    if (edge->node1 == from)
        for (int k = 0; k < 9; ++k)
            R[k] = h->motion.R_21[k];
    else
        psfm_mat3_transpose(h->motion.R_21, R);
}

/* Smallest rotation by which e = (s, a), f = (s, b), g = (a, b) fail to close, over the hypotheses
 * in use: the angle between R_bs and R_ba R_as. */
static double find_closure(const closures *c, const psfm_edge *e, const psfm_edge *f,
                           const psfm_edge *g, uint32_t s, uint32_t a) {
    const psfm_hypothesis *h = c->graph->hypotheses;
    double smallest = INFINITY;
    for (uint32_t p = e->hypothesis_begin; p < e->hypothesis_end; ++p) {
        for (uint32_t r = g->hypothesis_begin; r < g->hypothesis_end; ++r) {
            double R_as[9], R_ba[9], chained[9], R_bs[9];
            if (!(h[p].weight > 0.0 && h[r].weight > 0.0))
                continue;
            rotation_from(e, &h[p], s, R_as);
            rotation_from(g, &h[r], a, R_ba);
            psfm_mat3_mul(R_ba, R_as, chained);
            for (uint32_t q = f->hypothesis_begin; q < f->hypothesis_end; ++q) {
                if (!(h[q].weight > 0.0))
                    continue;
                rotation_from(f, &h[q], s, R_bs);
                smallest = fmin(smallest, psfm_rotation_angle(R_bs, chained));
            }
        }
    }
    return smallest;
}

/* Factor of edges e and f; *closed tells whether a third edge closes them. */
static double find_factor(const closures *c, uint32_t e, uint32_t f, bool *closed) {
    const psfm_pose_graph *graph = c->graph;
    const psfm_edge *E = &graph->edges[e], *F = &graph->edges[f];
    uint32_t s = E->node1 == F->node1 || E->node1 == F->node2 ? E->node1 : E->node2;
    uint32_t a = psfm_edge_other(E, s), b = psfm_edge_other(F, s);
    double best = 0.0;
    *closed = false;
    for (size_t k = graph->incident.begin[a]; k < graph->incident.begin[a + 1]; ++k) {
        const psfm_edge *g = &graph->edges[graph->incident.edge[k]];
        if (psfm_edge_other(g, a) != b)
            continue;
        double x = find_closure(c, E, F, g, s, a) / c->bandwidth;
        best = fmax(best, exp(-x * x));
        *closed = true;
    }
    return *closed ? best : PSFM_CYCLE_NEUTRAL;
}

static psfm_status scale_rows(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const closures *c = user;
    size_t last = (index + 1) * ROWS_PER_TASK < c->S->n ? (index + 1) * ROWS_PER_TASK : c->S->n;
    for (size_t e = index * ROWS_PER_TASK; e < last; ++e) {
        double sum = 0.0;
        size_t num_closed = 0;
        for (size_t k = c->S->row_begin[e]; k < c->S->row_begin[e + 1]; ++k) {
            bool closed;
            uint32_t f = c->S->col[k];
            if (f == e)
                continue; /* an edge closes no triangle with itself */
            double value =
                find_factor(c, e < f ? (uint32_t)e : f, e < f ? f : (uint32_t)e, &closed);
            c->S->value[k] *= fmax(value, 0.01 * PSFM_CYCLE_NEUTRAL);
            if (closed) {
                sum += value;
                ++num_closed;
            }
        }
        if (c->support != NULL)
            c->support[e] = num_closed > 0 ? sum / (double)num_closed : PSFM_CYCLE_NEUTRAL;
    }
    return PSFM_OK;
}

psfm_status psfm_cycle_evidence(psfm_context *ctx, const psfm_pose_graph *graph, psfm_csr *S,
                                double *support) {
    closures c = {graph, psfm_radians(CLOSURE_BANDWIDTH_DEG), S, support};
    size_t num_tasks = ((size_t)S->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    return psfm_parallel_for(ctx, NULL, num_tasks, scale_rows, &c);
}
