/* What stages took, summed for the summary, and durations as people read them. */
#include "core/base/timer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double psfm_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0.0;
}

psfm_moment psfm_moment_now(void) {
    return (psfm_moment){psfm_now(), cpu_seconds()};
}

double psfm_peak_memory_mb(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024.0 : 0.0;
}

void psfm_timings_add(psfm_timings *timings, const char *name, psfm_moment start) {
    const psfm_moment now = psfm_moment_now();
    int k = 0;
    while (k < timings->num_stages && strcmp(timings->stages[k].name, name) != 0)
        ++k;
    if (k == PSFM_MAX_STAGES)
        return;
    if (k == timings->num_stages)
        timings->stages[timings->num_stages++] = (psfm_stage_time){.name = name};
    psfm_stage_time *stage = &timings->stages[k];
    stage->seconds += now.seconds - start.seconds;
    stage->cpu_seconds += now.cpu_seconds - start.cpu_seconds;
    stage->peak_mb = psfm_peak_memory_mb();
}

void psfm_print_duration(double seconds, char text[32]) {
    long whole = lround(fmin(fmax(seconds, 0.0), 1e9));
    if (seconds < 9.95)
        snprintf(text, 32, "%.1f s", fmax(seconds, 0.0));
    else if (whole < 120)
        snprintf(text, 32, "%ld s", whole);
    else if (whole < 7200)
        snprintf(text, 32, "%ld min %ld s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
}

/* Rounds up to a multiple. */
static long up_to(double seconds, long step) {
    return (long)ceil(fmin(fmax(seconds, 0.0), 1e9) / (double)step) * step;
}

void psfm_print_rough_duration(double seconds, char text[32]) {
    if (seconds <= 10.0)
        snprintf(text, 32, "%ld s", up_to(seconds, 1));
    else if (seconds <= 110.0)
        snprintf(text, 32, "%ld s", up_to(seconds, 10));
    else if (seconds <= 7200.0 - 60.0)
        snprintf(text, 32, "%ld min", up_to(seconds, 60) / 60);
    else
        snprintf(text, 32, "%ld h %ld min", up_to(seconds, 600) / 3600,
                 up_to(seconds, 600) % 3600 / 60);
}

struct timespec psfm_time_in(long nanoseconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += nanoseconds;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return end;
}
