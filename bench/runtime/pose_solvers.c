/* Growth of the graph solvers with the size of the graph: rigidity analysis, rotation averaging,
 * positions by least unsquared deviations. 30 % of the relative rotations and 10 % of the
 * directions are wrong, the others have 0.2 degrees of noise.
 *
 *   bench_pose_solvers [largest number of cameras, default 10000] [neighbours, default 10]
 * Graphs: "ring", each camera with the next `neighbours`; "grid", each with the nearest of a square
 * grid (12 at most); "random", each with random others. Seconds are of the processor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/positions/position_lud.h"
#include "core/rigidity/rigidity.h"
#include "core/rotations/rotation_average.h"

static const char *const kinds[] = {"ring", "grid", "random"};
enum { RING, GRID, RANDOM, NUM_KINDS };

typedef struct {
    int kind;
    uint32_t n, m;
    uint32_t *node1, *node2;
    double (*center)[3], (*R)[9]; /* the truth */
    double (*direction)[3], (*R_21)[9];
} problem;

static double cpu_now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    (void)fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static void *array(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

static void place(problem *p, psfm_rng *rng) {
    uint32_t side = (uint32_t)sqrt((double)p->n);
    for (uint32_t v = 0; v < p->n; ++v) {
        double angle = 2.0 * M_PI * v / p->n, w[3];
        double at[NUM_KINDS][3] = {{p->n / 6.3 * cos(angle), p->n / 6.3 * sin(angle), 0},
                                   {v % side, v / side, 0},
                                   {0, 0, 0}};
        double spread = p->kind == RANDOM ? 10.0 : 0.3;
        for (int k = 0; k < 3; ++k)
            p->center[v][k] = at[p->kind][k] + spread * psfm_rng_normal(rng);
        psfm_rng_direction(rng, w);
        psfm_scale3(psfm_rng_range(rng, 0, M_PI), w, w);
        psfm_rotation_exp(w, p->R[v]);
    }
}

/* The other end of the k-th edge from v; false if there is none. */
static bool neighbour(const problem *p, psfm_rng *rng, uint32_t v, uint32_t k, uint32_t *other) {
    static const int step[12][2] = {{1, 0}, {0, 1}, {1, 1},  {1, -1}, {2, 0}, {0, 2},
                                    {2, 1}, {1, 2}, {2, -1}, {1, -2}, {2, 2}, {2, -2}};
    uint32_t side = (uint32_t)sqrt((double)p->n);
    if (p->kind == RING)
        *other = (v + k + 1) % p->n;
    else if (p->kind == RANDOM)
        *other = k == 0 ? (v + 1) % p->n : (uint32_t)psfm_rng_below(rng, p->n);
    if (p->kind != GRID)
        return *other != v;
    int x = (int)(v % side) + step[k % 12][0], y = (int)(v / side) + step[k % 12][1];
    *other = (uint32_t)(y * (int)side + x);
    return x >= 0 && y >= 0 && x < (int)side && y < (int)side && k < 12;
}

static void measure(problem *p, psfm_rng *rng, uint32_t e) {
    const double noise = psfm_radians(0.2);
    double w[3], E[9], exact[9];
    psfm_sub3(p->center[p->node1[e]], p->center[p->node2[e]], p->direction[e]);
    psfm_normalize3(p->direction[e]);
    for (int k = 0; k < 3; ++k) {
        p->direction[e][k] += noise * psfm_rng_normal(rng);
        w[k] = noise * psfm_rng_normal(rng);
    }
    psfm_normalize3(p->direction[e]);
    if (psfm_rng_uniform(rng) < 0.1)
        psfm_rng_direction(rng, p->direction[e]);
    if (psfm_rng_uniform(rng) < 0.3) {
        psfm_rng_direction(rng, w);
        psfm_scale3(psfm_rng_range(rng, 0.2, M_PI), w, w);
    }
    psfm_rotation_exp(w, E);
    psfm_mat3_mul_t(p->R[p->node2[e]], p->R[p->node1[e]], exact);
    psfm_mat3_mul(E, exact, p->R_21[e]);
}

static problem make_problem(int kind, uint32_t n, uint32_t neighbours) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_BENCH, (uint64_t)kind, n);
    uint32_t side = (uint32_t)sqrt((double)n);
    problem p = {.kind = kind, .n = kind == GRID ? side * side : n};
    size_t capacity = (size_t)p.n * neighbours;
    p.center = array(p.n, sizeof *p.center);
    p.R = array(p.n, sizeof *p.R);
    p.node1 = array(capacity, sizeof *p.node1);
    p.node2 = array(capacity, sizeof *p.node2);
    p.direction = array(capacity, sizeof *p.direction);
    p.R_21 = array(capacity, sizeof *p.R_21);
    place(&p, &rng);
    for (uint32_t v = 0; v < p.n; ++v)
        for (uint32_t k = 0; k < neighbours; ++k)
            if (neighbour(&p, &rng, v, k, &p.node2[p.m])) {
                p.node1[p.m] = v;
                measure(&p, &rng, p.m++);
            }
    return p;
}

static void free_problem(problem *p) {
    free(p->center);
    free(p->R);
    free(p->node1);
    free(p->node2);
    free(p->direction);
    free(p->R_21);
}

