/* From the matches of an image to the points of the others. */
#ifndef PSFM_REFINE_MATCHED_POINTS_H
#define PSFM_REFINE_MATCHED_POINTS_H

#include "core/posegraph/topology.h"
#include "core/structure/resection.h"
#include "core/structure/triangulate.h"

/* What an image can be resected from: the points its matches lead to. */
typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    size_t *keypoint_begin;      /* per view, into point_of_keypoint */
    uint32_t *point_of_keypoint; /* UINT32_MAX for none */
    psfm_adjacency pairs;        /* of each view */
} psfm_point_views;

psfm_status psfm_point_views_init(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_structure *structure, const psfm_poses *poses,
                                  psfm_point_views *out);

/* A keypoint of a view and the point that a match leads it to. */
typedef struct {
    uint32_t keypoint, point;
} psfm_lead;

/* Follows the matches of view v to points of other views: by keypoint, each point once. *leads is
 * malloc'ed, and is to be freed in any case. */
psfm_status psfm_point_views_leads(psfm_context *ctx, const psfm_point_views *links, uint32_t v,
                                   psfm_lead **leads, size_t *num);

/* Resects view v on the points of the component that most of its matches lead to. */
psfm_status psfm_point_views_resect(psfm_context *ctx, const psfm_point_views *links, uint32_t v,
                                    const psfm_resection_options *options, psfm_resection *pose,
                                    uint32_t *component);
void psfm_point_views_free(psfm_point_views *links);

#endif
