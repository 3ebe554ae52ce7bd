/* Reprojection errors of a bundle adjustment in pixels, whatever the weights: of all observations
 * of a problem, or of those in use at the current values. O(observations). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

#define OBSERVATIONS_PER_TASK 4096

static size_t num_observation_tasks(size_t num_observations) {
    return (num_observations + OBSERVATIONS_PER_TASK - 1) / OBSERVATIONS_PER_TASK;
}

static double pixel_error(const psfm_camera *camera, const double R[9], const double c[3],
                          const double X[3], const double observed[2]) {
    double D[3], Y[3], xy[2];
    psfm_sub3(X, c, D);
    psfm_mat3_mul_vec(R, D, Y);
    if (!psfm_camera_project(camera, Y, xy))
        return INFINITY;
    double dx = xy[0] - observed[0], dy = xy[1] - observed[1];
    return sqrt(dx * dx + dy * dy);
}

typedef struct {
    const psfm_bundle_problem *problem;
    const psfm_bundle *b; /* NULL: all observations at the problem's values, otherwise those in use
                           * at the current ones */
    double *error_px;
} error_job;

static psfm_status measure_errors(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const error_job *job = user;
    const psfm_bundle_problem *p = job->problem;
    const psfm_bundle *b = job->b;
    size_t num = b == NULL ? p->num_observations : b->num_obs;
    size_t first = index * OBSERVATIONS_PER_TASK, last = first + OBSERVATIONS_PER_TASK;
    for (size_t o = first; o < (last < num ? last : num); ++o) {
        uint32_t i = b == NULL ? p->obs_image[o] : b->obs_image[o];
        uint32_t camera = p->image_camera[i];
        job->error_px[o] =
            b == NULL ? pixel_error(&p->cameras[camera], p->cam_from_world[i], p->centers[i],
                                    p->points[p->obs_point[o]], p->obs_xy[o])
                      : pixel_error(&b->now.cameras[camera], b->now.R[i], b->now.c[i],
                                    b->now.X[b->obs_point[o]], p->obs_xy[b->obs_source[o]]);
    }
    return PSFM_OK;
}

psfm_status psfm_bundle_errors(psfm_context *ctx, const psfm_bundle_problem *problem,
                               double *error_px) {
    error_job job = {.problem = problem};
    job.error_px = error_px;
    psfm_status status = psfm_bundle_check(ctx, problem);
    if (status != PSFM_OK)
        return status;
    return psfm_parallel_for(ctx, NULL, num_observation_tasks(problem->num_observations),
                             measure_errors, &job);
}

psfm_status psfm_bundle_measure(psfm_context *ctx, const psfm_bundle *b, psfm_bundle_stats *stats) {
    const psfm_bundle_problem *p = b->problem;
    double sum = 0.0, squares = 0.0;
    size_t num = 0;
    error_job job = {.problem = p, .b = b};
    psfm_status status = PSFM_ALLOC(ctx, b->num_obs, &job.error_px);
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, num_observation_tasks(b->num_obs), measure_errors, &job);
    memset(stats->images, 0, p->num_images * sizeof *stats->images);
    for (uint32_t o = 0; status == PSFM_OK && o < b->num_obs; ++o) {
        double e = job.error_px[o];
        psfm_bundle_image_stats *image = &stats->images[b->obs_image[o]];
        if (!isfinite(e))
            continue;
        sum += e;
        squares += e * e;
        image->mean_px += e;
        image->rms_px += e * e;
        ++image->num_observations;
        ++num;
    }
    stats->num_invalid = b->num_obs - num;
    stats->mean_px = num == 0 ? 0.0 : sum / (double)num;
    stats->rms_px = num == 0 ? 0.0 : sqrt(squares / (double)num);
    for (size_t i = 0; i < p->num_images; ++i) {
        psfm_bundle_image_stats *image = &stats->images[i];
        double count = image->num_observations == 0 ? 1.0 : (double)image->num_observations;
        image->state = b->image_state[i];
        image->fixes_scale = b->scale_anchor[i] != PSFM_BUNDLE_NONE;
        image->mean_px /= count;
        image->rms_px = sqrt(image->rms_px / count);
    }
    free(job.error_px);
    return status;
}
