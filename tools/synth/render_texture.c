/* Filtering: a straight edge across the sample is averaged over the projection of the sample's
 * parallelogram on the edge's normal as if that were a box; exact for edges along the sides of the
 * parallelogram, and for any window that sees one edge its area is right. Noise is a sum of octaves
 * (gradient noise on a square lattice with quintic blending, after Perlin), of which those that a
 * sample cannot resolve are left out: their mean is 0. */
#include "synth/render_texture.h"

#include <stdbool.h>

#define MAX_OCTAVES 14

void psfm_texel_set_width(psfm_texel *texel) {
    const double *J = texel->jac;
    /* Between the root of the area, which is sharp but aliases a little in slanted views, and the
     * larger diameter, which blurs: the samples of a pixel average the rest. */
    double area = fabs(J[0] * J[3] - J[1] * J[2]);
    double larger = psfm_max(J[0] * J[0] + J[2] * J[2], J[1] * J[1] + J[3] * J[3]);
    texel->width = (double)sqrtf(sqrtf((float)(area * larger))) + 1e-9;
}

psfm_texel psfm_texel_scaled(const psfm_texel *texel, double du, double dv, double scale_u,
                             double scale_v) {
    const double *J = texel->jac;
    psfm_texel out = {.u = (texel->u + du) * scale_u,
                      .v = (texel->v + dv) * scale_v,
                      .jac = {J[0] * scale_u, J[1] * scale_u, J[2] * scale_v, J[3] * scale_v}};
    psfm_texel_set_width(&out);
    return out;
}

/* Length of the stripes below x. */
static double stripes_below(double x, double period, double on) {
    double whole = floor(x / period);
    return whole * on + psfm_min(x - whole * period, on);
}

double psfm_cover_stripes(double x, double period, double on, double w) {
    double covered =
        stripes_below(x + 0.5 * w, period, on) - stripes_below(x - 0.5 * w, period, on);
    return covered / w;
}

double psfm_cover_rect(const psfm_texel *texel, double u0, double v0, double u1, double v1) {
    double across = psfm_cover_band(texel->u, u0, u1, psfm_texel_extent(texel, 1.0, 0.0));
    if (across <= 0.0)
        return 0.0;
    return across * psfm_cover_band(texel->v, v0, v1, psfm_texel_extent(texel, 0.0, 1.0));
}

double psfm_cover_disc(const psfm_texel *texel, double u0, double v0, double radius) {
    double du = texel->u - u0, dv = texel->v - v0;
    double distance = sqrt(du * du + dv * dv) + 1e-12;
    double w = psfm_texel_extent(texel, du / distance, dv / distance);
    return psfm_cover_band(distance, -radius, radius, w);
}

static float blend_smoothly(float t) {
    return t * t * t * (t * (6.0F * t - 15.0F) + 10.0F);
}

/* The four corners of a lattice cell are computed side by side, in a loop that compilers turn into
 * vector code. */
static double noise_from(uint32_t base, double u, double v) {
    static const uint32_t step[4] = {0, PSFM_HASH_I, PSFM_HASH_J, PSFM_HASH_I + PSFM_HASH_J};
    static const float right[4] = {0, 1, 0, 1}, up[4] = {0, 0, 1, 1};
    int32_t i = psfm_floor(u), j = psfm_floor(v);
    float du = (float)(u - (double)i), dv = (float)(v - (double)j), value[4];
    uint32_t at = base + (uint32_t)i * PSFM_HASH_I + (uint32_t)j * PSFM_HASH_J;
    for (int k = 0; k < 4; ++k) {
        uint32_t hash = psfm_mix(at + step[k]);
        float gu = (float)(int32_t)(hash & 0xffffu) - 32767.5F;
        float gv = (float)(int32_t)(hash >> 16) - 32767.5F;
        value[k] = gu * (du - right[k]) + gv * (dv - up[k]);
    }
    float s = blend_smoothly(du), t = blend_smoothly(dv);
    float low = value[0] + s * (value[1] - value[0]), high = value[2] + s * (value[3] - value[2]);
    return (double)((3.0F / 65536.0F) * (low + t * (high - low)));
}

double psfm_noise(uint32_t seed, double u, double v) {
    return noise_from(psfm_mix(seed), u, v);
}

double psfm_noise_octaves(uint32_t seed, const psfm_texel *texel, double wavelength, double gain) {
    double sum = 0.0, strength = 1.0, scale = 1.0 / wavelength, shift = 0.0;
    double resolved = 0.5 * wavelength / texel->width;
    uint32_t base = psfm_mix(seed);
    for (int k = 0; k < MAX_OCTAVES && resolved > 1.0; ++k) {
        /* an octave fades between two and four widths of the sample */
        double seen = psfm_min(resolved - 1.0, 1.0);
        sum +=
            seen * strength * noise_from(base, texel->u * scale + shift, texel->v * scale - shift);
        strength *= gain;
        resolved *= 0.5;
        scale *= 2.0;
        shift += 0.37;
        base += 0x2545f491u;
    }
    return sum;
}

