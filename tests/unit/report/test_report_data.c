/* Pairs and homographies on the page: which of them, and every number of each. */
#include "unit/report/report_page.h"

#include <cjson/cJSON.h>

#include "core/linalg/mat3.h"
#include "report/report_input.h"
#include "test_util.h"

static psfm_context *ctx;

static psfm_status print(const psfm_graph_file *graph, size_t max_pairs, cJSON **tree) {
    printed_part embedding_component;
    psfm_status status =
        psfm_report_print_pairs(ctx, graph, max_pairs, begin_part(&embedding_component));
    *tree = end_part(&embedding_component);
    return status;
}

/* Pairs 0 .. num - 1: the first is the tree's, the next two kept, then pruned ones, then others. */
static psfm_status print_chain(size_t num, size_t max_pairs, cJSON **tree) {
    psfm_graph_pair pairs[20] = {0};
    psfm_graph_file graph = {.pairs = pairs, .num_pairs = num};
    for (uint32_t p = 0; p < num; ++p)
        pairs[p] = (psfm_graph_pair){
            .image1 = p, .image2 = p + 1, .is_edge = p < 8, .in_tree = p == 0, .kept = p < 3};
    return print(&graph, max_pairs, tree);
}

static void the_pairs_that_matter_come_first(void **state) {
    (void)state;
    static const struct {
        size_t most, num;
        double first[12];
    } cases[] = {
        {100, 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {12, 12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {10, 10, {0, 1, 2, 3, 4, 5, 6, 7, 9, 11}},
        {3, 3, {0, 1, 2}},
        {2, 2, {0, 2}},
        {1, 1, {0}},
        {5, 5, {0, 1, 2, 5, 7}},
        {0, 0, {0}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        cJSON *tree;
        assert_ok(ctx, print_chain(12, cases[c].most, &tree));
        assert_close(number_of(member(tree, "pairs"), "total"), 12.0, 0.0);
        assert_column(member(tree, "pairs"), "image1", COLUMN_U32, cases[c].first, cases[c].num,
                      0.0);
        cJSON_Delete(tree);
    }
}

/* Two pairs with homographies and one without, no two numbers alike. */
static psfm_graph_file make_graph(psfm_graph_pair pairs[3], psfm_graph_homography list[3]) {
    static float samples[2][4] = {{1.4F, 2.6F, 3.0F, 65534.7F}, {-3.0F, 70000.0F, 8.5F, 0.0F}};
    for (int h = 0; h < 3; ++h) {
        list[h] = (psfm_graph_homography){.num_inliers = 40U + (uint32_t)h,
                                          .rms_px = 0.75 + h,
                                          .is_rotation = h == 1,
                                          .chosen = h != 1,
                                          .group = h == 2 ? -1 : 3 + h,
                                          .samples = h == 1 ? samples : NULL,
                                          .num_samples = h == 1 ? 2 : 0};
        for (int k = 0; k < 9; ++k)
            list[h].H_21[k] = 0.1 * h - 0.01 * k + 0.003;
    }
    pairs[0] = (psfm_graph_pair){.image1 = 0,
                                 .image2 = 2,
                                 .num_matches = 700,
                                 .kind = PSFM_PAIR_OK,
                                 .essential_inliers = 123,
                                 .homographies = list,
                                 .num_homographies = 2,
                                 .is_edge = true,
                                 .in_tree = true,
                                 .kept = true,
                                 .h = -0.0625,
                                 .embedding_component = 1,
                                 .component = 2,
                                 .rotation_deg = 0.125};
    pairs[1] = (psfm_graph_pair){.image1 = 1, .image2 = 70000, .num_matches = 3, .kind = 1};
    pairs[2] = (psfm_graph_pair){.image1 = 2,
                                 .image2 = 5,
                                 .num_matches = 90,
                                 .kind = 3,
                                 .homographies = list + 2,
                                 .num_homographies = 1,
                                 .is_edge = true,
                                 .h = 1.5,
                                 .embedding_component = 4,
                                 .component = 5,
                                 .rotation_deg = (double)NAN};
    return (psfm_graph_file){.pairs = pairs, .num_pairs = 3};
}

/* Each column beside the graph it comes from; the page reads them in this order. */
static void every_number_is_that_of_the_graph(void **state) {
    (void)state;
    psfm_graph_pair pairs[3];
    psfm_graph_homography list[3];
    psfm_graph_file graph = make_graph(pairs, list);
    cJSON *tree;
    double H[27];
    assert_ok(ctx, print(&graph, 100, &tree));
    const cJSON *p = member(tree, "pairs"), *h = member(tree, "homographies");
    assert_column(p, "image1", COLUMN_U32, (double[]){0, 1, 2}, 3, 0.0);
    assert_column(p, "image2", COLUMN_U32, (double[]){2, 70000, 5}, 3, 0.0);
    assert_column(p, "matches", COLUMN_U32, (double[]){700, 3, 90}, 3, 0.0);
    assert_column(p, "kind", COLUMN_U8, (double[]){0, 1, 3}, 3, 0.0);
    assert_column(p, "essential", COLUMN_U32, (double[]){123, 0, 0}, 3, 0.0);
    assert_column(p, "flags", COLUMN_U8, (double[]){7, 0, 1}, 3, 0.0);
    assert_column(p, "embedding_component", COLUMN_U32, (double[]){1, 0, 4}, 3, 0.0);
    assert_column(p, "component", COLUMN_U32, (double[]){2, 0, 5}, 3, 0.0);
    assert_column(p, "h", COLUMN_F32, (double[]){-0.0625, 0.0, 1.5}, 3, 0.0);
    assert_column(p, "rotation", COLUMN_F32, (double[]){0.125, 0.0, (double)NAN}, 3, 0.0);
    assert_column(p, "count", COLUMN_U8, (double[]){2, 0, 1}, 3, 0.0);
    assert_column(h, "inliers", COLUMN_U32, (double[]){40, 41, 42}, 3, 0.0);
    assert_column(h, "rms", COLUMN_F32, (double[]){0.75, 1.75, 2.75}, 3, 0.0);
    assert_column(h, "flags", COLUMN_U8, (double[]){2, 1, 2}, 3, 0.0);
    assert_column(h, "group", COLUMN_U32, (double[]){3, 4, UINT32_MAX}, 3, 0.0);
    for (int k = 0; k < 27; ++k)
        H[k] = list[k / 9].H_21[k % 9];
    assert_column(h, "H", COLUMN_F32, H, 27, 1e-7);
    assert_column(h, "count", COLUMN_U32, (double[]){0, 2, 0}, 3, 0.0);
    assert_column(h, "samples", COLUMN_U16, (double[]){1, 3, 3, 65535, 0, 65535, 9, 0}, 8, 0.0);
    assert_close(number_of(h, "columns"), 7.0, 0.0);
    cJSON_Delete(tree);
}

/* Each flag is a bit of its own. */
static void flags_are_bits(void **state) {
    (void)state;
    psfm_graph_pair pairs[8] = {0};
    double expected[8];
    cJSON *tree;
    for (uint32_t k = 0; k < 8; ++k) {
        pairs[k] = (psfm_graph_pair){.image2 = k + 1,
                                     .is_edge = (k & 1) != 0,
                                     .in_tree = (k & 2) != 0,
                                     .kept = (k & 4) != 0};
        expected[k] = k;
    }
    assert_ok(ctx, print(&(psfm_graph_file){.pairs = pairs, .num_pairs = 8}, 100, &tree));
    assert_column(member(tree, "pairs"), "flags", COLUMN_U8, expected, 8, 0.0);
    cJSON_Delete(tree);
}

/* A pair of more than 255 homographies shows as many as its count can say. */
static void counts_fit_into_a_byte(void **state) {
    (void)state;
    enum { MANY = 300 };
    psfm_graph_homography *list = calloc(MANY, sizeof *list);
    psfm_graph_pair pairs[2] = {{.image2 = 1, .homographies = list, .num_homographies = MANY},
                                {.image2 = 2, .homographies = list, .num_homographies = 1}};
    cJSON *tree;
    size_t num;
    assert_non_null(list);
    assert_ok(ctx, print(&(psfm_graph_file){.pairs = pairs, .num_pairs = 2}, 100, &tree));
    assert_column(member(tree, "pairs"), "count", COLUMN_U8, (double[]){255, 1}, 2, 0.0);
    free(column_of(member(tree, "homographies"), "inliers", COLUMN_U32, &num));
    assert_int_equal(num, 256);
    cJSON_Delete(tree);
    free(list);
}

/* A graph without pairs has columns without numbers. */
static void no_pairs_are_empty_columns(void **state) {
    (void)state;
    cJSON *tree;
    assert_ok(ctx, print(&(psfm_graph_file){.num_pairs = 0}, 100, &tree));
    assert_close(number_of(member(tree, "pairs"), "total"), 0.0, 0.0);
    assert_string_equal(string_of(member(tree, "pairs"), "h"), "");
    assert_string_equal(string_of(member(tree, "homographies"), "samples"), "");
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pairs_that_matter_come_first),
        cmocka_unit_test(every_number_is_that_of_the_graph),
        cmocka_unit_test(flags_are_bits),
        cmocka_unit_test(counts_fit_into_a_byte),
        cmocka_unit_test(no_pairs_are_empty_columns),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
