#include "images/photometric/pyramid.h"

#include "test_util.h"

/* A dark photograph with bright squares of 20 pixels at the given corners. */
static void draw(psfm_context *ctx, int width, int height, const int (*at)[2], int num,
                 psfm_pyramid *photo) {
    psfm_image image = {0};
    assert_ok(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY, &image));
    memset(image.gray, 40, (size_t)width * (size_t)height);
    for (int k = 0; k < num; ++k)
        for (int y = at[k][1]; y < at[k][1] + 20; ++y)
            memset(image.gray + y * width + at[k][0], 200, 20);
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, photo));
    psfm_image_free(&image);
}

static void corners_of_squares_are_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const int at[2][2] = {{50, 40}, {120, 70}};
    psfm_pyramid photo;
    psfm_corner *corners = NULL;
    size_t num = 0, near = 0;
    draw(ctx, 200, 130, at, 2, &photo);
    assert_ok(ctx,
              psfm_corners_find(ctx, &photo, &(psfm_corner_grid){10, 4, 10, 4.0}, &corners, &num));
    for (size_t k = 0; k < num; ++k) {
        assert_true(corners[k].strength >= 4.0F);
        for (int s = 0; s < 8; ++s) {
            int x = at[s / 4][0] + (s % 2) * 20, y = at[s / 4][1] + (s / 2 % 2) * 20;
            near += hypot((double)corners[k].x - x, (double)corners[k].y - y) < 1.5;
        }
    }
    assert_int_equal(near, 8); /* each corner once: it is the strongest of its square */
    free(corners);
    psfm_pyramid_free(&photo);
    psfm_context_destroy(&ctx);
}

/* Large squares: at a coarser level, but places and strengths are those of the photograph. */
static void large_squares_are_searched_coarsely(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const int at[1][2] = {{300, 200}};
    psfm_pyramid photo;
    psfm_corner *fine = NULL, *coarse = NULL;
    size_t num[2] = {0, 0};
    draw(ctx, 640, 512, at, 1, &photo);
    assert_ok(ctx,
              psfm_corners_find(ctx, &photo, &(psfm_corner_grid){127, 2, 10, 4.0}, &fine, &num[0]));
    assert_ok(ctx, psfm_corners_find(ctx, &photo, &(psfm_corner_grid){128, 2, 10, 4.0}, &coarse,
                                     &num[1]));
    assert_true(num[0] == 1 && num[1] == 1);
    for (size_t k = 0; k < num[1]; ++k) {
        double nearest = INFINITY;
        for (int s = 0; s < 4; ++s)
            nearest = fmin(nearest, hypot((double)coarse[k].x - (300 + 20 * (s % 2)),
                                          (double)coarse[k].y - (200 + 20 * (s / 2))));
        assert_below(nearest, 6.0);
        assert_true(fmod((double)coarse[k].x, 2.0) == 1.0); /* a centre of level 1 */
        assert_true(coarse[k].strength > 0.1F * fine[0].strength &&
                    coarse[k].strength < 2.0F * fine[0].strength);
    }
    free(fine);
    free(coarse);
    psfm_pyramid_free(&photo);
    psfm_context_destroy(&ctx);
}

static void flat_and_tiny_photographs_have_none(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_pyramid photo;
    psfm_corner *corners = NULL;
    size_t num = 0;
    draw(ctx, 200, 130, NULL, 0, &photo);
    assert_ok(ctx,
              psfm_corners_find(ctx, &photo, &(psfm_corner_grid){10, 4, 10, 0.0}, &corners, &num));
    assert_int_equal(num, 0);
    free(corners);
    psfm_pyramid_free(&photo);
    draw(ctx, 24, 24, NULL, 0, &photo);
    assert_ok(ctx,
              psfm_corners_find(ctx, &photo, &(psfm_corner_grid){10, 4, 12, 0.0}, &corners, &num));
    assert_int_equal(num, 0);
    free(corners);
    psfm_pyramid_free(&photo);
    psfm_context_destroy(&ctx);
}

