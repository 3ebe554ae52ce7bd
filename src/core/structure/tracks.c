/* Tracks by union-find over all keypoints of all images.
 *
 * A wrong match joins two tracks, and then one image often holds two of their keypoints. Such a
 * conflicting component is taken apart and built up again, and a match that would put two
 * keypoints of one image together is left aside. Matches come in the order of their evidence: true
 * matches close triangles, wrong ones hardly ever do. So first those with the most keypoints
 * matched to both ends; then those between clusters that have two matches or more between them;
 * then the rest. */
#include "core/structure/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/union_find.h"

#define NONE UINT32_MAX
#define EDGES_PER_TASK 4096
#define MAX_SUPPORT 255 /* more makes no difference */
#define LINK_ROUNDS 3   /* of joining doubly linked clusters: joining makes new double links */

/* A node is a keypoint; nodes of one view are consecutive. */
typedef struct {
    const psfm_match_set *set;
    const bool *use;
    uint32_t num_nodes;
    uint32_t *first_node; /* per view, num_views + 1 */
    uint32_t *view;       /* per node */
    uint32_t *parent;     /* per node: union-find */
    uint32_t *size;       /* per root: nodes under it */
    bool *conflicting;    /* per root */
} forest;

/* A match between two different clusters. */
typedef struct {
    uint64_t clusters; /* their roots, the smaller in the upper half */
    size_t edge;
} cluster_link;

/* Matches of the conflicting components: nodes compressed to 0 .. num_local - 1, in order. */
typedef struct {
    uint32_t num_local;
    uint32_t *local; /* per node: its compressed index, NONE if outside */
    uint32_t *node;  /* per compressed index */
    size_t num_edges;
    uint32_t (*edges)[2];     /* compressed, in the order of the matches */
    size_t *neighbours_begin; /* per compressed index, num_local + 1 */
    uint32_t *neighbours;     /* ascending */
    uint8_t *support;         /* per edge */
    size_t *order;            /* edges by falling support */
    uint32_t *head, *next;    /* per node: members of a cluster as an ascending list */
    cluster_link *links;      /* scratch: matches between clusters */
} conflict_graph;

size_t psfm_match_set_total(const psfm_match_set *set) {
    size_t total = 0;
    for (size_t k = 0; k < set->num_pairs; ++k)
        total += set->pairs[k].num_matches;
    return total;
}

void psfm_tracks_free(psfm_tracks *tracks) {
    free(tracks->begin);
    free(tracks->view);
    free(tracks->keypoint);
    *tracks = (psfm_tracks){0};
}

/* Joins two different roots, the larger on top, and returns the new root. */
static uint32_t join_roots(forest *f, uint32_t a, uint32_t b) {
    if (f->size[a] < f->size[b]) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    f->parent[b] = a;
    f->size[a] += f->size[b];
    return a;
}

static psfm_status alloc_forest(psfm_context *ctx, forest *f) {
    const psfm_match_set *set = f->set;
    size_t total = 0;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views + 1, &f->first_node);
    if (status != PSFM_OK)
        return status;
    for (size_t v = 0; v < set->num_views; ++v) {
        total += set->views[v].num_keypoints;
        if (total >= NONE)
            return psfm_fail(ctx, PSFM_ERR_DATA, "more than %u keypoints in all images", NONE - 1);
        f->first_node[v + 1] = (uint32_t)total;
    }
    f->num_nodes = (uint32_t)total;
    if ((status = PSFM_ALLOC(ctx, total, &f->view)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, total, &f->parent)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, total, &f->size)) != PSFM_OK)
        return status;
    for (uint32_t v = 0; v < set->num_views; ++v)
        for (uint32_t a = f->first_node[v]; a < f->first_node[v + 1]; ++a)
            f->view[a] = v;
    return PSFM_ALLOC(ctx, total, &f->conflicting);
}

static void free_forest(forest *f) {
    free(f->first_node);
    free(f->view);
    free(f->parent);
    free(f->size);
    free(f->conflicting);
}

static psfm_status check_match(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_match_pair *pair, size_t m) {
    for (int side = 0; side < 2; ++side) {
        const psfm_view *view = &set->views[side == 0 ? pair->view1 : pair->view2];
        if (pair->matches[m][side] >= view->num_keypoints)
            return psfm_fail(ctx, PSFM_ERR_DATA, "%s: match with keypoint %u of %zu",
                             view->name == NULL ? "?" : view->name, pair->matches[m][side],
                             view->num_keypoints);
    }
    return PSFM_OK;
}

