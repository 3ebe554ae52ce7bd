/* Greedy joining by overlap.
 *
 * Two homographies that meet in a view are candidates if they share enough of the smaller one's
 * inliers there, and if these show that the others are of their plane (below). The score
 * of a candidate is the cosine of the two inlier sets, lowered where the overlap is small in
 * number. Joins are made from the best score down; a join that would put two homographies of one
 * pair into one group is refused, since they are different planes there.
 *
 * Cost: per view the square of its homographies times their inliers. */
#include "core/calibration/physical_planes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/union_find.h"
#include "core/linalg/order_statistics.h"

/* Two planes meet in an edge, and points near it fit the homographies of both within the noise:
 * boards around a court join its floor to the stands. So a share of common inliers does not make
 * one plane. But if the common ones alone determine their homography as far as all the others
 * reach, then every homography that has them is that of their plane.
 *
 * How well they do depends on where they are, hardly on the homography: it is taken for the
 * identity, whose eight parameters h (the ninth entry is fixed) move a point (x, y) by
 *   (h0 x + h1 y + h2 - x q, h3 x + h4 y + h5 - y q),  q = h6 x + h7 y.
 * With N the sum of J^T J over points, a homography of some points has the covariance
 * inverse(N_some), and the squared errors of all points sum up to trace(inverse(N_some) N_all). */
#define SPREAD_DIM 8 /* parameters of a homography */

/* Where points are in a view, as far as it matters to a homography of them: the normal matrix of
 * its parameters about the identity. Starts at zero. */
typedef struct {
    double N[SPREAD_DIM][SPREAD_DIM]; /* lower triangle */
} point_spread;

#define MIN_PIVOT 1e-12 /* below: the points lie on a line, or are fewer than four */

/* Adds a point. Coordinates are about -1 to 1, of the same frame for all spreads compared. */
static void add_to_spread(point_spread *spread, double x, double y) {
    const double J[2][SPREAD_DIM] = {{x, y, 1.0, 0.0, 0.0, 0.0, -x * x, -x * y},
                                     {0.0, 0.0, 0.0, x, y, 1.0, -x * y, -y * y}};
    for (int r = 0; r < SPREAD_DIM; ++r)
        for (int c = 0; c <= r; ++c)
            spread->N[r][c] += J[0][r] * J[0][c] + J[1][r] * J[1][c];
}

/* N = L L^T; false if N is singular. */
static bool factor_spread(const point_spread *s, double L[SPREAD_DIM][SPREAD_DIM]) {
    for (int r = 0; r < SPREAD_DIM; ++r)
        for (int c = 0; c <= r; ++c) {
            double sum = s->N[r][c];
            for (int k = 0; k < c; ++k)
                sum -= L[r][k] * L[c][k];
            if (r == c && !(sum > MIN_PIVOT))
                return false;
            L[r][c] = r == c ? sqrt(sum) : sum / L[c][c];
        }
    return true;
}

/* The sum over the points of `all` of the squared error with which a homography of the points of
 * `some` predicts them, in units of the variance of a point; INFINITY if these determine none. The
 * trace is the squared norm of inverse(L_some) L_all, which is lower triangular. */
static double predict_errors(const point_spread *some, const point_spread *all) {
    double L[SPREAD_DIM][SPREAD_DIM], A[SPREAD_DIM][SPREAD_DIM], trace = 0.0;
    if (!factor_spread(some, L) || !factor_spread(all, A))
        return INFINITY;
    for (int c = 0; c < SPREAD_DIM; ++c)
        for (int r = c; r < SPREAD_DIM; ++r) {
            double sum = A[r][c];
            for (int k = c; k < r; ++k)
                sum -= L[r][k] * A[k][c];
            A[r][c] = sum / L[r][r];
            trace += A[r][c] * A[r][c];
        }
    return trace;
}

#define MIN_SHARE 0.2      /* of the smaller one's inliers */
#define MIN_OVERLAP 8      /* keypoints */
#define SURE_OVERLAP 100.0 /* keypoints from which on their number no longer matters */
#define MAX_PREDICTED 1.0  /* mean squared error, in units of the noise, of a prediction by them */

