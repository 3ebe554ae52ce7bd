/* The verdict on poses that the lines of a drawing hold. */
#ifndef PSFM_COURT_LINE_VERDICT_H
#define PSFM_COURT_LINE_VERDICT_H

#include "core/verdict/verdict.h"
#include "court/court_evidence.h"

/* How likely a registration is right but for the drawing's turn: by its distinct lines, and the
 * score of the best other pose. is_shown: other photographs show that the drawing is there. */
double psfm_line_probability(const psfm_court_pose *pose, bool is_shown);

/* How likely a view is turned rightly against the others, by the pairs of floors that say so and
 * those that do not. 1 for a drawing that looks like itself only as it is. */
double psfm_turn_probability(const psfm_court_evidence *court, uint32_t view);

/* Judges models in which an image sees fewer than min_points points and rests on lines: these
 * images by their registrations, the others by their points (what `verdicts` has) or, if that is
 * surer, by their registrations; the model by all of them. Fills `verdicts` if it is empty. Nothing
 * changes for other models. */
psfm_status psfm_line_verdicts_find(psfm_context *ctx, const psfm_court_evidence *court,
                                    const psfm_verdict_input *input, uint32_t min_points,
                                    psfm_verdicts *verdicts);

#endif
