#include "refine/evidence.h"

#include <stdlib.h>

#include "base/alloc.h"

psfm_status psfm_evidence_measure(psfm_context *ctx, const psfm_two_view_options *options,
                                  psfm_evidence *evidence) {
    if (evidence->is_measured)
        return PSFM_OK;
    psfm_status status = psfm_noise_level_measure(ctx, evidence->set, options, &evidence->noise);
    evidence->is_measured = status == PSFM_OK;
    return status;
}

psfm_status psfm_evidence_verify(psfm_context *ctx, const psfm_two_view_options *options,
                                 psfm_evidence *evidence) {
    psfm_status status = PSFM_ALLOC(ctx, evidence->set->num_pairs, &evidence->two_views);
    if (status != PSFM_OK)
        return status;
    evidence->num_pairs = evidence->set->num_pairs;
    return psfm_two_view_estimate_all(ctx, evidence->set, options, evidence->two_views);
}

void psfm_evidence_free(psfm_evidence *evidence) {
    for (size_t p = 0; evidence->two_views != NULL && p < evidence->num_pairs; ++p)
        psfm_two_view_free(&evidence->two_views[p]);
    free(evidence->two_views);
    *evidence = (psfm_evidence){0};
}
