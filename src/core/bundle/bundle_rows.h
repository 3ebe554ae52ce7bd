/* Rows of the reduced system while they are summed. See bundle_rows.c; for
 * bundle_schur.c, and for bundle_cg.c what diagonal blocks get. */
#ifndef PSFM_BUNDLE_BUNDLE_ROWS_H
#define PSFM_BUNDLE_BUNDLE_ROWS_H

#include "core/bundle/bundle_elimination.h"

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

/* What no point gives: the pivot of a fixed distance, the priors of intrinsics. */
void psfm_bundle_row_complete(const psfm_bundle *b, psfm_bundle_row_sum *row);

/* Parts of diagonal blocks. A pivot for the direction that a fixed distance takes out of the
 * derivatives by an image's centre; the priors of a camera's intrinsics; a point on a plane. */
void psfm_bundle_add_pivot(const psfm_bundle *b, uint32_t image, const double *diagonal,
                           double *block);
void psfm_bundle_add_priors(const psfm_bundle *b, uint32_t camera, double *block, double *rhs,
                            double *diagonal);
void psfm_bundle_add_plane_point(const psfm_bundle_system *point, double *block, double *rhs,
                                 double *diagonal);

#endif
