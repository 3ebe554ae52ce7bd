/* One physical plane: minima about reference views, and the best of them in all views. */
#ifndef PSFM_CALIB_PLANE_MINIMA_H
#define PSFM_CALIB_PLANE_MINIMA_H

#include "calib/plane_region.h"

#define PSFM_MAX_MINIMA 3      /* adjusted from each reference, and one more: see plane_minima.c */
#define PSFM_MAX_REFERENCES 16 /* of a plane */

/* One physical plane. */
typedef struct {
    const psfm_focal_input *in;
    const psfm_plane_views *views;
    const uint32_t *group; /* per view of the plane */
    const double *held;    /* per group among all: focal length in searches, or 0 */
} psfm_plane_task;

/* What was found from one reference, in the region about it. */
typedef struct {
    size_t reference; /* a place among the plane's views */
    psfm_plane_region region;
    psfm_plane_minimum minima[PSFM_MAX_MINIMA + 1];
} psfm_plane_found;

/* Chooses references of a plane, at most `wanted`, and finds the minima about each. found has
 * PSFM_MAX_REFERENCES elements, *num of which are filled; the caller frees them all. Parallel over
 * references; random draws from (seed, calibration, rank of the reference). */
psfm_status psfm_plane_minima_find(psfm_context *ctx, const psfm_plane_task *task, int wanted,
                                   psfm_plane_found *found, size_t *num);
void psfm_plane_found_free(psfm_plane_found *found);

/* Takes a minimum of a region to the whole plane, step by step, and adjusts it. `whole` has every
 * view of the plane; the caller frees both. */
psfm_status psfm_plane_grow(psfm_context *ctx, const psfm_plane_task *task,
                            const psfm_plane_region *region, const psfm_plane_minimum *minimum,
                            psfm_plane_region *whole, psfm_plane_minimum *grown);

/* The solution of a plane: every view of it. Owns its parts. */
typedef struct {
    psfm_plane_region region;
    psfm_plane_minimum minimum; /* not found if the plane says nothing */
} psfm_plane_solution;

/* Searches from `references` views at most. ambiguity (per group among all, or NULL) is set for the
 * groups of the plane: how far other minima that fit nearly as well are from the solution. */
psfm_status psfm_plane_solve(psfm_context *ctx, const psfm_plane_task *task, int references,
                             psfm_plane_solution *out, double *ambiguity);
void psfm_plane_solution_free(psfm_plane_solution *solution);

#endif
