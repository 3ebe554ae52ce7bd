/* What a run has come to, in one line. */
#ifndef PSFM_PIPELINE_HEADLINE_H
#define PSFM_PIPELINE_HEADLINE_H

#include "pipeline/reconstruct.h"

/* For example "44 of 46 images posed in 1 model, 0.21 px, 0.004 deg; 2 not: a.jpg (no overlap with
 * the others?), b.jpg (too few points agree)": the mean reprojection error and the median standard
 * deviation of a rotation where they are known, and the first images without a pose. */
psfm_status psfm_headline_make(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_reconstruction *found, char text[PSFM_HEADLINE_SIZE]);

#endif
