#include "test_util.h"

#include "core/linalg/vec3.h"
#include "planarsfm/position.h"

static const double truth[4][3] = {{0, 0, 0}, {2, 0, 0.5}, {1, 3, 0}, {2, 2, 2}};
static const uint32_t edges[6][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 3}};

static void make_directions(double (*g)[3]) {
    for (int e = 0; e < 6; ++e) {
        psfm_sub3(truth[edges[e][0]], truth[edges[e][1]], g[e]);
        psfm_normalize3(g[e]);
    }
}

static void test_exact(void **state) {
    psfm_context *ctx = *state;
    psfm_graph graph = {sizeof graph, 4, 6, *edges, NULL};
    psfm_lud_settings plain = {.struct_size = sizeof plain, .rounds = -1};
    psfm_lud_result result = {.struct_size = sizeof result};
    double g[6][3], c[4][3], base[3], a[3], b[3];
    make_directions(g);
    for (int k = 0; k < 2; ++k) {
        assert_ok(ctx, psfm_lud_positions(ctx, &graph, *g, k ? &plain : NULL, *c, &result));
        assert_true(result.converged);
        psfm_sub3(c[1], c[0], base);
        double scale = psfm_norm3(base) / psfm_norm3(truth[1]);
        for (int v = 1; v < 4; ++v) {
            psfm_sub3(c[v], c[0], a);
            psfm_scale3(scale, truth[v], b);
            psfm_sub3(a, b, a);
            assert_below(psfm_norm3(a), 1e-5 * scale);
        }
    }
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    psfm_graph graph = {sizeof graph, 4, 6, *edges, NULL};
    psfm_graph apart = {sizeof apart, 5, 6, *edges, NULL};
    psfm_lud_settings bad = {.struct_size = sizeof bad, .tolerance = -1.0};
    double g[6][3], c[5][3], longer[6][3];
    make_directions(g);
    memcpy(longer, g, sizeof g);
    longer[3][0] += 1.0;
    const psfm_status refused[] = {
        psfm_lud_positions(NULL, &graph, *g, NULL, *c, NULL),
        psfm_lud_positions(ctx, NULL, *g, NULL, *c, NULL),
        psfm_lud_positions(ctx, &graph, NULL, NULL, *c, NULL),
        psfm_lud_positions(ctx, &graph, *g, NULL, NULL, NULL),
        psfm_lud_positions(ctx, &graph, *longer, NULL, *c, NULL),
        psfm_lud_positions(ctx, &graph, *g, &bad, *c, NULL),
        psfm_lud_positions(ctx, &apart, *g, NULL, *c, NULL),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
