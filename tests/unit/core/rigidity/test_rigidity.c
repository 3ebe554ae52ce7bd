#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/rigidity/rigidity.h"

enum { MAX_NODES = 14, MAX_EDGES = 40, MAX_UNKNOWNS = 3 * MAX_NODES, MAX_ROWS = 6 * MAX_EDGES };
static const uint64_t prime = 2147483647; /* 2^31 - 1 */

typedef struct {
    uint32_t n, m;
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    uint32_t group[MAX_EDGES];
} small_graph;

static void add_edge(small_graph *g, uint32_t a, uint32_t b) {
    assert_true(g->m < MAX_EDGES);
    g->group[g->m] = UINT32_MAX;
    g->node1[g->m] = a;
    g->node2[g->m++] = b;
}

/* A graph from a text of digits: "01 12 20" is a triangle; 'a' is node 10. */
static small_graph graph_of(const char *text) {
    small_graph g = {0};
    for (; *text != '\0'; ++text) {
        if (*text == ' ')
            continue;
        uint32_t end[2];
        for (int k = 0; k < 2; ++k) {
            end[k] = (uint32_t)(text[k] >= 'a' ? text[k] - 'a' + 10 : text[k] - '0');
            g.n = end[k] >= g.n ? end[k] + 1 : g.n;
        }
        add_edge(&g, end[0], end[1]);
        ++text;
    }
    return g;
}

static psfm_rigidity analyse(const small_graph *g) {
    psfm_context *ctx = psfm_context_create();
    psfm_topology topology = {g->n, g->m, g->node1, g->node2};
    psfm_rigidity r;
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &topology, g->group, &r));
    psfm_context_destroy(&ctx);
    return r;
}

static void assert_counts(const char *text, uint64_t num_free, uint32_t num_components) {
    small_graph g = graph_of(text);
    psfm_rigidity r = analyse(&g);
    if (r.num_free != num_free || r.num_components != num_components)
        fail_msg("%s: %u free, %u components, expected %u and %u", text, (unsigned)r.num_free,
                 r.num_components, (unsigned)num_free, num_components);
    psfm_rigidity_free(&r);
}

static void known_graphs(void **state) {
    (void)state;
    assert_counts("01", 0, 1);
    assert_counts("01 12", 1, 2);                   /* a chain: one relative scale */
    assert_counts("01 12 20", 0, 1);                /* triangle */
    assert_counts("01 02 03 04", 3, 4);             /* star */
    assert_counts("01 12 23 30", 0, 1);             /* quadrangle: rigid in space */
    assert_counts("01 12 23 34 40", 1, 5);          /* pentagon: bi-connected, not rigid */
    assert_counts("01 12 23 34 45 50", 2, 6);       /* hexagon */
    assert_counts("01 12 20 23 34 42", 1, 2);       /* two triangles that share a node */
    assert_counts("01 12 20 34 45 53", 4, 2);       /* two triangles apart */
    assert_counts("01 12 20 34 45 53 03", 2, 3);    /* joined by one edge */
    assert_counts("01 12 20 34 45 53 03 14", 0, 1); /* by two edges: rigid */
    assert_counts("01 12 23 34 40 02", 0, 1);       /* pentagon with a chord */
    /* A hexagon with its three long diagonals is K_3,3; the Petersen graph has 30 = 3 * 10
     * equations for 26 degrees of freedom. */
    assert_counts("01 12 23 34 45 50 03 14 25", 0, 1);
    assert_counts("01 12 23 34 40 05 16 27 38 49 57 79 96 68 85", 0, 1);
    /* Three rigid bodies joined in a ring at single nodes are rigid like a triangle of edges, six
     * of them flex like a hexagon. */
    assert_counts("01 12 20 23 34 42 45 50 40", 0, 1);
    assert_counts("01 12 20 23 34 42 45 56 64 67 78 86 89 9a a8 ab b0 a0", 2, 6);
    assert_counts("01 01", 0, 1); /* a doubled edge says nothing more */
    assert_counts("01 01 12 12", 1, 2);
}

static uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent > 0; exponent >>= 1, base = base * base % prime)
        if (exponent & 1)
            result = result * base % prime;
    return result;
}

