/* Lines of a photograph along one axis of the floor. For search.c. */
#ifndef PSFM_COURT_AXIS_LINES_H
#define PSFM_COURT_AXIS_LINES_H

#include "court/frames.h"

#define PSFM_AXIS_LINES 14 /* the best are kept */

/* A line on the floor, seen as if the camera were one unit above it: its place across the axis. */
typedef struct {
    double offset; /* in heights of the camera, from the point below it */
    double sigma;  /* change of the offset with a pixel */
    double weight; /* pixels of segments on it */
} psfm_axis_line;

/* Collects the segments that run along `axis` (0: x, 1: y) of the frame R (cam_from_world) below
 * the horizon; those at the same place are one line. Returns how many, heaviest first. `camera` is
 * a PINHOLE with the focal lengths to use. */
size_t psfm_axis_lines_find(const psfm_segments *segments, const psfm_camera *camera,
                            const double R[9], int axis, psfm_axis_line lines[PSFM_AXIS_LINES]);

#endif
