/* Each point is found anew from its observations by Gauss-Newton steps with Cauchy's loss, from
 * where their rays come nearest to each other. A point takes three of the 2 n residuals of a track
 * of n images, so residuals are scaled by 1 / sqrt(1 - 3 / 2n) to be comparable. */
#include "eval/track_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/parallel.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define STEPS 8
#define LOSS_PX 0.5 /* scale of the loss */
#define MIN_LENGTH 3
#define MEDIAN_OF_RAYLEIGH 1.17741

typedef struct {
    const psfm_camera *camera;
    double R[9], center[3];
} pose;

typedef struct {
    const psfm_model *model;
    pose *poses[2]; /* of the estimate and of the truth, per image of the model */
    bool *known;    /* per image: the truth has it */
    size_t *begin;  /* per point: first residual */
    double *residuals[2];
} comparison;

static pose make_pose(const psfm_model *model, const psfm_model_image *image) {
    pose p = {.camera = psfm_model_camera(model, image->camera_id)};
    psfm_rotation_from_quat(image->cam_from_world_q, p.R);
    psfm_model_image_center(image, p.center);
    return p;
}

/* The images of the model among the truth's. */
static psfm_status match_images(psfm_context *ctx, const psfm_model *truth, comparison *c) {
    const char **names = NULL;
    psfm_name_index index = {0};
    psfm_status status = PSFM_ALLOC(ctx, truth->num_images, &names);
    for (size_t k = 0; status == PSFM_OK && k < truth->num_images; ++k)
        names[k] = truth->images[k].name;
    if (status == PSFM_OK)
        status = psfm_name_index_init(ctx, names, truth->num_images, &index);
    for (size_t k = 0; status == PSFM_OK && k < c->model->num_images; ++k) {
        const psfm_model_image *image = &c->model->images[k];
        size_t found;
        c->poses[0][k] = make_pose(c->model, image);
        c->known[k] = psfm_name_index_find(&index, image->name, strlen(image->name), &found);
        if (c->known[k])
            c->poses[1][k] = make_pose(truth, &truth->images[found]);
        c->known[k] = c->known[k] && c->poses[0][k].camera != NULL && c->poses[1][k].camera != NULL;
    }
    psfm_name_index_free(&index);
    free((void *)names);
    return status;
}

/* An observation and the image it is in. */
typedef struct {
    size_t image;
    const double *xy;
} observation;

/* The observations of a point in known images; returns their number. list may be NULL. */
static size_t list_observations(const comparison *c, const psfm_model_point *point,
                                observation *list) {
    size_t num = 0;
    for (size_t k = 0; k < point->track_length; ++k) {
        const psfm_track_element *element = &point->track[k];
        const psfm_model_image *image = psfm_model_image_by_id(c->model, element->image_id);
        size_t idx = image == NULL ? 0 : (size_t)(image - c->model->images);
        if (image == NULL || !c->known[idx])
            continue;
        if (list != NULL)
            list[num] = (observation){idx, image->keypoints[element->keypoint_idx]};
        ++num;
    }
    return num;
}

/* The point nearest to all rays. */
static bool intersect_rays(const pose *poses, const observation *seen, size_t num, double X[3]) {
    double A[9] = {0}, b[3] = {0};
    for (size_t k = 0; k < num; ++k) {
        const pose *p = &poses[seen[k].image];
        double ray[3], r[3];
        if (!psfm_camera_unproject(p->camera, seen[k].xy, ray))
            return false;
        psfm_mat3_tmul_vec(p->R, ray, r);
        psfm_scale3(1.0 / psfm_norm3(r), r, r);
        for (int i = 0; i < 3; ++i) {
            for (int c = 0; c < 3; ++c) {
                double across = (i == c) - r[i] * r[c];
                A[3 * i + c] += across;
                b[i] += across * p->center[c];
            }
        }
    }
    return psfm_mat3_solve(A, b, X);
}

