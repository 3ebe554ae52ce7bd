/* Rows of the reduced system while they are summed. See bundle_rows.c; for bundle_schur.c alone. */
#ifndef PSFM_POSE_BUNDLE_ROWS_H
#define PSFM_POSE_BUNDLE_ROWS_H

#include "pose/bundle_halves.h"

/* A row. Its blocks with cameras and planes are transposed, if it is that of a pose; those with
 * planes, if it is that of a camera. */
typedef struct {
    uint32_t block, dim;
    double *blocks;
    const uint32_t *slot; /* where the block of a column begins in them */
    double *rhs;
    double *diagonal; /* before elimination, for the damping */
} psfm_bundle_row_sum;

/* Consecutive rows. */
typedef struct {
    const psfm_bundle *b;
    const psfm_schur_kernel *kernel;
    psfm_bundle_halves *halves;
    psfm_bundle_row_sum *rows;
    uint32_t first, num;
} psfm_bundle_rows;

/* Adds a point to the rows of all that it has a part in. */
void psfm_bundle_rows_add(const psfm_bundle_rows *rows, uint32_t point);

/* What no point gives: the pivot of a held distance, the priors of intrinsics. */
void psfm_bundle_row_complete(const psfm_bundle *b, psfm_bundle_row_sum *row);

#endif
