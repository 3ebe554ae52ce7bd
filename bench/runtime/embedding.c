/* The embedding by size and kind of graph, and LAPACK beside it.
 *
 *   bench_embedding [most edges, default 1000000] [graph]
 *
 * Fields and rings are pose graphs (synthetic_graph.h) and their similarities; the other matrices
 * are made directly. Columns: seconds of the processors (up to 50,000 edges the best of three),
 * lambda, the residual |x - D^-1/2 S D^-1/2 x - lambda x| / lambda, and up to 2,000 edges, where
 * LAPACK finds all eigenvalues, its seconds, how far lambda is off (relative), and the angle to its
 * eigenvector times the gap to the next eigenvalue (which is 0 where they are double). */
#include "core/posegraph/embedding.h"

#include "core/base/timer.h"
#include "core/linalg/eigen.h"
#include "core/posegraph/similarity.h"
#include "synthetic_graph.h"

#define MOST_DENSE 2000
#define MOST_REPEATED 50000

typedef void (*make_fn)(psfm_context *ctx, uint32_t n, psfm_csr *S);

static void must(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static void make_pose_graph(psfm_context *ctx, graph_layout layout, uint32_t n, double false_share,
                            psfm_csr *S) {
    synthetic_graph s;
    psfm_similarity_options options;
    psfm_options_init_paper(&psfm_similarity_option_table, &options);
    uint32_t per_camera = n < 100 ? 4 : LINKS;
    make_synthetic_graph(ctx, layout, n / per_camera, false_share, &s);
    must(ctx, psfm_similarity_build(ctx, &s.graph, &options, S));
    free_synthetic_graph(&s);
}

static void make_field(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    make_pose_graph(ctx, LAYOUT_FIELD, n, 0.0, S);
}

static void make_false_field(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    make_pose_graph(ctx, LAYOUT_FIELD, n, 0.05, S);
}

static void make_ring(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    make_pose_graph(ctx, LAYOUT_RING, n < 250 ? 250 : n, 0.0, S);
}

static void make_false_ring(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    make_pose_graph(ctx, LAYOUT_RING, n < 250 ? 250 : n, 0.05, S);
}

typedef struct {
    uint32_t a, b;
    double weight;
} similar;

static int compare(const void *x, const void *y) {
    const similar *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

/* The matrix of `num` entries and their mirrors; there is room for these. Repeated ones are left
 * out, and entries on the diagonal. */
static void make_matrix(uint32_t n, similar *entries, size_t num, psfm_csr *S) {
    for (size_t k = 0; k < num; ++k) {
        similar *e = &entries[k];
        if (e->a > e->b)
            *e = (similar){e->b, e->a, e->weight};
    }
    qsort(entries, num, sizeof *entries, compare);
    size_t kept = 0;
    for (size_t k = 0; k < num; ++k)
        if (entries[k].a != entries[k].b && (kept == 0 || compare(&entries[k], &entries[kept - 1])))
            entries[kept++] = entries[k];
    for (size_t k = 0; k < kept; ++k)
        entries[kept + k] = (similar){entries[k].b, entries[k].a, entries[k].weight};
    qsort(entries, 2 * kept, sizeof *entries, compare);
    *S = (psfm_csr){n, allocate((size_t)n + 1, sizeof *S->row_begin),
                    allocate(2 * kept, sizeof *S->col), allocate(2 * kept, sizeof *S->value)};
    for (size_t k = 0; k < 2 * kept; ++k) {
        ++S->row_begin[entries[k].a + 1];
        S->col[k] = entries[k].b;
        S->value[k] = entries[k].weight;
    }
    for (uint32_t i = 0; i < n; ++i)
        S->row_begin[i + 1] += S->row_begin[i];
    free(entries);
}

/* A ring, or a chain, of n: each is like the `reach` next ones. */
static void make_band(uint32_t n, uint32_t reach, bool closed, psfm_csr *S) {
    similar *entries = allocate(2 * (size_t)n * reach, sizeof *entries);
    size_t num = 0;
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 1; k <= reach; ++k)
            if (closed || i + k < n)
                entries[num++] = (similar){i, (i + k) % n, 1.0};
    make_matrix(n, entries, num, S);
}

static void make_chain(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    (void)ctx;
    make_band(n, 1, false, S);
}

/* All alike: the eigenvalue is double. */
static void make_equal_ring(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    (void)ctx;
    make_band(n, 3, true, S);
}

/* Five random links for each of [first, end), and one that makes it connected. */
static size_t link_at_random(uint32_t first, uint32_t end, similar *entries) {
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_BENCH, first, end);
    size_t num = 0;
    for (uint32_t i = first + 1; i < end; ++i)
        for (int k = 0; k < 6; ++k) {
            uint32_t among = k == 0 ? i - first : end - first;
            uint32_t to = first + (uint32_t)psfm_rng_below(&rng, among);
            entries[num++] = (similar){i, to, psfm_rng_range(&rng, 0.1, 1.0)};
        }
    return num;
}

