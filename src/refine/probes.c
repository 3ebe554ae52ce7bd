/* Probes of an adjusted bundle. Each starts from the adjusted values, so that a few steps suffice.
 *
 * Two halves with independent errors, each with half of the information, differ by twice the
 * standard deviation of the whole. Adjacent points share what the lens, the print or the light do
 * to them: a random split would put that error into both halves, and it would cancel. */
#include "refine/probes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SQUARES 8      /* of the chessboard along the longer side of an image */
#define MAX_STEPS 15   /* of an adjustment that starts at a solution */
#define TOLERANCE 1e-6 /* the weak modes of a chain cost little */
#define FREE_SIGMA 100 /* of the logarithm of a focal length: none at all */

/* A problem of its own that may be adjusted without changing the one it came from. */
typedef struct {
    psfm_bundle_problem problem;
    psfm_camera *cameras;
    double (*points)[3];
    psfm_bundle_plane *planes;
    uint32_t *obs_image, *obs_point;
    double (*obs_xy)[2], (*obs_sqrt_info)[3];
} copied_problem;

static void free_copy(copied_problem *copy) {
    free(copy->cameras);
    free(copy->points);
    free(copy->planes);
    free(copy->obs_image);
    free(copy->obs_point);
    free(copy->obs_xy);
    free(copy->obs_sqrt_info);
}

/* The colour of a point's square in the image that sees it first: 0 or 1. */
static int colour_of(const psfm_bundle_problem *problem, size_t observation) {
    const psfm_camera *camera =
        &problem->cameras[problem->image_camera[problem->obs_image[observation]]];
    double side = (double)(camera->width > camera->height ? camera->width : camera->height);
    double square = fmax(side, 1.0) / SQUARES;
    const double *xy = problem->obs_xy[observation];
    return ((int)floor(xy[0] / square) + (int)floor(xy[1] / square)) & 1;
}

/* Copies the observations of one colour; -1 copies all. */
static void copy_observations(const psfm_bundle_problem *from, const psfm_tracks *tracks,
                              int colour, copied_problem *copy) {
    size_t n = 0;
    for (size_t p = 0; p < from->num_points; ++p) {
        size_t begin = tracks->begin[p], end = tracks->begin[p + 1];
        if (begin == end || (colour >= 0 && colour_of(from, begin) != colour))
            continue;
        for (size_t k = begin; k < end; ++k, ++n) {
            copy->obs_image[n] = from->obs_image[k];
            copy->obs_point[n] = from->obs_point[k];
            memcpy(copy->obs_xy[n], from->obs_xy[k], sizeof *copy->obs_xy);
            if (from->obs_sqrt_info != NULL)
                memcpy(copy->obs_sqrt_info[n], from->obs_sqrt_info[k], sizeof *copy->obs_sqrt_info);
        }
    }
    copy->problem.num_observations = n;
}

static psfm_status copy_problem(psfm_context *ctx, const psfm_bundle_problem *from,
                                const psfm_tracks *tracks, int colour, psfm_probe *probe,
                                copied_problem *copy) {
    size_t n = from->num_observations;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, from->num_cameras, &copy->cameras)) ||
        (status = PSFM_ALLOC(ctx, from->num_points, &copy->points)) ||
        (status = PSFM_ALLOC(ctx, from->num_planes, &copy->planes)) ||
        (status = PSFM_ALLOC(ctx, n, &copy->obs_image)) ||
        (status = PSFM_ALLOC(ctx, n, &copy->obs_point)) ||
        (status = PSFM_ALLOC(ctx, n, &copy->obs_xy)) ||
        (from->obs_sqrt_info != NULL && (status = PSFM_ALLOC(ctx, n, &copy->obs_sqrt_info))))
        return status;
    memcpy(copy->cameras, from->cameras, from->num_cameras * sizeof *from->cameras);
    memcpy(copy->points, from->points, from->num_points * sizeof *from->points);
    if (from->num_planes > 0)
        memcpy(copy->planes, from->planes, from->num_planes * sizeof *from->planes);
    copy->problem = *from;
    copy_observations(from, tracks, colour, copy);
    copy->problem.cameras = copy->cameras;
    copy->problem.points = copy->points;
    copy->problem.planes = copy->planes;
    copy->problem.cam_from_world = probe->cam_from_world;
    copy->problem.centers = probe->center;
    copy->problem.obs_image = copy->obs_image;
    copy->problem.obs_point = copy->obs_point;
    copy->problem.obs_xy = (const double(*)[2])copy->obs_xy;
    copy->problem.obs_sqrt_info = (const double(*)[3])copy->obs_sqrt_info;
    return PSFM_OK;
}

