/* Reconstruction of a match set from scratch, as most tests want it. */
#ifndef PSFM_TESTS_RECONSTRUCT_UTIL_H
#define PSFM_TESTS_RECONSTRUCT_UTIL_H

#include "pipeline/reconstruct.h"

static inline psfm_status reconstruct_set(psfm_context *ctx, psfm_match_set *set,
                                          const psfm_reconstruct_options *options,
                                          psfm_reconstruction *out) {
    psfm_evidence evidence = {.set = set};
    psfm_reconstruct_stats stats = {0};
    psfm_status status = psfm_reconstruct(ctx, options, &evidence, &stats, out);
    psfm_evidence_free(&evidence);
    return status;
}

#endif
