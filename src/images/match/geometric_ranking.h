/* Retrieved images ranked by their geometry, as far as it is cheap to compare. */
#ifndef PSFM_MATCH_GEOMETRIC_RANKING_H
#define PSFM_MATCH_GEOMETRIC_RANKING_H

#include "images/feature/keypoint_set.h"
#include "images/match/retrieval.h"

enum { PSFM_SKETCH_FEATURES = 200, PSFM_SKETCH_DESCRIPTOR = 128 };

/* The largest features of an image, 27 kB. */
typedef struct {
    size_t num;
    float octave[PSFM_SKETCH_FEATURES], turn[PSFM_SKETCH_FEATURES]; /* log2 of scale; orientation */
    uint8_t descriptors[PSFM_SKETCH_FEATURES * PSFM_SKETCH_DESCRIPTOR];
} psfm_sketch;

/* From `num` SIFT features. */
psfm_status psfm_sketch_draw(psfm_context *ctx, const psfm_keypoint *keypoints,
                             const uint8_t *descriptors, size_t num, psfm_sketch *out);

/* Like psfm_retrieve_nearest, but of twice as many retrieved images those whose sketches
 * (one an image) agree best: matches of their features vote for a turn and a change of scale. About
 * 0.1 ms for each pair that is looked at. */
psfm_status psfm_retrieve_ranked(psfm_context *ctx, const psfm_image_vectors *vectors,
                                 const psfm_sketch *sketches, size_t count, uint32_t *nearest);

#endif