/* Residual of an observation; false if the point has no image there. */
static bool find_residual(const pose *p, const double xy[2], const double X[3], double r[2],
                          double J[6]) {
    double D[3], ray[3], at[2], by_ray[6];
    psfm_sub3(X, p->center, D);
    psfm_mat3_mul_vec(p->R, D, ray);
    if (!psfm_camera_project_jacobian(p->camera, ray, at, by_ray))
        return false;
    for (int k = 0; k < 2; ++k) {
        r[k] = at[k] - xy[k];
        psfm_mat3_tmul_vec(p->R, by_ray + 3 * k, J + 3 * k);
    }
    return true;
}

static bool improve_point(const pose *poses, const observation *seen, size_t num, double X[3]) {
    double A[9] = {0}, b[3] = {0}, step[3];
    for (size_t k = 0; k < num; ++k) {
        double r[2], J[6];
        if (!find_residual(&poses[seen[k].image], seen[k].xy, X, r, J))
            return false;
        double weight = psfm_cauchy_weight(r[0] * r[0] + r[1] * r[1], LOSS_PX * LOSS_PX);
        for (int i = 0; i < 3; ++i) {
            b[i] -= weight * (J[i] * r[0] + J[3 + i] * r[1]);
            for (int c = 0; c < 3; ++c)
                A[3 * i + c] += weight * (J[i] * J[c] + J[3 + i] * J[3 + c]);
        }
    }
    if (!psfm_mat3_solve(A, b, step))
        return false;
    for (int i = 0; i < 3; ++i)
        X[i] += step[i];
    return true;
}

/* Residuals of a track with the given poses; INFINITY where they leave no point. */
static void fit_track(const pose *poses, const observation *seen, size_t num, double *out) {
    double X[3], scale = 1.0 / sqrt(1.0 - 1.5 / (double)num);
    bool good = intersect_rays(poses, seen, num, X);
    for (int k = 0; good && k < STEPS; ++k)
        good = improve_point(poses, seen, num, X);
    for (size_t k = 0; k < num; ++k) {
        double r[2], J[6];
        out[k] = good && find_residual(&poses[seen[k].image], seen[k].xy, X, r, J)
                     ? hypot(r[0], r[1]) * scale
                     : INFINITY;
    }
}

static psfm_status fit_point(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    comparison *c = user;
    size_t num = c->begin[index + 1] - c->begin[index];
    observation *seen = NULL;
    if (num == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, num, &seen);
    if (status != PSFM_OK)
        return status;
    list_observations(c, &c->model->points[index], seen);
    for (int k = 0; k < 2; ++k)
        fit_track(c->poses[k], seen, num, c->residuals[k] + c->begin[index]);
    free(seen);
    return PSFM_OK;
}

psfm_status psfm_track_fit_measure(psfm_context *ctx, const psfm_model *truth,
                                   const psfm_model *model, psfm_track_fit *out) {
    comparison c = {.model = model};
    size_t n = model->num_images, num_points = model->num_points;
    psfm_status status;
    *out = (psfm_track_fit){0, (double)NAN, (double)NAN};
    if ((status = PSFM_ALLOC(ctx, n, &c.poses[0])) || (status = PSFM_ALLOC(ctx, n, &c.poses[1])) ||
        (status = PSFM_ALLOC(ctx, n, &c.known)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &c.begin)) ||
        (status = match_images(ctx, truth, &c)))
        goto cleanup;
    for (size_t p = 0; p < num_points; ++p) {
        size_t num = list_observations(&c, &model->points[p], NULL);
        c.begin[p + 1] = c.begin[p] + (num < MIN_LENGTH ? 0 : num);
    }
    size_t total = c.begin[num_points];
    if ((status = PSFM_ALLOC(ctx, total, &c.residuals[0])) ||
        (status = PSFM_ALLOC(ctx, total, &c.residuals[1])) ||
        (status = psfm_parallel_for(ctx, NULL, num_points, fit_point, &c)))
        goto cleanup;
    out->num_observations = total;
    if (total > 0) {
        out->estimate_px = psfm_median(c.residuals[0], total) / MEDIAN_OF_RAYLEIGH;
        out->truth_px = psfm_median(c.residuals[1], total) / MEDIAN_OF_RAYLEIGH;
    }

cleanup:
    for (int k = 0; k < 2; ++k) {
        free(c.poses[k]);
        free(c.residuals[k]);
    }
    free(c.known);
    free(c.begin);
    return status;
}
