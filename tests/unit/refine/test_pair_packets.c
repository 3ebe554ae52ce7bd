/* What is packed comes out; what is cut, or of another pair, is refused. */
#include "refine/pair_packets.h"

#include <stdlib.h>
#include <string.h>

#include "test_util.h"

enum { NUM_CORNERS = 3, NUM_PLANES = 2, NUM_MATCHES = 3 };

static const size_t num_corners[2] = {NUM_CORNERS, 1};

static void test_corners(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_corner corners[NUM_CORNERS] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    char problem[] = "unreadable";
    const psfm_view_corners given[2] = {{corners, NUM_CORNERS, NULL}, {NULL, 0, problem}};
    psfm_packet packet = {0};
    psfm_view_corners got[2];
    for (int k = 0; k < 2; ++k)
        assert_ok(ctx, psfm_view_corners_pack(ctx, &given[k], &packet));
    psfm_packet_reader reader = psfm_packet_read(&packet);
    for (int k = 0; k < 2; ++k)
        assert_ok(ctx, psfm_view_corners_unpack(ctx, &reader, &got[k]));
    assert_int_equal(reader.at, reader.size);
    assert_int_equal(got[0].num, NUM_CORNERS);
    assert_memory_equal(got[0].corners, corners, sizeof corners);
    assert_null(got[0].problem);
    assert_string_equal(got[1].problem, problem);
    assert_int_equal(got[1].num, 0);
    for (int k = 0; k < 2; ++k)
        psfm_view_corners_free(&got[k]);
    psfm_packet_free(&packet);
    psfm_context_destroy(&ctx);
}

/* Two planes with two and one inliers: x and y count up from 1. */
static psfm_raw_planes make_planes(psfm_raw_plane planes[NUM_PLANES], double (*xy)[2]) {
    for (int k = 0; k < 12; ++k)
        xy[k / 2][k % 2] = k + 1;
    for (int h = 0; h < NUM_PLANES; ++h) {
        planes[h] = (psfm_raw_plane){.num_inliers = h == 0 ? 2 : 1};
        planes[h].xy1 = (const double(*)[2])(xy + (h == 0 ? 0 : 4));
        planes[h].xy2 = planes[h].xy1 + planes[h].num_inliers;
        for (int k = 0; k < 9; ++k)
            planes[h].H_21[k] = 10 * h + k;
    }
    return (psfm_raw_planes){planes, NUM_PLANES, xy};
}

static void test_planes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_raw_plane planes[NUM_PLANES];
    double xy[6][2];
    const psfm_raw_planes given = make_planes(planes, xy);
    psfm_raw_planes got;
    psfm_packet packet = {0};
    assert_ok(ctx, psfm_raw_planes_pack(ctx, &given, &packet));
    psfm_packet_reader reader = psfm_packet_read(&packet);
    assert_ok(ctx, psfm_raw_planes_unpack(ctx, &reader, &got));
    assert_int_equal(got.num, NUM_PLANES);
    for (int h = 0; h < NUM_PLANES; ++h) {
        const size_t bytes = planes[h].num_inliers * sizeof *xy;
        assert_memory_equal(got.planes[h].H_21, planes[h].H_21, sizeof planes[h].H_21);
        assert_int_equal(got.planes[h].num_inliers, planes[h].num_inliers);
        assert_memory_equal(got.planes[h].xy1, planes[h].xy1, bytes);
        assert_memory_equal(got.planes[h].xy2, planes[h].xy2, bytes);
    }
    psfm_raw_planes_free(&got);
    for (size_t size = 0; size < packet.size; ++size) {
        psfm_packet_reader cut = {packet.bytes, size, 0};
        assert_int_equal(psfm_raw_planes_unpack(ctx, &cut, &got), PSFM_ERR_FORMAT);
        assert_true(got.planes == NULL && got.xy == NULL && got.num == 0);
    }
    /* one inlier more, one less, and more than can be counted */
    static const size_t wrong[] = {3, 1, SIZE_MAX / 2 + 2};
    for (int k = 0; k < 3; ++k) {
        memcpy(packet.bytes + sizeof(size_t) + 9 * sizeof(double), &wrong[k], sizeof wrong[k]);
        reader = psfm_packet_read(&packet);
        assert_int_equal(psfm_raw_planes_unpack(ctx, &reader, &got), PSFM_ERR_FORMAT);
    }
    psfm_packet_free(&packet);
    psfm_context_destroy(&ctx);
}

static psfm_status there_and_back(psfm_context *ctx, const psfm_pair_refined *given,
                                  psfm_pair_refined *got) {
    psfm_packet packet = {0};
    assert_ok(ctx, psfm_pair_refined_pack(ctx, given, NUM_PLANES, &packet));
    psfm_packet_reader reader = psfm_packet_read(&packet);
    psfm_status status = psfm_pair_refined_unpack(ctx, &reader, NUM_PLANES, num_corners, got);
    psfm_packet_free(&packet);
    return status;
}

static void test_aligned_pairs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_refined_plane planes[NUM_PLANES] = {{.refined = true, .num_matches = 2, .rms_px = 0.5},
                                             {.refined = true, .num_matches = 1}};
    psfm_pair_match matches[NUM_MATCHES] = {{.plane = 0, .corner = 2, .xy = {1, 2}},
                                            {.plane = 0, .corner = 0, .side = 1},
                                            {.plane = 1, .corner = 1, .shift_px = 3}};
    const psfm_pair_refined given = {planes, matches, NUM_MATCHES, {.num_tried = 9}}, none = {0};
    psfm_pair_refined got;
    assert_ok(ctx, there_and_back(ctx, &given, &got));
    assert_int_equal(got.num_matches, NUM_MATCHES);
    assert_memory_equal(got.planes, planes, sizeof planes);
    assert_memory_equal(got.matches, matches, sizeof matches);
    assert_int_equal(got.stats.num_tried, 9);
    psfm_pair_refined_free(&got);
    assert_ok(ctx, there_and_back(ctx, &none, &got));
    assert_true(got.planes == NULL && got.num_matches == 0);
    psfm_pair_refined_free(&got);

    psfm_pair_match *m = &matches[1], right = *m;
    static const psfm_pair_match wrong[] = {
        {.plane = NUM_PLANES, .side = 1}, {.corner = 1, .side = 1}, {.side = 2}, {.side = -1}};
    for (int k = 0; k < 4; ++k) {
        *m = wrong[k];
        assert_int_equal(there_and_back(ctx, &given, &got), PSFM_ERR_FORMAT);
        assert_true(got.planes == NULL && got.matches == NULL);
    }
    *m = right;
    planes[1].num_matches = 2;
    assert_int_equal(there_and_back(ctx, &given, &got), PSFM_ERR_FORMAT);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_aligned_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
