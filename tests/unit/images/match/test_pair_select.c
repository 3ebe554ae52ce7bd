#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "images/match/pair_select.h"

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return 0;
}

static void assert_pairs(const psfm_pair_list *list, const uint32_t (*expected)[2], size_t num) {
    assert_int_equal(list->num, num);
    for (size_t k = 0; k < num; ++k) {
        assert_int_equal(list->pairs[k][0], expected[k][0]);
        assert_int_equal(list->pairs[k][1], expected[k][1]);
    }
}

static void exhaustive_is_every_pair(void **state) {
    (void)state;
    psfm_pair_list list;
    const uint32_t expected[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    assert_ok(ctx, psfm_pair_select(ctx, "exhaustive", NULL, 4, NULL, &list));
    assert_pairs(&list, expected, 6);
    psfm_pair_list_free(&list);
    assert_ok(ctx, psfm_pair_select(ctx, "exhaustive", NULL, 300, NULL, &list));
    assert_int_equal(list.num, 300 * 299 / 2);
    psfm_pair_list_free(&list);
}

static void sequential_and_ring(void **state) {
    (void)state;
    psfm_pair_list list;
    const uint32_t open[][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}};
    assert_ok(ctx, psfm_pair_select(ctx, "sequential:2", NULL, 5, NULL, &list));
    assert_pairs(&list, open, 7);
    psfm_pair_list_free(&list);
    const uint32_t ring[][2] = {{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}};
    assert_ok(ctx, psfm_pair_select(ctx, "ring:1", NULL, 5, NULL, &list));
    assert_pairs(&list, ring, 5);
    psfm_pair_list_free(&list);
    /* as many neighbours as there are images, and more: every pair once */
    for (int k = 0; k < 2; ++k) {
        assert_ok(
            ctx, psfm_pair_select(ctx, k ? "ring:99999999" : "sequential:7", NULL, 6, NULL, &list));
        assert_int_equal(list.num, 15);
        psfm_pair_list_free(&list);
    }
    const uint32_t two[][2] = {{0, 1}};
    assert_ok(ctx, psfm_pair_select(ctx, "ring:3", NULL, 2, NULL, &list));
    assert_pairs(&list, two, 1);
    psfm_pair_list_free(&list);
}

static void default_depends_on_the_number(void **state) {
    (void)state;
    psfm_pair_list list;
    assert_ok(ctx, psfm_pair_select(ctx, NULL, NULL, 200, NULL, &list));
    assert_int_equal(list.num, 200 * 199 / 2);
    psfm_pair_list_free(&list);
    assert_ok(ctx, psfm_pair_select(ctx, "auto", NULL, 201, NULL, &list));
    assert_int_equal(list.num, 5 * (201 - 5) + 10); /* no likeness: the neighbours alone */
    psfm_pair_list_free(&list);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"+",
                                        "ring:2+",
                                        "retrieval:",
                                        "ring:2+all",
                                        "",
                                        "all",
                                        "sequential",
                                        "sequential:",
                                        "ring:0",
                                        "ring:-1",
                                        "ring:2x",
                                        "ring: 2",
                                        "sequential:1e3",
                                        "ring:999999999999999999999",
                                        "Ring:2"};
    psfm_pair_list list;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
        assert_int_equal(psfm_pair_select(ctx, texts[k], NULL, 5, NULL, &list), PSFM_ERR_ARGUMENT);
        assert_null(list.pairs);
        assert_non_null(strstr(psfm_context_message(ctx), texts[k]));
    }
    assert_int_equal(psfm_pair_select(ctx, "exhaustive", NULL, 1, NULL, &list), PSFM_ERR_DATA);
    assert_int_equal(psfm_pair_select(ctx, "exhaustive", NULL, 0, NULL, &list), PSFM_ERR_DATA);
    assert_int_equal(psfm_pair_select(ctx, "file:/no/such.txt", NULL, 5, NULL, &list), PSFM_ERR_IO);
    psfm_alloc_fail_after(1);
    assert_int_equal(psfm_pair_select(ctx, "ring:1", NULL, 5, NULL, &list), PSFM_ERR_MEMORY);
    psfm_alloc_fail_after(0);
}

static const char *const names[] = {"b.jpg", "a.jpg", "sub/c d.jpg", "c", "d.jpg", "sub/c"};
#define NUM_NAMES (sizeof names / sizeof names[0])

static psfm_status parse(const char *text, psfm_pair_list *list) {
    return psfm_pair_file_parse(ctx, text, strlen(text), "p.txt", names, NUM_NAMES, list);
}

static void pair_files_are_read(void **state) {
    (void)state;
    psfm_pair_list list;
    const uint32_t expected[][2] = {{0, 1}, {0, 2}, {1, 4}, {2, 3}};
    assert_ok(ctx, parse("# a comment\r\n\r\nb.jpg a.jpg\r\n  a.jpg \t b.jpg  \n"
                         "sub/c d.jpg b.jpg\n\n d.jpg   a.jpg\nc sub/c d.jpg",
                         &list));
    assert_pairs(&list, expected, 4);
    psfm_pair_list_free(&list);

    char path[] = "/tmp/psfm_pairs_XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fputs("a.jpg c\n", file);
    fclose(file);
    char text[64];
    snprintf(text, sizeof text, "file:%s", path);
    assert_ok(ctx, psfm_pair_select(ctx, text, names, NUM_NAMES, NULL, &list));
    const uint32_t one[][2] = {{1, 3}};
    assert_pairs(&list, one, 1);
    psfm_pair_list_free(&list);
    remove(path);
}

static void bad_pair_files_name_the_line(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a.jpg b.jpg\nx.jpg b.jpg\n", "p.txt: line 2: there is no image 'x.jpg'"},
        {"a.jpg y z\n", "p.txt: line 1: there is no image 'y z'"},
        {"\n\na.jpg\n", "p.txt: line 3: one name, 'a.jpg'"},
        {"a.jpg a.jpg\n", "p.txt: line 1 pairs the image 'a.jpg' with itself"},
        {"# nothing\n", "p.txt: there are no pairs"},
        {"", "p.txt: there are no pairs"},
    };
    psfm_pair_list list;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        assert_int_equal(parse(cases[k][0], &list), PSFM_ERR_FORMAT);
        assert_null(list.pairs);
        if (strstr(psfm_context_message(ctx), cases[k][1]) == NULL)
            fail_msg("'%s' lacks '%s'", psfm_context_message(ctx), cases[k][1]);
    }
    assert_int_equal(psfm_pair_file_parse(ctx, "a\0b", 3, "p.txt", names, NUM_NAMES, &list),
                     PSFM_ERR_FORMAT);
    /* "a b c" could be a + "b c" or "a b" + c */
    static const char *const unclear[] = {"a", "b c", "a b", "c"};
    assert_int_equal(psfm_pair_file_parse(ctx, "a b c", 5, "p.txt", unclear, 4, &list),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "several ways"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exhaustive_is_every_pair),
        cmocka_unit_test(sequential_and_ring),
        cmocka_unit_test(default_depends_on_the_number),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(pair_files_are_read),
        cmocka_unit_test(bad_pair_files_name_the_line),
    };
    return cmocka_run_group_tests_name("match/pair_select", tests, make_context, free_context);
}
