/* The linear system of centres and baselines, and the ways to solve it robustly. Internal to
 * position_plane.c. */
#ifndef PSFM_POSITIONS_POSITION_SYSTEM_H
#define PSFM_POSITIONS_POSITION_SYSTEM_H

#include "core/base/context.h"
#include "core/linalg/sparse.h"

/* One edge of the system. */
typedef struct {
    uint32_t a, b;  /* local nodes */
    uint32_t edge;  /* in the graph */
    uint32_t scale; /* unknown of its scale, UINT32_MAX for 1 */
    bool has_length;
    double baseline[3]; /* c_a - c_b if scale is 1; a unit vector if it has no length */
    double weight;
    bool is_rotation; /* no parallax: the baseline is 0, to within `slack` */
    double slack;     /* INFINITY: not known in the unit of the centres */
} psfm_position_term;

typedef struct {
    uint32_t num_nodes;
    uint32_t *local; /* per node of the graph, UINT32_MAX if not posed */
    psfm_position_term *terms;
    uint32_t num_terms;
    uint32_t num_unknowns; /* three per node, then the scales */
    double *x;
} psfm_position_system;

bool psfm_has_known_length(const psfm_position_term *term);

/* The length that misfits of a term with a known one are shares of. */
double psfm_position_ruler(const psfm_position_term *term);

/* c_a - c_b less what the term says. */
void psfm_position_residual(const psfm_position_system *s, const psfm_position_term *term,
                            double r[3]);

/* Median residual; *length is the median baseline. scratch has num_terms entries. */
double psfm_position_typical_residual(const psfm_position_system *s, double *scratch,
                                      double *length);

/* Sum of the weights of what agrees; directions do not count, for want of a measure. */
double psfm_position_support(const psfm_position_system *s);

/* ---- least squares with changing weights ---- */

/* Triplets of the normal equations. */
typedef struct {
    uint32_t *row, *col;
    double *value;
    size_t num;
} psfm_position_triplets;

typedef struct {
    psfm_position_triplets m;
    psfm_spd *spd;
    double *w, *rhs, *scratch, *kept; /* kept: centres to go back to */
    double shift;
} psfm_position_solver;

/* Allocates s->x as well. Free the solver in any case. */
psfm_status psfm_position_solver_init(psfm_context *ctx, psfm_position_system *s,
                                      psfm_position_solver *v);
void psfm_position_solver_free(psfm_position_solver *v);

/* The least sum of residual lengths. */
psfm_status psfm_position_solve_lengths(psfm_context *ctx, psfm_position_system *s, int iterations,
                                        psfm_position_solver *v);

/* Lets go of what does not agree with the centres at hand. */
psfm_status psfm_position_solve_agreement(psfm_context *ctx, psfm_position_system *s,
                                          int iterations, psfm_position_solver *v);

#endif
