/* What the files of the adjustment of planes share. */
#ifndef PSFM_CALIBRATION_PLANE_ADJUST_INTERNAL_H
#define PSFM_CALIBRATION_PLANE_ADJUST_INTERNAL_H

#include "core/calibration/plane_adjust.h"
#include "core/linalg/block_spd.h"

/* Parameters of a lens. k1 is unknown only if it is not fixed, a principal point never. */
enum { PSFM_LENS_FOCAL, PSFM_LENS_K1, PSFM_LENS_CENTER };

/* Unknowns of a lens at most, and of a pose. */
enum { PSFM_LENS_DIM = 2, PSFM_PLANE_POSE_DIM = 6 };

/* Residuals of an edge: differences of the nine entries of H, and k1 of either side. */
enum { PSFM_EDGE_DIM = 11 };

/* What an edge adds to, and how its parts are numbered. */
typedef struct {
    uint32_t block[4]; /* of the groups of pose 1 and 2, pose1, pose2 */
    size_t slot[4][4]; /* places of their products in the pattern; row block <= column block */
} psfm_edge_place;

typedef struct {
    psfm_plane_pose *poses;
    double *log_focal, *k1;
    double (*G)[9], (*G_inverse)[9]; /* per pose */
    double *chi;                     /* per edge */
} psfm_plane_state;

/* Normal equations. */
typedef struct {
    int lens_dim;               /* unknowns of each group: log f, and k1 if it is not fixed */
    psfm_block_pattern pattern; /* a block for each group, then one for each pose */
    psfm_block_spd *spd;
    psfm_edge_place *places; /* per edge */
    double (*normal)[36];    /* per place of the pattern */
    double *rhs, *step;
} psfm_plane_equations;

typedef struct {
    const psfm_plane_problem *p;
    psfm_plane_equations eq;
    psfm_plane_state now, trial;
    double *weight; /* per plane: of what its edges say, at most 1 */
    double *scratch;
    double scale; /* of the loss now */
} psfm_plane_adjustment;

/* Predicted homography H, its unit vector h of the measured sign, *length with that sign, and the
 * residuals d. */
void psfm_plane_predict(const psfm_plane_state *s, const psfm_plane_edge *edge, double H[9],
                        double h[9], double *length, double d[PSFM_EDGE_DIM]);

/* Sets the weight of each plane by what its edges cost at the current state. */
psfm_status psfm_plane_measure_noise(psfm_context *ctx, psfm_plane_adjustment *a);

/* Fills the maps and the weighed residuals of a state; false if a pose is degenerate. */
bool psfm_plane_evaluate(const psfm_plane_adjustment *a, psfm_plane_state *s);

/* Makes the equations of a problem. The caller frees them, whether it worked or not. */
psfm_status psfm_plane_equations_init(psfm_context *ctx, const psfm_plane_problem *p,
                                      psfm_plane_equations *eq);
void psfm_plane_equations_free(psfm_plane_equations *eq);

/* Normal equations at the current state under a Cauchy loss of this scale, with every edge taken
 * for `share` of what it says. */
void psfm_plane_linearize(psfm_plane_adjustment *a, double scale, double share);

/* Factors the normal equations with a relative damping on the diagonal. */
psfm_status psfm_plane_factor(psfm_context *ctx, psfm_plane_adjustment *a, double damping);

/* Signs by which principal points are displaced, per group and axis: bit k of them is draw k. */
enum { PSFM_NUM_DRAWS = 64 };

/* Right-hand sides of the same equations for principal points that are displaced by their
 * deviations, one after the other: what the unknowns change by then. Of draws first .. first + num
 * - 1, added to rhs. */
void psfm_plane_displace(const psfm_plane_adjustment *a, double scale, double share,
                         const uint64_t (*signs)[2], int first, int num, double *rhs);

/* Standard deviations of log f, and of k1 unless NULL or fixed. */
psfm_status psfm_plane_find_sigma(psfm_context *ctx, psfm_plane_adjustment *a, double scale,
                                  double *sigma, double *k1_sigma);

#endif
