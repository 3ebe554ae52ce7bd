/* The camera of a photograph that was turned. */
#ifndef PSFM_CAMERA_CAMERA_TURN_H
#define PSFM_CAMERA_CAMERA_TURN_H

#include "planarsfm/camera.h"

/* Where a pixel of a photograph of this size is after so many clockwise quarter turns. */
void psfm_pixel_turn(int quarters, double width, double height, double xy[2]);

/* A vector of the plane, or x and y of one of space, after so many clockwise quarter turns. */
void psfm_vector_turn(int quarters, double xy[2]);

/* The camera of the turned photograph: rays turn with it, R_turned = Rz(quarters) R. A panorama
 * has no other camera and keeps its own. */
psfm_camera psfm_camera_turn(const psfm_camera *camera, int quarters);

/* cam_from_world of the turned photograph, in place. */
void psfm_pose_turn(int quarters, double R[9], double t[3]);

#endif
