/* OpenBLAS and the machine.
 *
 * It takes a buffer for each call that is under way, keeps it for the next one, and when the
 * system refuses a new one it asks again without end. So where memory is limited all buffers that
 * can be under way at once are taken here, after a look whether they fit. */
#include "core/linalg/blas_reserve.h"

#include <cblas.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/base/alloc.h"

/* Of OpenBLAS, which exports but does not declare them. cblas.h has nothing that makes a buffer
 * but a product, which gives it back at once: whether so many products at the same time make so
 * many buffers would be chance. Weak, so that a library without them will do. */
extern void *blas_memory_alloc(int position) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));
extern int blas_thread_shutdown_(void) __attribute__((weak));

/* What OpenBLAS asks for on x86-64, and what is left for everything else. */
#define BUFFER_BYTES ((size_t)128 << 20)
#define REST_BYTES ((size_t)32 << 20)

static bool has_room(size_t size) {
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, size);
    return true;
}

/* How many threads can have a buffer. */
static size_t count_fitting(size_t num) {
    while (num > 0 && !has_room(num * BUFFER_BYTES + REST_BYTES))
        --num;
    return num;
}

psfm_status psfm_blas_reserve(psfm_context *ctx) {
    struct rlimit limit;
    void **buffers = NULL;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        blas_memory_alloc == NULL || blas_memory_free == NULL)
        return PSFM_OK;
    size_t num = count_fitting((size_t)psfm_context_threads(ctx));
    if (num == 0)
        return psfm_fail(ctx, PSFM_ERR_MEMORY,
                         "the limit of memory (ulimit -v) leaves no room for the linear algebra, "
                         "%zu MB",
                         (BUFFER_BYTES + REST_BYTES) >> 20);
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1); /* each thread would reserve 64 MB for one of its own */
#endif
    psfm_context_set_threads(ctx, (int)num);
    psfm_status status = PSFM_ALLOC(ctx, num, &buffers);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        buffers[k] = blas_memory_alloc(0);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        blas_memory_free(buffers[k]);
    free(buffers);
    return status;
}

void psfm_blas_end_threads(void) {
    openblas_set_num_threads(1); /* first: it would start them again */
    if (blas_thread_shutdown_ != NULL)
        blas_thread_shutdown_();
}