static psfm_status copy_poses(psfm_context *ctx, const psfm_bundle_problem *from,
                              psfm_probe *probe) {
    size_t n = from->num_images;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &probe->cam_from_world)) ||
        (status = PSFM_ALLOC(ctx, n, &probe->center)) ||
        (status = PSFM_ALLOC(ctx, n, &probe->posed)))
        return status;
    memcpy(probe->cam_from_world, from->cam_from_world, n * sizeof *probe->cam_from_world);
    memcpy(probe->center, from->centers, n * sizeof *probe->center);
    return PSFM_OK;
}

/* Decrease of the cost per new unknown over the cost per redundant residual. */
static double gain_of(const psfm_bundle_stats *stats, size_t num_new) {
    double redundancy = 2.0 * (double)stats->num_observations - 3.0 * (double)stats->num_points -
                        (double)stats->num_parameters;
    if (num_new == 0 || redundancy <= 0.0 || stats->final_cost <= 0.0)
        return 0.0;
    double decrease = fmax(stats->initial_cost - stats->final_cost, 0.0);
    return decrease / (double)num_new / (stats->final_cost / redundancy);
}

/* Cameras that took an image with a pose. */
static psfm_status count_cameras(psfm_context *ctx, const psfm_bundle_problem *problem,
                                 const bool *posed, size_t *count) {
    bool *seen = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &seen);
    *count = 0;
    for (size_t v = 0; status == PSFM_OK && v < problem->num_images; ++v) {
        bool *slot = &seen[problem->image_camera[v]];
        *count += posed[v] && !*slot;
        *slot = *slot || posed[v];
    }
    free(seen);
    return status;
}

static psfm_status make_probe(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_tracks *tracks, const psfm_bundle_options *options,
                              int colour, psfm_probe *probe) {
    copied_problem copy = {0};
    psfm_bundle_stats stats = {0};
    psfm_status status = copy_poses(ctx, problem, probe);
    if (status == PSFM_OK)
        status = copy_problem(ctx, problem, tracks, colour, probe, &copy);
    if (status == PSFM_OK)
        status = psfm_bundle_adjust(ctx, &copy.problem, options, &stats);
    if (status == PSFM_OK) {
        for (size_t v = 0; v < problem->num_images; ++v)
            probe->posed[v] = stats.images[v].state != PSFM_IMAGE_LEFT_OUT;
        size_t num_cameras = 0;
        status = count_cameras(ctx, problem, probe->posed, &num_cameras);
        probe->gain = gain_of(&stats, num_cameras);
    }
    psfm_bundle_stats_free(&stats);
    free_copy(&copy);
    return status;
}

/* Whether the adjustment refines the intrinsics of a camera. */
static bool refines(const psfm_bundle_problem *problem, const psfm_bundle_options *options) {
    if (options->refine == PSFM_REFINE_NONE || problem->camera_priors == NULL)
        return options->refine != PSFM_REFINE_NONE && options->refine != PSFM_REFINE_AUTO;
    for (size_t k = 0; k < problem->num_cameras; ++k)
        if (problem->camera_priors[k].refine != PSFM_REFINE_NONE)
            return true;
    return false;
}

psfm_status psfm_probes_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_tracks *tracks, const psfm_bundle_options *options,
                             psfm_probe probe[PSFM_NUM_PROBES]) {
    psfm_bundle_options again = *options;
    again.max_iterations =
        options->max_iterations < MAX_STEPS ? options->max_iterations : MAX_STEPS;
    again.tolerance = TOLERANCE;
    psfm_status status = make_probe(ctx, problem, tracks, &again, 0, &probe[PSFM_PROBE_HALF_A]);
    if (status == PSFM_OK)
        status = make_probe(ctx, problem, tracks, &again, 1, &probe[PSFM_PROBE_HALF_B]);
    if (status != PSFM_OK || refines(problem, options))
        return status;
    psfm_bundle_problem unknown = *problem;
    unknown.camera_priors = NULL;
    again.refine = PSFM_REFINE_FOCAL;
    again.focal_sigma = FREE_SIGMA;
    again.two_focals = true;
    return make_probe(ctx, &unknown, tracks, &again, -1, &probe[PSFM_PROBE_INTRINSICS]);
}

void psfm_probes_free(psfm_probe probe[PSFM_NUM_PROBES]) {
    for (int k = 0; k < PSFM_NUM_PROBES; ++k) {
        free(probe[k].cam_from_world);
        free(probe[k].center);
        free(probe[k].posed);
        probe[k] = (psfm_probe){0};
    }
}
