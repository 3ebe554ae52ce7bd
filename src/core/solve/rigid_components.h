/* Rigid components: sets of images whose relative positions and scale follow from the data. */
#ifndef PSFM_SOLVE_RIGID_COMPONENTS_H
#define PSFM_SOLVE_RIGID_COMPONENTS_H

#include "core/solve/robust.h"
#include "core/structure/triangulate.h"

/* Splits every component of `solution` into the rigid components that directions, common points and
 * common planes make. An image in several of them goes to the largest; one that is alone loses
 * its pose and gets alone[v] = true (num_nodes). Components that were split are marked in their
 * facts. Splitting is rare: two cameras with two common points, or with a
 * plane that a third one sees as well, are one rigid component. Exact but for accidents
 * (core/rigidity/rigidity.h); near-linear in the observations. */
psfm_status psfm_split_undetermined(psfm_context *ctx, const psfm_pose_graph *graph,
                                    const psfm_robust_edges *edges, const psfm_structure *structure,
                                    psfm_pose_solution *solution, bool *alone);

/* For a solution from directions alone (the edges with keep): the degrees of freedom that each
 * component has left beyond translation and scale, in its facts. */
psfm_status psfm_count_undetermined(psfm_context *ctx, const psfm_pose_graph *graph,
                                    const bool *keep, psfm_pose_solution *solution);

#endif
