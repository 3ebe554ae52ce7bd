/* Which points are sought in which photographs, and from where. */
#ifndef PSFM_PHOTOMETRIC_TRACK_PLAN_H
#define PSFM_PHOTOMETRIC_TRACK_PLAN_H

#include "core/structure/planes.h"
#include "core/structure/triangulate.h"
#include "images/photometric/patch.h"
#include "images/photometric/photo_cache.h"

typedef struct {
    int rounds;          /* of aligning and adjusting; 0: leave the tracks alone */
    int per_image;       /* squares of an image; points are sought in about one of each */
    int max_views;       /* in which a point is sought beside those that matched it */
    double max_shift_px; /* from where the poses put it; more where keypoints are noisier */
    int radius;          /* of the patches, in samples */
} psfm_track_align_options;

extern const psfm_option_table psfm_track_align_option_table;

/* Where everything is, and the photographs of it. */
typedef struct {
    const psfm_camera *cameras;
    const psfm_poses *poses;
    const psfm_scene_planes *planes;
    psfm_photo_cache *photos; /* of the set's views */
} psfm_track_scene;

/* A point to be found in one image. */
typedef struct {
    uint32_t from, to; /* views */
    uint32_t point;
    uint32_t keypoint;      /* of view `to`; UINT32_MAX: it has none yet */
    psfm_patch_match found; /* filled by the search */
} psfm_track_search;

/* All searches, those between the same two views side by side. Owns its arrays. */
typedef struct {
    uint32_t *reference; /* per point: element of the tracks that gives the patch; UINT32_MAX: it is
                            not sought */
    double (*normals)[3]; /* per point that is sought: of the surface about it, in the world */
    psfm_track_search *searches; /* by from, to, point */
    size_t num_searches;
    size_t *groups; /* first search of each pair of views, and the end */
    size_t num_groups;
} psfm_track_plan;

/* Plans the search of points that together cover the images. The surface about a point is its
 * plane or, if it is on none and in three images or more, faces the cameras that matched it. Only
 * views with a pose take part, and only those of one component in the search of one point. Parallel
 * over points; the same plan for any number of threads. O(points views). */
psfm_status psfm_track_plan_make(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_structure *structure, const psfm_track_scene *scene,
                                 const psfm_track_align_options *options, psfm_track_plan *plan);
void psfm_track_plan_free(psfm_track_plan *plan);

/* Sets chosen[p] for points that together cover the images: each image is cut into about
 * `per_image` squares, and a point is chosen, longest tracks first, if nothing chosen so far lies
 * in its square in at least half of its images. O(observations); memory per_image bytes an image.
 */
psfm_status psfm_points_cover(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, size_t per_image, bool *chosen);

#endif
