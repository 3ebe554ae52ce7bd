/* Options of a run by name; what a run does with them is tested through Python. */
#include "test_util.h"

#include "planarsfm/run.h"

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
                                          {"share-cameras", "all"},
                                          {"replace", "on"},
                                          {"opencv-pixels", "off"},
                                          {"features", "sift"},
                                          {"matcher", "nn"},
                                          {"sift.num-octaves", "3"},
                                          {"extract.max-image-size", "800"},
                                          {"mode", "paper"},
                                          {"mode", "robust"},
                                          {"twoview.max-error-px", "3"},
                                          {"guided.enabled", "off"},
                                          {"court", "basketball"},
                                          {"report", "off"}};
    for (size_t k = 0; k < sizeof good / sizeof *good; ++k)
        assert_ok(ctx, psfm_run_settings_set(ctx, settings, good[k][0], good[k][1]));
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    static const char *const bad[][2] = {{"share-cameras", "some"},
                                         {"replace", "yes"},
                                         {"features", "magic"},
                                         {"sift.num-octaves", "many"},
                                         {"sift.nothing", "1"},
                                         {"no-such", "1"},
                                         {"sift", "1"},
                                         {"", "1"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        assert_int_equal(psfm_run_settings_set(ctx, settings, bad[k][0], bad[k][1]),
                         PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), bad[k][0]));
    }
    for (int k = 0; k < 16; ++k)
        (void)psfm_run_settings_set(ctx, settings, "weights", "w");
    assert_int_equal(psfm_run_settings_set(ctx, settings, "weights", "w"), PSFM_ERR_ARGUMENT);
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
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(a_missing_folder_is_named),
    };
    return cmocka_run_group_tests_name("pipeline/run_settings", tests, make, unmake);
}
