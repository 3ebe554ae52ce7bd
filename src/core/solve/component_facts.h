/* How well each model is connected: facts about the graph of its pairs. */
#ifndef PSFM_SOLVE_COMPONENT_FACTS_H
#define PSFM_SOLVE_COMPONENT_FACTS_H

#include "core/solve/pose_solution.h"

/* Fills the facts of every component of `solution` that are about its edges: those with keep (NULL:
 * all) whose two ends are images of it. For the final components: what is left of a graph after
 * images were dropped, resected or split off may hang on other pairs than the whole did. Edges of a
 * component that do not connect it (points may) are looked at one by one.
 * O((nodes + edges) * components + edges log edges). */
psfm_status psfm_component_facts_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *keep, psfm_pose_solution *solution);

#endif
