#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/cpu.h"
#include "core/base/rng.h"
#include "images/match/nearest_neighbour.h"

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_cpu_limit(PSFM_CPU_AVX512);
    psfm_context_destroy(&ctx);
    return 0;
}

/* ---- the rule, written down as simply as possible ---- */

typedef struct {
    int best_idx;
    int32_t best, second;
} nearest;

static int32_t dot(const uint8_t *a, const uint8_t *b) {
    int32_t sum = 0;
    for (int k = 0; k < 128; ++k)
        sum += a[k] * b[k];
    return sum;
}

static void see(nearest *n, int32_t product, size_t idx) {
    if (product > n->best) {
        n->second = n->best;
        n->best = product;
        n->best_idx = (int)idx;
    } else if (product > n->second) {
        n->second = product;
    }
}

static bool accepted(const nearest *n, const psfm_nearest_options *o) {
    const float norm = 1.0F / (512.0F * 512.0F);
    if (n->best_idx < 0)
        return false;
    float best = acosf(fminf(norm * (float)n->best, 1.0F));
    float second = acosf(fminf(norm * (float)n->second, 1.0F));
    return !(best > (float)o->max_distance) && !(best >= (float)o->max_ratio * second);
}

/* Nearest neighbours of both sets by a double loop. */
static void see_all(const uint8_t *d1, size_t n1, const uint8_t *d2, size_t n2, nearest *of1,
                    nearest *of2) {
    for (size_t i = 0; i < n1; ++i)
        of1[i] = (nearest){-1, 0, 0};
    for (size_t j = 0; j < n2; ++j)
        of2[j] = (nearest){-1, 0, 0};
    for (size_t i = 0; i < n1; ++i) {
        for (size_t j = 0; j < n2; ++j) {
            int32_t product = dot(d1 + 128 * i, d2 + 128 * j);
            see(&of1[i], product, j);
            see(&of2[j], product, i);
        }
    }
}

static size_t match_plainly(const nearest *of1, size_t n1, const nearest *of2,
                            const psfm_nearest_options *o, uint32_t (*out)[2]) {
    size_t num = 0;
    for (size_t i = 0; i < n1; ++i) {
        if (!accepted(&of1[i], o))
            continue;
        const nearest *back = &of2[of1[i].best_idx];
        if (!accepted(back, o) || back->best_idx != (int)i)
            continue;
        out[num][0] = (uint32_t)i;
        out[num++][1] = (uint32_t)of1[i].best_idx;
    }
    return num;
}

/* ---- descriptors of several kinds ---- */

/* Root of a random histogram with some structure, norm 512: much like SIFT. */
static void sift_like(psfm_rng *rng, uint8_t *d) {
    double v[128], sum = 0, phase = psfm_rng_range(rng, 0, 6.3), tilt = psfm_rng_normal(rng);
    for (int k = 0; k < 128; ++k) {
        double smooth = 1.2 + cos(0.785 * (k % 8) + phase) + 0.1 * tilt * (k / 32);
        v[k] = fmax(smooth, 0.05) * -log(psfm_rng_uniform(rng) + 1e-12);
        sum += v[k];
    }
    for (int k = 0; k < 128; ++k)
        d[k] = (uint8_t)fmin(512.0 * sqrt(v[k] / sum) + 0.5, 255.0);
}

static void disturb(psfm_rng *rng, const uint8_t *from, double noise, uint8_t *to) {
    double v[128], square = 0;
    for (int k = 0; k < 128; ++k) {
        v[k] = fmax(from[k] + noise * psfm_rng_normal(rng), 0.0);
        square += v[k] * v[k];
    }
    for (int k = 0; k < 128; ++k)
        to[k] = (uint8_t)fmin(512.0 * v[k] / sqrt(square) + 0.5, 255.0);
}

