/* The evidence of line pixels for a line at a place and in a direction. */
#ifndef PSFM_COURT_LINE_EVIDENCE_H
#define PSFM_COURT_LINE_EVIDENCE_H

#include "court/drawing.h"
#include "lines/line_pixels.h"

#define PSFM_NUM_WAYS 12  /* directions, 15 degrees apart */
#define PSFM_COARSE 2     /* pixels of the image a pixel of the coarse maps has in x and y */
#define PSFM_LLR_UNIT 16  /* steps of the coarse maps in a unit of log likelihood */
#define PSFM_NUM_TONES 2  /* light lines, dark lines */
#define PSFM_CELL_SIZE 16 /* pixels; the density of line pixels is known per cell */

/* The evidence for a predicted segment of a line is the logarithm of how much more likely the line
 * pixels near it are if the line is there than if they are there by chance:
 *
 *     log((1 - p) + p e / d),   e = 1.5 max(0, 1 - (distance / tolerance)^2)
 *
 * per pixel of length. p = 1/2 is the share of a line that is seen at all: what people hide costs
 * 0.69 a pixel, no more. d, the share of the image around within the tolerance of a line pixel of
 * the same direction and tone, is what chance gives: among seats or on a grained floor a fit says
 * little. Owns its arrays; the line pixels are the caller's. */
typedef struct {
    const psfm_line_pixels *pixels;
    int width, height; /* of the image */
    int coarse_width, coarse_height;
    int8_t *coarse[PSFM_NUM_TONES]; /* ways x coarse height x coarse width: the evidence at a
                                       tolerance of 7 pixels, in steps of 1 / PSFM_LLR_UNIT; 0
 where nothing is visible */
    uint8_t *visible;               /* coarse height x coarse width */
    int32_t *grid;                  /* height x width: a line pixel on this pixel, or beside it,
                                       or -1 */
    int columns, rows;              /* cells */
    float *density[PSFM_NUM_TONES]; /* ways x rows x columns, at a tolerance of 4 pixels */
} psfm_line_evidence;

/* Takes the line pixels in. Free in any case. Memory: about 15 bytes a pixel. */
psfm_status psfm_line_evidence_init(psfm_context *ctx, const psfm_line_pixels *pixels,
                                    psfm_line_evidence *evidence);
void psfm_line_evidence_free(psfm_line_evidence *evidence);

/* The way, 0 to PSFM_NUM_WAYS - 1, that is nearest to the direction (dx, dy) or its opposite.
 * Within 0.3 degrees of the border between two ways it may be either. */
static inline int psfm_way(float dx, float dy) {
    float ax = dx < 0.0F ? -dx : dx, ay = dy < 0.0F ? -dy : dy;
    float high = ax > ay ? ax : ay, low = ax > ay ? ay : ax;
    float r = low / (high + 1e-20F);
    float angle = r * (0.78539816F + 0.273F * (1.0F - r)); /* arctangent to 0.004 */
    angle = ay > ax ? 1.57079633F - angle : angle;
    angle = dx * dy < 0.0F ? 3.14159265F - angle : angle;
    int way = (int)(angle * ((float)PSFM_NUM_WAYS / 3.14159265F) + 0.5F);
    return way >= PSFM_NUM_WAYS ? 0 : way;
}

/* The line pixel nearest to (x, y) across a line of unit direction (tx, ty), within `reach` pixels,
 * of about its direction and of the tone (0 light, 1 dark); its signed distance along the normal
 * (-ty, tx). Returns its index, or -1 if there is none. */
int32_t psfm_line_evidence_nearest(const psfm_line_evidence *evidence, const double at[2],
                                   const double along[2], int tone, double reach, double *distance);

/* The evidence of one pixel of length for a line pixel at this distance (NAN: none) from a line at
 * `at` in direction `along`, at a tolerance of 4 pixels. */
double psfm_line_evidence_value(const psfm_line_evidence *evidence, const double at[2],
                                const double along[2], int tone, double distance);

/* Whether a point of the image is where a line could be seen. */
bool psfm_line_evidence_sees(const psfm_line_evidence *evidence, const double at[2]);

#endif
