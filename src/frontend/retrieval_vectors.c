/* Three passes over the photographs: a sample of their descriptors gives the words, the long
 * vectors of some images the principal directions, and all images are shortened to these. What is
 * sampled is chosen by fingerprints of the contents, so that names do not matter. */
#include "frontend/retrieval_vectors.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "images/match/vlad.h"

enum {
    WORDS = 64,
    ROWS_PER_WORD = 256, /* of the sample */
    MOST_LEARNT = 1024,  /* images that the principal directions come from */
    SHORT = 512,         /* entries of an image's vector */
    BATCH = 8,           /* images at hand, per thread */
};

/* One descriptor of the sample, or one image. */
typedef struct {
    uint64_t fingerprint;
    uint32_t index;
} pick;

typedef struct {
    psfm_context *ctx;
    psfm_feature_store *store;
    const psfm_stored_photos *photos;
    size_t size, long_size; /* of a descriptor, and of an image's long vector */
    uint64_t *content;      /* per image */
    psfm_codebook codebook;
    psfm_principal principal;
    float *rows; /* the sample, later long vectors */
    size_t num_rows;
    uint64_t *row_key;
    psfm_keypoint_set *sets; /* of the batch */
    const uint32_t *batch;   /* its images */
    psfm_image_vectors *out;
} learner;

