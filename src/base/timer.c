#include "base/timer.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

double psfm_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double psfm_peak_memory_mb(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024.0 : 0.0;
}

void psfm_timings_add(psfm_timings *timings, const char *name, double start) {
    double seconds = psfm_now() - start;
    for (int k = 0; k < timings->num_stages; ++k) {
        if (strcmp(timings->stages[k].name, name) == 0) {
            timings->stages[k].seconds += seconds;
            timings->stages[k].peak_mb = psfm_peak_memory_mb();
            return;
        }
    }
    if (timings->num_stages < PSFM_MAX_STAGES)
        timings->stages[timings->num_stages++] =
            (psfm_stage_time){name, seconds, psfm_peak_memory_mb()};
}
