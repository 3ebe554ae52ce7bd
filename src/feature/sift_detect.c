/* Extrema of the difference of Gaussians D(x, y, s) = G(s + 1) - G(s), refined to a fraction of a
 * pixel by the quadratic through the 27 values: the offset solves H b = -g. If it leaves the pixel
 * (by 0.6) the neighbour is tried, up to four times. Kept are those with |D| at the offset above
 * the peak threshold, and curvatures whose ratio is below the edge threshold r:
 * trace^2 / det < (r + 1)^2 / r of the spatial Hessian. After Lowe (2004) with VLFeat's details. */
#include "feature/sift_detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

typedef struct {
    const psfm_sift_octave *octave;
    int s, x, y;
} place;

/* D at an offset from a place. */
static double value_at(const place *p, int dx, int dy, int ds) {
    const float *const *levels = &p->octave->levels[p->s + ds + 1];
    ptrdiff_t at = (p->y + dy) * p->octave->stride + p->x + dx;
    return (double)(levels[1][at] - levels[0][at]);
}

/* Gradient g and Hessian H = (xx, yy, ss, xy, xs, ys). */
static void differentiate(const place *p, double g[3], double H[6]) {
    double centre = value_at(p, 0, 0, 0);
    double xm = value_at(p, -1, 0, 0), xp = value_at(p, 1, 0, 0);
    double ym = value_at(p, 0, -1, 0), yp = value_at(p, 0, 1, 0);
    double sm = value_at(p, 0, 0, -1), sp = value_at(p, 0, 0, 1);
    g[0] = 0.5 * (xp - xm);
    g[1] = 0.5 * (yp - ym);
    g[2] = 0.5 * (sp - sm);
    H[0] = xp + xm - 2.0 * centre;
    H[1] = yp + ym - 2.0 * centre;
    H[2] = sp + sm - 2.0 * centre;
    H[3] = 0.25 * (value_at(p, 1, 1, 0) + value_at(p, -1, -1, 0) - value_at(p, -1, 1, 0) -
                   value_at(p, 1, -1, 0));
    H[4] = 0.25 * (value_at(p, 1, 0, 1) + value_at(p, -1, 0, -1) - value_at(p, -1, 0, 1) -
                   value_at(p, 1, 0, -1));
    H[5] = 0.25 * (value_at(p, 0, 1, 1) + value_at(p, 0, -1, -1) - value_at(p, 0, -1, 1) -
                   value_at(p, 0, 1, -1));
}

/* Solves H b = -g by elimination with pivots; b = 0 if a pivot vanishes. */
static void solve(const double g[3], const double H[6], double b[3]) {
    double A[3][4] = {
        {H[0], H[3], H[4], -g[0]}, {H[3], H[1], H[5], -g[1]}, {H[4], H[5], H[2], -g[2]}};
    for (int c = 0; c < 3; ++c) {
        int pivot = c;
        for (int r = c + 1; r < 3; ++r)
            if (fabs(A[r][c]) > fabs(A[pivot][c]))
                pivot = r;
        if (!(fabs(A[pivot][c]) >= 1e-10)) {
            b[0] = b[1] = b[2] = 0.0;
            return;
        }
        for (int k = c; k < 4; ++k) {
            double swap = A[c][k];
            A[c][k] = A[pivot][k];
            A[pivot][k] = swap;
        }
        for (int r = c + 1; r < 3; ++r) {
            double factor = A[r][c] / A[c][c];
            for (int k = c; k < 4; ++k)
                A[r][k] -= factor * A[c][k];
        }
    }
    b[2] = A[2][3] / A[2][2];
    b[1] = (A[1][3] - A[1][2] * b[2]) / A[1][1];
    b[0] = (A[0][3] - A[0][1] * b[1] - A[0][2] * b[2]) / A[0][0];
}

static int step_towards(double offset, int at, int size) {
    return offset > 0.6 && at < size - 2 ? 1 : offset < -0.6 && at > 1 ? -1 : 0;
}

