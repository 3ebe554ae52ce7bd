/* Some views of one physical plane, the homographies between them, and their adjustment. */
#ifndef PSFM_CALIB_PLANE_REGION_H
#define PSFM_CALIB_PLANE_REGION_H

#include "calib/focal_planes.h"
#include "calib/plane_adjust.h"
#include "calib/plane_chain.h"

#define PSFM_FREE_LOG_FOCAL 0.6 /* standard deviation of log f about the median of all */

/* Views are sights of the plane, numbered from 0, and so are the groups of cameras that occur.
 * Owns its arrays. */
typedef struct {
    size_t num_sights, num_edges, num_groups;
    uint32_t *place;        /* per sight: place among the plane's views */
    uint32_t *group;        /* per sight */
    uint32_t *global;       /* per group: its number among all, ascending */
    psfm_plane_edge *edges; /* between its sights */
} psfm_plane_region;

/* The region of these places among the plane's views; group is per view of the plane, among all. */
psfm_status psfm_plane_region_init(psfm_context *ctx, const psfm_plane_views *views,
                                   const uint32_t *group, const uint32_t *places, size_t num,
                                   psfm_plane_region *out);
void psfm_plane_region_free(psfm_plane_region *region);

/* Adjusts a problem whose group g is global[g] of the input (NULL: g itself). Known focal lengths
 * are what they are, others have a prior about the median of the problem's sights. sigma and
 * bend_sigma as psfm_plane_adjust has them. */
psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_input *in, const uint32_t *global,
                              psfm_plane_problem *p, psfm_plane_stage stage, double *sigma,
                              double *bend_sigma, psfm_plane_fit *fit);

/* A solution of a region: poses and focal lengths. Owns its arrays. */
typedef struct {
    psfm_plane_sight *sights; /* per sight of the region */
    double *log_focal;        /* per group of the region */
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

#endif
