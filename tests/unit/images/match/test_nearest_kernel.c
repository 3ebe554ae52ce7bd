#include "test_util.h"

#include "core/base/cpu.h"
#include "core/base/rng.h"
#include "images/match/nearest_head.h"
#include "images/match/nearest_pack.h"

enum { ROWS = 12, COLS = 64, HEAD = PSFM_NEAREST_HEAD, MOST = PSFM_NEAREST_HEAD_MOST };

static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_cpu_limit(PSFM_CPU_AVX512);
    psfm_context_destroy(&ctx);
    return 0;
}

/* ---- heads at the limits of what the kernels allow ---- */

/* LONGEST: as long as can be, in any direction; FEW: four values of +-90; LEVEL and OPPOSITE: all
 * values +-31, so that sums of products plus offsets exceed 16 bits by far; ZERO. */
enum { SMALL, LONGEST, FEW, LEVEL, OPPOSITE, ZERO, NUM_KINDS };

static void make_longest(psfm_rng *rng, int8_t *head) {
    double v[HEAD], square = 0;
    for (int k = 0; k < HEAD; ++k) {
        v[k] = psfm_rng_normal(rng);
        square += v[k] * v[k];
    }
    double scale = sqrt(PSFM_NEAREST_HEAD_SQUARE / square);
    for (int k = 0; k < HEAD; ++k)
        head[k] = (int8_t)fmax(fmin(trunc(v[k] * scale), MOST), -MOST); /* towards zero */
}

static void make_head(psfm_rng *rng, int kind, int8_t *head) {
    memset(head, 0, HEAD);
    if (kind == LONGEST)
        make_longest(rng, head);
    for (int k = 0; k < HEAD; ++k) {
        if (kind == SMALL)
            head[k] = (int8_t)((int)psfm_rng_below(rng, 41) - 20);
        if (kind == LEVEL || kind == OPPOSITE)
            head[k] = kind == LEVEL ? 31 : -31;
    }
    size_t first = 4 * psfm_rng_below(rng, HEAD / 4);
    for (size_t k = 0; kind == FEW && k < 4; ++k)
        head[first + k] = psfm_rng_below(rng, 4) == 0 ? -MOST : MOST;
}

typedef struct {
    int8_t rows[ROWS][HEAD], cols[COLS][HEAD];
    int32_t row_bias[ROWS], row_limit[ROWS], col_bias[COLS], col_limit[COLS];
} problem;

static int32_t product_of(const problem *p, size_t i, size_t j) {
    int32_t sum = 0;
    for (int k = 0; k < HEAD; ++k)
        sum += p->rows[i][k] * p->cols[j][k];
    return sum;
}

/* Limits are close to some bound of their row and column, so that an error of one would show. */
static void make_problem(psfm_rng *rng, problem *p) {
    for (size_t i = 0; i < ROWS; ++i) {
        make_head(rng, (int)psfm_rng_below(rng, NUM_KINDS), p->rows[i]);
        p->row_bias[i] = (int32_t)psfm_rng_below(rng, 20000) - 10000;
    }
    for (size_t j = 0; j < COLS; ++j) {
        make_head(rng, (int)psfm_rng_below(rng, NUM_KINDS), p->cols[j]);
        p->col_bias[j] = (int32_t)psfm_rng_below(rng, 20000) - 10000;
    }
    for (size_t i = 0; i < ROWS; ++i) {
        size_t j = psfm_rng_below(rng, COLS);
        p->row_limit[i] = product_of(p, i, j) + p->row_bias[i] + p->col_bias[j] - (int)(i % 2);
    }
    for (size_t j = 0; j < COLS; ++j) {
        size_t i = psfm_rng_below(rng, ROWS);
        p->col_limit[j] = product_of(p, i, j) + p->row_bias[i] + p->col_bias[j] - (int)(j % 2);
    }
    p->row_bias[3] = 1 << 28;    /* fits no limit */
    p->col_bias[5] = -(1 << 29); /* padding */
}

/* As the kernel wants them. */
typedef struct {
    _Alignas(64) char rows[ROWS * HEAD * 2], panels[COLS * HEAD * 2];
    int32_t row_bias[ROWS];
} packed;

