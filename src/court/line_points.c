/* A fit sees lines on the plane of an ideal camera, shrunk at times. Bundle adjustment wants pixels
 * of the photograph: the place is projected through the lens, and the direction across the line
 * goes along by the derivative of the ideal plane by the photograph's pixel. */
#include "court/line_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"

#define STEP 0.5            /* pixels, of the differences */
#define SMALLEST_NOISE 0.05 /* pixels; nothing painted is straighter */

/* The plane of the evidence as a pinhole camera with the focal length of the fit. */
typedef struct {
    double focal[2], center[2];
} plane;

static plane plane_of(const psfm_court_job *job, const psfm_court_fit *fit) {
    const double *p = job->camera->params;
    return (plane){{fit->focal * p[0], fit->focal * p[1]}, {p[2], p[3]}};
}

static bool to_photograph(const plane *ideal, const psfm_camera *camera, const double at[2],
                          double xy[2]) {
    double ray[3] = {(at[0] - ideal->center[0]) / ideal->focal[0],
                     (at[1] - ideal->center[1]) / ideal->focal[1], 1.0};
    return psfm_camera_project(camera, ray, xy);
}

static bool to_plane(const plane *ideal, const psfm_camera *camera, double x, double y,
                     double at[2]) {
    double xy[2] = {x, y}, ray[3];
    if (!psfm_camera_unproject(camera, xy, ray) || !(ray[2] > 0.0))
        return false;
    for (int d = 0; d < 2; ++d)
        at[d] = ideal->focal[d] * ray[d] / ray[2] + ideal->center[d];
    return true;
}

/* Component of the row by one coordinate of the photograph. */
static bool derive_row(const plane *ideal, const psfm_camera *camera, const psfm_fitted_line *line,
                       const double xy[2], int d, double *slope) {
    double before[2], behind[2], h[2] = {d == 0 ? STEP : 0.0, d == 1 ? STEP : 0.0};
    if (!to_plane(ideal, camera, xy[0] - h[0], xy[1] - h[1], before) ||
        !to_plane(ideal, camera, xy[0] + h[0], xy[1] + h[1], behind))
        return false;
    *slope =
        (line->normal[0] * (behind[0] - before[0]) + line->normal[1] * (behind[1] - before[1])) /
        (2.0 * STEP);
    return true;
}

psfm_status psfm_line_points_make(psfm_context *ctx, const psfm_court_job *job,
                                  const psfm_court_fit *fit, const psfm_camera *camera,
                                  psfm_line_points *out) {
    const plane ideal = plane_of(job, fit);
    psfm_fitted_line *lines = NULL;
    *out = (psfm_line_points){0};
    psfm_status status = PSFM_ALLOC(ctx, job->plan->num_fine, &lines);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, job->plan->num_fine, &out->items);
    size_t num = status == PSFM_OK ? psfm_court_fit_lines(job, fit, lines) : 0;
    for (size_t k = 0; k < num; ++k) {
        psfm_line_point *point = &out->items[out->num];
        double slope[2], sharp = sqrt(lines[k].weight) / fmax(fit->noise, SMALLEST_NOISE);
        if (!to_photograph(&ideal, camera, lines[k].at, point->xy) ||
            !derive_row(&ideal, camera, &lines[k], point->xy, 0, &slope[0]) ||
            !derive_row(&ideal, camera, &lines[k], point->xy, 1, &slope[1]) || !(sharp > 0.0))
            continue;
        for (int d = 0; d < 2; ++d) {
            point->on[d] = lines[k].on[d];
            point->move[d] = lines[k].move[d];
            point->row[d] = sharp * slope[d];
        }
        ++out->num;
    }
    free(lines);
    return status;
}

void psfm_line_points_free(psfm_line_points *points) {
    free(points->items);
    *points = (psfm_line_points){0};
}
