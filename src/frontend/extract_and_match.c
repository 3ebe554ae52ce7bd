/* Effort that follows need.
 *
 * Which photographs get more is decided from what all pairs came to with little effort, and
 * written down with a hash of everything it depends on. So a run that is interrupted while it
 * extracts again ends like one that was not: it finds the decision, though the features it was made
 * from are gone. A decision about other photographs or other pairs is not used.
 *
 * Where planes will be aligned in the photographs, all start with low effort. What is not connected
 * surely then gets normal effort, and what that does not connect at all high effort, since nothing
 * could be aligned; what is weakly connected in spite of its patches gets the next effort after the
 * alignment; and if the verdict in the end is doubtful all get normal effort, or high effort where
 * that did not do: few features may have been what misled the poses.
 * Otherwise all start with normal effort, and matches decide alone. Each decision replaces the one
 * before, under another number, so that an interrupted run knows how far it was. Pairs that came to
 * nothing are not tried again with more features, unless one of their images is not connected for
 * sure. */
#include "frontend/extract_and_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "frontend/effort_need.h"
#include "frontend/photo_key.h"

typedef struct {
    psfm_context *ctx;
    const char *folder, *database;
    psfm_folder_options extract;
    psfm_match_options match;
    uint64_t patches_key;
    psfm_timings *timings;
    psfm_taken_photos *taken;
} taking;

static taking begin_taking(psfm_context *ctx, const psfm_photos_to_take *what,
                           psfm_timings *timings, psfm_taken_photos *taken) {
    return (taking){ctx,          what->folder,      what->database, *what->extract,
                    *what->match, what->patches_key, timings,        taken};
}

void psfm_taken_photos_free(psfm_taken_photos *taken) {
    psfm_second_pass_photos_free(&taken->second_pass);
    psfm_extract_stats_free(&taken->extracted);
    *taken = (psfm_taken_photos){0};
}

/* ---- one pass ---- */

/* What several passes did together: a photograph that was extracted twice counts once. */
static void add_extracted(psfm_extract_stats *all, psfm_extract_stats *pass) {
    size_t num = all->num_extracted + pass->num_extracted;
    pass->num_extracted = num < pass->num_images ? num : pass->num_images;
    pass->num_unchanged = pass->num_images - pass->num_extracted;
    pass->num_removed += all->num_removed;
    psfm_extract_stats_free(all);
    *all = *pass;
}

static psfm_status extract_features(taking *t) {
    const psfm_moment start = psfm_moment_now();
    psfm_extract_stats pass = {0};
    char text[256];
    t->extract.is_again = t->taken->extracted.num_images > 0;
    t->extract.second_pass = t->taken->second_pass.photos;
    t->extract.num_second_pass = t->taken->second_pass.num;
    psfm_status status = psfm_extract_folder(t->ctx, t->folder, t->database, &t->extract, &pass);
    psfm_extract_stats_describe(&pass, text, sizeof text);
    if (status == PSFM_OK)
        psfm_log(t->ctx, PSFM_LOG_INFO, "%s", text);
    add_extracted(&t->taken->extracted, &pass);
    psfm_timings_add(t->timings, "extraction", start);
    return status;
}

static void add_matched(psfm_match_stats *all, const psfm_match_stats *pass) {
    psfm_match_stats sum = *pass;
    sum.num_matched += all->num_matched;
    if (sum.num_matched > sum.num_pairs)
        sum.num_matched = sum.num_pairs;
    sum.num_kept = sum.num_pairs - sum.num_matched;
    sum.num_dropped += all->num_dropped;
    sum.num_guided += all->num_guided;
    *all = sum;
}

/* Options of matching that know the photographs that were left out; *absent is freed by the
 * caller. */
static psfm_status match_options(const taking *t, psfm_match_options *options,
                                 const char ***absent) {
    const psfm_extract_stats *extracted = &t->taken->extracted;
    psfm_status status = PSFM_ALLOC(t->ctx, extracted->num_unused, absent);
    for (size_t k = 0; status == PSFM_OK && k < extracted->num_unused; ++k)
        (*absent)[k] = extracted->unused[k].name;
    *options = t->match;
    options->drop_others = true;
    options->absent = *absent;
    options->num_absent = extracted->num_unused;
    return status;
}

