/* How the graph stages grow with the number of cameras: similarity, embedding, minimum-range tree,
 * bi-connection, and positions by LUD on the bi-connected graph. Cameras over a field (a grid) and
 * in a ring, 20 edges each, with and without false edges.
 *
 *   bench_graph_scale [most cameras, default 100000] [most cameras for LUD, default 10000] [graph]
 *
 * Per stage: seconds on the clock and of the processors, the memory it took at its peak beyond what
 * was there before, and the exponent of growth, from processor seconds, against ten times fewer
 * cameras; for LUD also its reweighted solves. `graph` is one of the names in the table, all by
 * default. */
#include <malloc.h>
#include <sys/resource.h>

#include "core/base/timer.h"
#include "core/posegraph/biconnect.h"
#include "core/posegraph/embedding.h"
#include "core/posegraph/similarity.h"
#include "core/positions/position_lud.h"
#include "synthetic_graph.h"

enum { SIMILARITY, EMBEDDING, TREE, BICONNECTION, LUD, NUM_STAGES };
static const char *const stage_names[] = {"similarity", "embedding", "tree", "bi-connection",
                                          "lud"};

typedef struct {
    const char *name;
    graph_layout layout;
    double false_share;
} scenario;

static const scenario scenarios[] = {
    {"field", LAYOUT_FIELD, 0.0},
    {"field, 5 % false", LAYOUT_FIELD, 0.05},
    {"ring", LAYOUT_RING, 0.0},
    {"ring, 5 % false", LAYOUT_RING, 0.05},
};

typedef struct {
    double wall, cpu;  /* seconds; negative: not run */
    double memory_mib; /* at its peak, beyond the start; NAN if the system does not tell */
    int solves;        /* of LUD */
} cost;