static void pack(const psfm_nearest_kernel *kernel, const problem *p, packed *out) {
    for (size_t i = 0; i < ROWS; ++i)
        out->row_bias[i] =
            p->row_bias[i] +
            psfm_nearest_pack_head_row(kernel, p->rows[i], out->rows + i * kernel->head.row_bytes);
    for (size_t j = 0; j < COLS; ++j)
        psfm_nearest_pack_head_column(kernel, p->cols[j], j, out->panels);
}

static void check_screening(const psfm_nearest_kernel *kernel, const problem *p, const packed *q) {
    uint32_t hits[ROWS * COLS + PSFM_NEAREST_BATCH];
    bool hit[ROWS][COLS] = {0};
    for (size_t j = 0; j < COLS; j += kernel->cols) {
        size_t num = kernel->screen_panel(q->rows, ROWS, q->panels + j * kernel->head.column_bytes,
                                          q->row_bias, p->row_limit, p->col_bias + j,
                                          p->col_limit + j, hits);
        for (size_t k = 0; k < num; ++k) {
            bool *h = &hit[hits[k] >> 16][j + (hits[k] & 0xffff)];
            assert_false(*h);
            *h = true;
        }
    }
    for (size_t i = 0; i < ROWS; ++i) {
        for (size_t j = 0; j < COLS; ++j) {
            int32_t bound = product_of(p, i, j) + p->row_bias[i] + p->col_bias[j];
            int32_t limit = p->row_limit[i] < p->col_limit[j] ? p->row_limit[i] : p->col_limit[j];
            assert_int_equal(hit[i][j], bound > limit);
        }
    }
}

/* The best of a row at a place is told by its code. */
static void check_seeking(const psfm_nearest_kernel *kernel, const problem *p, const packed *q) {
    int32_t codes[COLS], best[ROWS * COLS];
    for (size_t j = 0; j < COLS; ++j)
        codes[j] = PSFM_NEAREST_CODES * (p->col_bias[j] < 0 ? 0 : p->col_bias[j]) + (int32_t)j;
    for (size_t k = 0; k < ROWS * COLS; ++k)
        best[k] = INT32_MIN;
    for (size_t j = 0; j < COLS; j += kernel->cols)
        kernel->seek_panel(q->rows, ROWS, q->panels + j * kernel->head.column_bytes, codes + j,
                           best);
    for (size_t i = 0; i < ROWS; ++i) {
        for (size_t place = 0; place < kernel->cols; ++place) {
            int32_t most = INT32_MIN;
            for (size_t j = place; j < COLS; j += kernel->cols) {
                int32_t sum = PSFM_NEAREST_CODES * product_of(p, i, j) + codes[j];
                most = sum > most ? sum : most;
            }
            assert_int_equal((uint32_t)best[i * kernel->cols + place] % PSFM_NEAREST_CODES,
                             (uint32_t)most % PSFM_NEAREST_CODES);
        }
    }
}

static void kernels_agree_at_the_limits(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
        psfm_cpu_limit((psfm_cpu_level)level);
        const psfm_nearest_kernel *kernel = psfm_nearest_kernel_choose();
        for (int trial = 0; trial < 200; ++trial) {
            problem p;
            packed q = {0};
            make_problem(&rng, &p);
            pack(kernel, &p, &q);
            check_screening(kernel, &p, &q);
            check_seeking(kernel, &p, &q);
        }
    }
}

/* ---- what heads promise ---- */

enum { NUM = 400 };

/* Groups of 50 of each of these, and some of the last among the first ones. */
static void make_descriptors(uint8_t (*d)[PSFM_SIFT_SIZE]) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (size_t i = 0; i < NUM; ++i) {
        memset(d[i], 0, PSFM_SIFT_SIZE);
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k) {
            uint8_t any = (uint8_t)psfm_rng_below(&rng, 256);
            d[i][k] = i / 50 == 0   ? (uint8_t)(any % 90)          /* about as long as SIFT */
                      : i / 50 == 1 ? any                          /* longer */
                      : i / 50 == 2 ? (uint8_t)(255 - any % 2)     /* saturated */
                      : i / 50 == 3 ? 0                            /* nothing */
                      : i / 50 == 4 ? (uint8_t)(any < 8 ? 255 : 0) /* sparse */
                      : i / 50 == 5 ? 45                           /* all equal */
                                    : (uint8_t)(any % 60);
        }
        if (i / 50 == 7)
            d[i][i % PSFM_SIFT_SIZE] = 255;
    }
    memcpy(d[10], d[120], 2 * sizeof d[0]);
}

