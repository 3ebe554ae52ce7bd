/* Physical planes: what many homographies saw of one flat thing, as a plane in the world with the
 * points on it. */
#ifndef PSFM_STRUCTURE_PLANES_H
#define PSFM_STRUCTURE_PLANES_H

#include "core/base/options.h"
#include "core/structure/poses.h"

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
    uint32_t component; /* whose coordinates it has */
} psfm_scene_plane;

/* Largest first (by points). Owns its arrays. */
typedef struct {
    psfm_scene_plane *planes;
    uint32_t num_planes;
    int32_t *point_plane; /* per point: index into planes, -1 if on none */
} psfm_scene_planes;

/* Points, each with the component whose coordinates it has and a label that says which points may
 * be on one plane: 0 .. num_labels - 1; -1 for none. */
typedef struct {
    size_t num;
    const double (*xyz)[3];
    const uint32_t *component;
    const int32_t *label;
    uint32_t num_labels;
} psfm_labelled_points;

/* Fits a plane to the points of each label and component, robustly, merges planes of a component
 * that are one, and says which points are on which. Labels with too few points, or whose points are
 * not flat, give no plane. Normals point to the side of the component's cameras. O(points) a
 * component and plane. */
psfm_status psfm_scene_planes_fit(psfm_context *ctx, const psfm_labelled_points *points,
                                  const psfm_poses *poses, psfm_scene_planes *out);
void psfm_scene_planes_free(psfm_scene_planes *planes);

/* Puts the planes in order again, largest first; point_plane has num_points entries. */
psfm_status psfm_scene_planes_sort(psfm_context *ctx, size_t num_points, psfm_scene_planes *planes);

/* The polygon and area of a plane (freed first): the hull of `num` points xyz[member[k]], projected
 * onto it. num_points becomes num. */
psfm_status psfm_scene_plane_outline(psfm_context *ctx, const double (*xyz)[3],
                                     const uint32_t *member, size_t num, psfm_scene_plane *plane);

#endif
