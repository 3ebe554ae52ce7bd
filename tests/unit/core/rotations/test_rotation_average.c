#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/rotations/rotation_average.h"

/* Cameras with random rotations, edges with their relative rotations, and a start. */
typedef struct {
    uint32_t n, m;
    uint32_t *node1, *node2;
    double (*truth)[9], (*R_21)[9], (*R)[9];
    bool *is_outlier;
} problem;

static void random_rotation(psfm_rng *rng, double angle, double R[9]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(angle, w, w);
    psfm_rotation_exp(w, R);
}

/* Starts from the tree that the edges form taken in order. */
static void start_from_tree(problem *p) {
    psfm_context *ctx = psfm_context_create();
    psfm_relative_pose *poses = calloc(p->m, sizeof *poses);
    uint32_t *parent = calloc(p->n, sizeof *parent), *tree = calloc(p->n, sizeof *tree), num = 0;
    bool *reached = calloc(p->n, sizeof *reached);
    for (uint32_t v = 0; v < p->n; ++v)
        parent[v] = v;
    for (uint32_t e = 0; e < p->m; ++e) {
        uint32_t a = p->node1[e], b = p->node2[e];
        memcpy(poses[e].R_21, p->R_21[e], sizeof poses[e].R_21);
        while (parent[a] != a)
            a = parent[a];
        while (parent[b] != b)
            b = parent[b];
        if (a != b) {
            parent[a] = b;
            tree[num++] = e;
        }
    }
    psfm_topology graph = {p->n, p->m, p->node1, p->node2};
    assert_ok(ctx, psfm_rotations_propagate(ctx, &graph, poses,
                                            &(psfm_spanning_tree){.edges = tree, .num_edges = num},
                                            0, p->R, reached));
    free(poses);
    free(parent);
    free(tree);
    free(reached);
    psfm_context_destroy(&ctx);
}

/* Each camera joined to the next `neighbours` on a ring, or to random ones. Noise in radians. */
static problem make_problem(psfm_rng *rng, uint32_t n, uint32_t neighbours, bool ring, double noise,
                            double outliers) {
    size_t capacity = (size_t)n * neighbours;
    problem p = {.n = n};
    p.truth = calloc(n, sizeof *p.truth);
    p.R = calloc(n, sizeof *p.R);
    p.R_21 = calloc(capacity, sizeof *p.R_21);
    p.node1 = calloc(capacity, sizeof *p.node1);
    p.node2 = calloc(capacity, sizeof *p.node2);
    p.is_outlier = calloc(capacity, sizeof *p.is_outlier);
    for (uint32_t v = 0; v < n; ++v)
        random_rotation(rng, psfm_rng_range(rng, 0, M_PI), p.truth[v]);
    for (uint32_t v = 0; v < n; ++v)
        for (uint32_t k = 1; k <= neighbours; ++k) {
            uint32_t other = ring || k == 1 ? (v + k) % n : (uint32_t)psfm_rng_below(rng, n);
            double exact[9], E[9], w[3];
            if (other == v)
                continue;
            p.node1[p.m] = v;
            p.node2[p.m] = other;
            psfm_mat3_mul_t(p.truth[other], p.truth[v], exact);
            for (int i = 0; i < 3; ++i)
                w[i] = noise * psfm_rng_normal(rng);
            psfm_rotation_exp(w, E);
            p.is_outlier[p.m] = psfm_rng_uniform(rng) < outliers;
            if (p.is_outlier[p.m])
                random_rotation(rng, psfm_rng_range(rng, 0.2, M_PI), E);
            psfm_mat3_mul(E, exact, p.R_21[p.m++]);
        }
    start_from_tree(&p);
    return p;
}

static void free_problem(problem *p) {
    free(p->truth);
    free(p->R);
    free(p->R_21);
    free(p->node1);
    free(p->node2);
    free(p->is_outlier);
}

static void average(problem *p, double *residual, psfm_rotation_average_stats *stats) {
    psfm_context *ctx = psfm_context_create();
    psfm_topology graph = {p->n, p->m, p->node1, p->node2};
    assert_ok(ctx, psfm_rotations_average(
                       ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p->R_21, NULL},
                       NULL, p->R, residual, stats));
    psfm_context_destroy(&ctx);
}

