/* The plane that most points of a scene are near. */
#ifndef PSFM_STRUCTURE_DOMINANT_PLANE_H
#define PSFM_STRUCTURE_DOMINANT_PLANE_H

#include "core/structure/planes.h"

/* Finds the plane normal . X = distance with most points near it, the normal towards the side that
 * most of the centres are on, with the hull of its points as polygon. Nearness is relative to the
 * median distance of the points from the middle of the centres. Seeded samples, then least squares
 * on the near points. PSFM_ERR_DATA if there are fewer than ten points or if no plane has a fifth
 * of them. *plane owns its polygon (free()); on failure it is empty. O(points). */
psfm_status psfm_dominant_plane(psfm_context *ctx, size_t num_points, const double (*points)[3],
                                size_t num_centers, const double (*centers)[3],
                                psfm_scene_plane *plane);

#endif