static void make_random(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    (void)ctx;
    similar *entries = allocate(12 * (size_t)n, sizeof *entries);
    make_matrix(n, entries, link_at_random(0, n, entries), S);
}

/* Two random graphs that one weak link joins. */
static void make_two_parts(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    (void)ctx;
    similar *entries = allocate(12 * (size_t)n, sizeof *entries);
    size_t num = link_at_random(0, n / 3, entries);
    num += link_at_random(n / 3, n, entries + num);
    entries[num++] = (similar){0, n - 1, 1e-9};
    make_matrix(n, entries, num, S);
}

/* Many components. */
static void make_apart(psfm_context *ctx, uint32_t n, psfm_csr *S) {
    (void)ctx;
    similar *entries = allocate(4 * (size_t)n, sizeof *entries);
    size_t num = 0;
    for (uint32_t i = 0; i + 1 < n; ++i)
        if (i % 9 != 8)
            entries[num++] = (similar){i, i + 1, 1.0};
    make_matrix(n, entries, num, S);
}

static const struct {
    const char *name;
    make_fn make;
} graphs[] = {
    {"field", make_field},
    {"field, 5 % false", make_false_field},
    {"ring", make_ring},
    {"ring, 5 % false", make_false_ring},
    {"chain", make_chain},
    {"equal ring", make_equal_ring},
    {"random", make_random},
    {"two parts", make_two_parts},
    {"chains of nine", make_apart},
};

/* D, and eigenvalues and eigenvectors of I - D^-1/2 S D^-1/2 + 3 u u^T, u ~ D^1/2 1: the first is
 * the one that is sought. */
typedef struct {
    double *A, *values, *mass, seconds;
} dense;

static void solve_dense(psfm_context *ctx, const psfm_csr *S, dense *d) {
    size_t n = S->n;
    double total = 0.0;
    *d = (dense){allocate(n * n, sizeof *d->A), allocate(n, sizeof *d->values),
                 allocate(n, sizeof *d->mass), psfm_moment_now().cpu_seconds};
    for (uint32_t e = 0; e < n; ++e)
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k) {
            d->mass[e] += S->value[k];
            total += S->value[k];
        }
    for (uint32_t e = 0; e < n; ++e) {
        for (uint32_t f = 0; f < n; ++f)
            d->A[e * n + f] = (e == f) + 3.0 * sqrt(d->mass[e] * d->mass[f]) / total;
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
            d->A[e * n + S->col[k]] -= S->value[k] / sqrt(d->mass[e] * d->mass[S->col[k]]);
    }
    must(ctx, psfm_eigen_symmetric(ctx, S->n, d->A, d->values));
    d->seconds = psfm_moment_now().cpu_seconds - d->seconds;
}

/* Differences from the dense solution. */
static void print_errors(const psfm_embedding *m, const dense *d, uint32_t n) {
    double along = 0.0, off = 0.0;
    for (uint32_t e = 0; e < n; ++e)
        along += sqrt(d->mass[e]) * m->h[e] * d->A[e];
    for (uint32_t e = 0; e < n; ++e) {
        double r = sqrt(d->mass[e]) * m->h[e] - along * d->A[e];
        off += r * r;
    }
    printf("  %8.5f  %6.0e  %6.0e", d->seconds, fabs(m->eigenvalue[0] / d->values[0] - 1.0),
           sqrt(off) * (d->values[1] - d->values[0]));
}

static void run(psfm_context *ctx, const psfm_csr *S, const char *graph, const dense *d) {
    psfm_embedding m = {0};
    double seconds = INFINITY;
    for (int k = 0; k < (S->n < MOST_REPEATED ? 3 : 1); ++k) {
        psfm_embedding_free(&m);
        double start = psfm_moment_now().cpu_seconds;
        must(ctx, psfm_embedding_compute(ctx, S, NULL, &m));
        seconds = fmin(seconds, psfm_moment_now().cpu_seconds - start);
    }
    printf("%-16s %8u %9.5f  %.3e  %6.0e", graph, S->n, seconds, m.eigenvalue[0],
           m.residual[0] / m.eigenvalue[0]);
    if (d->A != NULL && m.num_components == 1)
        print_errors(&m, d, S->n);
    if (m.num_components > 1)
        printf("  %u components", m.num_components);
    printf("\n");
    fflush(stdout);
    psfm_embedding_free(&m);
}

int main(int argc, char **argv) {
    static const uint32_t sizes[] = {25,   50,   100,   200,   500,    1000,
                                     2000, 3000, 10000, 30000, 100000, 1000000};
    psfm_context *ctx = psfm_context_create();
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; ++g) {
        if (argc > 2 && strcmp(argv[2], graphs[g].name) != 0)
            continue;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= most; ++k) {
            psfm_csr S;
            dense d = {0};
            graphs[g].make(ctx, sizes[k], &S);
            if (S.n <= MOST_DENSE)
                solve_dense(ctx, &S, &d);
            run(ctx, &S, graphs[g].name, &d);
            free(d.A);
            free(d.values);
            free(d.mass);
            psfm_csr_free(&S);
        }
    }
    psfm_context_destroy(&ctx);
    return 0;
}