static int by_fingerprint(const void *a, const void *b) {
    const pick *p = a, *q = b;
    if (p->fingerprint != q->fingerprint)
        return p->fingerprint < q->fingerprint ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static psfm_status load_features(learner *l, uint32_t image, psfm_keypoint_set *set) {
    const psfm_stored_photo *photo = &l->photos->photos[image];
    *set = (psfm_keypoint_set){0};
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    psfm_status status = photo->features == NULL ? psfm_store_descriptors(l->store, photo, set)
                                                 : psfm_store_float_features(l->store, photo, set);
    if (status == PSFM_OK && l->size != 0 && set->descriptor_size != l->size)
        status = psfm_fail(l->ctx, PSFM_ERR_DATA,
                           "%s: descriptors of image %s have %zu numbers, those of others %zu",
                           l->store->sql.path, photo->name, set->descriptor_size, l->size);
    return status;
}

static const void *row_of(const psfm_keypoint_set *set, size_t k, size_t *bytes) {
    size_t at = k * set->descriptor_size;
    *bytes = set->descriptor_size;
    if (set->descriptors_u8 != NULL)
        return set->descriptors_u8 + at;
    *bytes *= sizeof *set->descriptors_f32;
    return set->descriptors_f32 + at;
}

/* ---- words ---- */

/* Adds the descriptors of an image with the smallest fingerprints to the sample. */
static psfm_status sample_image(learner *l, uint32_t image, const psfm_keypoint_set *set,
                                size_t most) {
    pick *picks = NULL;
    psfm_status status = PSFM_ALLOC(l->ctx, set->num, &picks);
    l->content[image] = PSFM_HASH_START;
    for (size_t k = 0; status == PSFM_OK && k < set->num; ++k) {
        size_t bytes;
        const void *row = row_of(set, k, &bytes);
        picks[k] = (pick){psfm_hash(PSFM_HASH_START, row, bytes), (uint32_t)k};
        l->content[image] = psfm_hash(l->content[image], row, bytes);
    }
    if (status == PSFM_OK && set->num > 0)
        qsort(picks, set->num, sizeof *picks, by_fingerprint);
    for (size_t k = 0; status == PSFM_OK && k < set->num && k < most; ++k) {
        psfm_descriptor_unit(set, picks[k].index, l->rows + l->num_rows * l->size);
        l->row_key[l->num_rows++] = picks[k].fingerprint;
    }
    free(picks);
    return status;
}

/* Sorts the sample by its fingerprints: words do not depend on the order of the images. */
static psfm_status sort_sample(learner *l) {
    pick *picks = NULL;
    float *sorted = NULL;
    psfm_status status = PSFM_ALLOC(l->ctx, l->num_rows, &picks);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(l->ctx, l->num_rows * l->size, &sorted);
    for (size_t k = 0; status == PSFM_OK && k < l->num_rows; ++k)
        picks[k] = (pick){l->row_key[k], (uint32_t)k};
    if (status == PSFM_OK && l->num_rows > 0)
        qsort(picks, l->num_rows, sizeof *picks, by_fingerprint);
    for (size_t k = 0; status == PSFM_OK && k < l->num_rows; ++k)
        memcpy(sorted + k * l->size, l->rows + picks[k].index * l->size, l->size * sizeof *sorted);
    free(picks);
    if (status == PSFM_OK) {
        free(l->rows);
        l->rows = sorted;
    }
    return status;
}

static size_t descriptor_size(learner *l, psfm_status *status) {
    size_t size = 0;
    for (uint32_t k = 0; *status == PSFM_OK && size == 0 && k < l->photos->num; ++k) {
        psfm_keypoint_set set;
        *status = load_features(l, k, &set);
        size = set.descriptor_size;
        psfm_keypoint_set_free(&set);
    }
    return size;
}

static psfm_status learn_words(learner *l) {
    size_t n = l->photos->num, each = WORDS * ROWS_PER_WORD / n + 1;
    psfm_status status = PSFM_OK;
    l->size = descriptor_size(l, &status);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(l->ctx, n * each * l->size, &l->rows);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(l->ctx, n * each, &l->row_key);
    for (uint32_t k = 0; status == PSFM_OK && k < n; ++k) {
        psfm_keypoint_set set;
        status = load_features(l, k, &set);
        if (status == PSFM_OK)
            status = sample_image(l, k, &set, each);
        psfm_keypoint_set_free(&set);
    }
    if (status == PSFM_OK)
        status = sort_sample(l);
    if (status == PSFM_OK)
        status = psfm_codebook_train(l->ctx, l->rows, l->num_rows, l->size, WORDS, &l->codebook);
    free(l->rows);
    l->rows = NULL;
    l->long_size = l->codebook.num_words * l->size;
    return status;
}

/* ---- images ---- */

/* Loads images batch after batch and does a task with each. */
static psfm_status for_images(learner *l, const uint32_t *images, size_t num, psfm_task_fn task) {
    size_t most = BATCH * (size_t)psfm_context_threads(l->ctx);
    psfm_status status = PSFM_ALLOC(l->ctx, most, &l->sets);
    for (size_t k = 0; status == PSFM_OK && k < num; k += most) {
        size_t here = num - k < most ? num - k : most;
        l->batch = images + k;
        for (size_t i = 0; status == PSFM_OK && i < here; ++i)
            status = load_features(l, l->batch[i], &l->sets[i]);
        if (status == PSFM_OK)
            status = psfm_parallel_for(l->ctx, NULL, here, task, l);
        for (size_t i = 0; i < here; ++i)
            psfm_keypoint_set_free(&l->sets[i]);
    }
    free(l->sets);
    l->sets = NULL;
    return status;
}

static psfm_status encode_long(psfm_context *ctx, size_t index, int worker, void *user) {
    learner *l = user;
    (void)worker;
    return psfm_vlad_encode(ctx, &l->codebook, &l->sets[index],
                            l->rows + (l->num_rows + index) * l->long_size);
}

static psfm_status encode_short(psfm_context *ctx, size_t index, int worker, void *user) {
    learner *l = user;
    float *row = NULL;
    (void)worker;
    psfm_status status = PSFM_ALLOC(ctx, l->long_size, &row);
    if (status == PSFM_OK)
        status = psfm_vlad_encode(ctx, &l->codebook, &l->sets[index], row);
    if (status == PSFM_OK)
        psfm_principal_shorten(&l->principal, row, l->out->vector + l->batch[index] * l->out->size);
    free(row);
    return status;
}

/* The images with the smallest fingerprints, in their order. */
static psfm_status choose_images(learner *l, size_t num, uint32_t *chosen) {
    size_t n = l->photos->num;
    pick *picks = NULL;
    psfm_status status = PSFM_ALLOC(l->ctx, n, &picks);
    for (uint32_t k = 0; status == PSFM_OK && k < n; ++k)
        picks[k] = (pick){l->content[k], k};
    if (status == PSFM_OK)
        qsort(picks, n, sizeof *picks, by_fingerprint);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        chosen[k] = picks[k].index;
    free(picks);
    return status;
}

static psfm_status learn_directions(learner *l, uint32_t *chosen) {
    size_t n = l->photos->num, num = n < MOST_LEARNT ? n : MOST_LEARNT, most = BATCH;
    psfm_status status = choose_images(l, num, chosen);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(l->ctx, num * l->long_size, &l->rows);
    most *= (size_t)psfm_context_threads(l->ctx);
    l->num_rows = 0;
    for (size_t k = 0; status == PSFM_OK && k < num; k += most) {
        status = for_images(l, chosen + k, num - k < most ? num - k : most, encode_long);
        l->num_rows += most;
    }
    if (status == PSFM_OK)
        status = psfm_principal_find(l->ctx, l->rows, num, l->long_size, SHORT, &l->principal);
    return status;
}

psfm_status psfm_image_vectors_find(psfm_context *ctx, psfm_feature_store *store,
                                    const psfm_stored_photos *photos, psfm_image_vectors *out) {
    learner l = {.ctx = ctx, .store = store, .photos = photos, .out = out};
    uint32_t *all = NULL;
    psfm_status status;
    *out = (psfm_image_vectors){.num = photos->num};
    if (photos->num == 0)
        return PSFM_OK;
    if ((status = PSFM_ALLOC(ctx, photos->num, &l.content)) ||
        (status = PSFM_ALLOC(ctx, photos->num, &all)) || (status = learn_words(&l)))
        goto cleanup;
    if (l.long_size > 0)
        status = learn_directions(&l, all);
    out->size = l.principal.num;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, photos->num * out->size, &out->vector);
    for (uint32_t k = 0; k < photos->num; ++k)
        all[k] = k;
    if (status == PSFM_OK && out->size > 0)
        status = for_images(&l, all, photos->num, encode_short);

cleanup:
    free(all);
    free(l.content);
    free(l.rows);
    free(l.row_key);
    psfm_codebook_free(&l.codebook);
    psfm_principal_free(&l.principal);
    return status;
}

