/* graph.json from a reconstruction: pairs with their homographies, and for edges what the engine
 * made of them. Inliers are sampled evenly up to a number per homography. Images stand in the order
 * of their names, not of the views, and pairs are turned and sorted accordingly. */
#include "sfm/graph_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define MAX_SAMPLES ((size_t)200000) /* of the file */
#define MOST_SAMPLES ((size_t)80)    /* of a homography */
#define FEWEST_SAMPLES ((size_t)8)

/* image_of[v] is where the file has view v. */
static psfm_status record_images(psfm_context *ctx, const psfm_match_set *set, uint32_t *image_of,
                                 psfm_graph_file *out) {
    uint32_t *by_name = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &by_name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &out->images);
    for (size_t k = 0; status == PSFM_OK && k < set->num_views; ++k) {
        const psfm_view *view = &set->views[by_name[k]];
        const psfm_camera *camera = &set->cameras[view->camera_idx];
        psfm_graph_image *image = &out->images[k];
        image_of[by_name[k]] = (uint32_t)k;
        image->width = camera->width;
        image->height = camera->height;
        image->num_keypoints = view->num_keypoints;
        status = psfm_strdup(ctx, view->name, &image->name);
        out->num_images = k + 1;
    }
    free(by_name);
    return status;
}

/* Every k-th inlier, `most` at the utmost. */
static psfm_status sample_inliers(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_match_pair *pair, const psfm_homography *from,
                                  size_t most, psfm_graph_homography *to) {
    size_t num = from->num_inliers < most ? from->num_inliers : most;
    psfm_status status = PSFM_ALLOC(ctx, num, &to->samples);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k) {
        const uint32_t *match = pair->matches[from->inliers[k * from->num_inliers / num]];
        const double *a = set->views[pair->view1].keypoints[match[0]];
        const double *b = set->views[pair->view2].keypoints[match[1]];
        const float xy[4] = {(float)a[0], (float)a[1], (float)b[0], (float)b[1]};
        memcpy(to->samples[k], xy, sizeof xy);
    }
    to->num_samples = num;
    return PSFM_OK;
}

static psfm_status record_pair(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_match_pair *pair, const psfm_two_view *view, size_t most,
                               psfm_graph_pair *out) {
    out->num_matches = pair->num_matches;
    out->kind = view->kind;
    out->essential_inliers =
        view->essential.found ? (uint32_t)view->essential.num_inliers : (uint32_t)0;
    psfm_status status = PSFM_ALLOC(ctx, view->num_homographies, &out->homographies);
    for (size_t k = 0; status == PSFM_OK && k < view->num_homographies; ++k) {
        const psfm_homography *from = &view->homographies[k];
        psfm_graph_homography *to = &out->homographies[k];
        memcpy(to->H_21, from->H_21, sizeof to->H_21);
        to->num_inliers = (uint32_t)from->num_inliers;
        to->rms_px = from->rms_px;
        to->is_rotation = from->is_rotation;
        to->group = -1;
        out->num_homographies = k + 1;
        status = sample_inliers(ctx, set, pair, from, most, to);
    }
    return status;
}

/* The same pair from the other image. The inverse has the middle singular value 1 too. */
static void turn_pair(psfm_graph_pair *pair) {
    for (size_t k = 0; k < pair->num_homographies; ++k) {
        psfm_graph_homography *homography = &pair->homographies[k];
        double H_12[9] = {0}; /* what has no inverse, from a damaged database */
        psfm_mat3_inverse(homography->H_21, H_12);
        memcpy(homography->H_21, H_12, sizeof H_12);
        for (size_t s = 0; s < homography->num_samples; ++s) {
            const float *xy = homography->samples[s];
            const float turned[4] = {xy[2], xy[3], xy[0], xy[1]};
            memcpy(homography->samples[s], turned, sizeof turned);
        }
    }
}

static void name_images(const psfm_match_pair *pair, const uint32_t *image_of,
                        psfm_graph_pair *out) {
    uint32_t a = image_of[pair->view1], b = image_of[pair->view2];
    out->image1 = a < b ? a : b;
    out->image2 = a < b ? b : a;
    if (a > b)
        turn_pair(out);
}

static psfm_status record_pairs(psfm_context *ctx, const psfm_sfm *s, const uint32_t *image_of,
                                psfm_graph_file *out) {
    const psfm_match_set *set = &s->set;
    size_t homographies = 1;
    for (size_t p = 0; p < s->num_two_views; ++p)
        homographies += s->two_views[p].num_homographies;
    size_t most = MAX_SAMPLES / homographies;
    most = most > MOST_SAMPLES ? MOST_SAMPLES : most < FEWEST_SAMPLES ? FEWEST_SAMPLES : most;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &out->pairs);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        status = record_pair(ctx, set, &set->pairs[p], &s->two_views[p], most, &out->pairs[p]);
        name_images(&set->pairs[p], image_of, &out->pairs[p]);
        out->num_pairs = p + 1;
    }
    return status;
}

