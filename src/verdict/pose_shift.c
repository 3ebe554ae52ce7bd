/* Alignment of a probe with a model: the rotation between the two worlds by the mean of the images'
 * own, then scale and translation of the centres. Both are reweighted for the least sum of
 * distances, so that a few images that moved do not drag the others along. Rotations are taken from
 * rotations, not from centres: two images suffice, and centres on a line. */
#include "verdict/pose_shift.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "linalg/mat3.h"

#define ROUNDS 12
#define NEAR 1e-7 /* distances below it weigh no more: radians, or share of the spread */

/* A component, its probe, and the similarity between them: X_probe = scale G X + t. */
typedef struct {
    const psfm_poses *poses;
    const psfm_probe *probe;
    uint32_t component;
    double G[9], scale, t[3];
} alignment;

static bool takes_part(const alignment *a, uint32_t v) {
    return a->poses->component[v] == a->component && a->probe->posed[v];
}

static void rotate_once(alignment *a) {
    double sum[9] = {0};
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double own[9];
        if (!takes_part(a, v))
            continue;
        psfm_mat3_t_mul(a->probe->cam_from_world[v], a->poses->cam_from_world[v], own);
        double weight = 1.0 / fmax(psfm_rotation_angle(own, a->G), NEAR);
        for (int k = 0; k < 9; ++k)
            sum[k] += weight * own[k];
    }
    double G[9];
    if (psfm_mat3_nearest_rotation(sum, G))
        memcpy(a->G, G, sizeof G);
}

/* Where the model's centre would be in the world of the probe, less the probe's own. */
static double miss(const alignment *a, uint32_t v, double turned[3]) {
    double off[3];
    psfm_mat3_mul_vec(a->G, a->poses->center[v], turned);
    for (int k = 0; k < 3; ++k)
        off[k] = a->scale * turned[k] + a->t[k] - a->probe->center[v][k];
    return psfm_norm3(off);
}

/* Weighted means of the centres in both worlds. */
static void find_means(const alignment *a, double near, bool reweigh, double mean[3],
                       double mean_probe[3], double *total) {
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double x[3];
        if (!takes_part(a, v))
            continue;
        double distance = miss(a, v, x), weight = reweigh ? 1.0 / fmax(distance, near) : 1.0;
        psfm_axpy3(mean, weight, x, mean);
        psfm_axpy3(mean_probe, weight, a->probe->center[v], mean_probe);
        *total += weight;
    }
    psfm_scale3(1.0 / *total, mean, mean);
    psfm_scale3(1.0 / *total, mean_probe, mean_probe);
}

/* Scale and translation by least squares with the weights of the last ones. Returns the spread of
 * the centres in the world of the probe. */
static double place_once(alignment *a, double near, bool reweigh) {
    double mean[3] = {0}, mean_probe[3] = {0}, total = 0.0, cross = 0.0, square = 0.0, spread = 0.0;
    find_means(a, near, reweigh, mean, mean_probe, &total);
    for (uint32_t v = 0; v < a->poses->num_views; ++v) {
        double x[3], y[3];
        if (!takes_part(a, v))
            continue;
        double distance = miss(a, v, x), weight = reweigh ? 1.0 / fmax(distance, near) : 1.0;
        psfm_sub3(x, mean, x);
        psfm_sub3(a->probe->center[v], mean_probe, y);
        cross += weight * psfm_dot3(x, y);
        square += weight * psfm_dot3(x, x);
        spread = fmax(spread, psfm_norm3(y));
    }
    if (square > 0.0 && cross > 0.0)
        a->scale = cross / square;
    psfm_axpy3(mean_probe, -a->scale, mean, a->t);
    return spread;
}

static uint32_t count_parts(const alignment *a) {
    uint32_t count = 0;
    for (uint32_t v = 0; v < a->poses->num_views; ++v)
        count += takes_part(a, v);
    return count;
}

static void measure(const alignment *a, uint32_t v, psfm_pose_shift *shift) {
    double turned[9], off[9], center[3];
    psfm_mat3_mul(a->probe->cam_from_world[v], a->G, turned);
    psfm_mat3_mul_t(turned, a->poses->cam_from_world[v], off);
    psfm_rotation_log(off, shift->rotation);
    for (int k = 0; k < 3; ++k)
        center[k] = (a->probe->center[v][k] - a->t[k]) / a->scale;
    psfm_mat3_tmul_vec(a->G, center, center);
    psfm_sub3(center, a->poses->center[v], shift->center);
    shift->known = true;
}

void psfm_pose_shifts_find(const psfm_poses *poses, uint32_t component, const psfm_probe *probe,
                           psfm_pose_shift *shift) {
    alignment a = {.poses = poses, .probe = probe, .component = component, .scale = 1.0};
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
            measure(&a, v, &shift[v]);
    }
}
