/* Positions drawn at random are refused; those that a similarity explains are not. */
#include "world/alignment_check.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

static psfm_context *ctx;

enum { MOST = 30 };

/* A model of `num` cameras without points. */
typedef struct {
    psfm_model_image images[MOST];
    char names[MOST][16];
    double centers[MOST][3];
    psfm_model model;
} fixture;

static void make_model(fixture *f, psfm_rng *rng, size_t num, bool flat) {
    *f = (fixture){.model = {.images = f->images, .num_images = num}};
    for (size_t k = 0; k < num; ++k) {
        psfm_model_image *image = &f->images[k];
        snprintf(f->names[k], sizeof f->names[k], "%02zu.jpg", k);
        image->name = f->names[k];
        image->cam_from_world_q[0] = 1.0;
        for (int e = 0; e < 3; ++e) {
            f->centers[k][e] = (e == 2 && flat) ? 1.0 : psfm_rng_normal(rng);
            image->cam_from_world_t[e] = -f->centers[k][e];
        }
    }
}

/* Positions y = 50 x + noise, or noise alone. */
static psfm_status align(fixture *f, psfm_rng *rng, double signal, double noise,
                         psfm_alignment *a) {
    psfm_positions positions = {0};
    for (size_t k = 0; k < f->model.num_images; ++k) {
        double y[3];
        for (int e = 0; e < 3; ++e)
            y[e] = 50.0 * signal * f->centers[k][e] + noise * psfm_rng_normal(rng);
        assert_ok(ctx, psfm_positions_add(ctx, &positions, f->names[k], y));
    }
    psfm_status status = psfm_align_positions(ctx, &f->model, &positions, a);
    psfm_positions_free(&positions);
    return status;
}

/* How many of 200 draws are accepted. */
static int count_accepted(size_t num, bool flat, double signal, double noise) {
    int accepted = 0;
    for (int draw = 0; draw < 200; ++draw) {
        psfm_rng rng = psfm_rng_make(7, PSFM_RNG_ALIGN, num, (uint64_t)draw);
        fixture f;
        psfm_alignment a;
        make_model(&f, &rng, num, flat);
        psfm_status status = align(&f, &rng, signal, noise, &a);
        assert_true(status == PSFM_OK || status == PSFM_ERR_DATA);
        assert_true((status == PSFM_OK) == (a.verdict != NULL));
        accepted += status == PSFM_OK;
        psfm_alignment_free(&a);
    }
    return accepted;
}

static void test_nonsense_is_refused(void **state) {
    (void)state;
    const size_t sizes[] = {3, 4, 5, 6, 8, 12, 30};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
        for (int flat = 0; flat < 2; ++flat) {
            int accepted = count_accepted(sizes[k], flat == 1, 0.0, 50.0);
            if (accepted > 1)
                fail_msg("%d of 200 times %zu random positions are accepted", accepted, sizes[k]);
        }
}

static void test_sense_is_accepted(void **state) {
    (void)state;
    const size_t sizes[] = {4, 5, 6, 8, 12, 30};
    const double noise[] = {0.3, 1.5, 3.0, 5.0, 5.0, 5.0}; /* a tenth of the spread at most */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
        assert_true(count_accepted(sizes[k], false, 1.0, noise[k]) >= 190);
    assert_true(count_accepted(3, false, 1.0, 0.01) >= 190); /* exact ones are enough of three */
    assert_true(count_accepted(10, true, 1.0, 3.0) >= 190);  /* a flight at one height */
}

static void test_sentences(void **state) {
    (void)state;
    fixture f;
    psfm_alignment a;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_ALIGN, 1, 1);
    make_model(&f, &rng, 12, false);
    assert_int_equal(align(&f, &rng, 0.0, 1.0, &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "as places at random would"));
    assert_int_equal(a.num_items, 12); /* to be looked at */
    psfm_alignment_free(&a);
    for (size_t k = 0; k < 12; ++k)
        f.centers[k][0] *= 100.0; /* a straight flight, and errors as large as its width */
    for (size_t k = 0; k < 12; ++k)
        f.images[k].cam_from_world_t[0] = -f.centers[k][0];
    assert_int_equal(align(&f, &rng, 1.0, 150.0, &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "on a line"));
    psfm_alignment_free(&a);
}

/* Two of three: what agrees is fewer than a similarity takes. */
static void test_too_few_agree(void **state) {
    (void)state;
    psfm_alignment_item items[5] = {{.is_inlier = true}, {.is_inlier = true}};
    psfm_alignment a = {.items = items, .num_items = 3, .num_inliers = 2};
    assert_int_equal(psfm_alignment_check(ctx, "known points", &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "2 of the 3 known points agree"));
    psfm_alignment_item seven[7] = {
        [0].is_inlier = true, [1].is_inlier = true, [2].is_inlier = true};
    a = (psfm_alignment){.items = seven, .num_items = 7, .num_inliers = 3};
    assert_int_equal(psfm_alignment_check(ctx, "known points", &a), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "only 3 of the 7"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_sense_is_accepted),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_too_few_agree),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
