/* What an edge leaves out.
 *
 * A mug with the same print on two sides matches itself from behind. The motion that follows is
 * as good as any, but if it were right the two images would share the room behind the mug as well,
 * and they share nothing of it. So for each edge the keypoints of one image are carried to the
 * other: those that other pairs have confirmed, since these do exist and can be matched. Their
 * depth is unknown, but it is mostly between that of the nearest matches of the edge and infinity:
 * where both ends of that segment of the epipolar line are in the other image, so is the keypoint,
 * unless something hides it.
 *
 * Keypoints come in bunches, so cells of a grid are counted and not keypoints: cells in which
 * several keypoints are to be expected, and of these the ones in which some were found. */
#include "core/posegraph/missing_matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

enum { GRID = 10, MIN_EXPECTED = 3, MIN_CELLS = 6, MAX_CONFIRMED = 255 };
static const double nearest_share = 0.1; /* of the matches are nearer than expected keypoints */

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    psfm_pose_graph *graph;
    size_t *begin;      /* first keypoint of each view */
    uint8_t *confirmed; /* per keypoint: pairs whose geometry it agrees with */
} survey;

static void mark_inliers(bool *is_inlier, const uint32_t *inliers, size_t num) {
    for (size_t k = 0; k < num; ++k)
        is_inlier[inliers[k]] = true;
}

/* Which matches of a pair its geometry explains; *is_inlier is malloc'ed. */
static psfm_status find_inliers(psfm_context *ctx, const survey *s, uint32_t pair,
                                bool **is_inlier) {
    const psfm_two_view *view = &s->two_views[pair];
    psfm_status status = PSFM_ALLOC(ctx, s->set->pairs[pair].num_matches, is_inlier);
    if (status != PSFM_OK)
        return status;
    for (size_t h = 0; h < view->num_homographies; ++h)
        mark_inliers(*is_inlier, view->homographies[h].inliers, view->homographies[h].num_inliers);
    if (view->essential.found && !view->essential.is_degenerate)
        mark_inliers(*is_inlier, view->essential.inliers, view->essential.num_inliers);
    return PSFM_OK;
}

static void confirm_keypoint(survey *s, uint32_t view, uint32_t keypoint) {
    uint8_t *count = &s->confirmed[s->begin[view] + keypoint];
    *count = (uint8_t)(*count + (*count < MAX_CONFIRMED));
}

static psfm_status count_confirmed(psfm_context *ctx, survey *s) {
    for (uint32_t e = 0; e < s->graph->num_edges; ++e) {
        uint32_t p = s->graph->edges[e].pair;
        const psfm_match_pair *pair = &s->set->pairs[p];
        bool *is_inlier = NULL;
        psfm_status status = find_inliers(ctx, s, p, &is_inlier);
        for (size_t k = 0; status == PSFM_OK && k < pair->num_matches; ++k) {
            if (!is_inlier[k])
                continue;
            confirm_keypoint(s, pair->view1, pair->matches[k][0]);
            confirm_keypoint(s, pair->view2, pair->matches[k][1]);
        }
        free(is_inlier);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

/* One image as seen from the other: x_to = R x_from depth + t. */
typedef struct {
    uint32_t from, to;
    double R[9], t[3];
    double nearest; /* depth of the nearest matches in the image `from`, in units of t */
} direction;

/* Depth along ray x at which R x depth + t is nearest to ray y; 0 if behind. */
static double depth_of(const double x[3], const double y[3], const double R[9], const double t[3]) {
    double a[3], n[3], m[3];
    psfm_mat3_mul_vec(R, x, a);
    psfm_cross3(y, a, n);
    psfm_cross3(y, t, m);
    double square = psfm_dot3(n, n);
    return square > 0.0 ? fmax(-psfm_dot3(m, n) / square, 0.0) : 0.0;
}

/* The depth that few of the matches are nearer than; INFINITY if none is in front. Without a
 * baseline all depths are one. */
static double find_nearest(const survey *s, const psfm_match_pair *pair, const bool *is_inlier,
                           const direction *d, double *scratch) {
    int side = pair->view1 == d->from ? 0 : 1;
    size_t num = 0;
    if (!(psfm_norm3(d->t) > 0.0))
        return 1.0;
    for (size_t k = 0; k < pair->num_matches; ++k) {
        if (!is_inlier[k])
            continue;
        double depth = depth_of(s->set->views[d->from].rays[pair->matches[k][side]],
                                s->set->views[d->to].rays[pair->matches[k][1 - side]], d->R, d->t);
        if (depth > 0.0)
            scratch[num++] = depth;
    }
    return num > 0 ? psfm_select(scratch, num, (size_t)(nearest_share * (double)num)) : INFINITY;
}

static bool is_in_image(const psfm_camera *camera, const double ray[3]) {
    double xy[2];
    return ray[2] > 0.0 && psfm_camera_project(camera, ray, xy) && xy[0] >= 0.0 && xy[1] >= 0.0 &&
           xy[0] < (double)camera->width && xy[1] < (double)camera->height;
}

/* Whether the other image shows whatever is along the ray beyond the nearest matches. */
static bool is_expected(const psfm_camera *camera, const direction *d, const double x[3]) {
    double far[3], near[3];
    psfm_mat3_mul_vec(d->R, x, far);
    psfm_scale3(d->nearest, far, near);
    psfm_axpy3(near, 1.0, d->t, near);
    return is_in_image(camera, far) && is_in_image(camera, near);
}

/* Cells in which something is expected, and in which something is found of it. */
typedef struct {
    double expected, found;
} tally;

static size_t cell_of(const psfm_camera *camera, const double xy[2]) {
    double x = GRID * xy[0] / (double)camera->width, y = GRID * xy[1] / (double)camera->height;
    size_t i = (size_t)fmin(fmax(x, 0.0), GRID - 1), j = (size_t)fmin(fmax(y, 0.0), GRID - 1);
    return GRID * j + i;
}

static tally count_cells(const survey *s, const psfm_match_pair *pair, const bool *is_inlier,
                         const direction *d, bool *matched) {
    const psfm_view *view = &s->set->views[d->from];
    const psfm_camera *own = &s->set->cameras[view->camera_idx];
    const psfm_camera *other = &s->set->cameras[s->set->views[d->to].camera_idx];
    uint32_t expected[GRID * GRID] = {0}, found[GRID * GRID] = {0};
    int side = pair->view1 == d->from ? 0 : 1;
    memset(matched, 0, view->num_keypoints * sizeof *matched);
    for (size_t k = 0; k < pair->num_matches; ++k)
        if (is_inlier[k])
            matched[pair->matches[k][side]] = true;
    for (size_t k = 0; k < view->num_keypoints; ++k) {
        bool elsewhere = s->confirmed[s->begin[d->from] + k] > (matched[k] ? 1 : 0);
        if (!elsewhere && !matched[k])
            continue;
        size_t cell = cell_of(own, view->keypoints[k]);
        found[cell] += matched[k];
        if (elsewhere && is_expected(other, d, view->rays[k]))
            ++expected[cell];
    }
    tally t = {0};
    for (size_t c = 0; c < GRID * GRID; ++c) {
        t.expected += expected[c] >= MIN_EXPECTED;
        t.found += expected[c] >= MIN_EXPECTED && found[c] > 0;
    }
    return t;
}

/* The motion (R, t) from view1 to view2, both ways. */
static void set_directions(const psfm_match_pair *pair, const double R[9], const double t[3],
                           direction ways[2]) {
    double back[3];
    ways[0] = (direction){.from = pair->view1, .to = pair->view2};
    ways[1] = (direction){.from = pair->view2, .to = pair->view1};
    memcpy(ways[0].R, R, sizeof ways[0].R);
    memcpy(ways[0].t, t, sizeof ways[0].t);
    psfm_mat3_transpose(R, ways[1].R);
    psfm_mat3_tmul_vec(R, t, back);
    psfm_scale3(-1.0, back, ways[1].t);
}

/* Scratch of one edge. */
typedef struct {
    bool *is_inlier; /* per match */
    double *depth;   /* per match */
    bool *matched;   /* per keypoint of either view */
} scratch;

static psfm_status scratch_init(psfm_context *ctx, const survey *s, uint32_t p, scratch *w) {
    const psfm_match_pair *pair = &s->set->pairs[p];
    size_t num1 = s->set->views[pair->view1].num_keypoints;
    size_t num2 = s->set->views[pair->view2].num_keypoints;
    *w = (scratch){0};
    psfm_status status = find_inliers(ctx, s, p, &w->is_inlier);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pair->num_matches, &w->depth);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num1 > num2 ? num1 : num2, &w->matched);
    return status;
}

