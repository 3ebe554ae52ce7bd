/* Images as vectors: codebooks, what is kept when vectors are shortened, and the most nearest. */
#include "images/match/retrieval.h"

#include <math.h>
#include <string.h>

#include "core/base/rng.h"
#include "images/match/pair_select.h"
#include "images/match/vlad.h"
#include "test_util.h"

enum { IMAGES = 40, THINGS = 60, SEEN = 20, SIZE = 32, PER_IMAGE = SEEN * 4 };

/* Image k shows things k to k + 19 of a row of 60, each by four descriptors a little different. */
typedef struct {
    psfm_context *ctx;
    float thing[THINGS][SIZE];
    psfm_keypoint_set sets[IMAGES];
    psfm_codebook codebook;
    psfm_image_vectors vectors;
} row_of_things;

static void unit(float *x) {
    float square = 0.0F;
    for (int i = 0; i < SIZE; ++i)
        square += x[i] * x[i];
    for (int i = 0; i < SIZE; ++i)
        x[i] /= sqrtf(square);
}

static void make_images(row_of_things *r) {
    psfm_rng rng = psfm_rng_make(3, 0, 0, 0);
    *r = (row_of_things){.ctx = psfm_context_create()};
    for (int t = 0; t < THINGS; ++t) {
        for (int i = 0; i < SIZE; ++i)
            r->thing[t][i] = (float)psfm_rng_normal(&rng);
        unit(r->thing[t]);
    }
    for (int k = 0; k < IMAGES; ++k) {
        psfm_keypoint_set *set = &r->sets[k];
        *set = (psfm_keypoint_set){.num = PER_IMAGE, .descriptor_size = SIZE};
        set->descriptors_f32 = malloc(PER_IMAGE * SIZE * sizeof(float));
        for (int d = 0; d < PER_IMAGE; ++d) {
            float *own = set->descriptors_f32 + (size_t)d * SIZE;
            for (int i = 0; i < SIZE; ++i)
                own[i] = r->thing[k + d / 4][i] + 0.03F * (float)psfm_rng_normal(&rng);
            unit(own);
        }
    }
}

/* Words from all descriptors, and the long vectors as they are. */
static void encode(row_of_things *r) {
    float *rows = malloc(IMAGES * PER_IMAGE * SIZE * sizeof *rows);
    for (int k = 0; k < IMAGES; ++k)
        for (size_t d = 0; d < PER_IMAGE; ++d)
            psfm_descriptor_unit(&r->sets[k], d, rows + ((size_t)k * PER_IMAGE + d) * SIZE);
    assert_ok(r->ctx,
              psfm_codebook_train(r->ctx, rows, IMAGES * PER_IMAGE, SIZE, 16, &r->codebook));
    free(rows);
    assert_int_equal(r->codebook.num_words, 16);
    r->vectors = (psfm_image_vectors){.num = IMAGES, .size = 16 * SIZE};
    r->vectors.vector = calloc(IMAGES * r->vectors.size, sizeof(float));
    for (int k = 0; k < IMAGES; ++k)
        assert_ok(r->ctx, psfm_vlad_encode(r->ctx, &r->codebook, &r->sets[k],
                                           r->vectors.vector + (size_t)k * r->vectors.size));
}

static void free_images(row_of_things *r) {
    for (int k = 0; k < IMAGES; ++k)
        psfm_keypoint_set_free(&r->sets[k]);
    psfm_codebook_free(&r->codebook);
    psfm_image_vectors_free(&r->vectors);
    psfm_context_destroy(&r->ctx);
}

static double product(const psfm_image_vectors *l, size_t a, size_t b) {
    double sum = 0.0;
    for (size_t i = 0; i < l->size; ++i)
        sum += (double)l->vector[a * l->size + i] * (double)l->vector[b * l->size + i];
    return sum;
}

