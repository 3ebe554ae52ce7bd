/* Rotations by linear least squares, the constraint that they are rotations left out.
 *
 * With X_v free 3 x 3 matrices, sum w ||X_2 - R_21 X_1||^2 is quadratic, its columns independent of
 * each other, and its normal equations have blocks of w I on the diagonal and -w R_21 off it. The
 * minimum is shrunk where loops do not close, and the rotations nearest to it are near the optimum
 * of the chordal cost over rotations as long as noise is small against the loops: for pose graphs
 * of robots a start from which descent reaches the global optimum, where a tree's is up to half a
 * turn off at its far end.
 *
 * Sources: Martinec and Pajdla, "Robust Rotation and Translation Estimation in Multiview
 * Reconstruction", 2007; Carlone, Tron, Daniilidis and Dellaert, "Initialization Techniques for 3D
 * SLAM", 2015. */
#include "core/rotations/chordal_relaxation.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/sparse.h"

#define DAMPING 1e-12 /* of the diagonal, relative to its mean: nodes without weight */
#define FIXED UINT32_MAX

typedef struct {
    const psfm_relative_rotations *relative;
    uint32_t *place; /* per node: its first unknown; FIXED at the identity */
    uint32_t num_unknowns;
    uint32_t *row, *col; /* of triplets: the diagonal, then nine for each edge between free nodes */
    double *value;
    size_t num_triplets;
    double *rhs; /* three columns, one after the other */
} relaxation;

static double edge_weight(const relaxation *r, uint32_t e) {
    return r->relative->weight == NULL ? 1.0 : r->relative->weight[e];
}

/* Fixes the first node of each component and numbers the unknowns of the others. */
static psfm_status number_unknowns(psfm_context *ctx, relaxation *r) {
    const psfm_topology *graph = r->relative->topology;
    uint32_t *label = NULL, num = 0;
    psfm_status status;
    if (graph->num_nodes > UINT32_MAX / 3)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many nodes to relax");
    if ((status = PSFM_ALLOC(ctx, graph->num_nodes, &r->place)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &label)) ||
        (status = psfm_topology_components(ctx, graph, NULL, label, &num)))
        goto cleanup;
    for (uint32_t v = 0, next = 0; v < graph->num_nodes; ++v) {
        bool is_first = label[v] == next;
        next += is_first;
        r->place[v] = is_first ? FIXED : r->num_unknowns;
        r->num_unknowns += is_first ? 0 : 3;
    }

cleanup:
    free(label);
    return status;
}

/* One end of an edge is the identity: the right-hand side of the other gets w A. */
static void add_known(relaxation *r, uint32_t place, double w, const double A[9]) {
    for (uint32_t i = 0; i < 3; ++i)
        for (uint32_t k = 0; k < 3; ++k)
            r->rhs[(size_t)k * r->num_unknowns + place + i] += w * A[3 * i + k];
}

static void add_block(relaxation *r, uint32_t place2, uint32_t place1, double w,
                      const double R_21[9]) {
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            r->row[r->num_triplets] = place2 + i;
            r->col[r->num_triplets] = place1 + j;
            r->value[r->num_triplets++] = -w * R_21[3 * i + j];
        }
    }
}

static void add_edge(relaxation *r, uint32_t e) {
    uint32_t place1 = r->place[r->relative->topology->node1[e]];
    uint32_t place2 = r->place[r->relative->topology->node2[e]];
    const double *R_21 = r->relative->R_21[e];
    double R_12[9], w = edge_weight(r, e);
    for (uint32_t i = 0; i < 3; ++i) {
        if (place1 != FIXED)
            r->value[place1 + i] += w;
        if (place2 != FIXED)
            r->value[place2 + i] += w;
    }
    psfm_mat3_transpose(R_21, R_12);
    if (place1 != FIXED && place2 != FIXED)
        add_block(r, place2, place1, w, R_21);
    else if (place2 != FIXED)
        add_known(r, place2, w, R_21);
    else
        add_known(r, place1, w, R_12);
}

static psfm_status make_system(psfm_context *ctx, relaxation *r) {
    size_t n = r->num_unknowns, most = n + 9 * (size_t)r->relative->topology->num_edges;
    double mean = 0.0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &r->row)) || (status = PSFM_ALLOC(ctx, most, &r->col)) ||
        (status = PSFM_ALLOC(ctx, most, &r->value)) || (status = PSFM_ALLOC(ctx, 3 * n, &r->rhs)))
        return status;
    for (uint32_t k = 0; k < n; ++k)
        r->row[k] = r->col[k] = k;
    r->num_triplets = n;
    for (uint32_t e = 0; e < r->relative->topology->num_edges; ++e)
        add_edge(r, e);
    for (size_t k = 0; k < n; ++k)
        mean += r->value[k] / (double)n;
    for (size_t k = 0; k < n; ++k)
        r->value[k] += DAMPING * mean + DBL_MIN;
    return status;
}

static psfm_status solve_system(psfm_context *ctx, relaxation *r) {
    psfm_spd *system = NULL;
    psfm_status status =
        psfm_spd_create(ctx, r->num_unknowns, r->num_triplets, r->row, r->col, &system);
    if (status == PSFM_OK) {
        psfm_spd_allow_iterative(system, 1e-8, 1000);
        status = psfm_spd_factor(ctx, system, r->value, 0.0);
    }
    if (status == PSFM_OK)
        status = psfm_spd_solve(ctx, system, 3, r->rhs, r->rhs);
    psfm_spd_destroy(&system);
    return status;
}

static void take_nearest(const relaxation *r, uint32_t v, double R[9]) {
    double X[9];
    psfm_mat3_identity(R);
    if (r->place[v] == FIXED)
        return;
    for (uint32_t i = 0; i < 3; ++i)
        for (uint32_t k = 0; k < 3; ++k)
            X[3 * i + k] = r->rhs[(size_t)k * r->num_unknowns + r->place[v] + i];
    psfm_mat3_nearest_rotation(X, R);
}

psfm_status psfm_chordal_relaxation(psfm_context *ctx, const psfm_relative_rotations *relative,
                                    double (*cam_from_world)[9]) {
    relaxation r = {.relative = relative};
    psfm_status status = number_unknowns(ctx, &r);
    if (status == PSFM_OK)
        status = make_system(ctx, &r);
    if (status == PSFM_OK && r.num_unknowns > 0)
        status = solve_system(ctx, &r);
    for (uint32_t v = 0; status == PSFM_OK && v < relative->topology->num_nodes; ++v)
        take_nearest(&r, v, cam_from_world[v]);
    free(r.place);
    free(r.row);
    free(r.col);
    free(r.value);
    free(r.rhs);
    return status;
}
