/* Features of models: the worst of what is said of their images, and shares of their edges. */
#include "core/verdict/model_features.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/posegraph/missing_matches.h"
#include "core/rotations/rotation_consensus.h"
#include "core/verdict/seen_share.h"
#include "core/verdict/weak_connection.h"

#define FEW_EDGES 3          /* a share of fewer says nothing */
#define EXPLAINED_SIGMAS 2.0 /* of an edge's difference from the poses its matches explain */

#define ROW(field) \
    { #field, offsetof(psfm_model_features, field) }
static const struct {
    const char *name;
    size_t offset;
} table[] = {
    ROW(images),
    ROW(unexplained),
    ROW(worst_unexplained),
    ROW(seen),
    ROW(guessed),
    ROW(no_lens),
    ROW(rejected),
    ROW(worst_rejected),
    ROW(common_rotation),
    ROW(shifted),
    ROW(runner_up),
    ROW(flip),
    ROW(shift),
    ROW(weak_connection),
    ROW(two_edge_cuts),
    ROW(residual),
    ROW(edge_deg),
    ROW(half_deg),
    ROW(half_center_deg),
    ROW(focal_deg),
    ROW(focal_center_deg),
    ROW(fewest_points),
    ROW(median_points),
    ROW(track_length),
    ROW(parallax_deg),
    ROW(bridges),
    ROW(cut_images),
    ROW(fewest_edges),
    ROW(left_out),
    ROW(resected),
};
#undef ROW

int psfm_model_features_num(void) {
    return (int)(sizeof table / sizeof *table);
}

const char *psfm_model_feature_name(int k) {
    return table[k].name;
}

double psfm_model_feature(const psfm_model_features *features, int k) {
    return *(const double *)((const char *)features + table[k].offset);
}

/* One component, and room for one number per edge, image or point. */
typedef struct {
    const psfm_verdict_input *in;
    const psfm_image_features *images;
    uint32_t component;
    double *room;
} model;

static bool has_image(const model *m, uint32_t v) {
    return m->in->solution->poses.component[v] == m->component;
}

/* Whether one of an edge's rotations is the poses'. */
static bool has_rotation(const model *m, const psfm_edge *edge, const double R_21[9]) {
    const psfm_pose_graph *graph = m->in->graph;
    double near = psfm_radians(PSFM_AGREEMENT_DEG);
    if (edge->has_essential && psfm_rotation_angle(edge->essential_R_21, R_21) < near)
        return true;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        if (psfm_rotation_angle(graph->hypotheses[h].motion.R_21, R_21) < near)
            return true;
    return false;
}

/* Standard deviation of the rotation that an accepted edge has, in degrees. */
static double edge_sigma_deg(const model *m, const psfm_edge *edge) {
    const psfm_pose_graph *graph = m->in->graph;
    double sigma = edge->essential_sigma_rad, weight = 0.0;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h) {
        if (graph->hypotheses[h].weight > weight) {
            weight = graph->hypotheses[h].weight;
            sigma = graph->hypotheses[h].sigma_rad;
        }
    }
    return psfm_degrees(m->in->noise_px * sigma);
}

static psfm_status scan_edges(psfm_context *ctx, const model *m, psfm_model_features *f) {
    const psfm_pose_graph *graph = m->in->graph;
    const psfm_pose_solution *s = m->in->solution;
    size_t accepted = 0, rejected = 0;
    double shifted = 0.0, own = 0.0, unexplained = 0.0;
    uint32_t thin = 0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        double R_21[9];
        if (!has_image(m, edge->node1) || !has_image(m, edge->node2))
            continue;
        psfm_mat3_mul_t(s->poses.cam_from_world[edge->node2], s->poses.cam_from_world[edge->node1],
                        R_21);
        bool contradicts = psfm_edge_contradicts(m->in, e);
        if (m->in->refined->edges != NULL) {
            const psfm_edge_matches *matches = &m->in->refined->edges[e];
            own += matches->own;
            unexplained += contradicts ? matches->own - matches->explained : 0;
        }
        if (!m->in->edges->accepted[e]) {
            ++rejected;
            shifted +=
                contradicts && has_rotation(m, edge, R_21) ? psfm_edge_missing_weight(edge) : 0.0;
            continue;
        }
        double off = psfm_degrees(psfm_rotation_angle(s->edge_pose[e].R_21, R_21));
        m->room[accepted++] = fmax(0.0, off - EXPLAINED_SIGMAS * edge_sigma_deg(m, edge));
    }
    f->edge_deg = psfm_median(m->room, accepted);
    f->unexplained = unexplained / fmax(own, 1.0);
    if (accepted + rejected > 0) {
        f->rejected = (double)rejected / (double)(accepted + rejected);
        f->shifted = shifted / (double)(accepted + rejected);
    }
    psfm_status status = psfm_two_edge_cuts_count(ctx, graph, m->in->edges->accepted, &s->poses,
                                                  m->component, &thin);
    f->two_edge_cuts = accepted > 0 ? thin / (double)accepted : 1.0;
    return status;
}

