/* What binds a graph together that flips cannot gain against, shown by paths.
 *
 * An edge asks for a flip of one of its ends if that would gain, and binds its ends if it would
 * lose. A set that flips gains at most what the asking edges between it and the rest gain, and
 * loses what the binding ones there lose. Say an asking edge is answered by paths of binding edges
 * from one of its ends to the other, which carry as much as it would gain, no binding edge more
 * than it would lose in all: then a set that cuts the asking edge cuts each of its paths, and loses
 * as much. If all are answered, nothing gains (the easy half of the theorem on flows and cuts).
 *
 * If some are not, a set still gains no more than W, what they ask for beyond their answers, and
 * loses what the paths have left of the binding edges that it cuts. So a set that gains cuts no
 * edge that has W or more left: its ends flip together or not at all.
 *
 * Where few edges ask, here and there in a graph that is bound well, short paths are enough. They
 * are taken greedily, shortest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/labelling/labelling_exact.h"

enum { MOST_VISITED = 512 }; /* nodes seen in the search for one path */

typedef struct {
    const psfm_flip_problem *problem;
    double *left;    /* per edge: what it binds by and no path uses */
    uint32_t *reach; /* per node: the edge by which the search came to it ... */
    uint32_t *seen;  /* ... in which search */
    uint32_t search;
    uint32_t queue[MOST_VISITED];
    double tolerance;
} paths;

static double gain_of_one(const double value[4]) {
    return fmax(value[1], value[2]) - value[0];
}

/* Breadth first along what is left, from `from` to `to`. */
static bool find_path(paths *p, uint32_t from, uint32_t to) {
    const psfm_topology *graph = p->problem->graph;
    const psfm_adjacency *adjacency = p->problem->adjacency;
    uint32_t num = 1;
    p->queue[0] = from;
    p->seen[from] = ++p->search;
    for (uint32_t next = 0; next < num; ++next) {
        uint32_t v = p->queue[next];
        for (size_t k = adjacency->begin[v]; k < adjacency->begin[v + 1]; ++k) {
            uint32_t e = adjacency->edge[k], u = psfm_topology_other(graph, e, v);
            if (p->seen[u] == p->search || !(p->left[e] > p->tolerance))
                continue;
            p->seen[u] = p->search;
            p->reach[u] = e;
            if (u == to)
                return true;
            if (num < MOST_VISITED)
                p->queue[num++] = u;
        }
    }
    return false;
}

/* What the path found carries of `wanted`, which is taken from what is left on it. */
static double use_path(paths *p, uint32_t from, uint32_t to, double wanted) {
    const psfm_topology *graph = p->problem->graph;
    for (uint32_t v = to; v != from; v = psfm_topology_other(graph, p->reach[v], v))
        wanted = fmin(wanted, p->left[p->reach[v]]);
    for (uint32_t v = to; v != from; v = psfm_topology_other(graph, p->reach[v], v))
        p->left[p->reach[v]] -= wanted;
    return wanted;
}

/* What edge e asks for beyond what paths answer. */
static double ask_paths(paths *p, uint32_t e) {
    uint32_t from = p->problem->graph->node1[e], to = p->problem->graph->node2[e];
    double wanted = gain_of_one(p->problem->value[e]);
    while (wanted > p->tolerance && find_path(p, from, to))
        wanted -= use_path(p, from, to, wanted);
    return wanted > p->tolerance ? wanted : 0.0;
}

/* What may be gained other than by cuts: by single nodes, and by edges both ends of which flip. */
static double gain_without_cuts(const psfm_flip_problem *problem) {
    double sum = 0.0;
    for (uint32_t v = 0; v < problem->graph->num_nodes; ++v)
        sum += fmax(problem->own[v], 0.0);
    for (uint32_t e = 0; e < problem->graph->num_edges; ++e)
        sum += fmax(problem->value[e][3] - problem->value[e][0], 0.0);
    return sum;
}

psfm_status psfm_flips_bound(psfm_context *ctx, const psfm_flip_problem *problem, double *left,
                             double *most) {
    uint32_t m = problem->graph->num_edges, n = problem->graph->num_nodes;
    paths p = {.problem = problem, .left = left};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &p.reach)) || (status = PSFM_ALLOC(ctx, n, &p.seen)))
        goto cleanup;
    for (uint32_t e = 0; e < m; ++e) {
        left[e] = fmax(0.0, -gain_of_one(problem->value[e]));
        p.tolerance = fmax(p.tolerance, 1e-12 * left[e]);
    }
    *most = gain_without_cuts(problem);
    for (uint32_t e = 0; e < m; ++e)
        *most += ask_paths(&p, e);

cleanup:
    free(p.reach);
    free(p.seen);
    return status;
}
