/* Noise from residuals.
 *
 * Balance: the typical error of keypoints and of aligned patches, each in units of its claimed
 * information, is the median of the residuals over that of a normal length (1.177), corrected for
 * the three parameters that a point takes from its 2 n residuals. Keypoints are brought to it;
 * patches only ever lose weight. Loss: Student's t fitted to the squared residuals
 * (core/linalg/student_t.h), its core enlarged by what all parameters took. */
#include "core/refine/observation_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/student_t.h"

#define MIN_SIGMAS 50       /* to tell a typical one */
#define MIN_SCALE 0.01      /* of residuals, that is taken for possible at all */
#define MAX_RESIDUALS 20000 /* that a loss is fitted to, evenly spaced */

/* Information of one pixel: nothing better is known. */
static bool is_keypoint(const double sqrt_info[3]) {
    return sqrt_info[0] == 1.0 && sqrt_info[2] == 1.0;
}

/* Typical standard deviation of the observations of one kind in units of their information, from
 * tracks of three images or more; the point takes three of the 2 n residuals of a track of n.
 * Without information all are keypoints. `unknown` if there are too few. */
static double find_sigma(const psfm_tracks *tracks, const double (*sqrt_info)[3],
                         const double *error_px, bool keypoints, double unknown, double *values) {
    static const double keypoint[3] = {1.0, 0.0, 1.0};
    size_t num = 0;
    for (size_t p = 0; p < tracks->num_tracks; ++p) {
        size_t first = tracks->begin[p], last = tracks->begin[p + 1];
        double share = 1.0 - 1.5 / (double)(last - first);
        for (size_t k = first; last - first > 2 && k < last; ++k) {
            const double *s = sqrt_info == NULL ? keypoint : sqrt_info[k];
            if (is_keypoint(s) == keypoints && isfinite(error_px[k]))
                values[num++] = error_px[k] * sqrt(s[0] * s[2] / share);
        }
    }
    return num < MIN_SIGMAS ? unknown : psfm_median(values, num) / 1.17741;
}

psfm_status psfm_noise_balance(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_tracks *tracks, double (*sqrt_info)[3]) {
    double *error_px = NULL, *values = NULL, sigma[2];
    size_t n = problem->num_observations;
    psfm_status status = PSFM_ALLOC(ctx, n, &error_px);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &values);
    if (status == PSFM_OK)
        status = psfm_bundle_errors(ctx, problem, error_px);
    for (int kind = 0; status == PSFM_OK && kind < 2; ++kind)
        sigma[kind] = fmin(fmax(find_sigma(tracks, (const double(*)[3])sqrt_info, error_px,
                                           kind == 1, 1.0, values),
                                kind == 1 ? 0.05 : 1.0),
                           20.0);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k)
        psfm_scale3(1.0 / sigma[is_keypoint(sqrt_info[k])], sqrt_info[k], sqrt_info[k]);
    if (status == PSFM_OK)
        psfm_log(ctx, PSFM_LOG_INFO,
                 "standard deviations: keypoints %.2f px, aligned patches %.2f times their sigma",
                 sigma[1], sigma[0]);
    free(error_px);
    free(values);
    return status;
}

psfm_status psfm_noise_of_keypoints(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_tracks *tracks, double *sigma_px) {
    double *error_px = NULL, *values = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_observations, &error_px);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, problem->num_observations, &values);
    if (status == PSFM_OK)
        status = psfm_bundle_errors(ctx, problem, error_px);
    if (status == PSFM_OK)
        *sigma_px = find_sigma(tracks, problem->obs_sqrt_info, error_px, true, 0.0, values);
    free(error_px);
    free(values);
    return status;
}

/* Squared weighted residual of an observation; false if its point does not project. */
static bool squared_residual(const psfm_bundle_problem *b, size_t k, double *square) {
    uint32_t v = b->obs_image[k];
    double D[3], ray[3], xy[2];
    psfm_sub3(b->points[b->obs_point[k]], b->centers[v], D);
    psfm_mat3_mul_vec(b->cam_from_world[v], D, ray);
    if (!psfm_camera_project(&b->cameras[b->image_camera[v]], ray, xy))
        return false;
    double x = xy[0] - b->obs_xy[k][0], y = xy[1] - b->obs_xy[k][1];
    if (b->obs_sqrt_info != NULL) {
        x = b->obs_sqrt_info[k][0] * x + b->obs_sqrt_info[k][1] * y;
        y *= b->obs_sqrt_info[k][2];
    }
    *square = x * x + y * y;
    return true;
}

