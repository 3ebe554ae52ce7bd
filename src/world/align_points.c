/* Control points in a model.
 *
 * Placing: the point X nearest to all rays minimises sum |(I - r r^T)(X - c)|^2 / depth^2; linear
 * for fixed depths, repeated a few times. Rays that meet at less than a degree give no depth; such
 * a point, like one with a single ray, is put on the plane.
 *
 * Refinement: the pixel of world point Y is predicted from x = R^T (Y - t) / s. Levenberg-Marquardt
 * over a small rotation (3), the logarithm of the scale (1) and the shift (3), with derivatives by
 * central differences: seven parameters, a handful of points, nothing to gain from more. */
#include "world/align_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/mat3.h"
#include "twoview/least_squares.h"

#define MIN_COS_SPREAD 0.99985 /* of a degree */
#define NUM_PARAMETERS 7
#define MAX_ITERATIONS 50

const psfm_model_image *psfm_model_image_by_name(const psfm_model *model, const char *name) {
    for (size_t k = 0; k < model->num_images; ++k)
        if (strcmp(model->images[k].name, name) == 0)
            return &model->images[k];
    return NULL;
}

/* Names each image that the model lacks once. */
static void warn_unknown(psfm_context *ctx, const psfm_control_set *points, size_t k) {
    for (size_t before = 0; before < k; ++before)
        if (strcmp(points->views[before].image, points->views[k].image) == 0)
            return;
    psfm_log(ctx, PSFM_LOG_WARNING, "%s: the model has no image of this name",
             points->views[k].image);
}

psfm_status psfm_control_rays_make(psfm_context *ctx, const psfm_model *model,
                                   const psfm_control_set *points, psfm_control_ray **rays,
                                   size_t *num) {
    psfm_control_ray *made = NULL;
    psfm_status status = PSFM_ALLOC(ctx, points->num_views, &made);
    if (status != PSFM_OK)
        return status;
    size_t count = 0;
    for (size_t k = 0; k < points->num_views; ++k) {
        const psfm_control_view *view = &points->views[k];
        const psfm_model_image *image = psfm_model_image_by_name(model, view->image);
        psfm_control_ray *s = &made[count];
        double ray[3];
        if (image == NULL) {
            warn_unknown(ctx, points, k);
            continue;
        }
        s->camera = psfm_model_camera(model, image->camera_id);
        if (!psfm_camera_unproject(s->camera, view->xy, ray)) {
            psfm_log(ctx, PSFM_LOG_WARNING, "%s has no ray at (%g, %g)", view->image, view->xy[0],
                     view->xy[1]);
            continue;
        }
        s->point = view->point;
        memcpy(s->xy, view->xy, sizeof s->xy);
        psfm_rotation_from_quat(image->cam_from_world_q, s->cam_from_model_R);
        psfm_model_image_center(image, s->center);
        psfm_mat3_tmul_vec(s->cam_from_model_R, ray, s->direction);
        ++count;
    }
    *rays = made;
    *num = count;
    return PSFM_OK;
}

bool psfm_ray_meets_plane(const double center[3], const double ray[3],
                          const psfm_scene_plane *plane, double X[3]) {
    double slope = psfm_dot3(plane->normal, ray);
    double depth = (plane->distance - psfm_dot3(plane->normal, center)) / slope;
    if (!isfinite(depth) || !(depth > 0.0))
        return false;
    psfm_axpy3(center, depth, ray, X);
    return true;
}