/* ---- sketches ---- */

static psfm_status draw_sketch(psfm_context *ctx, psfm_feature_store *store,
                               const psfm_stored_photo *photo, psfm_sketch *out) {
    psfm_keypoint_set set = {0};
    psfm_keypoint *keypoints = NULL;
    if (photo->num_keypoints == 0)
        return PSFM_OK;
    psfm_status status = psfm_store_descriptors(store, photo, &set);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, photo->num_keypoints, &keypoints);
    if (status == PSFM_OK)
        status = psfm_store_shapes(store, photo, keypoints);
    if (status == PSFM_OK)
        status = psfm_sketch_draw(ctx, keypoints, set.descriptors_u8, photo->num_keypoints, out);
    free(keypoints);
    psfm_keypoint_set_free(&set);
    return status;
}

psfm_status psfm_image_sketches_draw(psfm_context *ctx, psfm_feature_store *store,
                                     const psfm_stored_photos *photos, psfm_sketch **out) {
    *out = NULL;
    for (size_t k = 0; k < photos->num; ++k)
        if (photos->photos[k].features != NULL)
            return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, photos->num, out);
    for (size_t k = 0; status == PSFM_OK && k < photos->num; ++k)
        status = draw_sketch(ctx, store, &photos->photos[k], &(*out)[k]);
    return status;
}
