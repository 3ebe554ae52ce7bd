#include "test_util.h"

#ifdef PSFM_TEST_VLFEAT
#include <vl/sift.h>
#endif

#include "core/base/alloc.h"
#include "core/base/cpu.h"
#include "images/feature/sift.h"
#include "images/feature/sift_describe.h"
#include "images/feature/sift_kernel.h"
#include "unit/images/feature/feature_util.h"

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

static psfm_sift_options defaults(void) {
    psfm_sift_options o;
    psfm_options_init(&psfm_sift_option_table, &o);
    return o;
}

#ifdef PSFM_TEST_VLFEAT
/* ---- against VLFeat, driven as COLMAP drives it ---- */

typedef struct {
    float x, y, sigma;
    double angle;
    float descriptor[128];
    bool used;
} reference;

static size_t run_vlfeat(const psfm_image *image, reference *out, size_t room) {
    psfm_sift_options o = defaults();
    size_t num = 0, pixels = (size_t)(image->width * image->height);
    float *gray = malloc(pixels * sizeof *gray);
    for (size_t k = 0; k < pixels; ++k)
        gray[k] = (float)image->gray[k] / 255.0F;
    VlSiftFilt *sift = vl_sift_new(image->width, image->height, PSFM_SIFT_OCTAVES, PSFM_SIFT_LEVELS,
                                   o.first_octave);
    vl_sift_set_peak_thresh(sift, o.peak_threshold);
    vl_sift_set_edge_thresh(sift, 10.0);
    for (int end = vl_sift_process_first_octave(sift, gray); end == 0;
         end = vl_sift_process_next_octave(sift)) {
        vl_sift_detect(sift);
        const VlSiftKeypoint *keys = vl_sift_get_keypoints(sift);
        for (int k = 0; k < vl_sift_get_nkeypoints(sift); ++k) {
            double angles[4];
            int found = vl_sift_calc_keypoint_orientations(sift, angles, &keys[k]);
            for (int a = 0; a < (found < 2 ? found : 2); ++a) {
                assert_true(num < room);
                reference *r = &out[num++];
                *r = (reference){
                    keys[k].x + 0.5F, keys[k].y + 0.5F, keys[k].sigma, angles[a], {0}, false};
                vl_sift_calc_keypoint_descriptor(sift, r->descriptor, &keys[k], angles[a]);
            }
        }
    }
    vl_sift_delete(sift);
    free(gray);
    return num;
}

/* The unused reference at this keypoint, or NULL. */
static reference *find_reference(reference *all, size_t num, const psfm_keypoint *k) {
    for (size_t i = 0; i < num; ++i) {
        reference *r = &all[i];
        double turn = remainder(r->angle - (double)psfm_keypoint_orientation(k), 6.283185307179586);
        if (!r->used && hypotf(r->x - k->x, r->y - k->y) < 0.01F &&
            fabsf(r->sigma / psfm_keypoint_scale(k) - 1.0F) < 0.01F && fabs(turn) < 0.01)
            return r;
    }
    return NULL;
}

static void features_equal_those_of_vlfeat(void **state) {
    (void)state;
    psfm_image image = spotted(ctx, 301, 203, 500, 1);
    psfm_keypoint_set set;
    enum { ROOM = 20000 };
    reference *all = malloc(ROOM * sizeof *all);
    size_t num = run_vlfeat(&image, all, ROOM), missing = 0, different = 0;
    assert_ok(ctx, psfm_sift_extract(ctx, &image, NULL, NULL, &set));
    assert_true(num > 300);
    assert_true(set.num + 3 > num && num + 3 > set.num);
    for (size_t k = 0; k < set.num; ++k) {
        reference *r = find_reference(all, num, &set.keypoints[k]);
        if (r == NULL) {
            ++missing;
            continue;
        }
        uint8_t expected[128];
        r->used = true;
        psfm_sift_root(r->descriptor, expected);
        for (int c = 0; c < 128; ++c)
            different += abs(expected[c] - set.descriptors_u8[128 * k + (size_t)c]) > 1;
    }
    /* rounding decides a few: extrema near a tie, directions near the limit of 0.8 */
    assert_in_range(missing, 0, num / 200);
    assert_in_range(different, 0, 128 * num / 1000);
    psfm_keypoint_set_free(&set);
    free(all);
    psfm_image_free(&image);
}
#endif

/* ---- properties ---- */

