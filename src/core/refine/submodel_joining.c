/* Sub-models that no points connect any more, and how they are joined again.
 *
 * Poses from pairs drift along a chain of images. Where two neighbours in a row are far off, the
 * first adjustment finds no point that agrees on both sides of the place. Each side then becomes
 * exact by itself and floats against the other, and matches across are dropped because they
 * contradict the poses. Nothing in the residuals shows it.
 *
 * An accepted edge holds if its two images share a fair part of the matches that its own geometry
 * explains as points. Images connected by edges that hold are a sub-model. For each edge between
 * two sub-models, those with most matches first, an image at the border of the smaller one is
 * resected on the points of the larger. If more matches agree with that pose than with the one it
 * has, the whole sub-model follows it; its scale comes from the depths of points that both have. */
#include "core/refine/submodel_joining.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/matches/canonical_order.h"
#include "core/refine/matched_points.h"

/* An edge holds if its images share this share of the matches that its geometry explains. */
static const double fair_share = 0.25;
/* A sub-model moves if so many times more matches agree then. */
static const double gain = 2.0;
enum { MIN_DEPTHS = 3 }; /* points that both sub-models have, to tell their scales */

/* An edge between two sub-models. */
typedef struct {
    uint32_t edge;
    size_t explained;
} border;

typedef struct {
    const psfm_refine_input *input;
    const psfm_resection_options *resection;
    psfm_structure *structure;
    psfm_poses *poses;
    psfm_point_views links;
    uint32_t *submodel;       /* per view: its sub-model as a set (core/base/union_find.h) */
    uint32_t *size;           /* per root: views */
    uint32_t *point_submodel; /* per point: a view of its sub-model; UINT32_MAX if several see it */
    border *borders;
    size_t num_borders;
} joining;

static uint32_t find_root(joining *j, uint32_t view) {
    return psfm_sets_find(j->submodel, view);
}

static void unite_submodels(joining *j, uint32_t a, uint32_t b) {
    uint32_t size = j->size[a] + j->size[b];
    if (psfm_sets_unite(j->submodel, a, b))
        j->size[find_root(j, a)] = size;
}

static uint32_t point_at(const psfm_point_views *links, uint32_t view, uint32_t keypoint) {
    return links->point_of_keypoint[links->keypoint_begin[view] + keypoint];
}

static size_t num_shared(const psfm_point_views *links, const psfm_match_pair *pair) {
    size_t shared = 0;
    for (size_t m = 0; m < pair->num_matches; ++m) {
        uint32_t a = point_at(links, pair->view1, pair->matches[m][0]);
        shared += a != UINT32_MAX && a == point_at(links, pair->view2, pair->matches[m][1]);
    }
    return shared;
}

bool psfm_edge_holds(const psfm_refine_input *input, const psfm_point_views *links,
                     const psfm_edge *edge, size_t min_shared) {
    size_t explained = psfm_two_view_explained(&input->two_views[edge->pair]);
    size_t shared = num_shared(links, &input->set->pairs[edge->pair]);
    return shared >= min_shared && (double)shared >= fair_share * (double)explained;
}

static int by_explained(const void *a, const void *b) {
    const border *x = a, *y = b;
    if (x->explained != y->explained)
        return x->explained > y->explained ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Unites the ends of edges that hold, and lists the accepted edges between different sub-models. */
static psfm_status find_submodels(psfm_context *ctx, joining *j) {
    const psfm_pose_graph *graph = j->input->graph;
    size_t kept = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, &j->borders);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        if (!j->input->edge_accepted[e] || !psfm_share_world(j->poses, edge->node1, edge->node2))
            continue;
        size_t explained = psfm_two_view_explained(&j->input->two_views[edge->pair]);
        if (psfm_edge_holds(j->input, &j->links, edge, (size_t)j->resection->min_inliers))
            unite_submodels(j, find_root(j, edge->node1), find_root(j, edge->node2));
        else
            j->borders[j->num_borders++] = (border){e, explained};
    }
    for (size_t k = 0; k < j->num_borders; ++k) {
        const psfm_edge *edge = &graph->edges[j->borders[k].edge];
        if (find_root(j, edge->node1) != find_root(j, edge->node2))
            j->borders[kept++] = j->borders[k];
    }
    j->num_borders = kept;
    if (kept > 0)
        qsort(j->borders, kept, sizeof *j->borders, by_explained);
    return PSFM_OK;
}

