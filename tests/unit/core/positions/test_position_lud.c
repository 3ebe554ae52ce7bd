#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/vec3.h"
#include "core/positions/position_lud.h"

/* Cameras with their edges and the directions between them. */
typedef struct {
    uint32_t n, m, capacity;
    double (*center)[3];
    uint32_t *node1, *node2;
    double (*direction)[3];
} problem;

static problem make_problem(uint32_t n, uint32_t capacity) {
    problem p = {.n = n, .capacity = capacity};
    p.center = calloc(n, sizeof *p.center);
    p.node1 = calloc(capacity, sizeof *p.node1);
    p.node2 = calloc(capacity, sizeof *p.node2);
    p.direction = calloc(capacity, sizeof *p.direction);
    return p;
}

static void free_problem(problem *p) {
    free(p->center);
    free(p->node1);
    free(p->node2);
    free(p->direction);
}

static void add_edge(problem *p, uint32_t a, uint32_t b) {
    assert_true(p->m < p->capacity);
    p->node1[p->m] = a;
    p->node2[p->m] = b;
    psfm_sub3(p->center[a], p->center[b], p->direction[p->m]);
    psfm_normalize3(p->direction[p->m++]);
}

/* Cameras on a ring, each joined to `neighbours` on either side. */
static problem ring(uint32_t n, uint32_t neighbours, psfm_rng *rng) {
    problem p = make_problem(n, n * neighbours);
    for (uint32_t i = 0; i < n; ++i) {
        double angle = 2.0 * M_PI * i / n, radius = psfm_rng_range(rng, 20, 25);
        p.center[i][0] = radius * cos(angle);
        p.center[i][1] = radius * sin(angle);
        p.center[i][2] = psfm_rng_range(rng, 3, 8);
    }
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 1; k <= neighbours; ++k)
            add_edge(&p, i, (i + k) % n);
    return p;
}

/* A cloud of cameras with random edges. */
static problem cloud(uint32_t n, uint32_t edges_per_node, psfm_rng *rng) {
    problem p = make_problem(n, n * edges_per_node);
    for (uint32_t i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k)
            p.center[i][k] = 10 * psfm_rng_normal(rng);
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 0; k < edges_per_node; ++k) {
            uint32_t j = k == 0 ? (i + 1) % n : (uint32_t)psfm_rng_below(rng, n);
            if (j != i)
                add_edge(&p, i, j);
        }
    return p;
}

static void corrupt(problem *p, double share, psfm_rng *rng) {
    for (uint32_t e = 0; e < p->m; ++e)
        if (psfm_rng_uniform(rng) < share)
            psfm_rng_direction(rng, p->direction[e]);
}

static void add_noise(problem *p, double angle, psfm_rng *rng) {
    for (uint32_t e = 0; e < p->m; ++e) {
        for (int k = 0; k < 3; ++k)
            p->direction[e][k] += angle * psfm_rng_normal(rng);
        psfm_normalize3(p->direction[e]);
    }
}

/* Largest distance from the truth after the best scale and shift, as a share of the scene's size
 * (root mean square distance from its centroid). */
static double shape_error(const problem *p, double (*estimate)[3]) {
    double mean[3] = {0}, xx = 0, xy = 0, yy = 0, largest = 0;
    for (uint32_t i = 0; i < p->n; ++i)
        psfm_axpy3(mean, 1.0 / p->n, p->center[i], mean);
    for (uint32_t i = 0; i < p->n; ++i) {
        double y[3];
        psfm_sub3(p->center[i], mean, y);
        xx += psfm_dot3(estimate[i], estimate[i]);
        xy += psfm_dot3(estimate[i], y);
        yy += psfm_dot3(y, y);
    }
    for (uint32_t i = 0; i < p->n; ++i) {
        double y[3];
        psfm_sub3(p->center[i], mean, y);
        psfm_axpy3(y, -xy / xx, estimate[i], y);
        largest = fmax(largest, psfm_norm3(y));
    }
    return largest / sqrt(yy / p->n);
}

