/* Merging the fragments of a track.
 *
 * One wrong match among thousands chains two points into a track that no single point explains, and
 * what triangulation keeps of it are fragments: the larger part here, some single observations
 * there. A point that forty cameras see ends as four or five points of eight to ten, and the
 * constraints between far cameras, which hold a ring or a strip straight, are lost. Once poses are
 * good to a few pixels the fragments can be recognised: a match joins them, and one point explains
 * the observations of both.
 *
 * A fragment carries the normal equations of the point nearest to its rays,
 *   sum w (I - d d^T) X = sum w (I - d d^T) c,   w = (focal / distance)^2,
 * so that the point of two fragments together is one 3 x 3 solve. */
#include "core/structure/track_merging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/mat3.h"

#define NONE UINT32_MAX
#define MIN_AGREEING                                                                        \
    0.8          /* share of either fragment's observations that the common point must have \
                  */
#define PASSES 2 /* over the matches: what joined in the first may lead on in the second */

typedef struct {
    double A[9], b[3]; /* normal equations */
    double X[3];
    uint32_t first, last; /* list of nodes */
    uint32_t num;
} fragment;

/* A node is a keypoint; nodes of one view are consecutive. */
typedef struct {
    const psfm_match_set *set;
    const psfm_poses *poses;
    double max_error2;
    uint32_t *first_node; /* per view, num_views + 1 */
    uint32_t *view;       /* per node */
    uint32_t *owner;      /* per node: its fragment, to be looked up in parent; NONE */
    uint32_t *next;       /* per node: in the list of its fragment */
    uint32_t *parent;     /* per fragment */
    fragment *fragments;
    uint32_t max_images; /* of a fragment that grows by found keypoints */
    uint32_t *mark;      /* per view, by found keypoints: the last comparison it was met in */
    uint32_t num_marks;
    psfm_merge_stats stats;
} merger;

static uint32_t num_nodes(const merger *m) {
    return m->first_node[m->set->num_views];
}

/* Squared distance in pixels, linearised at the observed ray; infinite behind the camera. */
static double squared_error(const merger *m, uint32_t node, const double X[3]) {
    uint32_t v = m->view[node], k = node - m->first_node[v];
    const psfm_view *view = &m->set->views[v];
    const double *px = view->px_from_ray[k];
    double D[3], Y[3];
    psfm_sub3(X, m->poses->center[v], D);
    psfm_mat3_mul_vec(m->poses->cam_from_world[v], D, Y);
    double depth = psfm_dot3(Y, view->rays[k]);
    if (!(depth > 0.0))
        return INFINITY;
    double x = psfm_dot3(px, Y), y = psfm_dot3(px + 3, Y);
    return (x * x + y * y) / (depth * depth);
}

/* Adds a node to the list and the normal equations of a fragment. */
static void add_node(merger *m, uint32_t node, fragment *p) {
    uint32_t v = m->view[node], k = node - m->first_node[v];
    const psfm_view *view = &m->set->views[v];
    const double *px = view->px_from_ray[k], *c = m->poses->center[v];
    double d[3], D[3], focal2 = 0.0;
    psfm_mat3_tmul_vec(m->poses->cam_from_world[v], view->rays[k], d);
    psfm_sub3(p->X, c, D);
    for (int i = 0; i < 6; ++i)
        focal2 += 0.5 * px[i] * px[i];
    double weight = focal2 / fmax(psfm_dot3(D, D), 1e-300), along = psfm_dot3(d, c);
    for (int r = 0; r < 3; ++r) {
        for (int s = 0; s < 3; ++s)
            p->A[3 * r + s] += weight * ((r == s ? 1.0 : 0.0) - d[r] * d[s]);
        p->b[r] += weight * (c[r] - along * d[r]);
    }
    m->next[node] = NONE;
    if (p->first == NONE)
        p->first = node;
    else
        m->next[p->last] = node;
    p->last = node;
    ++p->num;
}

static bool explains_fragment(const merger *m, const double X[3], const fragment *p) {
    uint32_t misses = 0;
    double allowed = (1.0 - MIN_AGREEING) * p->num;
    for (uint32_t node = p->first; node != NONE; node = m->next[node]) {
        misses += squared_error(m, node, X) > m->max_error2;
        if (misses > allowed)
            return false;
    }
    return true;
}