/* Reduced row echelon form modulo the prime; returns the rank and the pivot columns. */
static uint32_t eliminate(uint64_t A[MAX_ROWS][MAX_UNKNOWNS], uint32_t rows, uint32_t cols,
                          uint32_t pivot[MAX_UNKNOWNS]) {
    uint32_t rank = 0;
    for (uint32_t c = 0; c < cols && rank < rows; ++c) {
        uint32_t r = rank;
        while (r < rows && A[r][c] == 0)
            ++r;
        if (r == rows)
            continue;
        for (uint32_t k = 0; k < cols; ++k) {
            uint64_t swap = A[r][k];
            A[r][k] = A[rank][k];
            A[rank][k] = swap;
        }
        uint64_t inverse = power(A[rank][c], prime - 2);
        for (uint32_t k = 0; k < cols; ++k)
            A[rank][k] = A[rank][k] * inverse % prime;
        for (r = 0; r < rows; ++r)
            if (r != rank && A[r][c] != 0) {
                uint64_t factor = prime - A[r][c];
                for (uint32_t k = 0; k < cols; ++k)
                    A[r][k] = (A[r][k] + factor * A[rank][k]) % prime;
            }
        pivot[rank++] = c;
    }
    return rank;
}

static uint64_t position[MAX_NODES][3];
static uint64_t A[MAX_ROWS][MAX_UNKNOWNS];

static uint64_t minus(uint64_t a, uint64_t b) {
    return (a + prime - b) % prime;
}

static uint64_t diff(const small_graph *g, uint32_t e, int k) {
    return minus(position[g->node1[e]][k], position[g->node2[e]][k]);
}

/* Row: coefficient c on coordinate k of (node1 - node2) of edge e. */
static void add_term(const small_graph *g, uint64_t *row, uint32_t e, int k, uint64_t c) {
    row[3 * g->node1[e] + (uint32_t)k] = (row[3 * g->node1[e] + (uint32_t)k] + c) % prime;
    row[3 * g->node2[e] + (uint32_t)k] = minus(row[3 * g->node2[e] + (uint32_t)k], c);
}

/* The equations d x v = 0 of all edges, d the displacement of the edge and v the edge itself, and
 * equal growth d / v of edges of one scale group that share a node. Returns their number. */
static uint32_t write_equations(const small_graph *g) {
    uint32_t rows = 0;
    memset(A, 0, sizeof A);
    for (uint32_t e = 0; e < g->m; ++e)
        for (int k = 0; k < 3; ++k, ++rows) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            add_term(g, A[rows], e, i, diff(g, e, j));
            add_term(g, A[rows], e, j, minus(0, diff(g, e, i)));
        }
    for (uint32_t e = 0; e < g->m; ++e)
        for (uint32_t f = 0; f < e; ++f) {
            bool touch = g->node1[e] == g->node1[f] || g->node1[e] == g->node2[f] ||
                         g->node2[e] == g->node1[f] || g->node2[e] == g->node2[f];
            if (!touch || g->group[e] == UINT32_MAX || g->group[e] != g->group[f])
                continue;
            assert_true(rows < MAX_ROWS);
            add_term(g, A[rows], e, 0, diff(g, f, 0));
            add_term(g, A[rows++], f, 0, minus(0, diff(g, e, 0)));
        }
    return rows;
}

/* Growth of edge e under the displacement that has 1 in the free column `c`, 0 in the others. */
static uint64_t growth(const small_graph *g, uint32_t e, uint32_t c, uint32_t rank,
                       const uint32_t *pivot) {
    uint64_t x[2] = {0};
    for (int end = 0; end < 2; ++end) {
        uint32_t column = 3 * (end == 0 ? g->node1[e] : g->node2[e]);
        x[end] = column == c;
        for (uint32_t r = 0; r < rank; ++r)
            if (pivot[r] == column)
                x[end] = minus(0, A[r][c]);
    }
    return minus(x[0], x[1]) * power(diff(g, e, 0), prime - 2) % prime;
}

/* The same by linear algebra with random points: edges that share a node and grow alike in every
 * displacement that keeps all directions are one component. */
static void reference(const small_graph *g, psfm_rng *rng, uint64_t *num_free, uint32_t *label) {
    uint32_t pivot[MAX_UNKNOWNS];
    static uint64_t grown[MAX_EDGES][MAX_UNKNOWNS];
    for (uint32_t v = 0; v < g->n; ++v)
        for (int k = 0; k < 3; ++k)
            position[v][k] = psfm_rng_below(rng, prime);
    uint32_t cols = 3 * g->n, rank = eliminate(A, write_equations(g), cols, pivot), num = 0;
    *num_free = cols - rank - 4;
    for (uint32_t c = 0, r = 0; c < cols; ++c) {
        if (r < rank && pivot[r] == c) {
            ++r;
            continue;
        }
        for (uint32_t e = 0; e < g->m; ++e)
            grown[e][num] = growth(g, e, c, rank, pivot);
        ++num;
    }
    for (uint32_t e = 0; e < g->m; ++e)
        label[e] = e;
    for (uint32_t round = 0; round < g->m; ++round)
        for (uint32_t e = 0; e < g->m; ++e)
            for (uint32_t f = 0; f < g->m; ++f) {
                bool touch = g->node1[e] == g->node1[f] || g->node1[e] == g->node2[f] ||
                             g->node2[e] == g->node1[f] || g->node2[e] == g->node2[f];
                if (touch && memcmp(grown[e], grown[f], num * sizeof **grown) == 0 &&
                    label[f] < label[e])
                    label[e] = label[f];
            }
}