/* A point of a space of 28 dimensions: four values each in a fixed proportion. */
static void mix(psfm_rng *rng, uint8_t *d) {
    double v[128] = {0}, square = 0;
    for (int m = 0; m < 28; ++m) {
        double weight = pow(psfm_rng_uniform(rng), 2.0);
        for (int k = 0; k < 4; ++k)
            v[4 * m + k] = weight * (1 + (7 * m + 3 * k) % 5);
    }
    for (int k = 0; k < 128; ++k)
        square += v[k] * v[k];
    for (int k = 0; k < 128; ++k)
        d[k] = (uint8_t)fmin(512.0 * v[k] / sqrt(square) + 0.5, 255.0);
}

/* CLUSTERS: few originals with many disturbed copies, so that the ratio is often close to its
 * limit. FLAT: of 28 dimensions, so that shortening loses nothing and the bounds are sharp. */
enum { SIFT_LIKE, CLUSTERS, FLAT, UNIFORM, FEW_VALUES, DUPLICATES, SATURATED, ZEROS, NUM_KINDS };

static void fill(int kind, uint64_t seed, uint8_t *d1, size_t n1, uint8_t *d2, size_t n2) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, (uint64_t)kind, n1 * 10000 + n2);
    uint8_t *all[2] = {d1, d2};
    size_t n[2] = {n1, n2};
    static uint8_t originals[250][128];
    for (size_t k = 0; k < 250; ++k)
        sift_like(&rng, originals[k]);
    for (int side = 0; side < 2; ++side) {
        for (size_t i = 0; i < n[side]; ++i) {
            uint8_t *d = all[side] + 128 * i;
            for (int k = 0; k < 128; ++k)
                d[k] = kind == UNIFORM      ? (uint8_t)psfm_rng_below(&rng, 90)
                       : kind == FEW_VALUES ? (uint8_t)(60 * psfm_rng_below(&rng, 2))
                       : kind == SATURATED  ? (uint8_t)(255 - psfm_rng_below(&rng, 2))
                                            : 0;
            if (kind == SIFT_LIKE || kind == DUPLICATES)
                sift_like(&rng, d);
            if (kind == DUPLICATES && i > 0 && psfm_rng_below(&rng, 3) == 0)
                memcpy(d, all[side] + 128 * psfm_rng_below(&rng, i), 128);
            if (kind == CLUSTERS)
                disturb(&rng, originals[psfm_rng_below(&rng, 250)], psfm_rng_range(&rng, 1, 16), d);
            if (kind == FLAT)
                mix(&rng, d);
            /* half of set 2 looks like something in set 1 */
            if (side == 1 && n1 > 0 && kind != CLUSTERS && kind != FLAT && kind != SATURATED &&
                kind != ZEROS && i % 2 == 0)
                disturb(&rng, d1 + 128 * psfm_rng_below(&rng, n1), psfm_rng_range(&rng, 0, 20), d);
        }
    }
}

/* Compares with the plain rule at every CPU level, for each of the options. Returns the smallest
 * number of matches among them. */
static size_t compare(int kind, size_t n1, size_t n2, const psfm_nearest_options *options,
                      size_t num) {
    uint8_t *d1 = malloc(128 * n1 + 1), *d2 = malloc(128 * n2 + 1);
    nearest *of1 = malloc((n1 + 1) * sizeof *of1), *of2 = malloc((n2 + 1) * sizeof *of2);
    uint32_t(*expected)[2] = malloc((n1 + 1) * sizeof *expected);
    size_t fewest = SIZE_MAX;
    fill(kind, 7, d1, n1, d2, n2);
    see_all(d1, n1, d2, n2, of1, of2);
    for (size_t k = 0; k < num; ++k) {
        size_t matches = match_plainly(of1, n1, of2, &options[k], expected);
        fewest = matches < fewest ? matches : fewest;
        for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
            psfm_match_list list;
            psfm_cpu_limit((psfm_cpu_level)level);
            assert_ok(ctx, psfm_nearest_match_u8(ctx, d1, n1, d2, n2, &options[k], &list));
            if (list.num != matches)
                fail_msg("kind %d, %zu x %zu, options %zu, level %d: %zu matches, not %zu", kind,
                         n1, n2, k, level, list.num, matches);
            if (matches > 0)
                assert_memory_equal(list.matches, expected, matches * sizeof *expected);
            psfm_match_list_free(&list);
        }
    }
    free(expected);
    free(of1);
    free(of2);
    free(d1);
    free(d2);
    return fewest;
}

