/* Errors of points, uncertainty of poses and of refined intrinsics, and whether given intrinsics
 * are right: what a reader wants to know before trusting a result. */
#include "core/refine/refined_quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/vec3.h"
#include "core/refine/bundle_copy.h"
#include "core/refine/intrinsics_prior.h"
#include "core/twoview/essential.h"

/* Mean reprojection errors of the points. */
static psfm_status measure_points(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  psfm_structure *st) {
    double *error_px = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_observations, &error_px);
    if (status == PSFM_OK)
        status = psfm_bundle_errors(ctx, problem, error_px);
    for (size_t p = 0; status == PSFM_OK && p < st->num_points; ++p) {
        double sum = 0.0;
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k)
            sum += error_px[k];
        sum /= (double)(st->tracks.begin[p + 1] - st->tracks.begin[p]);
        st->error_px[p] = isfinite(sum) ? sum : -1.0; /* a point behind a camera: not known */
    }
    free(error_px);
    return status;
}

static double rotation_sigma_deg(const double C[36]) {
    return psfm_degrees(sqrt(C[0] + C[7] + C[14]));
}

/* What the noise of keypoints alone makes uncertain: halves of the points are compared with it. */
static psfm_status find_noise(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, double (*covariance)[36],
                              psfm_refined_image *images) {
    psfm_status status = psfm_pose_covariance(ctx, problem, options, false, covariance, NULL);
    for (size_t v = 0; status == PSFM_OK && v < problem->num_images; ++v)
        images[v].noise_sigma_deg = rotation_sigma_deg(covariance[v]);
    return status;
}

static void take_pose_sigmas(const psfm_bundle_problem *problem, const double (*covariance)[36],
                             psfm_refined_image *images) {
    for (size_t v = 0; v < problem->num_images; ++v) {
        const double *c = covariance[v];
        images[v].rotation_sigma_deg = rotation_sigma_deg(c);
        images[v].center_sigma = sqrt(c[21] + c[28] + c[35]);
        for (int i = 0; i < 3; ++i) {
            memcpy(images[v].rotation_covariance + 3 * i, c + 6 * i, 3 * sizeof *c);
            memcpy(images[v].mixed_covariance + 3 * i, c + 3 + 6 * i, 3 * sizeof *c);
            memcpy(images[v].center_covariance + 3 * i, c + 21 + 6 * i, 3 * sizeof *c);
        }
    }
}

/* What did not move is where it was, however well the observations would place it. */
static void take_camera_sigmas(const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options, const psfm_camera *open,
                               const double (*sigma)[PSFM_CAMERA_MAX_PARAMS],
                               double (*out)[PSFM_CAMERA_MAX_PARAMS]) {
    for (size_t k = 0; k < problem->num_cameras; ++k) {
        bool moves = psfm_bundle_moves_camera(problem, options, k);
        for (int i = 0; i < PSFM_CAMERA_MAX_PARAMS; ++i)
            out[k][i] = NAN;
        if (moves)
            psfm_sigmas_in_model(&open[k], sigma[k], problem->cameras[k].model, out[k]);
    }
}

/* The uncertainty of poses and intrinsics, with all intrinsics open. */
static psfm_status find_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_camera_origin *origins,
                               const psfm_bundle_options *options, double (*covariance)[36],
                               psfm_refined *out) {
    double(*sigma)[PSFM_CAMERA_MAX_PARAMS] = NULL;
    psfm_bundle_options steps = *options;
    psfm_bundle_copy open = {0};
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &sigma);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, problem->num_cameras, &out->camera_sigma);
    if (status == PSFM_OK)
        status = psfm_open_intrinsics(ctx, problem, origins, &steps, &open);
    if (status == PSFM_OK)
        status = psfm_uncertainty(ctx, &open.problem, &steps, covariance, sigma);
    if (status == PSFM_OK) {
        take_pose_sigmas(problem, (const double(*)[36])covariance, out->images);
        take_camera_sigmas(problem, options, open.cameras,
                           (const double(*)[PSFM_CAMERA_MAX_PARAMS])sigma, out->camera_sigma);
    }
    psfm_bundle_copy_free(&open);
    free(sigma);
    return status;
}

