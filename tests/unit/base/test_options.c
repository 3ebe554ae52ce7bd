#include "test_util.h"

#include "base/options.h"

typedef struct {
    bool fast;
    int count;
    double size;
    int mode;
} thing_options;

static const char *const modes[] = {"plain", "fancy", NULL};
static const psfm_option rows[] = {
    PSFM_OPTION_BOOL(thing_options, fast, "fast", 1, "be quick"),
    PSFM_OPTION_INT(thing_options, count, "count", 3, 1, 10, "how many"),
    PSFM_OPTION_DOUBLE(thing_options, size, "size", 0.5, 0, 1, "how large"),
    PSFM_OPTION_CHOICE(thing_options, mode, "mode", 1, modes, "which way"),
};
static const psfm_option_table table = {"thing", rows, 4};

static psfm_status set(psfm_context *ctx, thing_options *o, const char *name, const char *text) {
    const psfm_option *row = psfm_options_find(&table, name);
    assert_non_null(row);
    return psfm_option_set(ctx, &table, row, text, o);
}

static void defaults_pass_their_check(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    thing_options o;
    psfm_options_init(&table, &o);
    assert_true(o.fast && o.count == 3 && o.size == 0.5 && o.mode == 1);
    assert_ok(ctx, psfm_options_check(ctx, &table, &o));
    o.size = NAN;
    assert_int_equal(psfm_options_check(ctx, &table, &o), PSFM_ERR_ARGUMENT);
    assert_null(psfm_options_find(&table, "colour"));
    psfm_context_destroy(&ctx);
}

static void sets_from_text(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    thing_options o;
    psfm_options_init(&table, &o);
    assert_ok(ctx, set(ctx, &o, "fast", "off"));
    assert_ok(ctx, set(ctx, &o, "count", "10"));
    assert_ok(ctx, set(ctx, &o, "size", "1e-3"));
    assert_ok(ctx, set(ctx, &o, "mode", "plain"));
    assert_true(!o.fast && o.count == 10 && o.size == 1e-3 && o.mode == 0);
    const char *bad[][2] = {{"fast", "maybe"}, {"count", "11"},  {"count", "2.5"}, {"count", ""},
                            {"size", "nan"},   {"size", "0.5x"}, {"size", "-1"},   {"mode", "odd"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
        assert_int_equal(set(ctx, &o, bad[k][0], bad[k][1]), PSFM_ERR_ARGUMENT);
    assert_string_equal(psfm_context_message(ctx),
                        "--thing.mode: 'odd' is not allowed (plain | fancy, default fancy)");
    assert_true(!o.fast && o.count == 10 && o.size == 1e-3 && o.mode == 0);
    psfm_context_destroy(&ctx);
}

typedef struct {
    int rounds;
    double width;
    double size;
} mode_options;

static const psfm_option mode_rows[] = {
    PSFM_OPTION_INT_BY_MODE(mode_options, rounds, "rounds", 3, 0, 0, 10, "how often"),
    PSFM_OPTION_DOUBLE_BY_MODE(mode_options, width, "width", 0.1, 1, 0.001, 100, "how wide"),
    PSFM_OPTION_DOUBLE(mode_options, size, "size", 0.5, 0, 1, "how large"),
};
static const psfm_option_table mode_table = {"by-mode", mode_rows, 3};

/* The row knows the default of either mode, and says it where they differ. */
static void a_mode_may_have_its_own_default(void **state) {
    (void)state;
    mode_options o;
    psfm_options_init(&mode_table, &o);
    assert_true(o.rounds == 3 && o.width == 0.1 && o.size == 0.5);
    psfm_options_init_paper(&mode_table, &o);
    assert_true(o.rounds == 0 && o.width == 1.0 && o.size == 0.5);
    const char *said[] = {"0 .. 10, default 3, paper mode 0",
                          "0.001 .. 100, default 0.1, paper mode 1", "0 .. 1, default 0.5"};
    for (size_t k = 0; k < 3; ++k) {
        char text[64], little[8];
        psfm_option_describe(&mode_rows[k], text, sizeof text);
        assert_string_equal(text, said[k]);
        psfm_option_describe(&mode_rows[k], little, sizeof little);
        assert_memory_equal(little, said[k], 7);
        assert_int_equal(little[7], 0);
    }
}

static void writes_json(void **state) {
    (void)state;
    thing_options o;
    psfm_options_init(&table, &o);
    cJSON *json = psfm_options_to_json(&table, &o);
    char *text = cJSON_PrintUnformatted(json);
    assert_string_equal(text, "{\"fast\":true,\"count\":3,\"size\":0.5,\"mode\":\"fancy\"}");
    cJSON_free(text);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_pass_their_check),
        cmocka_unit_test(sets_from_text),
        cmocka_unit_test(a_mode_may_have_its_own_default),
        cmocka_unit_test(writes_json),
    };
    return cmocka_run_group_tests_name("base/options", tests, NULL, NULL);
}