/* The planes of an edge are the homographies of its pair with parallax, or all of a rotation's, in
 * their order. */
static void record_planes(const psfm_sfm *s, const psfm_edge *edge, psfm_graph_pair *out) {
    uint32_t p = edge->plane_begin;
    for (size_t k = 0; k < out->num_homographies && p < edge->plane_end; ++k) {
        if (out->homographies[k].is_rotation != edge->is_rotation)
            continue;
        const psfm_edge_plane *plane = &s->graph.planes[p];
        for (uint32_t h = plane->hypothesis_begin; h < plane->hypothesis_end; ++h)
            if (s->graph.hypotheses[h].weight > 0.0)
                out->homographies[k].chosen = true;
        if (s->edges.groups.group != NULL && s->edges.groups.group[p] != UINT32_MAX)
            out->homographies[k].group = (int64_t)s->edges.groups.group[p];
        ++p;
    }
}

/* How far the edge's own rotation is from that of the final poses. */
static double rotation_residual(const psfm_sfm *s, uint32_t e) {
    const psfm_edge *edge = &s->graph.edges[e];
    const psfm_poses *poses = &s->solution.poses;
    double R_21[9];
    if (!psfm_share_world(poses, edge->node1, edge->node2))
        return (double)NAN;
    psfm_mat3_mul_t(poses->cam_from_world[edge->node2], poses->cam_from_world[edge->node1], R_21);
    return psfm_degrees(psfm_rotation_angle(s->solution.edge_pose[e].R_21, R_21));
}

static void record_edge(const psfm_sfm *s, uint32_t e, uint32_t component, psfm_graph_file *out) {
    const psfm_edge *edge = &s->graph.edges[e];
    psfm_graph_pair *pair = &out->pairs[edge->pair];
    psfm_graph_component *c = &out->components[component];
    pair->is_edge = true;
    pair->h = s->solution.h[e];
    pair->embedding_component = s->solution.similarity_component[e];
    pair->component = component;
    pair->in_tree = s->solution.in_tree[e];
    pair->kept = s->edges.accepted != NULL ? s->edges.accepted[e] : s->solution.in_graph[e];
    pair->rotation_deg = rotation_residual(s, e);
    pair->missing_share = edge->missing_share;
    record_planes(s, edge, pair);
    ++c->num_edges;
    if (pair->in_tree) {
        c->low = fmin(c->low, pair->h);
        c->high = fmax(c->high, pair->h);
    }
}

static psfm_status record_edges(psfm_context *ctx, const psfm_sfm *s, psfm_graph_file *out) {
    const psfm_pose_graph *graph = &s->graph;
    uint32_t *label = NULL, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &label);
    if (status == PSFM_OK)
        status = psfm_pose_graph_components(ctx, graph, NULL, label, &num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &out->components);
    if (status != PSFM_OK) {
        free(label);
        return status;
    }
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        ++out->components[label[v]].num_images;
    /* by decreasing size: images alone are at the end, and have no edges */
    while (out->num_components < num && out->components[out->num_components].num_images >= 2) {
        out->components[out->num_components].low = INFINITY;
        out->components[out->num_components++].high = -INFINITY;
    }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        record_edge(s, e, label[graph->edges[e].node1], out);
    for (size_t c = 0; c < out->num_components; ++c)
        if (out->components[c].low > out->components[c].high) /* no tree: nothing was embedded */
            out->components[c].low = out->components[c].high = 0.0;
    free(label);
    return PSFM_OK;
}

static psfm_status record_plane_models(psfm_context *ctx, const psfm_sfm *s, psfm_graph_file *out) {
    const psfm_refined *refined = &s->refined;
    if (refined->images == NULL)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, refined->planes.num_planes, &out->plane_models);
    if (status != PSFM_OK)
        return status;
    out->num_planes = refined->planes.num_planes;
    for (uint32_t k = 0; k < refined->planes.num_planes; ++k)
        out->plane_models[k] = refined->planes.planes[k].component;
    return PSFM_OK;
}

psfm_status psfm_graph_record(psfm_context *ctx, const psfm_sfm *s, psfm_graph_file *out) {
    uint32_t *image_of = NULL;
    *out = (psfm_graph_file){0};
    psfm_status status = PSFM_ALLOC(ctx, s->set.num_views, &image_of);
    if (status == PSFM_OK)
        status = record_images(ctx, &s->set, image_of, out);
    if (status == PSFM_OK)
        status = record_pairs(ctx, s, image_of, out);
    if (status == PSFM_OK)
        status = record_edges(ctx, s, out);
    if (status == PSFM_OK && out->num_pairs > 0)
        qsort(out->pairs, out->num_pairs, sizeof *out->pairs, psfm_compare_u32_pair);
    if (status == PSFM_OK)
        status = record_plane_models(ctx, s, out);
    if (status == PSFM_OK && s->photo_folder != NULL)
        status = psfm_strdup(ctx, s->photo_folder, &out->photo_folder);
    if (status == PSFM_OK)
        psfm_graph_file_round(out);
    free(image_of);
    return status;
}