/* The point nearest to the rays of one control point; false if they do not tell. */
static bool intersect(const psfm_control_ray *s, size_t num, uint32_t point, double X[3]) {
    const double *first = NULL;
    bool spread = false, placed = false;
    for (size_t k = 0; k < num; ++k) {
        if (s[k].point != point)
            continue;
        if (first == NULL)
            first = s[k].direction;
        spread = spread || psfm_dot3(first, s[k].direction) < MIN_COS_SPREAD;
    }
    for (int round = 0; spread && round < 5; ++round) {
        double A[9] = {0}, b[3] = {0}, inverse[9];
        for (size_t k = 0; k < num; ++k) {
            double P[9], Pc[3], d[3], depth = 1.0;
            if (s[k].point != point)
                continue;
            if (placed) {
                psfm_sub3(X, s[k].center, d);
                depth = fmax(psfm_norm3(d), 1e-12);
            }
            for (int e = 0; e < 9; ++e)
                P[e] = ((e % 4 == 0) - s[k].direction[e / 3] * s[k].direction[e % 3]) /
                       (depth * depth);
            psfm_mat3_mul_vec(P, s[k].center, Pc);
            for (int e = 0; e < 9; ++e)
                A[e] += P[e];
            psfm_axpy3(b, 1.0, Pc, b);
        }
        if (!psfm_mat3_inverse(A, inverse))
            return false;
        psfm_mat3_mul_vec(inverse, b, X);
        placed = true;
    }
    return placed;
}

void psfm_control_rays_place(const psfm_control_ray *rays, size_t num, size_t num_points,
                             const psfm_scene_plane *plane, double (*places)[3]) {
    for (uint32_t p = 0; p < num_points; ++p) {
        double sum[3] = {0}, count = 0.0, X[3];
        places[p][0] = places[p][1] = places[p][2] = NAN;
        if (intersect(rays, num, p, places[p]))
            continue;
        for (size_t k = 0; plane != NULL && k < num; ++k) {
            if (rays[k].point != p ||
                !psfm_ray_meets_plane(rays[k].center, rays[k].direction, plane, X))
                continue;
            psfm_axpy3(sum, 1.0, X, sum);
            count += 1.0;
        }
        if (count > 0.0)
            psfm_scale3(1.0 / count, sum, places[p]);
    }
}

double psfm_control_ray_error(const psfm_control_ray *ray, const psfm_sim3 *world_from_model,
                              const double Y[3], double error[2]) {
    double d[3], X[3], camera[3], xy[2];
    psfm_sub3(Y, world_from_model->t, d);
    psfm_mat3_tmul_vec(world_from_model->R, d, X);
    psfm_scale3(1.0 / world_from_model->scale, X, X);
    psfm_sub3(X, ray->center, X);
    psfm_mat3_mul_vec(ray->cam_from_model_R, X, camera);
    if (!psfm_camera_project(ray->camera, camera, xy))
        return INFINITY;
    error[0] = xy[0] - ray->xy[0];
    error[1] = xy[1] - ray->xy[1];
    return hypot(error[0], error[1]);
}

typedef struct {
    const psfm_control_ray *rays;
    size_t num;
    const psfm_control_point *points;
    const bool *use;
    double pivot[3]; /* world; rotation and scale act about it, which keeps the shift apart */
    double reach;    /* root mean square distance of the points from it */
} pixel_problem;

/* The similarity after a step of (rotation, log scale, shift in units of reach) about the pivot. */
static psfm_sim3 stepped(const pixel_problem *p, const psfm_sim3 *s,
                         const double step[NUM_PARAMETERS]) {
    psfm_sim3 out;
    double turn[9], d[3], moved[3];
    psfm_rotation_exp(step, turn);
    double grow = exp(step[3]);
    psfm_mat3_mul(turn, s->R, out.R);
    out.scale = s->scale * grow;
    psfm_sub3(s->t, p->pivot, d);
    psfm_mat3_mul_vec(turn, d, moved);
    psfm_axpy3(p->pivot, grow, moved, out.t);
    psfm_axpy3(out.t, p->reach, step + 4, out.t);
    return out;
}

static double cost(const pixel_problem *p, const psfm_sim3 *s) {
    double sum = 0.0, error[2];
    for (size_t k = 0; k < p->num; ++k) {
        uint32_t point = p->rays[k].point;
        if (!p->use[point])
            continue;
        double e = psfm_control_ray_error(&p->rays[k], s, p->points[point].at, error);
        sum += e * e;
    }
    return sum;
}

