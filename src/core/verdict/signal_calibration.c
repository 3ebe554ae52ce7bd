/* The coefficients come from
 *
 *     bench/accuracy/verdict make RUNS.jsonl
 *     bench/accuracy/verdict make PHOTOGRAPHS.jsonl --photographs
 *     bench/accuracy/verdict fit RUNS.jsonl PHOTOGRAPHS.jsonl --images
 *
 * which reconstructs some hundred synthetic sets (good ones, noise, wrong matches, duplicates,
 * repeated bays, chains, few points, wrong focal lengths, and photographs rendered of scenes with
 * and without planes), compares them with their truth, and fits a logistic regression with
 * coefficients that are not negative, so that worse signals never raise a probability.
 * docs/measurements.md has the result. */
#include "core/verdict/signal_calibration.h"

#include <math.h>

#include "core/verdict/model_features.h"

#define MORE_PAIRS "match more pairs (--pairs), or take photographs in between"
#define REPEATED                                                                                   \
    "does the scene look the same from two sides? match neighbours only (--pairs sequential:K or " \
    "ring:K)"
#define INTRINSICS "check the intrinsics, or let them be refined (--refine focal)"
#define MORE_POINTS "match more pairs, or extract more features"

#define FURTHER "take photographs from places further apart"

#define MODEL(field) offsetof(psfm_model_features, field), #field
static const psfm_signal model_rows[] = {
    {MODEL(common_rotation), 0.0, 0.01, 0.1, 0.973,
     "%.0f %% of the pairs contradict the poses and agree with each other", 100.0, REPEATED, false},
    {MODEL(shifted), 0.0, 0.01, 0.1, 1.033,
     "%.0f %% of the pairs agree with the rotations and contradict the positions", 100.0, REPEATED,
     false},
    {MODEL(runner_up), 0.3, 0.1, 1.0, 1.075, "images could as well be turned: evidence %.2f to 1",
     1.0, REPEATED, false},
    {MODEL(weak_connection), 0.34, 0.1, 1.0, 0.280,
     "%.1f pairs contradict each that joins two parts without a third image to confirm it", 1.0,
     MORE_PAIRS, true},
    {MODEL(edge_deg), 0.4, 0.4, 5.0, 0.765,
     "the pairs that agree with the poses are off by %.1f degrees in the median", 1.0, MORE_POINTS,
     false},
    {MODEL(half_shift_deg), 0.0, 0.05, 3.0, 1.030,
     "either half of the points alone would move an image by up to %.2g degrees", 1.0, MORE_POINTS,
     false},
    {MODEL(focal_shift_deg), 0.0, 0.3, 5.0, 2.287,
     "poses move by up to %.2g degrees when focal lengths and principal points are free", 1.0,
     INTRINSICS, false},
    {MODEL(track_length), 1.5, -3.0, INFINITY, 1.060, "a point is seen by %.1f images in the mean",
     1.0, MORE_PAIRS, true},
    {MODEL(parallax_deg), 0.0, -5.0, INFINITY, 2.182, "rays meet at %.1f degrees in the median",
     1.0, FURTHER, true},
};
#undef MODEL

#define IMAGE(field) offsetof(psfm_image_case, field), #field
static const psfm_signal image_rows[] = {
    {IMAGE(runner_up), 0.3, 0.1, 1.0, 0.827, NULL, 0.0, NULL, false},
    {IMAGE(weak_connection), 0.34, 0.1, 1.0, 0.224, NULL, 0.0, NULL, false},
    {IMAGE(residual), 1.0, 0.1, 3.0, 0.435, NULL, 0.0, NULL, false},
    {IMAGE(half_shift_deg), 0.0, 0.05, 3.0, 0.337, NULL, 0.0, NULL, false},
    {IMAGE(focal_shift_deg), 0.0, 0.3, 5.0, 0.536, NULL, 0.0, NULL, false},
    {IMAGE(points), 0.0, -20.0, INFINITY, 0.678, NULL, 0.0, NULL, false},
    {IMAGE(model_doubt), 0.0, 1.0, 20.0, 1.707, NULL, 0.0, NULL, false},
};
#undef IMAGE

const psfm_signal_table psfm_model_calibration = {6.424, model_rows,
                                                  sizeof model_rows / sizeof *model_rows};
const psfm_signal_table psfm_image_calibration = {6.206, image_rows,
                                                  sizeof image_rows / sizeof *image_rows};

#define LEAST 0.5 /* of what is counted, so that none is worse than one, and finite */

double psfm_signal_value(const psfm_signal *row, const void *features) {
    return *(const double *)((const char *)features + row->offset);
}

double psfm_signal_penalty(const psfm_signal *row, const void *features) {
    double above = fmin(psfm_signal_value(row, features), row->most) - row->origin;
    double badness = row->scale < 0.0 ? log1p(-row->scale / fmax(above, LEAST))
                                      : log1p(fmax(above, 0.0) / row->scale);
    return row->coefficient * badness;
}

double psfm_signals_log_odds(const psfm_signal_table *table, const void *features) {
    double odds = table->bias;
    for (int k = 0; k < table->num_rows; ++k)
        odds -= psfm_signal_penalty(&table->rows[k], features);
    return odds;
}

double psfm_signals_against(const psfm_signal_table *table, const void *features) {
    double odds = table->bias;
    for (int k = 0; k < table->num_rows; ++k)
        odds -= table->rows[k].is_structure ? 0.0 : psfm_signal_penalty(&table->rows[k], features);
    return odds;
}

double psfm_probability_of(double log_odds) {
    return 1.0 / (1.0 + exp(-log_odds));
}
