/* The dominant plane of a cloud, by samples of three points scored by how many points are near
 * (with truncated squares, so that close points count more), and least squares on the near ones.
 * The scale of a model is free, so that "near" is a share of the viewing distance. */
#include "core/structure/dominant_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define NUM_SAMPLES 400
#define SCORED_POINTS 3000 /* points that score a sample, evenly spaced */
#define NEAR 0.004         /* of the viewing distance */
#define MIN_POINTS 10
#define MIN_SHARE 0.2
#define ROUNDS 5

typedef struct {
    size_t num;
    const double (*points)[3];
    double tolerance;
} cloud;

static double plane_offset(const double normal[3], double distance, const double X[3]) {
    return psfm_dot3(normal, X) - distance;
}

/* Median distance of the points from the middle of the centres. */
static psfm_status viewing_distance(psfm_context *ctx, const cloud *c, size_t num_centers,
                                    const double (*centers)[3], double *out) {
    double middle[3] = {0}, *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, c->num, &values);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num_centers; ++k)
        psfm_axpy3(middle, 1.0 / (double)num_centers, centers[k], middle);
    for (size_t k = 0; k < c->num; ++k) {
        double d[3];
        psfm_sub3(c->points[k], middle, d);
        values[k] = psfm_norm3(d);
    }
    *out = psfm_median(values, c->num);
    free(values);
    return PSFM_OK;
}

static double score_plane(const cloud *c, const double normal[3], double distance) {
    double sum = 0.0;
    for (size_t k = 0; k < c->num; k += (c->num - 1) / SCORED_POINTS + 1) {
        double e = plane_offset(normal, distance, c->points[k]) / c->tolerance;
        if (e * e < 1.0)
            sum += 1.0 - e * e;
    }
    return sum;
}

static double search_plane(psfm_context *ctx, const cloud *c, double normal[3], double *distance) {
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_ALIGN, c->num, 1);
    double best = 0.0;
    for (int s = 0; s < NUM_SAMPLES; ++s) {
        uint32_t pick[3];
        double a[3], b[3], n[3];
        psfm_rng_sample(&rng, c->num, 3, pick);
        psfm_sub3(c->points[pick[1]], c->points[pick[0]], a);
        psfm_sub3(c->points[pick[2]], c->points[pick[0]], b);
        psfm_cross3(a, b, n);
        if (!(psfm_normalize3(n) > 0.0))
            continue;
        double d = psfm_dot3(n, c->points[pick[0]]), value = score_plane(c, n, d);
        if (value > best) {
            best = value;
            memcpy(normal, n, sizeof n);
            *distance = d;
        }
    }
    return best;
}

/* Least squares on the near points; returns how many there are. */
static size_t refit_plane(const cloud *c, double normal[3], double *distance) {
    double mean[3] = {0}, scatter[9] = {0}, w[3], V[9];
    size_t num = 0;
    for (size_t k = 0; k < c->num; ++k) {
        if (fabs(plane_offset(normal, *distance, c->points[k])) < c->tolerance) {
            psfm_axpy3(mean, 1.0, c->points[k], mean);
            ++num;
        }
    }
    if (num < 3)
        return num;
    psfm_scale3(1.0 / (double)num, mean, mean);
    for (size_t k = 0; k < c->num; ++k) {
        double d[3];
        if (!(fabs(plane_offset(normal, *distance, c->points[k])) < c->tolerance))
            continue;
        psfm_sub3(c->points[k], mean, d);
        for (int e = 0; e < 9; ++e)
            scatter[e] += d[e / 3] * d[e % 3];
    }
    psfm_mat3_eigen_symmetric(scatter, w, V);
    for (int k = 0; k < 3; ++k)
        normal[k] = V[3 * k];
    *distance = psfm_dot3(normal, mean);
    return num;
}

static void face_centers(size_t num, const double (*centers)[3], psfm_scene_plane *plane) {
    size_t in_front = 0;
    for (size_t k = 0; k < num; ++k)
        in_front += plane_offset(plane->normal, plane->distance, centers[k]) > 0.0;
    if (2 * in_front >= num)
        return;
    psfm_scale3(-1.0, plane->normal, plane->normal);
    plane->distance = -plane->distance;
}

/* Sets polygon, area, points and sigma from the near points. */
static psfm_status outline_plane(psfm_context *ctx, const cloud *c, psfm_scene_plane *plane) {
    uint32_t *near = NULL;
    double squares = 0.0;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, c->num, &near);
    for (size_t k = 0; status == PSFM_OK && k < c->num; ++k) {
        double e = plane_offset(plane->normal, plane->distance, c->points[k]);
        if (!(fabs(e) < c->tolerance))
            continue;
        squares += e * e;
        near[num++] = (uint32_t)k;
    }
    plane->sigma = sqrt(squares / (double)(num > 0 ? num : 1));
    if (status == PSFM_OK)
        status = psfm_scene_plane_outline(ctx, c->points, near, num, plane);
    free(near);
    return status;
}

psfm_status psfm_dominant_plane(psfm_context *ctx, size_t num_points, const double (*points)[3],
                                size_t num_centers, const double (*centers)[3],
                                psfm_scene_plane *plane) {
    cloud c = {num_points, points, 0.0};
    psfm_scene_plane made = {0};
    double viewing = 0.0;
    *plane = made;
    if (num_points < MIN_POINTS || num_centers == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%zu points are too few to find a plane", num_points);
    psfm_status status = viewing_distance(ctx, &c, num_centers, centers, &viewing);
    if (status != PSFM_OK)
        return status;
    c.tolerance = NEAR * viewing;
    size_t near = 0;
    if (search_plane(ctx, &c, made.normal, &made.distance) > 0.0)
        for (int k = 0; k < ROUNDS; ++k)
            near = refit_plane(&c, made.normal, &made.distance);
    if ((double)near < MIN_SHARE * (double)num_points || near < MIN_POINTS)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "no plane has a fifth of the model's %zu points near it", num_points);
    face_centers(num_centers, centers, &made);
    status = outline_plane(ctx, &c, &made);
    if (status != PSFM_OK)
        free(made.polygon);
    else
        *plane = made;
    return status;
}
