#include "intake/match_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/timer.h"
#include "intake/guide_matches.h"
#include "io/feature_store.h"
#include "match/pair_select.h"
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
    bool is_guided;          /* SIFT is matched again along homographies, for which there are: */
    psfm_match_set views;    /* per image: keypoints and rays; empty until loaded */
    bool *loaded;
    size_t bytes, budget;
    psfm_stored_pair *stored; /* pairs in the database */
    size_t num_stored;
    psfm_pair_list todo; /* indices into images */
    psfm_match_stats *stats;
} job;

/* All images with keypoints must have features of one kind. */
static psfm_status find_features(job *j) {
    const psfm_stored_photo *first = NULL;
    for (size_t k = 0; k < j->images.num; ++k) {
        const psfm_stored_photo *photo = &j->images.photos[k];
        const char *kind = photo->features == NULL ? psfm_feature_names[0] : photo->features;
        psfm_feature_kind found = psfm_feature_kind_find(kind);
        if (photo->num_keypoints == 0)
            continue;
        if (found == PSFM_NUM_FEATURE_KINDS || (first != NULL && found != j->features))
            return psfm_fail(j->ctx, PSFM_ERR_DATA,
                             "%s: image %s has %s features, which cannot be matched%s%s",
                             j->store.sql.path, photo->name, kind, first == NULL ? "" : " with ",
                             first == NULL ? "" : psfm_feature_names[j->features]);
        first = photo;
        j->features = found;
    }
    return PSFM_OK;
}

static psfm_status hash_sift_options(job *j) {
    const psfm_match_options *o = j->options;
    uint64_t seed = psfm_context_seed(j->ctx);
    psfm_status status =
        psfm_options_hash(j->ctx, &psfm_nearest_option_table, &o->nearest, &j->key);
    if (status == PSFM_OK && j->is_guided) {
        status = psfm_options_hash(j->ctx, &psfm_guided_option_table, &o->guided, &j->key);
        j->key = psfm_hash(j->key, &seed, sizeof seed);
    }
    return status;
}

/* Decides on the matcher, finds its weights, and hashes what the matches depend on beside the
 * features. */
static psfm_status find_matcher(job *j) {
    const psfm_match_options *o = j->options;
    const psfm_network_file *file = NULL;
    uint64_t fingerprint = 0;
    psfm_status status = find_features(j);
    j->is_guided = o->guided.enabled && j->features == PSFM_FEATURES_SIFT;
    j->key = psfm_hash(PSFM_HASH_START, PSFM_VERSION, sizeof PSFM_VERSION);
    if (status == PSFM_OK)
        status = psfm_matcher_resolve(j->ctx, j->features, (psfm_matcher_kind)o->matcher.kind,
                                      &j->matcher, &file);
    j->matcher_options = o->matcher;
    psfm_matcher_options_fill(j->features, &j->matcher_options);
    if (status == PSFM_OK && file != NULL)
        status = psfm_weights_find(j->ctx, &o->weights, file, &j->weights, &fingerprint);
    if (status == PSFM_OK)
        status = j->features == PSFM_FEATURES_SIFT
                     ? hash_sift_options(j)
                     : psfm_options_hash(j->ctx, psfm_matcher_table(j->matcher),
                                         psfm_matcher_own_options(&j->matcher_options, j->matcher),
                                         &j->key);
    j->stats->matcher = psfm_matcher_names[j->matcher];
    j->key = psfm_hash(j->key, j->stats->matcher, strlen(j->stats->matcher));
    j->key = psfm_hash(j->key, &fingerprint, sizeof fingerprint);
    return status;
}

/* What the matches of a pair were made from but descriptors: the options and, if homographies
 * guided them, the cameras. Never 0. */
