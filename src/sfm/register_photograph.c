/* The library's door to registration: pixels are copied into an image with both lightness and
 * colours, and the pose is handed out in a struct that may grow. */
#include "planarsfm/court.h"

#include <string.h>

#include "core/base/stack.h"
#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"
#include "sfm/settings.h"

#define FIRST_PHOTOGRAPH_SIZE sizeof(psfm_photograph)
#define FIRST_REGISTRATION_SIZE offsetof(psfm_registration, size)

static psfm_status check_input(psfm_context *ctx, const psfm_photograph *p,
                               const psfm_settings *settings,
                               const psfm_registration *registration) {
    if (p->struct_size < FIRST_PHOTOGRAPH_SIZE ||
        registration->struct_size < FIRST_REGISTRATION_SIZE)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "struct_size is not set");
    if (!psfm_settings_have_drawing(settings))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the settings name no court and no drawing");
    if (p->width <= 0 || p->height <= 0 || p->width > PSFM_IMAGE_MAX_SIDE ||
        p->height > PSFM_IMAGE_MAX_SIDE || (p->channels != 1 && p->channels != 3) ||
        p->pixels == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a photograph of %d x %d pixels with %d channels",
                         p->width, p->height, p->channels);
    if (p->camera == NULL)
        return PSFM_OK;
    if (p->camera->width != (uint64_t)p->width || p->camera->height != (uint64_t)p->height)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "the photograph has %d x %d pixels, its camera %llu x %llu", p->width,
                         p->height, (unsigned long long)p->camera->width,
                         (unsigned long long)p->camera->height);
    return psfm_camera_check_lens(ctx, p->camera);
}

static psfm_status copy_pixels(psfm_context *ctx, const psfm_photograph *p, psfm_image *image) {
    psfm_status status = psfm_image_init(ctx, p->width, p->height, PSFM_IMAGE_GRAY_AND_RGB, image);
    size_t num = (size_t)p->width * (size_t)p->height, channels = (size_t)p->channels;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        const uint8_t *from = p->pixels + channels * k;
        for (size_t c = 0; c < 3; ++c)
            image->rgb[3 * k + c] = from[channels == 3 ? c : 0];
        image->gray[k] = channels == 3 ? psfm_luma(from[0], from[1], from[2]) : from[0];
    }
    return status;
}

static psfm_registration describe_pose(const psfm_court_pose *pose) {
    psfm_registration r = {.is_accepted = pose->verdict == PSFM_COURT_ACCEPTED,
                           .verdict = psfm_court_verdict_text(pose->verdict)};
    if (pose->part_hit == NULL)
        return r;
    psfm_rotation_to_quat(pose->R, r.cam_from_world_q);
    memcpy(r.cam_from_world_t, pose->t, sizeof r.cam_from_world_t);
    memcpy(r.center, pose->center, sizeof r.center);
    memcpy(r.center_sigma, pose->sigma_center, sizeof r.center_sigma);
    r.num_turns = pose->num_turns;
    r.camera = pose->camera;
    r.rotation_sigma_deg = pose->sigma_rotation_deg;
    r.focal_sigma = pose->sigma_focal;
    r.score = pose->score;
    r.runner_up = pose->runner_up;
    r.num_lines = pose->num_lines;
    r.confirmed = pose->hit;
    r.rms_px = pose->rms_px;
    memcpy(r.size, pose->size, sizeof r.size);
    r.distortion_sigma = pose->sigma_distortion;
    memcpy(r.size_sigma, pose->sigma_size, sizeof r.size_sigma);
    return r;
}

psfm_status psfm_register_photograph(psfm_context *ctx, const psfm_photograph *photograph,
                                     const psfm_settings *settings,
                                     psfm_registration *registration) {
    psfm_court_target target = {0};
    psfm_court_pose pose = {0};
    psfm_image image = {0};
    psfm_status status = psfm_check_given(ctx, "psfm_register_photograph",
                                          ctx != NULL && photograph != NULL && settings != NULL &&
                                              registration != NULL);
    if (status == PSFM_OK)
        status = psfm_check_stack(ctx);
    if (status == PSFM_OK)
        status = check_input(ctx, photograph, settings, registration);
    if (status == PSFM_OK)
        status = psfm_settings_open_target(ctx, settings, &target);
    if (status == PSFM_OK)
        status = copy_pixels(ctx, photograph, &image);
    if (status == PSFM_OK) {
        psfm_photo_camera camera = {photograph->camera, PSFM_FOCAL_FIXED};
        status = psfm_court_target_register(ctx, &target, &image, camera, &settings->options.court,
                                            &pose);
    }
    if (status == PSFM_OK) {
        size_t size = registration->struct_size;
        psfm_registration full = describe_pose(&pose);
        full.struct_size = size;
        memcpy(registration, &full, size < sizeof full ? size : sizeof full);
    }
    psfm_court_pose_free(&pose);
    psfm_image_free(&image);
    psfm_court_target_free(&target);
    return status;
}
