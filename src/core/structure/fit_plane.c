/* Planes by least squares with weights 1 / max(|r|, floor): IRLS for the L1 norm, which a few
 * mislabelled points do not move. The spread of a plane is 1.4826 times the median |r|. A set is
 * flat if it is much thinner than it is wide.
 *
 * Poses drift along a walk, and a wall along it curves with them: by some metres over kilometres,
 * more than it is high, though any part of it is flat. That it is one plane is what would take the
 * drift away. Worse, when it curves by more than it is high, it is thinnest from top to bottom, and
 * the plane fitted to it lies on the ground. So a set that is much longer than wide is halved
 * across its length until the patches are not. Where most points are in flat patches whose normals
 * are close to a common one, that is the plane's; its distance is the median. A round wall is flat
 * patch by patch as well, but its normals turn. */
#include "core/structure/fit_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"

static const double flat_ratio = 0.05;  /* of the two smaller variances of a flat set */
static const double long_ratio = 16.0;  /* of the two larger variances of a long set */
static const double line_ratio = 1e-10; /* of the same: on a line, but for rounding */

enum { CLOSELY = 15, ROUGHLY = 5 }; /* iterations */
enum { MOST_HALVINGS = 10 };

typedef struct {
    double variance[3]; /* ascending, not divided by the number */
    double axis[3];     /* of the largest */
} spread;

static double plane_offset(const psfm_flat_set *c, const double X[3]) {
    return psfm_dot3(c->normal, X) - c->distance;
}

/* Least squares, weighted (NULL: all 1): the direction of least spread about the mean. */
static spread fit_weighted(const double (*points)[3], const double *weight, psfm_flat_set *c) {
    double sum = 0.0, mean[3] = {0}, scatter[9] = {0}, V[9];
    spread s;
    for (size_t k = 0; k < c->num; ++k) {
        double wk = weight == NULL ? 1.0 : weight[k];
        psfm_axpy3(mean, wk, points[c->member[k]], mean);
        sum += wk;
    }
    psfm_scale3(1.0 / sum, mean, mean);
    for (size_t k = 0; k < c->num; ++k) {
        double d[3], wk = weight == NULL ? 1.0 : weight[k];
        psfm_sub3(points[c->member[k]], mean, d);
        for (int e = 0; e < 9; ++e)
            scatter[e] += wk * d[e / 3] * d[e % 3];
    }
    psfm_mat3_eigen_symmetric(scatter, s.variance, V);
    for (int k = 0; k < 3; ++k) {
        c->normal[k] = V[3 * k];
        s.axis[k] = V[3 * k + 2];
    }
    c->distance = psfm_dot3(c->normal, mean);
    return s;
}

void psfm_flat_set_refit(const double (*points)[3], psfm_flat_set *set) {
    (void)fit_weighted(points, NULL, set);
}

/* Median of |offset| over the members; `scratch` has room for them. */
static double median_offset(const double (*points)[3], const psfm_flat_set *c, double *scratch) {
    for (size_t k = 0; k < c->num; ++k)
        scratch[k] = fabs(plane_offset(c, points[c->member[k]]));
    return psfm_select(scratch, c->num, c->num / 2);
}

/* Room for a number each of all points of the set that is fitted. */
typedef struct {
    double *weight, *scratch;
} room;

static bool is_long(const spread *s) {
    return s->variance[2] > long_ratio * s->variance[1];
}

static spread fit_robustly(const double (*points)[3], int iterations, const room *r,
                           psfm_flat_set *c) {
    spread s = {0};
    for (size_t k = 0; k < c->num; ++k)
        r->weight[k] = 1.0;
    for (int it = 0; it < iterations; ++it) {
        s = fit_weighted(points, r->weight, c);
        c->sigma = PSFM_MAD_TO_SIGMA * median_offset(points, c, r->scratch);
        double floor = fmax(0.1 * c->sigma, 1e-300);
        for (size_t k = 0; k < c->num; ++k)
            r->weight[k] = floor / fmax(fabs(plane_offset(c, points[c->member[k]])), floor);
    }
    c->flat =
        s.variance[1] > line_ratio * s.variance[2] && s.variance[0] < flat_ratio * s.variance[1];
    return s;
}

/* ---- long sets ---- */

/* The normals of flat patches, with the number of their points. */
typedef struct {
    double (*normal)[3];
    size_t *weight;
    size_t num, room;
} flat_patches;

static psfm_status add_flat_patch(psfm_context *ctx, const psfm_flat_set *c, flat_patches *p) {
    size_t capacity = p->room;
    psfm_status status = PSFM_RESERVE(ctx, &p->normal, &capacity, p->num + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &p->weight, &p->room, p->num + 1);
    if (status == PSFM_OK) {
        memcpy(p->normal[p->num], c->normal, sizeof c->normal);
        p->weight[p->num++] = c->num;
    }
    return status;
}

