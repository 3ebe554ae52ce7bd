/* Whole reconstructions of made-up scenes: a good one is called right, one that its photographs do
 * not decide, or with wrong intrinsics, is not. */
#include "core/verdict/verdict.h"

#include "reconstruct_util.h"
#include "synth/scene.h"
#include "test_util.h"

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_sfm found;
} fixture;

static psfm_scene_options usual(void) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 16;
    options.num_points = 400;
    return options;
}

/* `focal` multiplies the focal lengths that the reconstruction is told. */
static void reconstruct(fixture *f, const psfm_scene_options *scene, double focal,
                        bool stability_tests) {
    psfm_reconstruct_options options;
    *f = (fixture){.ctx = psfm_context_create()};
    assert_ok(f->ctx, psfm_scene_make(f->ctx, PSFM_SCENE_ARENA, 5, scene, &f->scene));
    psfm_match_set *set = &f->scene.matches;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        set->cameras[c].params[0] *= focal;
        set->cameras[c].params[1] *= focal;
    }
    assert_ok(f->ctx, psfm_match_set_compute_rays(f->ctx, set, NULL));
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    options.refine.control.stability_tests = stability_tests;
    assert_ok(f->ctx, reconstruct_set(f->ctx, set, &options, &f->found));
}

static void free_fixture(fixture *f) {
    reconstruct_close(&f->found);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

static bool has_reason(const psfm_model_verdict *model, const char *name) {
    enum { MOST = 3 };
    psfm_verdict_reason reasons[MOST];
    int num = psfm_verdict_reasons(model, MOST, reasons);
    for (int k = 0; k < num; ++k)
        if (strcmp(reasons[k].name, name) == 0)
            return strlen(reasons[k].text) > 0 && strlen(reasons[k].advice) > 0;
    return false;
}

static void test_a_good_model_is_called_right(void **state) {
    fixture f;
    psfm_scene_options options = usual();
    (void)state;
    reconstruct(&f, &options, 1.0, true);
    const psfm_verdicts *verdicts = &f.found.verdicts;
    assert_int_equal(verdicts->num_models, 1);
    assert_true(psfm_is_called_right(&verdicts->models[0]));
    assert_true(verdicts->models[0].probability > 0.9 && verdicts->models[0].probability < 1.0);
    assert_close(verdicts->models[0].features.images, 16.0, 0.0);
    assert_close(verdicts->models[0].features.rejected, 0.0, 0.0);
    assert_below(verdicts->models[0].sigma_factor, 2.5);
    for (uint32_t v = 0; v < verdicts->num_images; ++v)
        assert_true(verdicts->images[v].probability > 0.8);
    free_fixture(&f);
}

static void test_duplicates_are_doubtful(void **state) {
    fixture f;
    psfm_scene_options options = usual();
    (void)state;
    options.duplicates = 0.4;
    reconstruct(&f, &options, 1.0, true);
    const psfm_model_verdict *model = &f.found.verdicts.models[0];
    assert_false(psfm_is_called_right(model));
    assert_true(model->features.common_rotation > 0.1);
    assert_true(has_reason(model, "common_rotation"));
    free_fixture(&f);
}

static void test_wrong_focal_lengths_are_doubtful(void **state) {
    fixture f;
    psfm_scene_options options = usual();
    (void)state;
    reconstruct(&f, &options, 1.15, true);
    const psfm_model_verdict *model = &f.found.verdicts.models[0];
    assert_false(psfm_is_called_right(model));
    assert_true(model->features.focal_shift_deg > 0.5);
    assert_true(has_reason(model, "focal_shift_deg"));
    free_fixture(&f);
}

static void test_a_chain_is_not_confirmed(void **state) {
    fixture f;
    psfm_scene_options options = usual();
    (void)state;
    options.neighbours = 1;
    options.open_chain = true;
    reconstruct(&f, &options, 1.0, true);
    const psfm_model_verdict *model = &f.found.verdicts.models[0];
    assert_false(psfm_is_confirmed(&model->features));
    assert_false(psfm_is_called_right(model));
    assert_int_equal(psfm_model_word(model), PSFM_PLAUSIBLE); /* nothing speaks against it */
    assert_true(has_reason(model, "two_edge_cuts"));
    free_fixture(&f);
}

/* Data that speak against a model make it doubtful, whatever its probability; a guess does not. */
static void test_what_the_words_mean(void **state) {
    const psfm_model_features good = {
        .images = 20, .seen = 1, .track_length = 5, .parallax_deg = 30};
    psfm_model_verdict model = {.features = good, .probability = 0.99};
    psfm_image_verdict image = {.probability = 0.5};
    (void)state;
    assert_int_equal(psfm_model_word(&model), PSFM_RIGHT);
    model.features.guessed = 0.1;
    assert_int_equal(psfm_model_word(&model), PSFM_PLAUSIBLE);
    assert_true(has_reason(&model, "guessed"));
    model.features = good;
    model.features.focal_shift_deg = 0.8;
    assert_int_equal(psfm_model_word(&model), PSFM_DOUBTFUL);
    model.features = good;
    model.features.seen = 0.1;
    assert_int_equal(psfm_model_word(&model), PSFM_DOUBTFUL);
    assert_true(has_reason(&model, "seen"));
    model.features = good;
    model.features.no_lens = 0.1;
    assert_int_equal(psfm_model_word(&model), PSFM_DOUBTFUL);
    assert_true(has_reason(&model, "no_lens"));
    model.features = good;
    model.features.worst_unexplained = 0.6;
    assert_int_equal(psfm_model_word(&model), PSFM_DOUBTFUL);
    assert_true(has_reason(&model, "unexplained"));
    assert_int_equal(psfm_image_word(&image, PSFM_RIGHT), PSFM_PLAUSIBLE);
    image.features.unexplained = 0.6;
    assert_int_equal(psfm_image_word(&image, PSFM_RIGHT), PSFM_DOUBTFUL);
    image = (psfm_image_verdict){.probability = 0.95};
    assert_int_equal(psfm_image_word(&image, PSFM_RIGHT), PSFM_RIGHT);
    assert_int_equal(psfm_image_word(&image, PSFM_PLAUSIBLE), PSFM_PLAUSIBLE);
}

/* What keeps a likely model from being called right. */
static void test_what_must_be_confirmed(void **state) {
    const psfm_model_features good = {
        .images = 20, .seen = 1, .track_length = 5, .parallax_deg = 30};
    psfm_model_verdict model = {.features = good, .probability = 0.99};
    (void)state;
    assert_true(psfm_is_called_right(&model));
    model.features.runner_up =
        0.2; /* weighed, and as many pairs for the weak_connection as against it */
    model.features.weak_connection = 1.0;
    assert_true(psfm_is_called_right(&model));
    model.features.weak_connection = 3.0;
    assert_false(psfm_is_called_right(&model));
    assert_true(has_reason(&model, "two_edge_cuts"));
    model.features = good;
    model.features.shift = 0.4; /* decided */
    assert_true(psfm_is_called_right(&model));
    model.features.shift = 0.6;
    assert_false(psfm_is_called_right(&model));
    assert_true(has_reason(&model, "ambiguity"));
    model.features.shift = 0.0;
    model.features.flip = 0.9;
    assert_false(psfm_is_called_right(&model));
    model.features = good;
    model.features.images = 3; /* of three photographs */
    assert_true(psfm_is_called_right(&model));
    model.features.left_out = 0.8; /* of fifteen */
    assert_false(psfm_is_called_right(&model));
    assert_true(has_reason(&model, "left_out"));
}

static void test_without_probes_there_is_no_verdict(void **state) {
    fixture f;
    psfm_scene_options options = usual();
    (void)state;
    reconstruct(&f, &options, 1.0, false);
    assert_null(f.found.verdicts.models);
    assert_int_equal(f.found.num_models, 1);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_model_is_called_right),
        cmocka_unit_test(test_duplicates_are_doubtful),
        cmocka_unit_test(test_wrong_focal_lengths_are_doubtful),
        cmocka_unit_test(test_a_chain_is_not_confirmed),
        cmocka_unit_test(test_what_must_be_confirmed),
        cmocka_unit_test(test_what_the_words_mean),
        cmocka_unit_test(test_without_probes_there_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
