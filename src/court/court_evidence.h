/* What a drawing on the floor says about the images of a set, as edges of the pose graph: the
 * drawing is one more node. */
#ifndef PSFM_COURT_COURT_EVIDENCE_H
#define PSFM_COURT_COURT_EVIDENCE_H

#include "court/target.h"

/* The floor itself, seen by two images, says how their ends of the court go together. */
typedef struct {
    uint32_t view1, view2;
    int quarters;    /* turn of view2's pose that puts it into the world of view1's */
    double likeness; /* of the floors then, see court/top_view.h */
    double margin;   /* by how much that is more than with any other turn */
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
