/* Pairs aligned in the photographs, before the graph is built.
 *
 * The pairs that tell most go first, and others only where these came to something
 * (images/photometric/pair_order.c): first a few on trial, which decide whether there is anything
 * flat here at all, then the best ones of each image, then those beside them. Corners of a
 * photograph are found once, with the first of its pairs. Each pair's planes are aligned
 * (images/photometric/pair_planes.c) in an order that reads photographs seldom, by any thread or
 * rank (images/photometric/pair_tasks.c), and what they came to is taken over at the end
 * (images/photometric/pair_results.c). */
#include "images/photometric/refine_matches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/linalg/order_statistics.h"
#include "images/photometric/pair_order.h"
#include "images/photometric/pair_results.h"
#include "images/photometric/pair_tasks.h"
#include "images/photometric/photo_cache.h"

static const psfm_option rows[] = {
    PSFM_OPTION_BOOL(psfm_photo_control_options, refine_matches, "refine-matches", 1,
                     "align the planes of all pairs in the photographs, if they are there"),
    PSFM_OPTION_INT(psfm_photo_control_options, cache_mb, "cache-mb", 512, 1, 1000000,
                    "memory for photographs, in megabytes"),
};
const psfm_option_table psfm_photo_control_option_table = PSFM_OPTION_TABLE("photo", rows);

/* Share of the pairs on trial with a plane that came out better, below which no others follow. */
#define MIN_FLAT 0.25

typedef struct {
    psfm_match_set *set;
    psfm_two_view *two_views;
    psfm_photo_setup setup; /* of the tasks */
    psfm_view_corners *views;
    bool *has_corners;        /* per view: sought before, though there may be none */
    bool *takes_part;         /* per view: in a pair of any wave */
    psfm_pair_refined *pairs; /* without planes: not done */
    psfm_kept_pairs *kept;    /* NULL: nothing is kept */
    uint64_t *key;            /* per pair that is in a wave, if anything is kept */
    bool *in_wave;            /* per pair: to be aligned now */
    size_t *order;            /* of these */
    size_t num_order;
} refinement;

static bool has_plane(const psfm_two_view *view) {
    for (size_t h = 0; h < view->num_homographies; ++h)
        if (!view->homographies[h].is_rotation)
            return true;
    return false;
}

static psfm_status summarise_pairs(psfm_context *ctx, const refinement *r,
                                   psfm_refine_matches_stats *stats) {
    double *shift = NULL, *sigma = NULL;
    size_t n = 0;
    for (size_t v = 0; v < r->set->num_views; ++v) {
        const char *problem = r->views[v].problem;
        if (!r->takes_part[v])
            continue;
        ++stats->num_photos;
        stats->num_corners += r->views[v].num;
        if (problem == NULL)
            continue;
        ++stats->num_unusable;
        psfm_log(ctx, PSFM_LOG_WARNING, "matches are not refined with %s", problem);
    }
    for (size_t p = 0; p < r->set->num_pairs; ++p) {
        const psfm_pair_plane_stats *s = &r->pairs[p].stats;
        stats->num_pairs += r->pairs[p].planes != NULL;
        stats->num_matches += r->pairs[p].num_matches;
        stats->patches.num_tried += s->num_tried;
        for (int k = 0; k < PSFM_NUM_PATCH_OUTCOMES; ++k)
            stats->patches.outcomes[k] += s->outcomes[k];
        stats->patches.num_off_plane += s->num_off_plane;
        stats->patches.num_raw_planes += s->num_raw_planes;
        stats->patches.num_refined_planes += s->num_refined_planes;
    }
    psfm_status status = PSFM_ALLOC(ctx, stats->num_matches, &shift);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, stats->num_matches, &sigma);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p) {
        for (size_t k = 0; k < r->pairs[p].num_matches; ++k) {
            const psfm_pair_match *m = &r->pairs[p].matches[k];
            shift[n] = m->shift_px;
            sigma[n++] = sqrt(0.5 * (m->cov[0] + m->cov[2]));
        }
    }
    if (status == PSFM_OK) {
        stats->median_shift_px = psfm_median(shift, n);
        stats->median_sigma_px = psfm_median(sigma, n);
    }
    free(shift);
    free(sigma);
    return status;
}

/* The pairs of the waves so far are done: marks those to be aligned beside them. */
static psfm_status find_last_wave(psfm_context *ctx, const refinement *r, const bool *can_align) {
    bool *has_flat = NULL; /* per view */
    psfm_status status = PSFM_ALLOC(ctx, r->set->num_views, &has_flat);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        if (r->pairs[p].stats.num_refined_planes > 0)
            has_flat[r->set->pairs[p].view1] = has_flat[r->set->pairs[p].view2] = true;
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        r->in_wave[p] = can_align[p] && r->pairs[p].planes == NULL &&
                        (has_flat[r->set->pairs[p].view1] || has_flat[r->set->pairs[p].view2]);
    free(has_flat);
    return status;
}