typedef struct {
    double score;
    uint32_t a, b;
} candidate;

/* The homographies of one view, and the candidates found among them. */
typedef struct {
    const uint32_t *items; /* index << 1 | side */
    size_t num;
    candidate *candidates;
    size_t num_candidates, capacity;
} meeting;

typedef struct {
    const psfm_measured_planes *measured;
    meeting *meetings; /* per view */
} search;

/* Number of common elements of two ascending lists, doubles counted once. */
static uint32_t count_common(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb) {
    uint32_t i = 0, j = 0, num = 0;
    while (i < na && j < nb) {
        if (a[i] == b[j]) {
            uint32_t value = a[i];
            ++num;
            while (i < na && a[i] == value)
                ++i;
            while (j < nb && b[j] == value)
                ++j;
        } else if (a[i] < b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return num;
}

static bool same_pair(const psfm_measured_plane *a, const psfm_measured_plane *b) {
    return a->view1 == b->view1 && a->view2 == b->view2;
}

/* The keypoints of a view from -1 to 1, as far as its homographies have them. */
typedef struct {
    const psfm_view *view;
    double middle[2], half;
} frame;

static frame make_frame(const search *s, const meeting *m, size_t view) {
    frame f = {.view = &s->measured->views[view], .half = 1.0};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < m->num; ++i) {
        const psfm_measured_plane *a = &s->measured->planes[m->items[i] >> 1];
        for (uint32_t k = 0; k < a->num; ++k)
            for (int axis = 0; axis < 2; ++axis) {
                double x = f.view->keypoints[a->keypoints[m->items[i] & 1][k]][axis];
                low[axis] = fmin(low[axis], x);
                high[axis] = fmax(high[axis], x);
            }
    }
    for (int axis = 0; axis < 2 && low[axis] < high[axis]; ++axis) {
        f.middle[axis] = 0.5 * (low[axis] + high[axis]);
        f.half = fmax(f.half, 0.5 * (high[axis] - low[axis]));
    }
    return f;
}

static void add_keypoint(const frame *f, uint32_t keypoint, point_spread *spread) {
    const double *xy = f->view->keypoints[keypoint];
    add_to_spread(spread, (xy[0] - f->middle[0]) / f->half, (xy[1] - f->middle[1]) / f->half);
}

/* The inliers of a homography in the view of the meeting. */
typedef struct {
    const psfm_measured_plane *plane;
    const uint32_t *keypoints; /* ascending */
    point_spread spread;       /* of them */
} attendee;

static psfm_status list_attendees(psfm_context *ctx, const search *s, const meeting *m,
                                  const frame *f, attendee **out) {
    psfm_status status = PSFM_ALLOC(ctx, m->num, out);
    for (size_t i = 0; status == PSFM_OK && i < m->num; ++i) {
        attendee *a = &(*out)[i];
        a->plane = &s->measured->planes[m->items[i] >> 1];
        a->keypoints = a->plane->keypoints[m->items[i] & 1];
        for (uint32_t k = 0; k < a->plane->num; ++k)
            add_keypoint(f, a->keypoints[k], &a->spread);
    }
    return status;
}

/* Whether the common keypoints of two homographies predict all those of either. */
static bool is_one_plane(const frame *f, const attendee *a, const attendee *b) {
    point_spread common = {0};
    for (uint32_t i = 0, j = 0; i < a->plane->num && j < b->plane->num;) {
        uint32_t in_a = a->keypoints[i], in_b = b->keypoints[j];
        if (in_a == in_b)
            add_keypoint(f, in_a, &common);
        i += in_a <= in_b;
        j += in_b <= in_a;
    }
    return predict_errors(&common, &a->spread) <= MAX_PREDICTED * a->plane->num &&
           predict_errors(&common, &b->spread) <= MAX_PREDICTED * b->plane->num;
}

/* The score of two homographies that meet in a view, 0 if they are no candidate. */
static double score_of(const frame *f, const attendee *a, const attendee *b) {
    if (same_pair(a->plane, b->plane))
        return 0.0;
    double na = a->plane->num, nb = b->plane->num;
    double common = count_common(a->keypoints, a->plane->num, b->keypoints, b->plane->num);
    if (common < fmax(MIN_OVERLAP, MIN_SHARE * fmin(na, nb)) || !is_one_plane(f, a, b))
        return 0.0;
    return common / sqrt(na * nb) * sqrt(fmin(common, SURE_OVERLAP) / SURE_OVERLAP);
}

static psfm_status find_candidates(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    search *s = user;
    meeting *m = &s->meetings[index];
    frame f = make_frame(s, m, index);
    attendee *attendees = NULL;
    psfm_status status = list_attendees(ctx, s, m, &f, &attendees);
    for (size_t i = 0; status == PSFM_OK && i < m->num; ++i)
        for (size_t j = 0; status == PSFM_OK && j < i; ++j) {
            double score = score_of(&f, &attendees[j], &attendees[i]);
            if (!(score > 0.0))
                continue;
            status = PSFM_RESERVE(ctx, &m->candidates, &m->capacity, m->num_candidates + 1);
            if (status == PSFM_OK)
                m->candidates[m->num_candidates++] =
                    (candidate){score, m->items[j] >> 1, m->items[i] >> 1};
        }
    free(attendees);
    return status;
}

static int by_score(const void *x, const void *y) {
    const candidate *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* Lists the homographies of each view: items has room for two per homography. */
static psfm_status list_meetings(psfm_context *ctx, const psfm_measured_planes *measured,
                                 size_t num_views, uint32_t *items, meeting *meetings) {
    size_t *place = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_views + 1, &place);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < measured->num; ++k) {
        ++place[measured->planes[k].view1 + 1];
        ++place[measured->planes[k].view2 + 1];
    }
    for (size_t v = 0; v < num_views; ++v)
        place[v + 1] += place[v];
    for (size_t v = 0; v < num_views; ++v)
        meetings[v].items = items + place[v];
    for (uint32_t k = 0; k < measured->num; ++k) {
        const uint32_t views[2] = {measured->planes[k].view1, measured->planes[k].view2};
        for (uint32_t side = 0; side < 2; ++side) {
            items[place[views[side]]++] = k << 1 | side;
            ++meetings[views[side]].num;
        }
    }
    free(place);
    return PSFM_OK;
}

