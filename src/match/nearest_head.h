/* Shortened descriptors that bound dot products from above. */
#ifndef PSFM_MATCH_NN_HEAD_H
#define PSFM_MATCH_NN_HEAD_H

#include "base/context.h"
#include "match/nn_kernel.h"

/* Descriptors of one image, n x 128 bytes. */
typedef struct {
    const uint8_t *descriptors;
    size_t n;
} psfm_nn_set;

/* The directions in which descriptors vary most, orthonormal, and the step in which coordinates
 * along them are rounded. */
typedef struct {
    float mean[PSFM_SIFT_SIZE];
    float axes[PSFM_NN_HEAD - 1][PSFM_SIFT_SIZE];
    float step;
} psfm_nn_basis;

/* Principal axes of a sample of all sets. Some milliseconds. */
psfm_status psfm_nn_basis_find(psfm_context *ctx, const psfm_nn_set *sets, size_t num_sets,
                               psfm_nn_basis *basis);

/* Heads of n descriptors as integers. For descriptors a and b of any two sets, by the same basis,
 *   a . b <= step^2 (values_a . values_b + bias_a + bias_b).
 * Owns its arrays. */
typedef struct {
    size_t n;
    int8_t *values; /* n x PSFM_NN_HEAD, -127 to 127 */
    int32_t *bias;  /* n */
} psfm_nn_head;

psfm_status psfm_nn_head_make(psfm_context *ctx, const psfm_nn_basis *basis, const psfm_nn_set *set,
                              psfm_nn_head *head);
void psfm_nn_head_free(psfm_nn_head *head);

#endif