static psfm_status find_uncertainty(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_camera_origin *origins,
                                    const psfm_bundle_options *options, psfm_refined *out) {
    double(*covariance)[36] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_images, &covariance);
    if (status == PSFM_OK)
        status = find_noise(ctx, problem, options, covariance, out->images);
    if (status == PSFM_OK)
        status = find_sigmas(ctx, problem, origins, options, covariance, out);
    free(covariance);
    if (status == PSFM_ERR_NUMERIC) { /* not determined: said as NAN, no reason to fail */
        psfm_log(ctx, PSFM_LOG_WARNING, "uncertainty of the poses: %s", psfm_context_message(ctx));
        return PSFM_OK;
    }
    return status;
}

psfm_status psfm_refined_judge(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_camera_origin *origins,
                               const psfm_bundle_options *options,
                               const psfm_refine_control_options *control,
                               psfm_free_intrinsics *focals, psfm_refined *out) {
    psfm_status status = measure_points(ctx, problem, &out->structure);
    out->doming = NAN;
    for (size_t v = 0; v < problem->num_images; ++v)
        out->images[v].rotation_sigma_deg = out->images[v].noise_sigma_deg =
            out->images[v].center_sigma = NAN;
    if (status != PSFM_OK || problem->num_observations == 0)
        return status;
    if (control->covariance)
        status = find_uncertainty(ctx, problem, origins, options, out);
    if (status == PSFM_OK && (control->check_intrinsics || control->stability_tests))
        status = psfm_free_intrinsics_make(ctx, problem, options, focals);
    if (status == PSFM_OK && control->check_intrinsics)
        status = psfm_check_intrinsics(ctx, problem, focals, &out->check);
    if (status == PSFM_OK && control->check_intrinsics)
        status = psfm_doming_measure(ctx, problem, options, &out->doming);
    return status;
}

void psfm_refined_free(psfm_refined *refined) {
    psfm_structure_free(&refined->structure);
    psfm_scene_planes_free(&refined->planes);
    free(refined->cameras);
    free(refined->camera_sigma);
    free(refined->images);
    free(refined->edges);
    psfm_stability_tests_free(refined->stability);
    *refined = (psfm_refined){0};
}

/* ---- doming ---- */

/* Over flat ground that is seen from above a longer lens, a lens with more distortion and ground
 * that domes explain the same images. Planes hold the ground flat; how much depends on them shows
 * when they do not. A paraboloid over the points' place in the plane has the size. */

#define STEPS 15
#define MIN_SHARE 0.8 /* of the points, on the main plane */
#define MUCH 0.002    /* of the cameras' height: cameras turn by tenths of a degree */

/* The plane with most points, if it has most of all; -1 otherwise. */
static psfm_status find_main_plane(psfm_context *ctx, const psfm_bundle_problem *p, int32_t *main) {
    size_t *count = NULL, best = 0;
    *main = -1;
    if (p->point_plane == NULL || p->num_planes == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, p->num_planes, &count);
    for (size_t k = 0; status == PSFM_OK && k < p->num_points; ++k)
        if (p->point_plane[k] >= 0 && ++count[p->point_plane[k]] > best) {
            best = count[p->point_plane[k]];
            *main = p->point_plane[k];
        }
    if ((double)best < MIN_SHARE * (double)p->num_points)
        *main = -1;
    free(count);
    return status;
}

static bool moves_any(const psfm_bundle_problem *p, const psfm_bundle_options *options) {
    if (p->camera_priors == NULL || options->refine == PSFM_REFINE_NONE)
        return false;
    for (size_t k = 0; k < p->num_cameras; ++k)
        if (p->camera_priors[k].refine != PSFM_REFINE_NONE)
            return true;
    return false;
}

