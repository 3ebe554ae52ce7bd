/* The photographs of a match set registered to a drawing, and their floors compared. */
#ifndef PSFM_COURT_COURT_VIEWS_H
#define PSFM_COURT_COURT_VIEWS_H

#include "core/matches/match_set.h"
#include "court/court_evidence.h"

/* Registers the photograph of every view, with the focal length as sure as its origin says, and
 * compares the floors that accepted photographs see. A drawing of free size gets the size that the
 * photographs agree on, and they are registered to that. A photograph that cannot be read, or is
 * not of its camera's size, costs a warning. Parallel, one photograph in memory per thread, and the
 * same bytes for any number of threads. Memory: about 1 MB a view. Free *evidence in any case; it
 * refers to the target's drawing. */
psfm_status psfm_court_views_register(psfm_context *ctx, const psfm_match_set *set,
                                      const char *folder, psfm_court_target *target,
                                      const psfm_court_options *options,
                                      psfm_court_evidence *evidence);

/* Splits cameras that photographs were only taken to share, where their lines show different focal
 * lengths. Before the next. */
psfm_status psfm_court_views_split(psfm_context *ctx, const psfm_court_evidence *evidence,
                                   psfm_match_set *set);

/* Gives uncalibrated cameras the focal length that the lines of their photographs show.
 * Returns how many; the rays of the set are then to be computed anew. */
size_t psfm_court_views_calibrate(const psfm_court_evidence *evidence, psfm_match_set *set);

#endif
