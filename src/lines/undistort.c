/* Each line pixel goes to where its ray meets the plane z = 1, scaled by the camera's focal
 * lengths; its direction by the difference of two places half a pixel before and behind it. */
#include "lines/undistort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_model.h"

#define MAX_TANGENT 2.747 /* of 70 degrees */
#define MAX_GROWTH 3.0    /* of the image, in each direction */
#define BORDER_STEPS 64   /* places along each side of the image that tell what the camera sees */
#define BLOCK 8           /* pixels; the valid area is looked up once a block */

static psfm_camera make_pinhole(uint64_t width, uint64_t height, double fx, double fy, double cx,
                                double cy) {
    return (psfm_camera){
        .model = PSFM_CAMERA_PINHOLE, .width = width, .height = height, .params = {fx, fy, cx, cy}};
}

/* Where the ray of a pixel meets the plane z = 1; false if it does not. */
static bool on_plane(const psfm_camera *camera, double x, double y, double out[2]) {
    double xy[2] = {x, y}, ray[3];
    if (!psfm_camera_unproject(camera, xy, ray) || !(ray[2] > 0.0))
        return false;
    out[0] = ray[0] / ray[2];
    out[1] = ray[1] / ray[2];
    return fabs(out[0]) <= MAX_TANGENT && fabs(out[1]) <= MAX_TANGENT;
}

/* The rectangle of the plane that the image covers: low and high, x and y. */
static void find_bounds(const psfm_camera *camera, double low[2], double high[2]) {
    double size[2] = {(double)camera->width, (double)camera->height};
    for (int d = 0; d < 2; ++d) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
    }
    for (int k = 0; k <= BORDER_STEPS; ++k) {
        double t = (double)k / BORDER_STEPS, at[2];
        double places[4][2] = {
            {t * size[0], 0.0}, {t * size[0], size[1]}, {0.0, t * size[1]}, {size[0], t * size[1]}};
        for (int p = 0; p < 4; ++p) {
            bool seen = on_plane(camera, places[p][0], places[p][1], at);
            for (int d = 0; d < 2; ++d) {
                double edge = places[p][d] > 0.5 * size[d] ? MAX_TANGENT : -MAX_TANGENT;
                low[d] = fmin(low[d], seen ? at[d] : edge);
                high[d] = fmax(high[d], seen ? at[d] : edge);
            }
        }
    }
}

/* The pinhole camera with the given one's focal lengths that sees the same. */
static psfm_camera make_ideal(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double size[2] = {(double)camera->width, (double)camera->height};
    double low[2], high[2], focal[2], center[2], extent[2];
    find_bounds(camera, low, high);
    for (int d = 0; d < 2; ++d) {
        focal[d] = camera->params[info->focal[d]];
        double limit = 0.5 * MAX_GROWTH * size[d] / focal[d];
        low[d] = fmax(low[d], -limit);
        high[d] = fmin(high[d], limit);
        center[d] = ceil(-low[d] * focal[d]);
        extent[d] = fmax(ceil(center[d] + high[d] * focal[d]), 1.0);
    }
    return make_pinhole((uint64_t)extent[0], (uint64_t)extent[1], focal[0], focal[1], center[0],
                        center[1]);
}

static bool to_ideal(const psfm_camera *camera, const psfm_camera *ideal, double x, double y,
                     double out[2]) {
    double at[2];
    if (!on_plane(camera, x, y, at))
        return false;
    for (int d = 0; d < 2; ++d)
        out[d] = ideal->params[d] * at[d] + ideal->params[2 + d];
    return true;
}

/* Moves one line pixel; false if it leaves the ideal image. */
static bool move_pixel(const psfm_camera *camera, const psfm_camera *ideal, psfm_line_pixel *p) {
    double at[2], a[2], b[2], x = (double)p->x, y = (double)p->y;
    double dx = 0.5 * (double)p->tx, dy = 0.5 * (double)p->ty;
    if (!to_ideal(camera, ideal, x, y, at) || !to_ideal(camera, ideal, x - dx, y - dy, a) ||
        !to_ideal(camera, ideal, x + dx, y + dy, b))
        return false;
    double tx = b[0] - a[0], ty = b[1] - a[1], length = sqrt(tx * tx + ty * ty);
    if (!(at[0] >= 0.0 && at[1] >= 0.0 && at[0] < (double)ideal->width &&
          at[1] < (double)ideal->height && length > 0.0))
        return false;
    double sign = ty < 0.0 || (ty == 0.0 && tx < 0.0) ? -1.0 : 1.0;
    p->x = (float)at[0];
    p->y = (float)at[1];
    p->tx = (float)(sign * tx / length);
    p->ty = (float)(sign * ty / length);
    return true;
}

/* Whether the pixel of the photograph that the ideal one shows is valid. */
static uint8_t valid_at(const psfm_camera *camera, const psfm_camera *ideal,
                        const psfm_line_pixels *pixels, double x, double y) {
    double ray[3] = {(x - ideal->params[2]) / ideal->params[0],
                     (y - ideal->params[3]) / ideal->params[1], 1.0},
           xy[2];
    if (!psfm_camera_project(camera, ray, xy) || !(xy[0] >= 0.0) || !(xy[1] >= 0.0) ||
        !(xy[0] < pixels->width) || !(xy[1] < pixels->height))
        return 0;
    return pixels->valid[(size_t)xy[1] * (size_t)pixels->width + (size_t)xy[0]];
}

static void fill_valid(const psfm_camera *camera, const psfm_camera *ideal,
                       const psfm_line_pixels *pixels, uint8_t *valid) {
    size_t w = ideal->width, h = ideal->height;
    for (size_t y = 0; y < h; y += BLOCK) {
        for (size_t x = 0; x < w; x += BLOCK) {
            uint8_t value =
                valid_at(camera, ideal, pixels, (double)x + 0.5 * BLOCK, (double)y + 0.5 * BLOCK);
            size_t columns = x + BLOCK < w ? BLOCK : w - x;
            for (size_t v = y; v < y + BLOCK && v < h; ++v)
                memset(valid + v * w + x, value, columns);
        }
    }
}

psfm_status psfm_line_pixels_rectify(psfm_context *ctx, const psfm_camera *camera,
                                     psfm_line_pixels *pixels, psfm_camera *ideal) {
    const double *p = camera->params;
    if (camera->model == PSFM_CAMERA_PINHOLE || camera->model == PSFM_CAMERA_SIMPLE_PINHOLE) {
        bool simple = camera->model == PSFM_CAMERA_SIMPLE_PINHOLE;
        *ideal = make_pinhole(camera->width, camera->height, p[0], p[simple ? 0 : 1],
                              p[simple ? 1 : 2], p[simple ? 2 : 3]);
        return PSFM_OK;
    }
    uint8_t *valid = NULL;
    *ideal = make_ideal(camera);
    psfm_status status = PSFM_ALLOC(ctx, (size_t)(ideal->width * ideal->height), &valid);
    if (status != PSFM_OK)
        return status;
    fill_valid(camera, ideal, pixels, valid);
    free(pixels->valid);
    pixels->valid = valid;
    pixels->width = (int)ideal->width;
    pixels->height = (int)ideal->height;
    size_t kept = 0;
    for (size_t k = 0; k < pixels->num; ++k)
        if (move_pixel(camera, ideal, &pixels->pixels[k]))
            pixels->pixels[kept++] = pixels->pixels[k];
    pixels->num = kept;
    return PSFM_OK;
}