static void one_corner_a_square_within_the_margin(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image image = {0};
    psfm_pyramid photo;
    psfm_corner *corners = NULL;
    size_t num = 0;
    assert_ok(ctx, psfm_image_init(ctx, 161, 97, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < 161 * 97; ++k)
        image.gray[k] = (uint8_t)(k * 7919 % 251);
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, &photo));
    assert_ok(ctx,
              psfm_corners_find(ctx, &photo, &(psfm_corner_grid){16, 4, 11, 0.0}, &corners, &num));
    assert_true(num > 40);
    for (size_t k = 0; k < num; ++k) {
        assert_true(corners[k].x > 11.0F && corners[k].x < 150.0F);
        assert_true(corners[k].y > 11.0F && corners[k].y < 86.0F);
        for (size_t m = 0; m < k; ++m)
            assert_false((int)corners[k].x / 16 == (int)corners[m].x / 16 &&
                         (int)corners[k].y / 16 == (int)corners[m].y / 16);
    }
    free(corners);
    psfm_pyramid_free(&photo);
    psfm_image_free(&image);
    psfm_context_destroy(&ctx);
}

/* The smaller eigenvalue of the mean of gradient gradient^T over a window, from central
 * differences. */
static double strength_at(const psfm_pyramid_level *level, int x, int y, int radius) {
    double xx = 0.0, xy = 0.0, yy = 0.0, num = (2.0 * radius + 1.0) * (2.0 * radius + 1.0);
    for (int v = y - radius; v <= y + radius; ++v)
        for (int u = x - radius; u <= x + radius; ++u) {
            const uint8_t *at = level->pixels + v * level->width + u;
            double gx = 0.5 * (at[1] - at[-1]), gy = 0.5 * (at[level->width] - at[-level->width]);
            xx += gx * gx / num;
            xy += gx * gy / num;
            yy += gy * gy / num;
        }
    return 0.5 * (xx + yy) - sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy);
}

/* Every square has the strongest of its pixels that is within the margin, or none where that is too
 * weak. Half of the photograph is faint. */
static void corners_are_the_strongest_of_their_squares(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { W = 95, H = 70, SPACING = 13, RADIUS = 2, MARGIN = 6 };
    psfm_image image = {0};
    psfm_pyramid photo;
    psfm_corner *corners = NULL;
    size_t num = 0, expected = 0;
    assert_ok(ctx, psfm_image_init(ctx, W, H, PSFM_IMAGE_GRAY, &image));
    for (int k = 0; k < W * H; ++k)
        image.gray[k] = (uint8_t)(100 + k * 7919 % 251 % (k % W < W / 2 ? 100 : 12));
    assert_ok(ctx, psfm_pyramid_init(ctx, &image, &photo));
    const psfm_corner_grid grid = {SPACING, RADIUS, MARGIN, 30.0};
    assert_ok(ctx, psfm_corners_find(ctx, &photo, &grid, &corners, &num));
    for (int row = 0; row <= H / SPACING; ++row)
        for (int column = 0; column <= W / SPACING; ++column) {
            double best = 0.0;
            int at[2] = {0, 0};
            for (int y = row * SPACING; y < (row + 1) * SPACING && y < H - MARGIN; ++y)
                for (int x = column * SPACING; x < (column + 1) * SPACING && x < W - MARGIN; ++x) {
                    if (x < MARGIN || y < MARGIN)
                        continue;
                    double strength = strength_at(&photo.levels[0], x, y, RADIUS);
                    if (strength > best * (1.0 + 1e-6)) {
                        best = strength;
                        at[0] = x;
                        at[1] = y;
                    }
                }
            if (!(best >= 30.0))
                continue;
            assert_true(expected < num); /* row by row */
            const psfm_corner *c = &corners[expected++];
            assert_close((double)c->x, at[0] + 0.5, 0.0);
            assert_close((double)c->y, at[1] + 0.5, 0.0);
            assert_close((double)c->strength / best, 1.0, 1e-6);
        }
    assert_int_equal(num, expected);
    assert_in_range(num, 10, 30);
    free(corners);
    psfm_pyramid_free(&photo);
    psfm_image_free(&image);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_of_squares_are_found),
        cmocka_unit_test(large_squares_are_searched_coarsely),
        cmocka_unit_test(flat_and_tiny_photographs_have_none),
        cmocka_unit_test(one_corner_a_square_within_the_margin),
        cmocka_unit_test(corners_are_the_strongest_of_their_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
