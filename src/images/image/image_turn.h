/* Photographs as they are held: turned and mirrored. */
#ifndef PSFM_IMAGE_IMAGE_TURN_H
#define PSFM_IMAGE_IMAGE_TURN_H

#include "images/image/image_io.h"

/* The image after so many clockwise quarter turns; *out is freed by the caller. */
psfm_status psfm_image_turn(psfm_context *ctx, const psfm_image *image, int quarters,
                            psfm_image *out);

/* Exchanges left and right in place. */
void psfm_image_mirror(psfm_image *image);

#endif
