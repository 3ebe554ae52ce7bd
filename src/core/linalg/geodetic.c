/* Geodesy on the WGS 84 ellipsoid (semi-major axis a, flattening f, e^2 = f (2 - f)).
 *
 * Geodetic to earth-centred: with N = a / sqrt(1 - e^2 sin^2 lat),
 *   X = (N + h) cos lat cos lon, Y = (N + h) cos lat sin lon, Z = (N (1 - e^2) + h) sin lat.
 * Back: fixed-point iteration of lat = atan2(Z + e^2 N sin lat, hypot(X, Y)), which contracts by
 * about e^2 = 1/150 a step near the ground.
 * East, north, up: the earth-centred difference turned by the origin's latitude and longitude.
 * Transverse Mercator: Krueger's series in the third flattening n to order n^4, which is exact to
 * a micrometre within a zone (Karney, "Transverse Mercator with an accuracy of a few nanometers",
 * 2011). */
#include "core/linalg/geodetic.h"
#include "core/linalg/angle.h"

#include <math.h>

#define SEMI_MAJOR 6378137.0
#define FLATTENING (1.0 / 298.257223563)
#define ECCENTRICITY2 (FLATTENING * (2.0 - FLATTENING))

bool psfm_geodetic_is_valid(const psfm_geodetic *p) {
    return fabs(p->latitude_deg) <= 90.0 && fabs(p->longitude_deg) <= 180.0 &&
           p->altitude_m > -6e6 && p->altitude_m < 4e8;
}

static double normal_radius(double sin_lat) {
    return SEMI_MAJOR / sqrt(1.0 - ECCENTRICITY2 * sin_lat * sin_lat);
}

static void to_earth_centred(const psfm_geodetic *p, double X[3]) {
    double lat = psfm_radians(p->latitude_deg), lon = psfm_radians(p->longitude_deg);
    double N = normal_radius(sin(lat)), rho = (N + p->altitude_m) * cos(lat);
    X[0] = rho * cos(lon);
    X[1] = rho * sin(lon);
    X[2] = (N * (1.0 - ECCENTRICITY2) + p->altitude_m) * sin(lat);
}

static void from_earth_centred(const double X[3], psfm_geodetic *p) {
    double rho = hypot(X[0], X[1]), lat = atan2(X[2], rho * (1.0 - ECCENTRICITY2));
    for (int k = 0; k < 12; ++k) {
        double s = sin(lat);
        lat = atan2(X[2] + ECCENTRICITY2 * normal_radius(s) * s, rho);
    }
    double s = sin(lat), c = cos(lat);
    /* the height along the normal, well-conditioned at the poles as well */
    p->altitude_m = rho * c + X[2] * s - SEMI_MAJOR * SEMI_MAJOR / normal_radius(s);
    p->latitude_deg = psfm_degrees(lat);
    p->longitude_deg = psfm_degrees(atan2(X[1], X[0]));
}

/* Rows are the directions east, north and up at the origin, earth-centred. */
static void enu_axes(const psfm_geodetic *origin, double A[9]) {
    double lat = psfm_radians(origin->latitude_deg), lon = psfm_radians(origin->longitude_deg);
    double rows[9] = {-sin(lon),
                      cos(lon),
                      0.0,
                      -sin(lat) * cos(lon),
                      -sin(lat) * sin(lon),
                      cos(lat),
                      cos(lat) * cos(lon),
                      cos(lat) * sin(lon),
                      sin(lat)};
    for (int k = 0; k < 9; ++k)
        A[k] = rows[k];
}

void psfm_geodetic_to_enu(const psfm_geodetic *origin, const psfm_geodetic *p, double enu[3]) {
    double A[9], X0[3], X[3];
    enu_axes(origin, A);
    to_earth_centred(origin, X0);
    to_earth_centred(p, X);
    for (int r = 0; r < 3; ++r) {
        enu[r] = 0.0;
        for (int k = 0; k < 3; ++k)
            enu[r] += A[3 * r + k] * (X[k] - X0[k]);
    }
}

void psfm_geodetic_from_enu(const psfm_geodetic *origin, const double enu[3], psfm_geodetic *p) {
    double A[9], X[3];
    enu_axes(origin, A);
    to_earth_centred(origin, X);
    for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 3; ++r)
            X[k] += A[3 * r + k] * enu[r];
    from_earth_centred(X, p);
}

/* Geodetic latitude of tau' = sinh of the isometric latitude, by Newton's method (Karney). */
static double latitude_of(double tau_prime) {
    double e = sqrt(ECCENTRICITY2), tau = tau_prime / (1.0 - ECCENTRICITY2);
    for (int k = 0; k < 8; ++k) {
        double root = sqrt(1.0 + tau * tau);
        double sigma = sinh(e * atanh(e * tau / root));
        double at = tau * sqrt(1.0 + sigma * sigma) - sigma * root;
        double slope = (1.0 - ECCENTRICITY2) * sqrt((1.0 + at * at) * (1.0 + tau * tau)) /
                       (1.0 + (1.0 - ECCENTRICITY2) * tau * tau);
        tau -= (at - tau_prime) / slope;
    }
    return atan(tau);
}

bool psfm_geodetic_from_utm(int zone, bool south, double east, double north, double altitude_m,
                            psfm_geodetic *p) {
    if (zone < 1 || zone > 60 || !(east > 0.0 && east < 1e6) || !(north >= 0.0 && north <= 1e7))
        return false;
    double n = FLATTENING / (2.0 - FLATTENING), n2 = n * n, n3 = n2 * n, n4 = n2 * n2;
    double A = SEMI_MAJOR / (1.0 + n) * (1.0 + n2 / 4.0 + n4 / 64.0);
    double beta[4] = {n / 2.0 - 2.0 * n2 / 3.0 + 37.0 * n3 / 96.0 - n4 / 360.0,
                      n2 / 48.0 + n3 / 15.0 - 437.0 * n4 / 1440.0,
                      17.0 * n3 / 480.0 - 37.0 * n4 / 840.0, 4397.0 * n4 / 161280.0};
    double xi = (north - (south ? 1e7 : 0.0)) / (0.9996 * A), eta = (east - 5e5) / (0.9996 * A);
    double xi0 = xi, eta0 = eta;
    for (int k = 0; k < 4; ++k) {
        double m = 2.0 * (k + 1);
        xi0 -= beta[k] * sin(m * xi) * cosh(m * eta);
        eta0 -= beta[k] * cos(m * xi) * sinh(m * eta);
    }
    double tau_prime = sin(xi0) / hypot(sinh(eta0), cos(xi0));
    p->latitude_deg = psfm_degrees(latitude_of(tau_prime));
    p->longitude_deg = 6.0 * zone - 183.0 + psfm_degrees(atan2(sinh(eta0), cos(xi0)));
    p->altitude_m = altitude_m;
    return psfm_geodetic_is_valid(p);
}
