/* Control points in a model: placing them, and refining a similarity on their pixels. */
#ifndef PSFM_WORLD_ALIGN_POINTS_H
#define PSFM_WORLD_ALIGN_POINTS_H

#include "court/court.h"
#include "formats/control_file.h"
#include "planarsfm/model.h"
#include "world/align.h"

/* The image of this name, or NULL. */
const psfm_model_image *psfm_model_image_by_name(const psfm_model *model, const char *name);

/* One view of a control point: the ray of the pixel and the camera behind it. */
typedef struct {
    uint32_t point;
    double xy[2];
    const psfm_camera *camera;
    double cam_from_model_R[9];
    double center[3], direction[3]; /* model frame; the direction has unit length */
} psfm_control_ray;

/* The views of images that the model has, whose pixels have a ray. *rays is malloc'ed. */
psfm_status psfm_control_rays_make(psfm_context *ctx, const psfm_model *model,
                                   const psfm_control_set *points, psfm_control_ray **rays,
                                   size_t *num);

/* Where a ray meets a plane; false if it does not, in front of the camera. */
bool psfm_ray_meets_plane(const double center[3], const double ray[3],
                          const psfm_scene_plane *plane, double X[3]);

/* Place of each control point in the model, NAN for those that cannot be placed: from all its rays,
 * or from a single one and the plane (may be NULL). */
void psfm_control_rays_place(const psfm_control_ray *rays, size_t num, size_t num_points,
                             const psfm_scene_plane *plane, double (*places)[3]);

/* Error in pixels of the world point Y; INFINITY if it is not in front. */
double psfm_control_ray_error(const psfm_control_ray *ray, const psfm_sim3 *world_from_model,
                              const double Y[3], double error[2]);

/* Minimises the squared pixel errors of the rays whose point is used, over the similarity.
 * World coordinates are centred within. True if it converged to something no worse. */
bool psfm_sim3_refine_pixels(const psfm_control_ray *rays, size_t num,
                             const psfm_control_point *points, const bool *use,
                             psfm_sim3 *world_from_model);

/* Registers the photographs of a model's images to the court, keeps the registrations that turn
 * against each other as the model's images do, and lists where each of them sees the court's marks:
 * what psfm_align_points wants. Half a turn of the whole is free: the first image that is kept has
 * its camera at the smaller y. PSFM_ERR_DATA if no photograph is registered. Parallel. Free *points
 * in any case. */
psfm_status psfm_court_points_find(psfm_context *ctx, const psfm_model *model, const char *folder,
                                   const psfm_court *court, psfm_control_set *points);

#endif