static double solve(const problem *p, int rounds, psfm_lud_stats *stats) {
    psfm_context *ctx = psfm_context_create();
    double(*estimate)[3] = calloc(p->n, sizeof *estimate);
    psfm_lud_options options;
    psfm_options_init(&psfm_lud_option_table, &options);
    options.rounds = rounds;
    psfm_topology graph = {p->n, p->m, p->node1, p->node2};
    assert_ok(ctx, psfm_positions_lud(ctx, &graph, (const double(*)[3])p->direction, &options,
                                      estimate, stats));
    double error = shape_error(p, estimate), sum[3] = {0};
    for (uint32_t i = 0; i < p->n; ++i)
        psfm_axpy3(sum, 1.0 / p->n, estimate[i], sum);
    assert_below(psfm_norm3(sum), 1e-9);
    free(estimate);
    psfm_context_destroy(&ctx);
    return error;
}

static void exact_on_noise_free_rigid_graphs(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    problem problems[] = {ring(46, 2, &rng), ring(1000, 3, &rng), cloud(300, 4, &rng)};
    for (size_t k = 0; k < 3; ++k)
        for (int rounds = 0; rounds <= 3; rounds += 3) {
            psfm_lud_stats stats;
            assert_below(solve(&problems[k], rounds, &stats), 1e-9);
            assert_true(stats.converged);
            assert_below(stats.cost, 1e-6);
        }
    for (size_t k = 0; k < 3; ++k)
        free_problem(&problems[k]);
}

/* One direction in ten wrong: the plain convex problem still gives the truth on a dense graph. */
static void plain_lud_survives_a_few_wrong_directions(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    problem p = cloud(150, 30, &rng);
    corrupt(&p, 0.1, &rng);
    assert_below(solve(&p, 0, NULL), 1e-6);
    free_problem(&p);
}

static void thirty_per_cent_wrong_directions(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    problem problems[] = {ring(46, 8, &rng), cloud(100, 10, &rng), cloud(300, 20, &rng)};
    for (size_t k = 0; k < 3; ++k) {
        corrupt(&problems[k], 0.3, &rng);
        assert_below(solve(&problems[k], 3, NULL), 1e-6);
        free_problem(&problems[k]);
    }
    problem noisy = cloud(200, 20, &rng);
    add_noise(&noisy, psfm_radians(0.1), &rng);
    corrupt(&noisy, 0.3, &rng);
    assert_below(solve(&noisy, 3, NULL), 0.01);
    free_problem(&noisy);
}

