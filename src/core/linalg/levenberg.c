/* Damping stands between a step of Gauss and Newton and a short one down the slope: less after a
 * success, more after a failure. What is damped, and how, is the problem's own affair. */
#include "core/linalg/levenberg.h"

#define LOOSE_SHARE 0.6 /* of the iterations of a robust descent */

const psfm_damping psfm_light_damping = {
    1e3, {0.1, 1.0, 1e-12}, {100.0, 1.0, 1e-3}, {INFINITY, 1.0, 0.0}};
const psfm_damping psfm_patient_damping = {
    INFINITY, {1.0, 5.0, 1e-9}, {6.0, 1.0, 0.0}, {6.0, 1.0, 0.0}};

static double next_damping(double damping, const psfm_damping_rule *rule) {
    return fmax(damping * rule->times / rule->over, rule->least);
}

/* Tries steps until one lowers the cost, which *cost then is. */
static psfm_status lower_cost(psfm_context *ctx, const psfm_descent *d, int *trials,
                              double *damping, double *cost, bool *lowered) {
    *lowered = false;
    for (; *trials > 0 && *damping < d->damping->most && !*lowered; --*trials) {
        double tried;
        psfm_status status = d->attempt(ctx, d->user, *damping, &tried);
        if (status != PSFM_OK && status != PSFM_ERR_NUMERIC)
            return status;
        *lowered = status == PSFM_OK && tried < *cost;
        *cost = *lowered ? tried : *cost;
        *damping = next_damping(*damping, *lowered            ? &d->damping->lowered
                                          : status == PSFM_OK ? &d->damping->failed
                                                              : &d->damping->unsolved);
    }
    return PSFM_OK;
}

double psfm_descend(const psfm_descent *d, int max_trials, double cost) {
    double damping = d->start, before = cost;
    bool lowered = true;
    while (lower_cost(NULL, d, &max_trials, &damping, &cost, &lowered) == PSFM_OK && lowered) {
        if (d->accept(d->user, before, cost))
            break;
        before = cost;
    }
    return cost;
}

psfm_status psfm_descend_robustly(psfm_context *ctx, const psfm_descent *d,
                                  const psfm_robust_descent *plan) {
    double damping = d->start;
    int loose = plan->loose_tolerance > 0.0 ? (int)(LOOSE_SHARE * plan->max_iterations) : 0;
    for (int k = 0; k < plan->max_iterations; ++k) {
        bool is_loose = k < loose, lowered = false;
        int trials = plan->max_trials;
        double before;
        psfm_status status = plan->linearize(ctx, d->user, is_loose, &before);
        double after = before;
        if (status == PSFM_OK)
            status = lower_cost(ctx, d, &trials, &damping, &after, &lowered);
        if (status != PSFM_OK)
            return status;
        if (lowered)
            (void)d->accept(d->user, before, after);
        if (!(before - after <= (is_loose ? plan->loose_tolerance : plan->tolerance) * before))
            continue;
        if (!is_loose)
            break;
        k = loose - 1; /* converged under the loose loss: go on with the tight one */
        damping = fmin(damping, 1.0);
    }
    return PSFM_OK;
}
