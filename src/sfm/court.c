/* What a drawing on the floor adds: registered photographs before the pairs are verified, and after
 * the refinement a frame and lines that join the adjustment. */
#include "core/base/alloc.h"
#include "core/structure/model_members.h"
#include "court/court_adjust.h"
#include "court/court_views.h"
#include "court/posed_registration.h"
#include "sfm/stages.h"
#include "world/court_frame.h"

static void log_registered(psfm_context *ctx, const psfm_sfm *s) {
    size_t num = 0;
    for (uint32_t v = 0; v < s->court->num_views; ++v)
        num += psfm_court_accepts(s->court, v);
    psfm_log(ctx, PSFM_LOG_INFO, "%s: %zu of %u photographs registered by its lines",
             s->target.drawing.name, num, s->court->num_views);
}

psfm_status psfm_stage_register_court(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *asked = &s->asked.settings.options;
    const psfm_moment start = psfm_moment_now();
    psfm_court_options options = asked->court;
    options.distortion =
        options.distortion || asked->refine.bundle.refine >= PSFM_REFINE_FOCAL_DISTORTION;
    if (!psfm_settings_have_drawing(&s->asked.settings))
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, 1, &s->court);
    if (status == PSFM_OK)
        status = psfm_court_views_register(ctx, &s->set, s->photo_folder, &s->target, &options,
                                           s->court);
    if (status != PSFM_OK)
        return status;
    log_registered(ctx, s);
    status = psfm_court_views_split(ctx, s->court, &s->set);
    if (status == PSFM_OK && psfm_court_views_calibrate(s->court, &s->set) > 0)
        status = psfm_match_set_compute_rays(ctx, &s->set, NULL);
    psfm_timings_add(&s->stats.timings, "court", start);
    return status;
}

/* Looks for the drawing's lines in photographs that matches alone pose. */
static psfm_status fit_posed_photographs(psfm_context *ctx, psfm_sfm *s) {
    uint32_t num = 0;
    if (s->drawn == PSFM_NO_COMPONENT || s->court->photo_folder == NULL)
        return PSFM_OK;
    psfm_status status =
        psfm_court_fit_posed(ctx, &s->set, &s->solution.poses, s->drawn, s->court, &num);
    if (status == PSFM_OK && num > 0)
        psfm_log(ctx, PSFM_LOG_INFO, "%s: lines confirm %u photographs more",
                 s->court->drawing->name, num);
    return status;
}

/* Joins what the drawing holds together, and adjusts it with the drawing's lines. */
static psfm_status adjust_to_drawing(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_court_join(ctx, s->court, &s->solution, &s->refined, &s->drawn);
    if (status == PSFM_OK)
        status =
            psfm_members_assign(ctx, &s->solution.poses, &s->refined.structure, &s->refined.planes);
    if (status == PSFM_OK)
        status = fit_posed_photographs(ctx, s);
    if (status == PSFM_OK)
        status =
            psfm_court_adjust(ctx, &s->scaled.refine, &s->set, s->court, &s->solution, &s->refined);
    psfm_timings_add(&s->stats.timings, "drawing", start);
    return status;
}

psfm_status psfm_stage_place_in_world(psfm_context *ctx, psfm_sfm *s) {
    if (s->refined.images == NULL)
        return PSFM_OK;
    psfm_status status = s->court != NULL ? adjust_to_drawing(ctx, s) : PSFM_OK;
    return status == PSFM_OK
               ? psfm_frame_set(ctx, &s->set, &s->scaled.frame, s->drawn, &s->solution, &s->refined)
               : status;
}
