/* On a floor below the camera a line along x has one y: in units of the camera's height it is
 * -ray_y / ray_z for any of its points. Segments that agree in it are pieces of one line. */
#include "court/axis_lines.h"

#include <math.h>
#include <stdlib.h>

#include "linalg/mat3.h"

#define MAX_SEGMENTS 1000
#define ANGLE_TOLERANCE 0.0175 /* radians, and 1.2 pixels over the segment's length more */
#define MIN_BELOW 0.02         /* sine of the angle below the horizon */
#define MAX_OFFSET 12.0        /* heights of the camera */
#define MIN_SIGMA 0.002        /* heights of the camera */

/* The ray of a pixel in the frame's axes, unit length. */
static void world_ray(const psfm_camera *camera, const double R[9], double x, double y,
                      double ray[3]) {
    double in_camera[3] = {(x - camera->params[2]) / camera->params[0],
                           (y - camera->params[3]) / camera->params[1], 1.0};
    psfm_normalize3(in_camera);
    psfm_mat3_tmul_vec(R, in_camera, ray);
}

/* Sine of the angle in the image between a segment and the way to an axis's vanishing point. */
static double axis_sine(const double n[3], const double m[3], int axis) {
    return fabs(n[axis]) / sqrt(1.0 - m[axis] * m[axis] + 1e-12);
}

/* Where the segment lies across the axis; false if it is not along it, or not on the floor. */
static bool place_segment(const psfm_segment *g, const psfm_camera *camera, const double R[9],
                          int axis, psfm_axis_line *line) {
    double a[3], b[3], n[3], m[3], beside[3];
    double x = 0.5 * (g->a[0] + g->b[0]), y = 0.5 * (g->a[1] + g->b[1]);
    world_ray(camera, R, g->a[0], g->a[1], a);
    world_ray(camera, R, g->b[0], g->b[1], b);
    world_ray(camera, R, x, y, m);
    psfm_cross3(a, b, n);
    psfm_normalize3(n);
    double sine = axis_sine(n, m, axis), tolerance = ANGLE_TOLERANCE + 1.2 / g->length;
    if (sine > tolerance || sine > axis_sine(n, m, 1 - axis) || a[2] > -MIN_BELOW ||
        b[2] > -MIN_BELOW)
        return false;
    world_ray(camera, R, x - (g->b[1] - g->a[1]) / g->length, y + (g->b[0] - g->a[0]) / g->length,
              beside);
    line->offset = -m[1 - axis] / m[2];
    line->sigma = fabs(-beside[1 - axis] / beside[2] - line->offset);
    line->weight = g->length * fmin(1.0, g->strength / 20.0 + 0.3);
    return fabs(line->offset) < MAX_OFFSET;
}

static int by_offset(const void *a, const void *b) {
    double x = ((const psfm_axis_line *)a)->offset, y = ((const psfm_axis_line *)b)->offset;
    return (x > y) - (x < y);
}

/* Heaviest first; equal ones by their places. */
static int by_weight(const void *a, const void *b) {
    double x = ((const psfm_axis_line *)a)->weight, y = ((const psfm_axis_line *)b)->weight;
    return x != y ? (x < y) - (x > y) : by_offset(a, b);
}

/* Joins sorted places that are less than one and a half pixels apart; returns how many remain. */
static size_t join(psfm_axis_line *lines, size_t num) {
    size_t out = 0;
    double last = 0.0, last_sigma = 0.0;
    for (size_t k = 0; k < num; ++k) {
        psfm_axis_line l = lines[k];
        double gap = 1.5 * fmax(fmin(l.sigma, last_sigma), MIN_SIGMA);
        last_sigma = l.sigma;
        if (out > 0 && l.offset - last <= gap) {
            psfm_axis_line *to = &lines[out - 1];
            double sum = to->weight + l.weight;
            to->offset += l.weight / sum * (l.offset - to->offset);
            to->sigma += l.weight / sum * (l.sigma - to->sigma);
            to->weight = sum;
        } else {
            lines[out++] = l;
        }
        last = l.offset;
    }
    return out;
}

size_t psfm_axis_lines_find(const psfm_segments *segments, const psfm_camera *camera,
                            const double R[9], int axis, psfm_axis_line lines[PSFM_AXIS_LINES]) {
    psfm_axis_line all[MAX_SEGMENTS];
    size_t num = 0;
    for (size_t k = 0; k < segments->num && k < MAX_SEGMENTS; ++k)
        if (place_segment(&segments->items[k], camera, R, axis, &all[num]))
            ++num;
    qsort(all, num, sizeof *all, by_offset);
    num = join(all, num);
    qsort(all, num, sizeof *all, by_weight);
    size_t kept = num < PSFM_AXIS_LINES ? num : PSFM_AXIS_LINES;
    for (size_t k = 0; k < kept; ++k)
        lines[k] = all[k];
    return kept;
}
