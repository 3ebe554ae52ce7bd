/* A drawing laid over a photograph. */
#ifndef PSFM_COURT_OVERLAY_H
#define PSFM_COURT_OVERLAY_H

#include "court/registration.h"

/* Paints the drawing onto the photograph, which has RGB, as the pose sees it through its lens:
 * magenta where lines of the photograph confirm at least half of a part, yellow where they do not,
 * on darkened pixels. */
void psfm_court_overlay(const psfm_drawing *drawing, const psfm_court_pose *pose,
                        psfm_image *image);

#endif