/* Takes over what the pairs of the wave came to before, if they are as they were. */
static psfm_status take_kept(psfm_context *ctx, refinement *r, bool *is_done) {
    psfm_status status = PSFM_OK;
    for (size_t p = 0; r->kept != NULL && status == PSFM_OK && p < r->set->num_pairs; ++p) {
        if (!r->in_wave[p])
            continue;
        status = psfm_kept_pair_key(ctx, r->set, &r->set->pairs[p], &r->two_views[p], &r->key[p]);
        is_done[p] = status == PSFM_OK && psfm_kept_pairs_take(r->kept, r->key[p], &r->pairs[p]);
    }
    return status;
}

/* Keeps what all pairs came to, and the corners, in place of what was kept before. */
static psfm_status keep_pairs(psfm_context *ctx, refinement *r) {
    psfm_status status = PSFM_OK;
    if (r->kept != NULL)
        psfm_kept_pairs_free(r->kept);
    for (size_t p = 0; r->kept != NULL && status == PSFM_OK && p < r->set->num_pairs; ++p)
        if (r->pairs[p].planes != NULL)
            status = psfm_kept_pairs_add(ctx, r->kept, r->key[p], &r->pairs[p]);
    return status == PSFM_OK && r->kept != NULL
               ? psfm_kept_corners_add(ctx, r->kept, r->set, r->views)
               : status;
}

/* The pairs of the wave in an order that reads photographs seldom. */
static psfm_status order_pairs(psfm_context *ctx, refinement *r) {
    size_t most = r->set->num_pairs, n = 0;
    uint32_t *ends = NULL;
    size_t *pairs = NULL;
    bool *is_done = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * most, &ends);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, most, &pairs);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, most, &is_done);
    if (status == PSFM_OK)
        status = take_kept(ctx, r, is_done);
    for (size_t p = 0; status == PSFM_OK && p < most; ++p) {
        if (!r->in_wave[p] || is_done[p])
            continue;
        ends[n] = r->set->pairs[p].view1;
        ends[most + n] = r->set->pairs[p].view2;
        pairs[n++] = p;
    }
    if (status == PSFM_OK)
        status = psfm_photo_order(ctx, r->setup.photos, ends, ends + most, n, r->order);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k)
        r->order[k] = pairs[r->order[k]];
    r->num_order = n;
    free(is_done);
    free(ends);
    free(pairs);
    return status;
}

/* Corners of the photographs of the wave, unless they were found before. Pairs with one that cannot
 * be used leave the wave. */
static psfm_status find_wave_corners(psfm_context *ctx, refinement *r) {
    size_t num = 0;
    bool *wanted = NULL;
    uint32_t *views = NULL;
    psfm_status status = PSFM_ALLOC(ctx, r->set->num_views, &views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, r->set->num_views, &wanted);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        if (r->in_wave[p])
            wanted[r->set->pairs[p].view1] = wanted[r->set->pairs[p].view2] = true;
    for (uint32_t v = 0; status == PSFM_OK && v < r->set->num_views; ++v) {
        r->takes_part[v] = r->takes_part[v] || wanted[v];
        if (wanted[v] && !r->has_corners[v])
            views[num++] = v;
    }
    if (status == PSFM_OK)
        status = psfm_corners_run(ctx, &r->setup, views, num, r->views);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        r->has_corners[views[k]] = true;
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        r->in_wave[p] = r->in_wave[p] && r->views[r->set->pairs[p].view1].problem == NULL &&
                        r->views[r->set->pairs[p].view2].problem == NULL;
    free(wanted);
    free(views);
    return status;
}

static psfm_status align_wave(psfm_context *ctx, refinement *r) {
    psfm_status status = find_wave_corners(ctx, r);
    if (status == PSFM_OK)
        status = order_pairs(ctx, r);
    r->setup.corners = r->views;
    return status == PSFM_OK
               ? psfm_pairs_run(ctx, &r->setup, r->two_views, r->order, r->num_order, r->pairs)
               : status;
}

