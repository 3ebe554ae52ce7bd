/* Intrinsics, and the noise of the keypoints.
 *
 * Planes give focal lengths before there are poses; what they leave open an adjustment can find.
 * Homographies are decomposed with the intrinsics, so better ones pay for a first reconstruction of
 * the matches alone, of which only the cameras are kept. */

#include "sfm/stages.h"

psfm_status psfm_stage_calibrate(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->asked.settings.options;
    const psfm_moment start = psfm_moment_now();
    psfm_status status = PSFM_OK;
    if (psfm_needs_calibration(&s->set, &options->calibrate)) {
        status = psfm_calibrate(ctx, &options->calibrate, &options->focal, &options->two_view,
                                &s->set, &s->stats.calibration);
        psfm_timings_add(&s->stats.timings, "calibration", start);
    }
    return status;
}

/* Whether an adjustment may find a focal length that calibration did not determine. */
static bool needs_adjustment(const psfm_match_set *set) {
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera_origin *origin = &set->origins[c];
        if (psfm_focal_is_doubtful(origin->source) && !origin->is_open)
            return true;
    }
    return false;
}

/* What the cameras of an adjustment need, and no more. */
static const psfm_step adjustment[] = {
    {psfm_stage_measure_noise, PSFM_AT_TWO_VIEWS}, {psfm_stage_verify, PSFM_AT_TWO_VIEWS},
    {psfm_stage_build_graph, PSFM_AT_GRAPH},       {psfm_stage_solve_poses, PSFM_AT_POSES},
    {psfm_stage_refine, PSFM_AT_REFINED},          {NULL, PSFM_AT_START},
};

psfm_status psfm_stage_presolve_cameras(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->asked.settings.options;
    psfm_sfm once;
    if (!s->stats.calibration.done || options->mode != PSFM_MODE_ROBUST ||
        !options->robust.control.refinement || options->refine.bundle.refine == PSFM_REFINE_NONE ||
        !needs_adjustment(&s->set))
        return PSFM_OK;
    psfm_sfm_open(&s->asked, &once);
    psfm_refine_control_options *control = &once.asked.settings.options.refine.control;
    control->check_intrinsics = control->covariance = control->stability_tests = false;
    once.set = s->set; /* lent: the refinement leaves its cameras and rays there */
    once.stats.timings = s->stats.timings;
    once.stage = PSFM_AT_CAMERAS;
    psfm_status status = psfm_sfm_advance(ctx, adjustment, &once);
    s->stats.timings = once.stats.timings;
    s->set = once.set;
    once.set = (psfm_match_set){0};
    psfm_sfm_close(&once);
    return status;
}

psfm_status psfm_stage_measure_noise(psfm_context *ctx, psfm_sfm *s) {
    const psfm_reconstruct_options *options = &s->asked.settings.options;
    const psfm_moment start = psfm_moment_now();
    psfm_status status = PSFM_OK;
    if (options->noise.px == 0.0)
        status = psfm_noise_level_measure(ctx, &s->set, &options->two_view, &s->noise);
    s->scaled = psfm_reconstruct_options_scale(options, s->noise.sigma_px);
    psfm_timings_add(&s->stats.timings, "noise", start);
    return status;
}
