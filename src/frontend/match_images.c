/* Matches of selected pairs into a database, so that it can be interrupted and repeated.
 *
 * A pair's matches have a key (matcher, weights, options; cameras and seed, where homographies
 * guided them); pairs that have theirs are kept. Pairs are matched anywhere
 * (frontend/match_tasks.h) and written in order, in batches of one transaction each. */
#include "frontend/match_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file_fingerprint.h"
#include "core/base/hash.h"
#include "core/linalg/order_statistics.h"
#include "frontend/match_tasks.h"
#include "frontend/pair_plan.h"
#include "planarsfm/version.h"

/* Pairs that are written together: what is lost at most when a run is killed. The same number for
 * any number of threads and ranks, so that the files are the same, too. */
#define BATCH_PAIRS 64
/* Pairs of SIFT that are matched together, at most. */
#define TASK_PAIRS 16

typedef struct {
    psfm_context *ctx;
    const psfm_match_options *options;
    uint64_t key; /* of matcher, weights and options */
    psfm_feature_kind features;
    psfm_matcher_kind matcher;
    psfm_matcher_options matcher_options;
    char *weights; /* path; NULL if the matcher has none */
    psfm_feature_store store;
    psfm_stored_photos images;
    bool is_guided; /* SIFT is matched again along homographies, for which there are: */
    psfm_two_view_options two_view;
    psfm_match_set views;  /* per image: its camera; no keypoints */
    psfm_pair_plan plan;   /* which pairs are */
    psfm_pair_list wanted; /* indices into images; sorted */
    psfm_pair_list todo;   /* those of them that have no matches yet */
    bool is_writing;       /* a transaction is open */
    psfm_match_stats *stats;
} matching;

/* All images with keypoints must have features of one kind. */
static psfm_status find_features(matching *m) {
    const psfm_stored_photo *first = NULL;
    for (size_t k = 0; k < m->images.num; ++k) {
        const psfm_stored_photo *photo = &m->images.photos[k];
        const char *kind = photo->features == NULL ? psfm_feature_names[0] : photo->features;
        psfm_feature_kind found = psfm_feature_kind_find(kind);
        if (photo->num_keypoints == 0)
            continue;
        if (found == PSFM_NUM_FEATURE_KINDS || (first != NULL && found != m->features))
            return psfm_fail(m->ctx, PSFM_ERR_DATA,
                             "%s: image %s has %s features, which cannot be matched%s%s",
                             m->store.sql.path, photo->name, kind, first == NULL ? "" : " with ",
                             first == NULL ? "" : psfm_feature_names[m->features]);
        first = photo;
        m->features = found;
    }
    return PSFM_OK;
}

static uint64_t hash_sift_options(const matching *m) {
    const psfm_match_options *o = m->options;
    uint64_t seed = psfm_context_seed(m->ctx);
    uint64_t key = psfm_options_hash(&psfm_nearest_option_table, &o->nearest, m->key);
    if (!m->is_guided)
        return key;
    key = psfm_options_hash(&psfm_guided_option_table, &o->guided, key);
    key = psfm_two_view_hash(&m->two_view, key);
    return psfm_hash(key, &seed, sizeof seed);
}

/* Decides on the matcher, finds its weights, and hashes what the matches depend on beside the
 * features. */
static psfm_status find_matcher(matching *m) {
    const psfm_match_options *o = m->options;
    const psfm_network_file *file = NULL;
    uint64_t fingerprint = 0;
    psfm_status status = find_features(m);
    m->is_guided = o->guided.enabled && m->features == PSFM_FEATURES_SIFT;
    m->two_view = o->two_view;
    m->two_view.independent = false; /* it is about poses: both modes share their matches */
    m->key = psfm_hash(PSFM_HASH_START, PSFM_VERSION, sizeof PSFM_VERSION);
    if (status == PSFM_OK)
        status = psfm_matcher_resolve(m->ctx, m->features, (psfm_matcher_kind)o->matcher.kind,
                                      &m->matcher, &file);
    m->matcher_options = o->matcher;
    psfm_matcher_options_fill(m->features, &m->matcher_options);
    if (status == PSFM_OK && file != NULL)
        status = psfm_weights_find(m->ctx, &o->weights, file, &m->weights, &fingerprint);
    if (status != PSFM_OK)
        return status;
    m->key =
        m->features == PSFM_FEATURES_SIFT
            ? hash_sift_options(m)
            : psfm_options_hash(psfm_matcher_table(m->matcher),
                                psfm_matcher_own_options(&m->matcher_options, m->matcher), m->key);
    m->stats->matcher = psfm_matcher_names[m->matcher];
    m->key = psfm_hash(m->key, m->stats->matcher, strlen(m->stats->matcher));
    m->key = psfm_hash(m->key, &fingerprint, sizeof fingerprint);
    return status;
}

