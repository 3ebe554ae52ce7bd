/* Colours of the points, from the photographs. */
#ifndef PSFM_WORLD_COLOR_POINTS_H
#define PSFM_WORLD_COLOR_POINTS_H

#include "core/base/context.h"
#include "images/image/image_io.h"
#include "planarsfm/model.h"

/* A photograph in colours, decoded at `scale` of its size. */
typedef struct {
    psfm_image image;
    double scale;
} psfm_small_photo;

/* Reads folder/name with a longer side of min_side pixels or more, if it is as large. The caller
 * frees the image. */
psfm_status psfm_small_photo_read(psfm_context *ctx, const char *folder, const char *name,
                                  int min_side, psfm_small_photo *out);

/* What the photograph of an image shows at its keypoints. Owns its arrays. */
typedef struct {
    uint8_t (*rgb)[3]; /* per keypoint; NULL: no photograph */
    bool *seen;        /* per keypoint: it has a colour */
} psfm_image_colors;

/* The colours at keypoints with points; none outside the photograph. Free *out in any case. */
psfm_status psfm_image_colors_take(psfm_context *ctx, const psfm_model_image *image,
                                   const psfm_small_photo *photo, psfm_image_colors *out);
void psfm_image_colors_free(psfm_image_colors *colors);

/* Sets the colour of every point to the mean of what its images (model->num_images) show at its
 * keypoints. A point that none shows keeps its colour. */
void psfm_color_points(const psfm_image_colors *images, psfm_model *model);

#endif