/* No configuration nearby may cost less: the cost is convex, so the minimum is global. */
static void noisy_minimum_is_a_minimum(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    psfm_context *ctx = psfm_context_create();
    problem p = cloud(30, 6, &rng);
    add_noise(&p, 0.02, &rng);
    double(*x)[3] = calloc(p.n, sizeof *x);
    psfm_lud_options options;
    psfm_lud_stats stats;
    psfm_options_init(&psfm_lud_option_table, &options);
    options.rounds = 0;
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    assert_ok(
        ctx, psfm_positions_lud(ctx, &graph, (const double(*)[3])p.direction, &options, x, &stats));
    for (int trial = 0; trial < 300; ++trial) {
        double size = pow(10.0, -1 - trial % 4), cost = 0;
        double(*y)[3] = calloc(p.n, sizeof *y);
        for (uint32_t i = 0; i < p.n; ++i)
            for (int k = 0; k < 3; ++k)
                y[i][k] = x[i][k] * (trial % 3 == 0   ? 1 + size
                                     : trial % 3 == 1 ? 1 - size
                                                      : 1) +
                          (trial % 3 == 2 ? size * psfm_rng_normal(&rng) : 0);
        for (uint32_t e = 0; e < p.m; ++e) {
            double v[3];
            psfm_sub3(y[p.node1[e]], y[p.node2[e]], v);
            psfm_axpy3(v, -fmax(1.0, psfm_dot3(v, p.direction[e])), p.direction[e], v);
            cost += psfm_norm3(v);
        }
        assert_true(cost > stats.cost * (1 - 1e-7));
        free(y);
    }
    free(x);
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

static double plain_cost(const problem *p, const psfm_lud_options *options, bool *converged) {
    psfm_context *ctx = psfm_context_create();
    double(*x)[3] = calloc(p->n, sizeof *x);
    psfm_lud_stats stats;
    psfm_topology graph = {p->n, p->m, p->node1, p->node2};
    assert_ok(
        ctx, psfm_positions_lud(ctx, &graph, (const double(*)[3])p->direction, options, x, &stats));
    free(x);
    psfm_context_destroy(&ctx);
    *converged = stats.converged;
    return stats.cost;
}

/* Rings, one of them barely rigid, and a cloud, with noise: what it says to be the minimum is no
 * higher than with a hundred times the effort. */
static void it_does_not_stop_early(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    problem problems[] = {ring(300, 2, &rng), ring(300, 5, &rng), cloud(200, 3, &rng)};
    for (size_t k = 0; k < 3; ++k) {
        psfm_lud_options options;
        bool converged, thoroughly;
        add_noise(&problems[k], 0.005, &rng);
        psfm_options_init(&psfm_lud_option_table, &options);
        options.rounds = 0;
        double cost = plain_cost(&problems[k], &options, &converged);
        options.max_iterations = 10000;
        options.tolerance = 1e-11;
        options.residual_floor = 1e-9;
        double least = plain_cost(&problems[k], &options, &thoroughly);
        assert_true(converged);
        assert_below(cost, least * (1 + 2e-6));
        free_problem(&problems[k]);
    }
}

/* Cameras over a field, with two edges each: one to the next camera, and one to another nearby. */
static problem sparse_field(uint32_t side, psfm_rng *rng) {
    static const uint32_t step[6][2] = {{0, 1}, {1, 1}, {2, 1}, {1, 2}, {0, 2}, {2, 0}};
    problem p = make_problem(side * side, 2 * side * side);
    for (uint32_t i = 0; i < p.n; ++i) {
        p.center[i][0] = i % side;
        p.center[i][1] = i / side;
        p.center[i][2] = psfm_rng_range(rng, -0.3, 0.3);
    }
    for (uint32_t i = 0; i < p.n; ++i) {
        const uint32_t *to = step[psfm_rng_below(rng, 6)];
        uint32_t x = i % side, y = i / side;
        if (x + 1 < side)
            add_edge(&p, i, i + 1);
        else if (y + 1 < side)
            add_edge(&p, i, i + side);
        if (x + to[0] < side && y + to[1] < side)
            add_edge(&p, i, (y + to[1]) * side + x + to[0]);
    }
    return p;
}

/* Where single edges run into the bound of their length, whole steps must not be cut for it, as
 * they are, more and more as the graph grows, if a step does not foresee the bound: it then takes
 * 37 to 43 solves and 47 to 59. */
static void large_fields_take_few_solves(void **state) {
    (void)state;
    for (uint32_t side = 30; side <= 70; side += 40) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
        problem p = sparse_field(side, &rng);
        psfm_lud_options options;
        bool converged, thoroughly;
        add_noise(&p, 0.005, &rng);
        psfm_options_init(&psfm_lud_option_table, &options);
        options.rounds = 0;
        options.max_iterations = 36;
        double cost = plain_cost(&p, &options, &converged);
        options.max_iterations = 300;
        options.tolerance = 1e-11;
        options.residual_floor = 1e-9;
        double least = plain_cost(&p, &options, &thoroughly);
        assert_true(converged);
        assert_below(cost, least * (1 + 2e-6));
        free_problem(&p);
    }
}

static void same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 0, 0);
    problem p = ring(500, 3, &rng);
    add_noise(&p, 0.005, &rng);
    corrupt(&p, 0.05, &rng);
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    double(*x[2])[3];
    for (int k = 0; k < 2; ++k) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, k == 0 ? 1 : 4);
        x[k] = calloc(p.n, sizeof *x[k]);
        assert_ok(ctx, psfm_positions_lud(ctx, &graph, (const double(*)[3])p.direction, NULL, x[k],
                                          NULL));
        psfm_context_destroy(&ctx);
    }
    assert_memory_equal(x[0], x[1], p.n * sizeof *x[0]);
    free(x[0]);
    free(x[1]);
    free_problem(&p);
}

/* Directions of a chain leave every length free; the solution must keep the directions and must
 * not collapse. */
