/* The (3, 4) pebble game.
 *
 * A multigraph is (k, l)-sparse if every n' nodes span at most k n' - l edges; for l < 2k these
 * graphs are the independent sets of a matroid, and the pebble game decides independence: each node
 * has k pebbles, an accepted edge is covered by a pebble of one of its ends and directed away from
 * it, and pebbles move against a directed path by reversing it. An edge is independent exactly if
 * l + 1 free pebbles can be gathered on its two ends. The game is Lee and Streinu's ("Pebble Game
 * Algorithms and Sparse Graphs", 2008). */
#include "core/rigidity/pebble_game.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define NOWHERE UINT32_MAX

psfm_status psfm_pebbles_init(psfm_context *ctx, uint32_t num_nodes, psfm_pebbles *game) {
    psfm_pebbles g = {.num_nodes = num_nodes};
    psfm_status status = PSFM_ALLOC(ctx, num_nodes, &g.out);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.num_out);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.queue);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.from);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.seen);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.verdict);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_nodes, &g.listed);
    if (status != PSFM_OK)
        psfm_pebbles_free(&g);
    *game = g;
    return status;
}

void psfm_pebbles_free(psfm_pebbles *game) {
    free(game->out);
    free(game->num_out);
    free(game->queue);
    free(game->from);
    free(game->seen);
    free(game->verdict);
    free(game->listed);
    *game = (psfm_pebbles){0};
}

static int num_free(const psfm_pebbles *g, uint32_t v) {
    return PSFM_PEBBLES - g->num_out[v];
}

static void cover_edge(psfm_pebbles *g, uint32_t tail, uint32_t head) {
    g->out[tail][g->num_out[tail]++] = head;
}

static void uncover_edge(psfm_pebbles *g, uint32_t tail, uint32_t head) {
    unsigned char k = 0;
    while (g->out[tail][k] != head)
        ++k;
    g->out[tail][k] = g->out[tail][--g->num_out[tail]];
}

/* A fresh mark for `seen`. */
static void new_search(psfm_pebbles *g) {
    if (++g->mark == 0) {
        memset(g->seen, 0, g->num_nodes * sizeof *g->seen);
        g->mark = 1;
    }
}

/* Breadth-first search along the directed edges from u for a node with a free pebble other than u
 * and v; NOWHERE if there is none. from[] leads back. */
static uint32_t find_free(psfm_pebbles *g, uint32_t u, uint32_t v) {
    uint32_t head = 0, tail = 0;
    new_search(g);
    g->seen[u] = g->mark;
    g->queue[tail++] = u;
    while (head < tail) {
        uint32_t node = g->queue[head++];
        if (node != u && node != v && num_free(g, node) > 0)
            return node;
        for (int k = 0; k < g->num_out[node]; ++k) {
            uint32_t next = g->out[node][k];
            if (g->seen[next] == g->mark)
                continue;
            g->seen[next] = g->mark;
            g->from[next] = node;
            g->queue[tail++] = next;
        }
    }
    return NOWHERE;
}

/* Brings a free pebble to u without taking it from v. */
static bool fetch_pebble(psfm_pebbles *g, uint32_t u, uint32_t v) {
    uint32_t node = find_free(g, u, v);
    if (node == NOWHERE)
        return false;
    while (node != u) {
        uint32_t before = g->from[node];
        cover_edge(g, node, before);
        uncover_edge(g, before, node);
        node = before;
    }
    return true;
}

static bool gather_pebbles(psfm_pebbles *g, uint32_t u, uint32_t v, int wanted) {
    while (num_free(g, u) + num_free(g, v) < wanted) {
        bool more = num_free(g, u) < PSFM_PEBBLES && fetch_pebble(g, u, v);
        if (!more && num_free(g, v) < PSFM_PEBBLES)
            more = fetch_pebble(g, v, u);
        if (!more)
            return false;
    }
    return true;
}

bool psfm_pebbles_add(psfm_pebbles *game, uint32_t u, uint32_t v) {
    if (!gather_pebbles(game, u, v, PSFM_COMMON + 1))
        return false;
    if (num_free(game, u) > 0)
        cover_edge(game, u, v);
    else
        cover_edge(game, v, u);
    ++game->num_edges;
    return true;
}

/* Verdicts of one question; their values are new to each, so that none has to be cleared. */
typedef struct {
    psfm_pebbles *game;
    uint32_t inside, outside; /* values of verdict[] */
} question;

/* Whether node w, not known to be inside, can reach a free pebble outside. Finds the verdict of
 * w, and of all nodes that follow from it. */
static bool is_outside(question *q, uint32_t w) {
    psfm_pebbles *g = q->game;
    uint32_t head = 0, tail = 0, found = NOWHERE;
    new_search(g);
    g->seen[w] = g->mark;
    g->from[w] = w;
    g->queue[tail++] = w;
    while (head < tail && found == NOWHERE) {
        uint32_t node = g->queue[head++];
        if (num_free(g, node) > 0 || g->verdict[node] == q->outside) {
            found = node;
            break;
        }
        for (int k = 0; k < g->num_out[node]; ++k) {
            uint32_t next = g->out[node][k];
            if (g->seen[next] == g->mark || g->verdict[next] == q->inside)
                continue;
            g->seen[next] = g->mark;
            g->from[next] = node;
            g->queue[tail++] = next;
        }
    }
    if (found == NOWHERE) {
        for (uint32_t k = 0; k < tail; ++k)
            g->verdict[g->queue[k]] = q->inside;
        return false;
    }
    for (; g->from[found] != found; found = g->from[found])
        g->verdict[found] = q->outside;
    g->verdict[w] = q->outside;
    return true;
}

/* With four pebbles on u and v, the nodes that can reach no other free pebble form a set closed
 * under directed edges, which has 3 n' - 4 of them: it is rigid, and every rigid set with u and v
 * is part of it. Being rigid it is connected, so it is found from u and v outwards. */
uint32_t psfm_pebbles_rigid_set(psfm_pebbles *game, const psfm_topology *graph,
                                const psfm_adjacency *adjacency, uint32_t u, uint32_t v,
                                uint32_t *set) {
    (void)gather_pebbles(game, u, v, PSFM_COMMON);
    question q = {game, game->num_verdicts + 1, game->num_verdicts + 2};
    game->num_verdicts += 2;
    uint32_t size = 0;
    set[size++] = u;
    set[size++] = v;
    game->verdict[u] = game->verdict[v] = q.inside;
    game->listed[u] = game->listed[v] = q.inside;
    for (uint32_t head = 0; head < size; ++head) {
        uint32_t node = set[head];
        for (size_t k = adjacency->begin[node]; k < adjacency->begin[node + 1]; ++k) {
            uint32_t w = psfm_topology_other(graph, adjacency->edge[k], node);
            if (game->listed[w] == q.inside || game->verdict[w] == q.outside)
                continue;
            if (game->verdict[w] != q.inside && is_outside(&q, w))
                continue;
            game->listed[w] = q.inside;
            set[size++] = w;
        }
    }
    return size;
}
