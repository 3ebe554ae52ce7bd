/* A view of a plane as a map from plane to image coordinates, G = K [r1 r2 t]. */
#ifndef PSFM_CALIB_PLANE_MAP_H
#define PSFM_CALIB_PLANE_MAP_H

#include "calib/plane_adjust.h"

/* The map of a sight with focal length f. */
void psfm_plane_map(const psfm_plane_sight *sight, double f, double G[9]);

/* The pose whose [r1 r2 t] is nearest to M, whose columns have any common scale. */
void psfm_plane_pose(const double M[9], psfm_plane_sight *sight);

/* w = v1^2 + v2^2 and z = v3^2 of a complex vector, real parts first: the image of a circular point
 * in a view of focal length f has w / f^2 + z = 0. */
void psfm_circular_split(const double v[6], double w[2], double z[2]);

/* The square of a focal length within the range of usual ones; NaN becomes the least. */
double psfm_clip_focal2(double focal2);

#endif
