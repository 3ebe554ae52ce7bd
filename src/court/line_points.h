/* The lines that a registration rests on, as observations in the photograph itself. */
#ifndef PSFM_COURT_LINE_POINTS_H
#define PSFM_COURT_LINE_POINTS_H

#include "court/pose_fit.h"

/* A known place of the drawing and the line it was found on: row . (projected - xy) is zero but for
 * noise of unit variance. */
typedef struct {
    double on[2];   /* metres; z = 0 */
    double xy[2];   /* pixel of the photograph */
    double move[2]; /* of the place, with a metre of the drawing's length (x) and width (y) */
    double row[2];  /* across the line, inverse standard deviations a pixel */
} psfm_line_point;

/* Owns its array. */
typedef struct {
    psfm_line_point *items;
    size_t num;
} psfm_line_points;

/* The line points of a fit, moved from the plane of its evidence to the photograph of `camera`,
 * with the focal length of the fit. Free in any case. */
psfm_status psfm_line_points_make(psfm_context *ctx, const psfm_court_job *job,
                                  const psfm_court_fit *fit, const psfm_camera *camera,
                                  psfm_line_points *out);
void psfm_line_points_free(psfm_line_points *points);

#endif
