/* Several models in one set: nothing of one may touch the other. */
#include "test_util.h"

#include "reconstruct_util.h"

#include "eval/evaluate.h"
#include "synth/scene.h"

enum { NUM_CAMERAS = 20 };

/* A scene whose images before and from `cut` on have no pair in common. */
static psfm_scene make_cut_scene(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed,
                                 uint32_t cut) {
    psfm_scene_options options;
    psfm_scene scene = {0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_CAMERAS;
    assert_ok(ctx, psfm_scene_make(ctx, kind, seed, &options, &scene));
    psfm_match_set *set = &scene.matches;
    for (size_t p = 0; p < set->num_pairs; ++p)
        if ((set->pairs[p].view1 < cut) != (set->pairs[p].view2 < cut))
            set->pairs[p].num_matches = 0;
    return scene;
}

/* Every model stands on its own dominant plane: z = 0, its cameras above it at distance 1. */
static void check_frames(const psfm_match_set *set, const psfm_sfm *r) {
    const psfm_poses *poses = &r->solution.poses;
    const psfm_scene_planes *planes = &r->refined.planes;
    for (uint32_t c = 0; c < r->solution.num_components; ++c) {
        const psfm_scene_plane *plane = NULL;
        size_t below = 0, nearer = 0, num = 0;
        for (uint32_t k = 0; plane == NULL && k < planes->num_planes; ++k)
            plane = planes->planes[k].component == c ? &planes->planes[k] : NULL;
        assert_non_null(plane);
        assert_close(plane->normal[2], 1, 1e-9);
        assert_close(plane->distance, 0, 1e-9);
        for (size_t v = 0; v < set->num_views; ++v) {
            if (poses->component[v] != c)
                continue;
            if (!(poses->center[v][2] > 0.0))
                ++below;
            if (poses->center[v][2] < 1.0)
                ++nearer;
            ++num;
        }
        assert_int_equal(below, 0);
        assert_in_range(nearer, (num - 1) / 2, num / 2 + 1);
    }
}

/* Points, planes and images agree on their models. */
static void check_members(const psfm_sfm *r) {
    const psfm_structure *st = &r->refined.structure;
    const psfm_scene_planes *planes = &r->refined.planes;
    size_t in_models = 0;
    for (size_t p = 0; p < st->num_points; ++p) {
        for (size_t e = st->tracks.begin[p]; e < st->tracks.begin[p + 1]; ++e)
            assert_int_equal(r->solution.poses.component[st->tracks.view[e]], st->component[p]);
        if (planes->point_plane[p] >= 0)
            assert_int_equal(planes->planes[planes->point_plane[p]].component, st->component[p]);
    }
    for (size_t m = 0; m < r->num_models; ++m)
        in_models += r->models[m].num_points;
    assert_int_equal(in_models, st->num_points);
}

static void check_scene(psfm_context *ctx, psfm_scene_kind kind, uint64_t seed, uint32_t cut) {
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_evaluation e;
    psfm_scene scene = make_cut_scene(ctx, kind, seed, cut);
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    print_message("%s, seed %d, cut at %u: %zu models, %u planes\n", psfm_scene_kind_name(kind),
                  (int)seed, cut, r.num_models, r.refined.planes.num_planes);
    assert_true(r.num_models >= 2);
    assert_ok(ctx, psfm_evaluate(ctx, &scene.truth, r.models, r.num_models, &e));
    assert_int_equal(e.num_registered, NUM_CAMERAS);
    check_members(&r);
    check_frames(&scene.matches, &r);
    reconstruct_close(&r);
    psfm_scene_free(&scene);
}

/* Planes of two models that coincide by accident are two: taken for one, it is moved once for each
 * model, and both stand wrongly. */
static void models_keep_their_planes_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const psfm_scene_kind kinds[] = {PSFM_SCENE_ARENA, PSFM_SCENE_FIELD, PSFM_SCENE_FACADE};
    const uint32_t cuts[] = {4, 7, 10};
    for (int k = 0; k < 3; ++k)
        for (uint64_t seed = 1; seed <= 3; ++seed)
            for (int c = 0; c < 3; ++c)
                check_scene(ctx, kinds[k], seed, cuts[c]);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_keep_their_planes_apart),
    };
    return cmocka_run_group_tests_name("sfm/components", tests, NULL, NULL);
}
