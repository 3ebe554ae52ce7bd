/* One physical plane, every view of it related to a reference view. */
#ifndef PSFM_CALIBRATION_PLANE_CHAIN_H
#define PSFM_CALIBRATION_PLANE_CHAIN_H

#include "core/calibration/measured_planes.h"

/* Views of one physical plane, ascending, and its homographies between them. Owns its arrays. */
typedef struct {
    uint32_t *views;
    size_t num_views;
    const psfm_measured_plane **edges;
    size_t num_edges;
    uint32_t (*ends)[2]; /* per edge: places in `views` */
    size_t *begin;       /* num_views + 1, into incident */
    uint32_t *incident;  /* edges of each view */
    double *weight;      /* per view: inliers of its edges, 300 of each at most */
} psfm_plane_views;

psfm_status psfm_plane_views_init(psfm_context *ctx, const psfm_measured_planes *measured,
                                  const uint32_t *items, size_t num, psfm_plane_views *out);
void psfm_plane_views_free(psfm_plane_views *views);

/* Homographies from the reference (a place in `views`) along the most reliable chains: H (unit
 * norm, per view) and the number of links. Views out of reach have hops = UINT32_MAX. */
psfm_status psfm_plane_chain(psfm_context *ctx, const psfm_plane_views *views, size_t reference,
                             double (*H)[9], uint32_t *hops);

#endif