/* All candidates of all views, best first. */
static psfm_status list_candidates(psfm_context *ctx, const psfm_measured_planes *measured,
                                   size_t num_views, candidate **out, size_t *num) {
    uint32_t *items = NULL;
    search s = {.measured = measured};
    psfm_status status = PSFM_ALLOC(ctx, 2 * measured->num, &items);
    *num = 0;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_views, &s.meetings);
    if (status == PSFM_OK)
        status = list_meetings(ctx, measured, num_views, items, s.meetings);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_views, find_candidates, &s);
    for (size_t v = 0; status == PSFM_OK && v < num_views; ++v)
        *num += s.meetings[v].num_candidates;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, *num, out);
    *num = 0;
    for (size_t v = 0; s.meetings != NULL && v < num_views; ++v) {
        meeting *m = &s.meetings[v];
        if (status == PSFM_OK && m->num_candidates > 0)
            memcpy(*out + *num, m->candidates, m->num_candidates * sizeof *m->candidates);
        *num += m->num_candidates;
        free(m->candidates);
    }
    if (status == PSFM_OK)
        qsort(*out, *num, sizeof **out, by_score);
    free(s.meetings);
    free(items);
    return status;
}

/* A group while it grows: its homographies as a list through `next`. */
typedef struct {
    const psfm_measured_planes *measured;
    uint32_t *parent, *next, *last, *size;
} growth;

/* Whether another homography of the same pair as i belongs to the group of root; those of a pair
 * are neighbours in the list. */
