/* A model in a known world: similarities from known positions, points, distances or a plane. */
#ifndef PSFM_WORLD_ALIGN_H
#define PSFM_WORLD_ALIGN_H

#include "core/linalg/sim3.h"
#include "core/structure/planes.h"
#include "formats/control_file.h"
#include "planarsfm/model.h"

/* One known thing and how well it fits. */
typedef struct {
    char *label;        /* image or point; owned */
    size_t num_views;   /* of a point: images of the model that show it */
    double at[3];       /* where it should be */
    double offset[3];   /* from there to where the model has it, world units; NAN: not placed */
    double residual;    /* its length */
    double residual_px; /* of a point: root mean square over its views; NAN otherwise */
    bool is_inlier;
} psfm_alignment_item;

/* Owns its items. */
typedef struct {
    psfm_sim3 world_from_model;
    psfm_alignment_item *items;
    size_t num_items, num_inliers;
    double median_residual, rms_inliers; /* world units */
    double rms_xyz[3];                   /* of the inliers' offsets */
    double rms_inliers_px;               /* NAN without points */
    double chance_log10; /* decimal logarithm of how many such fits nonsense would give */
    const char *verdict; /* "right" or "plausible"; NULL where nothing checks it */
} psfm_alignment;

void psfm_alignment_free(psfm_alignment *alignment);

/* From known camera positions, by image name: a robust similarity, that 40 % wrong positions do not
 * matter. Items are the positions of images that the model has. PSFM_ERR_DATA if these are fewer
 * than three or on a line, or if psfm_alignment_check refuses the fit; then the items tell why. */
psfm_status psfm_align_positions(psfm_context *ctx, const psfm_model *model,
                                 const psfm_positions *positions, psfm_alignment *out);

/* From known points: those that two images show are triangulated; one that a single image shows is
 * taken to be on `plane` (NULL: it is left out). A robust similarity, refined on the pixels of the
 * points that fit. At least three points must be placed, not on a line, and the fit is checked as
 * that of positions is. */
psfm_status psfm_align_points(psfm_context *ctx, const psfm_model *model,
                              const psfm_control_set *points, const psfm_scene_plane *plane,
                              psfm_alignment *out);

/* Scale alone, from a known distance between two ends: "IMAGE" is the centre of a camera,
 * "IMAGE:x,y" the point of `plane` (NULL: an error) that this pixel shows. */
psfm_status psfm_align_distance(psfm_context *ctx, const psfm_model *model, const char *end1,
                                const char *end2, double metres, const psfm_scene_plane *plane,
                                psfm_alignment *out);

/* The plane becomes z = 0, seen from z > 0, its long side along x, its middle the origin. */
psfm_status psfm_align_upright(psfm_context *ctx, const psfm_scene_plane *plane,
                               psfm_alignment *out);

/* The plane with most points of a model; see psfm_dominant_plane. */
psfm_status psfm_model_dominant_plane(psfm_context *ctx, const psfm_model *model,
                                      psfm_scene_plane *plane);

/* The positions in the EXIF data of the model's photographs in a folder. Photographs without a
 * position, or missing ones, are left out. */
psfm_status psfm_positions_from_exif(psfm_context *ctx, const psfm_model *model, const char *folder,
                                     psfm_positions *positions);

#endif
