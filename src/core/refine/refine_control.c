/* Options of the refinement's rounds. */
#include "core/refine/refine_poses.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_refine_control_options, rounds, "rounds", 3, 1, 20,
                    "rounds of triangulation and bundle adjustment; two if they suffice"),
    PSFM_OPTION_DOUBLE(psfm_refine_control_options, first_error_px, "first-error-px", 32.0, 0.1,
                       10000.0,
                       "largest reprojection error that the first round may allow, in pixels"),
    PSFM_OPTION_INT(psfm_refine_control_options, long_tracks, "long-tracks", 100, 0, 255,
                    "points that every two images keep in the first round's adjustment where poses "
                    "are good, those seen most often; 0: all"),
    PSFM_OPTION_BOOL(psfm_refine_control_options, fit_loss, "fit-loss", 1,
                     "in the last round the residuals' distribution gives the scale of the loss; "
                     "off: where it does in the rounds before"),
    PSFM_OPTION_INT(psfm_refine_control_options, place_images, "place-images", 64, 0, 100000,
                    "images that a track may grow to as its point is looked for where it must be; "
                    "0: no point is"),
    PSFM_OPTION_BOOL(psfm_refine_control_options, covariance, "covariance", 1,
                     "compute the uncertainty of each pose"),
    PSFM_OPTION_BOOL(psfm_refine_control_options, check_intrinsics, "check-intrinsics", 1,
                     "at the end, see whether given focal lengths want to change, and whether flat "
                     "ground would dome with refined ones"),
    PSFM_OPTION_BOOL(psfm_refine_control_options, stability_tests, "stability-tests", 1,
                     "adjust two halves of the points apart, and all with free focal lengths: what "
                     "the verdict rests on"),
};
/* As many points as a resection wants. */
static const psfm_refine_control_options unlisted = {.min_image_points = 6};
const psfm_option_table psfm_refine_control_option_table =
    PSFM_OPTION_TABLE_FROM("refine", rows, unlisted);
