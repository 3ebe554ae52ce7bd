/* The runner-up of how things stand on a graph: the next best explanation, in which a set of nodes
 * is moved by one of a few moves that edges ask for (a gauge rotation, a shift), and the evidence
 * against it.
 *
 * What decides is the cut between the set and the other nodes: the edges across it that agree now
 * against those that would agree if the set were moved. Where hardly anything decides, because few
 * edges cross a gap, all of them doubtful, nothing tells the one from the other. */
#ifndef PSFM_LABELLING_RUNNER_UP_H
#define PSFM_LABELLING_RUNNER_UP_H

#include "core/posegraph/topology.h"

typedef struct {
    const psfm_topology *graph;
    const bool *agrees;  /* per edge, as things stand */
    double unit;         /* mean value of an edge that agrees */
    double search_ratio; /* the set is sought for which opposing - search_ratio * agreeing is
                            largest: the least decided one, not the smallest */
    double max_ratio;    /* of the evidence for and against its move, if it is decided */
    uint64_t seed;
    int num_moves;
    /* The values of all edges, by which of their ends move: neither, the second, the first, both
     * (see core/labelling/labelling.h). */
    void (*weigh)(const void *data, int move, double (*value)[4]);
    const void *data;
} psfm_runner_up_problem;

/* One runner-up. Weights are sums of values in units of that of an agreeing edge. Owns its arrays.
 */
typedef struct {
    uint32_t *node; /* the nodes that it moves, ascending: the smaller side of the cut */
    uint32_t num_nodes;
    uint32_t *edge; /* edges across the cut that agree as things stand */
    uint32_t num_agreeing;
    uint32_t num_opposing;     /* edges across it that would agree with the set moved */
    double agreeing, opposing; /* value of all edges across it as it is, and with the set moved */
    bool decided;              /* its ratio is not larger than is allowed */
    int move;
    bool back;          /* the set moves by the inverse of the move */
    uint32_t reference; /* a node on the other side of the cut */
} psfm_runner_up;

/* Owns its arrays. */
typedef struct {
    psfm_runner_up *item;
    size_t num, room;
    uint32_t *part; /* per node: number of its part if its component was cut, else UINT32_MAX */
} psfm_runner_ups;

/* For every connected component of the edges that agree the runner-up, if any move changes
 * anything. An undecided one, with a ratio above max_ratio, is cut, and the parts are looked at
 * again, so that all undecided ones are listed, the weakest of a component first; of the parts only
 * undecided ones are. Free `out` in any case. Deterministic. Cost: a labelling per move and part.
 */
psfm_status psfm_runner_ups_find(psfm_context *ctx, const psfm_runner_up_problem *problem,
                                 psfm_runner_ups *out);
void psfm_runner_up_free(psfm_runner_up *item);
void psfm_runner_ups_free(psfm_runner_ups *runner_ups);

/* opposing over agreeing, both half an edge heavier: 1 where nothing decides, towards 0 where
 * everything does. */
double psfm_evidence_ratio(double agreeing, double opposing);

#endif
