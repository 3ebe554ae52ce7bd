/* Which model points and planes belong to, once it is known which images do. */
#ifndef PSFM_STRUCTURE_MODEL_MEMBERS_H
#define PSFM_STRUCTURE_MODEL_MEMBERS_H

#include "core/structure/planes.h"
#include "core/structure/triangulate.h"

/* Gives points and planes the components of `poses`, after images have lost their pose, or
 * components were split or numbered anew. Observations in images without a pose go. A point that
 * several components see (a hinge between two parts) becomes one in each where at least two images
 * see it, with the coordinates it has, to be moved with that component; so does a plane with points
 * in several. Planes without points go. O(observations + points log points). On failure both are
 * unchanged or partly so, and can be freed. */
psfm_status psfm_members_assign(psfm_context *ctx, const psfm_poses *poses,
                                psfm_structure *structure, psfm_scene_planes *planes);

#endif
