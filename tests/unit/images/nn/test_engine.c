#include "nn_util.h"

#include "core/base/alloc.h"
#include "images/nn/engine.h"

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

static void write_scratch(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)nn, (void)user, (void)index;
    memset(memory, 0, 100 * sizeof(float));
}

/* The scratch of all workers is made in a loop; one that fails leaves the engine whole. */
static void survives_lack_of_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn = NULL;
    psfm_status status = PSFM_ERR_MEMORY;
    psfm_context_set_threads(ctx, 1);
    size_t n = 1;
    for (; n < 50 && status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_engine_create(ctx, &nn);
        if (status == PSFM_OK)
            status = psfm_engine_run(ctx, nn, 5, 100, write_scratch, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        if (nn != NULL)
            assert_ok(ctx, psfm_engine_run(ctx, nn, 5, 100, write_scratch, NULL));
        psfm_engine_destroy(&nn);
    }
    assert_in_range(n, 4, 49);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies),
        cmocka_unit_test(blocks_are_of_one_size),
        cmocka_unit_test(buffers_grow_aligned),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
