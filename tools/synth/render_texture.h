/* Patterns for surfaces, filtered over the part of the surface that a sample of a pixel covers, so
 * that nothing aliases. Lengths in metres on the surface. All of them are functions of place and
 * seed alone. */
#ifndef PSFM_SYNTH_RENDER_TEXTURE_H
#define PSFM_SYNTH_RENDER_TEXTURE_H

#include <math.h>
#include <stdint.h>

/* Where a sample meets a surface, and how much of it: the parallelogram spanned by the columns of
 * `jac`, the derivative of (u, v) by the sides of the sample's square. */
typedef struct {
    double u, v;
    double jac[4]; /* du/dx, du/dy, dv/dx, dv/dy */
    double width;  /* its mean diameter: what is finer is left out of noise */
} psfm_texel;

/* Fills in `width`. */
void psfm_texel_set_width(psfm_texel *texel);

/* The same place in a pattern's own coordinates: moved by (du, dv), then stretched. */
psfm_texel psfm_texel_scaled(const psfm_texel *texel, double du, double dv, double scale_u,
                             double scale_v);

/* Extent of the parallelogram along the unit direction (cu, cv), never 0. */
static inline double psfm_texel_extent(const psfm_texel *texel, double cu, double cv) {
    const double *J = texel->jac;
    return fabs(cu * J[0] + cv * J[2]) + fabs(cu * J[1] + cv * J[3]) + 1e-9;
}

/* Steps of the hash's input from one lattice point to the next. */
#define PSFM_HASH_I 0x9e3779b1u
#define PSFM_HASH_J 0x7feb352du

/* Scatters the bits of x. */
static inline uint32_t psfm_mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x846ca68bu;
    x ^= x >> 15;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* Well-mixed bits of a lattice point. */
static inline uint32_t psfm_hash(uint32_t seed, int32_t i, int32_t j) {
    return psfm_mix(psfm_mix(seed) + (uint32_t)i * PSFM_HASH_I + (uint32_t)j * PSFM_HASH_J);
}

/* [0, 1) from 16 of the 32 bits: part 0 or 1. */
static inline double psfm_hash_share(uint32_t hash, int part) {
    return (double)(hash >> 16 * part & 0xffffu) * 0x1p-16;
}

/* Largest integer not above x, for |x| < 2^31. */
static inline int32_t psfm_floor(double x) {
    int32_t i = (int32_t)x;
    return i - (x < (double)i);
}

/* fmin and fmax are calls, for the sake of NaN; these are one instruction. */
static inline double psfm_min(double a, double b) {
    return a < b ? a : b;
}

static inline double psfm_max(double a, double b) {
    return a > b ? a : b;
}

static inline double psfm_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* Share of a window of width w around x that lies above 0, or within [low, high]. */
static inline double psfm_cover_step(double x, double w) {
    return psfm_clamp(0.5 + x / w, 0.0, 1.0);
}

static inline double psfm_cover_band(double x, double low, double high, double w) {
    double top = psfm_min(high, x + 0.5 * w), bottom = psfm_max(low, x - 0.5 * w);
    return top > bottom ? (top - bottom) / w : 0.0;
}

/* The same for the stripes [0, on), [period, period + on), ... */
double psfm_cover_stripes(double x, double period, double on, double w);

/* Share of the sample within the rectangle (u0, v0) - (u1, v1), and within the disc of `radius`
 * around (u0, v0). */
double psfm_cover_rect(const psfm_texel *texel, double u0, double v0, double u1, double v1);
double psfm_cover_disc(const psfm_texel *texel, double u0, double v0, double radius);

/* Gradient noise of one octave: lattice of pitch 1, mean 0, standard deviation about 0.3. */
double psfm_noise(uint32_t seed, double u, double v);

/* Octaves of noise from `wavelength` down to what the sample resolves, each `gain` times as strong
 * as the one before. 10 to 15 ns an octave. */
double psfm_noise_octaves(uint32_t seed, const psfm_texel *texel, double wavelength, double gain);

/* At most one disc in every cell of size `pitch`, filled with probability `share` and with radii
 * up to half the pitch: how much of it the sample shows. *hash belongs to the cell. */
double psfm_cover_spots(uint32_t seed, const psfm_texel *texel, double pitch, double share,
                        uint32_t *hash);

/* The same with short straight scratches, up to `pitch` long and `thick` metres wide. */
double psfm_cover_scratches(uint32_t seed, const psfm_texel *texel, double pitch, double thick,
                            double share);

/* A pattern of cells (planks, bricks): rows of height `high`, in which cells of length `length`
 * follow each other, shifted at random from row to row. */
typedef struct {
    double length, high;
    double joint; /* width of the gap between cells */
} psfm_bond;

/* Fills *shade with the mean of the cells' values (uniform in [-1, 1], fading where the sample is
 * larger than cells) and returns the share of joints. *hash belongs to the cell in the middle. */
double psfm_cover_bond(uint32_t seed, const psfm_texel *texel, const psfm_bond *bond, double *shade,
                       uint32_t *hash);

static inline void psfm_rgb_mix(double rgb[3], const double other[3], double share) {
    for (int k = 0; k < 3; ++k)
        rgb[k] += share * (other[k] - rgb[k]);
}

static inline void psfm_rgb_scale(double rgb[3], double factor) {
    for (int k = 0; k < 3; ++k)
        rgb[k] *= factor;
}

/* A colour from three random shares: hue all round, of the given saturation and brightness. */
void psfm_rgb_hue(double hue, double saturation, double brightness, double rgb[3]);

#endif
