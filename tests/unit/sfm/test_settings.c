/* Settings from text. */
#include "comma_locale.h"

#include "sfm/registry.h"

static void values_land_in_the_options(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_settings *s = psfm_settings_create();
    assert_ok(ctx, psfm_settings_set(ctx, s, "twoview.max-error-px", "2.5"));
    assert_ok(ctx, psfm_settings_set(ctx, s, "scale", "0.5"));
    assert_ok(ctx, psfm_settings_set_distance(ctx, s, "a.jpg:1.5,2", "b:c.jpg:3,4.25", "7.5"));
    const psfm_known_distance *d = &s->options.frame.distance;
    assert_true(s->options.two_view.max_error_px == 2.5 && s->options.frame.scale == 0.5);
    assert_string_equal(d->image1, "a.jpg");
    assert_string_equal(d->image2, "b:c.jpg");
    assert_true(d->xy1[0] == 1.5 && d->xy1[1] == 2.0 && d->xy2[0] == 3.0 && d->xy2[1] == 4.25);
    assert_true(d->metres == 7.5);
    psfm_settings_destroy(&s);
    psfm_context_destroy(&ctx);
}

static void bad_values_change_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_settings *s = psfm_settings_create();
    const char *bad[][2] = {{"scale", "0"},   {"scale", "-1"},     {"scale", "1x"},
                            {"mode", "odd"},  {"no-report", "no"}, {"twoview", "1"},
                            {"no.such", "1"}, {"scale", ""},       {"scale", "nan"},
                            {"scale", "inf"}, {"images", "/no"},   {"scale", "0,5"}};
    double scale = s->options.frame.scale;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
        assert_int_not_equal(psfm_settings_set(ctx, s, bad[k][0], bad[k][1]), PSFM_OK);
    assert_int_equal(psfm_settings_set_distance(ctx, s, "a:1,2", "b:3", "1"), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_settings_set_distance(ctx, s, "a:1,2", "b:3,4", "0"), PSFM_ERR_ARGUMENT);
    assert_true(s->options.frame.scale == scale && s->options.frame.distance.image1 == NULL);
    psfm_settings_destroy(&s);
    psfm_context_destroy(&ctx);
}

/* What help and manual say of a row is what each mode starts with. */
static void defaults_are_those_of_the_rows(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_settings *s = psfm_settings_create();
    psfm_reconstruct_options expected;
    for (int mode = PSFM_MODE_ROBUST; mode <= PSFM_MODE_PAPER; ++mode) {
        assert_ok(ctx, psfm_settings_set(ctx, s, "mode", psfm_mode_name((psfm_mode)mode)));
        memset(&expected, 0, sizeof expected);
        expected.mode = mode;
        for (const psfm_option_group *g = psfm_run_groups; g->table != NULL; ++g) {
            char *own =
                (char *)&expected + g->offset - offsetof(psfm_run_options, settings.options);
            if (!(g->parts & PSFM_OF_POSES))
                continue;
            if (g->table->unlisted != NULL)
                memcpy(own, g->table->unlisted, g->table->size);
            for (size_t k = 0; k < g->table->num_rows; ++k) {
                char value[64];
                const psfm_option *row = &g->table->rows[k];
                double number = mode == PSFM_MODE_PAPER ? row->paper_value : row->value;
                snprintf(value, sizeof value, "%.17g", number);
                assert_ok(ctx,
                          psfm_option_set(ctx, g->table, row,
                                          row->choices ? row->choices[(int)number] : value, own));
            }
        }
        assert_memory_equal(&expected, &s->options, sizeof expected);
    }
    assert_true(s->options.skeleton.similarity.normal_bandwidth_rad == 0.14);
    assert_int_equal(s->options.skeleton.lud.rounds, 0);
    psfm_settings_destroy(&s);
    psfm_context_destroy(&ctx);
}

/* A program around the library may have a decimal comma; what it hands over has a point. */
static void a_comma_locale_changes_nothing(void **state) {
    set_comma_locale();
    values_land_in_the_options(state);
    bad_values_change_nothing(state);
    leave_comma_locale();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_land_in_the_options),
        cmocka_unit_test(bad_values_change_nothing),
        cmocka_unit_test(defaults_are_those_of_the_rows),
        cmocka_unit_test(a_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
