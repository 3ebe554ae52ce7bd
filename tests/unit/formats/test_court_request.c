/* Courts by their names, one or several. */
#include "formats/court_request.h"

#include "test_util.h"

static psfm_status open_request(psfm_context *ctx, const char *courts, const char *size,
                                const char *drawing, psfm_court_target *target) {
    psfm_court_request request = {courts, size, drawing, 0.0};
    return psfm_court_request_open(ctx, &request, target);
}

static void one_court_is_itself(void **state) {
    psfm_context *ctx = *state;
    psfm_court_target target;
    assert_ok(ctx, open_request(ctx, "basketball", "26,14", NULL, &target));
    assert_string_equal(target.drawing.name, "basketball");
    assert_true(target.drawing.size[0] == 26.0 && target.drawing.size[1] == 14.0);
    assert_int_equal(target.num_rivals, 2);
    psfm_court_target_free(&target);
    assert_ok(ctx, open_request(ctx, "soccer", NULL, NULL, &target));
    assert_true(psfm_drawing_is_free(&target.drawing));
    psfm_court_target_free(&target);
}

/* The parts of both about one middle, and federations' variants of either as rivals. */
static void several_courts_are_one_drawing(void **state) {
    psfm_context *ctx = *state;
    psfm_court_target one, other, both;
    int turns[4];
    assert_ok(ctx, open_request(ctx, "basketball", NULL, NULL, &one));
    assert_ok(ctx, open_request(ctx, "volleyball", NULL, NULL, &other));
    assert_ok(ctx, open_request(ctx, "basketball,volleyball", NULL, NULL, &both));
    assert_string_equal(both.drawing.name, "basketball,volleyball");
    assert_int_equal(both.drawing.num_parts, one.drawing.num_parts + other.drawing.num_parts);
    assert_int_equal(both.num_rivals, one.num_rivals);
    assert_true(both.rivals[0].num_parts > other.drawing.num_parts);
    assert_int_equal(psfm_drawing_turns(&both.drawing, turns), 2);
    assert_false(psfm_drawing_is_free(&both.drawing));
    psfm_court_target_free(&one);
    psfm_court_target_free(&other);
    psfm_court_target_free(&both);
}

static void what_does_not_go_together_is_refused(void **state) {
    psfm_context *ctx = *state;
    static const struct {
        const char *courts, *size, *drawing, *words;
    } cases[] = {
        {NULL, NULL, NULL, "either --court"},
        {"tennis", NULL, "a.json", "one of them"},
        {"tennis,chess", NULL, NULL, "no court 'chess'"},
        {",", NULL, NULL, "a name is missing"},
        {"", NULL, NULL, "a name is missing"},
        {"basketball,", NULL, NULL, "basketball,: a name is missing"},
        {"tennis,,badminton", NULL, NULL, "a name is missing"},
        {"tennis,volleyball", "20,10", NULL, "single court"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        psfm_court_target target;
        assert_int_equal(
            open_request(ctx, cases[k].courts, cases[k].size, cases[k].drawing, &target),
            PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), cases[k].words));
        psfm_court_target_free(&target);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_court_is_itself),
        cmocka_unit_test(several_courts_are_one_drawing),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
