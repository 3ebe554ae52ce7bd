/* Verification fills the evidence with the geometry of each pair, and nothing else. */
#include "refine/evidence.h"

#include "scene_truth.h"

static void pairs_get_their_geometry(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 4;
    options.num_points = 200;
    options.outliers = 0.2;
    options.noise_px = 0.0;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 9, &options, &scene));
    scene.matches.pairs[1].num_matches = 3;
    psfm_evidence evidence = {.set = &scene.matches};
    assert_ok(ctx, psfm_evidence_verify(ctx, NULL, &evidence));
    assert_int_equal(evidence.num_pairs, scene.matches.num_pairs);
    for (size_t p = 0; p < evidence.num_pairs; ++p) {
        const psfm_match_pair *pair = &scene.matches.pairs[p];
        const psfm_two_view *view = &evidence.two_views[p];
        size_t right = 0, found = 0;
        assert_int_equal(view->kind, p == 1 ? PSFM_PAIR_FEW_MATCHES : PSFM_PAIR_OK);
        if (p == 1)
            continue;
        for (size_t k = 0; k < pair->num_matches; ++k)
            right += is_right_match(&scene, pair, k);
        for (size_t k = 0; k < view->homographies[0].num_inliers; ++k)
            found += is_right_match(&scene, pair, view->homographies[0].inliers[k]);
        assert_int_equal(found, right); /* one plane, no noise */
    }
    psfm_evidence_free(&evidence);
    assert_true(evidence.two_views == NULL && evidence.set == NULL);
    psfm_evidence_free(&evidence); /* twice is fine */
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_get_their_geometry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
