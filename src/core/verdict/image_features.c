/* Features of images: counts of what the engine and the refinement found, and how far stability
 * tests move their poses. */
#include "core/verdict/image_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "core/verdict/weak_connection.h"

#define RAYLEIGH_MEAN \
    1.2533141373155 /* mean length of a planar normal error of unit standard deviation */

/* A relative pose of few matches may be off while its matches agree with the poses: that is no
 * contradiction. */

#define FEW_MATCHES 8      /* of these, no share is told */
#define MOST_EXPLAINED 0.6 /* share of its matches: an edge of more does not contradict */

bool psfm_edge_contradicts(const psfm_verdict_input *input, uint32_t edge) {
    if (input->refined->edges == NULL)
        return !input->edges->accepted[edge];
    const psfm_edge_matches *matches = &input->refined->edges[edge];
    return matches->own >= FEW_MATCHES && matches->explained < MOST_EXPLAINED * matches->own;
}

/* Contradicting edges count for the matches that the poses leave over. */
static psfm_status weigh_matches(psfm_context *ctx, const psfm_verdict_input *in,
                                 psfm_image_features *features) {
    const uint32_t n = in->solution->num_nodes;
    double *own = NULL;
    if (in->refined->edges == NULL)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, n, &own);
    for (uint32_t e = 0; status == PSFM_OK && e < in->graph->num_edges; ++e) {
        const psfm_edge_matches *matches = &in->refined->edges[e];
        const uint32_t nodes[2] = {in->graph->edges[e].node1, in->graph->edges[e].node2};
        if (!psfm_share_world(&in->solution->poses, nodes[0], nodes[1])) /* no more */
            continue;
        bool contradicts = psfm_edge_contradicts(in, e);
        for (int k = 0; k < 2; ++k) {
            own[nodes[k]] += matches->own;
            features[nodes[k]].unexplained += contradicts ? matches->own - matches->explained : 0;
        }
    }
    for (uint32_t v = 0; status == PSFM_OK && v < n; ++v)
        features[v].unexplained /= fmax(own[v], 1.0);
    free(own);
    return status;
}

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
        for (uint32_t i = 0; own->kind == PSFM_AMBIGUITY_ROTATION && i < own->cut.num_nodes; ++i) {
            psfm_image_features *image = &features[own->cut.node[i]];
            image->runner_up = fmax(image->runner_up, psfm_ambiguity_ratio(own));
        }
    }
}

static psfm_status find_weak_connections(psfm_context *ctx, const psfm_verdict_input *in,
                                         psfm_image_features *features) {
    double *weak_connection = NULL;
    psfm_status status = PSFM_ALLOC(ctx, in->solution->num_nodes, &weak_connection);
    for (uint32_t c = 0; status == PSFM_OK && c < in->solution->num_components; ++c)
        status = psfm_weak_connection_find(ctx, in->graph, in->edges->accepted,
                                           &in->solution->poses, c, weak_connection);
    for (uint32_t v = 0; status == PSFM_OK && v < in->solution->num_nodes; ++v)
        features[v].weak_connection = weak_connection[v];
    free(weak_connection);
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

static void take_stability_tests(const psfm_verdict_input *in, psfm_image_features *features) {
    static const psfm_pose_shift unknown = {0};
    const psfm_pose_shift *a = in->shift[PSFM_STABILITY_HALF_A],
                          *b = in->shift[PSFM_STABILITY_HALF_B];
    const psfm_pose_shift *focal = in->shift[PSFM_STABILITY_INTRINSICS];
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
    take_stability_tests(input, features);
    psfm_status status = weigh_matches(ctx, input, features);
    if (status == PSFM_OK)
        status = find_weak_connections(ctx, input, features);
    return status == PSFM_OK ? find_depths(ctx, input, features) : status;
}

/* ---- shifts of poses ---- */

/* Alignment of a stability test with a model: the rotation between the two worlds by the mean of
 * the images' own, then scale and translation of the centres. Both are reweighted for the least sum
 * of distances, so that a few images that moved do not drag the others along. Rotations are taken
 * from rotations, not from centres: two images suffice, and centres on a line. */

#define ROUNDS 12
#define NEAR 1e-7 /* distances below it weigh no more: radians, or share of the spread */

/* A component, its stability test, and the similarity between them: X_test = scale G X + t. */
typedef struct {
    const psfm_poses *poses;
    const psfm_stability_test *test;
    uint32_t component;
    double G[9], scale, t[3];
} alignment;

static bool takes_part(const alignment *a, uint32_t v) {
    return a->poses->component[v] == a->component && a->test->posed[v];
}

static void rotate_once(alignment *a) {
    double sum[9] = {0};
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double own[9];
        if (!takes_part(a, v))
            continue;
        psfm_mat3_t_mul(a->test->cam_from_world[v], a->poses->cam_from_world[v], own);
        double weight = 1.0 / fmax(psfm_rotation_angle(own, a->G), NEAR);
        for (int k = 0; k < 9; ++k)
            sum[k] += weight * own[k];
    }
    double G[9];
    if (psfm_mat3_nearest_rotation(sum, G))
        memcpy(a->G, G, sizeof G);
}

