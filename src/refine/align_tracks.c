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
 * taken over at the end (track_results.c); here the searches are done, a pair of photographs at a
 * time, or given to other ranks (track_tasks.c). */
#include "refine/align_tracks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/number_locale.h"
#include "base/parallel.h"
#include "linalg/order.h"
#include "photo/photo_order.h"
#include "refine/track_results.h"
#include "refine/track_tasks.h"

typedef struct {
    const psfm_track_scene *scene;
    const psfm_match_set *set;
    const psfm_structure *structure;
    double max_shift_px;
    psfm_track_plan *plan;
    size_t *order;                 /* of the groups */
    psfm_patch_aligner **aligners; /* per worker of the groups */
    int num_aligners;
} alignment;

/* All searches between two views, whose photographs can be used. */
static void seek_group(const alignment *a, psfm_patch_aligner *aligner,
                       const psfm_pyramid *const photos[2], psfm_track_search *first,
                       const psfm_track_search *end) {
    const uint32_t ends[2] = {first->from, first->to};
    const psfm_poses *poses = a->scene->poses;
    psfm_track_view views[2];
    for (int k = 0; k < 2; ++k)
        views[k] =
            (psfm_track_view){{&a->scene->cameras[a->set->views[ends[k]].camera_idx], photos[k]},
                              poses->cam_from_world[ends[k]],
                              poses->center[ends[k]]};
    for (psfm_track_search *s = first; s < end; ++s) {
        const psfm_track_sight sight = psfm_track_sight_of(a->set, a->structure, a->plan, s);
        psfm_track_sight_seek(aligner, views, &sight, a->max_shift_px, &s->found);
    }
}

static psfm_status align_group(psfm_context *ctx, size_t step, int worker, void *user) {
    const alignment *a = user;
    const size_t *group = &a->plan->groups[a->order[step]];
    psfm_track_search *first = &a->plan->searches[group[0]], *end = &a->plan->searches[group[1]];
    const uint32_t views[2] = {first->from, first->to};
    const psfm_pyramid *photos[2] = {NULL, NULL};
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < 2; ++k)
        status = psfm_photo_cache_get(ctx, a->scene->photos, views[k], &photos[k]);
    for (psfm_track_search *s = first; s < end; ++s)
        s->found.outcome = PSFM_PATCH_OUTSIDE;
    if (status == PSFM_OK && photos[0] != NULL && photos[1] != NULL)
        seek_group(a, a->aligners[worker], photos, first, end);
    for (int k = 0; k < 2; ++k)
        if (photos[k] != NULL)
            psfm_photo_cache_release(a->scene->photos, views[k]);
    return status;
}

static psfm_status order_groups(psfm_context *ctx, alignment *a) {
    size_t n = a->plan->num_groups;
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * n, &ends);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &a->order);
    for (size_t g = 0; status == PSFM_OK && g < n; ++g) {
        ends[g] = a->plan->searches[a->plan->groups[g]].from;
        ends[n + g] = a->plan->searches[a->plan->groups[g]].to;
    }
    if (status == PSFM_OK)
        status = psfm_photo_order(ctx, a->scene->photos, ends, ends + n, n, a->order);
    free(ends);
    return status;
}

/* By the threads of this process. */
static psfm_status align_here(psfm_context *ctx, alignment *a, const psfm_patch_options *patch) {
    a->num_aligners = psfm_parallel_workers(ctx, a->plan->num_groups);
    psfm_status status = PSFM_ALLOC(ctx, (size_t)a->num_aligners, &a->aligners);
    for (int w = 0; status == PSFM_OK && w < a->num_aligners; ++w)
        status = psfm_patch_aligner_create(ctx, patch, &a->aligners[w]);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "align tracks", a->plan->num_groups, align_group, a);
    for (int w = 0; a->aligners != NULL && w < a->num_aligners; ++w)
        psfm_patch_aligner_destroy(&a->aligners[w]);
    free((void *)a->aligners);
    return status;
}

static psfm_status align_groups(psfm_context *ctx, alignment *a, const psfm_patch_options *patch) {
    const psfm_track_spread spread = {a->scene, a->set,          a->structure,
                                      patch,    a->max_shift_px, a->plan};
    psfm_status status = order_groups(ctx, a);
    if (status == PSFM_OK)
        status = psfm_context_link(ctx) != NULL ? psfm_tracks_spread(ctx, &spread, a->order)
                                                : align_here(ctx, a, patch);
    free(a->order);
    return status;
}

static psfm_status summarise(psfm_context *ctx, const psfm_track_plan *plan, size_t num_points,
                             psfm_track_align_stats *stats) {
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
    alignment a = {.scene = scene,
                   .set = set,
                   .structure = structure,
                   .max_shift_px = options->max_shift_px,
                   .plan = &plan};
    psfm_patch_options own = *patch;
    own.radius = options->radius;
    *stats = (psfm_track_align_stats){0};
    psfm_status status = psfm_track_plan_make(ctx, set, structure, scene, options, &plan);
    if (status == PSFM_OK)
        status = align_groups(ctx, &a, &own);
    if (status == PSFM_OK)
        status = summarise(ctx, &plan, structure->num_points, stats);
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
