/* Reconstruction of a match set that the test keeps, as most tests want it. */
#ifndef PSFM_TESTS_RECONSTRUCT_UTIL_H
#define PSFM_TESTS_RECONSTRUCT_UTIL_H

#include "sfm/run.h"

/* out->set is the test's own set, also afterwards: end with reconstruct_close. */
static inline psfm_status reconstruct_set(psfm_context *ctx, psfm_match_set *set,
                                          const psfm_reconstruct_options *options, psfm_sfm *out) {
    psfm_sfm_open(NULL, out);
    out->asked.settings.options = *options;
    out->set = *set;
    out->stage = PSFM_AT_SET;
    psfm_status status = psfm_sfm_run(ctx, out);
    *set = out->set;
    return status;
}

static inline void reconstruct_close(psfm_sfm *s) {
    s->set = (psfm_match_set){0};
    psfm_sfm_close(s);
}

#endif
