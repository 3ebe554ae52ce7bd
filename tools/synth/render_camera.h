/* Photographs of a stage. */
#ifndef PSFM_SYNTH_RENDER_CAMERA_H
#define PSFM_SYNTH_RENDER_CAMERA_H

#include "images/image/image_io.h"
#include "synth/render_sensor.h"
#include "synth/render_stage.h"
#include "synth/world.h"

/* One photograph to be taken. */
typedef struct {
    const psfm_camera *camera; /* any model; its size is the image's */
    const psfm_synth_pose *pose;
    psfm_sensor sensor;
    int samples; /* n in a pixel, at least 2, and (3n / 2)^2 more at edges */
} psfm_shot;

/* Takes it. *image (RGB and gray) is freed by the caller, and empty on failure. Pixels for which
 * the camera has no ray are black. The result depends on nothing but the arguments. About 0.3
 * microseconds a sample. */
psfm_status psfm_shot_take(psfm_context *ctx, const psfm_stage *stage, const psfm_shot *shot,
                           psfm_image *image);

#endif