double psfm_cover_spots(uint32_t seed, const psfm_texel *texel, double pitch, double share,
                        uint32_t *hash) {
    double scale = 1.0 / pitch;
    int32_t i = psfm_floor(texel->u * scale), j = psfm_floor(texel->v * scale);
    *hash = psfm_hash(seed, i, j);
    if (psfm_hash_share(*hash, 0) >= share)
        return 0.0;
    uint32_t place = psfm_hash(*hash, 1, 2);
    double radius = pitch * (0.08 + 0.3 * psfm_hash_share(*hash, 1));
    double room = pitch - 2.0 * radius;
    double u0 = (double)i * pitch + radius + room * psfm_hash_share(place, 0);
    double v0 = (double)j * pitch + radius + room * psfm_hash_share(place, 1);
    /* beyond half the pitch the spot would reach into cells that do not know of it */
    double seen = psfm_clamp(2.0 - 4.0 * texel->width * scale, 0.0, 1.0);
    return seen * psfm_cover_disc(texel, u0, v0, radius);
}

double psfm_cover_scratches(uint32_t seed, const psfm_texel *texel, double pitch, double thick,
                            double share) {
    double scale = 1.0 / pitch;
    int32_t i = psfm_floor(texel->u * scale), j = psfm_floor(texel->v * scale);
    uint32_t hash = psfm_hash(seed, i, j);
    if (psfm_hash_share(hash, 0) >= share)
        return 0.0;
    /* a direction in the middle of the cell, so that the scratch stays inside */
    double a = 2.0 * psfm_hash_share(hash, 1) - 1.0, b = 1.0 - fabs(a);
    double norm = 1.0 / sqrt(a * a + b * b), cu = a * norm, cv = b * norm;
    double du = texel->u - ((double)i + 0.5) * pitch, dv = texel->v - ((double)j + 0.5) * pitch;
    double along = cu * du + cv * dv, across = cu * dv - cv * du;
    return psfm_cover_band(across, -0.5 * thick, 0.5 * thick, psfm_texel_extent(texel, -cv, cu)) *
           psfm_cover_band(along, -0.45 * pitch, 0.45 * pitch, psfm_texel_extent(texel, cu, cv));
}

/* Value of the cell that holds u in a row, blended with its nearer neighbour over the width w. */
static double row_value(uint32_t seed, double u, int32_t row, double length, double w,
                        double *to_joint, uint32_t *hash) {
    double at = u / length + psfm_hash_share(psfm_hash(seed, row, 17), 0);
    int32_t cell = psfm_floor(at);
    double inside = (at - (double)cell) * length;
    int32_t next = inside < 0.5 * length ? cell - 1 : cell + 1;
    *to_joint = psfm_min(inside, length - inside);
    *hash = psfm_hash(seed, cell, row);
    double own = psfm_cover_step(*to_joint, w);
    double value = own * (2.0 * psfm_hash_share(*hash, 0) - 1.0);
    if (own < 1.0)
        value += (1.0 - own) * (2.0 * psfm_hash_share(psfm_hash(seed, next, row), 0) - 1.0);
    return value;
}

double psfm_cover_bond(uint32_t seed, const psfm_texel *texel, const psfm_bond *bond, double *shade,
                       uint32_t *hash) {
    double wu = psfm_texel_extent(texel, 1.0, 0.0), wv = psfm_texel_extent(texel, 0.0, 1.0);
    int32_t row = psfm_floor(texel->v / bond->high);
    double inside = texel->v - (double)row * bond->high;
    bool below = inside < 0.5 * bond->high;
    double to_row = below ? inside : bond->high - inside;
    double to_joint, other;
    uint32_t ignored;
    double value = row_value(seed, texel->u, row, bond->length, wu, &to_joint, hash);
    double own = psfm_cover_step(to_row, wv);
    if (own < 1.0)
        value = own * value + (1.0 - own) * row_value(seed, texel->u, below ? row - 1 : row + 1,
                                                      bond->length, wu, &other, &ignored);
    *shade = value / psfm_max(1.0, psfm_max(wv / bond->high, wu / bond->length));
    double half = 0.5 * bond->joint;
    double beds =
        wv < bond->high ? psfm_cover_band(to_row, -half, half, wv) : bond->joint / bond->high;
    double ends =
        wu < bond->length ? psfm_cover_band(to_joint, -half, half, wu) : bond->joint / bond->length;
    return 1.0 - (1.0 - beds) * (1.0 - ends);
}

void psfm_rgb_hue(double hue, double saturation, double brightness, double rgb[3]) {
    for (int k = 0; k < 3; ++k) {
        double turn = hue - (double)k / 3.0;
        double wave = fabs(6.0 * (turn - floor(turn)) - 3.0) - 1.0;
        rgb[k] = brightness * (1.0 + saturation * (psfm_clamp(wave, 0.0, 1.0) - 1.0));
    }
}
