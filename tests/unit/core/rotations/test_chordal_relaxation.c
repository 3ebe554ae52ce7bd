#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/rotations/chordal_relaxation.h"

/* Pose graphs as robots make them: a trajectory whose next poses and next laps are joined. */
typedef struct {
    uint32_t n, m;
    uint32_t *node1, *node2;
    double (*truth)[9], (*R_21)[9], *weight;
} robot;

static void turn_by(psfm_rng *rng, double angle, double R[9]) {
    double axis[3], turn[9], turned[9];
    psfm_rng_direction(rng, axis);
    psfm_scale3(angle, axis, axis);
    psfm_rotation_exp(axis, turn);
    psfm_mat3_mul(turn, R, turned);
    memcpy(R, turned, sizeof turned);
}

static robot allocate_robot(uint32_t n, uint32_t most) {
    return (robot){.n = n,
                   .node1 = calloc(most, sizeof(uint32_t)),
                   .node2 = calloc(most, sizeof(uint32_t)),
                   .truth = calloc(n, 9 * sizeof(double)),
                   .R_21 = calloc(most, 9 * sizeof(double)),
                   .weight = calloc(most, sizeof(double))};
}

static void free_robot(robot *r) {
    free(r->node1);
    free(r->node2);
    free(r->truth);
    free(r->R_21);
    free(r->weight);
}

/* An edge whose rotation is off by about `noise` radians about each axis. */
static void join_poses(robot *r, uint32_t a, uint32_t b, double noise, psfm_rng *rng) {
    uint32_t e = r->m++;
    r->node1[e] = a;
    r->node2[e] = b;
    r->weight[e] = 0.5 + psfm_rng_uniform(rng);
    psfm_mat3_mul_t(r->truth[b], r->truth[a], r->R_21[e]);
    turn_by(rng, noise * sqrt(3.0) * fabs(psfm_rng_normal(rng)), r->R_21[e]);
}

/* `laps` laps of `per_lap` poses around a sphere or torus; each joined to the next one and to those
 * beside it in the next lap, and on a torus the last lap to the first. */
static robot make_laps(uint32_t laps, uint32_t per_lap, bool torus, double noise, psfm_rng *rng) {
    robot r = allocate_robot(laps * per_lap, 3 * laps * per_lap);
    for (uint32_t v = 0; v < r.n; ++v) {
        double around = 6.283185307179586 * (v % per_lap) / per_lap;
        double along = (torus ? 6.283185307179586 : 3.0) * v / r.n;
        double yaw[3] = {0.0, 0.0, around}, pitch[3] = {0.0, along, 0.0}, A[9], B[9];
        psfm_rotation_exp(yaw, A);
        psfm_rotation_exp(pitch, B);
        psfm_mat3_mul(B, A, r.truth[v]);
    }
    for (uint32_t v = 0; v < r.n; ++v) {
        if (v + 1 < r.n)
            join_poses(&r, v, v + 1, noise, rng);
        if (v + per_lap < r.n || torus)
            join_poses(&r, v, (v + per_lap) % r.n, noise, rng);
    }
    return r;
}

/* side^3 poses at random, joined along the axes of a grid. */
static robot make_grid(uint32_t side, double noise, psfm_rng *rng) {
    const uint32_t step[3] = {1, side, side * side};
    robot r = allocate_robot(side * side * side, 3 * side * side * side);
    for (uint32_t v = 0; v < r.n; ++v) {
        psfm_mat3_identity(r.truth[v]);
        turn_by(rng, 3.0 * psfm_rng_uniform(rng), r.truth[v]);
    }
    for (uint32_t v = 0; v < r.n; ++v)
        for (int k = 0; k < 3; ++k)
            if (v / step[k] % side + 1 < side)
                join_poses(&r, v, v + step[k], noise, rng);
    return r;
}

static double measure_cost(const robot *r, const double *residual, psfm_rotation_loss loss) {
    double cost = 0.0;
    for (uint32_t e = 0; e < r->m; ++e)
        cost += r->weight[e] * (loss == PSFM_ROTATION_ANGLE ? residual[e] * residual[e]
                                                            : 8.0 * pow(sin(0.5 * residual[e]), 2));
    return cost;
}

/* The cost at the end of a descent from a start. */
static double descend_from(psfm_context *ctx, const robot *r, psfm_rotation_loss loss,
                           double (*R)[9]) {
    psfm_topology graph = {r->n, r->m, r->node1, r->node2};
    psfm_relative_rotations relative = {&graph, (const double(*)[9])r->R_21, r->weight};
    psfm_rotation_average_options options = {
        .loss = (int)loss, .max_iterations = 1000, .tolerance_deg = 1e-5};
    psfm_rotation_average_stats stats;
    double *residual = calloc(r->m, sizeof *residual);
    assert_ok(ctx, psfm_rotations_average(ctx, &relative, &options, R, residual, &stats));
    assert_true(stats.converged);
    double cost = measure_cost(r, residual, loss);
    free(residual);
    return cost;
}

