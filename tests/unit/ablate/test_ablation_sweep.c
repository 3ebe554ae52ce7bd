/* Readings of the paper's formulas: all can be set, and one that changes much changes the result.
 */
#include "test_util.h"

#include "ablate/ablation_sweep.h"
#include "synth/scene.h"

static void every_reading_can_be_set(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_reconstruct_options options;
    psfm_ablation out[PSFM_MAX_READINGS];
    size_t num = 0;
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    assert_ok(ctx, psfm_ablate_readings(ctx, NULL, 0, &options, 1, out, &num));
    assert_true(num > 10 && num < PSFM_MAX_READINGS);
    cJSON *json = psfm_ablation_readings_to_json(out, num);
    assert_int_equal(cJSON_GetArraySize(json), (int)num);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "rows")),
                     PSFM_NUM_ABLATIONS);
    cJSON_Delete(json);
    psfm_context_destroy(&ctx);
}

/* The first reading changes nothing; one without any of our additions is another method. */
static void readings_change_the_result(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_reconstruct_options options;
    psfm_scene_options scene_options;
    psfm_scene scene = {0};
    psfm_ablation plain, out[PSFM_MAX_READINGS];
    size_t num = 0;
    psfm_options_init(&psfm_scene_option_table, &scene_options);
    scene_options.num_cameras = 12;
    scene_options.off_plane = 0.3;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 3, &scene_options, &scene));
    psfm_ablation_scene one = {scene.matches, scene.truth};
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    assert_ok(ctx, psfm_ablate(ctx, &one, 1, &options, 1, &plain));
    assert_ok(ctx, psfm_ablate_readings(ctx, &one, 1, &options, 1, out, &num));
    assert_memory_equal(&out[0].rows[0].auc, &plain.rows[0].auc, sizeof plain.rows[0].auc);
    assert_memory_not_equal(&out[num - 1].rows[0].auc, &plain.rows[0].auc,
                            sizeof plain.rows[0].auc);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reading_can_be_set),
        cmocka_unit_test(readings_change_the_result),
    };
    return cmocka_run_group_tests_name("ablate/ablation_sweep", tests, NULL, NULL);
}
