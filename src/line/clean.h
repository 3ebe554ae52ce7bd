/* What belongs to lines among the ridges of an image. For line_pixels.c. */
#ifndef PSFM_LINE_CLEAN_H
#define PSFM_LINE_CLEAN_H

#include "line/line_pixels.h"

/* Marks where the image could show a line (psfm_line_pixels.valid, zeroed before): not within a few
 * pixels of its border or of the black area that is joined to it. */
psfm_status psfm_line_valid(psfm_context *ctx, const psfm_image *image, uint8_t *valid);

/* Of all ridges keeps those that are strong enough for the options, stronger than their
 * surroundings and their neighbours across, valid, and no specks, in the order of the image's rows.
 * winner has the ridge of each pixel, or -1. */
psfm_status psfm_line_clean(psfm_context *ctx, const psfm_line_options *options,
                            const int32_t *winner, psfm_line_pixels *found);

#endif
