/* Matches of pairs as tasks.
 *
 * A rank gets each image once and keeps it. What is made from an image alone (rays, a number of its
 * content, the shortened descriptors of SIFT) is made by the first task that needs it. The axes
 * that descriptors are shortened to come from the images of the first task that gets to it: they
 * decide how long matching takes, not what is matched. */
#include "frontend/match_tasks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file_fingerprint.h"
#include "core/base/hash.h"
#include "frontend/feature_tasks.h"
#include "frontend/guide_matches.h"

typedef struct {
    psfm_match_image image;
    pthread_mutex_t lock;
    bool is_ready; /* has rays and content */
    uint64_t content;
    psfm_nearest_head head; /* empty until a task needs it */
} known_image;

typedef struct {
    const psfm_match_setup *setup;
    psfm_matchers *matchers; /* NULL for SIFT */
    known_image *images;
    pthread_mutex_t lock; /* of the basis */
    psfm_nearest_basis basis;
    bool has_basis;
} matching;

/* ---- between ranks ---- */

static void move_setup(psfm_transfer *t, void *value) {
    psfm_match_setup *setup = value;
    psfm_move(t, setup, sizeof *setup);
    psfm_move_text(t, &setup->weights);
}

static void free_sent_setup(void *value) {
    const psfm_match_setup *setup = value;
    free((char *)setup->weights);
}

static void move_image(psfm_transfer *t, void *value) {
    psfm_match_image *image = value;
    psfm_move(t, image, sizeof *image);
    psfm_features_move(t, &image->set);
    psfm_move_array(t, &image->view.keypoints, &image->view.num_keypoints,
                    sizeof *image->view.keypoints);
}

static void free_image(void *value) {
    psfm_match_image *image = value;
    psfm_keypoint_set_free(&image->set);
    free(image->view.keypoints);
    free(image->view.rays);
    free(image->view.px_from_ray);
    *image = (psfm_match_image){0};
}

size_t psfm_match_image_memory(const psfm_match_image *image) {
    const psfm_keypoint_set *set = &image->set;
    const psfm_view *view = &image->view;
    const size_t each = (set->keypoints != NULL ? sizeof *set->keypoints : 0) +
                        (set->descriptors_u8 != NULL ? set->descriptor_size : 0) +
                        (set->descriptors_f32 != NULL ? set->descriptor_size * sizeof(float) : 0) +
                        PSFM_NEAREST_HEAD + sizeof *(psfm_nearest_head){0}.bias;
    return sizeof *image + set->num * each +
           view->num_keypoints *
               (sizeof *view->keypoints + sizeof *view->rays + sizeof *view->px_from_ray);
}

static void move_result(psfm_transfer *t, void *value) {
    psfm_pair_result *result = value;
    psfm_move(t, result, sizeof *result);
    psfm_move_array(t, &result->list.matches, &result->list.num, sizeof *result->list.matches);
}

static void free_result(void *value) {
    psfm_pair_result *result = value;
    psfm_match_list_free(&result->list);
}

/* ---- a list of pairs, on any rank ---- */

static void forget_images(void *state) {
    matching *m = state;
    for (size_t k = 0; k < m->setup->num_images; ++k) {
        free_image(&m->images[k].image);
        psfm_nearest_head_free(&m->images[k].head);
        m->images[k].is_ready = false;
    }
}

static void close_matching(void *state) {
    matching *m = state;
    if (m->images != NULL)
        forget_images(m);
    for (size_t k = 0; m->images != NULL && k < m->setup->num_images; ++k)
        pthread_mutex_destroy(&m->images[k].lock);
    pthread_mutex_destroy(&m->lock);
    psfm_matchers_destroy(&m->matchers);
    free(m->images);
    free(m);
}

/* Loads networks, of which there may be fewer than workers. */
static psfm_status load_matchers(psfm_context *ctx, matching *m, int *num_workers) {
    const psfm_match_setup *setup = m->setup;
    psfm_status status = PSFM_OK;
    if (setup->features == PSFM_FEATURES_SIFT)
        return PSFM_OK;
    if (setup->weights_print != 0)
        status = psfm_file_compare(ctx, setup->weights, "file of weights", setup->weights_print);
    if (status == PSFM_OK)
        status = psfm_matchers_create(ctx, setup->matcher, &setup->matcher_options, setup->weights,
                                      *num_workers, &m->matchers);
    if (status == PSFM_OK && psfm_matchers_num(m->matchers) > 0)
        *num_workers = psfm_matchers_num(m->matchers);
    return status;
}

static psfm_status open_matching(psfm_context *ctx, void *setup, int *num_workers, void **state) {
    matching *m = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &m);
    if (status != PSFM_OK)
        return status;
    m->setup = setup;
    pthread_mutex_init(&m->lock, NULL);
    status = PSFM_ALLOC(ctx, m->setup->num_images, &m->images);
    for (size_t k = 0; m->images != NULL && k < m->setup->num_images; ++k)
        pthread_mutex_init(&m->images[k].lock, NULL);
    if (status == PSFM_OK)
        status = load_matchers(ctx, m, num_workers);
    if (status == PSFM_OK)
        *state = m;
    else
        close_matching(m);
    return status;
}