static psfm_status assign_points(psfm_context *ctx, joining *j) {
    const psfm_tracks *tracks = &j->structure->tracks;
    psfm_status status = PSFM_ALLOC(ctx, j->structure->num_points, &j->point_submodel);
    for (size_t p = 0; status == PSFM_OK && p < j->structure->num_points; ++p) {
        uint32_t own = UINT32_MAX;
        bool mixed = false;
        for (size_t k = tracks->begin[p]; k < tracks->begin[p + 1]; ++k) {
            uint32_t submodel = find_root(j, tracks->view[k]);
            mixed = mixed || (own != UINT32_MAX && submodel != own);
            own = submodel;
        }
        j->point_submodel[p] = mixed ? UINT32_MAX : own;
    }
    return status;
}

/* Points of one sub-model that the matches of an image of another lead to. */
typedef struct {
    uint32_t view, onto; /* the image, and the root of the sub-model that has the points */
    size_t num;
    psfm_lead *leads;
    double (*xy)[2], (*X)[3];
    bool *inlier;
} shared_points;

static void free_shared_points(shared_points *s) {
    free(s->leads);
    free(s->xy);
    free(s->X);
    free(s->inlier);
}

static psfm_status find_shared_points(psfm_context *ctx, joining *j, uint32_t view, uint32_t onto,
                                      shared_points *s) {
    size_t num = 0;
    *s = (shared_points){.view = view, .onto = onto};
    psfm_status status = psfm_point_views_leads(ctx, &j->links, view, &s->leads, &num);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, num, &s->xy)) ||
        (status = PSFM_ALLOC(ctx, num, &s->X)) || (status = PSFM_ALLOC(ctx, num, &s->inlier)))
        return status;
    for (size_t k = 0; k < num; ++k) {
        uint32_t submodel = j->point_submodel[s->leads[k].point];
        if (submodel == UINT32_MAX || find_root(j, submodel) != onto)
            continue;
        s->leads[s->num] = s->leads[k];
        memcpy(s->xy[s->num], j->input->set->views[view].keypoints[s->leads[k].keypoint],
               sizeof *s->xy);
        memcpy(s->X[s->num++], j->structure->points[s->leads[k].point], sizeof *s->X);
    }
    return PSFM_OK;
}

static void to_camera(const double R[9], const double c[3], const double X[3], double out[3]) {
    double d[3];
    psfm_sub3(X, c, d);
    psfm_mat3_mul_vec(R, d, out);
}

/* Number of the shared points that agree with the pose that the image has. */
static size_t num_agreeing(const joining *j, const shared_points *s) {
    const psfm_view *view = &j->input->set->views[s->view];
    size_t agreeing = 0;
    for (size_t k = 0; k < s->num; ++k) {
        double ray[3], xy[2];
        to_camera(j->poses->cam_from_world[s->view], j->poses->center[s->view], s->X[k], ray);
        agreeing += ray[2] > 0.0 &&
                    psfm_camera_project(&j->input->set->cameras[view->camera_idx], ray, xy) &&
                    hypot(xy[0] - s->xy[k][0], xy[1] - s->xy[k][1]) <= j->resection->max_error_px;
    }
    return agreeing;
}

/* By what the smaller sub-model must be scaled: the median ratio of the depths of points that both
 * have. A single image has no scale. */
static psfm_status find_scale(psfm_context *ctx, joining *j, const shared_points *s,
                              const psfm_resection *pose, double *scale) {
    double *ratio = NULL;
    size_t num = 0;
    uint32_t own = find_root(j, s->view);
    psfm_status status = PSFM_ALLOC(ctx, s->num, &ratio);
    for (size_t k = 0; status == PSFM_OK && k < s->num; ++k) {
        uint32_t q = point_at(&j->links, s->view, s->leads[k].keypoint);
        double there[3], here[3];
        if (!s->inlier[k] || q == UINT32_MAX || j->point_submodel[q] == UINT32_MAX ||
            find_root(j, j->point_submodel[q]) != own)
            continue;
        to_camera(pose->cam_from_world, pose->center, s->X[k], there);
        to_camera(j->poses->cam_from_world[s->view], j->poses->center[s->view],
                  j->structure->points[q], here);
        if (there[2] > 0.0 && here[2] > 0.0)
            ratio[num++] = there[2] / here[2];
    }
    *scale = j->size[own] == 1 ? 1.0 : NAN;
    if (num >= MIN_DEPTHS)
        *scale = psfm_median(ratio, num);
    free(ratio);
    return status;
}

/* x -> scale R (x - from) + to. */
typedef struct {
    double scale, R[9], from[3], to[3];
} similarity;

