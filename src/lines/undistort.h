/* Line pixels as an ideal pinhole camera would see them. */
#ifndef PSFM_LINES_UNDISTORT_H
#define PSFM_LINES_UNDISTORT_H

#include "lines/line_pixels.h"
#include "planarsfm/camera.h"

/* Moves line pixels, their directions and the valid area from the image of `camera` onto the plane
 * of a pinhole camera with the same centre and axis, *ideal (PINHOLE), on which straight lines are
 * straight. Its size is what the camera sees, but no more than 70 degrees off the axis and three
 * times the image in each direction; line pixels beyond are dropped. With a camera that is a
 * pinhole already nothing moves. camera has the size of the line pixels' image. */
psfm_status psfm_line_pixels_rectify(psfm_context *ctx, const psfm_camera *camera,
                                     psfm_line_pixels *pixels, psfm_camera *ideal);

#endif
