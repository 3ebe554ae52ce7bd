/* Positions on the earth: latitude, longitude and height over the WGS 84 ellipsoid, and metres
 * east, north and up of an origin. */
#ifndef PSFM_LINALG_GEODETIC_H
#define PSFM_LINALG_GEODETIC_H

#include <stdbool.h>

typedef struct {
    double latitude_deg, longitude_deg; /* north and east positive */
    double altitude_m;                  /* above the ellipsoid, or as the source counts it */
} psfm_geodetic;

/* Latitude within 90 degrees, longitude within 180, height between the earth's core and the moon;
 * all finite. */
bool psfm_geodetic_is_valid(const psfm_geodetic *p);

/* Metres east, north and up of the origin, in the plane that touches the ellipsoid there. Inverse:
 * psfm_geodetic_from_enu. */
void psfm_geodetic_to_enu(const psfm_geodetic *origin, const psfm_geodetic *p, double enu[3]);

/* Inverse of psfm_geodetic_to_enu, to about a nanometre within 100 km of the ground. */
void psfm_geodetic_from_enu(const psfm_geodetic *origin, const double enu[3], psfm_geodetic *p);

/* Position from the universal transverse Mercator grid (WGS 84): zone 1 to 60, metres east and
 * north on the grid. False if the zone or the coordinates are out of range. */
bool psfm_geodetic_from_utm(int zone, bool south, double east, double north, double altitude_m,
                            psfm_geodetic *p);

#endif
