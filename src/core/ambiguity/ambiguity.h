/* Runner-ups of a model: the next best explanations, in which a set of images moves by a gauge
 * rotation, or is shifted, or one image is flipped, and the evidence against each. */
#ifndef PSFM_AMBIGUITY_AMBIGUITY_H
#define PSFM_AMBIGUITY_AMBIGUITY_H

#include "core/labelling/runner_up.h"

typedef enum {
    PSFM_AMBIGUITY_ROTATION, /* a set could be turned, as duplicate structure would have it */
    PSFM_AMBIGUITY_FLIP,     /* one image could be turned, as its other decompositions have it */
    PSFM_AMBIGUITY_SHIFT,    /* a set could be shifted, as the next repetition would have it */
    PSFM_NUM_AMBIGUITIES,
} psfm_ambiguity_kind;

/* Owns the arrays of its cut. */
typedef struct {
    psfm_ambiguity_kind kind;
    psfm_runner_up cut;  /* nodes and edges of the pose graph */
    double rotation_deg; /* by which the set turns, 0 to 180; 0 for a shift */
    double shift;        /* by which it is shifted, in baselines of the edge `ruler`; or 0 */
    uint32_t ruler;      /* an edge that agrees */
    double direction[3]; /* axis of the turn or direction of the shift, a unit vector in the frame
                            of the camera cut.reference */
} psfm_ambiguity;

/* Owns its arrays. */
typedef struct {
    psfm_ambiguity *item;
    size_t num, room;
    uint32_t *part; /* per node: number of its part if its component was cut, else UINT32_MAX */
    uint32_t num_parts;
} psfm_ambiguities;

/* The evidence for it over that against it, see core/labelling/runner_up.h. */
double psfm_ambiguity_ratio(const psfm_ambiguity *ambiguity);

/* Adds an item, whose cut is moved into the list: it is empty thereafter. */
psfm_status psfm_ambiguities_add(psfm_context *ctx, psfm_ambiguity *item, psfm_ambiguities *list);
void psfm_ambiguities_free(psfm_ambiguities *list);

#endif