static void small_sets_equal_the_double_loop(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{0, 0}, {0, 5},  {5, 0},   {1, 1},    {1, 70},
                                      {3, 2}, {65, 1}, {67, 63}, {130, 65}, {100, 257}};
    const psfm_nearest_options options[] = {{0.8, 0.7}, {1.0, 0.7}};
    size_t total = 0;
    for (int kind = 0; kind < NUM_KINDS; ++kind)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k)
            total += compare(kind, sizes[k][0], sizes[k][1], options, 2);
    assert_true(total > 50);
}

/* Large enough for the shortened descriptors, which must not change anything. One thread: the
 * thread sanitizer has nothing to see there, and would take minutes. */
static void large_sets_equal_the_double_loop(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    static const psfm_nearest_options options[] = {
        {0.8, 0.7}, {1.0, 1.57}, {0.95, 1.2}, {0.5, 0.3}};
    assert_true(compare(SIFT_LIKE, 1301, 1107, options, 4) > 50);
    assert_true(compare(CLUSTERS, 1301, 1107, options, 3) > 20);
    assert_true(compare(FLAT, 1301, 1107, options, 3) > 5);
    assert_true(compare(DUPLICATES, 1201, 1150, options, 1) > 50);
    compare(UNIFORM, 1001, 1205, options, 1);
    compare(FEW_VALUES, 1001, 1000, options, 2);
    compare(SATURATED, 1000, 1000, options, 2);
    assert_int_equal(compare(ZEROS, 1000, 1000, options, 2), 0);
}

enum { IMAGES = 5 };

/* Heads that the caller keeps, by the axes of some of the images alone: any axes will do. */
static void match_with_known_heads(const psfm_keypoint_set *sets, const psfm_pair_list *pairs,
                                   psfm_match_list *out) {
    psfm_nearest_basis basis;
    psfm_nearest_head heads[IMAGES] = {0};
    const psfm_nearest_head *list[IMAGES];
    const psfm_nearest_set first = {sets[0].descriptors_u8, sets[0].num};
    assert_ok(ctx, psfm_nearest_basis_find(ctx, &first, 1, &basis));
    for (int k = 0; k < IMAGES; ++k) {
        const psfm_nearest_set set = {sets[k].descriptors_u8, sets[k].num};
        if (psfm_nearest_wants_head(set.n))
            assert_ok(ctx, psfm_nearest_head_make(ctx, &basis, &set, &heads[k]));
        list[k] = &heads[k];
    }
    const psfm_nearest_heads known = {&basis, list};
    assert_ok(ctx, psfm_nearest_match_pairs(ctx, sets, IMAGES, pairs, NULL, &known, out));
    for (int k = 0; k < IMAGES; ++k)
        psfm_nearest_head_free(&heads[k]);
}

