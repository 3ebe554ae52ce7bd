/* The city: fronts are planes, blocks hide what is behind them, and the streets hang together. */
#include "test_util.h"

#include "core/base/union_find.h"
#include "core/linalg/mat3.h"
#include "synth/scene.h"

enum { CAMERAS = 200, BLOCKS = 4 };

static psfm_scene make(psfm_context *ctx) {
    psfm_scene_options options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = CAMERAS;
    options.noise_px = 0.0;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_CITY, 1, &options, &scene));
    assert_ok(ctx, psfm_match_set_check(ctx, &scene.matches));
    return scene;
}

typedef struct {
    double low[3], high[3];
} box;

static void widen(box *b, const double xyz[3]) {
    for (int k = 0; k < 3; ++k) {
        b->low[k] = fmin(b->low[k], xyz[k]);
        b->high[k] = fmax(b->high[k], xyz[k]);
    }
}

/* The boxes round the points of each block, or of each front. */
static void find_boxes(const psfm_scene *scene, int per_box, int num, box *boxes) {
    for (int b = 0; b < num; ++b)
        for (int k = 0; k < 3; ++k) {
            boxes[b].low[k] = HUGE_VAL;
            boxes[b].high[k] = -HUGE_VAL;
        }
    for (size_t p = 0; p < scene->truth.num_points; ++p) {
        int plane = scene->point_plane[p];
        assert_true(plane >= 0 && plane / per_box < num);
        widen(&boxes[plane / per_box], scene->truth.points[p].xyz);
    }
}

static void fronts_are_planes(void **state) {
    psfm_context *ctx = *state;
    psfm_scene scene = make(ctx);
    box fronts[4 * BLOCKS];
    find_boxes(&scene, 1, 4 * BLOCKS, fronts);
    for (int f = 0; f < 4 * BLOCKS; ++f) {
        double x = fronts[f].high[0] - fronts[f].low[0], y = fronts[f].high[1] - fronts[f].low[1];
        assert_below(fmin(x, y), 1e-9);
        assert_true(fmax(x, y) > 15.0);
    }
    psfm_scene_free(&scene);
}

/* Steps along the way from a camera to a point, none of them well inside a block. */
static void assert_free(const double from[3], const double to[3], const box *blocks) {
    const double inside = 0.7;
    for (double t = 0.0; t < 1.0; t += 0.005) {
        double x = from[0] + t * (to[0] - from[0]), y = from[1] + t * (to[1] - from[1]);
        for (int b = 0; b < BLOCKS; ++b)
            assert_false(x > blocks[b].low[0] + inside && x < blocks[b].high[0] - inside &&
                         y > blocks[b].low[1] + inside && y < blocks[b].high[1] - inside);
    }
}

static void blocks_hide_what_is_behind(void **state) {
    psfm_context *ctx = *state;
    psfm_scene scene = make(ctx);
    box blocks[BLOCKS];
    double center[CAMERAS][3];
    find_boxes(&scene, 4, BLOCKS, blocks);
    for (int i = 0; i < CAMERAS; ++i)
        psfm_model_image_center(&scene.truth.images[i], center[i]);
    for (size_t p = 0; p < scene.truth.num_points; ++p) {
        const psfm_model_point *point = &scene.truth.points[p];
        for (size_t k = 0; k < point->track_length; ++k)
            assert_free(center[point->track[k].image_id - 1], point->xyz, blocks);
    }
    psfm_scene_free(&scene);
}

static void streets_hang_together(void **state) {
    psfm_context *ctx = *state;
    psfm_scene scene = make(ctx);
    uint32_t sets[CAMERAS], num = CAMERAS;
    psfm_sets_init(sets, CAMERAS);
    for (size_t k = 0; k < scene.matches.num_pairs; ++k) {
        const psfm_match_pair *pair = &scene.matches.pairs[k];
        if (pair->num_matches >= 50)
            num -= psfm_sets_unite(sets, pair->view1, pair->view2);
    }
    assert_int_equal(num, 1);
    for (size_t i = 0; i < scene.matches.num_views; ++i)
        assert_true(scene.matches.views[i].num_keypoints > 200);
    psfm_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts_are_planes),
        cmocka_unit_test(blocks_hide_what_is_behind),
        cmocka_unit_test(streets_hang_together),
    };
    return cmocka_run_group_tests_name("synth/city", tests, open_context, close_context);
}
