/* The stack of a thread that calls us may be of any size, by its attributes or by a limit of the
 * process (ulimit -s), which is also the size of new threads. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "core/base/stack.h"

#include <stdint.h>
#include <sys/resource.h>

void psfm_stack_raise(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= PSFM_STACK_BYTES)
        return;
    limit.rlim_cur = limit.rlim_max < PSFM_STACK_BYTES ? limit.rlim_max : PSFM_STACK_BYTES;
    (void)setrlimit(RLIMIT_STACK, &limit); /* what is left is looked at before the work */
}

/* Bytes between here and the end of the thread's stack; SIZE_MAX if they cannot be told. */
static size_t measure_left(void) {
    pthread_attr_t attributes;
    void *end = NULL;
    size_t size = 0;
    char here = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return SIZE_MAX;
    int failed = pthread_attr_getstack(&attributes, &end, &size);
    pthread_attr_destroy(&attributes);
    const uintptr_t at = (uintptr_t)&here, low = (uintptr_t)end;
    return failed || at < low || at - low > size ? SIZE_MAX : at - low;
}

psfm_status psfm_check_stack(psfm_context *ctx) {
    const size_t left = measure_left();
    return left >= PSFM_STACK_LEFT
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_MEMORY,
                           "the stack of the calling thread has %zu kB left, %zu are needed; raise "
                           "its size or the limit (ulimit -s)",
                           left >> 10, PSFM_STACK_LEFT >> 10);
}

int psfm_thread_start(pthread_t *thread, void *(*work)(void *), void *user) {
    pthread_attr_t attributes;
    size_t size = 0;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < PSFM_STACK_BYTES)
        pthread_attr_setstacksize(&attributes, PSFM_STACK_BYTES);
    failed = pthread_create(thread, &attributes, work, user);
    pthread_attr_destroy(&attributes);
    return failed;
}
