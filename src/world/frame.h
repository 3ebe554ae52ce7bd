/* The world frame of the results: the dominant plane at z = 0 with the cameras above it, and a
 * scale. */
#ifndef PSFM_WORLD_FRAME_H
#define PSFM_WORLD_FRAME_H

#include "core/linalg/sim3.h"
#include "core/refine/refine_poses.h"
#include "core/structure/planes.h"
#include "planarsfm/model.h"

/* A known distance between two image points on the dominant plane; image1 == NULL: none. */
typedef struct {
    char *image1, *image2; /* names */
    double xy1[2], xy2[2]; /* pixels */
    double metres;
} psfm_known_distance;

typedef struct {
    psfm_known_distance distance;
    double scale; /* 0: the median camera is at distance 1 from the dominant plane; otherwise that
                     many units */
} psfm_frame_options;

/* Parses "IMAGE:x,y"; the image's name is everything before the last ':'. *image is malloc'ed. */
psfm_status psfm_parse_image_point(psfm_context *ctx, const char *text, char **image, double xy[2]);

/* The upright frame of a plane, without scaling: the plane becomes z = 0, its normal z, the
 * direction in which its corners spread most x, their mean the origin. */
void psfm_frame_of_plane(const psfm_scene_plane *plane, psfm_sim3 *frame);

/* Moves each component's poses, points and planes: its plane with most points becomes z = 0, seen
 * from z > 0, its long side along x, its middle the origin. A component without a plane keeps its
 * rotation and gets its cameras' middle as origin. Scaled so that the median distance of its
 * cameras from the plane (or the origin) is 1, or as asked. The known distance applies to the
 * component that has both images; an image that is not posed is PSFM_ERR_DATA. The component
 * `done` has its frame already (PSFM_NO_COMPONENT: none has). */
psfm_status psfm_frame_set(psfm_context *ctx, const psfm_match_set *set,
                           const psfm_frame_options *options, uint32_t done,
                           psfm_pose_solution *solution, psfm_refined *refined);

/* Moves the poses, points and planes of a component. */
void psfm_component_move(const psfm_sim3 *frame, uint32_t component, psfm_pose_solution *solution,
                         psfm_refined *refined);

/* Moves all poses and points: X becomes scale R X + t. Quaternions come out normalised, w >= 0. */
void psfm_model_move(psfm_model *model, const psfm_sim3 *to_from);

/* The same for a plane: normal, distance, sigma, area and polygon. */
void psfm_scene_plane_move(psfm_scene_plane *plane, const psfm_sim3 *to_from);

#endif
