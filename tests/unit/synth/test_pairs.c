#include "test_util.h"

#include "synth/observe.h"

typedef struct {
    psfm_scene_options options;
    psfm_match_pair *pairs;
    size_t num;
} listing;

static listing list(psfm_context *ctx, const psfm_layout *layout, int n, int neighbours,
                    bool open) {
    listing out = {0};
    psfm_options_init(&psfm_scene_option_table, &out.options);
    out.options.num_cameras = n;
    out.options.neighbours = neighbours;
    out.options.open_chain = open;
    psfm_plan plan = {.layout = layout, .options = &out.options, .num_cameras = (size_t)n};
    layout->measure(&plan);
    assert_ok(ctx, psfm_synth_list_pairs(ctx, &plan, &out.pairs, &out.num));
    for (size_t k = 0; k < out.num; ++k) {
        const psfm_match_pair *pair = &out.pairs[k];
        assert_true(pair->view1 < pair->view2 && pair->view2 < (uint32_t)n);
        assert_true(k == 0 || pair[-1].view1 < pair->view1 ||
                    (pair[-1].view1 == pair->view1 && pair[-1].view2 < pair->view2));
    }
    return out;
}

/* Steps between two cameras of a ring of n, or of a chain with n = 0. */
static int steps(const psfm_match_pair *pair, int n) {
    int d = (int)(pair->view2 - pair->view1);
    return n > 0 && n - d < d ? n - d : d;
}

static void rings_and_chains_follow_the_rule(void **state) {
    psfm_context *ctx = *state;
    const struct {
        int n, neighbours;
        bool open;
        size_t expected;
    } cases[] = {
        {46, 2, false, 92}, {46, 2, true, 89}, {46, 1, false, 46}, {46, 1, true, 45},
        {5, 2, false, 10},  {4, 2, false, 6},  {4, 2, true, 5},    {5, 100, false, 10},
        {3, 1, false, 3},   {2, 2, false, 1},  {1, 2, false, 0},   {1, 2, true, 0},
    };
    const psfm_layout *const layouts[] = {&psfm_layout_arena, &psfm_layout_room,
                                          &psfm_layout_general, &psfm_layout_facade};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        for (int l = 0; l < 4; ++l) {
            bool open = cases[c].open || layouts[l] == &psfm_layout_facade;
            if (open != cases[c].open)
                continue;
            listing out =
                list(ctx, layouts[l], cases[c].n, cases[c].neighbours, l < 3 && cases[c].open);
            assert_int_equal(out.num, cases[c].expected);
            for (size_t k = 0; k < out.num; ++k)
                assert_true(steps(&out.pairs[k], open ? 0 : cases[c].n) <= cases[c].neighbours);
            free(out.pairs);
        }
    }
}

/* Place of a camera in a grid of five columns flown back and forth. */
static void place_of(uint32_t camera, int place[2]) {
    place[1] = (int)camera / 5;
    place[0] = place[1] % 2 == 0 ? (int)camera % 5 : 4 - (int)camera % 5;
}

static void grids_follow_the_rule(void **state) {
    psfm_context *ctx = *state;
    for (int neighbours = 1; neighbours <= 3; ++neighbours) {
        listing out = list(ctx, &psfm_layout_field, 23, neighbours, false);
        size_t expected = 0, k = 0;
        for (uint32_t a = 0; a < 23; ++a) {
            for (uint32_t b = a + 1; b < 23; ++b) {
                int p[2], q[2];
                place_of(a, p);
                place_of(b, q);
                int square = (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
                if (square > neighbours * neighbours + 1)
                    continue;
                ++expected;
                assert_true(k < out.num);
                assert_int_equal(out.pairs[k].view1, a);
                assert_int_equal(out.pairs[k++].view2, b);
            }
        }
        assert_int_equal(out.num, expected);
        free(out.pairs);
    }
}

/* Neighbours in the grid are neighbours in the air. */
static void grid_neighbours_are_near(void **state) {
    psfm_context *ctx = *state;
    listing out = list(ctx, &psfm_layout_field, 23, 1, false);
    psfm_plan plan = {.layout = &psfm_layout_field, .options = &out.options, .num_cameras = 23};
    psfm_layout_field.measure(&plan);
    for (size_t k = 0; k < out.num; ++k) {
        psfm_synth_pose a, b;
        psfm_layout_field.place(&plan, out.pairs[k].view1, &a);
        psfm_layout_field.place(&plan, out.pairs[k].view2, &b);
        assert_below(fabs(a.center[0] - b.center[0]), 20.0);
        assert_below(fabs(a.center[1] - b.center[1]), 12.0);
    }
    free(out.pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_and_chains_follow_the_rule),
        cmocka_unit_test(grids_follow_the_rule),
        cmocka_unit_test(grid_neighbours_are_near),
    };
    return cmocka_run_group_tests_name("synth/pairs", tests, open_context, close_context);
}
