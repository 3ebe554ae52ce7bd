/* Whether an alignment says anything, or any positions would have given it. */
#ifndef PSFM_WORLD_ALIGNMENT_CHECK_H
#define PSFM_WORLD_ALIGNMENT_CHECK_H

#include "world/align.h"

/* Fills chance_log10 and verdict from the items and their summary. PSFM_ERR_DATA, with a sentence
 * about `what` (a plural), if fewer than three places or fewer than half agree with the model, if
 * chance would give such a fit, or if the places lie on a line as far as their errors tell. */
psfm_status psfm_alignment_check(psfm_context *ctx, const char *what, psfm_alignment *a);

#endif
