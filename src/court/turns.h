/* The copies of a pose that a symmetric drawing cannot tell apart. */
#ifndef PSFM_COURT_TURNS_H
#define PSFM_COURT_TURNS_H

#include "court/register.h"

/* The middle of the drawing's rectangle, about which it is turned. */
void psfm_drawing_middle(const psfm_drawing *drawing, double middle[2]);

/* A pose after the world is turned by quarters about the vertical through `middle`: it sees X where
 * the given one saw Q (X - middle) + middle. */
void psfm_turn_pose(const double middle[2], int quarters, const double R[9], const double center[3],
                    double R_out[9], double center_out[3]);

/* The pose of the copy that is turned by so many quarters about the drawing's middle: the drawing
 * looks the same from there. */
void psfm_court_pose_turn(const psfm_drawing *drawing, int quarters, const psfm_court_pose *pose,
                          double R[9], double t[3]);

/* Replaces the pose, with all that goes with it, by the copy that is turned by so many quarters,
 * one of pose->turns. */
psfm_status psfm_court_pose_take_turn(psfm_context *ctx, const psfm_drawing *drawing, int quarters,
                                      psfm_court_pose *pose);

/* Replaces the pose by the copy whose camera stands farthest towards -y. */
psfm_status psfm_court_pose_make_canonical(psfm_context *ctx, const psfm_drawing *drawing,
                                           psfm_court_pose *pose);

#endif
