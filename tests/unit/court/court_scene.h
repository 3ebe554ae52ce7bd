/* Photographs of drawings with known poses, for the tests of src/court. */
#ifndef PSFM_TEST_COURT_SCENE_H
#define PSFM_TEST_COURT_SCENE_H

#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "court/drawing.h"
#include "images/image/image_io.h"
#include "planarsfm/camera.h"

typedef struct {
    psfm_camera camera;
    double R[9], center[3]; /* cam_from_world, metres */
    double line_width;      /* metres */
    double ground, paint;   /* grey levels */
    double noise;           /* grey levels */
} court_shot;

/* Looks from `center` at a point of the floor, upright. */
static inline void aim(court_shot *shot, double x, double y, double z, double at_x, double at_y) {
    double ahead[3] = {at_x - x, at_y - y, -z}, up[3] = {0.0, 0.0, 1.0}, right[3], down[3];
    shot->center[0] = x;
    shot->center[1] = y;
    shot->center[2] = z;
    psfm_normalize3(ahead);
    psfm_cross3(ahead, up, right);
    psfm_normalize3(right);
    psfm_cross3(ahead, right, down);
    for (int d = 0; d < 3; ++d) {
        shot->R[d] = right[d];
        shot->R[3 + d] = down[d];
        shot->R[6 + d] = ahead[d];
    }
}

static inline double part_distance(const psfm_drawing_part *p, double x, double y) {
    double dx = x - p->a[0], dy = y - p->a[1];
    if (p->radius > 0.0) {
        double turns = (atan2(dy, dx) - p->b[0]) / (2.0 * M_PI);
        double along = (turns - floor(turns)) * 2.0 * M_PI;
        return along <= p->b[1] - p->b[0] ? fabs(hypot(dx, dy) - p->radius) : INFINITY;
    }
    double ex = p->b[0] - p->a[0], ey = p->b[1] - p->a[1], length = hypot(ex, ey);
    double along = (dx * ex + dy * ey) / length;
    return along >= 0.0 && along <= length ? fabs(dx * ey - dy * ex) / length : INFINITY;
}

/* part_distance(p, x, y) <= half, without a root or an angle for the many points that are far off.
 */
static inline bool is_on_part(const psfm_drawing_part *p, double x, double y, double half) {
    double dx = x - p->a[0], dy = y - p->a[1];
    if (p->radius > 0.0) {
        double square = dx * dx + dy * dy, inner = p->radius - half, outer = p->radius + half;
        return square >= inner * inner && square <= outer * outer && part_distance(p, x, y) <= half;
    }
    double ex = p->b[0] - p->a[0], ey = p->b[1] - p->a[1], square = ex * ex + ey * ey;
    double along = dx * ex + dy * ey, across = dx * ey - dy * ex;
    return along >= 0.0 && along <= square && across * across <= half * half * square;
}

/* Grey value of the floor; above the horizon a plain wall. */
static inline double floor_value(const psfm_drawing *drawing, const court_shot *shot, double x,
                                 double y) {
    double xy[2] = {x, y}, ray[3], world[3];
    if (!psfm_camera_unproject(&shot->camera, xy, ray))
        return 90.0;
    psfm_mat3_tmul_vec(shot->R, ray, world);
    if (world[2] > -1e-3)
        return 90.0;
    double s = -shot->center[2] / world[2];
    double fx = shot->center[0] + s * world[0], fy = shot->center[1] + s * world[1];
    for (size_t k = 0; k < drawing->num_parts; ++k)
        if (is_on_part(&drawing->parts[k], fx, fy, 0.5 * shot->line_width))
            return shot->paint;
    return shot->ground;
}

static inline psfm_status take_shot(psfm_context *ctx, const psfm_drawing *drawing,
                                    const court_shot *shot, psfm_image *image) {
    enum { N = 3 };
    int w = (int)shot->camera.width, h = (int)shot->camera.height;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 3, 0);
    psfm_status status = psfm_image_init(ctx, w, h, PSFM_IMAGE_GRAY, image);
    for (int y = 0; y < h && status == PSFM_OK; ++y) {
        for (int x = 0; x < w; ++x) {
            double sum = 0.0;
            for (int k = 0; k < N * N; ++k)
                sum += floor_value(drawing, shot, x + (k % N + 0.5) / N, y + (k / N + 0.5) / N);
            double value = sum / (N * N) + shot->noise * psfm_rng_normal(&rng);
            image->gray[y * w + x] = (uint8_t)fmin(fmax(value + 0.5, 0.0), 255.0);
        }
    }
    return status;
}

#endif