static void try_to_join(merger *m, uint32_t a, uint32_t b) {
    fragment *p = &m->fragments[a], *q = &m->fragments[b];
    double A[9], sum[3], inverse[9], X[3];
    for (int k = 0; k < 9; ++k)
        A[k] = p->A[k] + q->A[k];
    for (int k = 0; k < 3; ++k)
        sum[k] = p->b[k] + q->b[k];
    if (psfm_mat3_inverse(A, inverse))
        psfm_mat3_mul_vec(inverse, sum, X);
    else
        memcpy(X, p->X, sizeof X);
    if (!explains_fragment(m, X, p) || !explains_fragment(m, X, q)) {
        ++m->stats.num_refused;
        return;
    }
    psfm_sets_unite(m->parent, a, b);
    uint32_t root = psfm_sets_find(m->parent, a);
    fragment joined = {.first = p->first, .last = q->last, .num = p->num + q->num};
    m->next[p->last] = q->first;
    memcpy(joined.A, A, sizeof A);
    memcpy(joined.b, sum, sizeof sum);
    memcpy(joined.X, X, sizeof X);
    m->fragments[root] = joined;
    ++m->stats.num_merged;
}

static void follow_match(merger *m, uint32_t node1, uint32_t node2) {
    uint32_t a = m->owner[node1], b = m->owner[node2];
    if (a == NONE && b == NONE)
        return;
    if (a != NONE && b != NONE) {
        a = psfm_sets_find(m->parent, a);
        b = psfm_sets_find(m->parent, b);
        if (a != b)
            try_to_join(m, a, b);
        return;
    }
    uint32_t free_node = a == NONE ? node1 : node2;
    uint32_t root = psfm_sets_find(m->parent, a == NONE ? b : a);
    if (squared_error(m, free_node, m->fragments[root].X) > m->max_error2)
        return;
    m->owner[free_node] = root;
    add_node(m, free_node, &m->fragments[root]);
    ++m->stats.num_added;
}

static void follow_matches(merger *m) {
    for (size_t i = 0; i < m->set->num_pairs; ++i) {
        const psfm_match_pair *pair = &m->set->pairs[i];
        if (!psfm_share_world(m->poses, pair->view1, pair->view2))
            continue;
        for (size_t k = 0; k < pair->num_matches; ++k)
            follow_match(m, m->first_node[pair->view1] + pair->matches[k][0],
                         m->first_node[pair->view2] + pair->matches[k][1]);
    }
}

/* Whether an image sees both fragments. */
static bool share_view(merger *m, const fragment *p, const fragment *q) {
    uint32_t mark = ++m->num_marks;
    for (uint32_t node = p->first; node != NONE; node = m->next[node])
        m->mark[m->view[node]] = mark;
    for (uint32_t node = q->first; node != NONE; node = m->next[node])
        if (m->mark[m->view[node]] == mark)
            return true;
    return false;
}

static bool sees_fragment(const merger *m, uint32_t view, const fragment *p) {
    for (uint32_t node = p->first; node != NONE; node = m->next[node])
        if (m->view[node] == view)
            return true;
    return false;
}

static void follow_found(merger *m, const psfm_found_keypoint *s) {
    uint32_t node = m->first_node[s->view] + s->keypoint, b = m->owner[node];
    uint32_t a = psfm_sets_find(m->parent, s->point);
    fragment *p = &m->fragments[a];
    if (b == NONE) {
        if (p->num < m->max_images && !sees_fragment(m, s->view, p) &&
            squared_error(m, node, p->X) <= m->max_error2) {
            m->owner[node] = a;
            add_node(m, node, p);
            ++m->stats.num_added;
        }
        return;
    }
    b = psfm_sets_find(m->parent, b);
    if (a != b && p->num + m->fragments[b].num <= m->max_images &&
        !share_view(m, p, &m->fragments[b]))
        try_to_join(m, a, b);
}

static psfm_status start_merger(psfm_context *ctx, const psfm_structure *st, merger *m) {
    const psfm_match_set *set = m->set;
    size_t total = 0, num_points = st->num_points;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views + 1, &m->first_node);
    for (size_t v = 0; v < set->num_views; ++v)
        total += set->views[v].num_keypoints;
    if (status == PSFM_OK && (total >= NONE || num_points >= NONE))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%zu keypoints are too many", total);
    if (status != PSFM_OK || (status = psfm_alloc(ctx, total, 4, &m->view)) ||
        (status = PSFM_ALLOC(ctx, total, &m->owner)) ||
        (status = PSFM_ALLOC(ctx, total, &m->next)) ||
        (status = PSFM_ALLOC(ctx, num_points, &m->parent)) ||
        (status = PSFM_ALLOC(ctx, num_points, &m->fragments)))
        return status;
    for (uint32_t v = 0; v < set->num_views; ++v) {
        m->first_node[v + 1] = m->first_node[v] + (uint32_t)set->views[v].num_keypoints;
        for (uint32_t node = m->first_node[v]; node < m->first_node[v + 1]; ++node) {
            m->view[node] = v;
            m->owner[node] = NONE;
        }
    }
    psfm_sets_init(m->parent, (uint32_t)num_points);
    for (uint32_t p = 0; p < num_points; ++p) {
        m->fragments[p] = (fragment){.first = NONE, .last = NONE};
        memcpy(m->fragments[p].X, st->points[p], sizeof m->fragments[p].X);
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k) {
            uint32_t node = m->first_node[st->tracks.view[k]] + st->tracks.keypoint[k];
            m->owner[node] = p;
            add_node(m, node, &m->fragments[p]);
        }
    }
    return PSFM_OK;
}

