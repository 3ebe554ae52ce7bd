/* One diagnosis and one remedy for each kind of summary; none asks for what was done already. */
#include "sfm/diagnosis.h"

#include "formats/json.h"
#include "test_util.h"

static psfm_diagnosis d;

/* Whether there is a diagnosis of this summary, with what its photographs show. */
static bool diagnose(const char *summary, const psfm_photo_findings *photos) {
    const psfm_photo_findings nothing = {0};
    cJSON *tree = psfm_json_parse_whole(summary, strlen(summary));
    assert_non_null(tree);
    const bool found = psfm_diagnosis_find(tree, photos == NULL ? &nothing : photos, &d);
    cJSON_Delete(tree);
    return found;
}

#define IMAGES(total, posed) "\"images_total\": " #total ", \"images_posed\": " #posed
#define DOUBTFUL "\"verdict\": \"doubtful\""
#define ALL_PAIRS "\"matching\": {\"pairs\": 45, \"pairs_rule\": \"exhaustive\"}"
#define FEW_PAIRS "\"matching\": {\"pairs\": 9, \"pairs_rule\": \"sequential:1\"}"

static void test_nothing_is_the_matter(void **state) {
    (void)state;
    assert_false(diagnose("{\"verdict\": \"right\", " IMAGES(10, 10) "}", NULL));
}

static void check_remedy(const char *summary, const char *kind, const char *flag,
                         const char *value) {
    if (!diagnose(summary, NULL))
        fail_msg("no diagnosis of %s", summary);
    assert_string_equal(d.kind, kind);
    assert_true(strlen(d.text) > 10 && strlen(d.advice) > 10);
    if (flag == NULL) {
        assert_null(d.flag);
        return;
    }
    assert_string_equal(d.flag, flag);
    assert_string_equal(d.value, value);
}

