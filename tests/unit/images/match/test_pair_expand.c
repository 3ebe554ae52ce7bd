/* Pairs two steps apart on graphs whose answer is plain. */
#include "images/match/pair_expand.h"
#include "test_util.h"

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

static void assert_added(size_t num, uint32_t (*tried)[2], size_t num_tried, const size_t *verified,
                         size_t most, const uint32_t (*expected)[2], size_t num_expected) {
    const psfm_pair_list list = {tried, num_tried};
    psfm_pair_list added;
    assert_ok(ctx, psfm_pair_expand(ctx, num, &list, verified, most, &added));
    assert_int_equal(added.num, num_expected);
    for (size_t k = 0; k < num_expected; ++k) {
        assert_int_equal(added.pairs[k][0], expected[k][0]);
        assert_int_equal(added.pairs[k][1], expected[k][1]);
    }
    psfm_pair_list_free(&added);
}

static void a_chain_gets_its_second_neighbours(void **state) {
    (void)state;
    uint32_t chain[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
    const size_t verified[] = {100, 100, 100, 100};
    const uint32_t expected[][2] = {{0, 2}, {1, 3}, {2, 4}};
    assert_added(5, chain, 4, verified, 5, expected, 3);
}

static void weak_pairs_are_no_steps_and_tried_ones_not_tried_again(void **state) {
    (void)state;
    uint32_t pairs[][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}};
    const size_t verified[] = {100, 3, 100, 29, 100}; /* 0-2 failed, 2-3 is too weak */
    assert_added(5, pairs, 5, verified, 5, NULL, 0);
}

/* Images 0 to 3 all share image 4; what each proposes is by the weaker step. */
static void the_best_supported_come_first(void **state) {
    (void)state;
    uint32_t star[][2] = {{0, 4}, {1, 4}, {2, 4}, {3, 4}};
    const size_t verified[] = {50, 300, 200, 100};
    const uint32_t one[][2] = {
        {0, 1}, {1, 2}, {1, 3}}; /* ties of the steps go to the first image */
    assert_added(5, star, 4, verified, 1, one, 3);
    const uint32_t all[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    assert_added(5, star, 4, verified, 3, all, 6);
}

/* 0-3 goes by 1 (weaker step 40) or by 2 (90); 0-4 by 1 alone (80). */
static void the_best_way_counts(void **state) {
    (void)state;
    uint32_t pairs[][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}};
    const size_t verified[] = {80, 90, 10, 40, 200, 95, 10, 10};
    const uint32_t expected[][2] = {{0, 3}, {0, 4}};
    assert_added(5, pairs, 8, verified, 1, expected, 2); /* 4 proposes 0 itself */
    const size_t cut[] = {80, 90, 10, 40, 10, 95, 10, 10};
    assert_added(5, pairs, 8, cut, 1, expected, 1);
}

static void rules_that_guess_are_expanded(void **state) {
    (void)state;
    psfm_expand_options options;
    psfm_options_init(&psfm_expand_option_table, &options);
    assert_true(psfm_pair_rule_expands("sequential:5+retrieval:20", &options));
    assert_false(psfm_pair_rule_expands("exhaustive", &options));
    assert_false(psfm_pair_rule_expands("ring:2", &options));
    assert_false(psfm_pair_rule_expands("file:retrieval:5", &options));
    options.kind = PSFM_EXPAND_ON;
    assert_true(psfm_pair_rule_expands("ring:2", &options));
    options.kind = PSFM_EXPAND_OFF;
    assert_false(psfm_pair_rule_expands("retrieval:20", &options));
}

static void no_pairs(void **state) {
    (void)state;
    assert_added(3, NULL, 0, NULL, 5, NULL, 0);
    assert_added(0, NULL, 0, NULL, 5, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_gets_its_second_neighbours),
        cmocka_unit_test(weak_pairs_are_no_steps_and_tried_ones_not_tried_again),
        cmocka_unit_test(the_best_supported_come_first),
        cmocka_unit_test(the_best_way_counts),
        cmocka_unit_test(rules_that_guess_are_expanded),
        cmocka_unit_test(no_pairs),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
