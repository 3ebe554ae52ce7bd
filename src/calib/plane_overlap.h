/* Whether keypoints that two homographies share in a view show that both are of one plane. */
#ifndef PSFM_CALIB_PLANE_OVERLAP_H
#define PSFM_CALIB_PLANE_OVERLAP_H

#define PSFM_SPREAD_DIM 8 /* parameters of a homography */

/* Where points are in a view, as far as it matters to a homography of them: the normal matrix of
 * its parameters about the identity. Starts at zero. */
typedef struct {
    double N[PSFM_SPREAD_DIM][PSFM_SPREAD_DIM]; /* lower triangle */
} psfm_spread;

/* Adds a point. Coordinates are about -1 to 1, of the same frame for all spreads compared. */
void psfm_spread_add(psfm_spread *spread, double x, double y);

/* The sum over the points of `all` of the squared error with which a homography of the points of
 * `some` predicts them, in units of the variance of a point; INFINITY if these determine none. */
double psfm_spread_predict(const psfm_spread *some, const psfm_spread *all);

#endif
