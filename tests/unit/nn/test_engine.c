#include "nn_util.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "nn/engine.h"
#include "nn/team.h"

typedef struct {
    atomic_int runs[1000];
    atomic_int workers[8];
} counts;

static void count_task(void *user, size_t index, int worker) {
    counts *c = user;
    atomic_fetch_add(&c->runs[index], 1);
    atomic_fetch_add(&c->workers[worker], 1);
}

static void team_runs_every_task_once(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int threads = 1; threads <= 4; ++threads) {
        psfm_team *team;
        assert_ok(ctx, psfm_team_create(ctx, threads, &team));
        assert_int_equal(psfm_team_size(team), threads);
        counts *c = nn_new(1, sizeof *c);
        for (int loop = 0; loop < 300; ++loop)
            psfm_team_run(team, (size_t)(loop % 7 == 0 ? 1000 : loop % 7 - 1), count_task, c);
        int total = 0;
        for (int k = 0; k < 1000; ++k) {
            /* 43 long loops, and the short ones of 1 to 5 tasks: 43 each, but one of 42 */
            int expected = k >= 5 ? 43 : 0;
            for (int loop = 0; k < 5 && loop < 300; ++loop)
                expected += loop % 7 == 0 || k < loop % 7 - 1;
            assert_int_equal(c->runs[k], expected);
            total += expected;
        }
        for (int k = 0; k < 8; ++k) {
            total -= c->workers[k];
            assert_true(k < threads || c->workers[k] == 0);
        }
        assert_int_equal(total, 0);
        free(c);
        psfm_team_destroy(&team);
        assert_null(team);
    }
    psfm_context_destroy(&ctx);
}

typedef struct {
    size_t m, n, k;
    const float *a, *b, *bt;
    float *c, *ct;
} product;

static void product_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const product *p = user;
    (void)index;
    assert_int_equal((uintptr_t)scratch % 64, 0);
    psfm_engine_gemm(nn, p->m, p->n, p->k, p->a, p->k, p->b, p->n, 1, p->c, p->n + 3);
    psfm_engine_gemm_bt(nn, p->m, p->n, p->k, p->a, p->k, p->bt, p->k, 0, p->ct, p->n);
}

static void multiplies(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    const size_t sizes[][3] = {{1, 1, 1}, {3, 17, 5}, {64, 65, 31}, {70, 4, 129}};
    for (size_t s = 0; s < 4; ++s) {
        size_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        float *a = nn_new(m * k, 4), *b = nn_new(k * n, 4), *bt = nn_new(k * n, 4);
        float *c = nn_new(m * (n + 3), 4), *ct = nn_new(m * n, 4);
        for (size_t i = 0; i < m * k; ++i)
            a[i] = (float)psfm_rng_normal(&rng);
        for (size_t i = 0; i < k * n; ++i)
            bt[i % n * k + i / n] = b[i] = (float)psfm_rng_normal(&rng);
        for (size_t i = 0; i < m * (n + 3); ++i)
            c[i] = 7;
        product p = {m, n, k, a, b, bt, c, ct};
        assert_ok(ctx, psfm_engine_run(ctx, nn, 1, 16, product_task, &p));
        for (size_t i = 0; i < m; ++i)
            for (size_t j = 0; j < n + 3; ++j) {
                double sum = 0;
                for (size_t t = 0; j < n && t < k; ++t)
                    sum += (double)a[i * k + t] * b[t * n + j];
                assert_close(c[i * (n + 3) + j], 7 + sum, 1e-4);
                if (j < n)
                    assert_close(ct[i * n + j], sum, 1e-4);
            }
        free(a), free(b), free(bt), free(c), free(ct);
    }
    psfm_engine_destroy(&nn);
    assert_null(nn);
    psfm_context_destroy(&ctx);
}

static void blocks_are_of_one_size(void **state) {
    (void)state;
    for (size_t num = 0; num < 3000; ++num)
        for (size_t least = 1; least < 100; least = 2 * least + 1) {
            size_t most = 100, block = psfm_engine_block(num, least, most);
            assert_in_range(block, 1, most);
            size_t count = (num + block - 1) / block;
            if (num >= 4 * least) /* enough tasks for a few threads, and none too small */
                assert_true(count >= 3 && block >= least);
        }
}

static void buffers_grow_aligned(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_buffer buffer = {0};
    for (size_t need = 1; need < 5000; need = need * 3 + 1) {
        assert_ok(ctx, psfm_buffer_reserve(ctx, &buffer, need));
        assert_int_equal((uintptr_t)buffer.data % 64, 0);
        for (size_t k = 0; k < need; ++k)
            assert_true(buffer.data[k] == 0);
        buffer.data[need - 1] = 1;
    }
    float *before = buffer.data;
    assert_ok(ctx, psfm_buffer_reserve(ctx, &buffer, 10));
    assert_ptr_equal(buffer.data, before);
    assert_int_equal(psfm_buffer_reserve(ctx, &buffer, SIZE_MAX / 2), PSFM_ERR_MEMORY);
    assert_ptr_equal(buffer.data, before);
    psfm_buffer_free(&buffer);
    psfm_context_destroy(&ctx);
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 3);
    psfm_engine *nn = NULL;
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; n < 50 && status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_engine_create(ctx, &nn);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && nn == NULL));
    }
    assert_non_null(nn);
    assert_non_null(strstr(psfm_engine_describe(nn), "3 threads"));
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(team_runs_every_task_once), cmocka_unit_test(multiplies),
        cmocka_unit_test(blocks_are_of_one_size),    cmocka_unit_test(buffers_grow_aligned),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
