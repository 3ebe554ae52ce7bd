/* Matched keypoints of a set of images: the input of everything after matching. Filled from a
 * database (io/), from a synthetic scene (synth/) or from arrays. */
#ifndef PSFM_MATCHES_MATCH_SET_H
#define PSFM_MATCHES_MATCH_SET_H

#include <stddef.h>
#include <stdint.h>

#include "core/camera/camera_origin.h"

/* One image. Rays are of unit length; px_from_ray is the 2 x 3 derivative of the pixel by the ray
 * at that ray (it annihilates the ray), so that a nearby ray r is off by about
 * px_from_ray (r / (r . ray)) pixels. A keypoint without a ray (NaN, or outside the camera's
 * range) has ray = 0. */
typedef struct {
    uint32_t id; /* as in the database */
    char *name;
    uint32_t camera_idx; /* into cameras */
    size_t num_keypoints;
    double (*keypoints)[2]; /* pixels */
    double (*rays)[3];
    double (*px_from_ray)[6];
    /* Square root of the information of each keypoint's position, upper triangular (s00, s01, s11)
     * per pixel; (1, 0, 1) for a keypoint as a detector finds it. NULL: all are such. */
    double (*sqrt_info)[3];
    /* Of a view whose matched keypoints were put first (psfm_match_set_sort_matched): the index
     * that each keypoint had before, and how many are matched. Rays of the others stay zero, and so
     * take no memory, until psfm_view_need_ray. NULL: all have their rays. */
    uint32_t *origin;
    size_t num_matched;
} psfm_view;

/* The index of a keypoint in the database. */
static inline uint32_t psfm_view_origin(const psfm_view *view, uint32_t k) {
    return view->origin == NULL ? k : view->origin[k];
}

/* Matches of one pair: keypoint indices in view1 and view2; view1 < view2 (dense indices). */
typedef struct {
    uint32_t view1, view2;
    size_t num_matches;
    uint32_t (*matches)[2];
} psfm_match_pair;

/* Order of two pairs by (view1, view2), for qsort. */
int psfm_match_pair_compare(const void *a, const void *b);

/* Owns everything below it. Views sorted by id (by content after
 * psfm_match_set_canonical), pairs by (view1, view2), at most one pair per two
 * views, keypoint indices in range. */
typedef struct {
    psfm_camera *cameras;
    psfm_camera_origin *origins; /* per camera; NULL: all are given */
    size_t num_cameras;
    psfm_view *views;
    size_t num_views;
    psfm_match_pair *pairs;
    size_t num_pairs;
} psfm_match_set;

/* Puts the keypoints of each view that some pair matches first, both kinds in their order. Before
 * rays are computed. Most keypoints of a photograph are in no match, and rays are four fifths of
 * what a keypoint takes. O(keypoints + matches). */
psfm_status psfm_match_set_sort_matched(psfm_context *ctx, psfm_match_set *set);

/* Whether a keypoint has a ray, stored or not; and stores it. */
bool psfm_view_has_ray(const psfm_view *view, const psfm_camera *camera, uint32_t k);
void psfm_view_need_ray(const psfm_view *view, const psfm_camera *camera, uint32_t k);

/* Computes rays and px_from_ray of all views from keypoints and cameras (parallel). Sets
 * *num_without_ray to the keypoints that have none. */
psfm_status psfm_match_set_compute_rays(psfm_context *ctx, psfm_match_set *set,
                                        size_t *num_without_ray);

/* The same for the views that have keypoints but no rays yet; the others stay as they are. */
psfm_status psfm_match_set_add_rays(psfm_context *ctx, psfm_match_set *set);

/* Where the camera or view of this id is among those sorted by id, or would be; whether it is
 * there. Not for sets that are sorted by content. O(log n). */
bool psfm_match_set_find_camera(const psfm_match_set *set, uint32_t id, uint32_t *idx);
bool psfm_match_set_find_view(const psfm_match_set *set, uint32_t id, uint32_t *idx);

/* The views in the order of their names (bytes; equal ones by id): by_name[k] is the view that
 * comes k-th. An array of num_views, the caller frees it. O(n log n). */
psfm_status psfm_match_set_by_name(psfm_context *ctx, const psfm_match_set *set,
                                   uint32_t **by_name);

/* Two views with one name, the first pair of them by name: without names of their own their poses
 * could not be told apart. namesakes[0] is NULL if all differ. O(n log n). */
psfm_status psfm_match_set_find_namesakes(psfm_context *ctx, const psfm_match_set *set,
                                          const psfm_view *namesakes[2]);

/* Checks the invariants above; the message names the image. */
psfm_status psfm_match_set_check(psfm_context *ctx, const psfm_match_set *set);

void psfm_match_set_free(psfm_match_set *set);

/* The matches of one pair as two arrays of rays side by side. Owns its arrays. Matches whose
 * keypoints have no ray are left out; match_idx says which match each row is. */
typedef struct {
    size_t num;
    double (*ray1)[3], (*ray2)[3];
    double (*px1)[6], (*px2)[6]; /* px_from_ray on either side */
    uint32_t *match_idx;
} psfm_correspondences;

psfm_status psfm_correspondences_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_match_pair *pair, psfm_correspondences *out);
void psfm_correspondences_free(psfm_correspondences *c);

#endif
