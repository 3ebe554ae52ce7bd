/* Wall-clock time of named stages, and the memory the process had needed by their end. */
#ifndef PSFM_BASE_TIMER_H
#define PSFM_BASE_TIMER_H

#include <stddef.h>

/* Seconds since an arbitrary start, monotonic. */
double psfm_now(void);

#define PSFM_MAX_STAGES 32

typedef struct {
    const char *name; /* a string literal */
    double seconds;
    double peak_mb; /* largest resident size of the process so far, in 2^20 bytes */
} psfm_stage_time;

/* Largest resident size of the process so far, in 2^20 bytes. */
double psfm_peak_memory_mb(void);

/* A list of stages in the order they first ran; a stage that runs twice is summed. */
typedef struct {
    psfm_stage_time stages[PSFM_MAX_STAGES];
    int num_stages;
} psfm_timings;

/* Adds the time since `start` (from psfm_now) to stage `name`. */
void psfm_timings_add(psfm_timings *timings, const char *name, double start);

#define PSFM_STAGE_NAME 64

/* When stages began, for those who hear of their progress; zeroed at first. */
typedef struct {
    struct {
        char name[PSFM_STAGE_NAME];
        double started;
    } stages[PSFM_MAX_STAGES];
} psfm_stage_clock;

/* The time at which a stage began: `now` if done is 0 or the stage is new. Each has a place of its
 * own, since stages nest: the rounds of the refinement hold bundle adjustments. */
double psfm_stage_started(psfm_stage_clock *clock, const char *stage, size_t done, double now);

#endif
