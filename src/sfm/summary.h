/* What a run has come to: OUT/summary.json with counts, reasons, timings, and one line. */
#ifndef PSFM_SFM_SUMMARY_H
#define PSFM_SFM_SUMMARY_H

#include <cjson/cJSON.h>

#include "sfm/state.h"

/* The summary of a state at its models, as a tree; NULL when memory is out. See docs/formats.md for
 * its fields. */
cJSON *psfm_summary_make(const psfm_sfm *s);

/* The same in one line, for example "44 of 46 images posed in 1 model, 0.21 px, 0.004 deg; 2 not:
 * a.jpg (no overlap with the others?), b.jpg (too few points agree)": the mean reprojection error
 * and the median standard deviation of a rotation where they are known, and the first images
 * without a pose. */
psfm_status psfm_headline_make(psfm_context *ctx, const psfm_sfm *s, char text[PSFM_HEADLINE_SIZE]);

#endif
