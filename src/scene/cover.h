/* Points that together cover the images. */
#ifndef PSFM_SCENE_COVER_H
#define PSFM_SCENE_COVER_H

#include "scene/triangulate.h"

/* Sets chosen[p] for points that together cover the images: each image is cut into about
 * `per_image` squares, and a point is chosen, longest tracks first, if nothing chosen so far lies
 * in its square in at least half of its images. O(observations); memory per_image bytes an image.
 */
psfm_status psfm_points_cover(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, size_t per_image, bool *chosen);

#endif