/* The relaxation leads where descent from the truth leads, and costs not much more itself. */
static void check_optimum(const robot *r, double relaxed_excess) {
    psfm_context *ctx = psfm_context_create();
    psfm_topology graph = {r->n, r->m, r->node1, r->node2};
    psfm_relative_rotations relative = {&graph, (const double(*)[9])r->R_21, r->weight};
    double(*start)[9] = calloc(r->n, sizeof *start), (*R)[9] = calloc(r->n, sizeof *R);
    assert_ok(ctx, psfm_chordal_relaxation(ctx, &relative, start));
    double relaxed = 0.0;
    for (uint32_t e = 0; e < r->m; ++e) {
        double predicted[9];
        psfm_mat3_mul(r->R_21[e], start[r->node1[e]], predicted);
        relaxed += r->weight[e] * 8.0 *
                   pow(sin(0.5 * psfm_rotation_angle(predicted, start[r->node2[e]])), 2);
    }
    for (psfm_rotation_loss loss = PSFM_ROTATION_ANGLE; loss <= PSFM_ROTATION_CHORDAL; ++loss) {
        memcpy(R, start, r->n * sizeof *R);
        double found = descend_from(ctx, r, loss, R);
        memcpy(R, r->truth, r->n * sizeof *R);
        double best = descend_from(ctx, r, loss, R);
        if (getenv("PSFM_VERBOSE") != NULL)
            printf("n %u m %u loss %d: relaxed %.10g found %.12g from truth %.12g\n", r->n, r->m,
                   (int)loss, relaxed, found, best);
        assert_true(found <= best * (1.0 + 1e-9));
        if (loss == PSFM_ROTATION_CHORDAL)
            assert_true(relaxed <= best * (1.0 + relaxed_excess));
    }
    free(start);
    free(R);
    psfm_context_destroy(&ctx);
}

static void test_sphere(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    robot r = make_laps(50, 50, false, 0.05, &rng);
    check_optimum(&r, 0.2);
    free_robot(&r);
}

static void test_torus(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 1, 0);
    robot r = make_laps(50, 100, true, 0.1, &rng);
    check_optimum(&r, 0.2);
    free_robot(&r);
}

static void test_grid(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 2, 0);
    robot r = make_grid(14, 0.15, &rng);
    check_optimum(&r, 0.2);
    free_robot(&r);
}

/* Without noise the relaxation is the truth, up to the gauge of each component. */
static void test_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 3, 0);
    robot r = make_laps(10, 12, true, 0.0, &rng);
    psfm_topology graph = {r.n + 1, r.m, r.node1, r.node2}; /* and a node without edges */
    psfm_relative_rotations relative = {&graph, (const double(*)[9])r.R_21, NULL};
    double(*R)[9] = calloc(r.n + 1, sizeof *R), expected[9], identity[9];
    psfm_mat3_identity(identity);
    assert_ok(ctx, psfm_chordal_relaxation(ctx, &relative, R));
    for (uint32_t v = 0; v < r.n; ++v) {
        psfm_mat3_mul_t(r.truth[v], r.truth[0], expected);
        assert_true(psfm_rotation_angle(R[v], expected) < 1e-9);
    }
    assert_memory_equal(R[r.n], identity, sizeof identity);
    free(R);
    free_robot(&r);
    psfm_context_destroy(&ctx);
}

/* The same bytes for any number of threads. */
static void test_threads(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 4, 0);
    robot r = make_laps(20, 30, true, 0.1, &rng);
    psfm_topology graph = {r.n, r.m, r.node1, r.node2};
    psfm_relative_rotations relative = {&graph, (const double(*)[9])r.R_21, r.weight};
    double(*R)[9] = calloc(2 * r.n, sizeof *R);
    for (int k = 0; k < 2; ++k) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, k == 0 ? 1 : 4);
        assert_ok(ctx, psfm_chordal_relaxation(ctx, &relative, R + (size_t)k * r.n));
        psfm_context_destroy(&ctx);
    }
    assert_memory_equal(R, R + r.n, r.n * sizeof *R);
    free(R);
    free_robot(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere), cmocka_unit_test(test_torus),   cmocka_unit_test(test_grid),
        cmocka_unit_test(test_exact),  cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
