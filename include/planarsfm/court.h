/* One photograph in, its camera's pose over a court or drawing out: no labels, no matches.
 *
 *     psfm_settings_set(ctx, settings, "court", "basketball");
 *     psfm_photograph photo = {sizeof photo, width, height, 3, pixels, &camera};
 *     psfm_registration found = {.struct_size = sizeof found};
 *     if (psfm_register_photograph(ctx, &photo, settings, &found) == PSFM_OK && found.is_accepted)
 *         ... found.cam_from_world_q, found.center ...
 */
#ifndef PLANARSFM_COURT_H
#define PLANARSFM_COURT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"
#include "planarsfm/reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_size; /* set by the caller */
    int width, height;
    int channels;              /* 1: gray, 3: red, green, blue */
    const uint8_t *pixels;     /* rows from the top, no padding */
    const psfm_camera *camera; /* of this size; NULL: unknown, its focal length is searched */
} psfm_photograph;

typedef struct {
    size_t struct_size;  /* set by the caller */
    bool is_accepted;    /* the lines confirm the pose, and no other one comes near it */
    const char *verdict; /* in a few words, why not if it is not; static */
    /* X_cam = R X + t; X in metres, the origin is the drawing's middle, z up. Zero if no pose fits
     * at all. Of poses that a symmetric drawing does not tell apart the one with the camera at
     * the smallest y. */
    double cam_from_world_q[4], cam_from_world_t[3];
    double center[3];
    int num_turns;             /* such poses, this one among them */
    psfm_camera camera;        /* with the focal length that was found, if it was unknown */
    double rotation_sigma_deg; /* standard deviations */
    double center_sigma[3];    /* metres */
    double focal_sigma;        /* relative; 0: it was known */
    double score, runner_up;   /* evidence of the pose and of the best other one */
    int num_lines;             /* distinct lines and arcs that were found */
    double confirmed;          /* share of the drawing in view that lines confirm */
    double rms_px;             /* distances of line pixels from the drawing */
    double size[2];          /* the drawing's length and width in metres, found if they are free */
    double size_sigma[2];    /* 0: they were known */
    double distortion_sigma; /* of its first coefficient; 0: not refined ("court.distortion") */
} psfm_registration;

/* Registers a photograph to the court ("court", "court-size") or the drawing ("drawing") of the
 * settings, with their options "court.*" and "line.*". That no pose is accepted is a result, not a
 * failure. One thread; about a second for 1600 x 900 pixels, three with an unknown focal length. */
PSFM_API psfm_status psfm_register_photograph(psfm_context *ctx, const psfm_photograph *photograph,
                                              const psfm_settings *settings,
                                              psfm_registration *registration);

#ifdef __cplusplus
}
#endif

#endif
