#if defined(__linux__)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "core/base/cpu.h"

#include <sched.h>
#include <unistd.h>

static psfm_cpu_level limit = PSFM_CPU_AVX512;

static psfm_cpu_level find_cpu_level(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
        return PSFM_CPU_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return PSFM_CPU_AVX2;
#endif
    return PSFM_CPU_PLAIN;
}

psfm_cpu_level psfm_cpu(void) {
    psfm_cpu_level level = find_cpu_level();
    return level < limit ? level : limit;
}

void psfm_cpu_limit(psfm_cpu_level level) {
    limit = level;
}

int psfm_cpu_cores(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
#endif
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
