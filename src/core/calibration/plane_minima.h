/* One physical plane: minima about reference views, and the best of them in all views. */
#ifndef PSFM_CALIBRATION_PLANE_MINIMA_H
#define PSFM_CALIBRATION_PLANE_MINIMA_H

#include "core/calibration/focal_planes.h"
#include "core/calibration/plane_adjust.h"
#include "core/calibration/plane_chain.h"

#define PSFM_FREE_LOG_FOCAL 0.6 /* standard deviation of log f about the median of all */

/* Views have one pose each, numbered from 0, and so are the groups of cameras that occur.
 * Owns its arrays. */
typedef struct {
    size_t num_poses, num_edges, num_groups;
    uint32_t *place;        /* per pose: place among the plane's views */
    uint32_t *group;        /* per pose */
    uint32_t *global;       /* per group: its number among all, ascending */
    psfm_plane_edge *edges; /* between its poses */
} psfm_plane_region;

/* The region of these places among the plane's views; group is per view of the plane, among all. */
psfm_status psfm_plane_region_init(psfm_context *ctx, const psfm_plane_views *views,
                                   const uint32_t *group, const uint32_t *places, size_t num,
                                   psfm_plane_region *out);
void psfm_plane_region_free(psfm_plane_region *region);

/* Adjusts a problem whose group g is global[g] of the input (NULL: g itself). Known focal lengths
 * are what they are, others have a prior about the median of the problem's poses. sigma and
 * k1_sigma as psfm_plane_adjust has them. */
psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_input *in, const uint32_t *global,
                              psfm_plane_problem *p, psfm_plane_stage stage, double *sigma,
                              double *k1_sigma, psfm_plane_fit *fit);

/* A solution of a region: poses and focal lengths. Owns its arrays. */
typedef struct {
    psfm_plane_pose *poses; /* per pose of the region */
    double *log_focal;      /* per group of the region */
    psfm_plane_fit fit;
    bool found;
} psfm_plane_minimum;

psfm_status psfm_plane_minimum_init(psfm_context *ctx, const psfm_plane_region *region,
                                    psfm_plane_minimum *out);
void psfm_plane_minimum_free(psfm_plane_minimum *minimum);

/* Adjusts a solution in place, lenses as they are; one that leads nowhere is not found. */
psfm_status psfm_plane_region_adjust(psfm_context *ctx, const psfm_focal_input *in,
                                     const psfm_plane_region *region, psfm_plane_stage stage,
                                     psfm_plane_minimum *minimum);

/* The fit of a minimum in a region as it is. */
psfm_status psfm_plane_region_describe(psfm_context *ctx, const psfm_plane_region *region,
                                       psfm_plane_minimum *m);

#define PSFM_MAX_MINIMA 3      /* adjusted from each reference, and one more: see plane_minima.c */
#define PSFM_MAX_REFERENCES 16 /* of a plane */

/* One physical plane. */
typedef struct {
    const psfm_focal_input *in;
    const psfm_plane_views *views;
    const uint32_t *group; /* per view of the plane */
    const double *fixed;   /* per group among all: focal length in searches, or 0 */
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
