/* The time that a run still takes.
 *
 * Costs of steps are known beside each other, not in seconds: machines, images and options differ.
 * The steps that are over, and the done part of the current one, tell how many seconds a unit of
 * weight takes in this run; what is to come gets that rate. The current step, once a twentieth of
 * it is done, gets its own. */
#include "core/base/time_left.h"

#include <math.h>

#define MIN_SECONDS 2.0 /* measured before anything is said */
#define MIN_SHARE 0.05  /* of the whole run, and of a step for a rate of its own */

void psfm_run_steps_init(int num, psfm_run_steps *run) {
    *run = (psfm_run_steps){.num = num, .current = -1};
}

void psfm_run_steps_enter(psfm_run_steps *run, int step) {
    run->steps[step].is_begun = true;
    run->current = step;
}

void psfm_run_steps_leave(psfm_run_steps *run, double seconds) {
    if (run->current >= 0) {
        run->steps[run->current].seconds += seconds;
        run->steps[run->current].is_over = true;
    }
    run->current = -1;
}

/* Whether a step is still to come as a whole. */
static bool is_ahead(const psfm_run_steps *run, int step) {
    return step > run->current && !run->steps[step].is_begun && run->steps[step].weight != 0.0;
}

/* Weight and seconds of all that was measured. */
static void sum_measured(const psfm_run_steps *run, double share, double seconds, double *weight,
                         double *time) {
    *weight = *time = 0.0;
    for (int k = 0; k < run->num; ++k) {
        if (!run->steps[k].is_over || k == run->current || run->steps[k].weight <= 0.0)
            continue;
        *weight += run->steps[k].weight;
        *time += run->steps[k].seconds;
    }
    double own = run->steps[run->current].weight;
    if (share > 0.0 && own > 0.0) {
        *weight += own * share;
        *time += seconds;
    }
}

double psfm_time_left(const psfm_run_steps *run, double share, double seconds) {
    double weight, time, ahead = 0.0;
    if (run->current < 0)
        return -1.0;
    double own = run->steps[run->current].weight;
    for (int k = 0; k < run->num; ++k) {
        if (is_ahead(run, k) && run->steps[k].weight < 0.0)
            return -1.0;
        ahead += is_ahead(run, k) ? run->steps[k].weight : 0.0;
    }
    sum_measured(run, share, seconds, &weight, &time);
    if (own <= 0.0 || time < MIN_SECONDS || weight < MIN_SHARE * (weight + ahead + own))
        return -1.0;
    double rate = time / weight, rest = own * rate - seconds;
    if (share >= MIN_SHARE)
        rest = seconds * (1.0 - fmin(share, 1.0)) / share;
    else if (share >= 0.0)
        rest = fmax(rest, 0.0);
    return rest < 0.0 ? -1.0 : rest + ahead * rate;
}
