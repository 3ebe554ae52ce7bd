/* What the estimate of focal lengths and the search of one plane's minima share. */
#ifndef PSFM_CALIB_PLANE_MINIMA_H
#define PSFM_CALIB_PLANE_MINIMA_H

#include "calib/focal_planes.h"
#include "calib/plane_adjust.h"
#include "calib/plane_chain.h"

#define PSFM_MAX_MINIMA 3       /* adjusted from each reference, and one more: see plane_minima.c */
#define PSFM_FREE_LOG_FOCAL 0.6 /* standard deviation of log f about the median of all */

/* One local minimum of one plane. Owns its arrays. */
typedef struct {
    psfm_plane_sight *sights;  /* per view of the plane */
    double *log_focal, *sigma; /* per group */
    psfm_plane_fit fit;
    bool found;
} psfm_plane_minimum;

typedef struct {
    const psfm_focal_input *in;
    const psfm_focal_options *options;
    const psfm_measured_planes *measured;
    double *log_focal, *sigma, *ambiguity; /* per group, so far */
    double *held;                          /* per group: focal length in searches, or 0 */
    bool *seen;                            /* per group */
    psfm_plane_sight *sights;              /* of all planes so far */
    psfm_plane_edge *edges;
    size_t num_sights, num_edges, sight_capacity, edge_capacity;
    uint32_t num_planes;
} psfm_focal_state;

typedef struct {
    const psfm_focal_state *c;
    const psfm_plane_views *views;
    const uint32_t *group;  /* per view of the plane */
    psfm_plane_edge *edges; /* of the plane, sights numbered as its views */
    size_t references[16];
    psfm_plane_minimum (*minima)[PSFM_MAX_MINIMA + 1]; /* per reference */
} psfm_plane_task;

/* The median of log f over these groups; num > 0. */
psfm_status psfm_median_log_focal(psfm_context *ctx, const double *log_focal, const uint32_t *group,
                                  size_t num, double *median);

/* Adjusts a problem with priors: known focal lengths are what they are, others about `median`. */
psfm_status psfm_focal_adjust(psfm_context *ctx, const psfm_focal_state *c, psfm_plane_problem *p,
                              double median, int iterations, double *sigma, psfm_plane_fit *fit);

/* Chooses the references of a plane, *num of them, and fills task->minima, which the caller frees.
 * Parallel over references; random draws from (seed, calibration, rank of the reference). */
psfm_status psfm_plane_minima_find(psfm_context *ctx, psfm_plane_task *task, size_t *num);
void psfm_plane_minimum_free(psfm_plane_minimum *m);

#endif
