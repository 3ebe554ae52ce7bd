/* Shortened descriptors that bound dot products from above. */
#ifndef PSFM_MATCH_NEAREST_HEAD_H
#define PSFM_MATCH_NEAREST_HEAD_H

#include "core/base/context.h"
#include "images/match/nearest_kernel.h"

/* Descriptors of one image, n x 128 bytes. */
typedef struct {
    const uint8_t *descriptors;
    size_t n;
} psfm_nearest_set;

/* Orthonormal directions of the space in which descriptors vary most, and the step in which
 * coordinates along them are rounded. */
typedef struct {
    float mean[PSFM_SIFT_SIZE];
    float axes[PSFM_NEAREST_HEAD - 1][PSFM_SIFT_SIZE];
    float step;
    float balance; /* about the length of coordinates over that of what rounding takes */
} psfm_nearest_basis;

/* Principal axes of a sample of all sets. Some milliseconds. */
psfm_status psfm_nearest_basis_find(psfm_context *ctx, const psfm_nearest_set *sets,
                                    size_t num_sets, psfm_nearest_basis *basis);

/* Heads of n descriptors as integers. For descriptors a and b of any two sets, by the same basis,
 *   a . b <= step^2 (values_a . values_b + bias_a + bias_b).
 * Owns its arrays. */
typedef struct {
    size_t n;
    int8_t *values; /* n x PSFM_NEAREST_HEAD, within PSFM_NEAREST_HEAD_MOST and HEAD_SQUARE */
    int32_t *bias;  /* n */
} psfm_nearest_head;

psfm_status psfm_nearest_head_make(psfm_context *ctx, const psfm_nearest_basis *basis,
                                   const psfm_nearest_set *set, psfm_nearest_head *head);
void psfm_nearest_head_free(psfm_nearest_head *head);

#endif