/* Median and largest angle to the truth, in radians, after aligning the worlds by their mean. */
static void errors(const problem *p, double *median, double *largest) {
    double sum[9] = {0}, G[9], *angle = calloc(p->n, sizeof *angle);
    for (uint32_t v = 0; v < p->n; ++v) {
        psfm_mat3_t_mul(p->R[v], p->truth[v], G);
        for (int k = 0; k < 9; ++k)
            sum[k] += G[k];
    }
    assert_true(psfm_mat3_nearest_rotation(sum, G));
    *largest = 0;
    for (uint32_t v = 0; v < p->n; ++v) {
        double R[9];
        psfm_mat3_mul(p->R[v], G, R);
        angle[v] = psfm_rotation_angle(R, p->truth[v]);
        *largest = fmax(*largest, angle[v]);
    }
    *median = psfm_median(angle, p->n);
    free(angle);
}

static void exact_without_noise(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    double median, largest;
    for (int kind = 0; kind < 3; ++kind) {
        problem p = make_problem(&rng, 200, kind == 0 ? 2 : 10, kind < 2, 0, kind == 0 ? 0 : 0.3);
        double *residual = calloc(p.m, sizeof *residual);
        psfm_rotation_average_stats stats;
        average(&p, residual, &stats);
        errors(&p, &median, &largest);
        assert_below(largest, 1e-9);
        assert_true(stats.converged);
        for (uint32_t e = 0; e < p.m; ++e)
            assert_true(p.is_outlier[e] ? residual[e] > 0.19 : residual[e] < 1e-9);
        free(residual);
        free_problem(&p);
    }
}

/* A node with d edges of noise sigma per axis is off by about sigma / sqrt(d) per axis; 30 % of
 * the edges lost and the neighbours' errors cost a factor that is well below 2 here. */
static void noise_level_despite_outliers(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    double median, largest, clean;
    problem p = make_problem(&rng, 500, 10, false, psfm_radians(0.5), 0.0);
    average(&p, NULL, NULL);
    errors(&p, &clean, &largest);
    assert_below(clean, 1.54 * psfm_radians(0.5) / sqrt(20) * 1.2);
    free_problem(&p);
    p = make_problem(&rng, 500, 10, false, psfm_radians(0.5), 0.3);
    average(&p, NULL, NULL);
    errors(&p, &median, &largest);
    assert_below(median, 1.5 * clean);
    assert_below(largest, psfm_radians(1.5));
    free_problem(&p);
    p = make_problem(&rng, 46, 6, true, psfm_radians(0.1), 0.3);
    average(&p, NULL, NULL);
    errors(&p, &median, &largest);
    assert_below(largest, psfm_radians(0.5));
    free_problem(&p);
}

/* With weights, wrong edges that outnumber the right ones can be told off; an edge of weight 0
 * still gets its residual. */
static void weights_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    problem p = make_problem(&rng, 100, 6, true, 0, 0.7);
    double *weight = calloc(p.m, sizeof *weight), *residual = calloc(p.m, sizeof *residual);
    for (uint32_t e = 0; e < p.m; ++e)
        weight[e] = !p.is_outlier[e] ? 1.0 : e % 2 == 0 ? 0.0 : 1e-3;
    for (uint32_t v = 0; v + 1 < p.n; ++v) { /* so that the good edges connect all */
        psfm_mat3_mul_t(p.truth[v + 1], p.truth[v], p.R_21[6 * v]);
        weight[6 * v] = 1.0;
        p.is_outlier[6 * v] = false;
    }
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    assert_ok(ctx, psfm_rotations_average(
                       ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p.R_21, weight},
                       NULL, p.R, residual, NULL));
    double median, largest;
    errors(&p, &median, &largest);
    assert_below(largest, 1e-6);
    for (uint32_t e = 0; e < p.m; ++e)
        assert_true(p.is_outlier[e] == (residual[e] > 0.19));
    free(weight);
    free(residual);
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

