/* Growth of rigid bodies.
 *
 * An edge with a direction is rigid: it knows everything but its position and scale. A rigid body
 * stays rigid when it takes in an ear, a path that leaves it at one node and comes back at another,
 * with k nodes of its own, if their 3 k coordinates are fixed by the 2 (k + 1) equations of its
 * k + 1 directions: k = 1 (a triangle on any two nodes of the body) and k = 2 (a quadrangle). Two
 * bodies that share two nodes are one, as the second node fixes the relative scale. Starting from
 * every edge that is in no body yet this takes in nearly all of a graph of photographs; what it
 * leaves over is for the pebble game. Generic positions are assumed. */
#include "core/rigidity/rigid_growth.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define NONE UINT32_MAX

/* Which bodies a node is in: a list per node. */
typedef struct {
    uint32_t body, next; /* next entry of the node, or NONE */
} membership;

typedef struct {
    const psfm_topology *graph;
    psfm_adjacency adjacency;
    psfm_rigid_bodies bodies;
    membership *memberships;
    size_t num_memberships, membership_capacity;
    uint32_t *first_membership; /* per node, or NONE */
    /* Of the body that is growing; valid where the stamp says so. */
    uint32_t stamp;
    uint32_t *inside;  /* per node: stamp if in the body */
    uint32_t *touched; /* per node: stamp if next to it ... */
    uint32_t *attach;  /* ... at this node of the body */
    uint32_t *met;     /* per body: stamp if one node is shared */
    size_t met_capacity;
} growth;

static psfm_rigid_body *current_body(growth *g) {
    return &g->bodies.bodies[g->bodies.num_bodies - 1];
}

/* Puts a node into the growing body. */
static psfm_status take_node(psfm_context *ctx, growth *g, uint32_t node) {
    psfm_rigid_body *body = current_body(g);
    if (g->inside[node] == g->stamp)
        return PSFM_OK;
    psfm_status status =
        PSFM_RESERVE(ctx, &body->nodes, &body->capacity, (size_t)body->num_nodes + 1);
    if (status != PSFM_OK)
        return status;
    g->inside[node] = g->stamp;
    body->nodes[body->num_nodes++] = node;
    return PSFM_OK;
}

static psfm_status swallow_body(psfm_context *ctx, growth *g, psfm_rigid_body *body) {
    psfm_status status = PSFM_OK;
    for (uint32_t k = 0; status == PSFM_OK && k < body->num_nodes; ++k)
        status = take_node(ctx, g, body->nodes[k]);
    free(body->nodes);
    *body = (psfm_rigid_body){0};
    return status;
}

/* Swallows the bodies of which `node` is the second shared one. */
static psfm_status meet_bodies(psfm_context *ctx, growth *g, uint32_t node) {
    psfm_status status = PSFM_OK;
    uint32_t k = g->first_membership[node];
    for (; status == PSFM_OK && k != NONE; k = g->memberships[k].next) {
        uint32_t other = g->memberships[k].body;
        if (g->bodies.bodies[other].nodes == NULL)
            continue;
        if (g->met[other] == g->stamp)
            status = swallow_body(ctx, g, &g->bodies.bodies[other]);
        g->met[other] = g->stamp;
    }
    return status;
}

/* Looks for an ear of two nodes: `node`, attached to the body at `at`, and a neighbour of it that
 * is attached elsewhere. */
static psfm_status close_quadrangle(psfm_context *ctx, growth *g, uint32_t node, uint32_t at) {
    for (size_t k = g->adjacency.begin[node]; k < g->adjacency.begin[node + 1]; ++k) {
        uint32_t other = psfm_topology_other(g->graph, g->adjacency.edge[k], node);
        if (g->inside[other] == g->stamp || g->touched[other] != g->stamp || g->attach[other] == at)
            continue;
        psfm_status status = take_node(ctx, g, node);
        return status == PSFM_OK ? take_node(ctx, g, other) : status;
    }
    return PSFM_OK;
}

/* Follows the edges of a node that has come into the body. */
static psfm_status expand_node(psfm_context *ctx, growth *g, uint32_t node) {
    psfm_status status = meet_bodies(ctx, g, node);
    for (size_t k = g->adjacency.begin[node]; status == PSFM_OK && k < g->adjacency.begin[node + 1];
         ++k) {
        uint32_t other = psfm_topology_other(g->graph, g->adjacency.edge[k], node);
        if (g->inside[other] == g->stamp)
            continue;
        if (g->touched[other] != g->stamp) {
            g->touched[other] = g->stamp;
            g->attach[other] = node;
            status = close_quadrangle(ctx, g, other, node);
        } else if (g->attach[other] != node) {
            status = take_node(ctx, g, other);
        }
    }
    return status;
}

