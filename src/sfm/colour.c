/* What is shown of photographs: they are read ahead from the moment that the images are known, and
 * colours and thumbnails are taken at the end. */
#include "sfm/stages.h"

psfm_status psfm_stage_start_prefetch(psfm_context *ctx, psfm_sfm *s) {
    if (s->photo_folder == NULL ||
        (s->prefetch != NULL && psfm_prefetch_is_of(s->prefetch, &s->set)))
        return PSFM_OK;
    psfm_prefetch_destroy(&s->prefetch);
    return psfm_prefetch_begin(ctx, s->photo_folder, &s->set, !s->asked.settings.no_report,
                               &s->prefetch);
}

psfm_status psfm_stage_colour(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    if (s->prefetch == NULL)
        return PSFM_OK;
    psfm_status status = psfm_prefetch_colour(ctx, s->prefetch, s->models, s->num_models);
    psfm_timings_add(&s->stats.timings, "colours", start);
    return status;
}