/* Axes from the first `sample`: the others may not fit, but their bounds must hold. */
static void check_bounds(uint8_t (*d)[PSFM_SIFT_SIZE], size_t sample) {
    psfm_nearest_basis basis;
    psfm_nearest_head head;
    const psfm_nearest_set some = {d[0], sample}, all = {d[0], NUM};
    assert_ok(ctx, psfm_nearest_basis_find(ctx, &some, 1, &basis));
    assert_ok(ctx, psfm_nearest_head_make(ctx, &basis, &all, &head));
    double unit = (double)basis.step * (double)basis.step;
    for (size_t i = 0; i < NUM; ++i) {
        const int8_t *a = head.values + i * HEAD;
        int32_t square = 0;
        for (size_t k = 0; k < HEAD; ++k) {
            assert_in_range(a[k] + MOST, 0, 2 * MOST);
            square += a[k] * a[k];
        }
        assert_true(square <= PSFM_NEAREST_HEAD_SQUARE);
        for (size_t j = 0; j < NUM; ++j) {
            const int8_t *b = head.values + j * HEAD;
            int32_t product = 0;
            int64_t bound = (int64_t)head.bias[i] + head.bias[j];
            for (size_t k = 0; k < HEAD; ++k)
                bound += a[k] * b[k];
            for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
                product += d[i][k] * d[j][k];
            assert_true(product <= unit * (double)bound);
        }
    }
    psfm_nearest_head_free(&head);
}

static void heads_bound_products(void **state) {
    (void)state;
    static uint8_t d[NUM][PSFM_SIFT_SIZE];
    make_descriptors(d);
    check_bounds(d, NUM);
    check_bounds(d, 50);
    check_bounds(d, 1);
    check_bounds(d, 0);
}

/* ---- guesses ---- */

static void seeds_find_copies(void **state) {
    (void)state;
    static uint8_t d[NUM][PSFM_SIFT_SIZE], copies[NUM][PSFM_SIFT_SIZE];
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (size_t i = 0; i < NUM; ++i) {
        double v[16], square = 0; /* each of eight values: heads lose little */
        for (int k = 0; k < 16; ++k) {
            v[k] = psfm_rng_uniform(&rng);
            square += 8 * v[k] * v[k];
        }
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
            d[i][k] = (uint8_t)(512.0 * v[k / 8] / sqrt(square) + 0.5);
    }
    for (size_t i = 0; i < NUM; ++i)
        memcpy(copies[i], d[(i + 7) % NUM], sizeof d[0]); /* d[j] is copies[j - 7] */
    const psfm_nearest_set sets[2] = {{d[0], NUM}, {copies[0], NUM}};
    psfm_nearest_basis basis;
    psfm_nearest_head heads[2];
    assert_ok(ctx, psfm_nearest_basis_find(ctx, sets, 2, &basis));
    for (int k = 0; k < 2; ++k)
        assert_ok(ctx, psfm_nearest_head_make(ctx, &basis, &sets[k], &heads[k]));
    const psfm_nearest_side rows = {&sets[0], &heads[0]}, cols = {&sets[1], &heads[1]};
    for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
        int32_t best[NUM] = {0}, second[NUM] = {0};
        psfm_nearest_seeds seeds[NUM];
        size_t found = 0;
        psfm_cpu_limit((psfm_cpu_level)level);
        const psfm_nearest_kernel *kernel = psfm_nearest_kernel_choose();
        psfm_nearest_seek(kernel, &rows, &cols, best, second, seeds);
        for (size_t i = 7; i < NUM; ++i) {
            int32_t products[2];
            for (int k = 0; k < 2; ++k)
                products[k] = kernel->dot(d[i], copies[seeds[i][k]]);
            assert_true(seeds[i][0] != seeds[i][1]);
            assert_int_equal(best[i], products[products[1] > products[0]]);
            assert_int_equal(second[i], products[products[1] <= products[0]]);
            found += seeds[i][0] == i - 7 || seeds[i][1] == i - 7;
        }
        assert_int_equal(found, PSFM_NEAREST_CODES);
    }
    psfm_nearest_head_free(&heads[0]);
    psfm_nearest_head_free(&heads[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree_at_the_limits),
        cmocka_unit_test(heads_bound_products),
        cmocka_unit_test(seeds_find_copies),
    };
    return cmocka_run_group_tests_name("match/nearest_kernel", tests, make_context, free_context);
}
