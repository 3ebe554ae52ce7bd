/* What the summary says of a model's runner-ups, and lists of names that it shares with others. */
#ifndef PSFM_PIPELINE_SUMMARY_AMBIGUITY_H
#define PSFM_PIPELINE_SUMMARY_AMBIGUITY_H

#include <cjson/cJSON.h>

#include "pipeline/reconstruct.h"

/* All return false when memory is out. */

/* Adds the names of views, sorted. */
bool psfm_summary_add_names(cJSON *parent, const char *what, const psfm_match_set *set,
                            const uint32_t *views, uint32_t num);

/* Adds the pairs of names of edges, sorted. */
bool psfm_summary_add_pairs(cJSON *parent, const char *what, const psfm_match_set *set,
                            const psfm_pose_graph *graph, const uint32_t *edges, uint32_t num);

/* Adds "ambiguity": the runner-ups that move images of one model, or move others against images of
 * it; docs/formats.md. */
bool psfm_summary_add_ambiguities(cJSON *model, const psfm_match_set *set,
                                  const psfm_reconstruction *found, uint32_t component);

#endif
