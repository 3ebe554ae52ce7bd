/* The runner-up of a rotation consensus: the next best explanation, in which a set of images is
 * turned by a rotation of the world that edges ask for, and how much speaks against it.
 *
 * What decides is the cut between the set and the other images: the edges across it that agree now
 * against those that would agree if the set were turned. Where hardly anything decides, because few
 * edges cross a gap, all of them doubtful, the photographs do not tell the scene from its twin. */
#ifndef PSFM_POSE_ROTATION_AMBIGUITY_H
#define PSFM_POSE_ROTATION_AMBIGUITY_H

#include "pose/rotation_consensus.h"

/* One runner-up. Weights are sums of supports in units of the mean support of an agreeing edge.
 * Owns its arrays. */
typedef struct {
    uint32_t *node; /* the images that it turns, ascending: the smaller side of the cut */
    uint32_t num_nodes;
    uint32_t *edge; /* edges across the cut that agree as the images are */
    uint32_t num_agreeing;
    uint32_t num_opposing; /* edges across it that would agree with the set turned */
    double agreeing,
        opposing;       /* support of all edges across it as it is, and with the set turned */
    bool decided;       /* its ratio is not larger than is allowed */
    double turn_deg;    /* by which the set turns, 0 to 180 ... */
    double axis_cam[3]; /* ... about this axis, in the frame of the image `reference`, */
    uint32_t reference; /* which is on the other side of the cut */
} psfm_rotation_ambiguity;

/* Owns its arrays. */
typedef struct {
    psfm_rotation_ambiguity *item;
    size_t num;
    uint32_t *part; /* per node: number of its part if its component was cut, else UINT32_MAX */
} psfm_rotation_ambiguities;

/* For every connected component of the edges that agree the runner-up, if
 * edges of it ask for any turn. An undecided one, with a ratio above max_ratio, is cut, and the
 * parts are looked at again, so that all undecided ones are listed, the weakest of a component
 * first; of the parts only undecided ones are. cam_from_world and chosen are those of the
 * consensus. Free `out` in any case. Deterministic. Cost: a labelling per turn
 * and part. */
psfm_status psfm_rotation_ambiguities_find(psfm_context *ctx, const psfm_rotation_problem *problem,
                                           double max_ratio, double (*cam_from_world)[9],
                                           const uint32_t *chosen, psfm_rotation_ambiguities *out);
void psfm_rotation_ambiguities_free(psfm_rotation_ambiguities *ambiguities);

/* opposing over agreeing, both half an edge heavier: 1 where nothing decides, towards 0 where
 * everything does. */
double psfm_rotation_ambiguity_ratio(const psfm_rotation_ambiguity *ambiguity);

#endif