/* A bright spot with the given sigmas along x and y. */
static psfm_image spot(double x0, double y0, double size_x, double size_y) {
    psfm_image image;
    assert_ok(ctx, psfm_image_init(ctx, 120, 110, PSFM_IMAGE_GRAY, &image));
    for (int y = 0; y < 110; ++y)
        for (int x = 0; x < 120; ++x)
            image.gray[y * 120 + x] =
                (uint8_t)(40.5 + 180 * exp(-0.5 * (pow((x - x0) / size_x, 2) +
                                                   pow((y - y0) / size_y, 2))));
    return image;
}

static const psfm_keypoint *nearest(const psfm_keypoint_set *set, double x, double y) {
    const psfm_keypoint *best = NULL;
    double least = 1.0;
    for (size_t k = 0; k < set->num; ++k) {
        double d = hypot((double)set->keypoints[k].x - x, (double)set->keypoints[k].y - y);
        if (d < least) {
            least = d;
            best = &set->keypoints[k];
        }
    }
    return best;
}

static void one_spot_is_found_where_it_is(void **state) {
    (void)state;
    static const double places[][3] = {{60, 50, 3}, {61.37, 48.81, 4}, {40.5, 70.25, 6}};
    for (int k = 0; k < 3; ++k) {
        double x0 = places[k][0], y0 = places[k][1], size = places[k][2];
        psfm_image image = spot(x0, y0, size, size);
        psfm_keypoint_set set;
        psfm_sift_options o = defaults();
        o.upright = true;
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &set));
        const psfm_keypoint *found = nearest(&set, x0 + 0.5, y0 + 0.5);
        assert_non_null(found);
        assert_close(found->x, x0 + 0.5, 0.03);
        assert_close(found->y, y0 + 0.5, 0.03);
        /* the Laplacian of a spot is strongest at its own sigma; a difference of levels stands
         * for half a step, 2^(1/6), above the lower one, which gives its name */
        assert_close(log2((double)psfm_keypoint_scale(found) / size), -1.0 / 6, 0.05);
        assert_close(psfm_keypoint_orientation(found), 0.0, 0.0);
        psfm_keypoint_set_free(&set);
        psfm_image_free(&image);
    }
}

/* Turning the picture by 90 degrees turns the keypoints and leaves the descriptors. */
static void features_turn_with_the_picture(void **state) {
    (void)state;
    enum { SIDE = 180 };
    psfm_image image = spotted(ctx, SIDE, SIDE, 150, 2), turned;
    assert_ok(ctx, psfm_image_init(ctx, SIDE, SIDE, PSFM_IMAGE_GRAY, &turned));
    for (int y = 0; y < SIDE; ++y)
        for (int x = 0; x < SIDE; ++x)
            turned.gray[x * SIDE + SIDE - 1 - y] = image.gray[y * SIDE + x];
    psfm_sift_options o = defaults();
    o.first_octave = 0; /* doubling is not symmetric */
    psfm_keypoint_set a, b;
    size_t found = 0, inner = 0;
    assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &a));
    assert_ok(ctx, psfm_sift_extract(ctx, &turned, &o, NULL, &b));
    for (size_t i = 0; i < a.num; ++i) {
        const psfm_keypoint *p = &a.keypoints[i];
        if (psfm_keypoint_scale(p) > 3.5F)
            continue; /* halving is not symmetric either */
        ++inner;
        for (size_t j = 0; j < b.num; ++j) {
            const psfm_keypoint *q = &b.keypoints[j];
            double turn = remainder((double)psfm_keypoint_orientation(q) -
                                        (double)psfm_keypoint_orientation(p) - 1.5707963,
                                    6.2831853);
            if (fabsf(SIDE - p->y - q->x) > 0.01F || fabsf(p->x - q->y) > 0.01F ||
                fabs(turn) > 0.02)
                continue;
            int largest = 0;
            for (int c = 0; c < 128; ++c) {
                int d = abs(a.descriptors_u8[128 * i + (size_t)c] -
                            b.descriptors_u8[128 * j + (size_t)c]);
                largest = d > largest ? d : largest;
            }
            found += largest <= 4;
            break;
        }
    }
    assert_true(inner > 50);
    assert_true(found > inner * 9 / 10);
    psfm_keypoint_set_free(&a);
    psfm_keypoint_set_free(&b);
    psfm_image_free(&image);
    psfm_image_free(&turned);
}

