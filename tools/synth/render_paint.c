/* Paints that several scenes use: noise, boards, cloth and signs, put together from the filtered
 * patterns of render_texture.h, so that none of them aliases. */
#include "synth/render_paint.h"

#include <string.h>

#include "core/linalg/mat3.h"
#include "synth/render_font.h"

static const char *const names[] = {
    "NORDWIND", "PLANARA",  "OSTSEE",  "KIWI",   "TALLY & CO", "MERIDIAN", "QUARZ",  "BRIGHTON",
    "VELOX",    "HALO 24",  "ZEPHYR",  "LUMEN",  "FJORD",      "ORCHID",   "ATLAS",  "KETTLE",
    "RADIX",    "MONDO!",   "COBALT",  "EMBER",  "PIXELWORK",  "SIERRA",   "GUSTAV", "TURBO 7",
    "WALDHAUS", "HOMOGRAF", "EPIPOLA", "VERTEX", "CANTO",      "BALTIC",   "JUNO",   "X-RAY",
};

const char *psfm_paint_name(uint32_t hash) {
    return names[hash % (sizeof names / sizeof *names)];
}

/* The mean of noise on the three planes of coordinates, scaled to the deviation of one. */
double psfm_solid_noise(uint32_t seed, const psfm_surface *surface, double wavelength,
                        double gain) {
    const psfm_solid *solid = surface->solid;
    double from[3], at[3], sum = 0.0;
    psfm_sub3(surface->xyz, solid->origin, from);
    psfm_mat3_mul_vec(solid->axes, from, at);
    for (uint32_t k = 0; k < 3; ++k) {
        psfm_texel t = surface->texel;
        t.u = at[k];
        t.v = at[(k + 1) % 3];
        sum += psfm_noise_octaves(seed + 17 * k, &t, wavelength, gain);
    }
    return sum / sqrt(3.0);
}

void psfm_surface_extent(const psfm_surface *surface, double extent[2]) {
    const psfm_solid *solid = surface->solid;
    double scale = solid->kind == PSFM_BOX ? 2.0 : 1.0;
    int axis = solid->kind == PSFM_BOX ? surface->face / 2 : 2;
    extent[0] = scale * solid->size[axis == 0 ? 1 : 0];
    extent[1] = scale * solid->size[axis == 2 ? 1 : 2];
}

static void tint_color(const psfm_surface *surface, double factor, double rgb[3]) {
    for (int k = 0; k < 3; ++k)
        rgb[k] = psfm_max(factor, 0.05) * surface->solid->coat.tint[k];
}

void psfm_paint_plain(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    tint_color(surface, 1.0 + 0.1 * psfm_noise_octaves(coat->seed, &surface->texel, 0.5, 0.75),
               rgb);
}

void psfm_paint_glow(const psfm_surface *surface, double rgb[3]) {
    memcpy(rgb, surface->solid->coat.tint, sizeof surface->solid->coat.tint);
}

void psfm_paint_concrete(const psfm_surface *surface, double rgb[3]) {
    uint32_t seed = surface->solid->coat.seed, hash;
    const psfm_texel *texel = &surface->texel;
    double rough = psfm_noise_octaves(seed, texel, 1.3, 0.8);
    double pores = psfm_cover_spots(seed + 40, texel, 0.11, 0.5, &hash) +
                   psfm_cover_spots(seed + 41, texel, 0.27, 0.3, &hash);
    tint_color(surface, 1.0 + 0.22 * rough - 0.25 * pores, rgb);
}

double psfm_wood_grain(uint32_t seed, const psfm_texel *texel) {
    psfm_texel along = psfm_texel_scaled(texel, 0.0, 0.0, 1.0, 12.0);
    return 1.0 + 0.16 * psfm_noise_octaves(seed, &along, 0.6, 0.75);
}

void psfm_paint_wood(const psfm_surface *surface, double rgb[3]) {
    static const psfm_bond boards = {1.7, 0.14, 0.006};
    uint32_t seed = surface->solid->coat.seed, hash;
    double shade, joints = psfm_cover_bond(seed, &surface->texel, &boards, &shade, &hash);
    double grain = psfm_wood_grain(hash, &surface->texel);
    tint_color(surface, (1.0 + 0.25 * shade) * grain * (1.0 - 0.6 * joints), rgb);
}

void psfm_paint_cloth(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    const psfm_texel *texel = &surface->texel;
    double other[3], share = 0.0, pitch = 0.05 + 0.1 * psfm_hash_share(coat->seed, 1);
    double wu = psfm_texel_extent(texel, 1.0, 0.0), wv = psfm_texel_extent(texel, 0.0, 1.0);
    tint_color(surface, 1.0 + 0.12 * psfm_noise_octaves(coat->seed, texel, 0.25, 0.75), rgb);
    psfm_rgb_hue(psfm_hash_share(coat->seed, 0), 0.5, 0.8, other);
    if (coat->seed % 4 >= 2)
        share += psfm_cover_stripes(texel->v, 2.0 * pitch, pitch, wv);
    if (coat->seed % 4 == 3)
        share *= psfm_cover_stripes(texel->u, 2.0 * pitch, pitch, wu);
    psfm_rgb_mix(rgb, other, share);
}

void psfm_paint_sign(const psfm_surface *surface, double rgb[3]) {
    static const double dark[3] = {0.02, 0.02, 0.03}, bright[3] = {0.85, 0.85, 0.82};
    const psfm_coat *coat = &surface->solid->coat;
    const psfm_texel *texel = &surface->texel;
    const char *text = coat->text != NULL ? coat->text : psfm_paint_name(coat->seed);
    double size[2], other[3];
    psfm_surface_extent(surface, size);
    double brightness = coat->tint[0] + coat->tint[1] + coat->tint[2];
    const double *ink = brightness > 0.9 ? dark : bright;
    tint_color(surface, 1.0 + 0.08 * psfm_noise_octaves(coat->seed, texel, 0.4, 0.8), rgb);
    /* a disc in another colour, then the name beside it, within an outline */
    double margin = 0.12 * psfm_min(size[0], size[1]), disc = 0.0;
    if (size[0] > 3.0 * size[1]) {
        disc = size[1];
        psfm_rgb_hue(psfm_hash_share(coat->seed, 0), 0.8, 0.8, other);
        psfm_rgb_mix(rgb, other,
                     psfm_cover_disc(texel, 0.6 * size[1], 0.5 * size[1], 0.3 * size[1]));
        psfm_rgb_mix(rgb, ink,
                     psfm_cover_disc(texel, 0.68 * size[1], 0.55 * size[1], 0.12 * size[1]));
    }
    psfm_rgb_mix(rgb, ink,
                 psfm_cover_text_in(texel, text, disc + margin, 1.5 * margin, size[0] - margin,
                                    size[1] - 1.5 * margin));
    double inner = psfm_cover_rect(texel, 0.25 * margin, 0.25 * margin, size[0] - 0.25 * margin,
                                   size[1] - 0.25 * margin);
    psfm_rgb_mix(rgb, ink, 0.7 * (1.0 - inner));
}
