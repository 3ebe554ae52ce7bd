/* Absolute rotations by propagation through a tree: R_2 = R_21 R_1, breadth first, as in the
 * Planar-SfM paper (docs/paper.md). O(V + E). */
#include "core/rotations/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"

/* Rotation of the far end of an edge from that of `node`. The way over a quaternion takes the
 * rounding errors of a long product off the orthogonality. */
static void step_along(const psfm_topology *graph, const psfm_relative_pose *poses, uint32_t edge,
                       uint32_t node, double (*cam_from_world)[9]) {
    double R[9], q[4];
    if (graph->node1[edge] == node)
        psfm_mat3_mul(poses[edge].R_21, cam_from_world[node], R);
    else
        psfm_mat3_t_mul(poses[edge].R_21, cam_from_world[node], R);
    psfm_rotation_to_quat(R, q);
    psfm_rotation_from_quat(q, cam_from_world[psfm_topology_other(graph, edge, node)]);
}

psfm_status psfm_rotations_propagate(psfm_context *ctx, const psfm_topology *topology,
                                     const psfm_relative_pose *poses,
                                     const psfm_spanning_tree *tree, uint32_t root,
                                     double (*cam_from_world)[9], bool *reached) {
    uint32_t n = topology->num_nodes;
    psfm_adjacency adjacency = {0};
    uint32_t *queue = NULL;
    if (root >= n)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "root %u of only %u cameras", root, n);
    for (uint32_t k = 0; k < tree->num_edges; ++k)
        if (tree->edges[k] >= topology->num_edges)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "tree edge %u of only %u edges",
                             tree->edges[k], topology->num_edges);
    psfm_status status = psfm_topology_check(ctx, topology);
    if (status == PSFM_OK)
        status = psfm_adjacency_init(ctx, topology, tree->edges, tree->num_edges, &adjacency);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &queue);
    if (status != PSFM_OK)
        goto cleanup;
    memset(reached, 0, n * sizeof *reached);
    uint32_t head = 0, tail = 0;
    psfm_mat3_identity(cam_from_world[root]);
    reached[root] = true;
    queue[tail++] = root;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (size_t k = adjacency.begin[node]; k < adjacency.begin[node + 1]; ++k) {
            uint32_t other = psfm_topology_other(topology, adjacency.edge[k], node);
            if (reached[other])
                continue;
            step_along(topology, poses, adjacency.edge[k], node, cam_from_world);
            reached[other] = true;
            queue[tail++] = other;
        }
    }

cleanup:
    psfm_adjacency_free(&adjacency);
    free(queue);
    return status;
}
