/* The pebble game: which edges of a multigraph are independent when every set of n' nodes may
 * carry at most 3 n' - 4 of them. That is the count of directions between points in space. */
#ifndef PSFM_RIGIDITY_PEBBLE_GAME_H
#define PSFM_RIGIDITY_PEBBLE_GAME_H

#include "core/posegraph/topology.h"

#define PSFM_PEBBLES 3 /* of a node: its degrees of freedom */
#define PSFM_COMMON 4  /* degrees of freedom of any rigid set: translation and scale */

/* Zero-initialise, then psfm_pebbles_init. Owns its arrays. */
typedef struct {
    uint32_t num_nodes;
    uint32_t num_edges;                  /* accepted */
    uint32_t (*out)[PSFM_PEBBLES];       /* heads of the accepted edges that lead out of a node */
    unsigned char *num_out;              /* its free pebbles are PSFM_PEBBLES - num_out */
    uint32_t *queue, *from, *seen, mark; /* of the searches */
    uint32_t *verdict, *listed;          /* of the questions for rigid sets */
    uint32_t num_verdicts;
} psfm_pebbles;

psfm_status psfm_pebbles_init(psfm_context *ctx, uint32_t num_nodes, psfm_pebbles *game);
void psfm_pebbles_free(psfm_pebbles *game);

/* Adds an edge (u != v) if it is independent of those accepted so far; returns whether it is.
 * O(num_nodes) at worst, short searches as a rule. */
bool psfm_pebbles_add(psfm_pebbles *game, uint32_t u, uint32_t v);

/* The largest rigid set of nodes with u and v, given that {u, v} is rigid (both copies of its edge
 * are implied). `graph` has all edges that were offered, `adjacency` all of them. Writes the set to
 * `set` (room for num_nodes), u and v first; returns its size. */
uint32_t psfm_pebbles_rigid_set(psfm_pebbles *game, const psfm_topology *graph,
                                const psfm_adjacency *adjacency, uint32_t u, uint32_t v,
                                uint32_t *set);

#endif