static psfm_status join_matches(psfm_context *ctx, forest *f, psfm_track_stats *stats) {
    psfm_sets_init(f->parent, f->num_nodes);
    for (uint32_t a = 0; a < f->num_nodes; ++a)
        f->size[a] = 1;
    size_t k = 0;
    for (size_t p = 0; p < f->set->num_pairs; ++p) {
        const psfm_match_pair *pair = &f->set->pairs[p];
        for (size_t m = 0; m < pair->num_matches; ++m, ++k) {
            if (f->use != NULL && !f->use[k])
                continue;
            psfm_status status = check_match(ctx, f->set, pair, m);
            if (status != PSFM_OK)
                return status;
            ++stats->num_matches;
            uint32_t a =
                psfm_sets_find(f->parent, f->first_node[pair->view1] + pair->matches[m][0]);
            uint32_t b =
                psfm_sets_find(f->parent, f->first_node[pair->view2] + pair->matches[m][1]);
            if (a != b)
                join_roots(f, a, b);
        }
    }
    return PSFM_OK;
}

/* Marks the components with two nodes in one view. Nodes come view by view, so the last view seen
 * of each component is enough. */
static psfm_status mark_conflicts(psfm_context *ctx, forest *f, psfm_track_stats *stats) {
    uint32_t *last_view = NULL;
    psfm_status status = PSFM_ALLOC(ctx, f->num_nodes, &last_view);
    if (status != PSFM_OK)
        return status;
    for (uint32_t a = 0; a < f->num_nodes; ++a) {
        uint32_t root = psfm_sets_find(f->parent, a);
        if (last_view[root] == f->view[a] + 1 && !f->conflicting[root]) {
            f->conflicting[root] = true;
            ++stats->num_conflicting;
        }
        last_view[root] = f->view[a] + 1;
        if (root == a && f->size[a] > 1)
            ++stats->num_components;
    }
    free(last_view);
    return PSFM_OK;
}

/* The used matches of the conflicting components; counts them only if edges is NULL. */
static size_t collect_edges(const forest *f, const uint32_t *local, uint32_t (*edges)[2]) {
    size_t k = 0, num = 0;
    for (size_t p = 0; p < f->set->num_pairs; ++p) {
        const psfm_match_pair *pair = &f->set->pairs[p];
        for (size_t m = 0; m < pair->num_matches; ++m, ++k) {
            uint32_t a = f->first_node[pair->view1] + pair->matches[m][0];
            if ((f->use != NULL && !f->use[k]) || local[a] == NONE)
                continue;
            if (edges != NULL) {
                edges[num][0] = local[a];
                edges[num][1] = local[f->first_node[pair->view2] + pair->matches[m][1]];
            }
            ++num;
        }
    }
    return num;
}

/* Adjacency lists by counting. Edges come by (view1, view2), so each list is filled in ascending
 * order except that a node may get smaller neighbours after larger ones: an insertion from the
 * back keeps it sorted and is nearly free. */
static void fill_neighbours(conflict_graph *g) {
    for (size_t e = 0; e < g->num_edges; ++e)
        for (int side = 0; side < 2; ++side)
            ++g->neighbours_begin[g->edges[e][side] + 1];
    for (uint32_t v = 0; v < g->num_local; ++v)
        g->neighbours_begin[v + 1] += g->neighbours_begin[v];
    for (size_t e = 0; e < g->num_edges; ++e) {
        for (int side = 0; side < 2; ++side) {
            uint32_t v = g->edges[e][side], other = g->edges[e][1 - side];
            size_t first = g->neighbours_begin[v], k = first + g->head[v]++;
            for (; k > first && g->neighbours[k - 1] > other; --k)
                g->neighbours[k] = g->neighbours[k - 1];
            g->neighbours[k] = other;
        }
    }
}

static psfm_status count_support(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    conflict_graph *g = user;
    size_t first = index * EDGES_PER_TASK;
    size_t last = first + EDGES_PER_TASK < g->num_edges ? first + EDGES_PER_TASK : g->num_edges;
    for (size_t e = first; e < last; ++e) {
        size_t i = g->neighbours_begin[g->edges[e][0]], j = g->neighbours_begin[g->edges[e][1]];
        size_t i_end = g->neighbours_begin[g->edges[e][0] + 1];
        size_t j_end = g->neighbours_begin[g->edges[e][1] + 1];
        int common = 0;
        while (i < i_end && j < j_end && common < MAX_SUPPORT) {
            uint32_t a = g->neighbours[i], b = g->neighbours[j];
            common += a == b;
            i += a <= b;
            j += b <= a;
        }
        g->support[e] = (uint8_t)common;
    }
    return PSFM_OK;
}