static void all_instruction_sets_give_the_same_bytes(void **state) {
    (void)state;
    static const int sizes[][2] = {{301, 203}, {64, 64}, {97, 530}, {17, 9}, {5, 40}};
    for (int k = 0; k < 5; ++k) {
        psfm_image image = spotted(ctx, sizes[k][0], sizes[k][1], 200, 3);
        psfm_keypoint_set plain, fast;
        psfm_sift_options o = defaults();
        o.peak_threshold = 0.001;
        psfm_cpu_limit(PSFM_CPU_PLAIN);
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &plain));
        psfm_cpu_limit(PSFM_CPU_AVX512);
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &fast));
        assert_int_equal(plain.num, fast.num);
        if (k < 3)
            assert_true(fast.num > 30);
        if (fast.num > 0) {
            assert_memory_equal(plain.keypoints, fast.keypoints, fast.num * sizeof *fast.keypoints);
            assert_memory_equal(plain.descriptors_u8, fast.descriptors_u8, 128 * fast.num);
        }
        psfm_keypoint_set_free(&plain);
        psfm_keypoint_set_free(&fast);
        psfm_image_free(&image);
    }
}

/* Pixels beside a descriptor's window are not set where they are outside the circle of the patch:
 * whatever stands there must not get into the sums. */
static void pixels_beside_the_window_count_for_nothing(void **state) {
    (void)state;
    const float beside[] = {NAN, INFINITY, -INFINITY};
    for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX2; ++level)
        for (size_t k = 0; k < sizeof beside / sizeof *beside; ++k) {
            _Alignas(32) float clean[PSFM_SIFT_SHARES] = {0}, shares[PSFM_SIFT_SHARES] = {0};
            float magnitude[PSFM_SIFT_PAD], angle[PSFM_SIFT_PAD], weight[PSFM_SIFT_PAD];
            for (int x = 0; x < PSFM_SIFT_PAD; ++x)
                magnitude[x] = weight[x] = angle[x] = 1.0F;
            const psfm_sift_row row = {.magnitude = magnitude,
                                       .angle = angle,
                                       .weight_x = weight,
                                       .weight_y = 1.0F,
                                       .nx = -0.5F, /* the first of four is outside */
                                       .ny = 2.0F,
                                       .step_nx = 1.0F,
                                       .n = 4};
            psfm_cpu_limit((psfm_cpu_level)level);
            psfm_sift_kernel_choose()->add_row(&row, clean);
            magnitude[0] = angle[0] = beside[k];
            psfm_sift_kernel_choose()->add_row(&row, shares);
            assert_memory_equal(shares, clean, sizeof clean);
        }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

static void descriptors_have_length_512(void **state) {
    (void)state;
    psfm_image image = spotted(ctx, 200, 150, 200, 4);
    psfm_keypoint_set set;
    assert_ok(ctx, psfm_sift_extract(ctx, &image, NULL, NULL, &set));
    assert_int_equal(set.descriptor_size, 128);
    for (size_t k = 0; k < set.num; ++k) {
        double square = 0;
        for (int c = 0; c < 128; ++c)
            square += pow(set.descriptors_u8[128 * k + (size_t)c], 2);
        assert_close(sqrt(square), 512.0, 5.0);
    }
    psfm_keypoint_set_free(&set);
    psfm_image_free(&image);
}

static void whole_levels_of_the_largest_scales_are_kept(void **state) {
    (void)state;
    psfm_image image = spotted(ctx, 300, 300, 500, 5);
    psfm_sift_options o = defaults();
    o.upright = true; /* one keypoint per position */
    psfm_keypoint_set all, some;
    assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &all));
    assert_true(all.num > 300);
    for (int max = 1; max < (int)all.num + 10; max += 97) {
        o.max_num_features = max;
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &some));
        size_t first = all.num - some.num; /* a tail of the full list */
        assert_memory_equal(some.keypoints, all.keypoints + first,
                            some.num * sizeof *all.keypoints);
        assert_true(some.num == all.num || some.num > (size_t)max);
        psfm_keypoint_set_free(&some);
    }
    psfm_keypoint_set_free(&all);
    psfm_image_free(&image);
}

static void orientations_are_limited(void **state) {
    (void)state;
    psfm_image image = spotted(ctx, 200, 200, 300, 6);
    psfm_sift_options o = defaults();
    size_t num[2];
    for (int k = 0; k < 2; ++k) {
        psfm_keypoint_set set;
        o.upright = k == 1;
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &set));
        num[k] = set.num;
        psfm_keypoint_set_free(&set);
    }
    psfm_image_free(&image);
    assert_true(num[0] > num[1] && num[0] <= 2 * num[1]); /* upright: one keypoint a position */
}

