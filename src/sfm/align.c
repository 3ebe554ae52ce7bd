/* Planes of pairs, aligned in the photographs before the graph is built. */
#include "frontend/photo_changes.h"
#include "sfm/stages.h"

static psfm_status align_pairs(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    const psfm_photo_input input = {&s->set, s->two_views, s->photos, s->kept};
    char text[256];
    psfm_status status =
        psfm_refine_matches(ctx, &s->asked.settings.options.photo, &input, &s->stats.matches);
    psfm_timings_add(&s->stats.timings, "refine matches", start);
    if (status == PSFM_OK) {
        psfm_refine_matches_describe(&s->stats.matches, text, sizeof text);
        psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
    }
    return status;
}

psfm_status psfm_stage_align_planes(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->asked.settings.options;
    psfm_status status = PSFM_OK;
    if (s->photo_folder != NULL)
        status = psfm_warn_changed_photos(ctx, s->database, s->photo_folder);
    if (status == PSFM_OK && s->photo_folder != NULL && options->mode == PSFM_MODE_ROBUST &&
        options->photo.control.refine_matches) {
        const size_t most = psfm_context_memory(ctx) / 4;
        const size_t size = (size_t)options->photo.control.cache_mb << 20;
        status = psfm_photo_cache_create(ctx, &s->set, s->photo_folder, size < most ? size : most,
                                         &s->photos);
        if (status == PSFM_OK)
            status = align_pairs(ctx, s);
    }
    return status;
}
