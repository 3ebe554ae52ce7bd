/* First values for the adjustment of one plane: focal lengths and the plane's normal. */
#ifndef PSFM_CALIBRATION_PLANE_SEARCH_H
#define PSFM_CALIBRATION_PLANE_SEARCH_H

#include "core/calibration/plane_chain.h"

#define PSFM_MAX_STARTS 4
#define PSFM_REGION_VIEWS \
    64 /* with the fewest links from a reference: those it says something of */

typedef struct {
    const psfm_plane_views *views;
    const uint32_t *group; /* per view of the plane: whose focal length it has */
    size_t num_groups;
    const double *fixed;     /* per group: its focal length, 0 if unknown */
    size_t reference;        /* a place in views */
    uint32_t reference_rank; /* among those searched from: draws do not depend on view numbers */
    const double (*H)[9];    /* per view, from the reference; see psfm_plane_chain */
    const uint32_t *hops;
    const double (*seen)[2]; /* image points of the plane in the reference */
    size_t num_seen;
} psfm_plane_search_input;

typedef struct {
    double cost;
    double normal[3]; /* in the reference view, away from the camera */
    double *focal;    /* per view, the reference's for those beyond PSFM_REGION_VIEWS; owned */
} psfm_plane_start;

/* The best local minima over the reference's focal length and the normal, at most max_starts of
 * them, best first; returns their number in *num. Each is freed by the caller. Random draws from
 * (seed, calibration, rank). O(views) per value tried. */
psfm_status psfm_plane_search(psfm_context *ctx, const psfm_plane_search_input *input,
                              size_t max_starts, psfm_plane_start starts[PSFM_MAX_STARTS],
                              size_t *num);
void psfm_plane_start_free(psfm_plane_start *start);

#endif
