/* Stability tests of an adjusted bundle. Each starts from the adjusted values, so that a few steps
 * suffice.
 */
#include "core/refine/stability_tests.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"

#define HALF_STEPS 8   /* of a half, which ends near the solution that it starts at */
#define DAMPING 1e-8   /* there a step may be believed along weak modes as well */
#define TOLERANCE 1e-6 /* the weak modes of a chain cost little */
#define CONVERGED 1.0  /* a half is off by several standard deviations of the whole anyway */

/* Decrease of the cost per new unknown over the cost per redundant residual. */
static double gain_of(const psfm_bundle_stats *stats, size_t num_new) {
    double redundancy = 2.0 * (double)stats->num_observations - 3.0 * (double)stats->num_points -
                        (double)stats->num_parameters;
    if (num_new == 0 || redundancy <= 0.0 || stats->final_cost <= 0.0)
        return 0.0;
    double decrease = fmax(stats->initial_cost - stats->final_cost, 0.0);
    return decrease / (double)num_new / (stats->final_cost / redundancy);
}

/* The poses of an adjusted copy, which the test takes over. */
static psfm_status take_poses(psfm_context *ctx, psfm_bundle_copy *copy,
                              const psfm_bundle_stats *stats, psfm_stability_test *test) {
    psfm_status status = PSFM_ALLOC(ctx, copy->problem.num_images, &test->posed);
    if (status != PSFM_OK)
        return status;
    for (size_t v = 0; v < copy->problem.num_images; ++v)
        test->posed[v] = stats->images[v].state != PSFM_IMAGE_LEFT_OUT;
    test->cam_from_world = copy->cam_from_world;
    test->center = copy->centers;
    copy->cam_from_world = NULL;
    copy->centers = NULL;
    return PSFM_OK;
}

static psfm_status make_half(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_bundle_options *options, psfm_bundle_part part,
                             psfm_stability_test *test) {
    psfm_bundle_copy copy = {0};
    psfm_bundle_stats stats = {0};
    psfm_status status = psfm_bundle_copy_make(ctx, problem, part, &copy);
    if (status == PSFM_OK)
        status = psfm_bundle_adjust(ctx, &copy.problem, options, &stats);
    if (status == PSFM_OK)
        status = take_poses(ctx, &copy, &stats, test);
    psfm_bundle_stats_free(&stats);
    psfm_bundle_copy_free(&copy);
    return status;
}

psfm_status psfm_stability_tests_run(psfm_context *ctx, const psfm_bundle_problem *problem,
                                     const psfm_bundle_options *options,
                                     psfm_free_intrinsics *focals,
                                     psfm_stability_test test[PSFM_NUM_STABILITY_TESTS]) {
    psfm_bundle_options half = *options;
    half.max_iterations =
        options->max_iterations < HALF_STEPS ? options->max_iterations : HALF_STEPS;
    half.tolerance = TOLERANCE;
    half.converged = fmax(options->converged, CONVERGED);
    half.initial_damping = DAMPING;
    psfm_status status =
        make_half(ctx, problem, &half, PSFM_BUNDLE_HALF_A, &test[PSFM_STABILITY_HALF_A]);
    if (status == PSFM_OK)
        status = make_half(ctx, problem, &half, PSFM_BUNDLE_HALF_B, &test[PSFM_STABILITY_HALF_B]);
    if (status == PSFM_OK)
        status = take_poses(ctx, &focals->copy, &focals->stats, &test[PSFM_STABILITY_INTRINSICS]);
    test[PSFM_STABILITY_INTRINSICS].gain = gain_of(&focals->stats, focals->num_freed);
    return status;
}

void psfm_stability_tests_free(psfm_stability_test test[PSFM_NUM_STABILITY_TESTS]) {
    for (int k = 0; k < PSFM_NUM_STABILITY_TESTS; ++k) {
        free(test[k].cam_from_world);
        free(test[k].center);
        free(test[k].posed);
        test[k] = (psfm_stability_test){0};
    }
}