static void a_ramp_has_one_direction(void **state) {
    (void)state;
    enum { SIDE = 64 };
    float *level = calloc(SIDE * SIDE + 64, sizeof *level);
    psfm_sift_octave octave = {.width = SIDE, .height = SIDE, .stride = SIDE};
    psfm_sift_patch patch = {0};
    octave.levels[1] = level;
    for (int k = 0; k < 24; ++k) {
        double direction = 0.13 + 0.25 * k;
        for (int y = 0; y < SIDE; ++y)
            for (int x = 0; x < SIDE; ++x)
                level[y * SIDE + x] = (float)(0.01 * (cos(direction) * x + sin(direction) * y));
        psfm_sift_point point = {.x = 31.3F, .y = 30.6F, .sigma = 2.1F};
        double angles[PSFM_SIFT_MAX_ORIENTATIONS];
        assert_ok(ctx, psfm_sift_patch_load(ctx, &octave, &point, &patch));
        assert_int_equal(psfm_sift_orientations(&patch, angles), 1);
        assert_close(remainder(angles[0] - direction, 6.283185307179586), 0.0, 0.02);
        /* all samples fall into direction 0 of the descriptor, symmetric in the cells */
        uint8_t d[128];
        psfm_sift_describe(&patch, angles[0], d);
        for (int cell = 0; cell < 16; ++cell) {
            int rest = 0;
            for (int t = 2; t < 7; ++t)
                rest += d[8 * cell + t];
            assert_int_equal(rest, 0);
            assert_in_range(d[8 * cell], 100, 145);
        }
    }
    psfm_sift_patch_free(&patch);
    free(level);
}

static void dull_and_tiny_images_have_no_features(void **state) {
    (void)state;
    for (int side = 1; side <= 12; ++side) {
        psfm_image image;
        psfm_keypoint_set set;
        assert_ok(ctx, psfm_image_init(ctx, side, 13 - side, PSFM_IMAGE_GRAY, &image));
        for (int k = 0; k < side * (13 - side); ++k)
            image.gray[k] = (uint8_t)(k * 77);
        assert_ok(ctx, psfm_sift_extract(ctx, &image, NULL, NULL, &set));
        psfm_keypoint_set_free(&set);
        memset(image.gray, 200, (size_t)(side * (13 - side)));
        assert_ok(ctx, psfm_sift_extract(ctx, &image, NULL, NULL, &set));
        assert_int_equal(set.num, 0);
        psfm_keypoint_set_free(&set);
        psfm_image_free(&image);
    }
}

static void the_workspace_can_be_used_again(void **state) {
    (void)state;
    psfm_sift_workspace workspace = {0};
    static const int sides[] = {150, 60, 200, 100};
    for (int k = 0; k < 4; ++k) {
        psfm_image image = spotted(ctx, sides[k], sides[k], 100, 7);
        psfm_keypoint_set fresh, again;
        psfm_sift_options o = defaults();
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, NULL, &fresh));
        assert_ok(ctx, psfm_sift_extract(ctx, &image, &o, &workspace, &again));
        assert_int_equal(fresh.num, again.num);
        assert_true(again.num > 10);
        assert_memory_equal(fresh.keypoints, again.keypoints, again.num * sizeof *again.keypoints);
        assert_memory_equal(fresh.descriptors_u8, again.descriptors_u8, 128 * again.num);
        psfm_keypoint_set_free(&fresh);
        psfm_keypoint_set_free(&again);
        psfm_image_free(&image);
    }
    psfm_sift_workspace_free(&workspace);
}

static void failures_are_reported(void **state) {
    (void)state;
    psfm_image image = spotted(ctx, 60, 60, 30, 9);
    psfm_keypoint_set set;
    psfm_sift_options o = defaults();
    o.peak_threshold = NAN;
    assert_int_equal(psfm_sift_extract(ctx, &image, &o, NULL, &set), PSFM_ERR_ARGUMENT);
    size_t failures = 0;
    for (size_t n = 1;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_sift_extract(ctx, &image, NULL, NULL, &set);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(set.keypoints);
        ++failures;
    }
    assert_true(failures > 5);
    psfm_keypoint_set_free(&set);
    psfm_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef PSFM_TEST_VLFEAT
        cmocka_unit_test(features_equal_those_of_vlfeat),
#endif
        cmocka_unit_test(one_spot_is_found_where_it_is),
        cmocka_unit_test(features_turn_with_the_picture),
        cmocka_unit_test(all_instruction_sets_give_the_same_bytes),
        cmocka_unit_test(pixels_beside_the_window_count_for_nothing),
        cmocka_unit_test(descriptors_have_length_512),
        cmocka_unit_test(whole_levels_of_the_largest_scales_are_kept),
        cmocka_unit_test(orientations_are_limited),
        cmocka_unit_test(a_ramp_has_one_direction),
        cmocka_unit_test(dull_and_tiny_images_have_no_features),
        cmocka_unit_test(the_workspace_can_be_used_again),
        cmocka_unit_test(failures_are_reported),
    };
    return cmocka_run_group_tests_name("feature/sift", tests, make_context, free_context);
}
