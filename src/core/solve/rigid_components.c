/* Which images have a known position relative to each other.
 *
 * With rotations known, every observation is a direction between a camera and a point, and every
 * accepted edge one between two cameras. What these directions fix is a question of parallel
 * rigidity (core/rigidity/rigidity.h) of the graph of cameras and points. A plane adds lengths: the
 * baselines of edges that see one physical plane are all known in units of its distance, so that
 * such edges, and planes that share an edge, form one scale group. So is that of a rotation, which
 * is next to nothing; a rotation that shows no plane of a known distance says nothing here.
 * Whatever is not rigid against the rest could be scaled freely without changing a single residual;
 * it becomes a model of its own. */
#include "core/solve/rigid_components.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/rigidity/rigidity.h"

#define NONE UINT32_MAX

/* Cameras are nodes [0, num_nodes of the pose graph), points follow. */
typedef struct {
    uint32_t num_nodes, num_edges;
    uint32_t *node1, *node2, *scale_group;
} direction_graph;

static void free_directions(direction_graph *d) {
    free(d->node1);
    free(d->node2);
    free(d->scale_group);
}

static void add_direction(direction_graph *d, uint32_t node1, uint32_t node2, uint32_t group) {
    d->node1[d->num_edges] = node1;
    d->node2[d->num_edges] = node2;
    d->scale_group[d->num_edges++] = group;
}

/* parent (num_groups): planes that share an accepted edge share its baseline, hence one scale. */
static psfm_status unite_planes(psfm_context *ctx, const psfm_pose_graph *graph,
                                const psfm_robust_edges *edges, uint32_t **parent) {
    const psfm_plane_groups *groups = &edges->groups;
    psfm_status status = PSFM_ALLOC(ctx, groups->num_groups, parent);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(*parent, groups->num_groups);
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        uint32_t first = NONE;
        for (uint32_t p = graph->edges[e].plane_begin; p < graph->edges[e].plane_end; ++p) {
            if (!edges->accepted[e] || groups->group[p] == NONE)
                continue;
            if (first != NONE)
                psfm_sets_unite(*parent, first, groups->group[p]);
            first = groups->group[p];
        }
    }
    return PSFM_OK;
}

static uint32_t scale_of_edge(const psfm_edge *edge, const psfm_plane_groups *groups,
                              uint32_t *parent) {
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        if (groups->group[p] != NONE)
            return psfm_sets_find(parent, groups->group[p]);
    return NONE;
}

static psfm_status make_directions(psfm_context *ctx, const psfm_pose_graph *graph,
                                   const psfm_robust_edges *edges, const psfm_structure *structure,
                                   const psfm_pose_solution *s, direction_graph *d) {
    uint32_t *parent = NULL;
    size_t num_points = structure->num_points;
    size_t num_observations = num_points == 0 ? 0 : structure->tracks.begin[num_points];
    size_t room = graph->num_edges + num_observations;
    psfm_status status;
    if (num_points + graph->num_nodes >= UINT32_MAX || room >= UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many observations: %zu", num_observations);
    d->num_nodes = graph->num_nodes + (uint32_t)num_points;
    if ((status = PSFM_ALLOC(ctx, room, &d->node1)) ||
        (status = PSFM_ALLOC(ctx, room, &d->node2)) ||
        (status = PSFM_ALLOC(ctx, room, &d->scale_group)) ||
        (status = unite_planes(ctx, graph, edges, &parent)))
        goto cleanup;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        uint32_t scale = scale_of_edge(edge, &edges->groups, parent);
        if (edges->accepted[e] && psfm_share_world(&s->poses, edge->node1, edge->node2) &&
            !(edge->is_rotation && scale == NONE))
            add_direction(d, edge->node1, edge->node2, scale);
    }
    for (size_t p = 0; p < num_points; ++p)
        for (size_t k = structure->tracks.begin[p]; k < structure->tracks.begin[p + 1]; ++k)
            if (s->poses.component[structure->tracks.view[k]] != NONE)
                add_direction(d, structure->tracks.view[k], graph->num_nodes + (uint32_t)p, NONE);

cleanup:
    free(parent);
    return status;
}

typedef struct {
    uint32_t num_cameras, rigid;
} ranked_component;

static int by_cameras(const void *a, const void *b) {
    const ranked_component *p = a, *q = b;
    if (p->num_cameras != q->num_cameras)
        return p->num_cameras > q->num_cameras ? -1 : 1;
    return p->rigid < q->rigid ? -1 : p->rigid > q->rigid;
}

/* The cameras of rigid component c that no other has yet; takes them if `take`. */
static uint32_t free_cameras(const psfm_rigidity *rigidity, uint32_t c, uint32_t num_cameras,
                             bool take, uint32_t *rigid) {
    uint32_t num = 0;
    for (size_t k = rigidity->node_begin[c]; k < rigidity->node_begin[c + 1]; ++k) {
        uint32_t v = rigidity->nodes[k];
        if (v >= num_cameras || rigid[v] != NONE)
            continue;
        ++num;
        if (take)
            rigid[v] = c;
    }
    return num;
}

