/* Numbers as text where the caller's locale has a decimal comma. */
#include "comma_locale.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/base/number_locale.h"
#include "core/base/options.h"
#include "formats/json.h"

static bool is_out_of_room;
locale_t __real_newlocale(int mask, const char *name, locale_t base);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base) {
    return is_out_of_room ? (locale_t)0 : __real_newlocale(mask, name, base);
}

/* In a process of its own, for the locale is made once: rather no context than commas. */
static void without_the_locale_there_is_no_context(void **state) {
    (void)state;
    int code = 0;
    pid_t child = fork();
    if (child == 0) {
        is_out_of_room = true;
        _exit(psfm_context_create() == NULL ? 7 : 0);
    }
    assert_true(child > 0 && waitpid(child, &code, 0) == child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 7);
}

static void a_number_fills_the_text(void **state) {
    (void)state;
    double value = 7.0;
    assert_true(psfm_parse_number("0.5", &value) && value == 0.5);
    assert_true(psfm_parse_number("-2e-3", &value) && value == -2e-3);
    const char *bad[] = {"", "x", "0.5x", "0,5", "nan", "inf", "1e999", "1 2"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
        assert_false(psfm_parse_number(bad[k], &value));
    assert_true(value == -2e-3);
}

static void numbers_are_read_with_a_point(void **state) {
    (void)state;
    char *end;
    double value = 0.0;
    set_comma_locale();
    assert_true(psfm_strtod("0.25,3", &end) == 0.25 && strcmp(end, ",3") == 0);
    assert_true(psfm_parse_number("0.5", &value) && value == 0.5);
    assert_false(psfm_parse_number("0,5", &value));
    leave_comma_locale();
}

typedef struct {
    double size;
} thing_options;

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(thing_options, size, "size", 0.5, 0.25, 1.5, "how large"),
};
static const psfm_option_table table = PSFM_OPTION_TABLE("thing", rows);

static void options_take_and_name_a_point(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    thing_options o;
    psfm_options_init(&table, &o);
    set_comma_locale();
    assert_ok(ctx, psfm_option_set(ctx, &table, rows, "0.75", &o));
    assert_true(o.size == 0.75);
    assert_int_equal(psfm_option_set(ctx, &table, rows, "0,75", &o), PSFM_ERR_ARGUMENT);
    assert_string_equal(psfm_context_message(ctx),
                        "--thing.size: '0,75' is not allowed (0.25 .. 1.5, default 0.5)");
    o.size = 2.5;
    assert_int_equal(psfm_options_check(ctx, &table, &o), PSFM_ERR_ARGUMENT);
    assert_string_equal(psfm_context_message(ctx),
                        "option thing.size: 2.5 is not allowed (0.25 .. 1.5, default 0.5)");
    leave_comma_locale();
    psfm_context_destroy(&ctx);
}

static void json_has_a_point(void **state) {
    (void)state;
    const char *text = "{\"a\":0.5}";
    set_comma_locale();
    cJSON *tree = psfm_json_parse_whole(text, strlen(text));
    assert_non_null(tree);
    assert_true(cJSON_GetObjectItem(tree, "a")->valuedouble == 0.5);
    char *back = psfm_json_print(tree);
    cJSON_Minify(back);
    assert_string_equal(back, text);
    cJSON_free(back);
    cJSON_Delete(tree);
    assert_null(psfm_json_parse_whole("{\"a\":0,5}", 9));
    assert_null(psfm_json_print(NULL));
    leave_comma_locale();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_locale_there_is_no_context), /* first: nobody made it yet */
        cmocka_unit_test(a_number_fills_the_text),
        cmocka_unit_test(numbers_are_read_with_a_point),
        cmocka_unit_test(options_take_and_name_a_point),
        cmocka_unit_test(json_has_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