static uint64_t pair_key(const job *j, const uint32_t pair[2]) {
    uint64_t key = j->key;
    for (size_t k = 0; j->is_guided && k < 2; ++k) {
        const psfm_camera *camera = &j->views.cameras[j->views.views[pair[k]].camera_idx];
        key = psfm_hash(key, &camera->model, sizeof camera->model);
        key = psfm_hash(key, &camera->width, sizeof camera->width);
        key = psfm_hash(key, &camera->height, sizeof camera->height);
        key = psfm_hash(key, camera->params, sizeof camera->params);
    }
    return key | 1;
}

static size_t memory_budget(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages / 4 * (size_t)size : (size_t)1 << 30;
}

/* ---- which pairs ---- */

static int by_ids(const void *a, const void *b) {
    const psfm_stored_pair *p = a, *q = b;
    if (p->id1 != q->id1)
        return p->id1 < q->id1 ? -1 : 1;
    return p->id2 < q->id2 ? -1 : p->id2 > q->id2;
}

static psfm_stored_pair pair_of(const job *j, const uint32_t pair[2]) {
    return (psfm_stored_pair){.id1 = j->images.photos[pair[0]].image_id,
                              .id2 = j->images.photos[pair[1]].image_id};
}

/* Names sort otherwise than ids when images came later: a pair is stored with the lower id first.
 */
static void turn_round(const job *j, psfm_pair_list *list) {
    for (size_t k = 0; k < list->num; ++k) {
        uint32_t a = list->pairs[k][0], b = list->pairs[k][1];
        bool in_order = j->images.photos[a].image_id < j->images.photos[b].image_id;
        list->pairs[k][0] = in_order ? a : b;
        list->pairs[k][1] = in_order ? b : a;
    }
}

static psfm_status select_pairs(job *j, psfm_pair_list *list) {
    const char **names = NULL;
    const char *rule = j->options->pairs;
    size_t n = j->images.num;
    psfm_status status = PSFM_ALLOC(j->ctx, n, &names);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k)
        names[k] = j->images.photos[k].name;
    if (status == PSFM_OK)
        status = psfm_pair_select(j->ctx, rule, names, n, list);
    free((void *)names);
    if (status == PSFM_OK)
        turn_round(j, list);
    if (rule != NULL && strcmp(rule, "auto") != 0)
        snprintf(j->stats->rule, sizeof j->stats->rule, "%.60s", rule);
    else if (n <= PSFM_MAX_EXHAUSTIVE)
        snprintf(j->stats->rule, sizeof j->stats->rule, "exhaustive");
    else
        snprintf(j->stats->rule, sizeof j->stats->rule, "sequential:%d", PSFM_DEFAULT_NEIGHBOURS);
    return status;
}

/* Moves the pairs that are still to be matched to the front of the list. Marks those found. */
static void leave_out_stored(job *j, psfm_pair_list *list, bool *selected) {
    size_t num = 0;
    for (size_t k = 0; k < list->num; ++k) {
        psfm_stored_pair wanted = pair_of(j, list->pairs[k]);
        const psfm_stored_pair *found =
            j->num_stored == 0
                ? NULL
                : bsearch(&wanted, j->stored, j->num_stored, sizeof *j->stored, by_ids);
        if (found != NULL)
            selected[found - j->stored] = true;
        if (found != NULL && (found->key == 0 || found->key == pair_key(j, list->pairs[k]))) {
            ++j->stats->num_kept;
            j->stats->num_matches += found->num_matches;
        } else {
            memmove(list->pairs[num++], list->pairs[k], sizeof *list->pairs);
        }
    }
    list->num = num;
}

static psfm_status drop_others(job *j, const bool *selected) {
    psfm_status status = psfm_store_begin(&j->store);
    for (size_t k = 0; status == PSFM_OK && k < j->num_stored; ++k) {
        if (selected[k] || j->stored[k].key == 0)
            continue;
        status = psfm_store_drop_pair(&j->store, j->stored[k].id1, j->stored[k].id2);
        ++j->stats->num_dropped;
    }
    return status == PSFM_OK ? psfm_store_commit(&j->store) : status;
}