static void scan_image(const psfm_image_features *image, psfm_model_features *f) {
    double edges = image->accepted + image->rejected;
    if (edges >= FEW_EDGES)
        f->worst_rejected = fmax(f->worst_rejected, image->rejected / edges);
    f->worst_unexplained = fmax(f->worst_unexplained, image->unexplained);
    f->weak_connection = fmax(f->weak_connection, image->weak_connection);
    f->half_deg = fmax(f->half_deg, image->half_deg);
    f->half_center_deg = fmax(f->half_center_deg, psfm_center_angle_deg(image, image->half_center));
    f->focal_deg = fmax(f->focal_deg, image->focal_deg);
    f->focal_center_deg =
        fmax(f->focal_center_deg, psfm_center_angle_deg(image, image->focal_center));
    f->fewest_points = fmin(f->fewest_points, image->points);
    f->fewest_edges = fmin(f->fewest_edges, image->accepted);
    f->resected += image->resected;
}

static void scan_images(const model *m, psfm_model_features *f) {
    uint32_t n = m->in->solution->num_nodes, num = 0;
    double observations = 0.0;
    f->fewest_points = f->fewest_edges = INFINITY;
    for (uint32_t v = 0; v < n; ++v) {
        if (!has_image(m, v))
            continue;
        const psfm_image_features *image = &m->images[v];
        scan_image(image, f);
        f->guessed += m->in->is_guessed != NULL && m->in->is_guessed[v];
        f->no_lens += m->in->is_no_lens != NULL && m->in->is_no_lens[v];
        f->residual += image->residual * image->points;
        observations += image->points;
        m->room[num++] = image->points;
    }
    f->images = num;
    f->left_out = 1.0 - (double)num / n;
    f->resected /= num;
    f->guessed /= num;
    f->no_lens /= num;
    f->median_points = psfm_median(m->room, num);
    if (observations > 0.0)
        f->residual /= observations;
}

static void scan_points(const model *m, psfm_model_features *f) {
    const psfm_structure *st = &m->in->refined->structure;
    size_t num = 0, observations = 0;
    for (size_t p = 0; p < st->num_points; ++p) {
        if (st->component[p] != m->component)
            continue;
        observations += st->tracks.begin[p + 1] - st->tracks.begin[p];
        m->room[num++] = st->angle_deg[p];
    }
    f->parallax_deg = psfm_median(m->room, num);
    f->track_length = num == 0 ? 0.0 : (double)observations / (double)num;
}

static void scan_facts(const model *m, psfm_model_features *f) {
    const psfm_component_facts *facts = &m->in->solution->components[m->component];
    const psfm_ambiguities *all = &m->in->edges->ambiguities;
    if (facts->num_edges > 0 && facts->num_images > 2)
        f->bridges = (double)facts->num_bridges / facts->num_edges;
    f->cut_images = (double)facts->num_cut_nodes / f->images;
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *own = &all->item[k];
        double *ratio[PSFM_NUM_AMBIGUITIES] = {&f->runner_up, &f->flip, &f->shift};
        if (has_image(m, own->cut.node[0]) || has_image(m, own->cut.reference))
            *ratio[own->kind] = fmax(*ratio[own->kind], psfm_ambiguity_ratio(own));
    }
}

psfm_status psfm_model_features_find(psfm_context *ctx, const psfm_verdict_input *input,
                                     const psfm_image_features *images, uint32_t component,
                                     psfm_model_features *features) {
    model m = {.in = input, .images = images, .component = component};
    size_t room = input->solution->num_nodes + (size_t)input->graph->num_edges +
                  input->refined->structure.num_points;
    *features = (psfm_model_features){0};
    psfm_status status = PSFM_ALLOC(ctx, room, &m.room);
    if (status != PSFM_OK)
        return status;
    status = scan_edges(ctx, &m, features);
    scan_images(&m, features);
    scan_points(&m, features);
    scan_facts(&m, features);
    features->half_shift_deg = fmax(features->half_deg, features->half_center_deg);
    features->focal_shift_deg = fmax(features->focal_deg, features->focal_center_deg);
    free(m.room);
    if (status == PSFM_OK)
        status = psfm_seen_share_find(ctx, input, component, &features->seen);
    if (status != PSFM_OK)
        return status;
    return psfm_common_rotation_find(ctx, input->graph, input->edges->accepted,
                                     &input->solution->poses, component,
                                     &features->common_rotation);
}

