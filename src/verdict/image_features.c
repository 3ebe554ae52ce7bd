/* Features of images: counts of what the engine and the refinement found, and how far probes move
 * their poses. */
#include "verdict/image_features.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/angle.h"
#include "linalg/order.h"
#include "linalg/vec3.h"
#include "verdict/weak_joint.h"

#define RAYLEIGH_MEAN 1.2533141373155 /* mean length of a planar normal error of unit deviation */

static void count_edges(const psfm_verdict_input *in, psfm_image_features *features) {
    for (uint32_t e = 0; e < in->graph->num_edges; ++e) {
        const psfm_edge *edge = &in->graph->edges[e];
        if (!psfm_share_world(&in->solution->poses, edge->node1, edge->node2))
            continue;
        bool accepted = in->edges->accepted[e];
        features[edge->node1].accepted += accepted;
        features[edge->node2].accepted += accepted;
        features[edge->node1].rejected += !accepted;
        features[edge->node2].rejected += !accepted;
    }
}

static void find_runner_ups(const psfm_verdict_input *in, psfm_image_features *features) {
    const psfm_ambiguities *all = &in->edges->ambiguities;
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_ambiguity *own = &all->item[k];
        for (uint32_t i = 0; own->kind == PSFM_AMBIGUITY_TURN && i < own->cut.num_nodes; ++i) {
            psfm_image_features *image = &features[own->cut.node[i]];
            image->runner_up = fmax(image->runner_up, psfm_ambiguity_ratio(own));
        }
    }
}

static psfm_status find_joints(psfm_context *ctx, const psfm_verdict_input *in,
                               psfm_image_features *features) {
    double *joint = NULL;
    psfm_status status = PSFM_ALLOC(ctx, in->solution->num_nodes, &joint);
    for (uint32_t c = 0; status == PSFM_OK && c < in->solution->num_components; ++c)
        status = psfm_weak_joint_find(ctx, in->graph, in->edges->accepted, &in->solution->poses, c,
                                      joint);
    for (uint32_t v = 0; status == PSFM_OK && v < in->solution->num_nodes; ++v)
        features[v].joint = joint[v];
    free(joint);
    return status;
}

static void take_refined(const psfm_verdict_input *in, psfm_image_features *features) {
    for (uint32_t v = 0; v < in->solution->num_nodes; ++v) {
        const psfm_refined_image *image = &in->refined->images[v];
        if (!psfm_has_pose(&in->solution->poses, v)) {
            features[v] = (psfm_image_features){0};
            continue;
        }
        features[v].points = image->num_points;
        features[v].resected = image->resected;
        features[v].residual =
            in->noise_px > 0.0 ? image->mean_px / (RAYLEIGH_MEAN * in->noise_px) : 0.0;
    }
}

/* The distances of all observed points, image by image: begin has num_views + 1 entries. */
static psfm_status list_distances(psfm_context *ctx, const psfm_verdict_input *in, size_t *begin,
                                  double **distance) {
    const psfm_structure *st = &in->refined->structure;
    uint32_t n = in->solution->num_nodes;
    size_t num = st->num_points == 0 ? 0 : st->tracks.begin[st->num_points];
    psfm_status status = PSFM_ALLOC(ctx, num, distance);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k)
        ++begin[st->tracks.view[k] + 1];
    for (uint32_t v = 0; v < n; ++v)
        begin[v + 1] += begin[v];
    for (size_t p = 0; p < st->num_points; ++p) {
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k) {
            double ray[3];
            uint32_t v = st->tracks.view[k];
            psfm_sub3(st->points[p], in->solution->poses.center[v], ray);
            (*distance)[begin[v]++] = psfm_norm3(ray);
        }
    }
    for (uint32_t v = n; v > 0; --v) /* each begin has moved to the next one's */
        begin[v] = begin[v - 1];
    begin[0] = 0;
    return PSFM_OK;
}

static psfm_status find_depths(psfm_context *ctx, const psfm_verdict_input *in,
                               psfm_image_features *features) {
    double *distance = NULL;
    size_t *begin = NULL;
    uint32_t n = in->solution->num_nodes;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)n + 1, &begin);
    if (status == PSFM_OK)
        status = list_distances(ctx, in, begin, &distance);
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v)
        features[v].depth = psfm_median(distance + begin[v], begin[v + 1] - begin[v]);
    free(begin);
    free(distance);
    return status;
}

/* Half the length of the difference of two vectors. */
static double half_distance(const double a[3], const double b[3]) {
    double difference[3];
    psfm_sub3(a, b, difference);
    return 0.5 * psfm_norm3(difference);
}

static void take_halves(const psfm_pose_shift *a, const psfm_pose_shift *b,
                        psfm_image_features *image) {
    image->half_deg = PSFM_UNKNOWN_DEG;
    image->half_center = INFINITY;
    if (!a->known || !b->known)
        return;
    image->half_deg = psfm_degrees(half_distance(a->rotation, b->rotation));
    image->half_center = half_distance(a->center, b->center);
}

static void take_focal(const psfm_pose_shift *shift, psfm_image_features *image) {
    if (!shift->known)
        return;
    image->focal_deg = psfm_degrees(psfm_norm3(shift->rotation));
    image->focal_center = psfm_norm3(shift->center);
}

static void take_probes(const psfm_verdict_input *in, psfm_image_features *features) {
    static const psfm_pose_shift unknown = {0};
    const psfm_pose_shift *a = in->shift[PSFM_PROBE_HALF_A], *b = in->shift[PSFM_PROBE_HALF_B];
    const psfm_pose_shift *focal = in->shift[PSFM_PROBE_INTRINSICS];
    for (uint32_t v = 0; v < in->solution->num_nodes; ++v) {
        if (!psfm_has_pose(&in->solution->poses, v))
            continue;
        take_halves(a == NULL ? &unknown : &a[v], b == NULL ? &unknown : &b[v], &features[v]);
        if (focal != NULL)
            take_focal(&focal[v], &features[v]);
    }
}

double psfm_center_angle_deg(const psfm_image_features *image, double shift) {
    if (!isfinite(shift))
        return PSFM_UNKNOWN_DEG;
    return psfm_degrees(atan2(shift, image->depth));
}

psfm_status psfm_image_features_find(psfm_context *ctx, const psfm_verdict_input *input,
                                     psfm_image_features *features) {
    for (uint32_t v = 0; v < input->solution->num_nodes; ++v)
        features[v] = (psfm_image_features){0};
    count_edges(input, features);
    find_runner_ups(input, features);
    take_refined(input, features);
    take_probes(input, features);
    psfm_status status = find_joints(ctx, input, features);
    return status == PSFM_OK ? find_depths(ctx, input, features) : status;
}