static void apply_similarity(const similarity *m, double x[3]) {
    double d[3], turned[3];
    psfm_sub3(x, m->from, d);
    psfm_mat3_mul_vec(m->R, d, turned);
    for (int c = 0; c < 3; ++c)
        x[c] = m->scale * turned[c] + m->to[c];
}

/* Moves the sub-model of the view so that the view has the given pose. */
static void move_submodel(joining *j, uint32_t view, const psfm_resection *pose, double scale) {
    similarity m = {.scale = scale};
    uint32_t own = find_root(j, view);
    psfm_mat3_t_mul(pose->cam_from_world, j->poses->cam_from_world[view], m.R);
    memcpy(m.from, j->poses->center[view], sizeof m.from);
    memcpy(m.to, pose->center, sizeof m.to);
    for (uint32_t v = 0; v < j->poses->num_views; ++v) {
        double R[9];
        if (!psfm_has_pose(j->poses, v) || find_root(j, v) != own)
            continue;
        psfm_mat3_mul_t(j->poses->cam_from_world[v], m.R, R);
        memcpy(j->poses->cam_from_world[v], R, sizeof R);
        apply_similarity(&m, j->poses->center[v]);
    }
    for (size_t p = 0; p < j->structure->num_points; ++p)
        if (j->point_submodel[p] != UINT32_MAX && find_root(j, j->point_submodel[p]) == own)
            apply_similarity(&m, j->structure->points[p]);
}

/* Resects the view on the points of the other sub-model, and moves its own if that explains more.
 */
static psfm_status join_submodel(psfm_context *ctx, joining *j, uint32_t view, uint32_t onto,
                                 uint32_t *num_moved) {
    const psfm_view *image = &j->input->set->views[view];
    shared_points s;
    psfm_resection pose = {0};
    double scale = NAN;
    psfm_status status = find_shared_points(ctx, j, view, onto, &s);
    psfm_seen_points seen = {&j->input->set->cameras[image->camera_idx], s.num,
                             (const double(*)[2])s.xy, (const double(*)[3])s.X};
    if (status == PSFM_OK && s.num >= (size_t)j->resection->min_inliers)
        status = psfm_resection_estimate(ctx, &seen, psfm_view_stream(image), j->resection, &pose,
                                         s.inlier);
    if (status == PSFM_OK && pose.found) {
        bool moves = (double)pose.num_inliers > gain * (double)num_agreeing(j, &s);
        if (moves)
            status = find_scale(ctx, j, &s, &pose, &scale);
        if (status == PSFM_OK && moves && isfinite(scale)) {
            move_submodel(j, view, &pose, scale);
            ++*num_moved;
        }
        if (status == PSFM_OK && (!moves || isfinite(scale)))
            unite_submodels(j, find_root(j, view), onto);
    }
    free_shared_points(&s);
    return status;
}

static psfm_status join_all(psfm_context *ctx, joining *j, uint32_t *num_moved) {
    const psfm_pose_graph *graph = j->input->graph;
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < j->num_borders; ++k) {
        const psfm_edge *edge = &graph->edges[j->borders[k].edge];
        uint32_t a = find_root(j, edge->node1), b = find_root(j, edge->node2);
        bool first_moves = j->size[a] < j->size[b] || (j->size[a] == j->size[b] && a > b);
        if (a != b)
            status = join_submodel(ctx, j, first_moves ? edge->node1 : edge->node2,
                                   first_moves ? b : a, num_moved);
    }
    return status;
}

psfm_status psfm_submodels_join(psfm_context *ctx, const psfm_refine_input *input,
                                const psfm_resection_options *resection, psfm_structure *structure,
                                psfm_poses *poses, uint32_t *num_moved) {
    joining j = {.input = input, .resection = resection, .structure = structure, .poses = poses};
    psfm_status status;
    *num_moved = 0;
    if ((status = psfm_point_views_init(ctx, input->set, structure, poses, &j.links)) ||
        (status = PSFM_ALLOC(ctx, poses->num_views, &j.submodel)) ||
        (status = PSFM_ALLOC(ctx, poses->num_views, &j.size)))
        goto cleanup;
    psfm_sets_init(j.submodel, poses->num_views);
    for (uint32_t v = 0; v < poses->num_views; ++v)
        j.size[v] = 1;
    status = find_submodels(ctx, &j);
    if (status == PSFM_OK && j.num_borders > 0)
        status = assign_points(ctx, &j);
    if (status == PSFM_OK && j.num_borders > 0)
        status = join_all(ctx, &j, num_moved);

cleanup:
    psfm_point_views_free(&j.links);
    free(j.submodel);
    free(j.size);
    free(j.point_submodel);
    free(j.borders);
    return status;
}
