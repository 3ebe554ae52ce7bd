#include <string.h>

#include "planarsfm/stages.h"
#include "test_util.h"

/* What they do with photographs and matches is tested by tests/python and, through the commands, by
 * tests/cli; here is what they do with nothing. */
static void refusals_hand_out_nothing(void **state) {
    psfm_context *ctx = *state;
    char *facts = (char *)1;
    assert_int_equal(psfm_extract_features(ctx, "/no/photos", "/no/such.db", NULL, &facts),
                     PSFM_ERR_IO);
    assert_null(facts);
    facts = (char *)1;
    assert_int_equal(psfm_match_features(ctx, "/no/such.db", NULL, &facts), PSFM_ERR_IO);
    assert_null(facts);
    facts = (char *)1;
    assert_int_equal(psfm_verify_matches(ctx, "/no/such.db", NULL, &facts), PSFM_ERR_IO);
    assert_null(facts);
    assert_non_null(strstr(psfm_context_message(ctx), "/no/such.db"));
    assert_int_equal(psfm_make_report(ctx, "/no/results", NULL), PSFM_ERR_IO);
    assert_int_equal(psfm_convert_model(ctx, "/no/model", "tum", "/no/out", NULL, NULL),
                     PSFM_ERR_IO);
    assert_int_equal(psfm_convert_model(ctx, "/no/model", "betamax", "/no/out", NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    psfm_text_free(&facts);
    psfm_text_free(NULL);
}

static void missing_arguments_are_named(void **state) {
    psfm_context *ctx = *state;
    psfm_align_request request = {.struct_size = sizeof request, .upright = true};
    assert_int_equal(psfm_extract_features(ctx, NULL, "a.db", NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_extract_features(ctx, "photos", NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "database"));
    assert_int_equal(psfm_match_features(ctx, NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "database"));
    assert_int_equal(psfm_verify_matches(ctx, NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_convert_model(ctx, NULL, "tum", "out", NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_convert_model(ctx, "in", NULL, "out", NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_convert_model(ctx, "in", "tum", NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_make_report(ctx, NULL, NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_align_model(ctx, "in", NULL, "out", NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_align_model(ctx, NULL, &request, "out", NULL), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_align_model(ctx, "in", &request, NULL, NULL), PSFM_ERR_ARGUMENT);
}

static void alignment_wants_one_way(void **state) {
    psfm_context *ctx = *state;
    char *facts = (char *)1;
    psfm_align_request request = {0};
    assert_int_equal(psfm_align_model(ctx, "/no/model", &request, "/no/out", &facts),
                     PSFM_ERR_ARGUMENT);
    assert_null(facts);
    request.struct_size = sizeof request;
    assert_int_equal(psfm_align_model(ctx, "/no/model", &request, "/no/out", NULL),
                     PSFM_ERR_ARGUMENT);
    request.upright = true;
    request.gcp = "points.txt";
    assert_int_equal(psfm_align_model(ctx, "/no/model", &request, "/no/out", NULL),
                     PSFM_ERR_ARGUMENT);
    request.upright = false;
    assert_int_equal(psfm_align_model(ctx, "/no/model", &request, "/no/out", NULL), PSFM_ERR_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_hand_out_nothing),
        cmocka_unit_test(missing_arguments_are_named),
        cmocka_unit_test(alignment_wants_one_way),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
