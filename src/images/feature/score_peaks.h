/* Keypoints from score maps: the steps that the neural detectors share. */
#ifndef PSFM_FEATURE_SCORE_PEAKS_H
#define PSFM_FEATURE_SCORE_PEAKS_H

#include "images/nn/conv.h"

/* Softmax over the 65 channels of each cell; the first 64 are the scores of its 8 x 8 pixels, the
 * last is "no keypoint" and dropped. `scores` becomes one channel, 8 times as high and wide. */
psfm_status psfm_scores_from_cells(psfm_context *ctx, psfm_engine *nn, const psfm_map *cells,
                                   psfm_map *scores);

/* For each row y, called with the largest value within `radius` of each pixel (a square window,
 * cut at the border). Rows come in any order, from several threads. */
typedef void (*psfm_peaks_row_fn)(const void *user, size_t y, const float *largest);

/* Runs `row` over the maxima of a map of one channel. */
psfm_status psfm_peaks_window_max(psfm_context *ctx, psfm_engine *nn, const psfm_map *map,
                                  size_t radius, psfm_peaks_row_fn row, const void *user);

typedef struct {
    float score;
    uint32_t index; /* y * width + x */
} psfm_peak;

/* A growing list of peaks, with memory for making it. Zero-initialise. */
typedef struct {
    psfm_peak *peaks;
    psfm_peak *sorted; /* the other side of a sort */
    uint32_t *columns; /* of the peaks in row y: from columns[y * width] on */
    uint32_t *counts;  /* of the peaks in a row */
    size_t num, capacity, sorted_capacity, columns_capacity, counts_capacity;
} psfm_peak_list;

typedef struct {
    size_t radius;   /* of the square in which a peak is the largest */
    size_t border;   /* pixels without peaks on all sides */
    float threshold; /* a peak's value is larger */
} psfm_peak_rule;

/* Makes `list` the peaks of a map of one channel, by rising index. Of equal values next to each
 * other all are peaks. Parallel. */
psfm_status psfm_peaks_find(psfm_context *ctx, psfm_engine *nn, const psfm_map *scores,
                            const psfm_peak_rule *rule, psfm_peak_list *list);

/* Adds a peak. */
psfm_status psfm_peaks_add(psfm_context *ctx, psfm_peak_list *list, float score, size_t index);

/* Sorts by falling score, equal ones as they stood, and keeps the first `max`. No score is NaN.
 * Linear in the number of peaks. */
psfm_status psfm_peaks_keep_best(psfm_context *ctx, psfm_peak_list *list, size_t max);

/* How far the top of a peak is from the middle of its pixel, in x and y, each -0.5 to 0.5: the
 * vertex of the parabola through the pixel and its two neighbours, of the scores themselves or, for
 * probabilities, whose peaks are rather bells, of their logarithms. 0 at the border. */
void psfm_peak_offset(const psfm_map *scores, size_t index, bool logarithms, float offset[2]);

#endif