/* Opens a new, empty body. */
static psfm_status open_body(psfm_context *ctx, growth *g) {
    psfm_rigid_bodies *b = &g->bodies;
    psfm_status status = PSFM_RESERVE(ctx, &b->bodies, &b->capacity, (size_t)b->num_bodies + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &g->met, &g->met_capacity, (size_t)b->num_bodies + 1);
    if (status == PSFM_OK) {
        b->bodies[b->num_bodies++] = (psfm_rigid_body){0};
        ++g->stamp;
    }
    return status;
}

/* Enters the finished body at its nodes and edges. */
static psfm_status close_body(psfm_context *ctx, growth *g) {
    const psfm_rigid_body *body = current_body(g);
    psfm_status status = PSFM_RESERVE(ctx, &g->memberships, &g->membership_capacity,
                                      g->num_memberships + body->num_nodes);
    if (status != PSFM_OK)
        return status;
    for (uint32_t i = 0; i < body->num_nodes; ++i) {
        uint32_t node = body->nodes[i];
        g->memberships[g->num_memberships] =
            (membership){g->bodies.num_bodies - 1, g->first_membership[node]};
        g->first_membership[node] = (uint32_t)g->num_memberships++;
        for (size_t k = g->adjacency.begin[node]; k < g->adjacency.begin[node + 1]; ++k) {
            uint32_t e = g->adjacency.edge[k];
            if (g->inside[psfm_topology_other(g->graph, e, node)] == g->stamp)
                g->bodies.edge_body[e] = g->bodies.num_bodies - 1;
        }
    }
    return PSFM_OK;
}

/* Grows the open body from the nodes it has, and closes it. */
static psfm_status grow_body(psfm_context *ctx, growth *g) {
    psfm_status status = PSFM_OK;
    for (uint32_t k = 0; status == PSFM_OK && k < current_body(g)->num_nodes; ++k)
        status = expand_node(ctx, g, current_body(g)->nodes[k]);
    return status == PSFM_OK ? close_body(ctx, g) : status;
}

static psfm_status grow_from_edge(psfm_context *ctx, growth *g, uint32_t edge) {
    psfm_status status = open_body(ctx, g);
    if (status == PSFM_OK)
        status = take_node(ctx, g, g->graph->node1[edge]);
    if (status == PSFM_OK)
        status = take_node(ctx, g, g->graph->node2[edge]);
    return status == PSFM_OK ? grow_body(ctx, g) : status;
}

static bool holds_node(const growth *g, uint32_t body, uint32_t node) {
    uint32_t k = g->first_membership[node];
    while (k != NONE && g->memberships[k].body != body)
        k = g->memberships[k].next;
    return k != NONE;
}

/* Whether one body has all nodes of the open one. */
static bool is_inside_one(growth *g) {
    const psfm_rigid_body *open = current_body(g);
    for (uint32_t k = g->first_membership[open->nodes[0]]; k != NONE; k = g->memberships[k].next) {
        uint32_t body = g->memberships[k].body, num = 0;
        if (g->bodies.bodies[body].nodes == NULL)
            continue;
        while (num < open->num_nodes && holds_node(g, body, open->nodes[num]))
            ++num;
        if (num == open->num_nodes)
            return true;
    }
    return false;
}

/* Takes the open body back. */
static void drop_body(growth *g) {
    free(current_body(g)->nodes);
    *current_body(g) = (psfm_rigid_body){0};
}

/* Grows from the edges of the scale group of `edge` that hang together with it; marks them. What is
 * inside one body tells nothing new, and growing from it would only walk through that body again.
 */
static psfm_status grow_from_group(psfm_context *ctx, growth *g, const uint32_t *scale_group,
                                   uint32_t edge, bool *done) {
    psfm_status status = open_body(ctx, g);
    if (status == PSFM_OK)
        status = take_node(ctx, g, g->graph->node1[edge]);
    for (uint32_t k = 0; status == PSFM_OK && k < current_body(g)->num_nodes; ++k) {
        uint32_t node = current_body(g)->nodes[k];
        for (size_t i = g->adjacency.begin[node];
             status == PSFM_OK && i < g->adjacency.begin[node + 1]; ++i) {
            uint32_t e = g->adjacency.edge[i];
            if (scale_group[e] != scale_group[edge] || done[e])
                continue;
            done[e] = true;
            status = take_node(ctx, g, psfm_topology_other(g->graph, e, node));
        }
    }
    if (status != PSFM_OK || !is_inside_one(g))
        return status == PSFM_OK ? grow_body(ctx, g) : status;
    drop_body(g);
    return PSFM_OK;
}

