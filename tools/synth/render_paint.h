/* Paints that several scenes use. */
#ifndef PSFM_SYNTH_RENDER_PAINT_H
#define PSFM_SYNTH_RENDER_PAINT_H

#include "synth/render_solid.h"

/* The tint, with some dirt at all scales. */
void psfm_paint_plain(const psfm_surface *surface, double rgb[3]);
/* The tint as it is, for lamps and plain things. */
void psfm_paint_glow(const psfm_surface *surface, double rgb[3]);
/* Concrete: rougher than plain, with pores and streaks. */
void psfm_paint_concrete(const psfm_surface *surface, double rgb[3]);
/* Wooden boards along u. */
void psfm_paint_wood(const psfm_surface *surface, double rgb[3]);
/* Cloth: plain, striped or checked, by the seed. */
void psfm_paint_cloth(const psfm_surface *surface, double rgb[3]);
/* A sign with the coat's text, or an invented name, in contrasting ink. */
void psfm_paint_sign(const psfm_surface *surface, double rgb[3]);

/* Octaves of noise through the body of a solid, in its own frame: no seams and no poles, for round
 * things. Mean 0, standard deviation about 0.3 an octave. */
double psfm_solid_noise(uint32_t seed, const psfm_surface *surface, double wavelength, double gain);

/* An invented name. */
const char *psfm_paint_name(uint32_t hash);

/* Grain of a board along u of a texel, as a factor around 1. */
double psfm_wood_grain(uint32_t seed, const psfm_texel *texel);

/* Size of the face that the surface is part of. */
void psfm_surface_extent(const psfm_surface *surface, double extent[2]);

#endif
