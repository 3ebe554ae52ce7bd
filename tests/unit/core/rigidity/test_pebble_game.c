#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/rigidity/pebble_game.h"

enum { MAX_NODES = 8, DIM = 3 * MAX_NODES, MAX_EDGES = 3 * MAX_NODES };

/* Rows in echelon form: each begins with its pivot. */
typedef struct {
    double row[DIM][DIM];
    int pivot[DIM], rank;
} echelon;

/* Adds a row unless it depends on those that are there; whether it was added. */
static bool add_row(echelon *m, const double row[DIM]) {
    double r[DIM];
    int largest = 0;
    memcpy(r, row, sizeof r);
    for (int k = 0; k < m->rank; ++k) {
        double factor = r[m->pivot[k]] / m->row[k][m->pivot[k]];
        for (int i = 0; i < DIM; ++i)
            r[i] -= factor * m->row[k][i];
        r[m->pivot[k]] = 0.0;
    }
    for (int i = 1; i < DIM; ++i)
        if (fabs(r[i]) > fabs(r[largest]))
            largest = i;
    if (fabs(r[largest]) < 1e-8)
        return false;
    memcpy(m->row[m->rank], r, sizeof r);
    m->pivot[m->rank++] = largest;
    return true;
}

/* What the direction between two points says of them: one of the two equations that forbid a motion
 * across it. */
static void fill_row(const double (*X)[3], uint32_t u, uint32_t v, psfm_rng *rng, double row[DIM]) {
    double along[3], any[3], across[3];
    psfm_sub3(X[u], X[v], along);
    psfm_rng_direction(rng, any);
    psfm_cross3(along, any, across);
    memset(row, 0, DIM * sizeof *row);
    for (int i = 0; i < 3; ++i) {
        row[3 * u + (uint32_t)i] = across[i];
        row[3 * v + (uint32_t)i] = -across[i];
    }
}

/* Edges are accepted as long as their equations for points in general position are independent:
 * the game against the rank of the matrix, edge by edge. */
static void counts_the_rank_of_directions(void **state) {
    int refused = 0, full = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
        uint32_t n = 2 + seed % (MAX_NODES - 1);
        double X[MAX_NODES][3];
        echelon m = {.rank = 0};
        psfm_pebbles game = {0};
        for (uint32_t v = 0; v < n; ++v)
            psfm_rng_direction(&rng, X[v]);
        assert_ok(*state, psfm_pebbles_init(*state, n, &game));
        for (uint32_t k = 0; k < 3 * n; ++k) {
            uint32_t ends[2];
            double row[DIM];
            psfm_rng_sample(&rng, n, 2, ends);
            fill_row((const double(*)[3])X, ends[0], ends[1], &rng, row);
            bool independent = add_row(&m, row);
            assert_int_equal(psfm_pebbles_add(&game, ends[0], ends[1]), independent);
            refused += !independent;
        }
        assert_int_equal(game.num_edges, m.rank);
        full += game.num_edges == PSFM_PEBBLES * n - PSFM_COMMON;
        psfm_pebbles_free(&game);
    }
    assert_true(refused > 400 && full > 20);
}

/* Whether nodes u, v and w keep their shape under all that the rows allow: rows for all directions
 * between them would add nothing. */
static bool is_rigid(const echelon *m, const double (*X)[3], const uint32_t *set, uint32_t num,
                     psfm_rng *rng) {
    echelon all = *m;
    double row[DIM];
    for (uint32_t i = 0; i < num; ++i)
        for (uint32_t j = 0; j < i; ++j)
            for (int copy = 0; copy < 2; ++copy) {
                fill_row(X, set[i], set[j], rng, row);
                if (add_row(&all, row))
                    return false;
            }
    return true;
}

/* From each edge whose direction is known the largest set of nodes that is rigid with it. */
static void finds_the_largest_rigid_set(void **state) {
    int larger = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        uint32_t n = 3 + seed % (MAX_NODES - 2), num = n + (uint32_t)psfm_rng_below(&rng, n);
        uint32_t node1[MAX_EDGES], node2[MAX_EDGES], set[MAX_NODES + 1];
        double X[MAX_NODES][3], row[DIM];
        echelon m = {.rank = 0};
        psfm_pebbles game = {0};
        psfm_topology graph = {n, num, node1, node2};
        psfm_adjacency adjacency;
        for (uint32_t v = 0; v < n; ++v)
            psfm_rng_direction(&rng, X[v]);
        assert_ok(*state, psfm_pebbles_init(*state, n, &game));
        for (uint32_t e = 0; e < num; ++e) {
            uint32_t ends[2];
            psfm_rng_sample(&rng, n, 2, ends);
            node1[e] = ends[0];
            node2[e] = ends[1];
            for (int copy = 0; copy < 2; ++copy) {
                fill_row((const double(*)[3])X, ends[0], ends[1], &rng, row);
                add_row(&m, row);
                psfm_pebbles_add(&game, ends[0], ends[1]);
            }
        }
        assert_ok(*state, psfm_adjacency_init(*state, &graph, NULL, num, &adjacency));
        for (uint32_t e = 0; e < num; ++e) {
            uint32_t size =
                psfm_pebbles_rigid_set(&game, &graph, &adjacency, node1[e], node2[e], set);
            bool inside[MAX_NODES] = {false};
            assert_true(size >= 2 && set[0] == node1[e] && set[1] == node2[e]);
            assert_true(is_rigid(&m, (const double(*)[3])X, set, size, &rng));
            for (uint32_t k = 0; k < size; ++k)
                inside[set[k]] = true;
            for (uint32_t v = 0; v < n; ++v) {
                set[size] = v;
                assert_true(inside[v] || !is_rigid(&m, (const double(*)[3])X, set, size + 1, &rng));
            }
            larger += size > 2;
        }
        psfm_adjacency_free(&adjacency);
        psfm_pebbles_free(&game);
    }
    assert_true(larger > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_rank_of_directions),
        cmocka_unit_test(finds_the_largest_rigid_set),
    };
    return cmocka_run_group_tests_name("rigidity/pebble_game", tests, open_context, close_context);
}