/* A few pairs, and whether they came to so little that the others are not tried. */
static psfm_status align_trial(psfm_context *ctx, refinement *r, const bool *can_align,
                               bool *has_failed) {
    size_t num = 0, num_flat = 0;
    psfm_pairs_trial(r->set, r->two_views, can_align, r->in_wave);
    psfm_status status = align_wave(ctx, r);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p) {
        num += r->in_wave[p];
        num_flat += r->in_wave[p] && r->pairs[p].stats.num_refined_planes > 0;
    }
    *has_failed = (double)num_flat < MIN_FLAT * (double)num;
    return status;
}

static psfm_status align_first(psfm_context *ctx, refinement *r, const bool *can_align) {
    psfm_status status = psfm_pairs_first(ctx, r->set, r->two_views, can_align, r->in_wave);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        r->in_wave[p] = r->in_wave[p] && r->pairs[p].planes == NULL;
    return status == PSFM_OK ? align_wave(ctx, r) : status;
}

static psfm_status align_waves(psfm_context *ctx, refinement *r) {
    bool *can_align = NULL, has_failed = false;
    psfm_status status = PSFM_ALLOC(ctx, r->set->num_pairs, &can_align);
    for (size_t p = 0; status == PSFM_OK && p < r->set->num_pairs; ++p)
        can_align[p] = has_plane(&r->two_views[p]);
    if (status == PSFM_OK)
        status = align_trial(ctx, r, can_align, &has_failed);
    if (status == PSFM_OK && !has_failed)
        status = align_first(ctx, r, can_align);
    if (status == PSFM_OK && !has_failed)
        status = find_last_wave(ctx, r, can_align);
    if (status == PSFM_OK && !has_failed)
        status = align_wave(ctx, r);
    free(can_align);
    return status;
}

static psfm_status run_refinement(psfm_context *ctx, refinement *r) {
    size_t num_views = r->set->num_views, num_pairs = r->set->num_pairs;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_views, &r->views)) ||
        (status = PSFM_ALLOC(ctx, num_views, &r->has_corners)) ||
        (status = PSFM_ALLOC(ctx, num_views, &r->takes_part)) ||
        (status = PSFM_ALLOC(ctx, num_pairs, &r->pairs)) ||
        (status = PSFM_ALLOC(ctx, num_pairs, &r->key)) ||
        (status = PSFM_ALLOC(ctx, num_pairs, &r->in_wave)) ||
        (status = PSFM_ALLOC(ctx, num_pairs, &r->order)))
        return status;
    if (r->kept != NULL)
        psfm_kept_corners_take(r->kept, r->set, r->views);
    for (size_t v = 0; v < num_views; ++v)
        r->has_corners[v] = r->views[v].num > 0 || r->views[v].problem != NULL;
    return align_waves(ctx, r);
}

static void free_refinement(refinement *r) {
    for (size_t v = 0; r->views != NULL && v < r->set->num_views; ++v)
        psfm_view_corners_free(&r->views[v]);
    for (size_t p = 0; r->pairs != NULL && p < r->set->num_pairs; ++p) {
        psfm_pair_refined_free(&r->pairs[p]);
    }
    free(r->views);
    free(r->has_corners);
    free(r->takes_part);
    free(r->pairs);
    free(r->key);
    free(r->in_wave);
    free(r->order);
}

psfm_status psfm_refine_matches(psfm_context *ctx, const psfm_photo_options *options,
                                const psfm_photo_input *input, psfm_refine_matches_stats *stats) {
    refinement r = {.set = input->set,
                    .two_views = input->two_views,
                    .setup = {.planes = options->planes,
                              .patch = options->patch,
                              .photos = input->photos,
                              .set = input->set,
                              .cameras = input->set->cameras},
                    .kept = input->kept};
    *stats = (psfm_refine_matches_stats){0};
    psfm_status status = run_refinement(ctx, &r);
    if (status == PSFM_OK)
        status = summarise_pairs(ctx, &r, stats);
    if (status == PSFM_OK)
        status = psfm_pair_results_take(ctx, r.views, r.pairs, r.set, r.two_views);
    if (status == PSFM_OK)
        status = keep_pairs(ctx, &r);
    stats->done = status == PSFM_OK;
    free_refinement(&r);
    return status;
}

void psfm_refine_matches_describe(const psfm_refine_matches_stats *stats, char *text, size_t size) {
    locale_t before = psfm_number_locale_begin();
    snprintf(text, size,
             "refined matches: %zu of %zu patches in %zu pairs, moved by %.2f px, known to %.2f px "
             "(medians); %zu of %zu planes",
             stats->num_matches, stats->patches.num_tried, stats->num_pairs, stats->median_shift_px,
             stats->median_sigma_px, stats->patches.num_refined_planes,
             stats->patches.num_refined_planes + stats->patches.num_raw_planes);
    psfm_number_locale_end(before);
}