static void pairs_do_not_depend_on_threads_or_heads(void **state) {
    (void)state;
    static const size_t sizes[IMAGES] = {1200, 0, 1100, 300, 1050};
    psfm_keypoint_set sets[IMAGES] = {0};
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < IMAGES; ++k) {
        sets[k].num = sizes[k];
        sets[k].descriptor_size = 128;
        sets[k].descriptors_u8 = malloc(128 * sizes[k] + 1);
        for (size_t i = 0; i < sizes[k]; ++i)
            if (k > 0 && i < 200)
                disturb(&rng, sets[0].descriptors_u8 + 128 * i, 12.0,
                        sets[k].descriptors_u8 + 128 * i);
            else
                sift_like(&rng, sets[k].descriptors_u8 + 128 * i);
    }
    psfm_pair_list pairs;
    assert_ok(ctx, psfm_pair_select(ctx, "exhaustive", NULL, IMAGES, NULL, &pairs));
    psfm_match_list out[4][10] = {0};
    size_t total = 0;
    psfm_cpu_limit(PSFM_CPU_AVX512);
    for (int t = 0; t < 3; ++t) {
        psfm_context_set_threads(ctx, 1 + 3 * t);
        assert_ok(ctx, psfm_nearest_match_pairs(ctx, sets, IMAGES, &pairs, NULL, NULL, out[t]));
    }
    match_with_known_heads(sets, &pairs, out[3]);
    for (size_t k = 0; k < pairs.num; ++k) {
        total += out[0][k].num;
        psfm_match_list one;
        const psfm_keypoint_set *a = &sets[pairs.pairs[k][0]], *b = &sets[pairs.pairs[k][1]];
        assert_ok(ctx, psfm_nearest_match_u8(ctx, a->descriptors_u8, a->num, b->descriptors_u8,
                                             b->num, NULL, &one));
        for (int t = 0; t < 4; ++t) {
            assert_int_equal(out[t][k].num, one.num);
            if (one.num > 0)
                assert_memory_equal(out[t][k].matches, one.matches, one.num * sizeof *one.matches);
            psfm_match_list_free(&out[t][k]);
        }
        psfm_match_list_free(&one);
    }
    assert_true(total > 500);

    sets[2].descriptor_size = 64;
    assert_int_equal(psfm_nearest_match_pairs(ctx, sets, IMAGES, &pairs, NULL, NULL, out[0]),
                     PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "image 2"));
    sets[2].descriptor_size = 128;
    assert_int_equal(psfm_nearest_match_pairs(ctx, sets, IMAGES - 1, &pairs, NULL, NULL, out[0]),
                     PSFM_ERR_ARGUMENT);
    psfm_pair_list_free(&pairs);
    for (int k = 0; k < IMAGES; ++k)
        psfm_keypoint_set_free(&sets[k]);
}

static void failed_allocations_are_reported(void **state) {
    (void)state;
    size_t n = 1000;
    uint8_t *d = malloc(128 * n);
    fill(SIFT_LIKE, 3, d, n, d, n);
    psfm_keypoint_set sets[2] = {{.num = n, .descriptor_size = 128, .descriptors_u8 = d},
                                 {.num = n, .descriptor_size = 128, .descriptors_u8 = d}};
    psfm_pair_list pairs;
    assert_ok(ctx, psfm_pair_select(ctx, NULL, NULL, 2, NULL, &pairs));
    psfm_context_set_threads(ctx, 1);
    size_t failures = 0;
    for (size_t k = 1; k < 100; ++k) {
        psfm_match_list list = {0};
        psfm_alloc_fail_after(k);
        psfm_status status = psfm_nearest_match_pairs(ctx, sets, 2, &pairs, NULL, NULL, &list);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK) {
            psfm_match_list_free(&list);
            break;
        }
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(list.matches);
        ++failures;
    }
    assert_in_range(failures, 10, 60);
    psfm_pair_list_free(&pairs);
    free(d);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    uint8_t d[128] = {0};
    psfm_match_list list;
    psfm_nearest_options o = {1.5, 0.7};
    assert_int_equal(psfm_nearest_match_u8(ctx, d, 1, d, 1, &o, &list), PSFM_ERR_ARGUMENT);
}

/* ---- float descriptors ---- */

static void unit_vector(psfm_rng *rng, size_t size, float *v) {
    double square = 0;
    for (size_t k = 0; k < size; ++k) {
        v[k] = (float)psfm_rng_normal(rng);
        square += (double)v[k] * (double)v[k];
    }
    for (size_t k = 0; k < size; ++k)
        v[k] /= (float)sqrt(square);
}

