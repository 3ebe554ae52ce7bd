#include "base/escape.h"
#include "io/json_text.h"
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

static void trees_survive(void **state) {
    (void)state;
    const char *text = "{\"a\":[1,2.5,-1e-07,true,false,null],\"b\":{\"c\":\"x\"},\"d\":[]}";
    cJSON *tree = cJSON_Parse(text);
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    psfm_json_print_tree(file, tree);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(out, text);
    free(out);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(nothing_can_end_a_script),
        cmocka_unit_test(broken_utf8_is_replaced),
        cmocka_unit_test(trees_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
