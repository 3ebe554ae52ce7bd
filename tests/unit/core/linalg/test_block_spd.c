#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/block_spd.h"

enum { NUM_BLOCKS = 30, MAX_DIM = 7, MAX_N = NUM_BLOCKS * MAX_DIM };

/* A random block matrix, dense copy beside it; diagonally dominant. */
typedef struct {
    psfm_block_pattern pattern;
    size_t n;
    double dense[MAX_N * MAX_N];
} fixture;

static void make_pattern(fixture *f, psfm_rng *rng, double density) {
    static const uint32_t dims[] = {6, 3, 1, 7};
    psfm_block_pattern *p = &f->pattern;
    p->num_blocks = NUM_BLOCKS;
    p->scalar_begin = calloc(NUM_BLOCKS + 1, sizeof *p->scalar_begin);
    p->row_begin = calloc(NUM_BLOCKS + 1, sizeof *p->row_begin);
    p->col = calloc((size_t)NUM_BLOCKS * NUM_BLOCKS, sizeof *p->col);
    size_t k = 0;
    for (uint32_t r = 0; r < NUM_BLOCKS; ++r) {
        p->scalar_begin[r + 1] = p->scalar_begin[r] + dims[r % 4];
        for (uint32_t c = r; c < NUM_BLOCKS; ++c)
            if (c == r || psfm_rng_uniform(rng) < density)
                p->col[k++] = c;
        p->row_begin[r + 1] = k;
    }
    f->n = p->scalar_begin[NUM_BLOCKS];
}

static void set_values(fixture *f, psfm_rng *rng, psfm_block_spd *spd) {
    const psfm_block_pattern *p = &f->pattern;
    memset(f->dense, 0, sizeof f->dense);
    for (uint32_t r = 0; r < NUM_BLOCKS; ++r) {
        for (size_t k = p->row_begin[r]; k < p->row_begin[r + 1]; ++k) {
            uint32_t c = p->col[k];
            uint32_t num_rows = p->scalar_begin[r + 1] - p->scalar_begin[r];
            uint32_t num_cols = p->scalar_begin[c + 1] - p->scalar_begin[c];
            double block[MAX_DIM * MAX_DIM];
            for (uint32_t u = 0; u < num_rows; ++u)
                for (uint32_t v = 0; v < num_cols; ++v) {
                    size_t row = p->scalar_begin[r] + u, col = p->scalar_begin[c] + v;
                    double value = psfm_rng_range(rng, -1, 1) + (row == col ? 200.0 : 0.0);
                    block[u * num_cols + v] = value;
                    if (row <= col)
                        f->dense[row * f->n + col] = f->dense[col * f->n + row] = value;
                }
            psfm_block_spd_set(spd, k, block);
        }
    }
}

static void check_solve(psfm_context *ctx, const fixture *f, psfm_rng *rng, psfm_block_spd *spd) {
    double x[MAX_N], b[MAX_N];
    for (size_t k = 0; k < f->n; ++k)
        x[k] = psfm_rng_normal(rng);
    for (size_t r = 0; r < f->n; ++r) {
        b[r] = 0.0;
        for (size_t c = 0; c < f->n; ++c)
            b[r] += f->dense[r * f->n + c] * x[c];
    }
    assert_ok(ctx, psfm_block_spd_solve(ctx, spd, 1, b, b));
    for (size_t k = 0; k < f->n; ++k)
        assert_close(b[k], x[k], 1e-12);
}

/* All blocks at once, and each by itself, which goes another way, against the columns of solves. */
static void check_inverse(psfm_context *ctx, const fixture *f, psfm_block_spd *spd) {
    size_t begin[NUM_BLOCKS + 1] = {0};
    static double out[NUM_BLOCKS * MAX_DIM * MAX_DIM], single[NUM_BLOCKS * MAX_DIM * MAX_DIM];
    const uint32_t *scalar = f->pattern.scalar_begin;
    for (uint32_t b = 0; b < NUM_BLOCKS; ++b) {
        size_t m = scalar[b + 1] - scalar[b];
        begin[b + 1] = begin[b] + m * m;
    }
    const psfm_block_range all = {0, NUM_BLOCKS, begin, out};
    assert_ok(ctx, psfm_block_spd_inverse(ctx, spd, &all));
    for (uint32_t b = 0; b < NUM_BLOCKS; ++b) {
        size_t m = scalar[b + 1] - scalar[b];
        const psfm_block_range one = {b, 1, begin, single};
        assert_ok(ctx, psfm_block_spd_inverse(ctx, spd, &one));
        for (size_t v = 0; v < m; ++v) {
            double column[MAX_N] = {0};
            column[scalar[b] + v] = 1.0;
            assert_ok(ctx, psfm_block_spd_solve(ctx, spd, 1, column, column));
            for (size_t u = 0; u < m; ++u) {
                assert_close(out[begin[b] + u * m + v], column[scalar[b] + u], 1e-14);
                assert_close(single[begin[b] + u * m + v], column[scalar[b] + u], 1e-14);
            }
        }
    }
}

static void solves_and_inverts_at(double density, uint64_t seed) {
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    static fixture f;
    make_pattern(&f, &rng, density);
    psfm_block_spd *spd = NULL;
    assert_ok(ctx, psfm_block_spd_create(ctx, &f.pattern, &spd));
    assert_int_equal(psfm_block_spd_fill(spd), 0);
    for (int round = 0; round < 3; ++round) {
        set_values(&f, &rng, spd);
        assert_ok(ctx, psfm_block_spd_factor(ctx, spd));
        check_solve(ctx, &f, &rng, spd);
        check_inverse(ctx, &f, spd);
    }
    assert_true(psfm_block_spd_fill(spd) >= f.n);
    psfm_block_spd_destroy(&spd);
    assert_null(spd);
    psfm_block_pattern_free(&f.pattern);
    psfm_context_destroy(&ctx);
}

static void sparse_blocks(void **state) {
    (void)state;
    solves_and_inverts_at(0.08, 1);
}

static void dense_blocks(void **state) {
    (void)state;
    solves_and_inverts_at(1.0, 2);
}

static void refuses_an_indefinite_matrix_and_a_bad_pattern(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t scalar[] = {0, 1, 2}, col[] = {0, 1, 1};
    size_t row_begin[] = {0, 2, 3};
    psfm_block_pattern pattern = {2, scalar, row_begin, col};
    psfm_block_spd *spd = NULL;
    assert_ok(ctx, psfm_block_spd_create(ctx, &pattern, &spd));
    double one = 1.0, two = 2.0;
    psfm_block_spd_set(spd, 0, &one);
    psfm_block_spd_set(spd, 1, &two);
    psfm_block_spd_set(spd, 2, &one);
    assert_int_equal(psfm_block_spd_factor(ctx, spd), PSFM_ERR_NUMERIC);
    psfm_block_spd_destroy(&spd);
    col[0] = 1;
    assert_int_equal(psfm_block_spd_create(ctx, &pattern, &spd), PSFM_ERR_ARGUMENT);
    assert_null(spd);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_blocks),
        cmocka_unit_test(dense_blocks),
        cmocka_unit_test(refuses_an_indefinite_matrix_and_a_bad_pattern),
    };
    return cmocka_run_group_tests_name("linalg/block_spd", tests, NULL, NULL);
}
