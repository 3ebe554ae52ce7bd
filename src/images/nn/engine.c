/* The engine of the networks: parallel loops, kernels for this machine, scratch memory, and matrix
 * products by oneDNN or OpenBLAS on one thread each.
 *
 * All of oneDNN is in this file. Of its C API we use dnnl_sgemm, which is the same in versions 2
 * and 3: convolutions are matrix products too (conv.c), so that the operation descriptors that
 * version 3 dropped are not needed. Without it OpenBLAS multiplies, which every context has set to
 * one thread.
 *
 * Parallel loops are over tiles whose borders do not depend on the number of threads, and a
 * product runs on one thread: results are the same for any number. */
#include "images/nn/engine.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"

#ifndef PSFM_HAVE_ONEDNN
#include <cblas.h>
#else
#include <oneapi/dnnl/dnnl.h>
#if DNNL_VERSION_MAJOR < 2 || DNNL_VERSION_MAJOR > 3
#error "oneDNN 2 or 3 is needed"
#endif
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
/* Declared here because <omp.h> is part of the compiler, and oneDNN's OpenMP may be another's. */
void omp_set_num_threads(int num_threads);
int omp_get_max_threads(void);
#define PSFM_ONEDNN_USES_OPENMP
#endif
#endif

struct psfm_engine {
    const psfm_kernels *kernels;
    psfm_buffer *scratch; /* one per worker */
    size_t num_scratch;
    atomic_int failure;    /* dnnl_status_t of a product that failed */
    psfm_engine_task task; /* of the running loop */
    const void *user;
    size_t scratch_floats;
};

psfm_status psfm_buffer_reserve(psfm_context *ctx, psfm_buffer *buffer, size_t need) {
    if (need <= buffer->capacity)
        return PSFM_OK;
    void *base;
    if (need > SIZE_MAX - 16)
        return psfm_fail_memory(ctx);
    psfm_status status = psfm_alloc(ctx, need + 16, sizeof(float), &base);
    if (status != PSFM_OK)
        return status;
    free(buffer->base);
    buffer->base = base;
    buffer->data = (float *)((char *)base + (64 - (uintptr_t)base % 64) % 64);
    buffer->capacity = need;
    return PSFM_OK;
}

void psfm_buffer_free(psfm_buffer *buffer) {
    free(buffer->base);
    *buffer = (psfm_buffer){0};
}

#ifdef PSFM_HAVE_ONEDNN
static void run_gemm(psfm_engine *nn, char transpose_b, size_t m, size_t n, size_t k,
                     const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                     size_t ldc) {
#ifdef PSFM_ONEDNN_USES_OPENMP
    /* The setting belongs to the calling thread. It is the application's, so put it back. */
    int num_threads = omp_get_max_threads();
    if (num_threads != 1)
        omp_set_num_threads(1);
#endif
    dnnl_status_t status =
        dnnl_sgemm('N', transpose_b, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, 1.0f, a,
                   (dnnl_dim_t)lda, b, (dnnl_dim_t)ldb, beta, c, (dnnl_dim_t)ldc);
#ifdef PSFM_ONEDNN_USES_OPENMP
    if (num_threads != 1)
        omp_set_num_threads(num_threads);
#endif
    if (status != dnnl_success)
        atomic_store(&nn->failure, (int)status);
}
#else
static void run_gemm(psfm_engine *nn, char transpose_b, size_t m, size_t n, size_t k,
                     const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                     size_t ldc) {
    (void)nn;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b == 'T' ? CblasTrans : CblasNoTrans,
                (blasint)m, (blasint)n, (blasint)k, 1.0f, a, (blasint)lda, b, (blasint)ldb, beta, c,
                (blasint)ldc);
}
#endif

void psfm_engine_gemm(psfm_engine *nn, size_t m, size_t n, size_t k, const float *a, size_t lda,
                      const float *b, size_t ldb, float beta, float *c, size_t ldc) {
    run_gemm(nn, 'N', m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void psfm_engine_gemm_bt(psfm_engine *nn, size_t m, size_t n, size_t k, const float *a, size_t lda,
                         const float *b, size_t ldb, float beta, float *c, size_t ldc) {
    run_gemm(nn, 'T', m, n, k, a, lda, b, ldb, beta, c, ldc);
}

psfm_status psfm_engine_create(psfm_context *ctx, psfm_engine **out) {
    *out = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status == PSFM_OK)
        psfm_engine_set_kernels(*out, psfm_kernels_best());
    return status;
}

void psfm_engine_destroy(psfm_engine **nn) {
    if (nn == NULL || *nn == NULL)
        return;
    for (size_t k = 0; k < (*nn)->num_scratch; ++k)
        psfm_buffer_free(&(*nn)->scratch[k]);
    free((*nn)->scratch);
    free(*nn);
    *nn = NULL;
}

const psfm_kernels *psfm_engine_kernels(const psfm_engine *nn) {
    return nn->kernels;
}

void psfm_engine_set_kernels(psfm_engine *nn, const psfm_kernels *kernels) {
    nn->kernels = kernels;
}

size_t psfm_engine_block(size_t num, size_t least, size_t most) {
    size_t num_blocks = (num + most - 1) / most, even = (num_blocks + 3) / 4 * 4;
    while (even > num_blocks && num < even * least)
        even /= 2;
    if (even > num_blocks)
        num_blocks = even;
    return num_blocks == 0 ? 1 : (num + num_blocks - 1) / num_blocks;
}

static psfm_status run_task(psfm_context *ctx, size_t index, int worker, void *user) {
    psfm_engine *nn = user;
    psfm_status status = psfm_buffer_reserve(ctx, &nn->scratch[worker], nn->scratch_floats);
    if (status == PSFM_OK)
        nn->task(nn, nn->user, index, nn->scratch[worker].data);
    return status;
}

psfm_status psfm_engine_run(psfm_context *ctx, psfm_engine *nn, size_t n, size_t scratch_floats,
                            psfm_engine_task task, const void *user) {
    psfm_status status =
        PSFM_RESERVE(ctx, &nn->scratch, &nn->num_scratch, (size_t)psfm_parallel_workers(ctx, n));
    if (status != PSFM_OK)
        return status;
    nn->task = task;
    nn->user = user;
    nn->scratch_floats = scratch_floats;
    status = psfm_parallel_for(ctx, NULL, n, run_task, nn);
    int failure = atomic_exchange(&nn->failure, 0);
    if (status == PSFM_OK && failure != 0)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "oneDNN failed in a matrix product (status %d)",
                         failure);
    return status;
}
