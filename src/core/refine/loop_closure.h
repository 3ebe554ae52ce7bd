/* Loops of images that do not close. */
#ifndef PSFM_REFINE_LOOP_CLOSURE_H
#define PSFM_REFINE_LOOP_CLOSURE_H

#include "core/refine/refine_poses.h"

typedef struct {
    size_t num;      /* edges that loops are open at */
    double error_px; /* by which they are: the largest of their median errors; 0 without any */
} psfm_open_loops;

/* The edges, accepted or not, that the points of `structure` do not hold although their ends hang
 * together, by a long way round, and whose matches the poses miss by more than least_px and at most
 * by most_px. Deterministic. Cost: O(matches), and a short walk for each edge that does not hold.
 */
psfm_status psfm_open_loops_find(psfm_context *ctx, const psfm_refine_input *input,
                                 const psfm_structure *structure, const psfm_poses *poses,
                                 double least_px, double most_px, psfm_open_loops *out);

#endif
