/* Options of a run by name; what a run does with them is tested through Python. */
#include "test_util.h"

#include "sfm/registry.h"

static psfm_context *ctx;
static psfm_run_settings *settings;

static int make(void **state) {
    (void)state;
    ctx = psfm_context_create();
    settings = psfm_run_settings_create();
    return ctx == NULL || settings == NULL;
}

static int unmake(void **state) {
    (void)state;
    psfm_run_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
    psfm_run_settings_destroy(&settings); /* again: nothing to do */
    return settings != NULL;
}

static void names_of_the_command_are_known(void **state) {
    (void)state;
    static const char *const good[][2] = {{"cameras", "gt"},
                                          {"cameras", "other"},
                                          {"camera", "PINHOLE,1,1,1,1,1,1"},
                                          {"masks", "m"},
                                          {"images-list", "l.txt"},
                                          {"pairs", "ring:2"},
                                          {"weights", "a"},
                                          {"weights", "b"},
                                          {"max-size", "700"},
                                          {"effort", "low"},
                                          {"plane-points", "hard"},
                                          {"no-report", "on"},
                                          {"sift_max_num_features", "200"},
                                          {"bundle_refine", "none"},
                                          {"distance", "a b.jpg:1,2 c d.jpg:3,4.5 6"},
                                          {"share-cameras", "all"},
                                          {"replace", "on"},
                                          {"opencv-pixels", "off"},
                                          {"features", "sift"},
                                          {"matcher", "nn"},
                                          {"sift.max-num-features", "300"},
                                          {"extract.max-image-size", "800"},
                                          {"mode", "paper"},
                                          {"mode", "robust"},
                                          {"twoview.max-error-px", "3"},
                                          {"guided.enabled", "off"},
                                          {"court", "basketball"},
                                          {"no-report", "on"}};
    for (size_t k = 0; k < sizeof good / sizeof *good; ++k)
        assert_ok(ctx, psfm_run_settings_set(ctx, settings, good[k][0], good[k][1]));
    assert_string_equal(settings->folder.intrinsics.cameras_path, "other");
    assert_string_equal(settings->match.pairs, "ring:2");
    assert_int_equal(settings->folder.weights.num, 2);
    assert_string_equal(settings->match.weights.paths[1], "b");
}

/* The last names of a mode that is not changed again. */
static void values_land_in_the_options(void **state) {
    (void)state;
    assert_ok(ctx, psfm_run_settings_set(ctx, settings, "max-size", "700"));
    assert_ok(ctx, psfm_run_settings_set(ctx, settings, "plane_points", "hard"));
    assert_ok(ctx, psfm_run_settings_set(ctx, settings, "distance", "a.jpg:1,2 b.jpg:3,4 5"));
    assert_ok(ctx, psfm_run_settings_set(ctx, settings, "distance", "a b.jpg:1,2 c d.jpg:3,4.5 6"));
    const psfm_known_distance *known = &settings->settings.options.frame.distance;
    assert_int_equal(settings->folder.extract.max_image_size, 700);
    assert_int_equal(settings->settings.options.refine.bundle.planes, PSFM_PLANES_HARD);
    assert_string_equal(known->image1, "a b.jpg");
    assert_string_equal(known->image2, "c d.jpg");
    assert_true(known->xy2[1] == 4.5 && known->metres == 6.0);
}

/* Whatever was in the memory before. */
static void every_table_has_its_defaults(void **state) {
    (void)state;
    psfm_run_options made;
    memset(&made, 0x7f, sizeof made);
    psfm_run_options_init(PSFM_MODE_DEFAULT, &made);
    for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g)
        for (size_t k = 0; k < g->table->num_rows; ++k)
            assert_true(psfm_option_value(&g->table->rows[k], (char *)&made + g->offset) ==
                        g->table->rows[k].value);
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"share-cameras", "some"},
                                         {"replace", "yes"},
                                         {"features", "magic"},
                                         {"sift.max-num-features", "many"},
                                         {"sift.nothing", "1"},
                                         {"no-such", "1"},
                                         {"distance", "a:1,2"},
                                         {"distance", "a:1,2 b:3,4 far"},
                                         {"scale", "0"},
                                         {"ambiguous", "never"},
                                         {"images", "."},
                                         {"sift", "1"},
                                         {"", "1"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        assert_int_equal(psfm_run_settings_set(ctx, settings, bad[k][0], bad[k][1]),
                         PSFM_ERR_ARGUMENT);
        if (strcmp(bad[k][0], "ambiguous") != 0) /* another name for ambiguity.models */
            assert_non_null(strstr(psfm_context_message(ctx), bad[k][0]));
    }
}

static void a_missing_folder_is_named(void **state) {
    (void)state;
    assert_int_equal(psfm_run_photographs(ctx, "/no/photos", NULL, "/tmp/psfm_no_run"),
                     PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "/no/photos"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_command_are_known),
        cmocka_unit_test(values_land_in_the_options),
        cmocka_unit_test(every_table_has_its_defaults),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(a_missing_folder_is_named),
    };
    return cmocka_run_group_tests_name("sfm/run_settings", tests, make, unmake);
}
