#include "images/photometric/track_plan.h"

#include "core/base/rng.h"
#include "test_util.h"

enum { NUM_POINTS = 1000, PER_IMAGE = 50 };

/* Points at random pixels; the first half seen by one more view. */
typedef struct {
    psfm_camera camera;
    psfm_view views[3];
    double xy[3][NUM_POINTS][2];
    psfm_match_set set;
    size_t begin[NUM_POINTS + 1];
    uint32_t view[3 * NUM_POINTS], keypoint[3 * NUM_POINTS];
    psfm_structure structure;
} scene;

static void make_scene(scene *s) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    size_t num = 0;
    *s = (scene){.camera = {.width = 640, .height = 480}};
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        uint32_t length = p < NUM_POINTS / 2 ? 3 : 2;
        for (uint32_t v = 0; v < length; ++v, ++num) {
            s->xy[v][p][0] = psfm_rng_range(&rng, 0.0, 640.0);
            s->xy[v][p][1] = psfm_rng_range(&rng, 0.0, 480.0);
            s->view[num] = v;
            s->keypoint[num] = p;
        }
        s->begin[p + 1] = num;
    }
    for (int v = 0; v < 3; ++v)
        s->views[v] = (psfm_view){.num_keypoints = NUM_POINTS, .keypoints = s->xy[v]};
    s->set = (psfm_match_set){
        .cameras = &s->camera, .num_cameras = 1, .views = s->views, .num_views = 3};
    s->structure.num_points = NUM_POINTS;
    s->structure.tracks = (psfm_tracks){NUM_POINTS, s->begin, s->view, s->keypoint};
}

static void long_tracks_cover_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    bool chosen[NUM_POINTS];
    size_t num_long = 0, num_short = 0;
    make_scene(&s);
    assert_ok(ctx, psfm_points_cover(ctx, &s.set, &s.structure, PER_IMAGE, chosen));
    for (int p = 0; p < NUM_POINTS; ++p)
        *(p < NUM_POINTS / 2 ? &num_long : &num_short) += chosen[p];
    assert_true(chosen[0]); /* nothing was taken before it */
    assert_true(num_long > 25 && num_long <= 3 * PER_IMAGE);
    assert_true(num_short < num_long / 2); /* little room was left */
    psfm_context_destroy(&ctx);
}

/* A point that lies in taken squares in most of its images would add nothing. */
static void crowded_points_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    bool chosen[NUM_POINTS];
    size_t num = 0;
    make_scene(&s);
    for (int p = 0; p < NUM_POINTS; ++p)
        for (int v = 0; v < 3; ++v)
            s.xy[v][p][0] = s.xy[v][p][1] = -5.0; /* outside: the corner's square */
    assert_ok(ctx, psfm_points_cover(ctx, &s.set, &s.structure, PER_IMAGE, chosen));
    for (int p = 0; p < NUM_POINTS; ++p)
        num += chosen[p];
    assert_true(num == 1 && chosen[0]);
    psfm_context_destroy(&ctx);
}

static void no_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    make_scene(&s);
    s.structure = (psfm_structure){0};
    assert_ok(ctx, psfm_points_cover(ctx, &s.set, &s.structure, PER_IMAGE, NULL));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_tracks_cover_first),
        cmocka_unit_test(crowded_points_are_left_out),
        cmocka_unit_test(no_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
