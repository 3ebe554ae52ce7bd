/* An image as one vector: its descriptors as residuals from the words of a codebook (vectors of
 * locally aggregated descriptors). Images that show the same things have a large product. */
#ifndef PSFM_MATCH_VLAD_H
#define PSFM_MATCH_VLAD_H

#include "images/feature/keypoint_set.h"

/* Owns its array. */
typedef struct {
    float *words; /* num_words x size */
    size_t num_words, size;
} psfm_codebook;

void psfm_codebook_free(psfm_codebook *codebook);

/* Row k of an image's descriptors as a unit vector: square roots of the shares of SIFT's bins,
 * which compare better than the bins, or a network's floats as they are. */
void psfm_descriptor_unit(const psfm_keypoint_set *set, size_t k, float *out);

/* Words by k-means from `num` rows: so many that a word has at least a few rows, `most` at most.
 * The same rows in the same order give the same words. */
psfm_status psfm_codebook_train(psfm_context *ctx, const float *rows, size_t num, size_t size,
                                size_t most, psfm_codebook *codebook);

/* The vector of an image, num_words x size long: per word the sum of the differences of the
 * descriptors next to it, of unit length, so that things that repeat do not outweigh all others;
 * all of it of unit length, or 0 for an image without descriptors. */
psfm_status psfm_vlad_encode(psfm_context *ctx, const psfm_codebook *codebook,
                             const psfm_keypoint_set *set, float *out);

#endif
