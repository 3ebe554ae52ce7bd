/* The ablation on a small arena. */
#include "test_util.h"

#include "ablate/ablation.h"
#include "synth/scene.h"

static psfm_scene make_scene(psfm_context *ctx, uint64_t seed) {
    psfm_scene_options options;
    psfm_scene scene = {0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 24;
    options.off_plane = 0.3;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, seed, &options, &scene));
    return scene;
}

/* Means over three scenes, two seeds each. */
static psfm_ablation ablate(psfm_context *ctx, psfm_scene *scenes,
                            const psfm_reconstruct_options *options) {
    psfm_ablation_scene list[3];
    psfm_ablation ablation;
    for (int k = 0; k < 3; ++k)
        list[k] = (psfm_ablation_scene){scenes[k].matches, scenes[k].truth};
    assert_ok(ctx, psfm_ablate(ctx, list, 3, options, 2, &ablation));
    return ablation;
}

/* Full method, then no pruning, then no confidence: each part carries its share. Mean, sigma
 * and recall are consistent, nothing depends on threads, and the seed is given back. */
static void the_published_order_appears(void **state) {
    (void)state;
    enum { AT_3_DEG = 2 };
    psfm_context *ctx = psfm_context_create();
    psfm_reconstruct_options options;
    psfm_scene scenes[3];
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    psfm_context_set_seed(ctx, 7);
    for (uint64_t k = 0; k < 3; ++k)
        scenes[k] = make_scene(ctx, 31 + k);
    psfm_context_set_threads(ctx, 1);
    psfm_ablation one = ablate(ctx, scenes, &options);
    psfm_context_set_threads(ctx, 2);
    psfm_ablation two = ablate(ctx, scenes, &options);
    assert_true(psfm_context_seed(ctx) == 7);
    assert_int_equal(one.num_runs, 6);
    double auc[PSFM_NUM_ABLATIONS];
    for (int r = 0; r < PSFM_NUM_ABLATIONS; ++r) {
        const psfm_ablation_row *row = &one.rows[r];
        auc[r] = row->auc.mean[AT_3_DEG];
        assert_true(row->recall.mean[AT_3_DEG] >= auc[r]); /* the curve rises up to its end */
        assert_true(row->auc.sigma[AT_3_DEG] >= 0.0);
        assert_memory_equal(&row->auc, &two.rows[r].auc, sizeof row->auc);
        assert_memory_equal(&row->recall, &two.rows[r].recall, sizeof row->recall);
    }
    assert_true(auc[0] > 85.0);
    assert_true(auc[0] > auc[1] + 5.0);            /* pruning off */
    assert_true(auc[0] > auc[2] + 40.0);           /* confidence off */
    assert_true(auc[2] + 2.0 > auc[3]);            /* both off */
    assert_true(auc[5] > auc[4] && auc[6] > 70.0); /* positions: rigid, agreeing */
    assert_true(one.rows[1].auc.sigma[AT_3_DEG] > 1.0);
    for (int k = 0; k < 3; ++k)
        psfm_scene_free(&scenes[k]);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_order_appears),
    };
    return cmocka_run_group_tests_name("ablate/ablation", tests, NULL, NULL);
}
