#include "base/timer.h"

#include <string.h>
#include <time.h>

double psfm_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void psfm_timings_add(psfm_timings *timings, const char *name, double start) {
    double seconds = psfm_now() - start;
    for (int k = 0; k < timings->num_stages; ++k) {
        if (strcmp(timings->stages[k].name, name) == 0) {
            timings->stages[k].seconds += seconds;
            return;
        }
    }
    if (timings->num_stages < PSFM_MAX_STAGES)
        timings->stages[timings->num_stages++] = (psfm_stage_time){name, seconds};
}
