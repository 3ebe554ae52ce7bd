/* Joint adjustment of homographies to cameras that see planes: poses against each plane, and one
 * focal length and one radial distortion a camera or group of cameras. */
#ifndef PSFM_CALIBRATION_PLANE_ADJUST_H
#define PSFM_CALIBRATION_PLANE_ADJUST_H

#include "core/calibration/measured_planes.h"

/* Range of focal lengths in units of the longer side: fields of view from 110 to 11 degrees. */
#define PSFM_MIN_FOCAL 0.35
#define PSFM_MAX_FOCAL 5.0

/* The pose of a view against a plane: the points (x, y, 1) of the plane have the image
 * K [r1 r2 t] (x, y, 1). */
typedef struct {
    uint32_t group; /* whose focal length K has */
    uint32_t plane; /* of the problem's */
    double R[9];    /* r1, r2 are its first columns */
    double t[3];
} psfm_plane_pose;

/* A homography between two views of one plane, by their poses. */
typedef struct {
    const psfm_measured_plane *measured;
    uint32_t pose1, pose2;
} psfm_plane_edge;

/* The caller owns the arrays; poses and log_focal are refined in place. */
typedef struct {
    size_t num_planes, num_poses, num_edges, num_groups;
    psfm_plane_pose *poses;
    const psfm_plane_edge *edges;
    double *log_focal;             /* per group, of f in units of the longer side */
    const double *prior_log_focal; /* per group */
    const double *prior_sigma;     /* per group */
    const double *center_sigma;    /* per group: how far the principal point may be off, in units of
                                      the longer side */
    double *k1; /* per group: change of its radial distortion, refined in place; NULL: all fixed */
    const double *prior_k1, *prior_k1_sigma; /* per group; a standard deviation of 0 fixes it */
} psfm_plane_problem;

typedef struct {
    double cost;       /* robust: sum of log(1 + chi^2 / 9) over the edges */
    double median_chi; /* of the edges; about 2.7 if their noise is as they say */
    double share_good; /* of the edges whose chi is below 8 */
} psfm_plane_fit;

/* Where an adjustment starts from, and how far it is taken. */
typedef enum {
    PSFM_PLANE_FROM_SEARCH, /* from rough values */
    PSFM_PLANE_GROWING,     /* views were added to what was adjusted, and more will be: not far */
    PSFM_PLANE_GROWN,       /* views or planes were added, and none will be */
    PSFM_PLANE_CONVERGED    /* all was adjusted: only what sigma needs is done */
} psfm_plane_stage;

/* Minimises a Cauchy loss of all edges' residuals, weighed by their information, and the priors, by
 * Levenberg and Marquardt. sigma (per group, or NULL) gets the standard deviations of log_focal; a
 * plane that scatters more than its edges say then counts the less, edges that share a view count
 * for what is not in the others, and what principal points may do is in them. k1_sigma (per
 * group, or NULL) those of k1, if it is not fixed. An iteration costs
 * O(edges + poses^1.5) where views form grids, O(edges) where they form chains; deterministic. */
psfm_status psfm_plane_adjust(psfm_context *ctx, const psfm_plane_problem *problem,
                              psfm_plane_stage stage, double *sigma, double *k1_sigma,
                              psfm_plane_fit *fit);

/* The fit of a problem as it is. */
psfm_status psfm_plane_describe(psfm_context *ctx, const psfm_plane_problem *problem,
                                psfm_plane_fit *fit);

/* The map of a pose with focal length f. */
void psfm_plane_map(const psfm_plane_pose *s, double f, double G[9]);

/* The pose whose [r1 r2 t] is nearest to M, whose columns have any common scale. */
void psfm_plane_pose_from_map(const double M[9], psfm_plane_pose *pose);

/* w = v1^2 + v2^2 and z = v3^2 of a complex vector, real parts first: the image of a circular point
 * in a view of focal length f has w / f^2 + z = 0. */
void psfm_circular_split(const double v[6], double w[2], double z[2]);

/* The square of a focal length within the range of usual ones; NaN becomes the least. */
double psfm_clip_focal2(double focal2);

#endif
