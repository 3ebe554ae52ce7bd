/* One line about made-up results. */
#include "sfm/summary.h"

#include "test_util.h"

enum { NUM = 7 };

static void make_line(psfm_outcome *outcome, psfm_refined_image *images, size_t num_models,
                      char text[PSFM_HEADLINE_SIZE]) {
    static char names[NUM][8] = {"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", "f.jpg", "g.jpg"};
    psfm_context *ctx = psfm_context_create();
    psfm_view views[NUM] = {0};
    psfm_sfm found = {.num_models = num_models, .set = {.views = views, .num_views = NUM}};
    psfm_outcome turned[NUM]; /* views are in no order that people know */
    for (int v = 0; v < NUM; ++v) {
        views[v].name = names[NUM - 1 - v];
        turned[v] = outcome[NUM - 1 - v];
    }
    found.outcome = turned;
    found.refined.images = images;
    found.refined.mean_px = 0.214;
    assert_ok(ctx, psfm_headline_make(ctx, &found, text));
    psfm_context_destroy(&ctx);
}

static void test_all_posed(void **state) {
    psfm_outcome outcome[NUM] = {0};
    psfm_refined_image images[NUM];
    char text[PSFM_HEADLINE_SIZE];
    (void)state;
    for (int v = 0; v < NUM; ++v)
        images[v] = (psfm_refined_image){.rotation_sigma_deg = v == 3 ? 90.0 : 0.004};
    make_line(outcome, images, 1, text);
    assert_string_equal(text, "7 of 7 images posed in 1 model, 0.21 px, 0.004 deg");
    make_line(outcome, NULL, 2, text);
    assert_string_equal(text, "7 of 7 images posed in 2 models");
}

static void test_those_without_a_pose_are_named(void **state) {
    psfm_outcome outcome[NUM] = {[1] = PSFM_OUTCOME_NO_MATCHES, [4] = PSFM_OUTCOME_FEW_POINTS};
    char text[PSFM_HEADLINE_SIZE];
    (void)state;
    make_line(outcome, NULL, 1, text);
    assert_string_equal(text, "5 of 7 images posed in 1 model; 2 not: b.jpg (no overlap with the "
                              "others?), e.jpg (too few points agree)");
    for (int v = 0; v < NUM; ++v)
        outcome[v] = PSFM_OUTCOME_NO_KEYPOINTS;
    make_line(outcome, NULL, 0, text);
    assert_string_equal(text,
                        "0 of 7 images posed in 0 models; 7 not: a.jpg (no keypoints), b.jpg (no "
                        "keypoints), c.jpg (no keypoints), ...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_posed),
        cmocka_unit_test(test_those_without_a_pose_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
