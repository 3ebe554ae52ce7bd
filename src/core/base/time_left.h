/* How long a run of several steps will still take. */
#ifndef PSFM_BASE_TIME_LEFT_H
#define PSFM_BASE_TIME_LEFT_H

#include <stdbool.h>

#define PSFM_MAX_STEPS 12

/* The steps of a run, in their order. Weights are what the steps usually take beside each other;
 * how fast this run is comes from its own steps. */
typedef struct {
    struct {
        double weight;  /* expected cost; 0: not part of this run; negative: not known yet */
        double seconds; /* that it took until it was left */
        bool is_begun, is_over;
    } steps[PSFM_MAX_STEPS];
    int num, current; /* current: -1 between two steps */
} psfm_run_steps;

/* Forgets what was measured. */
void psfm_run_steps_init(int num, psfm_run_steps *run);

/* Begins a step. Steps before it that have not begun will not come any more. */
void psfm_run_steps_enter(psfm_run_steps *run, int step);
/* Ends the current step, which took `seconds`. */
void psfm_run_steps_leave(psfm_run_steps *run, double seconds);

/* Seconds until the end of the run, when `seconds` were spent in the current step. `share` is how
 * much of it is done, negative if nobody can tell. Returns a negative number as long as there is no
 * ground for an estimate: a step to come has no weight yet, too little was measured, or a step
 * without a share takes longer than its weight lets expect. */
double psfm_time_left(const psfm_run_steps *run, double share, double seconds);

#endif
