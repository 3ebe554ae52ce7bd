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

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/linalg/angle.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/mat3.h"
#include "court/court_evidence.h"
#include "court/target.h"

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
static bool intersect_rays(const psfm_control_ray *s, size_t num, uint32_t point, double X[3]) {
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
        if (intersect_rays(rays, num, p, places[p]))
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
    psfm_sim3 best, tried;
} pixel_problem;

/* The similarity after a step of (rotation, log scale, shift in units of reach) about the pivot. */
static psfm_sim3 step_similarity(const pixel_problem *p, const psfm_sim3 *s,
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

static double sum_errors(const pixel_problem *p, const psfm_sim3 *s) {
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
static void add_ray(const pixel_problem *p, const psfm_sim3 *s, const psfm_control_ray *ray,
                    double A[NUM_PARAMETERS * NUM_PARAMETERS], double b[NUM_PARAMETERS]) {
    const double *Y = p->points[ray->point].at, h = 1e-6;
    double J[NUM_PARAMETERS][2], error[2];
    if (!isfinite(psfm_control_ray_error(ray, s, Y, error)))
        return;
    for (int k = 0; k < NUM_PARAMETERS; ++k) {
        double step[NUM_PARAMETERS] = {0}, plus[2], minus[2];
        step[k] = h;
        psfm_sim3 ahead = step_similarity(p, s, step);
        step[k] = -h;
        psfm_sim3 behind = step_similarity(p, s, step);
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

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *sum) {
    pixel_problem *p = user;
    double A[NUM_PARAMETERS * NUM_PARAMETERS] = {0}, b[NUM_PARAMETERS] = {0};
    (void)ctx;
    for (size_t i = 0; i < p->num; ++i)
        if (p->use[p->rays[i].point])
            add_ray(p, &p->best, &p->rays[i], A, b);
    for (int r = 0; r < NUM_PARAMETERS; ++r)
        A[(NUM_PARAMETERS + 1) * r] *= 1.0 + damping;
    if (!psfm_solve_spd(A, NUM_PARAMETERS, b))
        return PSFM_ERR_NUMERIC;
    p->tried = step_similarity(p, &p->best, b);
    *sum = sum_errors(p, &p->tried);
    return PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    pixel_problem *p = user;
    p->best = p->tried;
    return before - after < 1e-14 * before;
}

bool psfm_sim3_refine_pixels(const psfm_control_ray *rays, size_t num,
                             const psfm_control_point *points, const bool *use,
                             psfm_sim3 *world_from_model) {
    static const psfm_damping damping = {
        1e8, {0.1, 1.0, 0.0}, {10.0, 1.0, 0.0}, {100.0, 1.0, 1e-6 * 100.0}};
    pixel_problem p = {.rays = rays,
                       .num = num,
                       .points = points,
                       .use = use,
                       .reach = 1.0,
                       .best = *world_from_model};
    find_pivot(&p);
    double start = sum_errors(&p, &p.best);
    if (!isfinite(start))
        return false;
    (void)psfm_descend(&(psfm_descent){&p, 1e-6, &damping, attempt_step, accept_step},
                       MAX_ITERATIONS, start);
    *world_from_model = p.best;
    return true;
}

/* ---- lines of a drawing ---- */

/* Each registration knows its pose up to the court's turn. A model knows how its images are turned
 * against each other, so one of them decides for all: the one that most others agree with. */

#define SAME_TURN 3.0 /* degrees */

typedef struct {
    const psfm_model *model;
    const char *folder;
    const psfm_court *court;
    psfm_court_target target;
    psfm_court_pose *poses; /* per image of the model */
} finding;

static psfm_status register_image(psfm_context *ctx, size_t k, int worker, void *user) {
    finding *f = user;
    const psfm_model_image *image = &f->model->images[k];
    psfm_photo_camera camera = {psfm_model_camera(f->model, image->camera_id), PSFM_FOCAL_FIXED};
    psfm_image photograph = {0};
    char *path = NULL;
    (void)worker;
    f->poses[k].verdict = PSFM_COURT_NO_LINES;
    psfm_status status = psfm_photo_path(ctx, f->folder, image->name, &path);
    bool there = status == PSFM_OK && psfm_path_is_file(path);
    if (there)
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &photograph);
    if (psfm_is_bad_file(status)) {
        psfm_log(ctx, PSFM_LOG_WARNING, "left out: %s", psfm_context_message(ctx));
        there = false;
        status = PSFM_OK;
    }
    bool fits = there && status == PSFM_OK && (uint64_t)photograph.width == camera.camera->width &&
                (uint64_t)photograph.height == camera.camera->height;
    if (fits)
        status =
            psfm_court_target_register(ctx, &f->target, &photograph, camera, NULL, &f->poses[k]);
    psfm_image_free(&photograph);
    free(path);
    return status;
}

static bool is_registered(const finding *f, size_t k) {
    return f->poses[k].verdict == PSFM_COURT_ACCEPTED;
}

/* The turn of image k's registration that goes with the world of image `of`; -1 if none does. */
static int turn_with(const finding *f, size_t of, size_t k) {
    double A[9], B[9], model_21[9], R[9], t[3], court_21[9];
    psfm_rotation_from_quat(f->model->images[of].cam_from_world_q, A);
    psfm_rotation_from_quat(f->model->images[k].cam_from_world_q, B);
    psfm_mat3_mul_t(B, A, model_21);
    for (int i = 0; i < f->poses[k].num_turns; ++i) {
        psfm_court_pose_turn(&f->target.drawing, f->poses[k].turns[i], &f->poses[k], R, t);
        psfm_mat3_mul_t(R, f->poses[of].R, court_21);
        if (psfm_degrees(psfm_rotation_angle(court_21, model_21)) < SAME_TURN)
            return f->poses[k].turns[i];
    }
    return -1;
}

/* The registration that most others agree with; the number of images if there is none. */
static size_t find_leader(const finding *f) {
    size_t n = f->model->num_images, best = n, most = 0;
    for (size_t of = 0; of < n; ++of) {
        size_t num = 0;
        for (size_t k = 0; is_registered(f, of) && k < n; ++k)
            num += is_registered(f, k) && turn_with(f, of, k) >= 0;
        if (num > most) {
            most = num;
            best = of;
        }
    }
    return best;
}

static psfm_status add_view(psfm_context *ctx, const finding *f, size_t k, uint32_t point,
                            psfm_control_set *points) {
    const psfm_court_pose *pose = &f->poses[k];
    double q[3], xy[2];
    psfm_mat3_mul_vec(pose->R, points->points[point].at, q);
    psfm_axpy3(q, 1.0, pose->t, q);
    if (!(q[2] > 0.0) || !psfm_camera_project(&pose->camera, q, xy) || xy[0] < 0.0 || xy[1] < 0.0 ||
        xy[0] > (double)pose->camera.width || xy[1] > (double)pose->camera.height)
        return PSFM_OK;
    psfm_status status =
        PSFM_RESERVE(ctx, &points->views, &points->views_capacity, points->num_views + 1);
    if (status != PSFM_OK)
        return status;
    psfm_control_view *view = &points->views[points->num_views];
    *view = (psfm_control_view){.point = point, .xy = {xy[0], xy[1]}};
    status = psfm_strdup(ctx, f->model->images[k].name, &view->image);
    points->num_views += status == PSFM_OK;
    return status;
}

/* All marks of the court, as points without views. */
static psfm_status list_marks(psfm_context *ctx, const psfm_court *court,
                              psfm_control_set *points) {
    char labels[4096], *rest = NULL;
    psfm_status status = PSFM_OK;
    psfm_court_labels(court, labels, sizeof labels);
    for (char *label = strtok_r(labels, " ", &rest); label != NULL && status == PSFM_OK;
         label = strtok_r(NULL, " ", &rest)) {
        status =
            PSFM_RESERVE(ctx, &points->points, &points->points_capacity, points->num_points + 1);
        if (status != PSFM_OK)
            return status;
        psfm_control_point *point = &points->points[points->num_points];
        *point = (psfm_control_point){0};
        if (!psfm_court_find(court, label, point->at))
            continue;
        status = psfm_strdup(ctx, label, &point->label);
        points->num_points += status == PSFM_OK;
    }
    return status;
}

static psfm_status list_points(psfm_context *ctx, finding *f, psfm_control_set *points) {
    size_t leader = find_leader(f), num = 0;
    if (leader == f->model->num_images)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: no photograph shows the lines of a %s court",
                         f->folder, f->court->name);
    psfm_status status = list_marks(ctx, f->court, points);
    for (size_t k = 0; k < f->model->num_images && status == PSFM_OK; ++k) {
        int turn = is_registered(f, k) ? turn_with(f, leader, k) : -1;
        if (turn < 0)
            continue;
        if (k != leader) /* with whose pose the others are compared */
            status = psfm_court_pose_take_turn(ctx, &f->target.drawing, turn, &f->poses[k]);
        for (uint32_t p = 0; p < points->num_points && status == PSFM_OK; ++p)
            status = add_view(ctx, f, k, p, points);
        ++num;
    }
    if (status == PSFM_OK)
        psfm_log(ctx, PSFM_LOG_INFO, "%s: found in %zu photographs", f->court->name, num);
    return status;
}

psfm_status psfm_court_points_find(psfm_context *ctx, const psfm_model *model, const char *folder,
                                   const psfm_court *court, psfm_control_set *points) {
    psfm_court sized = *court; /* its marks are where its length and width have them */
    psfm_court_fix_size(&sized);
    finding f = {.model = model, .folder = folder, .court = &sized};
    *points = (psfm_control_set){0};
    if (!psfm_path_is_folder(folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", folder);
    psfm_status status = psfm_court_target_of_court(ctx, &sized, &f.target);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &f.poses);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "court", model->num_images, register_image, &f);
    if (status == PSFM_OK)
        status = list_points(ctx, &f, points);
    for (size_t k = 0; f.poses != NULL && k < model->num_images; ++k)
        psfm_court_pose_free(&f.poses[k]);
    free(f.poses);
    psfm_court_target_free(&f.target);
    if (status != PSFM_OK)
        psfm_control_free(points);
    return status;
}
