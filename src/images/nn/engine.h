/* What networks run on: matrix products (oneDNN or OpenBLAS), parallel loops with scratch memory,
 * and the vector kernels of this CPU.
 *
 * Every product is single-threaded; threads share out tiles of rows or pixels whose borders do not
 * depend on how many threads there are. So the results do not either. */
#ifndef PSFM_NN_ENGINE_H
#define PSFM_NN_ENGINE_H

#include <stddef.h>

#include "core/base/context.h"
#include "images/nn/kernels.h"

typedef struct psfm_engine psfm_engine;

/* Makes an engine, which runs on the threads of the context that each call is given. One call at a
 * time; to run several networks at once, make several. */
psfm_status psfm_engine_create(psfm_context *ctx, psfm_engine **out);
/* Frees and sets *nn to NULL. */
void psfm_engine_destroy(psfm_engine **nn);

const psfm_kernels *psfm_engine_kernels(const psfm_engine *nn);
/* Takes other kernels than the best for this CPU; for tests. */
void psfm_engine_set_kernels(psfm_engine *nn, const psfm_kernels *kernels);

/* Does task `index` of a loop. `memory` is the worker's scratch memory, floats, 64-byte aligned,
 * its contents undefined. */
typedef void (*psfm_engine_task)(psfm_engine *nn, const void *user, size_t index, void *memory);

/* Runs task 0 .. n-1 on the threads of the context with `scratch_floats` of scratch each. Fails
 * when memory is out or oneDNN reported a failure inside. A worker's scratch grows when a loop
 * needs more than all before. */
psfm_status psfm_engine_run(psfm_context *ctx, psfm_engine *nn, size_t n, size_t scratch_floats,
                            psfm_engine_task task, const void *user);

/* How many of `num` items (pixels, tiles) a task should take: at most `most`, and so that there are
 * a multiple of four tasks of about the same size, or fewer of about `least`. The same for any
 * number of threads. */
size_t psfm_engine_block(size_t num, size_t least, size_t most);

/* Row-major C = A B + beta C on the calling thread: A is m x k (lda floats between rows), B is
 * k x n, C is m x n. A failure is kept and reported by psfm_engine_run. The many arguments are
 * those of BLAS, in its order, which every reader of matrix code knows. */
void psfm_engine_gemm(psfm_engine *nn, size_t m, size_t n, size_t k, const float *a, size_t lda,
                      const float *b, size_t ldb, float beta, float *c, size_t ldc);
/* The same with B given transposed, n x k. */
void psfm_engine_gemm_bt(psfm_engine *nn, size_t m, size_t n, size_t k, const float *a, size_t lda,
                         const float *b, size_t ldb, float beta, float *c, size_t ldc);

/* Growing memory, 64-byte aligned. Zero-initialise. */
typedef struct {
    void *base;
    float *data;
    size_t capacity; /* floats */
} psfm_buffer;

/* Makes room for `need` floats; the contents are lost when it grows, and zero then. */
psfm_status psfm_buffer_reserve(psfm_context *ctx, psfm_buffer *buffer, size_t need);
void psfm_buffer_free(psfm_buffer *buffer);

/* Number of floats rounded up to a multiple of 16, so that the next array is aligned too. */
static inline size_t psfm_align_floats(size_t floats) {
    return (floats + 15) / 16 * 16;
}

#endif
