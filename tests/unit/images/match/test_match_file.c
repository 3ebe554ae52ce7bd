#include "core/base/alloc.h"
#include "images/match/match_file.h"
#include "test_util.h"

static psfm_context *ctx;
static const char *const names[] = {"a.jpg", "b.jpg", "sub/c d.jpg", "e"};

static psfm_status parse(const char *text, psfm_match_file *file) {
    return psfm_match_file_parse(ctx, text, strlen(text), "list.txt", names, 4, file);
}

static void blocks_are_read(void **state) {
    (void)state;
    psfm_match_file file;
    assert_ok(ctx, parse("# comment\r\n\n\nb.jpg a.jpg\r\n3 4\r\n 5\t6 \n# between\n0 4294967294\n"
                         "\n\ne sub/c d.jpg\n\na.jpg e\n7 7",
                         &file));
    assert_int_equal(file.num, 3);
    assert_int_equal(file.pairs[0].image1, 1);
    assert_int_equal(file.pairs[0].image2, 0);
    assert_int_equal(file.pairs[0].list.num, 3);
    const uint32_t wanted[3][2] = {{3, 4}, {5, 6}, {0, 4294967294U}};
    assert_memory_equal(file.pairs[0].list.matches, wanted, sizeof wanted);
    assert_int_equal(file.pairs[1].image2, 2);
    assert_int_equal(file.pairs[1].list.num, 0);
    assert_int_equal(file.pairs[2].list.matches[0][1], 7);
    psfm_match_file_free(&file);
}

static void refuses(const char *text, const char *word) {
    psfm_match_file file;
    assert_int_equal(parse(text, &file), PSFM_ERR_FORMAT);
    assert_int_equal(file.num, 0);
    if (strstr(psfm_context_message(ctx), word) == NULL)
        fail_msg("no '%s' in '%s'", word, psfm_context_message(ctx));
}

static void bad_lists_are_refused(void **state) {
    (void)state;
    refuses("", "no matches");
    refuses("# nothing\n\n", "no matches");
    refuses("a.jpg x.jpg\n0 0\n", "line 1: there is no image 'x.jpg'");
    refuses("a.jpg a.jpg\n", "with itself");
    refuses("a.jpg b.jpg\n0\n", "line 2");
    refuses("a.jpg b.jpg\n0 1 2\n", "line 2");
    refuses("a.jpg b.jpg\n0 -1\n", "line 2");
    refuses("a.jpg b.jpg\n01\n", "line 2");
    refuses("a.jpg b.jpg\n0 4294967295\n", "line 2");
    refuses("a.jpg b.jpg\n0 1\nb.jpg e\n", "line 3"); /* no empty line before it */
    refuses("a.jpg b.jpg\n0 1\n\nb.jpg a.jpg\n1 0\n", "comes twice");
    psfm_match_file file;
    assert_int_equal(psfm_match_file_parse(ctx, "a\0b", 3, "list.txt", names, 4, &file),
                     PSFM_ERR_FORMAT);
}

static void memory_may_be_out(void **state) {
    (void)state;
    psfm_match_file file;
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK && n < 100; ++n) {
        psfm_alloc_fail_after(n);
        status = parse("b.jpg a.jpg\n3 4\n\na.jpg e\n1 2\n", &file);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && file.num == 0));
    }
    assert_int_equal(status, PSFM_OK);
    psfm_match_file_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_read),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(memory_may_be_out),
    };
    ctx = psfm_context_create();
    int failed = ctx == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
