#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/escape.h"
#include "formats/json.h"

typedef void printer(FILE *file, const char *text);

static void plain(FILE *file, const char *text) {
    psfm_print_plain(file, text);
}

static void check(printer *print, const char *text, const char *wanted) {
    char *got = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&got, &size);
    assert_non_null(file);
    print(file, text);
    fclose(file);
    assert_string_equal(got, wanted);
    free(got);
}

static void plain_text_stays_on_its_line(void **state) {
    (void)state;
    check(plain, "a b/\xc3\xa9.jpg", "a b/\xc3\xa9.jpg");
    check(plain, "a\nb\r\t\x7f", "a\\x0Ab\\x0D\\x09\\x7F");
    check(plain, "\x1b]0;title\x07", "\\x1B]0;title\\x07");
    check(plain, "\xc2\x9b!", "\\xC2\\x9B!");             /* CSI in one character */
    check(plain, "\xe2\x80\xa8", "\\xE2\\x80\\xA8");      /* line separator */
    check(plain, "\xff\xc3(", "\\xFF\\xC3(");             /* not UTF-8 */
    check(plain, "\xed\xa0\x80", "\\xED\\xA0\\x80");      /* surrogate */
    check(plain, "\xf0\x9f\x8f\x80", "\xf0\x9f\x8f\x80"); /* a basketball */
    FILE *file = tmpfile();
    assert_int_equal(psfm_print_plain(file, "\xc3\xa9\n"), 5);
    fclose(file);
}

static void xml_is_well_formed(void **state) {
    (void)state;
    check(psfm_print_xml, "a<b>&\"c\"", "a&#60;b&#62;&#38;&#34;c&#34;");
    check(psfm_print_xml, "\x01\xff\xc3\xa9", "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
}

static void trees_print_as_utf8(void **state) {
    (void)state;
    cJSON *tree = cJSON_CreateObject();
    cJSON_AddStringToObject(tree, "name", "a\xff\n\xc3\xa9");
    char *text = psfm_json_print(tree);
    cJSON_Minify(text);
    assert_string_equal(text, "{\"name\":\"a\xef\xbf\xbd\\n\xc3\xa9\"}");
    cJSON_free(text);
    cJSON_Delete(tree);
}

static void copies_survive_failing_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *copy = NULL;
    psfm_alloc_fail_after(1);
    assert_int_equal(psfm_utf8_copy(ctx, "a", &copy), PSFM_ERR_MEMORY);
    psfm_alloc_fail_after(0);
    assert_null(copy);
    assert_ok(ctx, psfm_utf8_copy(ctx, "\x80x", &copy));
    assert_string_equal(copy, "\xef\xbf\xbdx");
    free(copy);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays_on_its_line),
        cmocka_unit_test(xml_is_well_formed),
        cmocka_unit_test(trees_print_as_utf8),
        cmocka_unit_test(copies_survive_failing_memory),
    };
    return cmocka_run_group_tests_name("base/escape", tests, NULL, NULL);
}