/* Place of a point in a frame of the plane, and its height. */
static void place_on_plane(const psfm_bundle_plane *plane, const double axes[9], const double X[3],
                           double out[3]) {
    psfm_mat3_mul_vec(axes, X, out);
    out[2] -= plane->distance;
}

/* Height of the middle over the rim of the main plane's points: the paraboloid that suits them
 * best, at twice the mean square of their distance from the middle, which is the rim of a disc. */
static double find_rise(const psfm_bundle_problem *p, const psfm_bundle_plane *plane, int32_t main,
                        const double axes[9]) {
    double mean[4] = {0.0}, N[9] = {0.0}, b[3] = {0.0}, x[3], at[3];
    size_t num = 0;
    for (int pass = 0; pass < 3; ++pass) { /* the middle, mean square and height, the fit */
        for (size_t k = 0; k < p->num_points; ++k) {
            if (p->point_plane[k] != main)
                continue;
            place_on_plane(plane, axes, p->points[k], at);
            double u[3] = {at[0] - mean[0], at[1] - mean[1], 0.0};
            double square = u[0] * u[0] + u[1] * u[1];
            u[2] = square - mean[2];
            for (int i = 0; pass == 0 && i < 2; ++i)
                mean[i] += at[i];
            num += pass == 0;
            mean[2] += pass == 1 ? square : 0.0;
            mean[3] += pass == 1 ? at[2] : 0.0;
            for (int i = 0; pass == 2 && i < 3; ++i) {
                b[i] += u[i] * (at[2] - mean[3]);
                for (int j = 0; j < 3; ++j)
                    N[3 * i + j] += u[i] * u[j];
            }
        }
        for (int i = 0; pass < 2 && i < 2; ++i)
            mean[2 * pass + i] /= (double)num;
    }
    return psfm_mat3_solve(N, b, x) ? -2.0 * mean[2] * x[2] : NAN;
}

/* Mean height of the cameras over the plane, an observation each. */
static double find_height(const psfm_bundle_problem *p, const psfm_bundle_plane *plane) {
    double sum = 0.0;
    for (size_t k = 0; k < p->num_observations; ++k)
        sum += fabs(psfm_dot3(plane->normal, p->centers[p->obs_image[k]]) - plane->distance);
    return sum / (double)p->num_observations;
}

psfm_status psfm_doming_measure(psfm_context *ctx, const psfm_bundle_problem *problem,
                                const psfm_bundle_options *options, double *doming) {
    psfm_bundle_copy copy = {0};
    psfm_bundle_options steps = *options;
    int32_t main = -1;
    double axes[9];
    *doming = NAN;
    psfm_status status = PSFM_OK;
    if (options->planes != PSFM_PLANES_FREE && moves_any(problem, options))
        status = find_main_plane(ctx, problem, &main);
    if (status != PSFM_OK || main < 0)
        return status;
    const psfm_bundle_plane plane = problem->planes[main];
    psfm_tangent_basis(plane.normal, axes, axes + 3);
    memcpy(axes + 6, plane.normal, sizeof plane.normal);
    steps.planes = PSFM_PLANES_FREE;
    steps.max_iterations = STEPS;
    status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, &copy);
    if (status == PSFM_OK)
        status = psfm_bundle_adjust(ctx, &copy.problem, &steps, NULL);
    if (status == PSFM_OK)
        *doming = (find_rise(&copy.problem, &plane, main, axes) -
                   find_rise(problem, &plane, main, axes)) /
                  find_height(problem, &plane);
    psfm_bundle_copy_free(&copy);
    if (fabs(*doming) > MUCH)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "only planes keep the ground flat: without them it would dome by %.1f %% of the "
                 "cameras' height, as focal length, distortion and height trade against each "
                 "other; photographs at a slant, or known intrinsics, would hold it",
                 100.0 * fabs(*doming));
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}