/* ---- a common rotation ---- */

/* An edge (i, j) that contradicts the rotations asks for G = R_j^T R_ji R_i: turned by it, i would
 * agree with j. Edges to duplicate structure all name the same G, or its inverse, for
 * whichever side of the duplicate they start from; wrong edges of other kinds name any. */

#define MOST_EDGES 256

/* What the edges of a sample ask for: edge k the turns begin[k] .. begin[k + 1]. Owns its arrays.
 */
typedef struct {
    double (*rotation)[9];
    uint32_t *begin, num_edges;
    double *weight; /* of each edge */
    double near;    /* 1 + 2 cos(angle) of two rotations that are one */
} votes;

static bool is_inside(const psfm_pose_graph *graph, uint32_t e, const psfm_poses *poses,
                      uint32_t component) {
    return poses->component[graph->edges[e].node1] == component &&
           poses->component[graph->edges[e].node2] == component;
}

/* A rotation by no more than the rotations agree to is none. */
static void add_vote(const psfm_poses *poses, const psfm_edge *edge, const double R_21[9], votes *w,
                     uint32_t *num) {
    double turned[9], *rotation = w->rotation[*num];
    psfm_mat3_mul(R_21, poses->cam_from_world[edge->node1], turned);
    psfm_mat3_t_mul(poses->cam_from_world[edge->node2], turned, rotation);
    *num += rotation[0] + rotation[4] + rotation[8] < w->near;
}

/* Every stride-th of the rejected edges. */
static psfm_status list_votes(psfm_context *ctx, const psfm_pose_graph *graph, const bool *accepted,
                              const psfm_poses *poses, uint32_t component, uint32_t stride,
                              votes *w) {
    uint32_t num = 0, seen = 0;
    psfm_status status =
        PSFM_ALLOC(ctx, (size_t)graph->num_hypotheses + graph->num_edges, &w->rotation);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)graph->num_edges + 1, &w->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &w->weight);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        if (accepted[e] || !is_inside(graph, e, poses, component) || seen++ % stride != 0)
            continue;
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            add_vote(poses, edge, graph->hypotheses[h].motion.R_21, w, &num);
        if (edge->has_essential)
            add_vote(poses, edge, edge->essential_R_21, w, &num);
        w->weight[w->num_edges] = psfm_edge_missing_weight(edge);
        w->begin[++w->num_edges] = num;
    }
    return status;
}

/* Whether A is within the angle of B or of its inverse. */
static bool are_one(const double A[9], const double B[9], double near) {
    double same = 0.0, inverse = 0.0;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            same += A[3 * r + c] * B[3 * r + c];
            inverse += A[3 * r + c] * B[3 * c + r];
        }
    }
    return fmax(same, inverse) > near;
}

/* Weight of the edges that ask for the rotation; 0 if only one does. */
static double sum_votes(const votes *w, const double rotation[9]) {
    uint32_t count = 0;
    double sum = 0.0;
    for (uint32_t k = 0; k < w->num_edges; ++k) {
        bool agrees = false;
        for (uint32_t q = w->begin[k]; !agrees && q < w->begin[k + 1]; ++q)
            agrees = are_one(rotation, w->rotation[q], w->near);
        count += agrees;
        sum += agrees ? w->weight[k] : 0.0;
    }
    return count > 1 ? sum : 0.0;
}

psfm_status psfm_common_rotation_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *accepted, const psfm_poses *poses,
                                      uint32_t component, double *share) {
    votes w = {.near = 1.0 + 2.0 * cos(psfm_radians(PSFM_AGREEMENT_DEG))};
    uint32_t num_edges = 0, num_rejected = 0;
    double best = 0.0;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        bool inside = is_inside(graph, e, poses, component);
        num_edges += inside;
        num_rejected += inside && !accepted[e];
    }
    uint32_t stride = num_rejected / MOST_EDGES + 1;
    psfm_status status =
        num_rejected < 2 ? PSFM_OK : list_votes(ctx, graph, accepted, poses, component, stride, &w);
    uint32_t num_rotations = w.num_edges == 0 ? 0 : w.begin[w.num_edges];
    for (uint32_t q = 0; status == PSFM_OK && q < num_rotations; ++q)
        best = fmax(best, sum_votes(&w, w.rotation[q]));
    *share = num_edges > 0 ? best * stride / num_edges : 0.0;
    free(w.rotation);
    free(w.begin);
    free(w.weight);
    return status;
}
