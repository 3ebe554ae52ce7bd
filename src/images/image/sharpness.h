/* How sharp a photograph is. */
#ifndef PSFM_IMAGE_SHARPNESS_H
#define PSFM_IMAGE_SHARPNESS_H

#include "images/image/image_io.h"

/* Root mean square difference of pixels next to each other over that of pixels eight apart: 1/8
 * where everything is smeared over more than that, about a half in sharp photographs, up to 1 in
 * noise; 0 for an image without contrast or of fewer than 16 pixels on a side. */
double psfm_image_sharpness(const psfm_image *image);

#endif
