/* The coefficients come from
 *
 *     bench/accuracy/verdict make RUNS.jsonl && bench/accuracy/verdict fit RUNS.jsonl --images
 *
 * which reconstructs some thousand made-up sets (good ones, noise, wrong matches, twins, repeated
 * bays, chains, few points, wrong focal lengths), compares them with their truth, and fits a
 * logistic regression with coefficients that are not negative, so that worse clues never raise a
 * probability. docs/measurements.md has the result. */
#include "verdict/calibration.h"

#include <math.h>

#include "verdict/model_features.h"

#define MORE_PAIRS "match more pairs (--pairs), or take photographs in between"
#define REPEATED                                                                                   \
    "does the scene look the same from two sides? match neighbours only (--pairs sequential:K or " \
    "ring:K)"
#define INTRINSICS "check the intrinsics, or let them be refined (--refine focal)"
#define MORE_POINTS "match more pairs, or extract more features"

#define FURTHER "take photographs from places further apart"

#define MODEL(field) offsetof(psfm_model_features, field), #field
static const psfm_clue model_rows[] = {
    {MODEL(common_turn), 0.0, 0.01, 0.1, 0.749,
     "%.0f %% of the pairs contradict the poses and agree with each other", 100.0, REPEATED},
    {MODEL(shifted), 0.0, 0.01, 0.1, 0.609,
     "%.0f %% of the pairs agree with the rotations and contradict the positions", 100.0, REPEATED},
    {MODEL(runner_up), 0.3, 0.1, 1.0, 1.225,
     "images could as well be turned: evidence %.2f to 1 (see ambiguity in the summary)", 1.0,
     REPEATED},
    {MODEL(joint), 0.34, 0.1, 1.0, 0.741,
     "%.1f pairs contradict each that joins two parts without a third image to confirm it", 1.0,
     MORE_PAIRS},
    {MODEL(edge_deg), 0.4, 0.4, 5.0, 0.881,
     "the pairs that agree with the poses are off by %.1f degrees in the median", 1.0, MORE_POINTS},
    {MODEL(half_shift_deg), 0.0, 0.05, 3.0, 0.628,
     "either half of the points alone would move an image by up to %.2g degrees", 1.0, MORE_POINTS},
    {MODEL(focal_shift_deg), 0.0, 0.3, 5.0, 2.408,
     "poses move by up to %.2g degrees when focal lengths are free", 1.0, INTRINSICS},
    {MODEL(fewest_points), 0.0, -20.0, INFINITY, 0.761, "an image sees %.0f points only", 1.0,
     MORE_POINTS},
    {MODEL(track_length), 1.5, -3.0, INFINITY, 0.499, "a point is seen by %.1f images in the mean",
     1.0, MORE_PAIRS},
    {MODEL(parallax_deg), 0.0, -5.0, INFINITY, 2.419, "rays meet at %.1f degrees in the median",
     1.0, FURTHER},
    {MODEL(cut_images), 0.0, 0.02, 0.1, 0.504,
     "%.0f %% of the images alone hold the model together", 100.0, MORE_PAIRS},
    {MODEL(resected), 0.0, 0.1, 1.0, 0.152, "%.0f %% of the images hang on points only", 100.0,
     MORE_PAIRS},
};
#undef MODEL

#define IMAGE(field) offsetof(psfm_image_case, field), #field
static const psfm_clue image_rows[] = {
    {IMAGE(rejected), 0.0, 0.1, 0.5, 0.227, NULL, 0.0, NULL},
    {IMAGE(runner_up), 0.3, 0.1, 1.0, 1.394, NULL, 0.0, NULL},
    {IMAGE(joint), 0.34, 0.1, 1.0, 0.304, NULL, 0.0, NULL},
    {IMAGE(residual), 1.0, 0.1, 3.0, 0.669, NULL, 0.0, NULL},
    {IMAGE(half_shift_deg), 0.0, 0.05, 3.0, 0.504, NULL, 0.0, NULL},
    {IMAGE(focal_shift_deg), 0.0, 0.3, 5.0, 0.714, NULL, 0.0, NULL},
    {IMAGE(points), 0.0, -20.0, INFINITY, 1.637, NULL, 0.0, NULL},
};
#undef IMAGE

const psfm_clue_table psfm_model_calibration = {6.486, model_rows,
                                                sizeof model_rows / sizeof *model_rows};
const psfm_clue_table psfm_image_calibration = {3.681, image_rows,
                                                sizeof image_rows / sizeof *image_rows};