static void gauge_stays_and_components_are_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    problem p = make_problem(&rng, 40, 4, true, 0.02, 0.1);
    /* Nodes 20 .. 39 apart from 0 .. 19, and node 40 alone. */
    for (uint32_t e = 0; e < p.m; ++e)
        if (p.node1[e] / 20 != p.node2[e] / 20)
            p.node2[e] = p.node1[e] % 20 == 19 ? p.node1[e] - 1 : p.node1[e] + 1;
    double R[41][9], before[41][9];
    for (int v = 0; v < 41; ++v)
        random_rotation(&rng, 2.0, R[v]);
    memcpy(before, R, sizeof R);
    psfm_topology graph = {41, p.m, p.node1, p.node2};
    assert_ok(ctx, psfm_rotations_average(
                       ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p.R_21, NULL},
                       NULL, R, NULL, NULL));
    assert_below(psfm_rotation_angle(R[0], before[0]), 1e-12);
    assert_below(psfm_rotation_angle(R[20], before[20]), 1e-12);
    assert_below(psfm_rotation_angle(R[40], before[40]), 1e-12);
    assert_true(psfm_rotation_angle(R[7], before[7]) > 0.01);
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

static void threads_and_failing_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    problem p = make_problem(&rng, 1500, 6, true, 0.01, 0.2);
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    size_t size = p.n * sizeof *p.R;
    double(*start)[9] = malloc(size), (*first)[9] = malloc(size);
    memcpy(start, p.R, size);
    for (int threads = 1; threads <= 4; threads += 3) {
        memcpy(p.R, start, size);
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx,
                  psfm_rotations_average(
                      ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p.R_21, NULL},
                      NULL, p.R, NULL, NULL));
        if (threads == 1)
            memcpy(first, p.R, size);
    }
    assert_memory_equal(first, p.R, size);
    graph = (psfm_topology){10, 24, p.node1, p.node2};
    psfm_context_set_threads(ctx, 1);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        memcpy(p.R, start, size);
        psfm_alloc_fail_after(n);
        status = psfm_rotations_average(
            ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p.R_21, NULL}, NULL, p.R,
            NULL, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK ? n > 8 : status == PSFM_ERR_MEMORY);
        if (status != PSFM_OK)
            assert_memory_equal(p.R, start, size);
    }
    free(start);
    free(first);
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t node1[] = {0}, node2[] = {1};
    double R[2][9], R_21[1][9], weight = -1;
    psfm_mat3_identity(R[0]);
    psfm_mat3_identity(R[1]);
    psfm_mat3_identity(R_21[0]);
    psfm_topology graph = {2, 1, node1, node2};
    const double(*relative)[9] = (const double(*)[9])R_21;
    assert_int_equal(psfm_rotations_average(ctx,
                                            &(psfm_relative_rotations){&graph, relative, &weight},
                                            NULL, R, NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    R_21[0][4] = NAN;
    assert_int_equal(psfm_rotations_average(ctx, &(psfm_relative_rotations){&graph, relative, NULL},
                                            NULL, R, NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    R_21[0][4] = -1; /* a reflection */
    assert_int_equal(psfm_rotations_average(ctx, &(psfm_relative_rotations){&graph, relative, NULL},
                                            NULL, R, NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    R_21[0][4] = 1;
    R[1][0] = 0;
    assert_int_equal(psfm_rotations_average(ctx, &(psfm_relative_rotations){&graph, relative, NULL},
                                            NULL, R, NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    R[1][0] = 1;
    weight = 0; /* nothing to go by: nothing moves */
    assert_ok(ctx,
              psfm_rotations_average(ctx, &(psfm_relative_rotations){&graph, relative, &weight},
                                     NULL, R, NULL, NULL));
    graph = (psfm_topology){0, 0, node1, node2};
    assert_ok(ctx, psfm_rotations_average(ctx, &(psfm_relative_rotations){&graph, relative, NULL},
                                          NULL, R, NULL, NULL));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_without_noise),
        cmocka_unit_test(noise_level_despite_outliers),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(gauge_stays_and_components_are_apart),
        cmocka_unit_test(threads_and_failing_memory),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests_name("rotations/rotation_average", tests, NULL, NULL);
}