static void test_remedies(void **state) {
    (void)state;
    static const struct {
        const char *summary, *kind, *flag, *value;
    } cases[] = {
        /* pairs that nobody tried come before all that they explain */
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", " FEW_PAIRS
                                          ", \"warnings\": [{\"kind\": \"weak_connection\"}]}",
         "few_pairs", "--pairs", "exhaustive"},
        {"{" DOUBTFUL ", " IMAGES(10, 6) ", " FEW_PAIRS ", \"models\": [{}, {}]}", "few_pairs",
         "--pairs", "exhaustive"},
        /* all were tried: never again */
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", " ALL_PAIRS
                                          ", \"warnings\": [{\"kind\": \"weak_connection\"}], "
                                          "\"photographs\": {\"effort\": \"auto\"}}",
         "weak", "--effort", "high"},
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", " ALL_PAIRS
                                          ", \"warnings\": [{\"kind\": \"weak_connection\"}], "
                                          "\"photographs\": {\"effort\": \"high\"}}",
         "weak", NULL, NULL},
        {"{\"verdict\": \"right\", " IMAGES(
             10, 9) ", " ALL_PAIRS
                    ", \"images\": [{\"name\": \"cat.jpg\", \"state\": \"no_matches\"}]}",
         "unrelated", NULL, NULL},
        {"{\"verdict\": \"none\", " IMAGES(10, 0) ", " ALL_PAIRS ", \"input\": {\"pairs\": 0}}",
         "no_overlap", NULL, NULL},
        {"{\"verdict\": \"none\", " IMAGES(10, 0) ", " FEW_PAIRS ", \"input\": {\"pairs\": 0}}",
         "few_pairs", "--pairs", "exhaustive"},
        /* repeated structure: neighbours only, but not if that was done, or of a few */
        {"{" DOUBTFUL
         ", " IMAGES(24, 24) ", \"matching\": {\"pairs\": 276, \"pairs_rule\": "
                             "\"exhaustive\"}, \"warnings\": [{\"kind\": \"common_rotation\"}]}",
         "repeated", "--pairs", "sequential:3"},
        {"{" DOUBTFUL ", " IMAGES(4, 4) ", \"matching\": {\"pairs\": 6, \"pairs_rule\": "
                                        "\"exhaustive\"}, \"warnings\": [{\"kind\": \"shifted\"}]}",
         "repeated", NULL, NULL},
        /* focal lengths: sharing, unless they share or differ in size */
        {"{" DOUBTFUL ", " IMAGES(
             10,
             10) ", " ALL_PAIRS ", \"calibration\": {\"unknown\": 2, \"determined\": 0}, "
                 "\"cameras\": [{\"width\": 9, "
                 "\"height\": 8, \"source\": \"guess\"}, {\"width\": 9, \"height\": 8, \"source\": "
                 "\"guess\"}]}",
         "focal_lengths", "--share-cameras", "all"},
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", " ALL_PAIRS
                                          ", \"calibration\": {\"unknown\": 1, \"determined\": 0}, "
                                          "\"cameras\": [{\"width\": 9, "
                                          "\"height\": 8, \"source\": \"guess\"}]}",
         "focal_lengths", NULL, NULL},
        /* a given focal length: only where the error falls */
        {"{" DOUBTFUL
         ", " IMAGES(10, 10) ", \"given_intrinsics\": {\"wrong\": 1, \"worst_camera\": "
                             "3, \"wanted_change\": 0.05, \"mean_error_px\": 1.0, "
                             "\"mean_error_px_if_free\": 0.4}}",
         "intrinsics", "--refine", "focal"},
        {"{" DOUBTFUL
         ", " IMAGES(10, 10) ", \"given_intrinsics\": {\"wrong\": 1, \"worst_camera\": "
                             "3, \"wanted_change\": 0.05, \"mean_error_px\": 1.0, "
                             "\"mean_error_px_if_free\": 1.1}}",
         "weak", NULL, NULL},
        /* poses that move with the focal length: only if it is given and fixed */
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", \"cameras\": [{\"source\": \"given\"}], "
                                          "\"warnings\": [{\"kind\": \"focal_shift_deg\"}], "
                                          "\"options\": {\"bundle\": {\"refine\": \"auto\"}}}",
         "intrinsics", "--refine", "focal"},
        {"{" DOUBTFUL ", " IMAGES(10, 10) ", \"cameras\": [{\"source\": \"given\"}], "
                                          "\"warnings\": [{\"kind\": \"focal_shift_deg\"}], "
                                          "\"options\": {\"bundle\": {\"refine\": \"focal\"}}}",
         "weak", NULL, NULL},
        /* low effort explains more than repetition */
        {"{" DOUBTFUL ", " IMAGES(10, 8) ", " ALL_PAIRS ", \"photographs\": {\"effort\": \"low\"}, "
                                         "\"warnings\": [{\"kind\": \"shifted\"}]}",
         "weak", "--effort", "high"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        check_remedy(cases[k].summary, cases[k].kind, cases[k].flag, cases[k].value);
}

/* Where lines hold the model, pairs do not matter. */
static void test_lines(void **state) {
    (void)state;
    assert_false(diagnose(
        "{" DOUBTFUL ", " IMAGES(10, 10) ", " ALL_PAIRS
                                         ", \"court\": {\"photographs\": [{\"in_model\": true}]}, "
                                         "\"warnings\": [{\"kind\": \"common_rotation\"}]}",
        NULL));
}

static void test_photographs(void **state) {
    (void)state;
    const char *const names[] = {"a.jpg"};
    const psfm_photo_findings blurred = {.blurred = names, .num_blurred = 1};
    const psfm_photo_findings court = {.court = "basketball"};
    static const char summary[] = "{" DOUBTFUL ", " IMAGES(10, 2) ", " ALL_PAIRS "}";
    assert_true(diagnose(summary, &blurred));
    assert_string_equal(d.kind, "blurred");
    assert_non_null(strstr(d.text, "a.jpg is blurred"));
    assert_true(diagnose(summary, &court));
    assert_string_equal(d.flag, "--court");
    assert_string_equal(d.value, "basketball");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_the_matter),
        cmocka_unit_test(test_remedies),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_photographs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
