/* Alignment of tracks.
 *
 * Two patches of one pair agree to a tenth of a pixel, but a track that is chained from pairs
 * adds the errors of its links, and ends where the pairs end. With poses, a point and the normal of
 * the surface about it, the warp between any two of its images is known without a match
 * (track_search.c). So the image that shows the surface about the point largest gives the one
 * patch, and each other image that should see it is aligned with that. Images that had no match
 * take part as well: a court is seen from all sides, though only neighbours were matched.
 *
 * Which points, which images and which patch is planned first (track_plan.c), what was found is
 * taken over at the end (track_results.c); the searches between are tasks for any thread or rank, a
 * pair of photographs at a time (track_tasks.c). */
#include "images/photometric/align_tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/linalg/order_statistics.h"
#include "images/photometric/track_results.h"
#include "images/photometric/track_tasks.h"

static psfm_status summarise_searches(psfm_context *ctx, const psfm_track_plan *plan,
                                      size_t num_points, psfm_track_align_stats *stats) {
    double *shift = NULL;
    psfm_status status = PSFM_ALLOC(ctx, plan->num_searches, &shift);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < plan->num_searches; ++k) {
        const psfm_track_search *s = &plan->searches[k];
        ++stats->outcomes[s->found.outcome];
        if (s->found.outcome != PSFM_PATCH_ALIGNED)
            continue;
        shift[stats->num_aligned + stats->num_new] = s->found.shift_px;
        ++*(s->keypoint == UINT32_MAX ? &stats->num_new : &stats->num_aligned);
    }
    for (size_t p = 0; p < num_points; ++p)
        stats->num_points += plan->reference[p] != UINT32_MAX;
    stats->num_tried = plan->num_searches;
    stats->median_shift_px = psfm_median(shift, stats->num_aligned + stats->num_new);
    free(shift);
    return PSFM_OK;
}

psfm_status psfm_align_tracks(psfm_context *ctx, const psfm_track_scene *scene,
                              const psfm_patch_options *patch,
                              const psfm_track_align_options *options, psfm_match_set *set,
                              psfm_structure *structure, psfm_track_align_stats *stats) {
    psfm_track_plan plan = {0};
    psfm_photo_setup setup = {.patch = *patch,
                              .max_shift_px = options->max_shift_px,
                              .photos = scene->photos,
                              .set = set,
                              .cameras = scene->cameras,
                              .poses = scene->poses};
    setup.patch.radius = options->radius;
    *stats = (psfm_track_align_stats){0};
    psfm_status status = psfm_track_plan_make(ctx, set, structure, scene, options, &plan);
    if (status == PSFM_OK)
        status = psfm_tracks_run(ctx, &setup, structure, &plan);
    if (status == PSFM_OK)
        status = summarise_searches(ctx, &plan, structure->num_points, stats);
    if (status == PSFM_OK && plan.num_searches > 0)
        status = psfm_track_results_take(ctx, &plan, scene->cameras, set, structure);
    stats->done = status == PSFM_OK;
    psfm_track_plan_free(&plan);
    return status;
}

void psfm_align_tracks_describe(const psfm_track_align_stats *stats, char *text, size_t size) {
    locale_t before = psfm_number_locale_begin();
    snprintf(text, size,
             "aligned tracks: %zu points, %zu of %zu patches, %zu of them in images that had not "
             "matched the point, moved by %.2f px (median)",
             stats->num_points, stats->num_aligned + stats->num_new, stats->num_tried,
             stats->num_new, stats->median_shift_px);
    psfm_number_locale_end(before);
}