/* `leave_failed` after a decision: pairs that have failed are not tried again. */
static psfm_status match_pairs(taking *t, bool leave_failed) {
    const psfm_moment start = psfm_moment_now();
    psfm_match_options options;
    psfm_match_stats pass = {0};
    const char **absent = NULL;
    char text[256];
    psfm_status status = match_options(t, &options, &absent);
    options.leave_failed = leave_failed;
    if (status == PSFM_OK)
        status = psfm_match_images(t->ctx, t->database, &options, &pass);
    free((void *)absent);
    psfm_timings_add(t->timings, "matching", start);
    if (status != PSFM_OK)
        return status;
    psfm_match_stats_describe(&pass, text, sizeof text);
    psfm_log(t->ctx, PSFM_LOG_INFO, "%s", text);
    add_matched(&t->taken->matched, &pass);
    return PSFM_OK;
}

/* ---- decisions ---- */

/* A hash of everything that the decision depends on. Never 0. */
static psfm_status find_key(const taking *t, uint64_t *key) {
    psfm_match_options options;
    psfm_feature_store store = {0};
    psfm_stored_photos photos = {0};
    const char **absent = NULL;
    psfm_status status = match_options(t, &options, &absent);
    if (status == PSFM_OK)
        status = psfm_match_fingerprint(t->ctx, t->database, &options, key);
    if (status == PSFM_OK)
        status = psfm_store_open(t->ctx, t->database, false, &store);
    if (status == PSFM_OK)
        status = psfm_store_list(&store, &photos);
    for (size_t k = 0; status == PSFM_OK && k < photos.num; ++k)
        *key = psfm_photo_source_hash(*key, &photos.photos[k]);
    *key |= 1;
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    free((void *)absent);
    return status;
}

/* The number of a decision: the first ones count rounds, later ones know the patches if there will
 * be any. */
static uint64_t key_of(uint64_t key, uint64_t what) {
    return psfm_hash(key, &what, sizeof what) | 1;
}

static uint64_t key_of_doubt(uint64_t key, uint64_t patches_key) {
    return key_of(key_of(key, patches_key), 0);
}

static psfm_status decide_effort(taking *t, uint64_t key, const psfm_effort_criteria *g,
                                 size_t *num_more) {
    psfm_status status =
        psfm_effort_plan_make(t->ctx, t->database, g, key, &t->taken->second_pass, num_more);
    if (status == PSFM_OK && *num_more > 0)
        psfm_log(t->ctx, PSFM_LOG_INFO, "%zu of %zu images need more features", *num_more,
                 t->taken->extracted.num_images);
    return status;
}

/* ---- all of it ---- */

/* One effort for all, whatever was decided before. */
static psfm_status take_base(taking *t) {
    psfm_status status = PSFM_OK;
    if (t->taken->second_pass.num > 0) { /* by a decision that does not hold any more */
        psfm_second_pass_photos_free(&t->taken->second_pass);
        status = extract_features(t);
    }
    return status == PSFM_OK ? match_pairs(t, false) : status;
}

/* What the first decisions go by. From low effort it is who is connected, at first surely; from
 * normal effort matches decide about everything. */
static psfm_effort_criteria criteria_of(const taking *t, int round) {
    const bool is_low = t->patches_key != 0;
    return (psfm_effort_criteria){
        .extract = &t->extract,
        .causes = PSFM_NEED_CONNECTION | (is_low && round > 1 ? 0 : PSFM_NEED_SUPPORT) |
                  (is_low ? 0 : PSFM_NEED_EXACTNESS),
        .most = is_low && round == 1 ? PSFM_EFFORT_NORMAL : PSFM_EFFORT_HIGH};
}

