/* A plane through a set of points. */
#ifndef PSFM_STRUCTURE_FIT_PLANE_H
#define PSFM_STRUCTURE_FIT_PLANE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* A set of points that may be a plane normal . X = distance. */
typedef struct {
    uint32_t *member; /* point indices */
    size_t num;
    double normal[3], distance, sigma; /* sigma: robust standard deviation of its points from it */
    bool flat;
    bool curved; /* flat patch by patch only */
} psfm_flat_set;

/* Fits a plane robustly and says whether the set is flat: as it is, or, where it is long, patch by
 * patch with normals within merge_deg of a common one for most points. Sets of fewer than
 * min_points are not. Changes the order of the members of long sets. O(num log(length / width)). */
psfm_status psfm_flat_set_fit(psfm_context *ctx, const double (*points)[3], int min_points,
                              double merge_deg, psfm_flat_set *set);

/* Plain least squares: the direction of least spread about the mean. */
void psfm_flat_set_refit(const double (*points)[3], psfm_flat_set *set);

#endif