/* Starts from the edges to the next camera of the list, or the one before in the grid's column. */
static void start_rotations(psfm_context *ctx, const problem *p, const psfm_topology *graph,
                            double (*R)[9]) {
    psfm_relative_pose *poses = array(p->m, sizeof *poses);
    uint32_t *tree = array(p->n, sizeof *tree), num = 0;
    bool *reached = array(p->n, sizeof *reached);
    for (uint32_t e = 0; e < p->m; ++e) {
        uint32_t low = p->node1[e] < p->node2[e] ? p->node1[e] : p->node2[e];
        uint32_t high = p->node1[e] + p->node2[e] - low;
        uint32_t side = (uint32_t)sqrt((double)p->n);
        memcpy(poses[e].R_21, p->R_21[e], sizeof poses[e].R_21);
        bool column_start = p->kind == GRID && high % side == 0;
        if (!reached[high] && high - low == (column_start ? side : 1)) {
            reached[high] = true;
            tree[num++] = e;
        }
    }
    check(ctx, psfm_rotations_propagate(ctx, graph, poses,
                                        &(psfm_spanning_tree){.edges = tree, .num_edges = num}, 0,
                                        R, reached));
    free(poses);
    free(tree);
    free(reached);
}

/* Median angle between relative rotations of neighbours and the truth, in degrees. */
static double rotation_error(const problem *p, double (*R)[9]) {
    double *angle = array(p->m, sizeof *angle);
    for (uint32_t e = 0; e < p->m; ++e) {
        double A[9], B[9];
        psfm_mat3_mul_t(R[p->node2[e]], R[p->node1[e]], A);
        psfm_mat3_mul_t(p->R[p->node2[e]], p->R[p->node1[e]], B);
        angle[e] = psfm_degrees(psfm_rotation_angle(A, B));
    }
    double median = psfm_median(angle, p->m);
    free(angle);
    return median;
}

/* Median distance from the truth after the best scale, as a share of the scene's size. */
static double position_error(const problem *p, double (*x)[3]) {
    double mean[3] = {0}, xx = 0, xy = 0, yy = 0, *error = array(p->n, sizeof *error);
    for (uint32_t v = 0; v < p->n; ++v)
        psfm_axpy3(mean, 1.0 / p->n, p->center[v], mean);
    for (uint32_t v = 0; v < p->n; ++v) {
        double y[3];
        psfm_sub3(p->center[v], mean, y);
        xx += psfm_dot3(x[v], x[v]);
        xy += psfm_dot3(x[v], y);
        yy += psfm_dot3(y, y);
    }
    for (uint32_t v = 0; v < p->n; ++v) {
        double y[3];
        psfm_sub3(p->center[v], mean, y);
        psfm_axpy3(y, -xy / xx, x[v], y);
        error[v] = psfm_norm3(y);
    }
    double median = psfm_median(error, p->n) / sqrt(yy / p->n);
    free(error);
    return median;
}

static void run(int kind, uint32_t n, uint32_t neighbours) {
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    problem p = make_problem(kind, n, neighbours);
    psfm_topology graph = {p.n, p.m, p.node1, p.node2};
    psfm_rigidity rigidity;
    psfm_rotation_average_stats rotation_stats;
    psfm_lud_stats lud_stats;
    double(*R)[9] = array(p.n, sizeof *R), (*x)[3] = array(p.n, sizeof *x), time[4];
    start_rotations(ctx, &p, &graph, R);
    time[0] = cpu_now();
    check(ctx, psfm_rigidity_analyse(ctx, &graph, NULL, &rigidity));
    time[1] = cpu_now();
    check(ctx, psfm_rotations_average(
                   ctx, &(psfm_relative_rotations){&graph, (const double(*)[9])p.R_21, NULL}, NULL,
                   R, NULL, &rotation_stats));
    time[2] = cpu_now();
    check(ctx,
          psfm_positions_lud(ctx, &graph, (const double(*)[3])p.direction, NULL, x, &lud_stats));
    time[3] = cpu_now();
    printf("%-7s %7u %8u %6u %9.2f %5d %9.2f %9.4f %5d %9.2f %9.5f\n", kinds[kind], p.n, p.m,
           rigidity.num_components, time[1] - time[0],
           rotation_stats.l1_iterations + rotation_stats.iterations, time[2] - time[1],
           rotation_error(&p, R), lud_stats.iterations, time[3] - time[2], position_error(&p, x));
    psfm_rigidity_free(&rigidity);
    free(R);
    free(x);
    free_problem(&p);
    psfm_context_destroy(&ctx);
}

int main(int argc, char **argv) {
    uint32_t largest = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    uint32_t neighbours = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10;
    printf("%-7s %7s %8s %6s %9s %5s %9s %9s %5s %9s %9s\n", "graph", "cameras", "edges", "rigid",
           "seconds", "it.", "rotations", "med. deg", "it.", "positions", "med. off");
    for (int kind = 0; kind < NUM_KINDS; ++kind)
        for (uint32_t n = 1000; n <= largest; n *= 10)
            run(kind, n, neighbours);
    return 0;
}
