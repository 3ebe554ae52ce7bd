/* One adjustment with free focal lengths serves two: the check of given ones asks what they want to
 * be, the probes how far poses go with them. */
#include "refine/free_focals.h"

#include <math.h>

#define STEPS 15       /* of an adjustment that starts at a solution */
#define TOLERANCE 1e-6 /* the weak modes of a chain cost little */
#define SETTLED 0.3    /* how far poses move is asked for, not where they end */
#define SETTLED_SHARE 0.02
#define FREE_SIGMA 100 /* of the logarithm of a focal length: none at all */

void psfm_free_focals_free(psfm_free_focals *focals) {
    psfm_bundle_copy_free(&focals->copy);
    psfm_bundle_stats_free(&focals->stats);
    *focals = (psfm_free_focals){0};
}

/* Lets the focal lengths go that are held, and holds the others; returns how many. */
static size_t release(const psfm_bundle_problem *problem, const psfm_bundle_options *options,
                      psfm_bundle_copy *copy) {
    size_t num = 0;
    for (size_t k = 0; k < problem->num_cameras; ++k) {
        bool held = !psfm_bundle_moves_camera(problem, options, k);
        num += held;
        copy->priors[k] = (psfm_camera_prior){.refine = held ? PSFM_REFINE_FOCAL : PSFM_REFINE_NONE,
                                              .camera = copy->cameras[k],
                                              .focal_sigma = FREE_SIGMA,
                                              .two_focals = true};
    }
    copy->problem.camera_priors = copy->priors;
    return num;
}

psfm_status psfm_free_focals_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_bundle_options *options, psfm_free_focals *out) {
    *out = (psfm_free_focals){.options = *options};
    out->options.refine = PSFM_REFINE_AUTO;
    out->options.tolerance = TOLERANCE;
    out->options.settled_share = SETTLED_SHARE;
    out->options.settled = fmax(options->settled, SETTLED);
    if (out->options.max_iterations > STEPS)
        out->options.max_iterations = STEPS;
    psfm_status status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, &out->copy);
    if (status != PSFM_OK)
        return status;
    out->num_free = release(problem, options, &out->copy);
    out->all = out->num_free == problem->num_cameras;
    if (out->num_free == 0)
        return PSFM_OK;
    return psfm_bundle_adjust(ctx, &out->copy.problem, &out->options, &out->stats);
}