static void assert_agrees(const small_graph *g, psfm_rng *rng) {
    uint64_t num_free;
    uint32_t label[MAX_EDGES];
    psfm_rigidity r = analyse(g);
    reference(g, rng, &num_free, label);
    assert_int_equal(r.num_free, num_free);
    for (uint32_t e = 0; e < g->m; ++e)
        for (uint32_t f = 0; f < e; ++f)
            assert_int_equal(r.edge_component[e] == r.edge_component[f], label[e] == label[f]);
    for (uint32_t k = 0; k < r.num_components; ++k) {
        bool inside[MAX_NODES] = {false};
        for (size_t i = r.node_begin[k]; i < r.node_begin[k + 1]; ++i) {
            assert_true(i == r.node_begin[k] || r.nodes[i - 1] < r.nodes[i]);
            inside[r.nodes[i]] = true;
        }
        for (uint32_t e = 0; e < g->m; ++e)
            assert_true(r.edge_component[e] != k || (inside[g->node1[e]] && inside[g->node2[e]]));
        if (k > 0)
            assert_true(r.node_begin[k + 1] - r.node_begin[k] <=
                        r.node_begin[k] - r.node_begin[k - 1]);
    }
    psfm_rigidity_free(&r);
}

static void agrees_with_linear_algebra(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    int num_rigid = 0, num_flexible = 0;
    for (int round = 0; round < 3000; ++round) {
        small_graph g = {.n = 2 + (uint32_t)psfm_rng_below(&rng, MAX_NODES - 1)};
        /* Around 3 n / 2 edges, where rigidity sets in; a girth of five in every other graph, so
         * that growth finds nothing and the pebble game has all the work. */
        uint32_t m = 1 + (uint32_t)psfm_rng_below(&rng, 2 * g.n);
        bool no_short_cycles = round % 2 == 0, scaled = round % 3 == 0;
        for (uint32_t trial = 0; trial < 20 * m && g.m < m && g.m < MAX_EDGES; ++trial) {
            uint32_t a = (uint32_t)psfm_rng_below(&rng, g.n),
                     b = (uint32_t)psfm_rng_below(&rng, g.n);
            bool near = a == b;
            for (uint32_t e = 0; no_short_cycles && !near && e < g.m; ++e)
                for (uint32_t f = 0; f < g.m; ++f) {
                    uint32_t x = g.node1[e] == a ? g.node2[e] : g.node2[e] == a ? g.node1[e] : b;
                    uint32_t y = g.node1[f] == b ? g.node2[f] : g.node2[f] == b ? g.node1[f] : a;
                    near = near || (x != b && x == y) ||
                           (x == b && (g.node1[e] == a || g.node2[e] == a));
                }
            if (near)
                continue;
            add_edge(&g, a, b);
            if (scaled && psfm_rng_below(&rng, 2) == 0)
                g.group[g.m - 1] = (uint32_t)psfm_rng_below(&rng, 2);
        }
        if (g.m == 0)
            continue;
        assert_agrees(&g, &rng);
        psfm_rigidity r = analyse(&g);
        num_rigid += r.num_free == 0;
        num_flexible += r.num_free > 0;
        psfm_rigidity_free(&r);
    }
    assert_true(num_rigid > 100 && num_flexible > 100);
}

/* A tree whose edges have one scale is rigid; with two scales it has two components. */
static void scale_groups_make_trees_rigid(void **state) {
    (void)state;
    small_graph g = graph_of("01 12 13 34 35");
    for (uint32_t e = 0; e < g.m; ++e)
        g.group[e] = 7;
    psfm_rigidity r = analyse(&g);
    assert_true(r.num_free == 0 && r.num_components == 1 && r.node_begin[1] == 6);
    psfm_rigidity_free(&r);
    g.group[3] = g.group[4] = 8;
    r = analyse(&g);
    assert_true(r.num_free == 1 && r.num_components == 2);
    assert_int_equal(r.edge_component[0], 0);
    assert_int_equal(r.edge_component[4], 1);
    psfm_rigidity_free(&r);
}