static double similarity(const float *a, const float *b, size_t size) {
    double sum = 0;
    for (size_t k = 0; k < size; ++k)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

/* Index of the most similar, and the similarities of the two best. */
static size_t most_similar(const float *d, const float *others, size_t n, size_t size, double *best,
                           double *second) {
    size_t idx = n;
    *best = *second = -INFINITY;
    for (size_t j = 0; j < n; ++j) {
        double s = similarity(d, others + j * size, size);
        if (s > *best) {
            *second = *best;
            *best = s;
            idx = j;
        } else if (s > *second) {
            *second = s;
        }
    }
    return idx;
}

static psfm_keypoint_set float_set(float *descriptors, size_t num, size_t size) {
    return (psfm_keypoint_set){.num = num, .descriptor_size = size, .descriptors_f32 = descriptors};
}

static void float_matches_are_mutual_nearest(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{300, 530, 64}, {1, 1, 256}, {257, 3, 17}, {0, 10, 64}};
    for (size_t s = 0; s < 4; ++s) {
        size_t n1 = shapes[s][0], n2 = shapes[s][1], size = shapes[s][2], found = 0;
        float *d1 = malloc((n1 * size + 1) * sizeof *d1),
              *d2 = malloc((n2 * size + 1) * sizeof *d2);
        psfm_rng rng = psfm_rng_make(11, PSFM_RNG_TEST, s, 0);
        for (size_t i = 0; i < n1; ++i)
            unit_vector(&rng, size, d1 + i * size);
        for (size_t j = 0; j < n2; ++j)
            unit_vector(&rng, size, d2 + j * size);
        psfm_nearest_float_options o = {0.2, 0.95};
        psfm_match_list list;
        const psfm_keypoint_set set1 = float_set(d1, n1, size), set2 = float_set(d2, n2, size);
        assert_ok(ctx, psfm_nearest_match_f32(ctx, &set1, &set2, &o, &list));
        for (size_t i = 0; i < n1; ++i) {
            double best, second, back_best, back_second;
            size_t j = most_similar(d1 + i * size, d2, n2, size, &best, &second);
            size_t back = most_similar(d2 + j * size, d1, n1, size, &back_best, &back_second);
            bool match =
                back == i && best >= 0.2 &&
                (isinf(second) || sqrt(2 - 2 * best) < 0.95 * sqrt(2 - 2 * second)) &&
                (isinf(back_second) || sqrt(2 - 2 * back_best) < 0.95 * sqrt(2 - 2 * back_second));
            if (match) {
                assert_true(found < list.num);
                assert_int_equal(list.matches[found][0], i);
                assert_int_equal(list.matches[found++][1], j);
            }
        }
        assert_int_equal(found, list.num);
        if (s == 0)
            assert_in_range(found, 5, 200);
        psfm_match_list_free(&list);
        free(d1);
        free(d2);
    }
}

static void float_ties_and_nans(void **state) {
    (void)state;
    /* 0 and 1 of set 2 are equal; 2 of set 1 is not a number */
    float d1[] = {1, 0, 0, 1, NAN, 0}, d2[] = {1, 0, 1, 0, 0, 1};
    psfm_keypoint_set set1 = float_set(d1, 3, 2), set2 = float_set(d2, 3, 2);
    psfm_match_list list;
    assert_ok(ctx, psfm_nearest_match_f32(ctx, &set1, &set2, NULL, &list));
    assert_int_equal(list.num, 2);
    assert_int_equal(list.matches[0][0], 0);
    assert_int_equal(list.matches[0][1], 0);
    assert_int_equal(list.matches[1][0], 1);
    assert_int_equal(list.matches[1][1], 2);
    psfm_match_list_free(&list);
    psfm_nearest_float_options o = {-1.0, 0.99};
    assert_ok(ctx, psfm_nearest_match_f32(ctx, &set1, &set2, &o, &list));
    assert_int_equal(list.num, 1); /* the tie fails the ratio test */
    assert_int_equal(list.matches[0][0], 1);
    psfm_match_list_free(&list);
    set1.descriptor_size = 1;
    assert_int_equal(psfm_nearest_match_f32(ctx, &set1, &set2, NULL, &list), PSFM_ERR_DATA);
    set1.descriptor_size = set2.descriptor_size = 0;
    assert_int_equal(psfm_nearest_match_f32(ctx, &set1, &set2, NULL, &list), PSFM_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sets_equal_the_double_loop),
        cmocka_unit_test(large_sets_equal_the_double_loop),
        cmocka_unit_test(pairs_do_not_depend_on_threads_or_heads),
        cmocka_unit_test(failed_allocations_are_reported),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(float_matches_are_mutual_nearest),
        cmocka_unit_test(float_ties_and_nans),
    };
    return cmocka_run_group_tests_name("match/nearest_neighbour", tests, make_context,
                                       free_context);
}
