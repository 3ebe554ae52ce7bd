/* Clocks of the stages. One sums what each stage took, from start and end, for the summary. The
 * other is for those who only hear of progress: it remembers when each stage was first told of, so
 * that a stage within another does not set the outer one's time back. */
#include "base/timer.h"

#include <stdbool.h>
#include <stdio.h>
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

double psfm_stage_started(psfm_stage_clock *clock, const char *stage, size_t done, double now) {
    int k = 0; /* its place, or the first free one, or the last */
    while (k + 1 < PSFM_MAX_STAGES && clock->stages[k].name[0] != '\0' &&
           strncmp(clock->stages[k].name, stage, PSFM_STAGE_NAME - 1) != 0)
        ++k;
    bool is_new = strncmp(clock->stages[k].name, stage, PSFM_STAGE_NAME - 1) != 0;
    if (done == 0 || is_new) {
        snprintf(clock->stages[k].name, PSFM_STAGE_NAME, "%s", stage);
        clock->stages[k].started = now;
    }
    return clock->stages[k].started;
}
