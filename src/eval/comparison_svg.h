/* A picture of two models: from above and from the side. */
#ifndef PSFM_EVAL_COMPARISON_SVG_H
#define PSFM_EVAL_COMPARISON_SVG_H

#include "eval/compare_models.h"

/* Writes an SVG file with the frame of A from above (x right, y up) and from the side (x right, z
 * up): its cameras in blue, those of B in orange with a line to where A has them, viewing
 * directions, and up to 4000 points of A. Names are tooltips. Whole or absent. */
psfm_status psfm_comparison_write_svg(psfm_context *ctx, const psfm_comparison *comparison,
                                      const psfm_model *a, const psfm_model *b, const char *path);

#endif
