/* Wall-clock time of named stages, and the memory the process had needed by their end. */
#ifndef PSFM_BASE_TIMER_H
#define PSFM_BASE_TIMER_H

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

#define PSFM_STAGE_NAME 64 /* room for the name of a stage */

/* A duration for people: "0.4 s", "57 s", "3 min 20 s", "2 h 5 min". */
void psfm_print_duration(double seconds, char text[32]);
/* The same for an estimate, no finer than it deserves: "5 s", "50 s", "3 min", "2 h 10 min". */
void psfm_print_rough_duration(double seconds, char text[32]);

#endif
