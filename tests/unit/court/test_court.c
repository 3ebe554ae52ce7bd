#include "court/court.h"
#include "test_util.h"

/* The labels are unique and on the court; returns how many there are. */
static size_t check_labels(const psfm_court *court) {
    char labels[1024], *rest = NULL;
    double places[64][3];
    size_t num = 0;
    psfm_court_labels(court, labels, sizeof labels);
    for (char *label = strtok_r(labels, " ", &rest); label != NULL;
         label = strtok_r(NULL, " ", &rest)) {
        double *at = places[num];
        assert_true(psfm_court_find(court, label, at));
        assert_true(fabs(at[0]) <= court->length / 2.0 + 1e-12);
        assert_true(fabs(at[1]) <= court->width / 2.0 + 1e-12);
        assert_true(at[2] == 0.0);
        for (size_t j = 0; j < num; ++j)
            assert_memory_not_equal(places[j], at, 3 * sizeof *at);
        ++num;
    }
    return num;
}

/* Every label is found, and has its mirror images. */
static void test_labels(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t num_labels;
    } known[] = {{"basketball", 20}, {"tennis", 18}, {"volleyball", 10}, {"soccer", 35}};
    psfm_court court;
    for (size_t k = 0; k < psfm_num_courts; ++k)
        assert_true(check_labels(&psfm_courts[k]) > 0);
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
        assert_true(psfm_court_get(known[k].name, &court));
        assert_int_equal(check_labels(&court), known[k].num_labels);
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

/* Sizes as people give them, and what is refused with a word about it. */
static void test_parse(void **state) {
    psfm_context *ctx = *state;
    static const char *const wrong[] = {"",        "28",      "28,",      ",15",     "28;15",
                                        "28,15,",  "28,15 m", "13.99,15", "28,7.49", "1001,15",
                                        "28,1001", "nan,15",  "28,nan",   "inf,15",  "28,inf",
                                        "-28,15",  "28x15"};
    psfm_court court;
    assert_ok(ctx, psfm_court_parse(ctx, "basketball", "26.5,14", &court));
    assert_true(court.length == 26.5 && court.width == 14.0 && court.rule_length == 28.0);
    assert_ok(ctx, psfm_court_parse(ctx, "basketball", "14,7.5", &court)); /* half of both */
    assert_ok(ctx, psfm_court_parse(ctx, "soccer", NULL, &court));
    assert_true(court.least[0] == 90.0 && court.most[1] == 90.0);
    assert_ok(ctx, psfm_court_parse(ctx, "soccer", "1000,1000", &court));
    assert_true(court.most[0] == 0.0 && court.least[1] == 0.0); /* not to be searched any more */
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        assert_int_equal(psfm_court_parse(ctx, "basketball", wrong[k], &court), PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), "--court-size"));
    }
    assert_int_equal(psfm_court_parse(ctx, "curling", NULL, &court), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "curling"));
    assert_non_null(strstr(psfm_context_message(ctx), "american-football"));
}

/* A list of labels never passes the end of a short buffer. */
static void test_lists(void **state) {
    (void)state;
    char labels[1024], small[24], one[1] = "x";
    psfm_court court;
    assert_true(psfm_court_get("tennis", &court));
    psfm_court_labels(&court, labels, sizeof labels);
    assert_int_equal(strncmp(labels, "corner-w-n corner-e-n corner-w-s corner-e-s ", 44), 0);
    for (size_t size = 1; size < sizeof small; ++size) {
        memset(small, '#', sizeof small);
        psfm_court_labels(&court, small, size);
        assert_int_equal(strncmp(small, labels, size - 1), 0);
        assert_true(small[size - 1] == '\0' && small[size] == '#');
    }
    psfm_court_labels(&court, one, 0);
    assert_int_equal(one[0], 'x');
}

/* Courts of one game are related, but none to itself, nor to another that only begins alike. */
static void test_related(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool related;
    } cases[] = {
        {"basketball", "basketball-nba", true}, {"basketball-ncaa", "basketball-nba", true},
        {"basketball", "basketball", false},    {"basketball", "badminton", false},
        {"ice-hockey", "ice-hockey-nhl", true}, {"futsal", "handball", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        psfm_court a, b, begins = {.name = "basket"};
        assert_true(psfm_court_get(cases[k].a, &a) && psfm_court_get(cases[k].b, &b));
        assert_int_equal(psfm_court_is_related(&a, &b), cases[k].related);
        assert_int_equal(psfm_court_is_related(&b, &a), cases[k].related);
        assert_false(psfm_court_is_related(&a, &begins));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels), cmocka_unit_test(test_places),
        cmocka_unit_test(test_size),   cmocka_unit_test(test_parse),
        cmocka_unit_test(test_lists),  cmocka_unit_test(test_related),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