static bool is_pair_in(const growth *g, uint32_t i, uint32_t root) {
    const psfm_measured_plane *planes = g->measured->planes;
    for (uint32_t j = i; j-- > 0 && same_pair(&planes[i], &planes[j]);)
        if (psfm_sets_find(g->parent, j) == root)
            return true;
    for (uint32_t j = i + 1; j < g->measured->num && same_pair(&planes[i], &planes[j]); ++j)
        if (psfm_sets_find(g->parent, j) == root)
            return true;
    return false;
}

/* Whether two groups hold homographies of one pair: the smaller is gone through. */
static bool hold_one_pair(const growth *g, uint32_t a, uint32_t b) {
    uint32_t small = g->size[a] < g->size[b] ? a : b, large = small == a ? b : a;
    for (uint32_t i = small; i != UINT32_MAX; i = g->next[i])
        if (is_pair_in(g, i, large))
            return true;
    return false;
}

static void join_groups(growth *g, uint32_t a, uint32_t b) {
    a = psfm_sets_find(g->parent, a);
    b = psfm_sets_find(g->parent, b);
    if (a == b || hold_one_pair(g, a, b))
        return;
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    g->parent[other] = root;
    g->next[g->last[root]] = other;
    g->last[root] = g->last[other];
    g->size[root] += g->size[other];
}

typedef struct {
    uint64_t inliers;
    uint32_t root;
} ranked;

static int by_inliers(const void *x, const void *y) {
    const ranked *a = x, *b = y;
    if (a->inliers != b->inliers)
        return a->inliers > b->inliers ? -1 : 1;
    return (a->root > b->root) - (a->root < b->root);
}

/* Writes the groups down, most inliers first. */
static psfm_status list_groups(psfm_context *ctx, growth *g, psfm_physical_planes *out) {
    uint32_t n = (uint32_t)g->measured->num;
    ranked *rank = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &rank);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)n + 1, &out->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &out->items);
    for (uint32_t k = 0; status == PSFM_OK && k < n; ++k) {
        if (g->parent[k] != k)
            continue;
        ranked *r = &rank[out->num++];
        r->root = k;
        for (uint32_t i = k; i != UINT32_MAX; i = g->next[i])
            r->inliers += g->measured->planes[i].num;
    }
    if (status == PSFM_OK)
        qsort(rank, out->num, sizeof *rank, by_inliers);
    for (size_t k = 0, at = 0; status == PSFM_OK && k < out->num; ++k) {
        for (uint32_t i = rank[k].root; i != UINT32_MAX; i = g->next[i])
            out->items[at++] = i;
        out->begin[k + 1] = at;
        qsort(out->items + out->begin[k], at - out->begin[k], sizeof *out->items, psfm_compare_u32);
    }
    free(rank);
    return status;
}

psfm_status psfm_physical_planes_find(psfm_context *ctx, const psfm_measured_planes *measured,
                                      size_t num_views, psfm_physical_planes *out) {
    candidate *candidates = NULL;
    size_t num = 0, n = measured->num;
    growth g = {.measured = measured};
    *out = (psfm_physical_planes){0};
    psfm_status status = list_candidates(ctx, measured, num_views, &candidates, &num);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, n, &g.parent)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g.next)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g.last)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &g.size)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < n; ++k) {
        g.parent[k] = g.last[k] = k;
        g.next[k] = UINT32_MAX;
        g.size[k] = 1;
    }
    for (size_t k = 0; k < num; ++k)
        join_groups(&g, candidates[k].a, candidates[k].b);
    status = list_groups(ctx, &g, out);

cleanup:
    free(candidates);
    free(g.parent);
    free(g.next);
    free(g.last);
    free(g.size);
    if (status != PSFM_OK)
        psfm_physical_planes_free(out);
    return status;
}

void psfm_physical_planes_free(psfm_physical_planes *planes) {
    free(planes->begin);
    free(planes->items);
    *planes = (psfm_physical_planes){0};
}
