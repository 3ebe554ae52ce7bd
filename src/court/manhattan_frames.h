/* Right-angled frames: how a camera may be turned against a world of three perpendicular
 * directions, one of them up. */
#ifndef PSFM_COURT_MANHATTAN_FRAMES_H
#define PSFM_COURT_MANHATTAN_FRAMES_H

#include "lines/segments.h"
#include "planarsfm/camera.h"

typedef struct {
    double R[9];    /* cam_from_world: its columns are the world's axes in the camera; z is up */
    double focal;   /* factor on the given camera's focal lengths */
    double support; /* pixels of segments along one of the axes */
} psfm_court_frame;

/* Finds up to max_frames frames that many segments agree with, best first, a degree or more apart;
 * frames that differ by a quarter turn about the vertical are one. `camera` is a PINHOLE. The up
 * direction is the one nearest to the image's, within 60 degrees of it. If free_focal, the camera's
 * focal length is only a scale for the search, from 0.3 to 2 times the image's larger side; each
 * frame has its own. Random draws from the context's seed. O(segments). */
psfm_status psfm_court_frames_find(psfm_context *ctx, const psfm_segments *segments,
                                   const psfm_camera *camera, bool free_focal, size_t max_frames,
                                   psfm_court_frame *frames, size_t *num_frames);

/* The angle between two frames in radians, up to quarter turns about the vertical. */
double psfm_court_frame_angle(const double R1[9], const double R2[9]);

#endif
