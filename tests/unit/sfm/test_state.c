/* How far a state has come. */
#include "test_util.h"

#include "sfm/state.h"

static int num_taken;

static psfm_status succeed(psfm_context *ctx, psfm_sfm *s) {
    (void)ctx, (void)s;
    ++num_taken;
    return PSFM_OK;
}

static psfm_status refuse(psfm_context *ctx, psfm_sfm *s) {
    (void)s;
    ++num_taken;
    return psfm_fail(ctx, PSFM_ERR_DATA, "a step");
}

/* Takes the steps from where a state is; how many were taken, and where it is then. */
static void expect(const psfm_step *steps, psfm_stage from, psfm_status status, int taken,
                   psfm_stage to) {
    psfm_context *ctx = psfm_context_create();
    psfm_sfm s = {.stage = from};
    num_taken = 0;
    assert_int_equal(psfm_sfm_advance(ctx, steps, &s), status);
    assert_int_equal(num_taken, taken);
    assert_int_equal(s.stage, to);
    psfm_context_destroy(&ctx);
}

static void a_state_is_where_its_last_good_step_led(void **state) {
    (void)state;
    const psfm_step good[] = {{succeed, PSFM_AT_MATCHES},
                              {succeed, PSFM_AT_SET},
                              {succeed, PSFM_AT_CAMERAS},
                              {succeed, PSFM_AT_CAMERAS},
                              {NULL, PSFM_AT_START}};
    expect(good, PSFM_AT_START, PSFM_OK, 4, PSFM_AT_CAMERAS);
    expect(good, PSFM_AT_SET, PSFM_OK, 2, PSFM_AT_CAMERAS);
    expect(good, PSFM_AT_CAMERAS, PSFM_OK, 0, PSFM_AT_CAMERAS);
    expect(good, PSFM_AT_GRAPH, PSFM_OK, 0, PSFM_AT_GRAPH);
}

static void a_step_that_fails_leads_nowhere(void **state) {
    (void)state;
    const psfm_step bad[] = {{succeed, PSFM_AT_MATCHES},
                             {refuse, PSFM_AT_SET},
                             {succeed, PSFM_AT_CAMERAS},
                             {NULL, PSFM_AT_START}};
    const psfm_step half[] = {{succeed, PSFM_AT_CAMERAS},
                              {refuse, PSFM_AT_CAMERAS},
                              {succeed, PSFM_AT_CAMERAS},
                              {NULL, PSFM_AT_START}};
    expect(bad, PSFM_AT_START, PSFM_ERR_DATA, 2, PSFM_AT_MATCHES);
    expect(half, PSFM_AT_SET, PSFM_ERR_DATA, 2, PSFM_AT_SET);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_where_its_last_good_step_led),
        cmocka_unit_test(a_step_that_fails_leads_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
