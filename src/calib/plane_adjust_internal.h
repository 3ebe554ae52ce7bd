/* What the files of the adjustment of planes share. */
#ifndef PSFM_CALIB_PLANE_ADJUST_INTERNAL_H
#define PSFM_CALIB_PLANE_ADJUST_INTERNAL_H

#include "calib/plane_adjust.h"
#include "linalg/block_spd.h"

/* Parameters of a group: log f, the principal point and the bend; then those of a sight. */
enum { PSFM_GROUP_DIM = 4, PSFM_SIGHT_DIM = 6, PSFM_GROUP_BEND = 3 };

/* Residuals of an edge: differences of the nine entries of H, and the bends of either side. */
enum { PSFM_EDGE_DIM = 11 };

/* What an edge adds to, and how its parts are numbered. */
typedef struct {
    uint32_t block[4]; /* of the groups of sight 1 and 2, sight1, sight2 */
    size_t slot[4][4]; /* places of their products in the pattern; row block <= column block */
} psfm_edge_place;

typedef struct {
    psfm_plane_sight *sights;
    double *log_focal, *bend;
    double (*G)[9], (*G_inverse)[9]; /* per sight */
    double *chi;                     /* per edge */
} psfm_plane_state;

typedef struct {
    const psfm_plane_problem *p;
    psfm_block_pattern pattern; /* a block for each group, then one for each sight */
    psfm_block_spd *spd;
    psfm_edge_place *places;
    psfm_plane_state now, trial;
    double *weight;       /* per plane: of what its edges say, at most 1 */
    double (*normal)[36]; /* per place of the pattern */
    double *rhs, *step, *scratch;
} psfm_plane_adjustment;

/* Predicted homography H, its unit vector h of the measured sign, *length with that sign, and the
 * residuals d. */
void psfm_plane_predict(const psfm_plane_state *s, const psfm_plane_edge *edge, double H[9],
                        double h[9], double *length, double d[PSFM_EDGE_DIM]);

/* y = A d, A being the information of the residuals; returns d . y. */
double psfm_plane_weigh(const psfm_measured_plane *m, const double d[PSFM_EDGE_DIM],
                        double y[PSFM_EDGE_DIM]);

/* Fills the maps and the weighed residuals of a state; false if a sight is degenerate. */
bool psfm_plane_evaluate(const psfm_plane_adjustment *a, psfm_plane_state *s);

/* Sets the weights to what the residuals of the current state say. */
psfm_status psfm_plane_measure_noise(psfm_context *ctx, psfm_plane_adjustment *a);

/* Fills a->places and a->pattern, and creates a->spd. */
psfm_status psfm_plane_pattern_make(psfm_context *ctx, psfm_plane_adjustment *a);

/* Normal equations at the current state under a Cauchy loss of this scale. Principal points are
 * free within their deviations, or held. */
void psfm_plane_linearize(psfm_plane_adjustment *a, double scale, bool free_centers);

/* Factors the normal equations with a relative damping on the diagonal. */
psfm_status psfm_plane_factor(psfm_context *ctx, psfm_plane_adjustment *a, double damping);

#endif
