/* Models put into the frame of a drawing, and made one by it. */
#ifndef PSFM_WORLD_COURT_FRAME_H
#define PSFM_WORLD_COURT_FRAME_H

#include "core/refine/refine_poses.h"
#include "core/solve/extra_edges.h"
#include "court/court_evidence.h"

/* Joins what registrations that agree (evidence->court) have in common: every component with such
 * images is moved into the frame of the drawing, images without a component take the pose of their
 * registration, and all become one component, *component (PSFM_NO_COMPONENT: there is none).
 * Registrations that are not where the others of their component say lose their flag. Poses of
 * registrations end in their final turn. */
psfm_status psfm_court_join(psfm_context *ctx, psfm_court_evidence *court,
                            psfm_pose_solution *solution, psfm_refined *refined,
                            uint32_t *component);

/* Floors that two images see, then registrations, which join an image to the drawing; the
 * candidates of an edge are the turns that the drawing does not tell apart. Free in any case. */
psfm_status psfm_court_edges_make(psfm_context *ctx, const psfm_court_evidence *court,
                                  psfm_extra_edges *extra);

/* Tells which registrations agree with the rotations that were found, in which turn
 * (court->agrees, court->quarters). */
void psfm_court_edges_take(const psfm_extra_edges *extra, psfm_court_evidence *court);

#endif