static void chains_keep_their_directions(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    psfm_context *ctx = psfm_context_create();
    problem p = make_problem(50, 49);
    for (uint32_t i = 0; i < 50; ++i)
        for (int k = 0; k < 3; ++k)
            p.center[i][k] = (k == 0) * i + psfm_rng_normal(&rng);
    for (uint32_t i = 0; i + 1 < 50; ++i)
        add_edge(&p, i, i + 1);
    double x[50][3];
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    assert_ok(ctx, psfm_positions_lud(ctx, &graph, (const double(*)[3])p.direction, NULL, x, NULL));
    for (uint32_t e = 0; e < p.m; ++e) {
        double v[3];
        psfm_sub3(x[p.node1[e]], x[p.node2[e]], v);
        assert_true(psfm_norm3(v) > 0.999 && psfm_norm3(v) < 10);
        assert_below(psfm_angle3(v, p.direction[e]), 1e-6);
    }
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

/* A ring whose directions are noisy, and a chain that hangs on it: nothing holds the lengths of the
 * chain, and they stay what they are at the start. */
static void what_hangs_loose_does_not_run_away(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    psfm_context *ctx = psfm_context_create();
    enum { RING = 40, LOOSE = 10, NUM = RING + LOOSE };
    problem whole = make_problem(NUM, 3 * RING + LOOSE), r = ring(RING, 3, &rng);
    double x[NUM][3];
    memcpy(whole.center, r.center, RING * sizeof *r.center);
    for (uint32_t i = RING; i < NUM; ++i)
        for (int k = 0; k < 3; ++k)
            whole.center[i][k] = whole.center[i - 1][k] + psfm_rng_normal(&rng);
    for (uint32_t e = 0; e < r.m; ++e)
        add_edge(&whole, r.node1[e], r.node2[e]);
    add_noise(&whole, 0.01, &rng);
    for (uint32_t i = RING; i < NUM; ++i)
        add_edge(&whole, i, i - 1);
    psfm_topology graph = {whole.n, whole.m, whole.node1, whole.node2};
    assert_ok(ctx,
              psfm_positions_lud(ctx, &graph, (const double(*)[3])whole.direction, NULL, x, NULL));
    for (uint32_t e = r.m; e < whole.m; ++e) {
        double v[3];
        psfm_sub3(x[whole.node1[e]], x[whole.node2[e]], v);
        assert_true(psfm_norm3(v) > 0.999 && psfm_norm3(v) < 10);
    }
    free_problem(&r);
    free_problem(&whole);
    psfm_context_destroy(&ctx);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t node1[] = {0, 2}, node2[] = {1, 3};
    double g[2][3] = {{1, 0, 0}, {0, 1, 0}}, x[4][3] = {{7}};
    psfm_topology graph = {4, 2, node1, node2};
    const double(*directions)[3] = (const double(*)[3])g;
    assert_int_equal(psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "2 parts"));
    node2[1] = 0;
    graph.num_nodes = 3;
    g[1][1] = NAN;
    assert_int_equal(psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL), PSFM_ERR_ARGUMENT);
    g[1][1] = 2.0;
    assert_int_equal(psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL), PSFM_ERR_ARGUMENT);
    node2[1] = 3;
    g[1][1] = 1.0;
    assert_int_equal(psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL), PSFM_ERR_ARGUMENT);
    graph = (psfm_topology){0, 0, node1, node2};
    assert_int_equal(psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL), PSFM_ERR_ARGUMENT);
    assert_true(x[0][0] == 7.0);
    graph.num_nodes = 1;
    assert_ok(ctx, psfm_positions_lud(ctx, &graph, directions, NULL, x, NULL));
    assert_true(x[0][0] == 0.0);
    psfm_context_destroy(&ctx);
}

static void every_failing_allocation_is_said(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    problem p = ring(8, 2, &rng);
    double x[8][3];
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_positions_lud(ctx, &graph, (const double(*)[3])p.direction, NULL, x, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK ? n > 10 : status == PSFM_ERR_MEMORY);
    }
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_on_noise_free_rigid_graphs),
        cmocka_unit_test(plain_lud_survives_a_few_wrong_directions),
        cmocka_unit_test(thirty_per_cent_wrong_directions),
        cmocka_unit_test(noisy_minimum_is_a_minimum),
        cmocka_unit_test(it_does_not_stop_early),
        cmocka_unit_test(large_fields_take_few_solves),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(chains_keep_their_directions),
        cmocka_unit_test(what_hangs_loose_does_not_run_away),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(every_failing_allocation_is_said),
    };
    return cmocka_run_group_tests_name("positions/position_lud", tests, NULL, NULL);
}
