/* Time of named stages, by the clock and of the processors, and the memory the process had needed
 * by their end. */
#ifndef PSFM_BASE_TIMER_H
#define PSFM_BASE_TIMER_H

#include <time.h>

/* Seconds since an arbitrary start, monotonic. */
double psfm_now(void);

/* A moment, for differences: seconds by the clock, and CPU seconds of the process so far. */
typedef struct {
    double seconds, cpu_seconds;
} psfm_moment;

psfm_moment psfm_moment_now(void);

#define PSFM_MAX_STAGES 32

typedef struct {
    const char *name; /* a string literal */
    double seconds;
    double cpu_seconds; /* of all threads, user and system */
    double peak_mb;     /* largest resident size of the process so far, in 2^20 bytes */
} psfm_stage_time;

/* Largest resident size of the process so far, in 2^20 bytes. */
double psfm_peak_memory_mb(void);

/* A list of stages in the order they first ran; a stage that runs twice is summed. */
typedef struct {
    psfm_stage_time stages[PSFM_MAX_STAGES];
    int num_stages;
} psfm_timings;

/* Adds the time since `start` to stage `name`. */
void psfm_timings_add(psfm_timings *timings, const char *name, psfm_moment start);

#define PSFM_STAGE_NAME 64 /* room for the name of a stage */

/* A duration for people: "0.4 s", "57 s", "3 min 20 s", "2 h 5 min". */
void psfm_print_duration(double seconds, char text[32]);
/* The same for an estimate, no finer than it deserves: "5 s", "50 s", "3 min", "2 h 10 min". */
void psfm_print_rough_duration(double seconds, char text[32]);

/* The moment so many nanoseconds from now, less than a second, as pthread_cond_timedwait takes it.
 */
struct timespec psfm_time_in(long nanoseconds);

#endif