/* Images that share most things are the most nearest. */
static void neighbours_look_alike(void **state) {
    row_of_things r;
    uint32_t nearest[IMAGES * 4];
    (void)state;
    make_images(&r);
    encode(&r);
    assert_close(product(&r.vectors, 5, 5), 1.0, 1e-5);
    assert_ok(r.ctx, psfm_retrieve_nearest(r.ctx, &r.vectors, 4, nearest));
    for (uint32_t k = 2; k + 2 < IMAGES; ++k) {
        for (uint32_t i = 0; i < 4; ++i) {
            assert_true(abs((int)nearest[4 * k + i] - (int)k) <= 6); /* of 40 */
            if (i > 0)
                assert_true(product(&r.vectors, k, nearest[4 * k + i]) <=
                            product(&r.vectors, k, nearest[4 * k + i - 1]) + 1e-6);
        }
    }
    free_images(&r);
}

/* As few images as these span fewer directions than are kept: their products stay. */
static void shortened_vectors_have_the_same_products(void **state) {
    row_of_things r;
    psfm_principal p;
    (void)state;
    make_images(&r);
    encode(&r);
    assert_ok(r.ctx, psfm_principal_find(r.ctx, r.vectors.vector, IMAGES, r.vectors.size, 512, &p));
    assert_true(p.num <= IMAGES);
    psfm_image_vectors brief = {.num = IMAGES, .size = p.num};
    brief.vector = calloc(IMAGES * p.num, sizeof(float));
    for (size_t k = 0; k < IMAGES; ++k)
        psfm_principal_shorten(&p, r.vectors.vector + k * r.vectors.size, brief.vector + k * p.num);
    for (size_t a = 0; a < IMAGES; ++a)
        for (size_t b = 0; b < a; ++b)
            assert_close(product(&brief, a, b), product(&r.vectors, a, b), 1e-4);
    psfm_image_vectors_free(&brief);
    psfm_principal_free(&p);
    free_images(&r);
}

static void an_image_without_features_is_like_none(void **state) {
    row_of_things r;
    uint32_t nearest[IMAGES * 39];
    (void)state;
    make_images(&r);
    r.sets[7].num = 0;
    r.sets[9].descriptors_f32[5] = NAN; /* one descriptor is void, its image is not */
    encode(&r);
    assert_true(isfinite(product(&r.vectors, 9, 10)));
    assert_ok(r.ctx, psfm_retrieve_nearest(r.ctx, &r.vectors, 39, nearest));
    for (uint32_t k = 0; k < IMAGES; ++k) {
        for (uint32_t i = 0; i < 39; ++i)
            assert_true(nearest[39 * k + i] != 7 && nearest[39 * k + i] != k);
        assert_true((nearest[39 * k] == UINT32_MAX) == (k == 7));
        assert_int_equal(nearest[39 * k + 38], UINT32_MAX); /* 38 others have features */
    }
    free_images(&r);
}

/* The same for any number of threads, and what a rule makes of it. */
static void rules_join(void **state) {
    row_of_things r;
    psfm_pair_list one, two;
    (void)state;
    make_images(&r);
    encode(&r);
    const psfm_pair_hints hints = {.vectors = &r.vectors};
    psfm_context_set_threads(r.ctx, 1);
    assert_ok(r.ctx,
              psfm_pair_select(r.ctx, "sequential:1+retrieval:3", NULL, IMAGES, &hints, &one));
    psfm_context_set_threads(r.ctx, 4);
    assert_ok(r.ctx,
              psfm_pair_select(r.ctx, "retrieval:3+sequential:1", NULL, IMAGES, &hints, &two));
    assert_int_equal(one.num, two.num);
    assert_memory_equal(one.pairs, two.pairs, one.num * sizeof *one.pairs);
    assert_true(one.num >= IMAGES - 1 + IMAGES / 2 && one.num <= IMAGES - 1 + 3 * IMAGES);
    for (uint32_t k = 0; k + 1 < IMAGES; ++k) {
        bool found = false;
        for (size_t p = 0; p < one.num; ++p)
            found = found || (one.pairs[p][0] == k && one.pairs[p][1] == k + 1);
        assert_true(found);
    }
    psfm_pair_list_free(&one);
    psfm_pair_list_free(&two);
    free_images(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_look_alike),
        cmocka_unit_test(shortened_vectors_have_the_same_products),
        cmocka_unit_test(an_image_without_features_is_like_none),
        cmocka_unit_test(rules_join),
    };
    return cmocka_run_group_tests_name("match/retrieval", tests, NULL, NULL);
}
