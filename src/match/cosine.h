/* Mutual nearest neighbours of unit descriptors. */
#ifndef PSFM_MATCH_COSINE_H
#define PSFM_MATCH_COSINE_H

#include "match/neural_matches.h"

/* Pairs whose descriptors are nearest to each other both ways and whose cosine is above min_cosine
 * (-1: all). Confidence is the cosine. O(a->num b->num dim) time, 4 a->num b->num bytes. For XFeat
 * (0.82) and EdgePoint2 (0.5). The caller frees the matches. */
psfm_status psfm_cosine_match(psfm_context *ctx, psfm_engine *nn, const psfm_neural_features *a,
                              const psfm_neural_features *b, double min_cosine,
                              psfm_neural_matches *matches);

#endif
