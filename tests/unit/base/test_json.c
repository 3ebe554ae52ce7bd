#include "test_util.h"

#include "base/json.h"

static void what_is_not_finite_is_null(void **state) {
    (void)state;
    cJSON *tree = cJSON_CreateObject();
    assert_true(psfm_json_add_number(tree, "a", 0.25));
    assert_true(psfm_json_add_number(tree, "b", NAN));
    assert_true(psfm_json_add_number(tree, "c", -INFINITY));
    char *text = psfm_json_print_line(tree);
    assert_string_equal(text, "{\"a\":0.25,\"b\":null,\"c\":null}");
    cJSON_free(text);
    cJSON_Delete(tree);
}

static void only_a_whole_text_is_whole(void **state) {
    (void)state;
    static const char text[] = "{\"a\": 1.5} x";
    cJSON *tree = psfm_json_parse(text, strlen(text));
    assert_non_null(tree);
    assert_close(cJSON_GetObjectItem(tree, "a")->valuedouble, 1.5, 0.0);
    cJSON_Delete(tree);
    assert_null(psfm_json_parse_whole(text, strlen(text)));
    tree = psfm_json_parse_whole("[1]", 3);
    assert_non_null(tree);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(only_a_whole_text_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