/* Assigns the cameras to the rigid components, the largest first, to none that would get only one.
 * rigid[v] is NONE for the remaining ones. */
static psfm_status assign_cameras(psfm_context *ctx, const psfm_rigidity *rigidity,
                                  uint32_t num_cameras, uint32_t *rigid) {
    ranked_component *order = NULL;
    uint32_t n = rigidity->num_components;
    psfm_status status = PSFM_ALLOC(ctx, n, &order);
    if (status != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < num_cameras; ++v)
        rigid[v] = NONE;
    for (uint32_t c = 0; c < n; ++c)
        order[c] = (ranked_component){free_cameras(rigidity, c, num_cameras, false, rigid), c};
    qsort(order, n, sizeof *order, by_cameras);
    for (uint32_t k = 0; k < n; ++k)
        if (free_cameras(rigidity, order[k].rigid, num_cameras, false, rigid) >= 2)
            free_cameras(rigidity, order[k].rigid, num_cameras, true, rigid);
    free(order);
    return PSFM_OK;
}

/* Makes every rigid component a component of the solution: that of the first image keeps the old
 * number. `label` has room for one entry per rigid component. */
static psfm_status relabel_components(psfm_context *ctx, psfm_pose_solution *s,
                                      const uint32_t *rigid, uint32_t *label, uint32_t num_rigid) {
    uint32_t num = s->num_components, first_new = num;
    psfm_component_facts *facts = NULL;
    bool *taken = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &taken);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num + num_rigid, &facts);
    if (status != PSFM_OK) {
        free(taken);
        return status;
    }
    memcpy(facts, s->components, num * sizeof *facts);
    for (uint32_t k = 0; k < num_rigid; ++k)
        label[k] = NONE;
    for (uint32_t v = 0; v < s->num_nodes; ++v) {
        uint32_t old = s->poses.component[v];
        s->poses.component[v] = NONE;
        if (old == NONE || rigid[v] == NONE)
            continue;
        if (label[rigid[v]] == NONE && taken[old]) {
            facts[num].is_split = facts[old].is_split = true;
            label[rigid[v]] = num++;
        } else if (label[rigid[v]] == NONE) {
            label[rigid[v]] = old;
            taken[old] = true;
        }
        s->poses.component[v] = label[rigid[v]];
    }
    free(taken);
    free(s->components);
    s->components = facts;
    s->num_components = num;
    if (num > first_new)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "nothing determines the relative scale of %u rigid components: they become models "
                 "of their "
                 "own",
                 num - first_new + 1);
    return PSFM_OK;
}

psfm_status psfm_split_undetermined(psfm_context *ctx, const psfm_pose_graph *graph,
                                    const psfm_robust_edges *edges, const psfm_structure *structure,
                                    psfm_pose_solution *s, bool *alone) {
    direction_graph d = {0};
    psfm_rigidity rigidity = {0};
    uint32_t *rigid = NULL, *label = NULL;
    psfm_status status = make_directions(ctx, graph, edges, structure, s, &d);
    psfm_topology topology = {d.num_nodes, d.num_edges, d.node1, d.node2};
    if (status != PSFM_OK ||
        (status = psfm_rigidity_analyse(ctx, &topology, d.scale_group, &rigidity)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &rigid)) ||
        (status = PSFM_ALLOC(ctx, rigidity.num_components, &label)) ||
        (status = assign_cameras(ctx, &rigidity, graph->num_nodes, rigid)))
        goto cleanup;
    for (uint32_t v = 0; v < s->num_nodes; ++v)
        alone[v] = s->poses.component[v] != NONE; /* has a pose now, may lose it */
    if ((status = relabel_components(ctx, s, rigid, label, rigidity.num_components)) != PSFM_OK)
        goto cleanup;
    status = psfm_pose_solution_compact(ctx, s);
    for (uint32_t v = 0; status == PSFM_OK && v < s->num_nodes; ++v)
        alone[v] = alone[v] && s->poses.component[v] == NONE;

cleanup:
    psfm_rigidity_free(&rigidity);
    free_directions(&d);
    free(rigid);
    free(label);
    return status;
}

psfm_status psfm_count_undetermined(psfm_context *ctx, const psfm_pose_graph *graph,
                                    const bool *keep, psfm_pose_solution *s) {
    psfm_status status = PSFM_OK;
    for (uint32_t c = 0; status == PSFM_OK && c < s->num_components; ++c) {
        psfm_subgraph sub = {0};
        psfm_rigidity rigidity = {0};
        status = psfm_subgraph_extract(ctx, graph, s->poses.component, c, keep, &sub);
        psfm_topology topology = {sub.num_nodes, sub.num_edges, sub.node1, sub.node2};
        if (status == PSFM_OK)
            status = psfm_rigidity_analyse(ctx, &topology, NULL, &rigidity);
        if (status == PSFM_OK)
            s->components[c].num_free = rigidity.num_free;
        psfm_rigidity_free(&rigidity);
        psfm_subgraph_free(&sub);
    }
    return status;
}