static void must(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* A line of /proc/self/status in MiB; NAN where there is none. */
static double status_mib(const char *key) {
    char line[256];
    double value = NAN;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtod(line + strlen(key) + 1, NULL) / 1024.0;
    if (file != NULL)
        fclose(file);
    return value;
}

typedef struct {
    double wall, cpu, memory;
} stopwatch;

/* Gives free memory back, so that taking it again counts. Writing 5 there sets the peak of the
 * resident memory to what is in use now. */
static stopwatch start(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
    return (stopwatch){psfm_now(), cpu_seconds(), status_mib("VmRSS")};
}

static cost stop(const stopwatch *watch) {
    return (cost){psfm_now() - watch->wall, cpu_seconds() - watch->cpu,
                  status_mib("VmHWM") - watch->memory, 0};
}

/* The directions of the chosen edges: noisy ones, random ones for false edges. */
static void run_lud(psfm_context *ctx, const synthetic_graph *s, const psfm_biconnected *b,
                    cost *out) {
    uint32_t *node1 = allocate(b->num_edges, sizeof *node1);
    uint32_t *node2 = allocate(b->num_edges, sizeof *node2);
    double(*direction)[3] = allocate(b->num_edges, sizeof *direction);
    double(*centers)[3] = allocate(s->graph.num_nodes, sizeof *centers);
    for (uint32_t k = 0; k < b->num_edges; ++k) {
        uint32_t e = b->edges[k];
        psfm_rng rng = psfm_rng_make(4, PSFM_RNG_BENCH, e, 0);
        node1[k] = s->graph.edges[e].node1;
        node2[k] = s->graph.edges[e].node2;
        psfm_sub3(s->center[node1[k]], s->center[node2[k]], direction[k]);
        psfm_normalize3(direction[k]);
        for (int c = 0; c < 3; ++c)
            direction[k][c] += 0.005 * psfm_rng_normal(&rng);
        if (s->is_false[e])
            psfm_rng_direction(&rng, direction[k]);
        psfm_normalize3(direction[k]);
    }
    psfm_topology topology = {s->graph.num_nodes, b->num_edges, node1, node2};
    psfm_lud_stats stats;
    stopwatch watch = start();
    must(ctx,
         psfm_positions_lud(ctx, &topology, (const double(*)[3])direction, NULL, centers, &stats));
    *out = stop(&watch);
    out->solves = stats.iterations;
    free(node1);
    free(node2);
    free(direction);
    free(centers);
}

/* Runs all stages on one graph. */
static void run(psfm_context *ctx, const synthetic_graph *s, bool with_lud, cost costs[NUM_STAGES],
                psfm_embedding *embedding) {
    psfm_csr S;
    psfm_spanning_tree tree;
    psfm_biconnected b;
    psfm_similarity_options options;
    psfm_options_init_paper(&psfm_similarity_option_table, &options);
    stopwatch watch = start();
    must(ctx, psfm_similarity_build(ctx, &s->graph, &options, &S));
    costs[SIMILARITY] = stop(&watch);
    watch = start();
    must(ctx, psfm_embedding_compute(ctx, &S, NULL, embedding));
    costs[EMBEDDING] = stop(&watch);
    psfm_csr_free(&S);
    uint32_t m = s->graph.num_edges, *node1 = allocate(m, sizeof *node1);
    uint32_t *node2 = allocate(m, sizeof *node2);
    for (uint32_t e = 0; e < m; ++e) {
        node1[e] = s->graph.edges[e].node1;
        node2[e] = s->graph.edges[e].node2;
    }
    psfm_edge_list list = {s->graph.num_nodes, m, node1, node2, embedding->h};
    watch = start();
    must(ctx, psfm_spanning_tree_min_range(ctx, &list, &tree));
    costs[TREE] = stop(&watch);
    watch = start();
    must(ctx, psfm_biconnect(ctx, &list, &tree, &b));
    costs[BICONNECTION] = stop(&watch);
    costs[LUD] = (cost){-1.0, -1.0, NAN, 0};
    if (with_lud)
        run_lud(ctx, s, &b, &costs[LUD]);
    psfm_biconnected_free(&b);
    psfm_spanning_tree_free(&tree);
    free(node1);
    free(node2);
}

static void print_rows(const scenario *sc, uint32_t n, uint32_t num_edges,
                       const cost costs[NUM_STAGES], const cost before[NUM_STAGES],
                       const psfm_embedding *embedding) {
    for (int k = 0; k < NUM_STAGES; ++k) {
        if (costs[k].wall < 0.0)
            continue;
        printf("%-17s %7u %8u  %-13s %8.2f %8.2f %8.0f ", sc->name, n, num_edges, stage_names[k],
               costs[k].wall, costs[k].cpu, costs[k].memory_mib);
        if (before != NULL && before[k].cpu >= 0.01)
            printf("%7.2f", log10(costs[k].cpu / before[k].cpu));
        else
            printf("%7s", "");
        if (k == EMBEDDING)
            printf("   lambda %.2e, residual / lambda %.0e, %u component%s",
                   embedding->eigenvalue[0], embedding->residual[0] / embedding->eigenvalue[0],
                   embedding->num_components, embedding->num_components == 1 ? "" : "s");
        if (k == LUD)
            printf("   %d solves", costs[k].solves);
        printf("\n");
        fflush(stdout);
    }
}

static void bench_scenario(psfm_context *ctx, const scenario *sc, uint32_t max_cameras,
                           uint32_t max_lud) {
    cost before[NUM_STAGES], costs[NUM_STAGES];
    for (uint32_t n = 1000; n <= max_cameras; n *= 10) {
        synthetic_graph s;
        psfm_embedding embedding;
        make_synthetic_graph(ctx, sc->layout, n, sc->false_share, &s);
        run(ctx, &s, n <= max_lud, costs, &embedding);
        print_rows(sc, n, s.graph.num_edges, costs, n == 1000 ? NULL : before, &embedding);
        memcpy(before, costs, sizeof costs);
        psfm_embedding_free(&embedding);
        free_synthetic_graph(&s);
    }
}

/* Random edges with random weights: nearly every one of them closes a cycle. */
static void bench_random_tree(psfm_context *ctx, uint32_t n, uint32_t m) {
    uint32_t *node1 = allocate(m, sizeof *node1), *node2 = allocate(m, sizeof *node2);
    double *weight = allocate(m, sizeof *weight), best_wall = INFINITY, best_cpu = INFINITY;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_BENCH, n, m);
    for (uint32_t e = 0; e < m; ++e) {
        node1[e] = e < n - 1 ? e + 1 : (uint32_t)psfm_rng_below(&rng, n);
        node2[e] = e < n - 1 ? (uint32_t)psfm_rng_below(&rng, e + 1)
                             : (node1[e] + 1 + (uint32_t)psfm_rng_below(&rng, n - 1)) % n;
        weight[e] = psfm_rng_normal(&rng);
    }
    psfm_edge_list list = {n, m, node1, node2, weight};
    for (int round = 0; round < 3; ++round) {
        psfm_spanning_tree tree;
        stopwatch watch = start();
        must(ctx, psfm_spanning_tree_min_range(ctx, &list, &tree));
        cost c = stop(&watch);
        best_wall = fmin(best_wall, c.wall);
        best_cpu = fmin(best_cpu, c.cpu);
        psfm_spanning_tree_free(&tree);
    }
    printf("%-17s %7u %8u  %-13s %8.2f %8.2f\n", "random", n, m, "tree", best_wall, best_cpu);
    free(node1);
    free(node2);
    free(weight);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    uint32_t max_cameras = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
    uint32_t max_lud = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    printf("%-17s %7s %8s  %-13s %8s %8s %8s %7s\n", "graph", "cameras", "edges", "stage",
           "clock s", "cpu s", "+MiB", "growth");
    for (size_t k = 0; k < sizeof scenarios / sizeof scenarios[0]; ++k)
        if (argc <= 3 || strcmp(argv[3], scenarios[k].name) == 0)
            bench_scenario(ctx, &scenarios[k], max_cameras, max_lud);
    if (argc <= 3) {
        bench_random_tree(ctx, 100000, 1000000);
        bench_random_tree(ctx, 1000, 1000000);
    }
    psfm_context_destroy(&ctx);
    return 0;
}