static bool is_sharp(const place *p, const double g[3], const double H[6], const double b[3],
                     const psfm_sift_options *o) {
    double peak = value_at(p, 0, 0, 0) + 0.5 * (g[0] * b[0] + g[1] * b[1] + g[2] * b[2]);
    double trace = H[0] + H[1], det = H[0] * H[1] - H[3] * H[3];
    double score = trace * trace / det, r = o->edge_threshold;
    return fabs(peak) > o->peak_threshold && score >= 0.0 && score < (r + 1.0) * (r + 1.0) / r;
}

/* Refines an extremum; false if it is no keypoint. */
static bool refine(place p, const psfm_sift_options *o, psfm_sift_point *out) {
    const psfm_sift_octave *octave = p.octave;
    double g[3], H[6], b[3];
    for (int iteration = 0;; ++iteration) {
        differentiate(&p, g, H);
        solve(g, H, b);
        int dx = step_towards(b[0], p.x, octave->width);
        int dy = step_towards(b[1], p.y, octave->height);
        if ((dx == 0 && dy == 0) || iteration == 4)
            break;
        p.x += dx;
        p.y += dy;
    }
    double x = p.x + b[0], y = p.y + b[1], s = p.s + b[2];
    bool inside = fabs(b[0]) < 1.5 && fabs(b[1]) < 1.5 && fabs(b[2]) < 1.5 && x >= 0.0 &&
                  x <= octave->width - 1 && y >= 0.0 && y <= octave->height - 1 && s >= -1.0 &&
                  s <= octave->num_levels + 1;
    if (!inside || !is_sharp(&p, g, H, b, o))
        return false;
    out->level = p.s;
    out->x = (float)x;
    out->y = (float)y;
    out->sigma = (float)(octave->sigma0 * exp2(s / octave->num_levels));
    return true;
}

/* The smallest float that is not below a number. */
static float float_above(double value) {
    float f = (float)value;
    return (double)f < value ? nextafterf(f, INFINITY) : f;
}

/* Keypoints of the row that begins at `row`. */
static psfm_status detect_row(psfm_context *ctx, place row, int position,
                              const psfm_sift_options *options, uint32_t *found,
                              psfm_sift_points *points) {
    const psfm_sift_octave *octave = row.octave;
    const float *rows[4];
    for (int k = 0; k < 4; ++k)
        rows[k] = octave->levels[row.s + k] + row.y * octave->stride;
    size_t num = psfm_sift_kernel_choose()->find_extrema(
        rows, octave->stride, octave->width, float_above(0.8 * options->peak_threshold), found);
    psfm_status status = PSFM_RESERVE(ctx, &points->points, &points->capacity, points->num + num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        psfm_sift_point point = {.octave = position};
        if (refine((place){octave, row.s, (int)found[k], row.y}, options, &point))
            points->points[points->num++] = point;
    }
    return status;
}

static psfm_status append(psfm_context *ctx, const psfm_sift_points *from, psfm_sift_points *to) {
    psfm_status status = PSFM_RESERVE(ctx, &to->points, &to->capacity, to->num + from->num);
    if (status != PSFM_OK || from->num == 0)
        return status;
    memcpy(to->points + to->num, from->points, from->num * sizeof *from->points);
    to->num += from->num;
    return PSFM_OK;
}

/* Rows go in the outer loop, levels in the inner one: levels share planes, which are larger than
 * the caches are. */
psfm_status psfm_sift_detect(psfm_context *ctx, const psfm_sift_octave *octave, int position,
                             const psfm_sift_options *options, psfm_sift_points *points) {
    psfm_sift_points levels[PSFM_SIFT_MAX_LEVELS] = {{0}};
    uint32_t *found = NULL;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)octave->width, &found);
    for (int y = 1; status == PSFM_OK && y < octave->height - 1; ++y)
        for (int s = 0; status == PSFM_OK && s < octave->num_levels; ++s)
            status =
                detect_row(ctx, (place){octave, s, 0, y}, position, options, found, &levels[s]);
    for (int s = 0; s < octave->num_levels; ++s) {
        if (status == PSFM_OK)
            status = append(ctx, &levels[s], points);
        free(levels[s].points);
    }
    free(found);
    return status;
}