/* Where a fragment holds several nodes of one view, only the nearest to its point keeps its owner.
 * Nodes of one view are consecutive; last (per fragment) is where the fragment was met last. */
static void keep_one_per_view(merger *m, uint32_t *last, size_t num_points) {
    for (size_t p = 0; p < num_points; ++p)
        last[p] = NONE;
    for (uint32_t node = 0; node < num_nodes(m); ++node) {
        if (m->owner[node] == NONE)
            continue;
        uint32_t p = m->owner[node] = psfm_sets_find(m->parent, m->owner[node]);
        uint32_t before = last[p];
        last[p] = node;
        if (before == NONE || m->view[before] != m->view[node])
            continue;
        const double *X = m->fragments[p].X;
        if (squared_error(m, node, X) < squared_error(m, before, X)) {
            m->owner[before] = NONE;
        } else {
            m->owner[node] = NONE;
            last[p] = before;
        }
    }
}

/* The tracks, numbered by their first nodes, elements in the order of the nodes. */
static psfm_status emit_tracks(psfm_context *ctx, merger *m, size_t num_points,
                               psfm_tracks *tracks) {
    uint32_t total = num_nodes(m), *number = NULL;
    size_t *fill = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_points, &number)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &fill)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &tracks->begin)))
        goto cleanup;
    keep_one_per_view(m, number, num_points);
    for (size_t p = 0; p < num_points; ++p)
        number[p] = NONE;
    for (uint32_t node = 0; node < total; ++node) {
        uint32_t p = m->owner[node];
        if (p == NONE)
            continue;
        if (number[p] == NONE)
            number[p] = (uint32_t)tracks->num_tracks++;
        ++tracks->begin[number[p] + 1];
    }
    for (size_t t = 0; t < tracks->num_tracks; ++t)
        fill[t + 1] = tracks->begin[t + 1] += tracks->begin[t];
    size_t num = tracks->begin[tracks->num_tracks];
    if ((status = PSFM_ALLOC(ctx, num, &tracks->view)) ||
        (status = PSFM_ALLOC(ctx, num, &tracks->keypoint)))
        goto cleanup;
    for (uint32_t node = 0; node < total; ++node) {
        if (m->owner[node] == NONE)
            continue;
        size_t to = fill[number[m->owner[node]]]++;
        tracks->view[to] = m->view[node];
        tracks->keypoint[to] = node - m->first_node[m->view[node]];
    }

cleanup:
    free(number);
    free(fill);
    return status;
}

static void free_merger(merger *m) {
    free(m->first_node);
    free(m->view);
    free(m->owner);
    free(m->next);
    free(m->parent);
    free(m->fragments);
    free(m->mark);
}

/* The tracks of what has been joined, if all went well so far. */
static psfm_status finish_tracks(psfm_context *ctx, psfm_status status, merger *m,
                                 size_t num_points, psfm_tracks *tracks, psfm_merge_stats *stats) {
    if (status == PSFM_OK)
        status = emit_tracks(ctx, m, num_points, tracks);
    if (status == PSFM_OK && stats != NULL)
        *stats = m->stats;
    if (status != PSFM_OK)
        psfm_tracks_free(tracks);
    free_merger(m);
    return status;
}

psfm_status psfm_points_merge(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, const psfm_poses *poses,
                              double max_error_px, psfm_tracks *tracks, psfm_merge_stats *stats) {
    merger m = {.set = set, .poses = poses, .max_error2 = max_error_px * max_error_px};
    *tracks = (psfm_tracks){0};
    psfm_status status = start_merger(ctx, structure, &m);
    for (int pass = 0; status == PSFM_OK && pass < PASSES; ++pass)
        follow_matches(&m);
    return finish_tracks(ctx, status, &m, structure->num_points, tracks, stats);
}

psfm_status psfm_points_merge_found(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_structure *structure, const psfm_poses *poses,
                                    const psfm_found_keypoint *found, size_t num_found,
                                    double max_error_px, uint32_t max_images, psfm_tracks *tracks,
                                    psfm_merge_stats *stats) {
    merger m = {.set = set,
                .poses = poses,
                .max_error2 = max_error_px * max_error_px,
                .max_images = max_images};
    *tracks = (psfm_tracks){0};
    psfm_status status = start_merger(ctx, structure, &m);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &m.mark);
    for (size_t k = 0; status == PSFM_OK && k < num_found; ++k)
        follow_found(&m, &found[k]);
    return finish_tracks(ctx, status, &m, structure->num_points, tracks, stats);
}
