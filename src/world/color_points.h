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

/* Whoever knows photographs already, or wants to know those that are read. Called from several
 * threads, for different photographs. */
typedef struct {
    /* Hands a photograph over; false if it is not there. */
    bool (*take)(const char *name, void *user, psfm_small_photo *out);
    psfm_status (*see)(psfm_context *ctx, const char *name, const psfm_image *photograph,
                       void *user);
    void *user;
} psfm_photo_keeper;

/* Sets the colour of every point to the mean of its images at its keypoints. Photographs are read
 * below `folder` by the names of the images, with longer sides of min_side pixels or more where
 * they are as large; one that cannot be read, or is smaller than its keypoints say, takes no part,
 * with a warning. A point without any keeps its colour. `keeper` may be NULL. Parallel, one image
 * in memory per thread. */
psfm_status psfm_color_points(psfm_context *ctx, const char *folder, int min_side,
                              const psfm_photo_keeper *keeper, psfm_model *model);

#endif