/* What the matches of a pair were made from but descriptors: the options and, if homographies
 * guided them, the cameras, in the order of the images' names. Never 0. */
static uint64_t pair_key(const matching *m, const uint32_t pair[2]) {
    uint64_t key = m->key;
    size_t first = pair[0] < pair[1] ? 0 : 1;
    for (size_t k = 0; m->is_guided && k < 2; ++k) {
        const uint32_t image = pair[k == 0 ? first : 1 - first];
        const psfm_camera *camera = &m->views.cameras[m->views.views[image].camera_idx];
        key = psfm_hash(key, &camera->model, sizeof camera->model);
        key = psfm_hash(key, &camera->width, sizeof camera->width);
        key = psfm_hash(key, &camera->height, sizeof camera->height);
        key = psfm_hash(key, camera->params, sizeof camera->params);
    }
    return key | 1;
}

/* ---- which pairs ---- */

static bool has_failed(const matching *m, const psfm_effort_plan *plan, const uint32_t pair[2]) {
    const psfm_stored_pair wanted = psfm_pair_ids(&m->images, pair);
    const uint32_t ids[2] = {wanted.id1, wanted.id2};
    return psfm_find(ids, plan->failed, plan->num_failed, sizeof *plan->failed,
                     psfm_compare_u32_pair) != NULL;
}

/* Takes over the pairs that are still to be matched. */
static psfm_status leave_out_stored(matching *m, const psfm_pair_list *wanted) {
    psfm_stored_pairs stored = {0};
    psfm_effort_plan plan = {0};
    uint64_t key = 0;
    psfm_status status = psfm_stored_pairs_read(&m->store, &stored);
    psfm_pair_list_free(&m->todo);
    if (status == PSFM_OK && m->options->leave_failed)
        status = psfm_store_plan(&m->store, &m->images, &key, &plan);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, wanted->num, &m->todo.pairs);
    for (size_t k = 0; status == PSFM_OK && k < wanted->num; ++k) {
        const uint32_t *pair = wanted->pairs[k];
        const psfm_stored_pair *found = psfm_stored_pairs_find(&stored, &m->images, pair);
        if (found != NULL && (found->key == 0 || found->key == pair_key(m, pair))) {
            ++m->stats->num_kept;
            m->stats->num_matches += found->num_matches;
        } else if (has_failed(m, &plan, pair)) {
            ++m->stats->num_failed;
        } else {
            memcpy(m->todo.pairs[m->todo.num++], pair, sizeof *m->todo.pairs);
        }
    }
    psfm_effort_plan_free(&plan);
    psfm_stored_pairs_free(&stored);
    return status;
}

/* Opens the database and finds out how its pairs are matched. */
static psfm_status open_pairs(matching *m, const char *database) {
    const psfm_match_options *o = m->options;
    psfm_status status = psfm_options_check(m->ctx, &psfm_nearest_option_table, &o->nearest);
    if (status == PSFM_OK && o->guided.enabled)
        status = psfm_options_check(m->ctx, &psfm_two_view_option_table, &o->two_view);
    if (status == PSFM_OK)
        status = psfm_store_open(m->ctx, database, false, &m->store);
    if (status == PSFM_OK)
        status = psfm_store_list(&m->store, &m->images);
    if (status == PSFM_OK)
        status = psfm_pair_plan_init(m->ctx, &m->store, &m->images, o, &m->plan);
    if (status == PSFM_OK)
        status = find_matcher(m);
    return status == PSFM_OK && m->is_guided ? psfm_store_views(&m->store, &m->images, &m->views)
                                             : status;
}

/* ---- matching ---- */