psfm_status psfm_noise_loss_scale(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  size_t num_posed, double *scale) {
    size_t n = problem->num_observations, num = 0, step = n / MAX_RESIDUALS + 1;
    double *squares = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n / step + 1, &squares);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < n; k += step)
        num += squared_residual(problem, k, &squares[num]);
    psfm_student fit = psfm_student_fit(squares, num);
    /* Residuals are smaller than the noise: the parameters took their share. */
    double all = fmax(2.0 * (double)n, 1.0);
    double left = all - 3.0 * (double)problem->num_points - 6.0 * (double)num_posed;
    double core = fit.scale / sqrt(fmax(left / all, 0.05));
    *scale = sqrt(fit.freedom) * fmax(core, MIN_SCALE);
    free(squares);
    return PSFM_OK;
}

/* ---- keypoints that patches made precise ---- */

/* Keypoints with covariances, put into a view: position, ray, derivative, and the square root of
 * the information, S = U^-1 with C = U U^T. */

psfm_status psfm_precise_keypoints_add(psfm_context *ctx, psfm_precise_keypoints *list,
                                       const double xy[2], const double cov[3]) {
    size_t capacity = list->capacity;
    psfm_status status = PSFM_RESERVE(ctx, &list->xy, &capacity, list->num + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &list->cov, &list->capacity, list->num + 1);
    if (status != PSFM_OK)
        return status;
    memcpy(list->xy[list->num], xy, sizeof *list->xy);
    memcpy(list->cov[list->num++], cov, sizeof *list->cov);
    return PSFM_OK;
}

void psfm_precise_keypoints_free(psfm_precise_keypoints *list) {
    free(list->xy);
    free(list->cov);
    *list = (psfm_precise_keypoints){0};
}

/* Square root of the information of a covariance. */
static void root_of_information(const double cov[3], double s[3]) {
    /* C = U U^T with U upper triangular, S = U^-1 */
    double c = sqrt(cov[2]), b = cov[1] / c, a = sqrt(fmax(cov[0] - b * b, 1e-12));
    s[0] = 1.0 / a;
    s[1] = -b / (a * c);
    s[2] = 1.0 / c;
}

void psfm_view_move(const psfm_camera *camera, size_t k, const double xy[2], const double cov[3],
                    psfm_view *view) {
    double projected[2];
    memcpy(view->keypoints[k], xy, sizeof view->keypoints[k]);
    root_of_information(cov, view->sqrt_info[k]);
    if (!psfm_camera_unproject(camera, xy, view->rays[k]) ||
        !psfm_camera_project_jacobian(camera, view->rays[k], projected, view->px_from_ray[k]))
        memset(view->rays[k], 0, sizeof view->rays[k]);
}

psfm_status psfm_view_append(psfm_context *ctx, const psfm_camera *camera,
                             const psfm_precise_keypoints *list, psfm_view *view) {
    size_t old = view->num_keypoints, n = old + list->num;
    bool is_new = view->sqrt_info == NULL;
    size_t room[4] = {old, old, old, is_new ? 0 : old};
    psfm_status status;
    if ((status = PSFM_RESERVE(ctx, &view->keypoints, &room[0], n)) ||
        (status = PSFM_RESERVE(ctx, &view->rays, &room[1], n)) ||
        (status = PSFM_RESERVE(ctx, &view->px_from_ray, &room[2], n)) ||
        (status = PSFM_RESERVE(ctx, &view->sqrt_info, &room[3], n)))
        return status;
    if (view->origin != NULL) {
        size_t capacity = old;
        status = PSFM_RESERVE(ctx, &view->origin, &capacity, n);
        for (size_t k = old; status == PSFM_OK && k < n; ++k)
            view->origin[k] = (uint32_t)k;
        if (status != PSFM_OK)
            return status;
    }
    for (size_t k = 0; is_new && k < old; ++k) {
        view->sqrt_info[k][0] = view->sqrt_info[k][2] = 1.0;
        view->sqrt_info[k][1] = 0.0;
    }
    for (size_t k = 0; k < list->num; ++k)
        psfm_view_move(camera, old + k, list->xy[k], list->cov[k], view);
    view->num_keypoints = n;
    return PSFM_OK;
}
