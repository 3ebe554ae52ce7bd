/* Lettering: a built-in bitmap font, filtered like the other patterns. */
#ifndef PSFM_SYNTH_RENDER_FONT_H
#define PSFM_SYNTH_RENDER_FONT_H

#include "synth/render_texture.h"

/* Letters are 5 x 7 squares on a pitch of 6. */
#define PSFM_FONT_HEIGHT 7

/* Length of a text in squares, without the gap after its last letter. */
int psfm_text_length(const char *text);

/* Share of the sample that ink covers, for a text that begins at (u0, v0), its lower left corner,
 * runs along +u and is `height` metres high (v up). Capitals, digits and - . & !; everything else
 * is a blank. */
double psfm_cover_text(const psfm_texel *texel, const char *text, double u0, double v0,
                       double height);

/* The same, as large as fits into the rectangle, and in its middle. */
double psfm_cover_text_in(const psfm_texel *texel, const char *text, double u0, double v0,
                          double u1, double v1);

#endif