static void scratch_free(scratch *w) {
    free(w->is_inlier);
    free(w->depth);
    free(w->matched);
}

/* The share of missing matches of a pair under one motion. */
static double missing_share_of(const survey *s, uint32_t p, const double R[9], const double t[3],
                               scratch *w) {
    const psfm_match_pair *pair = &s->set->pairs[p];
    direction ways[2];
    tally sum = {0};
    set_directions(pair, R, t, ways);
    for (int k = 0; k < 2; ++k) {
        ways[k].nearest = find_nearest(s, pair, w->is_inlier, &ways[k], w->depth);
        if (!isfinite(ways[k].nearest))
            continue;
        tally own = count_cells(s, pair, w->is_inlier, &ways[k], w->matched);
        sum.expected += own.expected;
        sum.found += own.found;
    }
    return sum.expected < MIN_CELLS ? 0.0 : 1.0 - sum.found / sum.expected;
}

/* The motion that leaves out least counts: which of them is right is decided elsewhere. */
static psfm_status survey_edge(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const survey *s = user;
    psfm_edge *edge = &s->graph->edges[index];
    scratch w;
    psfm_status status = scratch_init(ctx, s, edge->pair, &w);
    double least = 1.0;
    for (uint32_t h = edge->hypothesis_begin; status == PSFM_OK && h < edge->hypothesis_end; ++h) {
        const psfm_plane_motion *motion = &s->graph->hypotheses[h].motion;
        least = fmin(least, missing_share_of(s, edge->pair, motion->R_21, motion->t_21, &w));
    }
    if (status == PSFM_OK && edge->has_essential)
        least = fmin(
            least, missing_share_of(s, edge->pair, edge->essential_R_21, edge->essential_t_21, &w));
    edge->missing_share = least;
    scratch_free(&w);
    return status;
}

psfm_status psfm_edges_find_missing(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_two_view *two_views, psfm_pose_graph *graph) {
    survey s = {.set = set, .two_views = two_views, .graph = graph};
    psfm_status status = PSFM_ALLOC(ctx, set->num_views + 1, &s.begin);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        s.begin[v + 1] = s.begin[v] + set->views[v].num_keypoints;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, s.begin[set->num_views], &s.confirmed);
    if (status == PSFM_OK)
        status = count_confirmed(ctx, &s);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, graph->num_edges, survey_edge, &s);
    free(s.begin);
    free(s.confirmed);
    return status;
}

double psfm_edge_missing_weight(const psfm_edge *edge) {
    const double least = 0.01; /* of what its images should share: they do share its matches */
    const double power = 4.0;  /* found on mugs with the same print on two sides */
    return pow(fmax(1.0 - edge->missing_share, least), power);
}
