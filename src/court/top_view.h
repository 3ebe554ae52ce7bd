/* The floor as seen from above, rectified with a registered pose: what tells the ends of a court
 * apart where its lines do not. */
#ifndef PSFM_COURT_TOP_VIEW_H
#define PSFM_COURT_TOP_VIEW_H

#include "court/registration.h"

/* Square cells over a drawing; its middle is the raster's. What stands round the court is not on
 * the floor. */
typedef struct {
    int width, height; /* cells along x and y */
    double step;       /* metres */
    double middle[2];
} psfm_top_raster;

psfm_top_raster psfm_top_raster_make(const psfm_drawing *drawing);

/* What is finer than half a metre (for a basketball court) of the floor's lightness. Owns its
 * arrays; empty (detail NULL) if the photograph was not looked at. */
typedef struct {
    int8_t *detail; /* height x width */
    uint8_t *seen;  /* height x width */
} psfm_top_view;

/* Rectifies a photograph. Free in any case. */
psfm_status psfm_top_view_make(psfm_context *ctx, const psfm_top_raster *raster,
                               const psfm_image *image, const psfm_court_pose *pose,
                               psfm_top_view *view);
void psfm_top_view_free(psfm_top_view *view);

/* Takes away from all views what they have in common with all of them turned as the drawing allows:
 * its lines, and whatever else of the floor is as symmetric. */
psfm_status psfm_top_views_take_symmetric(psfm_context *ctx, const psfm_top_raster *raster,
                                          const int *turns, int num_turns, psfm_top_view *views,
                                          size_t num);

/* Correlation, -1 to 1, of a view with another one whose pose is turned by so many quarters
 * (psfm_court_pose_turn), over what both see; NAN if that is too little. */
double psfm_top_view_correlation(const psfm_top_raster *raster, const psfm_top_view *a,
                                 const psfm_top_view *b, int quarters);

#endif
