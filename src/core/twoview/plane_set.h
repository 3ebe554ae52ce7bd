/* The planes of a pair: their homographies, and which match belongs to which. */
#ifndef PSFM_TWOVIEW_PLANE_SET_H
#define PSFM_TWOVIEW_PLANE_SET_H

#include <stdbool.h>

#include "core/matches/ray_pairs.h"

#define PSFM_NO_PLANE UINT32_MAX

typedef struct {
    size_t num_planes, capacity;
    double (*H_21)[9];   /* capacity entries; owned */
    size_t *num_inliers; /* capacity entries; owned */
    bool *obeys;         /* capacity entries: H_21 = R + t m^T with the motion of the essential
                            matrix; owned */
    uint32_t *plane;     /* per pair: index of its homography; from num_planes on, none; owned */
} psfm_plane_set;

/* An empty set for num_pairs pairs and up to `capacity` planes. */
psfm_status psfm_plane_set_init(psfm_context *ctx, size_t num_pairs, size_t capacity,
                                psfm_plane_set *set);
void psfm_plane_set_free(psfm_plane_set *set);

/* Pairs whose label is p, ascending, into idx; returns their number. */
size_t psfm_plane_set_gather(const psfm_plane_set *set, size_t num_pairs, uint32_t p,
                             uint32_t *idx);

/* Gives every pair to the homography that fits it best, if its squared error is below max_squared;
 * pairs that none takes lose their plane but keep any other label. nearest (per lane) gets the
 * least squared error over all planes; squared (per lane) and best (per pair) are scratch. Returns
 * whether a label changed. */
bool psfm_plane_set_assign(psfm_plane_set *set, const psfm_ray_pairs *pairs, double max_squared,
                           double *nearest, double *squared, uint32_t *best);

/* Removes plane p; its pairs get the label `heir`. */
void psfm_plane_set_remove(psfm_plane_set *set, size_t num_pairs, uint32_t p, uint32_t heir);

/* Sorts by decreasing number of inliers; equal ones keep their order. */
void psfm_plane_set_sort(psfm_plane_set *set, size_t num_pairs);

#endif
