/* The options of a reconstruction; sfm/registry.h has the tables behind them. */
#ifndef PSFM_SFM_RECONSTRUCT_OPTIONS_H
#define PSFM_SFM_RECONSTRUCT_OPTIONS_H

#include "core/calibration/calibrate.h"
#include "core/refine/refine_poses.h"
#include "core/solve/paper.h"
#include "core/solve/robust.h"
#include "core/twoview/two_view.h"
#include "court/registration.h"
#include "images/photometric/refine_matches.h"
#include "world/frame.h"

typedef enum {
    PSFM_MODE_ROBUST, /* joint choice, cycles, averaging, plane scale, bundle adjustment */
    PSFM_MODE_PAPER,  /* the published method */
} psfm_mode;

#define PSFM_MODE_DEFAULT PSFM_MODE_ROBUST
#define PSFM_MODE_CHOICES "robust | paper"

/* Thresholds in pixels are stated for keypoints whose coordinates are off by a pixel (standard
 * deviation) at most, and grow with the noise where it is larger. */
typedef struct {
    double px; /* the noise; 0: measured */
} psfm_noise_options;

extern const psfm_option_table psfm_noise_option_table;

typedef struct {
    int mode; /* psfm_mode */
    psfm_calibrate_options calibrate;
    psfm_focal_options focal;
    psfm_noise_options noise;
    psfm_two_view_options two_view;
    psfm_photo_options photo;
    psfm_skeleton_options skeleton; /* what both modes share */
    psfm_paper_options paper;
    psfm_robust_options robust;
    psfm_refine_options refine;
    psfm_frame_options frame;
    psfm_court_options court; /* if there is a drawing */
} psfm_reconstruct_options;

/* Defaults of a mode. */
void psfm_reconstruct_options_init(psfm_mode mode, psfm_reconstruct_options *options);

/* "robust", "paper" and back; false if the name is unknown. */
const char *psfm_mode_name(psfm_mode mode);
bool psfm_mode_from_name(const char *name, psfm_mode *mode);

/* Whether every option is within its range. */
psfm_status psfm_reconstruct_options_check(psfm_context *ctx,
                                           const psfm_reconstruct_options *options);

/* Options with the thresholds in pixels that keypoints of so much noise ask for: those given if it
 * is at most one pixel, unless the noise itself was given. */
psfm_reconstruct_options psfm_reconstruct_options_scale(const psfm_reconstruct_options *options,
                                                        double sigma_px);

#endif
