/* Effort that follows need.
 *
 * Which photographs get more is decided from what all pairs came to with normal effort, and
 * written down with a number of everything it depends on. So a run that is interrupted while it
 * extracts again ends like one that was not: it finds the decision, though the features it was made
 * from are gone. A decision about other photographs or other pairs is not used.
 *
 * Where planes will be aligned in the photographs there are two decisions, one after the other:
 * what is not connected gets more at once, since nothing could be aligned, and what is held badly
 * in spite of its patches after the alignment. The second replaces the first, with another number;
 * until then the first is found again. */
#include "intake/take_photos.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/path.h"
#include "intake/effort_need.h"
#include "intake/photo_key.h"

typedef struct {
    psfm_context *ctx;
    const char *folder, *database;
    psfm_folder_options extract;
    psfm_match_options match;
    uint64_t patches_key;
    psfm_timings *timings;
    psfm_taken_photos *taken;
} taking;

static taking begin(psfm_context *ctx, const psfm_photos_to_take *what, psfm_timings *timings,
                    psfm_taken_photos *taken) {
    return (taking){ctx,          what->folder,      what->database, *what->extract,
                    *what->match, what->patches_key, timings,        taken};
}

static void forget_raised(psfm_taken_photos *taken) {
    for (size_t k = 0; k < taken->num_raised; ++k)
        free(taken->raised[k]);
    free((void *)taken->raised);
    taken->raised = NULL;
    taken->num_raised = 0;
}

