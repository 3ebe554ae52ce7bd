#include "court/court.h"
#include "test_util.h"

static const char *const names[] = {"basketball", "tennis", "volleyball", "soccer"};

/* Every label is found, is unique, lies on the court, and has its mirror images. */
static void test_labels(void **state) {
    (void)state;
    static const size_t counts[] = {20, 18, 10, 35};
    for (int k = 0; k < 4; ++k) {
        psfm_court court;
        char labels[1024], *rest = NULL;
        double places[64][3];
        size_t num = 0;
        assert_true(psfm_court_get(names[k], &court));
        psfm_court_labels(&court, labels, sizeof labels);
        for (char *label = strtok_r(labels, " ", &rest); label != NULL;
             label = strtok_r(NULL, " ", &rest)) {
            double *at = places[num];
            assert_true(psfm_court_find(&court, label, at));
            assert_true(fabs(at[0]) <= court.length / 2.0 + 1e-12);
            assert_true(fabs(at[1]) <= court.width / 2.0 + 1e-12);
            assert_true(at[2] == 0.0);
            for (size_t j = 0; j < num; ++j)
                assert_memory_not_equal(places[j], at, 3 * sizeof *at);
            ++num;
        }
        assert_int_equal(num, counts[k]);
    }
}

static void test_places(void **state) {
    (void)state;
    psfm_court court;
    double at[3];
    assert_true(psfm_court_get("basketball", &court));
    assert_true(psfm_court_find(&court, "corner-w-n", at));
    assert_true(at[0] == -14.0 && at[1] == 7.5);
    assert_true(psfm_court_find(&court, "elbow-e-s", at));
    assert_close(at[0], 14.0 - 5.8, 1e-12);
    assert_close(at[1], -2.45, 1e-12);
    assert_false(psfm_court_find(&court, "corner", at));
    assert_false(psfm_court_find(&court, "half-w", at));
    assert_true(psfm_court_get("tennis", &court));
    assert_true(psfm_court_find(&court, "tee-e", at));
    assert_true(at[0] == 6.4 && at[1] == 0.0);
    assert_true(psfm_court_get("soccer", &court));
    assert_true(psfm_court_find(&court, "arc-w-s", at)); /* on the circle round the penalty mark */
    assert_close(hypot(at[0] + 41.5, at[1]), 9.15, 1e-6);
    assert_true(psfm_court_find(&court, "center", at));
    assert_true(at[0] == 0.0 && at[1] == 0.0);
    assert_false(psfm_court_get("hockey", &court));
}

/* On a smaller pitch the penalty area keeps its size and its distance from the goal line. */
static void test_size(void **state) {
    (void)state;
    psfm_court court;
    double at[3];
    assert_true(psfm_court_get("soccer", &court));
    court.length = 100.0;
    court.width = 64.0;
    assert_true(psfm_court_find(&court, "corner-w-s", at));
    assert_true(at[0] == -50.0 && at[1] == -32.0);
    assert_true(psfm_court_find(&court, "box-w-s", at));
    assert_close(at[0], -50.0 + 16.5, 1e-12);
    assert_close(at[1], -20.16, 1e-12);
    assert_true(psfm_court_find(&court, "half-n", at));
    assert_true(at[0] == 0.0 && at[1] == 32.0);
    assert_true(psfm_court_find(&court, "circle-n", at));
    assert_true(at[1] == 9.15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
