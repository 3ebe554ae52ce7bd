/* Line pixels: the middles of thin bright, dark or coloured stripes, to a fraction of a pixel. */
#ifndef PSFM_LINES_LINE_PIXELS_H
#define PSFM_LINES_LINE_PIXELS_H

#include <stdint.h>

#include "core/base/options.h"
#include "images/image/image_io.h"

typedef struct {
    double min_contrast; /* grey levels between a line and both of its flanks */
} psfm_line_options;

extern const psfm_option_table psfm_line_option_table;

typedef struct {
    float x, y;      /* on the middle of the line; pixels, the first centre at 0.5 */
    float tx, ty;    /* unit vector along the line; ty > 0, or ty = 0 and tx = 1 */
    float strength;  /* contrast to the weaker flank, grey levels */
    int8_t polarity; /* 1: lighter than its flanks, -1: darker, 0: of another colour only */
} psfm_line_pixel;

/* At most one line pixel lies on each pixel of the image. Owns its arrays. */
typedef struct {
    int width, height;
    psfm_line_pixel *pixels; /* rows from the top */
    size_t num, capacity;
    uint8_t *valid; /* height x width: 1 where the image could show a line, 0 near its border and on
                       the black that surrounds an undistorted photograph */
} psfm_line_pixels;

/* Finds the line pixels of an image in its lightness and, if it has colours, in two differences of
 * them, at three scales: stripes from about 1 to 8 pixels wide. Options NULL are the defaults. One
 * thread; same bytes on any machine of the same word format. The caller frees *out with
 * psfm_line_pixels_free. Memory: about 40 bytes a pixel. Cost: about 0.2 s for 1600 x 900. */
psfm_status psfm_line_pixels_find(psfm_context *ctx, const psfm_image *image,
                                  const psfm_line_options *options, psfm_line_pixels *out);

void psfm_line_pixels_free(psfm_line_pixels *pixels);

#endif