static psfm_status take_image(psfm_context *ctx, void *state, uint32_t part, void *content) {
    (void)ctx;
    matching *m = state;
    m->images[part].image = *(psfm_match_image *)content;
    return PSFM_OK;
}

/* ---- one task ---- */

/* The pairs of a task, and their images without gaps. Owns the arrays alone, not what the images
 * point to. */
typedef struct {
    uint32_t (*pairs)[2]; /* the items; then indices into the arrays below */
    size_t num_pairs;
    uint32_t *known; /* which image of the list each is */
    size_t num_images;
    psfm_keypoint_set *sets;
    psfm_neural_input *inputs;
    psfm_camera *cameras;
    psfm_view *views;
    bool *turned;
    psfm_match_list *lists; /* owned */
    size_t *verified;
} batch;

static void free_batch(batch *b) {
    for (size_t k = 0; b->lists != NULL && k < b->num_pairs; ++k)
        psfm_match_list_free(&b->lists[k]);
    free(b->known);
    free(b->sets);
    free(b->inputs);
    free(b->cameras);
    free(b->views);
    free(b->turned);
    free(b->lists);
    free(b->verified);
}

static psfm_status allocate_batch(psfm_context *ctx, batch *b) {
    const size_t most = 2 * b->num_pairs;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &b->known)) || (status = PSFM_ALLOC(ctx, most, &b->sets)) ||
        (status = PSFM_ALLOC(ctx, most, &b->inputs)) ||
        (status = PSFM_ALLOC(ctx, most, &b->cameras)) ||
        (status = PSFM_ALLOC(ctx, most, &b->views)) ||
        (status = PSFM_ALLOC(ctx, b->num_pairs, &b->turned)) ||
        (status = PSFM_ALLOC(ctx, b->num_pairs, &b->lists)))
        return status;
    return PSFM_ALLOC(ctx, b->num_pairs, &b->verified);
}

static uint64_t content_of(const psfm_keypoint_set *set) {
    size_t num = set->num * set->descriptor_size;
    if (set->descriptors_u8 != NULL)
        return psfm_hash(PSFM_HASH_START, set->descriptors_u8, num);
    return psfm_hash(PSFM_HASH_START, set->descriptors_f32, num * sizeof *set->descriptors_f32);
}

static psfm_status make_ready(psfm_context *ctx, const matching *m, known_image *known) {
    psfm_match_image *image = &known->image;
    psfm_match_set alone = {
        .cameras = &image->camera, .num_cameras = 1, .views = &image->view, .num_views = 1};
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&known->lock);
    if (!known->is_ready) {
        known->content = content_of(&image->set);
        status = m->setup->is_guided ? psfm_match_set_add_rays(ctx, &alone) : PSFM_OK;
        known->is_ready = status == PSFM_OK;
    }
    pthread_mutex_unlock(&known->lock);
    return status;
}

/* The place of an image in the batch; a new one is added. */
static psfm_status add_image(psfm_context *ctx, const matching *m, batch *b, uint32_t *index) {
    size_t place = 0;
    while (place < b->num_images && b->known[place] != *index)
        ++place;
    if (place == b->num_images) {
        known_image *known = &m->images[*index];
        const psfm_match_image *image = &known->image;
        psfm_status status = make_ready(ctx, m, known);
        if (status != PSFM_OK)
            return status;
        b->known[place] = *index;
        b->sets[place] = image->set;
        b->inputs[place] = (psfm_neural_input){&b->sets[place], image->width, image->height};
        b->cameras[place] = image->camera;
        b->views[place] = image->view;
        b->views[place].camera_idx = (uint32_t)place;
        ++b->num_images;
    }
    *index = (uint32_t)place;
    return PSFM_OK;
}

static psfm_status fill_batch(psfm_context *ctx, const matching *m, batch *b) {
    psfm_status status = allocate_batch(ctx, b);
    for (size_t k = 0; status == PSFM_OK && k < b->num_pairs; ++k) {
        uint32_t *pair = b->pairs[k];
        status = add_image(ctx, m, b, &pair[0]);
        if (status == PSFM_OK)
            status = add_image(ctx, m, b, &pair[1]);
        if (status != PSFM_OK)
            break;
        const uint32_t first = pair[0], second = pair[1];
        b->turned[k] = m->images[b->known[first]].content > m->images[b->known[second]].content;
        pair[0] = b->turned[k] ? second : first;
        pair[1] = b->turned[k] ? first : second;
    }
    return status;
}

