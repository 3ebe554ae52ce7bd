/* What a drawing on the floor says about the images of a set, as edges of the pose graph: the
 * drawing is one more node. */
#ifndef PSFM_COURT_COURT_EVIDENCE_H
#define PSFM_COURT_COURT_EVIDENCE_H

#include "court/registration.h"
#include "court/target.h"

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

/* The floor itself, seen by two images, says how their ends of the court go together. */
typedef struct {
    uint32_t view1, view2;
    int quarters;       /* turn of view2's pose that puts it into the world of view1's */
    double correlation; /* of the floors then, see court/top_view.h */
    double margin;      /* by how much that is more than with any other turn */
} psfm_turn_link;

/* Owns its arrays. */
typedef struct {
    psfm_drawing *drawing;      /* not owned */
    double expected_size[2];    /* its length and width before the joint solution, metres */
    double sigma_size[2];       /* how well they are known, then and after it; 0: taken as exact */
    psfm_court_options options; /* that photographs were registered with */
    const char *photo_folder;   /* that has them; NULL: they cannot be looked at again; not owned */
    double middle[2];
    int turns[4], num_turns; /* of the drawing, by quarters */
    uint32_t num_views;
    psfm_court_pose *poses; /* per view, canonical; what was refused is kept as a suggestion */
    psfm_turn_link *links;
    size_t num_links;
    /* What the joint solution says, filled by the engine: */
    bool *agrees;  /* per view: the registration is part of it */
    int *quarters; /* per view: the turn of its pose in it */
} psfm_court_evidence;

/* Empty poses for so many views. Free in any case. */
psfm_status psfm_court_evidence_init(psfm_context *ctx, psfm_drawing *drawing, uint32_t num_views,
                                     psfm_court_evidence *evidence);
void psfm_court_evidence_free(psfm_court_evidence *evidence);

static inline bool psfm_court_accepts(const psfm_court_evidence *evidence, uint32_t view) {
    return evidence->poses[view].verdict == PSFM_COURT_ACCEPTED;
}

/* Whether a view has a pose over the drawing at all, accepted or not. */
static inline bool psfm_court_has_pose(const psfm_court_evidence *evidence, uint32_t view) {
    return evidence->poses[view].part_hit != NULL;
}

#endif
