/* A better homography in the place of a known one. */
#ifndef PSFM_PIPELINE_PLANE_MOTIONS_H
#define PSFM_PIPELINE_PLANE_MOTIONS_H

#include "twoview/two_view.h"

/* Replaces homography h of a pair by H_21 (middle singular value 1, det > 0) and its motions by
 * those of its decomposition that are nearest to them. Where the essential matrix decides, the
 * motions stay: they were fitted to all planes and to points off them. */
void psfm_replace_homography(psfm_two_view *view, size_t h, const double H_21[9], double rms_px);

#endif