static psfm_status load_image(matching *m, uint32_t index, psfm_match_image *image) {
    const psfm_stored_photo *photo = &m->images.photos[index];
    image->width = (size_t)photo->width;
    image->height = (size_t)photo->height;
    if (m->features != PSFM_FEATURES_SIFT)
        return photo->num_keypoints == 0 ? PSFM_OK
                                         : psfm_store_float_features(&m->store, photo, &image->set);
    psfm_status status = psfm_store_descriptors(&m->store, photo, &image->set);
    if (status != PSFM_OK || !m->is_guided)
        return status;
    image->view.id = m->views.views[index].id;
    image->camera = m->views.cameras[m->views.views[index].camera_idx];
    return psfm_store_keypoints(&m->store, &image->view);
}

static psfm_status bring_image(psfm_context *ctx, const psfm_task_list *list, uint32_t part,
                               void *content, size_t *memory) {
    (void)ctx;
    psfm_status status = load_image(list->user, part, content);
    *memory = psfm_match_image_memory(content);
    return status;
}

static psfm_status describe_pair(psfm_context *ctx, size_t index, void *user, void *item) {
    (void)ctx;
    const matching *m = user;
    memcpy(item, m->todo.pairs[index], sizeof *m->todo.pairs);
    return PSFM_OK;
}

static void turn_matches(psfm_match_list *list) {
    for (size_t k = 0; k < list->num; ++k) {
        uint32_t first = list->matches[k][0];
        list->matches[k][0] = list->matches[k][1];
        list->matches[k][1] = first;
    }
}

static psfm_status begin_batch(matching *m) {
    if (m->is_writing)
        return PSFM_OK;
    m->is_writing = true;
    return psfm_store_begin(&m->store);
}

static psfm_status end_batch(matching *m) {
    bool was_writing = m->is_writing;
    m->is_writing = false;
    return was_writing ? psfm_store_commit(&m->store) : PSFM_OK;
}

static psfm_status write_pair(matching *m, const uint32_t pair[2], psfm_pair_result *result) {
    psfm_stored_pair ids = psfm_pair_ids(&m->images, pair);
    if (psfm_pair_is_turned(&m->images, pair) != result->is_turned)
        turn_matches(&result->list);
    psfm_status status = begin_batch(m);
    if (status == PSFM_OK)
        status =
            psfm_store_put_matches(&m->store, ids.id1, ids.id2, &result->list, pair_key(m, pair));
    if (status == PSFM_OK)
        status = psfm_store_put_verified(&m->store, ids.id1, ids.id2, result->num_verified);
    m->stats->num_matches += result->list.num;
    m->stats->num_guided += result->num_guided;
    return status;
}

static psfm_status take_pair(psfm_context *ctx, size_t index, void *user, void *result) {
    (void)ctx;
    matching *m = user;
    psfm_status status = write_pair(m, m->todo.pairs[index], result);
    return status == PSFM_OK && (index + 1) % BATCH_PAIRS == 0 ? end_batch(m) : status;
}

static psfm_status run_tasks(matching *m) {
    psfm_match_setup setup = {.features = m->features,
                              .matcher = m->matcher,
                              .matcher_options = m->matcher_options,
                              .weights = m->weights,
                              .nearest = m->options->nearest,
                              .is_guided = m->is_guided,
                              .two_view = m->two_view,
                              .num_images = m->images.num};
    const psfm_task_list list = {.kind = &psfm_match_tasks,
                                 .stage = "matching",
                                 .setup = &setup,
                                 .num = m->todo.num,
                                 /* networks take one pair after the other */
                                 .task_weight = m->features == PSFM_FEATURES_SIFT ? TASK_PAIRS : 1,
                                 .describe = describe_pair,
                                 .parts = m->todo.pairs[0],
                                 .parts_each = 2,
                                 .num_parts = m->images.num,
                                 .load_part = bring_image,
                                 .commit = take_pair,
                                 .user = m};
    psfm_status status = PSFM_OK;
    if (m->weights != NULL && psfm_context_link(m->ctx) != NULL)
        status = psfm_file_print(m->ctx, m->weights, &setup.weights_print);
    return status == PSFM_OK ? psfm_tasks_run(m->ctx, &list) : status;
}

static psfm_status match_all(matching *m, const psfm_pair_list *wanted) {
    psfm_status status = leave_out_stored(m, wanted);
    if (status == PSFM_OK)
        status = run_tasks(m);
    if (status == PSFM_OK || status == PSFM_ERR_CANCELLED) { /* what is done is kept */
        psfm_status ended = end_batch(m);
        status = status == PSFM_OK ? ended : status;
    }
    m->stats->num_pairs += wanted->num;
    m->stats->num_matched += m->todo.num;
    return status;
}

