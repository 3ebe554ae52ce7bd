/* Two scenes that share a poster fit together without a contradiction: halves, intrinsics and
 * matches agree, for nothing but the poster is in both. But points of one scene lie in front of the
 * cameras of the other, at places that are photographed, and are not seen there.
 *
 * A point should be seen by an image of a pair that was tried if the other image sees it from
 * nearly the same direction and distance, and it is inside the frame. Of a cut of the images in two
 * the points that are seen across it are compared with those that should be. The cuts that are
 * tried are those of the edges of a spanning tree with the largest numbers of points in common:
 * what hangs together by little is cut there. */
#include "core/verdict/seen_share.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"

#define MOST_TURN_DEG 20.0 /* between the rays of a point: descriptors match up to there */
#define MOST_RATIO 1.6     /* of its distances */
#define SAMPLE 200         /* points of an image */
#define FEWEST 60          /* points that should be seen across a cut, to tell */

/* What two images should have in common, and have, by the sampled points of either. */
typedef struct {
    uint32_t view[2];
    double expected, seen;
    bool in_tree;
} view_pair;

typedef struct {
    const psfm_verdict_input *in;
    uint32_t component;
    size_t *begin;    /* per view, into points */
    uint32_t *points; /* that each view sees */
    view_pair *pairs;
    size_t num_pairs;
    uint32_t *side; /* disjoint sets of views */
} survey;

static psfm_status list_points(psfm_context *ctx, survey *s) {
    const psfm_structure *st = &s->in->refined->structure;
    const size_t n = s->in->set->num_views;
    const size_t num = st->num_points == 0 ? 0 : st->tracks.begin[st->num_points];
    psfm_status status = PSFM_ALLOC(ctx, n + 2, &s->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->points);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k)
        ++s->begin[st->tracks.view[k] + 2];
    for (size_t v = 0; v < n; ++v)
        s->begin[v + 2] += s->begin[v + 1];
    for (size_t p = 0; p < st->num_points; ++p)
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k)
            s->points[s->begin[st->tracks.view[k] + 1]++] = (uint32_t)p;
    return PSFM_OK;
}

static bool sees_point(const psfm_structure *st, uint32_t point, uint32_t view) {
    for (size_t k = st->tracks.begin[point]; k < st->tracks.begin[point + 1]; ++k)
        if (st->tracks.view[k] == view)
            return true;
    return false;
}

/* Whether a point that view a sees is inside the frame of b, and looks much the same from there. */
static bool should_see_point(const survey *s, const double X[3], uint32_t a, uint32_t b) {
    const psfm_poses *poses = &s->in->solution->poses;
    const psfm_camera *camera = &s->in->refined->cameras[s->in->set->views[b].camera_idx];
    double from_a[3], from_b[3], ray[3], xy[2];
    psfm_sub3(X, poses->center[a], from_a);
    psfm_sub3(X, poses->center[b], from_b);
    double ratio = psfm_norm3(from_a) / psfm_norm3(from_b);
    double cosine = psfm_dot3(from_a, from_b) / (psfm_norm3(from_a) * psfm_norm3(from_b));
    if (!(cosine > cos(psfm_radians(MOST_TURN_DEG)) && ratio < MOST_RATIO &&
          ratio > 1.0 / MOST_RATIO))
        return false;
    psfm_mat3_mul_vec(poses->cam_from_world[b], from_b, ray);
    return ray[2] > 0.0 && psfm_camera_project(camera, ray, xy) && xy[0] > 0.0 && xy[1] > 0.0 &&
           xy[0] < (double)camera->width && xy[1] < (double)camera->height;
}

static void survey_view(const survey *s, uint32_t a, uint32_t b, view_pair *pair) {
    const psfm_structure *st = &s->in->refined->structure;
    size_t num = s->begin[a + 1] - s->begin[a], step = num / SAMPLE + 1;
    for (size_t k = s->begin[a]; k < s->begin[a + 1]; k += step) {
        uint32_t point = s->points[k];
        if (!should_see_point(s, st->points[point], a, b))
            continue;
        pair->expected += 1.0;
        pair->seen += sees_point(st, point, b);
    }
}

static psfm_status survey_pairs(psfm_context *ctx, survey *s) {
    const psfm_match_set *set = s->in->set;
    const uint32_t *of = s->in->solution->poses.component;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &s->pairs);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        uint32_t a = set->pairs[p].view1, b = set->pairs[p].view2;
        if (of[a] != s->component || of[b] != s->component)
            continue;
        view_pair *pair = &s->pairs[s->num_pairs++];
        *pair = (view_pair){.view = {a, b}};
        survey_view(s, a, b, pair);
        survey_view(s, b, a, pair);
    }
    return status;
}

static int compare_seen(const void *a, const void *b) {
    const view_pair *p = a, *q = b;
    if (p->seen != q->seen)
        return p->seen < q->seen ? 1 : -1;
    if (p->view[0] != q->view[0])
        return p->view[0] < q->view[0] ? -1 : 1;
    return p->view[1] < q->view[1] ? -1 : p->view[1] > q->view[1];
}

/* Kruskal's tree of the pairs that see most. */
static void mark_tree(survey *s) {
    if (s->num_pairs > 1)
        qsort(s->pairs, s->num_pairs, sizeof *s->pairs, compare_seen);
    psfm_sets_init(s->side, (uint32_t)s->in->set->num_views);
    for (size_t p = 0; p < s->num_pairs; ++p) {
        const uint32_t *view = s->pairs[p].view;
        s->pairs[p].in_tree = psfm_sets_find(s->side, view[0]) != psfm_sets_find(s->side, view[1]);
        psfm_sets_unite(s->side, view[0], view[1]);
    }
}

/* The share across the cut of one edge of the tree; 1 if too little should be seen. */
static double find_share(survey *s, size_t cut) {
    double expected = 0.0, seen = 0.0;
    psfm_sets_init(s->side, (uint32_t)s->in->set->num_views);
    for (size_t p = 0; p < s->num_pairs; ++p)
        if (s->pairs[p].in_tree && p != cut)
            psfm_sets_unite(s->side, s->pairs[p].view[0], s->pairs[p].view[1]);
    for (size_t p = 0; p < s->num_pairs; ++p) {
        const uint32_t *view = s->pairs[p].view;
        if (psfm_sets_find(s->side, view[0]) == psfm_sets_find(s->side, view[1]))
            continue;
        expected += s->pairs[p].expected;
        seen += s->pairs[p].seen;
    }
    return expected >= FEWEST ? seen / expected : 1.0;
}

psfm_status psfm_seen_share_find(psfm_context *ctx, const psfm_verdict_input *input,
                                 uint32_t component, double *share) {
    survey s = {.in = input, .component = component};
    *share = 1.0;
    if (input->set == NULL)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, input->set->num_views, &s.side);
    if (status == PSFM_OK)
        status = list_points(ctx, &s);
    if (status == PSFM_OK)
        status = survey_pairs(ctx, &s);
    if (status == PSFM_OK)
        mark_tree(&s);
    for (size_t p = 0; status == PSFM_OK && p < s.num_pairs; ++p)
        if (s.pairs[p].in_tree)
            *share = fmin(*share, find_share(&s, p));
    free(s.begin);
    free(s.points);
    free(s.pairs);
    free(s.side);
    return status;
}
