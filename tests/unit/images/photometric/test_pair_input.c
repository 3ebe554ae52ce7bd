/* What an alignment is given: corners spread over a photograph, and the inliers of planes. */
#include "images/photometric/pair_input.h"

#include "test_util.h"

/* The grid has about as many squares as corners are asked for, of the photograph's area, and leaves
 * out what a patch would stand over. */
static void corners_are_as_many_as_asked_for(void **state) {
    psfm_context *ctx = *state;
    psfm_pair_plane_options planes;
    psfm_patch_options patch;
    psfm_image image = {0};
    psfm_pyramid photo;
    psfm_options_init(&psfm_pair_plane_option_table, &planes);
    psfm_options_init(&psfm_patch_option_table, &patch);
    assert_ok(ctx, psfm_image_init(ctx, 320, 200, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < 320 * 200; ++k)
        image.gray[k] = (uint8_t)(k * 7919 % 251);
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, &photo));
    for (int k = 0; k < 3; ++k) {
        psfm_view_corners found = {0};
        psfm_corner *expected = NULL;
        size_t num = 0;
        planes.corners = 40 << (2 * k);
        patch.radius = 5 + 2 * k;
        /* 320 * 200 / 40 = 1600 pixels a square */
        const psfm_corner_grid grid = {40 >> k, patch.radius / 2, patch.radius + 3, 1.0};
        assert_ok(ctx, psfm_view_corners_find(ctx, &planes, &patch, &photo, &found));
        assert_ok(ctx, psfm_corners_find(ctx, &photo, &grid, &expected, &num));
        assert_int_equal(found.num, num);
        assert_in_range(num, planes.corners * 6 / 10, planes.corners);
        assert_memory_equal(found.corners, expected, num * sizeof *expected);
        assert_null(found.problem);
        free(expected);
        psfm_view_corners_free(&found);
    }
    psfm_pyramid_free(&photo);
    psfm_image_free(&image);
}

/* Three homographies: two inliers, a rotation, three inliers. Keypoint k of view v is at
 * (100 v + k, -k); match k joins keypoints k and 9 - k. */
static void inliers_are_listed_plane_by_plane(void **state) {
    psfm_context *ctx = *state;
    double keypoints[3][10][2];
    psfm_view views[3] = {{0}};
    uint32_t matches[10][2], inliers[3][3] = {{1, 4}, {0, 2, 3}, {5, 7, 9}};
    for (uint32_t v = 0; v < 3; ++v) {
        views[v] = (psfm_view){.num_keypoints = 10, .keypoints = keypoints[v]};
        for (uint32_t k = 0; k < 10; ++k) {
            keypoints[v][k][0] = 100.0 * v + k;
            keypoints[v][k][1] = -1.0 * k;
            matches[k][0] = k;
            matches[k][1] = 9 - k;
        }
    }
    psfm_homography h[3] = {{.inliers = inliers[0], .num_inliers = 2},
                            {.inliers = inliers[1], .num_inliers = 3, .is_rotation = true},
                            {.inliers = inliers[2], .num_inliers = 3}};
    for (int p = 0; p < 3; ++p)
        for (int k = 0; k < 9; ++k)
            h[p].H_21[k] = 10 * p + k;
    const psfm_match_set set = {.views = views, .num_views = 3};
    const psfm_match_pair pair = {1, 2, 10, matches};
    const psfm_two_view view = {.homographies = h, .num_homographies = 3};
    psfm_raw_planes raw;
    assert_ok(ctx, psfm_raw_planes_list(ctx, &set, &pair, &view, &raw));
    assert_int_equal(raw.num, 3);
    for (int p = 0; p < 3; ++p) {
        const psfm_raw_plane *plane = &raw.planes[p];
        assert_int_equal(plane->num_inliers, p == 0 ? 2 : p == 1 ? 0 : 3);
        assert_memory_equal(plane->H_21, h[p].H_21, sizeof h[p].H_21);
        for (size_t k = 0; k < plane->num_inliers; ++k) {
            const double match = inliers[p][k];
            assert_close(plane->xy1[k][0], 100.0 + match, 0.0);
            assert_close(plane->xy1[k][1], -match, 0.0);
            assert_close(plane->xy2[k][0], 200.0 + 9.0 - match, 0.0);
            assert_close(plane->xy2[k][1], match - 9.0, 0.0);
        }
    }
    psfm_raw_planes_free(&raw);
    const psfm_two_view nothing = {0};
    assert_ok(ctx, psfm_raw_planes_list(ctx, &set, &pair, &nothing, &raw));
    assert_int_equal(raw.num, 0);
    psfm_raw_planes_free(&raw);
    assert_true(raw.planes == NULL && raw.xy == NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_as_many_as_asked_for),
        cmocka_unit_test(inliers_are_listed_plane_by_plane),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
