#include "test_util.h"

#include "formats/json.h"

static void what_is_not_finite_is_null(void **state) {
    (void)state;
    cJSON *tree = cJSON_CreateObject();
    assert_true(psfm_json_add_number(tree, "a", 0.25));
    assert_true(psfm_json_add_number(tree, "b", NAN));
    assert_true(psfm_json_add_number(tree, "c", -INFINITY));
    char *text = psfm_json_print(tree);
    cJSON_Minify(text);
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

static void check_sorted(const char *text, const char *key, const char *then, const char *sorted) {
    cJSON *tree = psfm_json_parse(text, strlen(text));
    assert_non_null(tree);
    psfm_json_sort(tree, key, then);
    char *found = psfm_json_print(tree);
    cJSON_Minify(found);
    assert_string_equal(found, sorted);
    cJSON_free(found);
    assert_true(cJSON_AddItemToArray(tree, cJSON_CreateNumber(0.5))); /* the end is still known */
    cJSON *last = cJSON_GetArrayItem(tree, cJSON_GetArraySize(tree) - 1);
    assert_close(last->valuedouble, 0.5, 0.0);
    cJSON_Delete(tree);
}

static void arrays_are_sorted(void **state) {
    (void)state;
    check_sorted("[]", NULL, NULL, "[]");
    check_sorted("[\"b\"]", NULL, NULL, "[\"b\"]");
    check_sorted("[\"b\",\"c\",\"a\",\"B\",\"aa\"]", NULL, NULL,
                 "[\"B\",\"a\",\"aa\",\"b\",\"c\"]");
    check_sorted("[3,-1,10,2]", NULL, NULL, "[-1,2,3,10]");
    check_sorted("[{\"a\":2,\"b\":\"x\"},{\"a\":1,\"b\":\"z\"},{\"a\":1,\"b\":\"y\"}]", "a", "b",
                 "[{\"a\":1,\"b\":\"y\"},{\"a\":1,\"b\":\"z\"},{\"a\":2,\"b\":\"x\"}]");
    /* equal ones stay as they are */
    check_sorted("[{\"a\":2,\"k\":0},{\"a\":1,\"k\":1},{\"a\":2,\"k\":2},{\"a\":1,\"k\":3}]", "a",
                 NULL, "[{\"a\":1,\"k\":1},{\"a\":1,\"k\":3},{\"a\":2,\"k\":0},{\"a\":2,\"k\":2}]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(only_a_whole_text_is_whole),
        cmocka_unit_test(arrays_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