/* Where the model's centre would be in the world of the test, less the test's own. */
static double center_miss(const alignment *a, uint32_t v, double turned[3]) {
    double off[3];
    psfm_mat3_mul_vec(a->G, a->poses->center[v], turned);
    for (int k = 0; k < 3; ++k)
        off[k] = a->scale * turned[k] + a->t[k] - a->test->center[v][k];
    return psfm_norm3(off);
}

/* Weighted means of the centres in both worlds. */
static void find_means(const alignment *a, double near, bool reweigh, double mean[3],
                       double mean_test[3], double *total) {
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double x[3];
        if (!takes_part(a, v))
            continue;
        double distance = center_miss(a, v, x), weight = reweigh ? 1.0 / fmax(distance, near) : 1.0;
        psfm_axpy3(mean, weight, x, mean);
        psfm_axpy3(mean_test, weight, a->test->center[v], mean_test);
        *total += weight;
    }
    psfm_scale3(1.0 / *total, mean, mean);
    psfm_scale3(1.0 / *total, mean_test, mean_test);
}

/* Scale and translation by least squares with the weights of the last ones. Returns the spread of
 * the centres in the world of the test. */
static double place_once(alignment *a, double near, bool reweigh) {
    double mean[3] = {0}, mean_test[3] = {0}, total = 0.0, cross = 0.0, square = 0.0, spread = 0.0;
    find_means(a, near, reweigh, mean, mean_test, &total);
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double x[3], y[3];
        if (!takes_part(a, v))
            continue;
        double distance = center_miss(a, v, x), weight = reweigh ? 1.0 / fmax(distance, near) : 1.0;
        psfm_sub3(x, mean, x);
        psfm_sub3(a->test->center[v], mean_test, y);
        cross += weight * psfm_dot3(x, y);
        square += weight * psfm_dot3(x, x);
        spread = fmax(spread, psfm_norm3(y));
    }
    if (square > 0.0 && cross > 0.0)
        a->scale = cross / square;
    psfm_axpy3(mean_test, -a->scale, mean, a->t);
    return spread;
}

static uint32_t count_parts(const alignment *a) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < a->poses->num_views; ++v)
        count += takes_part(a, v);
    return count;
}

static void measure_shift(const alignment *a, uint32_t v, psfm_pose_shift *shift) {
    double turned[9], off[9], center[3];
    psfm_mat3_mul(a->test->cam_from_world[v], a->G, turned);
    psfm_mat3_mul_t(turned, a->poses->cam_from_world[v], off);
    psfm_rotation_log(off, shift->rotation);
    for (int k = 0; k < 3; ++k)
        center[k] = (a->test->center[v][k] - a->t[k]) / a->scale;
    psfm_mat3_tmul_vec(a->G, center, center);
    psfm_sub3(center, a->poses->center[v], shift->center);
    shift->known = true;
}

void psfm_pose_shifts_find(const psfm_poses *poses, uint32_t component,
                           const psfm_stability_test *test, psfm_pose_shift *shift) {
    alignment a = {.poses = poses, .test = test, .component = component, .scale = 1.0};
    bool enough = count_parts(&a) >= 2;
    double spread = 0.0;
    psfm_mat3_identity(a.G);
    for (int k = 0; enough && k < ROUNDS; ++k)
        rotate_once(&a);
    for (int k = 0; enough && k < ROUNDS; ++k)
        spread = place_once(&a, NEAR * spread, k > 0);
    for (uint32_t v = 0; v < poses->num_views; ++v) {
        if (poses->component[v] != component)
            continue;
        shift[v] = (psfm_pose_shift){0};
        if (enough && takes_part(&a, v))
            measure_shift(&a, v, &shift[v]);
    }
}