/* An image's descriptors, none if they are not SIFT's. */
static psfm_nearest_set nearest_set(const psfm_keypoint_set *set) {
    bool is_sift = set->descriptors_u8 != NULL && set->descriptor_size == PSFM_SIFT_SIZE;
    return (psfm_nearest_set){set->descriptors_u8, is_sift ? set->num : 0};
}

/* The axes of shortened descriptors, from the images of the first task. */
static psfm_status find_basis(psfm_context *ctx, matching *m, const batch *b) {
    psfm_nearest_set *sets = NULL;
    psfm_status status = PSFM_ALLOC(ctx, b->num_images, &sets);
    for (size_t k = 0; status == PSFM_OK && k < b->num_images; ++k)
        sets[k] = nearest_set(&b->sets[k]);
    pthread_mutex_lock(&m->lock);
    if (status == PSFM_OK && !m->has_basis) {
        status = psfm_nearest_basis_find(ctx, sets, b->num_images, &m->basis);
        m->has_basis = status == PSFM_OK;
    }
    pthread_mutex_unlock(&m->lock);
    free(sets);
    return status;
}

static psfm_status make_head(psfm_context *ctx, const matching *m, known_image *known) {
    const psfm_nearest_set set = nearest_set(&known->image.set);
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&known->lock);
    if (known->head.n == 0 && psfm_nearest_wants_head(set.n))
        status = psfm_nearest_head_make(ctx, &m->basis, &set, &known->head);
    pthread_mutex_unlock(&known->lock);
    return status;
}

static psfm_status match_nearest(psfm_context *ctx, matching *m, batch *b) {
    const psfm_pair_list pairs = {b->pairs, b->num_pairs};
    const psfm_nearest_head **heads = NULL;
    psfm_status status = PSFM_ALLOC(ctx, b->num_images, &heads);
    if (status == PSFM_OK)
        status = find_basis(ctx, m, b);
    for (size_t k = 0; status == PSFM_OK && k < b->num_images; ++k) {
        status = make_head(ctx, m, &m->images[b->known[k]]);
        heads[k] = &m->images[b->known[k]].head;
    }
    if (status == PSFM_OK)
        status = psfm_nearest_match_pairs(ctx, b->sets, b->num_images, &pairs, &m->setup->nearest,
                                          &(psfm_nearest_heads){&m->basis, heads}, b->lists);
    free((void *)heads);
    return status;
}

static psfm_status match_batch(psfm_context *ctx, matching *m, int worker, batch *b) {
    if (m->matchers == NULL)
        return match_nearest(ctx, m, b);
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < b->num_pairs; ++k)
        status = psfm_matchers_run(ctx, m->matchers, worker, &b->inputs[b->pairs[k][0]],
                                   &b->inputs[b->pairs[k][1]], &b->lists[k]);
    return status;
}

static psfm_status guide_batch(psfm_context *ctx, const matching *m, batch *b) {
    const psfm_match_set views = {.cameras = b->cameras,
                                  .num_cameras = b->num_images,
                                  .views = b->views,
                                  .num_views = b->num_images};
    const psfm_pair_list pairs = {b->pairs, b->num_pairs};
    return psfm_guide_matches(ctx, &views, b->sets, &pairs, &m->setup->two_view, b->lists,
                              b->verified);
}

static psfm_status run_batch(psfm_context *ctx, matching *m, int worker, batch *b,
                             psfm_pair_result *results) {
    psfm_status status = fill_batch(ctx, m, b);
    if (status == PSFM_OK)
        status = match_batch(ctx, m, worker, b);
    for (size_t k = 0; status == PSFM_OK && k < b->num_pairs; ++k)
        b->verified[k] = results[k].num_guided = b->lists[k].num; /* for want of a geometry */
    if (status == PSFM_OK && m->setup->is_guided)
        status = guide_batch(ctx, m, b);
    for (size_t k = 0; status == PSFM_OK && k < b->num_pairs; ++k) {
        results[k] = (psfm_pair_result){b->turned[k], b->verified[k],
                                        b->lists[k].num - results[k].num_guided, b->lists[k]};
        b->lists[k] = (psfm_match_list){0};
    }
    return status;
}

static psfm_status match_pairs(psfm_context *ctx, void *state, int worker, void *items, size_t num,
                               void *results) {
    batch b = {.pairs = items, .num_pairs = num};
    psfm_status status = run_batch(ctx, state, worker, &b, results);
    free_batch(&b);
    return status;
}

const psfm_task_kind psfm_match_tasks = {
    .name = "matches",
    .setup = {sizeof(psfm_match_setup), move_setup, free_sent_setup},
    .part = {sizeof(psfm_match_image), move_image, free_image},
    .item = {sizeof(uint32_t[2]), NULL, NULL},
    .result = {sizeof(psfm_pair_result), move_result, free_result},
    .open = open_matching,
    .take_part = take_image,
    .forget_parts = forget_images,
    .compute_all = match_pairs,
    .close = close_matching};
