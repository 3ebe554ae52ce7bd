/* Symmetric positive definite systems made of small dense blocks, as normal equations have them:
 * the pattern is given once, the blocks are set again and again (in parallel), CHOLMOD factors. */
#ifndef PSFM_LINALG_BLOCK_SPD_H
#define PSFM_LINALG_BLOCK_SPD_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* The upper block triangle by rows. Columns ascend in each row and the first one is the row itself
 * (the diagonal block), so that no row is empty. */
typedef struct {
    uint32_t num_blocks;
    uint32_t *scalar_begin; /* num_blocks + 1: first scalar row of each block */
    size_t *row_begin;      /* num_blocks + 1 */
    uint32_t *col;          /* row_begin[num_blocks] */
} psfm_block_pattern;

void psfm_block_pattern_free(psfm_block_pattern *pattern);

typedef struct psfm_block_spd psfm_block_spd;

/* Copies what it needs of the pattern and analyses the fill once. */
psfm_status psfm_block_spd_create(psfm_context *ctx, const psfm_block_pattern *pattern,
                                  psfm_block_spd **spd);

/* Writes block k (an index into pattern->col) from a row-major array of its size. Of a diagonal
 * block only the upper triangle is read. Different blocks may be set from different threads. */
void psfm_block_spd_set(psfm_block_spd *spd, size_t k, const double *block);

/* Factors what was set. PSFM_ERR_NUMERIC if the matrix is not positive definite. */
psfm_status psfm_block_spd_factor(psfm_context *ctx, psfm_block_spd *spd);

/* Solves A x = b after a factorisation, for num_rhs right-hand sides stored one after the other; x
 * may equal b. */
psfm_status psfm_block_spd_solve(psfm_context *ctx, psfm_block_spd *spd, size_t num_rhs,
                                 const double *b, double *x);

/* Diagonal blocks first .. first + num - 1 of the inverse: where they go, row-major, block k at
 * out + begin[k]. */
typedef struct {
    uint32_t first, num;
    const size_t *begin;
    double *out;
} psfm_block_range;

/* The inverse after a factorisation, at these blocks: twice the work of a factorisation, or less
 * for a few blocks. By one thread. */
psfm_status psfm_block_spd_inverse(psfm_context *ctx, psfm_block_spd *spd,
                                   const psfm_block_range *range);

/* Operations of the factorisation and entries of the factor, as the analysis foretells them. */
void psfm_block_spd_cost(const psfm_block_spd *spd, double *operations, double *entries);

/* Entries of the factor, for reports; 0 before the first factorisation. */
size_t psfm_block_spd_fill(const psfm_block_spd *spd);

void psfm_block_spd_destroy(psfm_block_spd **spd);

#endif
