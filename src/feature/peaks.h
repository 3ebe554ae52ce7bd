/* Keypoints from score maps: the steps that the neural detectors share. */
#ifndef PSFM_FEATURE_PEAKS_H
#define PSFM_FEATURE_PEAKS_H

#include "nn/conv.h"

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

/* A growing list of peaks. Zero-initialise, free with free(list.peaks). */
typedef struct {
    psfm_peak *peaks;
    size_t num, capacity;
} psfm_peak_list;

/* Adds a peak. */
psfm_status psfm_peaks_add(psfm_context *ctx, psfm_peak_list *list, float score, size_t index);

/* Sorts by falling score, equal ones by index. */
void psfm_peaks_sort(psfm_peak_list *list);

/* How far the top of a peak is from the middle of its pixel, in x and y, each -0.5 to 0.5: the
 * vertex of the parabola through the pixel and its two neighbours, of the scores themselves or, for
 * probabilities, whose peaks are rather bells, of their logarithms. 0 at the border. */
void psfm_peak_offset(const psfm_map *scores, size_t index, bool logarithms, float offset[2]);

#endif
