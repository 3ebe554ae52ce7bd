/* Matches of selected pairs into a database, so that it can be interrupted and repeated.
 *
 * A pair's matches have a key (matcher, weights, options; cameras and seed, where homographies
 * guided them); pairs that have theirs are kept. Pairs are matched in batches, each written in one
 * transaction; descriptors are loaded for a batch and forgotten when they pass a quarter of the
 * memory. */
#include "intake/match_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "intake/guide_matches.h"
#include "intake/wanted_pairs.h"
#include "planarsfm/version.h"

/* What is lost at most when a run is interrupted, per thread. */
#define BATCH_PAIRS 16

typedef struct {
    psfm_context *ctx;
    const psfm_match_options *options;
    uint64_t key; /* of matcher, weights and options */
    psfm_feature_kind features;
    psfm_matcher_kind matcher;
    psfm_matcher_options matcher_options;
    char *weights;             /* path; NULL if the matcher has none */
    psfm_matchers *matchers;   /* NULL for SIFT */
    psfm_neural_input *inputs; /* per image, for them */
    psfm_feature_store store;
    psfm_stored_photos images;
    psfm_keypoint_set *sets; /* per image: descriptors; empty until loaded */
    uint64_t *content;       /* per image: a number of its descriptors, once they were loaded */
    bool is_guided;          /* SIFT is matched again along homographies, for which there are: */
    psfm_match_set views;    /* per image: keypoints and rays; empty until loaded */
    bool *loaded;
    size_t bytes, budget;
    psfm_pair_plan plan;   /* which pairs are */
    psfm_pair_list wanted; /* indices into images; sorted */
    psfm_pair_list todo;   /* those of them that have no matches yet */
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

static psfm_status hash_sift_options(matching *m) {
    const psfm_match_options *o = m->options;
    uint64_t seed = psfm_context_seed(m->ctx);
    psfm_status status =
        psfm_options_hash(m->ctx, &psfm_nearest_option_table, &o->nearest, &m->key);
    if (status == PSFM_OK && m->is_guided) {
        status = psfm_options_hash(m->ctx, &psfm_guided_option_table, &o->guided, &m->key);
        m->key = psfm_hash(m->key, &seed, sizeof seed);
    }
    return status;
}

/* Decides on the matcher, finds its weights, and hashes what the matches depend on beside the
 * features. */
static psfm_status find_matcher(matching *m) {
    const psfm_match_options *o = m->options;
    const psfm_network_file *file = NULL;
    uint64_t fingerprint = 0;
    psfm_status status = find_features(m);
    m->is_guided = o->guided.enabled && m->features == PSFM_FEATURES_SIFT;
    m->key = psfm_hash(PSFM_HASH_START, PSFM_VERSION, sizeof PSFM_VERSION);
    if (status == PSFM_OK)
        status = psfm_matcher_resolve(m->ctx, m->features, (psfm_matcher_kind)o->matcher.kind,
                                      &m->matcher, &file);
    m->matcher_options = o->matcher;
    psfm_matcher_options_fill(m->features, &m->matcher_options);
    if (status == PSFM_OK && file != NULL)
        status = psfm_weights_find(m->ctx, &o->weights, file, &m->weights, &fingerprint);
    if (status == PSFM_OK)
        status = m->features == PSFM_FEATURES_SIFT
                     ? hash_sift_options(m)
                     : psfm_options_hash(m->ctx, psfm_matcher_table(m->matcher),
                                         psfm_matcher_own_options(&m->matcher_options, m->matcher),
                                         &m->key);
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

/* Takes over the pairs that are still to be matched. */
static psfm_status leave_out_stored(matching *m, const psfm_pair_list *wanted) {
    psfm_stored_pairs stored = {0};
    psfm_status status = psfm_stored_pairs_read(&m->store, &stored);
    psfm_pair_list_free(&m->todo);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, wanted->num, &m->todo.pairs);
    for (size_t k = 0; status == PSFM_OK && k < wanted->num; ++k) {
        const uint32_t *pair = wanted->pairs[k];
        const psfm_stored_pair *found = psfm_stored_pairs_find(&stored, &m->images, pair);
        if (found != NULL && (found->key == 0 || found->key == pair_key(m, pair))) {
            ++m->stats->num_kept;
            m->stats->num_matches += found->num_matches;
        } else {
            memcpy(m->todo.pairs[m->todo.num++], pair, sizeof *m->todo.pairs);
        }
    }
    psfm_stored_pairs_free(&stored);
    return status;
}

/* Opens the database and finds out how its pairs are matched. */
static psfm_status open_pairs(matching *m, const char *database) {
    const psfm_match_options *o = m->options;
    psfm_status status = psfm_options_check(m->ctx, &psfm_nearest_option_table, &o->nearest);
    if (status == PSFM_OK && o->guided.enabled)
        status = psfm_options_check(m->ctx, &psfm_guided_option_table, &o->guided);
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

static void unload_view(psfm_view *view) {
    free(view->keypoints);
    free(view->rays);
    free(view->px_from_ray);
    view->keypoints = NULL;
    view->rays = NULL;
    view->px_from_ray = NULL;
    view->num_keypoints = 0;
}

static void unload_all(matching *m) {
    for (size_t k = 0; m->sets != NULL && k < m->images.num; ++k) {
        psfm_keypoint_set_free(&m->sets[k]);
        if (k < m->views.num_views)
            unload_view(&m->views.views[k]);
        if (m->loaded != NULL)
            m->loaded[k] = false;
    }
    m->bytes = 0;
}

static psfm_status load_view(matching *m, uint32_t image) {
    psfm_view *view = &m->views.views[image];
    psfm_status status = psfm_store_keypoints(&m->store, view);
    m->bytes += view->num_keypoints *
                (sizeof *view->keypoints + sizeof *view->rays + sizeof *view->px_from_ray);
    return status;
}

static psfm_status load_image(matching *m, uint32_t image) {
    const psfm_stored_photo *photo = &m->images.photos[image];
    psfm_keypoint_set *set = &m->sets[image];
    m->inputs[image] = (psfm_neural_input){set, (size_t)photo->width, (size_t)photo->height};
    if (m->features == PSFM_FEATURES_SIFT) {
        psfm_status status = psfm_store_descriptors(&m->store, photo, set);
        m->bytes += set->num * set->descriptor_size;
        return status == PSFM_OK && m->is_guided ? load_view(m, image) : status;
    }
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    psfm_status status = psfm_store_float_features(&m->store, photo, set);
    m->bytes += set->num * set->descriptor_size * sizeof *set->descriptors_f32;
    return status;
}

static uint64_t content_of(const psfm_keypoint_set *set) {
    size_t num = set->num * set->descriptor_size;
    if (set->descriptors_u8 != NULL)
        return psfm_hash(PSFM_HASH_START, set->descriptors_u8, num);
    return psfm_hash(PSFM_HASH_START, set->descriptors_f32, num * sizeof *set->descriptors_f32);
}

/* Matchers know a first and a second image. Which is which comes from the images, not from their
 * names: photographs under other names have the same matches. */
static void turn_by_content(const matching *m, const psfm_pair_list *batch) {
    for (size_t k = 0; k < batch->num; ++k) {
        uint32_t *pair = batch->pairs[k], first = pair[0];
        if (m->content[first] <= m->content[pair[1]])
            continue;
        pair[0] = pair[1];
        pair[1] = first;
    }
}

static psfm_status load(matching *m, const psfm_pair_list *batch) {
    psfm_status status = PSFM_OK;
    if (m->bytes > m->budget)
        unload_all(m);
    for (size_t k = 0; status == PSFM_OK && k < 2 * batch->num; ++k) {
        uint32_t image = batch->pairs[k / 2][k % 2];
        if (m->loaded[image])
            continue;
        status = load_image(m, image);
        m->loaded[image] = status == PSFM_OK;
        m->content[image] = content_of(&m->sets[image]);
    }
    if (status == PSFM_OK && m->is_guided)
        status = psfm_match_set_add_rays(m->ctx, &m->views);
    if (status == PSFM_OK)
        turn_by_content(m, batch);
    return status;
}

static psfm_status guide_batch(matching *m, const psfm_pair_list *batch, psfm_match_list *lists,
                               size_t *verified) {
    size_t before = 0, after = 0;
    for (size_t k = 0; k < batch->num; ++k)
        before += lists[k].num;
    psfm_status status =
        psfm_guide_matches(m->ctx, &m->views, m->sets, (const uint32_t(*)[2])batch->pairs,
                           batch->num, &m->options->guided, lists, verified);
    for (size_t k = 0; k < batch->num; ++k)
        after += lists[k].num;
    m->stats->num_guided += after - before;
    return status;
}

static void turn(psfm_match_list *list) {
    for (size_t k = 0; k < list->num; ++k) {
        uint32_t first = list->matches[k][0];
        list->matches[k][0] = list->matches[k][1];
        list->matches[k][1] = first;
    }
}

static psfm_status write_batch(matching *m, const psfm_pair_list *batch, psfm_match_list *lists,
                               const size_t *verified) {
    psfm_status status = psfm_store_begin(&m->store);
    for (size_t k = 0; status == PSFM_OK && k < batch->num; ++k) {
        const uint32_t *pair = batch->pairs[k];
        psfm_stored_pair ids = psfm_pair_ids(&m->images, pair);
        if (psfm_pair_is_turned(&m->images, pair))
            turn(&lists[k]);
        status = psfm_store_put_matches(&m->store, ids.id1, ids.id2, &lists[k], pair_key(m, pair));
        if (status == PSFM_OK)
            status = psfm_store_put_verified(&m->store, ids.id1, ids.id2, verified[k]);
        m->stats->num_matches += lists[k].num;
    }
    return status == PSFM_OK ? psfm_store_commit(&m->store) : status;
}

static psfm_status match_batch(matching *m, const psfm_pair_list *batch) {
    psfm_match_list *lists = NULL;
    size_t *verified = NULL;
    psfm_status status = PSFM_ALLOC(m->ctx, batch->num, &lists);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(m->ctx, batch->num, &verified);
    if (status == PSFM_OK)
        status = load(m, batch);
    if (status == PSFM_OK)
        status = m->matchers == NULL
                     ? psfm_nearest_match_pairs(m->ctx, m->sets, m->images.num, batch,
                                                &m->options->nearest, lists)
                     : psfm_matchers_run(m->ctx, m->matchers, m->inputs, batch, lists);
    for (size_t k = 0; status == PSFM_OK && k < batch->num; ++k)
        verified[k] = lists[k].num; /* for want of a geometry */
    if (status == PSFM_OK && m->is_guided)
        status = guide_batch(m, batch, lists, verified);
    if (status == PSFM_OK)
        status = write_batch(m, batch, lists, verified);
    for (size_t k = 0; lists != NULL && k < batch->num; ++k)
        psfm_match_list_free(&lists[k]);
    free(lists);
    free(verified);
    return status;
}

static psfm_status prepare(matching *m) {
    psfm_status status;
    if ((status = PSFM_ALLOC(m->ctx, m->images.num, &m->sets)) ||
        (status = PSFM_ALLOC(m->ctx, m->images.num, &m->loaded)) ||
        (status = PSFM_ALLOC(m->ctx, m->images.num, &m->content)) ||
        (status = PSFM_ALLOC(m->ctx, m->images.num, &m->inputs)))
        return status;
    m->stats->num_images = m->images.num;
    snprintf(m->stats->rule, sizeof m->stats->rule, "%.60s", m->plan.rule);
    return PSFM_OK;
}

static psfm_status match_all(matching *m, const psfm_pair_list *wanted) {
    size_t size = (size_t)psfm_context_threads(m->ctx) * BATCH_PAIRS;
    psfm_status status = leave_out_stored(m, wanted);
    if (status == PSFM_OK && m->features != PSFM_FEATURES_SIFT && m->todo.num > 0)
        status = psfm_matchers_create(m->ctx, m->matcher, &m->matcher_options, m->weights,
                                      m->todo.num, &m->matchers);
    for (size_t k = 0; status == PSFM_OK && k < m->todo.num; k += size) {
        size_t left = m->todo.num - k;
        psfm_pair_list batch = {m->todo.pairs + k, left < size ? left : size};
        psfm_progress_batch(m->ctx, k, m->todo.num);
        status = match_batch(m, &batch);
        psfm_progress_batch(m->ctx, 0, 0);
    }
    psfm_matchers_destroy(&m->matchers);
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
    unload_all(m);
    psfm_matchers_destroy(&m->matchers);
    free(m->weights);
    free(m->inputs);
    psfm_match_set_free(&m->views);
    free(m->sets);
    free(m->loaded);
    free(m->content);
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
        status = psfm_options_hash(ctx, &psfm_expand_option_table, &options->expand, fingerprint);
    if (status == PSFM_OK && !psfm_pair_plan_by_likeness(&m.plan)) /* which the features tell */
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
    matching m = {
        .ctx = ctx, .options = options, .budget = psfm_context_memory(ctx) / 4, .stats = &facts};
    psfm_status status = open_pairs(&m, database);
    if (status == PSFM_OK)
        status = prepare(&m);
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
    char added[64] = "";
    if (stats->num_added > 0)
        snprintf(added, sizeof added, "; %zu of them by common neighbours", stats->num_added);
    snprintf(text, size,
             "%zu pairs of %zu images (%s%s): %zu matched, %zu there before; %zu matches by %s, "
             "%zu of them new along homographies",
             stats->num_pairs, stats->num_images, stats->rule, added, stats->num_matched,
             stats->num_kept, stats->num_matches, stats->matcher, stats->num_guided);
}
