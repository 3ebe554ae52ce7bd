/* Keypoints with covariances, put into a view: position, ray, derivative, and the square root of
 * the information, S = U^-1 with C = U U^T. */
#include "refine/precise_keypoints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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
    for (size_t k = 0; is_new && k < old; ++k) {
        view->sqrt_info[k][0] = view->sqrt_info[k][2] = 1.0;
        view->sqrt_info[k][1] = 0.0;
    }
    for (size_t k = 0; k < list->num; ++k)
        psfm_view_move(camera, old + k, list->xy[k], list->cov[k], view);
    view->num_keypoints = n;
    return PSFM_OK;
}