/* Stable counting sort of the edges by falling support. */
static void order_edges(conflict_graph *g) {
    size_t place[MAX_SUPPORT + 2] = {0};
    for (size_t e = 0; e < g->num_edges; ++e)
        ++place[MAX_SUPPORT - g->support[e] + 1];
    for (int s = 0; s <= MAX_SUPPORT; ++s)
        place[s + 1] += place[s];
    for (size_t e = 0; e < g->num_edges; ++e)
        g->order[place[MAX_SUPPORT - g->support[e]]++] = e;
}

/* Whether two clusters (ascending lists of nodes) hold a common view. */
static bool share_view(const forest *f, const conflict_graph *g, uint32_t a, uint32_t b) {
    while (a != NONE && b != NONE) {
        uint32_t view_a = f->view[g->node[a]], view_b = f->view[g->node[b]];
        if (view_a == view_b)
            return true;
        if (view_a < view_b)
            a = g->next[a];
        else
            b = g->next[b];
    }
    return false;
}

static uint32_t merge_lists(conflict_graph *g, uint32_t a, uint32_t b) {
    uint32_t head = NONE, *tail = &head;
    while (a != NONE && b != NONE) {
        uint32_t *smaller = a < b ? &a : &b;
        *tail = *smaller;
        tail = &g->next[*smaller];
        *smaller = *tail;
    }
    *tail = a != NONE ? a : b;
    return head;
}

/* Joins the clusters at the ends of a match unless they share a view. */
static void join_clusters(forest *f, conflict_graph *g, size_t edge, psfm_track_stats *stats) {
    uint32_t a = psfm_sets_find(f->parent, g->node[g->edges[edge][0]]);
    uint32_t b = psfm_sets_find(f->parent, g->node[g->edges[edge][1]]);
    if (a == b)
        return;
    uint32_t list_a = g->head[g->local[a]], list_b = g->head[g->local[b]];
    if (share_view(f, g, list_a, list_b)) {
        ++stats->num_cut;
        return;
    }
    uint32_t root = join_roots(f, a, b);
    g->head[g->local[root]] = merge_lists(g, list_a, list_b);
}

static int compare_links(const void *x, const void *y) {
    const cluster_link *a = x, *b = y;
    if (a->clusters != b->clusters)
        return a->clusters < b->clusters ? -1 : 1;
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

/* Joins clusters with two matches or more between them, among the matches order[first ..]. */
static void join_doubly_linked(forest *f, conflict_graph *g, size_t first,
                               psfm_track_stats *stats) {
    size_t num = 0;
    for (size_t k = first; k < g->num_edges; ++k) {
        size_t edge = g->order[k];
        uint64_t a = psfm_sets_find(f->parent, g->node[g->edges[edge][0]]);
        uint64_t b = psfm_sets_find(f->parent, g->node[g->edges[edge][1]]);
        if (a != b)
            g->links[num++] = (cluster_link){a < b ? a << 32 | b : b << 32 | a, edge};
    }
    qsort(g->links, num, sizeof *g->links, compare_links);
    for (size_t k = 1; k < num; ++k)
        if (g->links[k].clusters == g->links[k - 1].clusters)
            join_clusters(f, g, g->links[k].edge, stats);
}

/* Takes the conflicting components apart and joins them again, best evidence first. */
static void rejoin_clusters(forest *f, conflict_graph *g, psfm_track_stats *stats) {
    for (uint32_t v = 0; v < g->num_local; ++v) {
        f->parent[g->node[v]] = g->node[v];
        f->size[g->node[v]] = 1;
        g->head[v] = v;
        g->next[v] = NONE;
    }
    size_t k = 0;
    for (; k < g->num_edges && g->support[g->order[k]] > 0; ++k)
        join_clusters(f, g, g->order[k], stats);
    for (int round = 0; round < LINK_ROUNDS; ++round)
        join_doubly_linked(f, g, k, stats);
    for (; k < g->num_edges; ++k)
        join_clusters(f, g, g->order[k], stats);
}

static psfm_status alloc_conflict_graph(psfm_context *ctx, forest *f, conflict_graph *g) {
    psfm_status status = PSFM_ALLOC(ctx, f->num_nodes, &g->local);
    if (status != PSFM_OK)
        return status;
    for (uint32_t a = 0; a < f->num_nodes; ++a)
        g->local[a] = f->conflicting[psfm_sets_find(f->parent, a)] ? g->num_local++ : NONE;
    size_t n = g->num_local;
    g->num_edges = collect_edges(f, g->local, NULL);
    if ((status = PSFM_ALLOC(ctx, n, &g->node)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->head)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g->next)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n + 1, &g->neighbours_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, g->num_edges, &g->edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, 2 * g->num_edges, &g->neighbours)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, g->num_edges, &g->support)) != PSFM_OK)
        return status;
    for (uint32_t a = 0; a < f->num_nodes; ++a)
        if (g->local[a] != NONE)
            g->node[g->local[a]] = a;
    if ((status = PSFM_ALLOC(ctx, g->num_edges, &g->links)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, g->num_edges, &g->order);
}