static psfm_status take_by_need(taking *t) {
    const psfm_effort base = t->patches_key != 0 ? PSFM_EFFORT_LOW : PSFM_EFFORT_NORMAL;
    const int num_rounds = base == PSFM_EFFORT_LOW ? 2 : 1; /* to normal effort, to high */
    uint64_t decided = 0, key = 0;
    int round = 0;
    t->extract.effort.level = (int)base;
    t->taken->effort = base;
    psfm_status status =
        psfm_effort_plan_read(t->ctx, t->database, base, &decided, &t->taken->second_pass);
    if (status == PSFM_OK)
        status = extract_features(t);
    if (status == PSFM_OK)
        status = find_key(t, &key);
    const bool has_patches = t->patches_key != 0;
    const bool is_doubted = has_patches && decided == key_of_doubt(key, t->patches_key);
    const bool is_judged = is_doubted || (has_patches && decided == key_of(key, t->patches_key));
    for (int k = 1; k <= num_rounds; ++k)
        round = decided == key_of(key, (uint64_t)k) ? k : round;
    if (status == PSFM_OK)
        status = is_judged || round > 0 ? match_pairs(t, true) : take_base(t);
    while (status == PSFM_OK && !is_judged && round < num_rounds) {
        const psfm_effort_criteria g = criteria_of(t, ++round);
        size_t num_more = 0;
        status = decide_effort(t, key_of(key, (uint64_t)round), &g, &num_more);
        if (status == PSFM_OK && num_more > 0)
            status = extract_features(t);
        if (status == PSFM_OK && num_more > 0)
            status = match_pairs(t, true);
    }
    t->taken->state = is_doubted || !has_patches ? PSFM_TAKEN_ALL
                      : is_judged                ? PSFM_TAKEN_TO_SOLVE
                                                 : PSFM_TAKEN_TO_ALIGN;
    return status;
}

/* Decides anew which photographs need more. */
static psfm_status decide_again(psfm_context *ctx, const psfm_photos_to_take *what,
                                psfm_effort_criteria *g, psfm_taken_photos *taken, bool *more) {
    taking t = begin_taking(ctx, what, NULL, taken);
    const bool is_doubt = (g->causes & PSFM_NEED_CERTAINTY) != 0;
    size_t num_more = 0;
    uint64_t key = 0;
    t.extract.effort.level = (int)taken->effort;
    g->extract = &t.extract;
    psfm_status status = find_key(&t, &key);
    if (status == PSFM_OK)
        status = decide_effort(
            &t, is_doubt ? key_of_doubt(key, what->patches_key) : key_of(key, what->patches_key), g,
            &num_more);
    taken->state = is_doubt ? PSFM_TAKEN_ALL : PSFM_TAKEN_TO_SOLVE;
    *more = status == PSFM_OK && num_more > 0;
    return status;
}

psfm_status psfm_take_judge(psfm_context *ctx, const psfm_photos_to_take *what,
                            psfm_pair_patches *patches, size_t num_patches,
                            psfm_taken_photos *taken, bool *more) {
    psfm_effort_criteria g = {.causes = PSFM_NEED_EXACTNESS,
                              .most = PSFM_EFFORT_HIGH,
                              .patches = patches,
                              .num_patches = num_patches};
    *more = false;
    return taken->state == PSFM_TAKEN_TO_ALIGN ? decide_again(ctx, what, &g, taken, more) : PSFM_OK;
}

psfm_status psfm_take_doubt(psfm_context *ctx, const psfm_photos_to_take *what,
                            psfm_taken_photos *taken, bool *more) {
    psfm_effort_criteria g = {.causes = PSFM_NEED_CERTAINTY, .most = PSFM_EFFORT_HIGH};
    *more = false;
    return taken->state == PSFM_TAKEN_TO_SOLVE ? decide_again(ctx, what, &g, taken, more) : PSFM_OK;
}

psfm_status psfm_take_more(psfm_context *ctx, const psfm_photos_to_take *what,
                           psfm_timings *timings, psfm_taken_photos *taken) {
    taking t = begin_taking(ctx, what, timings, taken);
    t.extract.effort.level = (int)taken->effort;
    psfm_status status = extract_features(&t);
    return status == PSFM_OK ? match_pairs(&t, true) : status;
}

psfm_status psfm_take_photos(psfm_context *ctx, const psfm_photos_to_take *what,
                             psfm_timings *timings, psfm_taken_photos *taken) {
    taking t = begin_taking(ctx, what, timings, taken);
    psfm_sift_options normal = t.extract.sift;
    *taken = (psfm_taken_photos){.effort = (psfm_effort)t.extract.effort.level};
    if (taken->effort == PSFM_EFFORT_AUTO && t.extract.detector.kind == PSFM_FEATURES_SIFT &&
        psfm_effort_limit(PSFM_EFFORT_NORMAL, t.extract.extract.max_image_size, &normal))
        return take_by_need(&t);
    if (taken->effort == PSFM_EFFORT_AUTO)
        taken->effort = PSFM_EFFORT_HIGH;
    psfm_status status = extract_features(&t);
    return status == PSFM_OK ? match_pairs(&t, false) : status;
}
