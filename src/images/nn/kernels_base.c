/* The kernels for any machine, and which ones this machine can use. */
#define KERNELS psfm_kernels_base
#define KERNELS_NAME "base"
#include "images/nn/kernels_body.h"

#if defined(__x86_64__)
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static bool has_avx512(void) {
    return false;
}

static bool has_avx2(void) {
    return false;
}
#endif

const psfm_kernels *const *psfm_kernels_usable(void) {
    static const psfm_kernels *const all[] = {&psfm_kernels_avx512, &psfm_kernels_avx2,
                                              &psfm_kernels_base, NULL};
    return has_avx512() ? all : has_avx2() ? all + 1 : all + 2;
}

const psfm_kernels *psfm_kernels_best(void) {
    return psfm_kernels_usable()[0];
}
