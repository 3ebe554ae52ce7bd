/* Threads that OpenBLAS starts when it is loaded end, stay ended, and are not missed. */
#include "test_util.h"

#include <cblas.h>
#include <dirent.h>
#include <time.h>

#include "core/linalg/blas_reserve.h"

static int count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int num = 0;
    if (tasks == NULL)
        return -1;
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks))
        num += entry->d_name[0] != '.';
    closedir(tasks);
    return num;
}

/* A thread that was joined may stand in the list a moment longer. */
static int count_threads_left(int expected) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int k = 0; k < 2000 && count_threads() != expected; ++k)
        nanosleep(&pause, NULL);
    return count_threads();
}

static void threads_end_and_are_not_missed(void **state) {
    (void)state;
    enum { BY_THREADS = 1 }; /* not by OpenMP, which starts none before it needs them */
    const bool starts = openblas_get_parallel() == BY_THREADS;
    const int idle = starts ? openblas_get_num_threads() - 1 : 0, before = count_threads();
    enum { N = 300 }; /* enough for OpenBLAS to share it, if it could */
    static double a[N * N], b[N * N], c[N * N];
    if (before < 0)
        skip();
    psfm_blas_end_threads();
    assert_int_equal(count_threads_left(before - idle), before - idle);

    psfm_context *ctx = psfm_context_create(), *other = psfm_context_create();
    for (int k = 0; k < N; ++k) {
        a[k * N + k] = 2.0;
        b[k * N] = k;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0, a, N, b, N, 0.0, c, N);
    for (int k = 0; k < N; ++k)
        assert_true(c[k * N] == 2.0 * k);
    assert_int_equal(count_threads_left(before - idle), before - idle);
    psfm_context_destroy(&other);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_end_and_are_not_missed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
