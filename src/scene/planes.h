/* Physical planes: what many homographies saw of one flat thing, as a plane in the world with the
 * points on it. */
#ifndef PSFM_SCENE_PLANES_H
#define PSFM_SCENE_PLANES_H

#include "base/options.h"

typedef struct {
    int min_points;        /* of a plane */
    double merge_deg;      /* planes with normals closer than this may be one ... */
    double max_off_sigmas; /* ... if their points stay within so many robust deviations */
} psfm_scene_plane_options;

extern const psfm_option_table psfm_scene_plane_option_table;

/* A plane normal . X = distance in the world; the normal points to the side the cameras are on. */
typedef struct {
    double normal[3];
    double distance;
    double sigma; /* robust standard deviation of its points' distance from it */
    uint32_t num_points;
    double (*polygon)[3]; /* convex hull of its points, on the plane, counter-clockwise seen from
                             the cameras; owned */
    uint32_t num_corners;
    double area;
    int32_t model; /* index of the model it belongs to, set with the world frame; 0 until then */
} psfm_scene_plane;

/* Largest first (by points). Owns its arrays. */
typedef struct {
    psfm_scene_plane *planes;
    uint32_t num_planes;
    int32_t *point_plane; /* per point: index into planes, -1 if on none */
} psfm_scene_planes;

/* Fits a plane to the points of each label (0 .. num_labels - 1; -1 for none), robustly, merges
 * planes that are one, and says which points are on which. Labels with too few points, or whose
 * points are not flat, give no plane. `centers` are the camera centres, for the sides. O(points).
 */
psfm_status psfm_scene_planes_fit(psfm_context *ctx, size_t num_points, const double (*points)[3],
                                  const int32_t *label, uint32_t num_labels, size_t num_centers,
                                  const double (*centers)[3],
                                  const psfm_scene_plane_options *options, psfm_scene_planes *out);
void psfm_scene_planes_free(psfm_scene_planes *planes);

#endif
