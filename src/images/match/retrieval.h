/* Image retrieval: short vectors of images, and the nearest of each by their products. */
#ifndef PSFM_MATCH_RETRIEVAL_H
#define PSFM_MATCH_RETRIEVAL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* Owns its array. */
typedef struct {
    float *vector; /* num x size; unit length, or 0 for an image without features */
    size_t num, size;
} psfm_image_vectors;

void psfm_image_vectors_free(psfm_image_vectors *vectors);

/* Directions that hold most of what a few long vectors tell apart, so that others can be shortened.
 * Owns its array. */
typedef struct {
    float *direction; /* num x size, orthonormal */
    size_t num, size;
} psfm_principal;

/* The first `most` principal directions of the rows (num x size, none subtracted), fewer if the
 * rows span less: then products of what they span are kept. O(num^2 size + num^3). */
psfm_status psfm_principal_find(psfm_context *ctx, const float *rows, size_t num, size_t size,
                                size_t most, psfm_principal *principal);
void psfm_principal_free(psfm_principal *principal);

/* A long vector (principal->size) shortened to principal->num, of unit length or 0. */
void psfm_principal_shorten(const psfm_principal *principal, const float *row, float *out);

/* For each image the `count` nearest other ones, the nearest first: nearest[image * count
 * + k], UINT32_MAX where there are no more. Images without features are like none. */
psfm_status psfm_retrieve_nearest(psfm_context *ctx, const psfm_image_vectors *vectors,
                                  size_t count, uint32_t *nearest);

#endif
