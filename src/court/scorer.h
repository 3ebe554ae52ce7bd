/* Coarse scores of many camera positions for one orientation. For search.c. */
#ifndef PSFM_COURT_SCORER_H
#define PSFM_COURT_SCORER_H

#include "court/search.h"

/* Columns of floats, one entry a sample: P = K R X and its derivative along the line, so that a
 * sample's pixel for centre C is that of P - K R C. Owns its memory. */
typedef struct {
    const psfm_line_evidence *evidence;
    psfm_paint paint;
    size_t num; /* samples, filled up to a multiple of PSFM_SCORER_BLOCK with unseen ones */
    float *p[3], *t[3];
    float *memory;
    float step;      /* metres between samples */
    float min_depth; /* metres */
    double A[9];     /* K R */
} psfm_scorer;

#define PSFM_SCORER_BLOCK 32

psfm_status psfm_scorer_init(psfm_context *ctx, const psfm_search_plan *plan,
                             const psfm_line_evidence *evidence, psfm_scorer *scorer);
void psfm_scorer_free(psfm_scorer *scorer);

/* Sets the orientation: `camera` is a PINHOLE with the focal lengths to use. */
void psfm_scorer_turn(psfm_scorer *scorer, const psfm_search_plan *plan, const psfm_camera *camera,
                      const double R[9]);

/* The evidence for a camera at `center`, from the first num_samples samples (a multiple of the
 * block, or more than there are): of light or of dark lines, whichever is more if the paint may be
 * either. */
double psfm_scorer_score(const psfm_scorer *scorer, const double center[3], size_t num_samples);

#endif