/* Every connected component of a scale group starts a body, also if its edges are inside several
 * others already: these then become one. */
static psfm_status grow_from_groups(psfm_context *ctx, growth *g, const uint32_t *scale_group) {
    bool *done = NULL;
    psfm_status status = PSFM_ALLOC(ctx, g->graph->num_edges, &done);
    for (uint32_t e = 0; status == PSFM_OK && e < g->graph->num_edges; ++e)
        if (scale_group[e] != NONE && !done[e])
            status = grow_from_group(ctx, g, scale_group, e, done);
    free(done);
    return status;
}

/* A body of one edge that nothing can grow from. */
static psfm_status add_lone_edge(psfm_context *ctx, growth *g, uint32_t edge) {
    const uint32_t ends[2] = {g->graph->node1[edge], g->graph->node2[edge]};
    psfm_status status = open_body(ctx, g);
    if (status == PSFM_OK)
        status =
            PSFM_RESERVE(ctx, &g->memberships, &g->membership_capacity, g->num_memberships + 2);
    for (int k = 0; status == PSFM_OK && k < 2; ++k) {
        g->memberships[g->num_memberships] =
            (membership){g->bodies.num_bodies - 1, g->first_membership[ends[k]]};
        g->first_membership[ends[k]] = (uint32_t)g->num_memberships++;
        status = take_node(ctx, g, ends[k]);
    }
    g->bodies.edge_body[edge] = g->bodies.num_bodies - 1;
    return status;
}

/* Peels off nodes with one edge, again and again. Their edges are bodies of their own; growing
 * from each edge of a star would look at all others. */
static psfm_status peel_leaves(psfm_context *ctx, growth *g) {
    uint32_t n = g->graph->num_nodes, head = 0, tail = 0, *degree = NULL, *queue = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &degree);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &queue);
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v) {
        degree[v] = (uint32_t)(g->adjacency.begin[v + 1] - g->adjacency.begin[v]);
        if (degree[v] == 1)
            queue[tail++] = v;
    }
    while (status == PSFM_OK && head < tail) {
        uint32_t node = queue[head++];
        for (size_t k = g->adjacency.begin[node]; k < g->adjacency.begin[node + 1]; ++k) {
            uint32_t e = g->adjacency.edge[k], other = psfm_topology_other(g->graph, e, node);
            if (g->bodies.edge_body[e] != NONE)
                continue;
            status = add_lone_edge(ctx, g, e);
            if (--degree[other] == 1)
                queue[tail++] = other;
            break;
        }
    }
    free(degree);
    free(queue);
    return status;
}

static psfm_status allocate_growth(psfm_context *ctx, growth *g) {
    uint32_t n = g->graph->num_nodes, m = g->graph->num_edges;
    psfm_status status;
    if ((status = psfm_adjacency_init(ctx, g->graph, NULL, m, &g->adjacency)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, m, &g->bodies.edge_body)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->first_membership)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->inside)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->touched)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->attach)) != PSFM_OK)
        return status;
    memset(g->bodies.edge_body, 0xff, m * sizeof *g->bodies.edge_body);
    memset(g->first_membership, 0xff, n * sizeof *g->first_membership);
    return PSFM_OK;
}

static void release_growth(growth *g) {
    psfm_adjacency_free(&g->adjacency);
    free(g->memberships);
    free(g->first_membership);
    free(g->inside);
    free(g->touched);
    free(g->attach);
    free(g->met);
}

psfm_status psfm_rigid_bodies_grow(psfm_context *ctx, const psfm_topology *graph,
                                   const uint32_t *scale_group, psfm_rigid_bodies *out) {
    growth g = {.graph = graph};
    psfm_status status = allocate_growth(ctx, &g);
    if (status == PSFM_OK && scale_group != NULL)
        status = grow_from_groups(ctx, &g, scale_group);
    if (status == PSFM_OK)
        status = peel_leaves(ctx, &g);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (g.bodies.edge_body[e] == NONE)
            status = grow_from_edge(ctx, &g, e);
    release_growth(&g);
    if (status != PSFM_OK)
        psfm_rigid_bodies_free(&g.bodies);
    *out = g.bodies;
    return status;
}

void psfm_rigid_bodies_free(psfm_rigid_bodies *bodies) {
    for (uint32_t b = 0; b < bodies->num_bodies; ++b)
        free(bodies->bodies[b].nodes);
    free(bodies->bodies);
    free(bodies->edge_body);
    *bodies = (psfm_rigid_bodies){0};
}