/* Adds the ray's part to the normal equations. */
static void accumulate(const pixel_problem *p, const psfm_sim3 *s, const psfm_control_ray *ray,
                       double A[NUM_PARAMETERS * NUM_PARAMETERS], double b[NUM_PARAMETERS]) {
    const double *Y = p->points[ray->point].at, h = 1e-6;
    double J[NUM_PARAMETERS][2], error[2];
    if (!isfinite(psfm_control_ray_error(ray, s, Y, error)))
        return;
    for (int k = 0; k < NUM_PARAMETERS; ++k) {
        double step[NUM_PARAMETERS] = {0}, plus[2], minus[2];
        step[k] = h;
        psfm_sim3 ahead = stepped(p, s, step);
        step[k] = -h;
        psfm_sim3 behind = stepped(p, s, step);
        if (!isfinite(psfm_control_ray_error(ray, &ahead, Y, plus)) ||
            !isfinite(psfm_control_ray_error(ray, &behind, Y, minus)))
            return;
        J[k][0] = (plus[0] - minus[0]) / (2.0 * h);
        J[k][1] = (plus[1] - minus[1]) / (2.0 * h);
    }
    for (int r = 0; r < NUM_PARAMETERS; ++r) {
        b[r] -= J[r][0] * error[0] + J[r][1] * error[1];
        for (int c = 0; c < NUM_PARAMETERS; ++c)
            A[NUM_PARAMETERS * r + c] += J[r][0] * J[c][0] + J[r][1] * J[c][1];
    }
}

static void find_pivot(pixel_problem *p) {
    double count = 0.0, sum = 0.0;
    for (size_t k = 0; k < p->num; ++k) {
        if (!p->use[p->rays[k].point])
            continue;
        psfm_axpy3(p->pivot, 1.0, p->points[p->rays[k].point].at, p->pivot);
        count += 1.0;
    }
    psfm_scale3(1.0 / fmax(count, 1.0), p->pivot, p->pivot);
    for (size_t k = 0; k < p->num; ++k) {
        double d[3];
        if (!p->use[p->rays[k].point])
            continue;
        psfm_sub3(p->points[p->rays[k].point].at, p->pivot, d);
        sum += psfm_dot3(d, d) / fmax(count, 1.0);
    }
    p->reach = sum > 0.0 ? sqrt(sum) : 1.0;
}

bool psfm_sim3_refine_pixels(const psfm_control_ray *rays, size_t num,
                             const psfm_control_point *points, const bool *use,
                             psfm_sim3 *world_from_model) {
    pixel_problem p = {rays, num, points, use, {0}, 1.0};
    psfm_sim3 best = *world_from_model;
    find_pivot(&p);
    double now = cost(&p, &best), damping = 1e-6;
    if (!isfinite(now))
        return false;
    for (int k = 0; k < MAX_ITERATIONS && damping < 1e8; ++k) {
        double A[NUM_PARAMETERS * NUM_PARAMETERS] = {0}, b[NUM_PARAMETERS] = {0};
        for (size_t i = 0; i < num; ++i)
            if (use[rays[i].point])
                accumulate(&p, &best, &rays[i], A, b);
        for (int r = 0; r < NUM_PARAMETERS; ++r)
            A[(NUM_PARAMETERS + 1) * r] *= 1.0 + damping;
        if (!psfm_solve_spd(A, NUM_PARAMETERS, b)) {
            damping = fmax(damping, 1e-6) * 100.0;
            continue;
        }
        psfm_sim3 tried = stepped(&p, &best, b);
        double then = cost(&p, &tried);
        if (!(then < now)) {
            damping *= 10.0;
            continue;
        }
        bool done = now - then < 1e-14 * now;
        best = tried;
        now = then;
        damping *= 0.1;
        if (done)
            break;
    }
    *world_from_model = best;
    return true;
}