static void free_conflict_graph(conflict_graph *g) {
    free(g->local);
    free(g->node);
    free(g->edges);
    free(g->neighbours_begin);
    free(g->neighbours);
    free(g->support);
    free(g->order);
    free(g->head);
    free(g->next);
    free(g->links);
}

static psfm_status split_conflicts(psfm_context *ctx, forest *f, psfm_track_stats *stats) {
    conflict_graph g = {0};
    psfm_status status = alloc_conflict_graph(ctx, f, &g);
    if (status != PSFM_OK)
        goto cleanup;
    collect_edges(f, g.local, g.edges);
    fill_neighbours(&g);
    size_t num_tasks = (g.num_edges + EDGES_PER_TASK - 1) / EDGES_PER_TASK;
    if ((status = psfm_parallel_for(ctx, NULL, num_tasks, count_support, &g)) != PSFM_OK)
        goto cleanup;
    order_edges(&g);
    rejoin_clusters(f, &g, stats);
    memset(f->conflicting, 0, f->num_nodes * sizeof *f->conflicting);

cleanup:
    free_conflict_graph(&g);
    return status;
}

/* Numbers the components that become tracks by their first node, then deals out the nodes. */
static psfm_status emit_tracks(psfm_context *ctx, forest *f, psfm_tracks *out,
                               psfm_track_stats *stats) {
    uint32_t *track_of = NULL;
    psfm_status status = PSFM_ALLOC(ctx, f->num_nodes, &track_of);
    if (status != PSFM_OK)
        return status;
    memset(track_of, 0xff, f->num_nodes * sizeof *track_of);
    size_t num_tracks = 0, num_elements = 0;
    for (uint32_t a = 0; a < f->num_nodes; ++a) {
        uint32_t root = psfm_sets_find(f->parent, a);
        if (f->size[root] < 2 || f->conflicting[root] || track_of[root] != NONE)
            continue;
        track_of[root] = (uint32_t)num_tracks++;
        num_elements += f->size[root];
        stats->longest = f->size[root] > stats->longest ? f->size[root] : stats->longest;
    }
    stats->num_elements = num_elements;
    if ((status = PSFM_ALLOC(ctx, num_tracks + 2, &out->begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_elements, &out->view)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_elements, &out->keypoint)) != PSFM_OK)
        goto cleanup;
    out->num_tracks = num_tracks;
    size_t *place = out->begin + 1; /* begins one early: after dealing it has moved into place */
    for (uint32_t a = 0; a < f->num_nodes; ++a)
        if (track_of[psfm_sets_find(f->parent, a)] != NONE)
            ++place[track_of[f->parent[a]] + 1];
    for (size_t t = 0; t < num_tracks; ++t)
        place[t + 1] += place[t];
    for (uint32_t a = 0; a < f->num_nodes; ++a) {
        uint32_t t = track_of[psfm_sets_find(f->parent, a)];
        if (t == NONE)
            continue;
        out->view[place[t]] = f->view[a];
        out->keypoint[place[t]++] = a - f->first_node[f->view[a]];
    }

cleanup:
    free(track_of);
    return status;
}

psfm_status psfm_tracks_build(psfm_context *ctx, const psfm_match_set *set, const bool *use,
                              psfm_tracks *tracks, psfm_track_stats *stats) {
    psfm_track_stats counted = {0};
    forest f = {.set = set, .use = use};
    *tracks = (psfm_tracks){0};
    psfm_status status;
    if ((status = alloc_forest(ctx, &f)) != PSFM_OK ||
        (status = join_matches(ctx, &f, &counted)) != PSFM_OK ||
        (status = mark_conflicts(ctx, &f, &counted)) != PSFM_OK)
        goto cleanup;
    if (counted.num_conflicting > 0)
        status = split_conflicts(ctx, &f, &counted);
    if (status == PSFM_OK)
        status = emit_tracks(ctx, &f, tracks, &counted);
    if (status == PSFM_OK && stats != NULL)
        *stats = counted;

cleanup:
    free_forest(&f);
    if (status != PSFM_OK)
        psfm_tracks_free(tracks);
    return status;
}
