/* Sub-models that the points of their model no longer connect, joined again. */
#ifndef PSFM_REFINE_SUBMODEL_JOINING_H
#define PSFM_REFINE_SUBMODEL_JOINING_H

#include "core/refine/matched_points.h"
#include "core/refine/refine_poses.h"

/* Whether the images of an edge share, as points, a fair part of the matches that its own geometry
 * explains, and min_shared at least. */
bool psfm_edge_holds(const psfm_refine_input *input, const psfm_point_views *links,
                     const psfm_edge *edge, size_t min_shared);

/* Finds the sub-models of each component that the points of `structure` connect, and moves the
 * smaller of two, with its points, to where the matches of an accepted edge between them have it.
 * Sub-models that are already there stay. *num_moved is the number of sub-models that moved; the
 * observations between them are to be triangulated anew. Deterministic. */
psfm_status psfm_submodels_join(psfm_context *ctx, const psfm_refine_input *input,
                                const psfm_resection_options *resection, psfm_structure *structure,
                                psfm_poses *poses, uint32_t *num_moved);

#endif
