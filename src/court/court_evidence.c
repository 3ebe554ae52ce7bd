/* Poses are the views' own; the drawing belongs to whoever registered them. */
#include "court/court_evidence.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "court/turns.h"

psfm_status psfm_court_evidence_init(psfm_context *ctx, psfm_drawing *drawing, uint32_t num_views,
                                     psfm_court_evidence *evidence) {
    *evidence = (psfm_court_evidence){.drawing = drawing};
    psfm_drawing_middle(drawing, evidence->middle);
    evidence->num_turns = psfm_drawing_turns(drawing, evidence->turns);
    psfm_status status = PSFM_ALLOC(ctx, num_views, &evidence->poses);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &evidence->agrees);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &evidence->quarters);
    if (status != PSFM_OK)
        return status;
    evidence->num_views = num_views;
    for (uint32_t v = 0; v < num_views; ++v)
        evidence->poses[v].verdict = PSFM_COURT_NO_LINES;
    return PSFM_OK;
}

void psfm_court_evidence_free(psfm_court_evidence *evidence) {
    for (uint32_t v = 0; v < evidence->num_views; ++v)
        psfm_court_pose_free(&evidence->poses[v]);
    free(evidence->poses);
    free(evidence->links);
    free(evidence->agrees);
    free(evidence->quarters);
    *evidence = (psfm_court_evidence){0};
}