static psfm_status plan(job *j) {
    bool *selected = NULL;
    psfm_status status = psfm_store_list(&j->store, &j->images);
    if (status == PSFM_OK)
        status = find_matcher(j);
    if (status == PSFM_OK)
        status = psfm_store_list_pairs(&j->store, &j->stored, &j->num_stored);
    if (status == PSFM_OK && j->is_guided)
        status = psfm_store_views(&j->store, &j->images, &j->views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(j->ctx, j->num_stored, &selected);
    if (status == PSFM_OK)
        status = select_pairs(j, &j->todo);
    if (status == PSFM_OK) {
        j->stats->num_images = j->images.num;
        j->stats->num_pairs = j->todo.num;
        leave_out_stored(j, &j->todo, selected);
    }
    if (status == PSFM_OK && j->options->drop_others)
        status = drop_others(j, selected);
    free(selected);
    return status;
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

static void unload_all(job *j) {
    for (size_t k = 0; j->sets != NULL && k < j->images.num; ++k) {
        psfm_keypoint_set_free(&j->sets[k]);
        if (k < j->views.num_views)
            unload_view(&j->views.views[k]);
        if (j->loaded != NULL)
            j->loaded[k] = false;
    }
    j->bytes = 0;
}

static psfm_status load_view(job *j, uint32_t image) {
    psfm_view *view = &j->views.views[image];
    psfm_status status = psfm_store_keypoints(&j->store, view);
    j->bytes += view->num_keypoints *
                (sizeof *view->keypoints + sizeof *view->rays + sizeof *view->px_from_ray);
    return status;
}

static psfm_status load_image(job *j, uint32_t image) {
    const psfm_stored_photo *photo = &j->images.photos[image];
    psfm_keypoint_set *set = &j->sets[image];
    j->inputs[image] = (psfm_neural_input){set, (size_t)photo->width, (size_t)photo->height};
    if (j->features == PSFM_FEATURES_SIFT) {
        psfm_status status = psfm_store_descriptors(&j->store, photo, set);
        j->bytes += set->num * set->descriptor_size;
        return status == PSFM_OK && j->is_guided ? load_view(j, image) : status;
    }
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    psfm_status status = psfm_store_float_features(&j->store, photo, set);
    j->bytes += set->num * set->descriptor_size * sizeof *set->descriptors_f32;
    return status;
}

static psfm_status load(job *j, const psfm_pair_list *batch) {
    psfm_status status = PSFM_OK;
    if (j->bytes > j->budget)
        unload_all(j);
    for (size_t k = 0; status == PSFM_OK && k < 2 * batch->num; ++k) {
        uint32_t image = batch->pairs[k / 2][k % 2];
        if (j->loaded[image])
            continue;
        status = load_image(j, image);
        j->loaded[image] = status == PSFM_OK;
    }
    if (status == PSFM_OK && j->is_guided)
        status = psfm_match_set_add_rays(j->ctx, &j->views);
    return status;
}

static psfm_status guide_batch(job *j, const psfm_pair_list *batch, psfm_match_list *lists) {
    size_t before = 0, after = 0;
    for (size_t k = 0; k < batch->num; ++k)
        before += lists[k].num;
    psfm_status status =
        psfm_guide_matches(j->ctx, &j->views, j->sets, (const uint32_t(*)[2])batch->pairs,
                           batch->num, &j->options->guided, lists);
    for (size_t k = 0; k < batch->num; ++k)
        after += lists[k].num;
    j->stats->num_guided += after - before;
    return status;
}

static psfm_status write_batch(job *j, const psfm_pair_list *batch, const psfm_match_list *lists) {
    psfm_status status = psfm_store_begin(&j->store);
    for (size_t k = 0; status == PSFM_OK && k < batch->num; ++k) {
        const uint32_t *pair = batch->pairs[k];
        psfm_stored_pair ids = pair_of(j, pair);
        status = psfm_store_put_matches(&j->store, ids.id1, ids.id2, &lists[k], pair_key(j, pair));
        j->stats->num_matches += lists[k].num;
    }
    return status == PSFM_OK ? psfm_store_commit(&j->store) : status;
}

static psfm_status match_batch(job *j, const psfm_pair_list *batch) {
    psfm_match_list *lists = NULL;
    psfm_status status = PSFM_ALLOC(j->ctx, batch->num, &lists);
    if (status == PSFM_OK)
        status = load(j, batch);
    if (status == PSFM_OK)
        status = j->matchers == NULL
                     ? psfm_nearest_match_pairs(j->ctx, j->sets, j->images.num, batch,
                                                &j->options->nearest, lists)
                     : psfm_matchers_run(j->ctx, j->matchers, j->inputs, batch, lists);
    if (status == PSFM_OK && j->is_guided)
        status = guide_batch(j, batch, lists);
    if (status == PSFM_OK)
        status = write_batch(j, batch, lists);
    for (size_t k = 0; lists != NULL && k < batch->num; ++k)
        psfm_match_list_free(&lists[k]);
    free(lists);
    return status;
}

static psfm_status prepare(job *j) {
    psfm_status status = PSFM_ALLOC(j->ctx, j->images.num, &j->sets);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(j->ctx, j->images.num, &j->loaded);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(j->ctx, j->images.num, &j->inputs);
    if (status == PSFM_OK && j->features != PSFM_FEATURES_SIFT && j->todo.num > 0)
        status = psfm_matchers_create(j->ctx, j->matcher, &j->matcher_options, j->weights,
                                      j->todo.num, &j->matchers);
    return status;
}

static psfm_status match_all(job *j) {
    size_t size = (size_t)psfm_context_threads(j->ctx) * BATCH_PAIRS;
    psfm_status status = prepare(j);
    for (size_t k = 0; status == PSFM_OK && k < j->todo.num; k += size) {
        size_t left = j->todo.num - k;
        psfm_pair_list batch = {j->todo.pairs + k, left < size ? left : size};
        psfm_progress_batch(j->ctx, k, j->todo.num);
        status = match_batch(j, &batch);
        psfm_progress_batch(j->ctx, 0, 0);
    }
    j->stats->num_matched = j->todo.num;
    return status;
}

psfm_status psfm_match_images(psfm_context *ctx, const char *database,
                              const psfm_match_options *options, psfm_match_stats *stats) {
    psfm_match_stats facts = {0};
    job j = {.ctx = ctx, .options = options, .budget = memory_budget(), .stats = &facts};
    double start = psfm_now();
    psfm_status status = psfm_options_check(ctx, &psfm_nearest_option_table, &options->nearest);
    if (status == PSFM_OK && options->guided.enabled)
        status = psfm_options_check(ctx, &psfm_guided_option_table, &options->guided);
    if (status == PSFM_OK)
        status = psfm_store_open(ctx, database, false, &j.store);
    if (status == PSFM_OK)
        status = plan(&j);
    if (status == PSFM_OK)
        status = match_all(&j);
    unload_all(&j);
    psfm_matchers_destroy(&j.matchers);
    free(j.weights);
    free(j.inputs);
    psfm_match_set_free(&j.views);
    free(j.sets);
    free(j.loaded);
    free(j.stored);
    psfm_pair_list_free(&j.todo);
    psfm_stored_photos_free(&j.images);
    psfm_store_close(&j.store);
    facts.seconds = psfm_now() - start;
    if (stats != NULL)
        *stats = facts;
    return status;
}

void psfm_match_stats_describe(const psfm_match_stats *stats, char *text, size_t size) {
    snprintf(text, size,
             "%zu pairs of %zu images (%s): %zu matched, %zu there before; %zu matches by %s, "
             "%zu of them new along homographies",
             stats->num_pairs, stats->num_images, stats->rule, stats->num_matched, stats->num_kept,
             stats->num_matches, stats->matcher, stats->num_guided);
}
