/* The drawing in photographs that matches pose: their lines are looked for where it must be. */
#ifndef PSFM_COURT_POSED_REGISTRATION_H
#define PSFM_COURT_POSED_REGISTRATION_H

#include "core/matches/match_set.h"
#include "core/structure/poses.h"
#include "court/court_evidence.h"

/* For every view of `component`, whose frame is that of the drawing, that no registration holds:
 * fits its lines from its pose. Where the drawing is in view, lines confirm it and the fit stays
 * at the pose, evidence gets it, agrees and with the verdict PSFM_COURT_POSED. Parallel, one
 * photograph in memory per thread; the same bytes for any number of threads. A photograph that
 * cannot be read is passed over. Returns how many in *num. */
psfm_status psfm_court_fit_posed(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_poses *poses, uint32_t component,
                                 psfm_court_evidence *evidence, uint32_t *num);

#endif
