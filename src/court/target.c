/* Courts of one game differ by decimetres: a wrong one fits roughly, and better than nothing. So a
 * pose is held against all of them before it is believed. */
#include "court/target.h"

#include "court/lens.h"
#include "court/turns.h"

psfm_status psfm_court_target_of_court(psfm_context *ctx, const psfm_court *court,
                                       psfm_court_target *target) {
    *target = (psfm_court_target){0};
    psfm_status status = psfm_drawing_from_court(ctx, court, &target->drawing);
    for (size_t k = 0; k < psfm_num_courts && status == PSFM_OK; ++k)
        if (psfm_court_is_related(court, &psfm_courts[k]) && target->num_rivals < PSFM_MAX_RIVALS)
            status = psfm_drawing_from_court(ctx, &psfm_courts[k],
                                             &target->rivals[target->num_rivals++]);
    return status;
}

void psfm_court_target_of_drawing(psfm_drawing *drawing, psfm_court_target *target) {
    *target = (psfm_court_target){.drawing = *drawing};
    *drawing = (psfm_drawing){0};
}

void psfm_court_target_free(psfm_court_target *target) {
    psfm_drawing_free(&target->drawing);
    for (size_t k = 0; k < target->num_rivals; ++k)
        psfm_drawing_free(&target->rivals[k]);
    *target = (psfm_court_target){0};
}

/* Holds a pose against the rivals and makes it canonical. */
static psfm_status finish(psfm_context *ctx, const psfm_court_target *target,
                          const psfm_court_view *view, const psfm_court_options *options,
                          psfm_court_pose *pose) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; k < target->num_rivals && status == PSFM_OK; ++k)
        status = psfm_court_challenge(ctx, view, &target->rivals[k], options, pose);
    return status == PSFM_OK ? psfm_court_pose_make_canonical(ctx, &target->drawing, pose) : status;
}

psfm_status psfm_court_target_register_view(psfm_context *ctx, const psfm_court_target *target,
                                            const psfm_court_view *view,
                                            const psfm_court_options *options,
                                            psfm_court_pose *pose) {
    psfm_status status = psfm_court_register(ctx, view, &target->drawing, options, pose);
    return status == PSFM_OK ? finish(ctx, target, view, options, pose) : status;
}

psfm_status psfm_court_target_register(psfm_context *ctx, const psfm_court_target *target,
                                       const psfm_image *image, psfm_photo_camera camera,
                                       const psfm_court_options *options, psfm_court_pose *pose) {
    psfm_court_view view;
    *pose = (psfm_court_pose){.verdict = PSFM_COURT_NO_LINES};
    psfm_status status =
        psfm_court_view_init(ctx, image, camera.camera, camera.focal, options, &view);
    if (status == PSFM_OK)
        status = psfm_court_register(ctx, &view, &target->drawing, options, pose);
    if (status == PSFM_OK && options != NULL && options->distortion)
        status = psfm_court_refine_lens(ctx, image, &target->drawing, options, &view, pose);
    if (status == PSFM_OK)
        status = finish(ctx, target, &view, options, pose);
    psfm_court_view_free(&view);
    return status;
}
