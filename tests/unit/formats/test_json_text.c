#include "core/base/escape.h"
#include "formats/json_text.h"
#include "test_util.h"

/* What is printed; free it. */
static char *printed(const char *text) {
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    psfm_print_json_string(file, text);
    assert_int_equal(fclose(file), 0);
    return out;
}

static void check(const char *text, const char *expected) {
    char *out = printed(text);
    assert_string_equal(out, expected);
    free(out);
}

static void plain_text_stays(void **state) {
    (void)state;
    check("", "\"\"");
    check("a b/c.jpg", "\"a b/c.jpg\"");
    check("\xc3\xa9\xe2\x82\xac\xf0\x9f\x93\xb7", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x93\xb7\"");
}

static void nothing_can_end_a_script(void **state) {
    (void)state;
    check("</script>&", "\"\\u003c/script\\u003e\\u0026\"");
    check("<!--", "\"\\u003c!--\"");
    check("\"\\\n\x7f", "\"\\u0022\\u005c\\u000a\\u007f\"");
    check("\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"");
}

static void broken_utf8_is_replaced(void **state) {
    (void)state;
    check("\xff", "\"\\ufffd\"");
    check("a\xc3", "\"a\\ufffd\"");                                  /* cut off */
    check("\xc0\xaf", "\"\\ufffd\\ufffd\"");                         /* overlong */
    check("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");              /* a surrogate */
    check("\xf4\x90\x80\x80!", "\"\\ufffd\\ufffd\\ufffd\\ufffd!\""); /* beyond Unicode */
}

/* What is printed of a text, NULL if it is not JSON; free it. */
static char *again(const char *text, const char *hidden) {
    char *out = NULL;
    size_t size = 0;
    psfm_json_value value;
    if (!psfm_json_text_check(text, strlen(text), &value))
        return NULL;
    FILE *file = open_memstream(&out, &size);
    psfm_json_print_value(file, value, psfm_json_find(value, hidden));
    assert_int_equal(fclose(file), 0);
    return out;
}

static void texts_survive(void **state) {
    (void)state;
    const char *text = "{\"a\":[1,2.5,-1e-07,true,false,null],\"b\":{\"c\":\"x\"},\"d\":[]}";
    char *out = again(text, "");
    assert_string_equal(out, text);
    free(out);
    out = again(" { \"a\" : [ 1 , \"<\\u00e9\\ud83d\\udcf7\\\"]\" ] , \"e\":1e999 }\n", "");
    assert_string_equal(out, "{\"a\":[1,\"\\u003c\xc3\xa9\xf0\x9f\x93\xb7\\u0022]\"],\"e\":null}");
    free(out);
    out = again("{\"a\":[{\"x\":[]},\"]\"], \"folder\":{\"y\":[1]} ,\"z\":2}", "folder");
    assert_string_equal(out, "{\"a\":[{\"x\":[]},\"]\"],\"folder\":null,\"z\":2}");
    free(out);
}

static void what_is_not_json_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",    "{",          "[1,]",    "{\"a\"}",     "{\"a\":}",    "[1 2]", "tru",
        "1 1", "\"",         "\"\\x\"", "\"\\u12\"",   "-",           "1.",    "1e",
        "[}",  "{\"a\":1,}", "nan",     "\"\\ud800\"", "\"\\u0000\"", "{1:2}"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k)
        assert_null(again(texts[k], ""));
    char deep[4001];
    memset(deep, '[', 2000);
    memset(deep + 2000, ']', 2000);
    deep[4000] = '\0';
    assert_null(again(deep, "")); /* the stack is not the text's to fill */
}

static void members_are_found(void **state) {
    (void)state;
    const char *text = "{\"a\":{\"b\":1},\"b\":[10,[20],{\"c\":30}],\"n\":\"x\\ny\"}";
    psfm_json_value root, item = {0};
    size_t num = 0;
    assert_true(psfm_json_text_check(text, strlen(text), &root));
    while (psfm_json_next(psfm_json_find(root, "b"), item.end, NULL, &item))
        ++num;
    assert_int_equal(num, 3);
    assert_int_equal(item.end - item.begin, 8);
    assert_null(psfm_json_find(root, "c").begin);
    char *name = psfm_json_string(psfm_json_find(root, "n"));
    assert_string_equal(name, "x\ny");
    free(name);
    assert_null(psfm_json_string(psfm_json_find(root, "b")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(nothing_can_end_a_script),
        cmocka_unit_test(broken_utf8_is_replaced),
        cmocka_unit_test(texts_survive),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(members_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