/* Triangles 012 and 234 share a node. A scale that the first one has all to itself tells nothing
 * new, whichever group it is; one that both have makes them one. */
static void scale_groups_inside_bodies(void **state) {
    (void)state;
    small_graph g = graph_of("01 12 02 23 34 24");
    for (uint32_t e = 0; e < g.m; ++e)
        g.group[e] = e < 3 ? 5 - e : UINT32_MAX;
    psfm_rigidity r = analyse(&g);
    assert_true(r.num_free == 1 && r.num_components == 2);
    psfm_rigidity_free(&r);
    g.group[1] = g.group[3] = 9; /* 12 and 23 hang together */
    r = analyse(&g);
    assert_true(r.num_free == 0 && r.num_components == 1 && r.node_begin[1] == 5);
    psfm_rigidity_free(&r);
}

/* Large graphs of each kind: near-linear, and what they are is known. */
static void large_graphs(void **state) {
    (void)state;
    enum { N = 20000 };
    psfm_context *ctx = psfm_context_create();
    uint32_t *node1 = calloc(2 * N, sizeof *node1), *node2 = calloc(2 * N, sizeof *node2);
    psfm_rigidity r;
    for (uint32_t v = 0; v < N; ++v) { /* star */
        node1[v] = 0;
        node2[v] = v + 1;
    }
    psfm_topology star = {N + 1, N, node1, node2};
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &star, NULL, &r));
    assert_true(r.num_components == N && r.num_free == N - 1);
    psfm_rigidity_free(&r);
    for (uint32_t v = 0; v < N; ++v) { /* ring, then with two neighbours on either side */
        node1[v] = node1[N + v] = v;
        node2[v] = (v + 1) % N;
        node2[N + v] = (v + 2) % N;
    }
    psfm_topology ring = {N, N, node1, node2};
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &ring, NULL, &r));
    assert_true(r.num_components == N && r.num_free == N - 4);
    psfm_rigidity_free(&r);
    ring.num_edges = 2 * N;
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &ring, NULL, &r));
    assert_true(r.num_components == 1 && r.num_free == 0 && r.node_begin[1] == N);
    psfm_rigidity_free(&r);
    uint32_t side = 100, m = 0; /* square grid: rigid by its quadrangles */
    for (uint32_t v = 0; v < side * side; ++v) {
        if (v % side + 1 < side)
            node1[m] = v, node2[m++] = v + 1;
        if (v / side + 1 < side)
            node1[m] = v, node2[m++] = v + side;
    }
    psfm_topology grid = {side * side, m, node1, node2};
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &grid, NULL, &r));
    assert_true(r.num_components == 1 && r.num_free == 0);
    psfm_rigidity_free(&r);
    free(node1);
    free(node2);
    psfm_context_destroy(&ctx);
}

static void small_and_bad_input(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rigidity r;
    uint32_t node1[] = {0}, node2[] = {0};
    for (uint32_t n = 0; n < 4; ++n) {
        psfm_topology empty = {n, 0, node1, node2};
        assert_ok(ctx, psfm_rigidity_analyse(ctx, &empty, NULL, &r));
        assert_int_equal(r.num_free, n < 2 ? 0 : 3 * n - 4);
        assert_int_equal(r.num_components, 0);
        psfm_rigidity_free(&r);
    }
    psfm_topology loop = {2, 1, node1, node2};
    assert_int_equal(psfm_rigidity_analyse(ctx, &loop, NULL, &r), PSFM_ERR_ARGUMENT);
    assert_null(r.nodes);
    small_graph g = graph_of("01 12 20 23 34 45 56 62 67 01");
    psfm_topology graph = {g.n, g.m, g.node1, g.node2};
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_rigidity_analyse(ctx, &graph, NULL, &r);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK ? n > 20 : status == PSFM_ERR_MEMORY);
    }
    assert_int_equal(r.num_free, 3); /* the triangle, the pentagon's two, the edge that hangs on */
    psfm_rigidity_free(&r);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_graphs),
        cmocka_unit_test(agrees_with_linear_algebra),
        cmocka_unit_test(scale_groups_make_trees_rigid),
        cmocka_unit_test(scale_groups_inside_bodies),
        cmocka_unit_test(large_graphs),
        cmocka_unit_test(small_and_bad_input),
    };
    return cmocka_run_group_tests_name("rigidity/rigidity", tests, NULL, NULL);
}
