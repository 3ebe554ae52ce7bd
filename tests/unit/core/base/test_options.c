#include "test_util.h"

#include "core/base/hash.h"
#include "core/base/options.h"

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
static const psfm_option_table table = PSFM_OPTION_TABLE("thing", rows);

static const psfm_option *find(const char *name) {
    static const psfm_option_group groups[] = {{&table, 0, 1}, {NULL, 0, 0}};
    const psfm_option_group *group;
    return psfm_option_groups_find(groups, 1, name, &group);
}

static psfm_status set(psfm_context *ctx, thing_options *o, const char *name, const char *text) {
    char whole[32];
    snprintf(whole, sizeof whole, "thing.%s", name);
    const psfm_option *row = find(whole);
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
    assert_null(find("thing.colour"));
    assert_null(find("count"));
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
    int depth; /* no option */
} mode_options;

static const psfm_option mode_rows[] = {
    PSFM_OPTION_INT_BY_MODE(mode_options, rounds, "rounds", 3, 0, 0, 10, "how often"),
    PSFM_OPTION_DOUBLE_BY_MODE(mode_options, width, "width", 0.1, 1, 0.001, 100, "how wide"),
    PSFM_OPTION_DOUBLE(mode_options, size, "size", 0.5, 0, 1, "how large"),
};
static const mode_options unlisted = {.depth = 7};
static const psfm_option_table mode_table = PSFM_OPTION_TABLE_FROM("by-mode", mode_rows, unlisted);

/* The row knows the default of either mode, and says it where they differ. */
static void a_mode_may_have_its_own_default(void **state) {
    (void)state;
    mode_options o;
    psfm_options_init(&mode_table, &o);
    assert_true(o.rounds == 3 && o.width == 0.1 && o.size == 0.5 && o.depth == 7);
    o.depth = 0;
    psfm_options_init_paper(&mode_table, &o);
    assert_true(o.rounds == 0 && o.width == 1.0 && o.size == 0.5 && o.depth == 7);
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

static void equal_options_have_an_equal_hash(void **state) {
    (void)state;
    thing_options o;
    psfm_options_init(&table, &o);
    const uint64_t hash = psfm_options_hash(&table, &o, PSFM_HASH_START);
    o.mode = 0;
    assert_true(psfm_options_hash(&table, &o, PSFM_HASH_START) != hash);
    o.mode = 1;
    assert_true(psfm_options_hash(&table, &o, PSFM_HASH_START) == hash);
    o.fast = false;
    assert_true(psfm_options_hash(&table, &o, PSFM_HASH_START) != hash);
}

/* Two structs in a larger one, with and without a prefix, about different things. */
static void groups_find_by_whole_names(void **state) {
    (void)state;
    static const psfm_option_table bare = PSFM_OPTION_TABLE("", rows);
    static const psfm_option_group groups[] = {{&mode_table, 0, 1}, {&bare, 64, 2}, {0}};
    const psfm_option_group *group;
    assert_ptr_equal(psfm_option_groups_find(groups, 3, "by-mode.size", &group), &mode_rows[2]);
    assert_ptr_equal(group, &groups[0]);
    assert_ptr_equal(psfm_option_groups_find(groups, 3, "by_mode_size", &group), &mode_rows[2]);
    assert_ptr_equal(psfm_option_groups_find(groups, 3, "size", &group), &rows[2]);
    assert_ptr_equal(group, &groups[1]);
    assert_null(psfm_option_groups_find(groups, 1, "size", &group));
    assert_null(psfm_option_groups_find(groups, 3, "by-mode-size", &group));
    assert_null(psfm_option_groups_find(groups, 3, "by-mode", &group));
    assert_null(psfm_option_groups_find(groups, 3, "", &group));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_pass_their_check),
        cmocka_unit_test(sets_from_text),
        cmocka_unit_test(a_mode_may_have_its_own_default),
        cmocka_unit_test(groups_find_by_whole_names),
        cmocka_unit_test(equal_options_have_an_equal_hash),
    };
    return cmocka_run_group_tests_name("base/options", tests, NULL, NULL);
}
