/* Colours of the points, from the photographs. */
#ifndef PSFM_WORLD_COLOR_POINTS_H
#define PSFM_WORLD_COLOR_POINTS_H

#include "base/context.h"
#include "planarsfm/model.h"

/* Sets the colour of every point to the mean of its images at its keypoints. Photographs are read
 * below `folder` by the names of the images; one that cannot be read, or is smaller than its
 * keypoints say, takes no part, with a warning. A point without any keeps its colour. Parallel, one
 * image in memory per thread. */
psfm_status psfm_color_points(psfm_context *ctx, const char *folder, psfm_model *model);

#endif