/* Members on the lower side of the median along the axis first; returns how many. */
static size_t halve_set(const double (*points)[3], const double axis[3], double *scratch,
                        psfm_flat_set *c) {
    size_t low = 0;
    for (size_t k = 0; k < c->num; ++k)
        scratch[k] = psfm_dot3(axis, points[c->member[k]]);
    double middle = psfm_select(scratch, c->num, c->num / 2);
    for (size_t k = 0; k < c->num; ++k)
        if (psfm_dot3(axis, points[c->member[k]]) < middle) {
            uint32_t swapped = c->member[low];
            c->member[low++] = c->member[k];
            c->member[k] = swapped;
        }
    return low;
}

/* Collects flat patches. */
static psfm_status cut_set(psfm_context *ctx, const double (*points)[3], size_t min_points,
                           int halvings, const room *r, psfm_flat_set *c, flat_patches *p) {
    if (c->num < min_points)
        return PSFM_OK;
    spread s = fit_robustly(points, ROUGHLY, r, c);
    if (halvings == MOST_HALVINGS || !is_long(&s))
        return c->flat ? add_flat_patch(ctx, c, p) : PSFM_OK;
    size_t low = halve_set(points, s.axis, r->scratch, c);
    psfm_flat_set half[2] = {{.member = c->member, .num = low},
                             {.member = c->member + low, .num = c->num - low}};
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < 2 && low > 0; ++k)
        status = cut_set(ctx, points, min_points, halvings + 1, r, &half[k], p);
    return status;
}

/* How many points are in patches whose normals, of either sign, are within `reach` of `normal`;
 * their mean normal becomes `mean`. */
static size_t count_close(const flat_patches *p, const double normal[3], double reach,
                          double mean[3]) {
    size_t num = 0;
    double sum[3] = {0};
    for (size_t k = 0; k < p->num; ++k) {
        double sign = psfm_dot3(p->normal[k], normal) < 0.0 ? -1.0 : 1.0, n[3];
        psfm_scale3(sign, p->normal[k], n);
        if (psfm_angle3(n, normal) > reach)
            continue;
        psfm_axpy3(sum, (double)p->weight[k], n, sum);
        num += p->weight[k];
    }
    if (num > 0 && psfm_normalize3(sum) > 0.0)
        memcpy(mean, sum, sizeof sum);
    return num;
}

/* Whether most points are in patches of one orientation; then the normal of these. */
static bool patches_agree(const flat_patches *p, size_t num_points, double reach,
                          double normal[3]) {
    size_t most = 0;
    double best[3];
    for (size_t k = 0; k < p->num; ++k) {
        double mean[3];
        size_t num = count_close(p, p->normal[k], reach, mean);
        if (num > most) {
            most = num;
            memcpy(best, mean, sizeof best);
        }
    }
    if (2 * most <= num_points)
        return false;
    memcpy(normal, best, sizeof best);
    return 2 * count_close(p, best, reach, normal) > num_points;
}

/* Whether most points are in patches that have nothing to do with the normal. */
static bool patches_contradict(const flat_patches *p, size_t num_points, const double normal[3]) {
    size_t num = 0;
    for (size_t k = 0; k < p->num; ++k)
        num += fabs(psfm_dot3(p->normal[k], normal)) < M_SQRT1_2 ? p->weight[k] : 0;
    return 2 * num > num_points;
}

/* Takes the plane of the patches of a long set, if they have one and that of the whole is none. */
static psfm_status fit_flat_patches(psfm_context *ctx, const double (*points)[3], int min_points,
                                    double merge_deg, const room *r, psfm_flat_set *c) {
    flat_patches p = {0};
    psfm_flat_set whole = *c;
    double normal[3];
    psfm_status status = cut_set(ctx, points, (size_t)min_points, 0, r, &whole, &p);
    if (status == PSFM_OK)
        c->flat = c->flat && !patches_contradict(&p, c->num, c->normal);
    if (status == PSFM_OK && !c->flat &&
        patches_agree(&p, c->num, psfm_radians(merge_deg), normal)) {
        memcpy(c->normal, normal, sizeof normal);
        for (size_t k = 0; k < c->num; ++k)
            r->scratch[k] = psfm_dot3(c->normal, points[c->member[k]]);
        c->distance = psfm_select(r->scratch, c->num, c->num / 2);
        c->sigma = PSFM_MAD_TO_SIGMA * median_offset(points, c, r->scratch);
        c->flat = c->curved = true;
    }
    free(p.normal);
    free(p.weight);
    return status;
}

psfm_status psfm_flat_set_fit(psfm_context *ctx, const double (*points)[3], int min_points,
                              double merge_deg, psfm_flat_set *set) {
    room r = {0};
    psfm_status status = PSFM_ALLOC(ctx, set->num, &r.weight);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num, &r.scratch);
    set->flat = set->curved = false;
    if (status == PSFM_OK && set->num >= (size_t)min_points) {
        spread s = fit_robustly(points, CLOSELY, &r, set);
        if (is_long(&s))
            status = fit_flat_patches(ctx, points, min_points, merge_deg, &r, set);
    }
    free(r.weight);
    free(r.scratch);
    return status;
}