void psfm_taken_photos_free(psfm_taken_photos *taken) {
    forget_raised(taken);
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

static psfm_status extract(taking *t) {
    const psfm_moment start = psfm_moment_now();
    psfm_extract_stats pass = {0};
    char text[256];
    t->extract.raised = (const char *const *)t->taken->raised;
    t->extract.num_raised = t->taken->num_raised;
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

static psfm_status match(taking *t) {
    const psfm_moment start = psfm_moment_now();
    psfm_match_options options;
    psfm_match_stats pass = {0};
    const char **absent = NULL;
    char text[256];
    psfm_status status = match_options(t, &options, &absent);
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

/* ---- the decision ---- */

static psfm_status take_names(taking *t, const psfm_stored_photos *photos, const psfm_need *needs) {
    psfm_taken_photos *taken = t->taken;
    forget_raised(taken);
    psfm_status status = PSFM_ALLOC(t->ctx, photos->num, &taken->raised);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k) {
        if (needs[k] == PSFM_NEED_NOTHING)
            continue;
        status = psfm_strdup(t->ctx, photos->photos[k].name, &taken->raised[taken->num_raised]);
        taken->num_raised += status == PSFM_OK;
    }
    return status;
}

/* Reads the decision of an earlier call; *key is 0 if there is none. */
static psfm_status read_decision(taking *t, uint64_t *key) {
    psfm_feature_store store = {0};
    psfm_stored_photos photos = {0};
    psfm_need *needs = NULL;
    *key = 0;
    if (!psfm_path_is_file(t->database))
        return PSFM_OK;
    psfm_status status = psfm_store_open(t->ctx, t->database, true, &store);
    if (status == PSFM_OK)
        status = psfm_store_list(&store, &photos);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(t->ctx, photos.num, &needs);
    if (status == PSFM_OK)
        status = psfm_store_needs(&store, &photos, key, needs);
    if (status == PSFM_OK && *key != 0)
        status = take_names(t, &photos, needs);
    free(needs);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    return status;
}

/* A number of everything that the decision depends on. Never 0. */
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

/* An image of the database and its place among the photographs. */
typedef struct {
    uint32_t id, index;
} place;

static int by_id(const void *a, const void *b) {
    const place *p = a, *q = b;
    return p->id < q->id ? -1 : p->id > q->id;
}

static bool find_image(const place *places, size_t num, uint32_t id, uint32_t *index) {
    const place wanted = {.id = id};
    const place *found = num == 0 ? NULL : bsearch(&wanted, places, num, sizeof *places, by_id);
    if (found != NULL)
        *index = found->index;
    return found != NULL;
}

/* Why photographs may get more, and what is known of their patches, sorted by ids. */
typedef struct {
    unsigned causes;
    const psfm_pair_patches *patches;
    size_t num_patches;
} grounds;

static int by_ids(const void *a, const void *b) {
    const psfm_pair_patches *p = a, *q = b;
    if (p->id1 != q->id1)
        return p->id1 < q->id1 ? -1 : 1;
    return p->id2 < q->id2 ? -1 : p->id2 > q->id2;
}

static double patches_of(const grounds *g, const psfm_stored_pair *pair) {
    const psfm_pair_patches wanted = {pair->id1, pair->id2, 0.0};
    const psfm_pair_patches *found =
        g->num_patches == 0
            ? NULL
            : bsearch(&wanted, g->patches, g->num_patches, sizeof *g->patches, by_ids);
    return found == NULL ? 0.0 : found->worth;
}

static psfm_status judge_pairs(taking *t, psfm_feature_store *store, const grounds *g,
                               const psfm_stored_photos *photos, psfm_need *needs) {
    psfm_stored_pair *stored = NULL;
    psfm_tried_pair *tried = NULL;
    place *places = NULL;
    size_t num_stored = 0, num = 0;
    psfm_status status = psfm_store_list_pairs(store, &stored, &num_stored);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(t->ctx, num_stored, &tried);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(t->ctx, photos->num, &places);
    for (uint32_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        places[k] = (place){photos->photos[k].image_id, k};
    if (status == PSFM_OK && photos->num > 0)
        qsort(places, photos->num, sizeof *places, by_id);
    for (size_t k = 0; status == PSFM_OK && k < num_stored; ++k) {
        psfm_tried_pair *pair = &tried[num];
        pair->num_verified = stored[k].num_verified;
        pair->patches = patches_of(g, &stored[k]);
        num += find_image(places, photos->num, stored[k].id1, &pair->image[0]) &&
               find_image(places, photos->num, stored[k].id2, &pair->image[1]);
    }
    if (status == PSFM_OK)
        status = psfm_effort_need(t->ctx, photos->num, tried, num, g->causes, needs);
    free(places);
    free(tried);
    free(stored);
    return status;
}

/* Photographs that were given more keep it. */
static psfm_status add_earlier(taking *t, psfm_feature_store *store,
                               const psfm_stored_photos *photos, psfm_need *needs) {
    psfm_need *earlier = NULL;
    uint64_t key = 0;
    psfm_status status = PSFM_ALLOC(t->ctx, photos->num, &earlier);
    if (status == PSFM_OK)
        status = psfm_store_needs(store, photos, &key, earlier);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        if (earlier[k] > needs[k])
            needs[k] = earlier[k];
    free(earlier);
    return status;
}

/* Decides on the photographs that get more, and writes it down. */
static psfm_status decide(taking *t, uint64_t key, const grounds *g) {
    psfm_feature_store store = {0};
    psfm_stored_photos photos = {0};
    psfm_need *needs = NULL;
    psfm_status status = psfm_store_open(t->ctx, t->database, false, &store);
    if (status == PSFM_OK)
        status = psfm_store_list(&store, &photos);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(t->ctx, photos.num, &needs);
    if (status == PSFM_OK)
        status = judge_pairs(t, &store, g, &photos, needs);
    if (status == PSFM_OK && t->taken->num_raised > 0)
        status = add_earlier(t, &store, &photos, needs);
    if (status == PSFM_OK)
        status = psfm_store_put_needs(&store, key, &photos, needs);
    if (status == PSFM_OK)
        status = take_names(t, &photos, needs);
    free(needs);
    psfm_stored_photos_free(&photos);
    psfm_store_close(&store);
    return status;
}

/* ---- all of it ---- */

/* Features of the photographs that were just given more. */
static psfm_status extract_more(taking *t) {
    psfm_log(t->ctx, PSFM_LOG_INFO, "%zu of %zu images need more features", t->taken->num_raised,
             t->taken->extracted.num_images);
    return extract(t);
}

/* Normal effort for all, and the decision from that. Leaves nothing to be done if no photograph
 * needs more. */
static psfm_status take_normal(taking *t, uint64_t key) {
    const grounds g = {.causes =
                           PSFM_NEED_CONNECTION | (t->patches_key == 0 ? PSFM_NEED_EXACTNESS : 0)};
    psfm_status status = PSFM_OK;
    if (t->taken->num_raised > 0) { /* by a decision that does not hold any more */
        forget_raised(t->taken);
        status = extract(t);
    }
    if (status == PSFM_OK)
        status = match(t);
    if (status == PSFM_OK)
        status = decide(t, key, &g);
    if (status == PSFM_OK && t->taken->num_raised > 0)
        status = extract_more(t);
    return status;
}

/* The number of the last decision, which knows the patches if there will be any. */
static uint64_t last_key(const taking *t, uint64_t key) {
    return t->patches_key == 0 ? key : psfm_hash(key, &t->patches_key, sizeof t->patches_key) | 1;
}

static psfm_status take_by_need(taking *t) {
    uint64_t decided = 0, key = 0;
    t->extract.effort.level = PSFM_EFFORT_NORMAL;
    t->taken->effort = PSFM_EFFORT_NORMAL;
    psfm_status status = read_decision(t, &decided);
    if (status == PSFM_OK)
        status = extract(t);
    if (status == PSFM_OK)
        status = find_key(t, &key);
    const bool is_known = decided == key || decided == last_key(t, key);
    if (status == PSFM_OK && !is_known)
        status = take_normal(t, key);
    if (status == PSFM_OK && (is_known || t->taken->num_raised > 0))
        status = match(t);
    t->taken->is_open = decided != last_key(t, key) && t->patches_key != 0 &&
                        t->taken->num_raised < t->taken->extracted.num_images;
    return status;
}

psfm_status psfm_take_judge(psfm_context *ctx, const psfm_photos_to_take *what,
                            psfm_pair_patches *patches, size_t num_patches,
                            psfm_taken_photos *taken, bool *more) {
    taking t = begin(ctx, what, NULL, taken);
    const grounds g = {PSFM_NEED_EXACTNESS, patches, num_patches};
    const size_t num_before = taken->num_raised;
    uint64_t key = 0;
    *more = false;
    if (!taken->is_open)
        return PSFM_OK;
    if (num_patches > 0)
        qsort(patches, num_patches, sizeof *patches, by_ids);
    psfm_status status = find_key(&t, &key);
    if (status == PSFM_OK)
        status = decide(&t, last_key(&t, key), &g);
    taken->is_open = false;
    *more = status == PSFM_OK && taken->num_raised > num_before;
    return status;
}

psfm_status psfm_take_more(psfm_context *ctx, const psfm_photos_to_take *what,
                           psfm_timings *timings, psfm_taken_photos *taken) {
    taking t = begin(ctx, what, timings, taken);
    t.extract.effort.level = PSFM_EFFORT_NORMAL;
    psfm_status status = extract_more(&t);
    return status == PSFM_OK ? match(&t) : status;
}

psfm_status psfm_take_photos(psfm_context *ctx, const psfm_photos_to_take *what,
                             psfm_timings *timings, psfm_taken_photos *taken) {
    taking t = begin(ctx, what, timings, taken);
    psfm_sift_options normal = t.extract.sift;
    *taken = (psfm_taken_photos){.effort = (psfm_effort)t.extract.effort.level};
    if (taken->effort == PSFM_EFFORT_AUTO && t.extract.detector.kind == PSFM_FEATURES_SIFT &&
        psfm_effort_limit(PSFM_EFFORT_NORMAL, t.extract.extract.max_image_size, &normal))
        return take_by_need(&t);
    if (taken->effort == PSFM_EFFORT_AUTO)
        taken->effort = PSFM_EFFORT_HIGH;
    psfm_status status = extract(&t);
    return status == PSFM_OK ? match(&t) : status;
}
