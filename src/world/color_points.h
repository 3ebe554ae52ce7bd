/* Colours of the points, from the photographs. */
#ifndef PSFM_WORLD_COLOR_POINTS_H
#define PSFM_WORLD_COLOR_POINTS_H

#include "base/context.h"
#include "image/image_io.h"
#include "planarsfm/model.h"

/* Told of each photograph that was read, small and in colours; from several threads. */
typedef struct {
    psfm_status (*see)(psfm_context *ctx, const char *name, const psfm_image *photograph,
                       void *user);
    void *user;
} psfm_photo_watcher;

/* Sets the colour of every point to the mean of its images at its keypoints. Photographs are read
 * below `folder` by the names of the images, with longer sides of min_side pixels or more where
 * they are as large; one that cannot be read, or is smaller than its keypoints say, takes no part,
 * with a warning. A point without any keeps its colour. `watcher` may be NULL. Parallel, one image
 * in memory per thread. */
psfm_status psfm_color_points(psfm_context *ctx, const char *folder, int min_side,
                              const psfm_photo_watcher *watcher, psfm_model *model);

#endif