/* Matches the pairs that those of the rule point to, and adds them to those wanted. */
static psfm_status match_more(matching *m) {
    psfm_pair_list added = {0};
    size_t capacity = m->wanted.num;
    psfm_status status = psfm_wanted_more(&m->plan, &m->wanted, &added);
    if (status == PSFM_OK)
        status = match_all(m, &added);
    for (size_t k = 0; status == PSFM_OK && k < added.num; ++k)
        status =
            psfm_pair_list_add(m->ctx, &m->wanted, &capacity, added.pairs[k][0], added.pairs[k][1]);
    m->stats->num_added = added.num;
    psfm_pair_list_free(&added);
    return status;
}

static void close_pairs(matching *m) {
    free(m->weights);
    psfm_match_set_free(&m->views);
    psfm_pair_plan_free(&m->plan);
    psfm_pair_list_free(&m->wanted);
    psfm_pair_list_free(&m->todo);
    psfm_stored_photos_free(&m->images);
    psfm_store_close(&m->store);
}

psfm_status psfm_match_fingerprint(psfm_context *ctx, const char *database,
                                   const psfm_match_options *options, uint64_t *fingerprint) {
    matching m = {.ctx = ctx, .options = options, .stats = &(psfm_match_stats){.num_pairs = 0}};
    psfm_status status = open_pairs(&m, database);
    *fingerprint = PSFM_HASH_START;
    if (status == PSFM_OK)
        *fingerprint = psfm_hash(*fingerprint, m.plan.rule, strlen(m.plan.rule));
    if (status == PSFM_OK && psfm_pair_rule_expands(m.plan.rule, &options->expand))
        *fingerprint = psfm_options_hash(&psfm_expand_option_table, &options->expand, *fingerprint);
    if (status == PSFM_OK && !psfm_pair_plan_by_retrieval(&m.plan)) /* which the features tell */
        status = psfm_wanted_pairs(&m.plan, &m.wanted);
    *fingerprint = psfm_hash(*fingerprint, m.wanted.pairs, m.wanted.num * sizeof *m.wanted.pairs);
    for (uint32_t k = 0; status == PSFM_OK && k < m.images.num; ++k) {
        const uint64_t key = pair_key(&m, (const uint32_t[2]){k, k});
        *fingerprint = psfm_hash(*fingerprint, &key, sizeof key);
    }
    close_pairs(&m);
    return status;
}

psfm_status psfm_match_images(psfm_context *ctx, const char *database,
                              const psfm_match_options *options, psfm_match_stats *stats) {
    psfm_match_stats facts = {0};
    matching m = {.ctx = ctx, .options = options, .stats = &facts};
    psfm_status status = open_pairs(&m, database);
    facts.num_images = m.images.num;
    if (status == PSFM_OK)
        snprintf(facts.rule, sizeof facts.rule, "%.60s", m.plan.rule);
    if (status == PSFM_OK)
        status = psfm_wanted_pairs(&m.plan, &m.wanted);
    if (status == PSFM_OK)
        status = match_all(&m, &m.wanted);
    if (status == PSFM_OK)
        status = match_more(&m);
    if (status == PSFM_OK && options->drop_others)
        status = psfm_drop_unwanted(&m.plan, &m.wanted, &facts.num_dropped);
    close_pairs(&m);
    if (stats != NULL)
        *stats = facts;
    return status;
}

void psfm_match_stats_describe(const psfm_match_stats *stats, char *text, size_t size) {
    char added[64] = "", failed[64] = "";
    if (stats->num_failed > 0)
        snprintf(failed, sizeof failed, ", %zu left out, which had nothing before",
                 stats->num_failed);
    if (stats->num_added > 0)
        snprintf(added, sizeof added, "; %zu of them by common neighbours", stats->num_added);
    snprintf(text, size,
             "%zu pairs of %zu images (%s%s): %zu matched, %zu there before%s; %zu matches by "
             "%s, %zu of them new along homographies",
             stats->num_pairs, stats->num_images, stats->rule, added, stats->num_matched,
             stats->num_kept, failed, stats->num_matches, stats->matcher, stats->num_guided);
}
