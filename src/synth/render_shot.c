/* The camera's rays are computed at the corners of the pixels; samples within a pixel take the
 * bilinear blend of its four corners, which is off by less than 1 / (8 f) pixels for a focal length
 * of f pixels. A pixel is the mean over its square, as a sensor makes it: n samples at random
 * places, one in each row and column of an n x n grid. That is enough on a surface, since patterns
 * are filtered over what a sample stands for; where the samples hit different solids or differ in
 * colour, 2n x 2n more are taken, one in each cell of a finer grid.
 *
 * Light: Lambert's law under soft light from above and below and a sun; glossy coats add the mirror
 * image, by Schlick's approximation of Fresnel's law, slightly blurred. */
#include "synth/render_shot.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/mat3.h"

#define NEAREST 1e-4       /* metres: keeps rays from meeting the surface where they start */
#define CONTRAST 0.3       /* relative difference between samples that calls for more */
#define GLOSS_SPREAD 0.004 /* of the normals of a glossy coat, radians */
#define GLOSS_BLUR 4.0     /* footprint of a mirrored sample in those of a direct one */

/* Light that reaches a surface from the sun and the soft lights. */
static void illuminate(const psfm_stage *stage, const psfm_surface *surface, double light[3]) {
    const psfm_light *from = &stage->light;
    double up = 0.5 + 0.5 * surface->normal[2];
    double slant = psfm_dot3(surface->normal, from->sun);
    if (slant > 0.0 && from->has_shadows &&
        psfm_stage_is_blocked(stage, surface->xyz, from->sun, 10.0 * NEAREST))
        slant = 0.0;
    for (int k = 0; k < 3; ++k) {
        light[k] = from->from_below[k] + up * (from->from_above[k] - from->from_below[k]);
        light[k] += psfm_max(slant, 0.0) * from->sun_rgb[k];
    }
}

/* The colour that a ray brings, without mirror images; *surface is filled and true returned if it
 * ends on a solid. */
static bool look(const psfm_stage *stage, const psfm_ray *ray, const psfm_solid *guess,
                 psfm_surface *surface, double rgb[3]) {
    double distance;
    const psfm_solid *solid =
        psfm_stage_nearest(stage, ray->origin, ray->dir, NEAREST, guess, &distance);
    if (solid == NULL) {
        double dir[3] = {ray->dir[0], ray->dir[1], ray->dir[2]};
        psfm_normalize3(dir);
        memset(rgb, 0, 3 * sizeof *rgb);
        if (stage->sky != NULL)
            stage->sky(dir, rgb);
        return false;
    }
    surface->stage = stage;
    psfm_solid_surface(solid, ray, distance, surface);
    solid->coat.paint(surface, rgb);
    if (!solid->coat.glows) {
        double light[3];
        illuminate(stage, surface, light);
        for (int k = 0; k < 3; ++k)
            rgb[k] *= light[k];
    }
    return true;
}

/* The mirror image in a glossy surface. */
static void look_at_mirror(const psfm_surface *surface, const psfm_ray *ray, uint32_t hash,
                           double rgb[3]) {
    double normal[3];
    double spread[3] = {psfm_hash_share(hash, 0) - 0.5, psfm_hash_share(hash, 1) - 0.5, 0.0};
    psfm_axpy3(surface->normal, 2.0 * GLOSS_SPREAD, spread, normal);
    psfm_normalize3(normal);
    psfm_ray mirror = *ray;
    double length = psfm_norm3(ray->dir), facing = -psfm_dot3(normal, ray->dir) / length;
    memcpy(mirror.origin, surface->xyz, sizeof mirror.origin);
    psfm_axpy3(ray->dir, 2.0 * facing * length, normal, mirror.dir);
    for (int k = 0; k < 3; ++k) {
        mirror.dir_dx[k] *= GLOSS_BLUR;
        mirror.dir_dy[k] *= GLOSS_BLUR;
    }
    psfm_surface ignored;
    double grazing = 1.0 - psfm_clamp(facing, 0.0, 1.0), square = grazing * grazing;
    look(surface->stage, &mirror, NULL, &ignored, rgb);
    psfm_rgb_scale(rgb, surface->solid->coat.gloss * (0.04 + 0.96 * square * square * grazing));
}

/* The rays of a row of pixel corners, in the world; has_ray[x] tells which exist. */
typedef struct {
    double (*dir)[3];
    bool *has_ray;
} corner_row;

static void fill_corners(const psfm_shot *shot, uint64_t y, corner_row *row) {
    for (uint64_t x = 0; x <= shot->camera->width; ++x) {
        const double xy[2] = {(double)x, (double)y};
        double ray[3];
        row->has_ray[x] = psfm_camera_unproject(shot->camera, xy, ray);
        if (row->has_ray[x])
            psfm_mat3_tmul_vec(shot->pose->R, ray, row->dir[x]);
    }
}

/* The four corner rays of a pixel as a bilinear function of the place in it. */
typedef struct {
    double base[3], right[3], down[3], twist[3];
} pixel;

static pixel make_pixel(const corner_row *top, const corner_row *bottom, size_t x) {
    pixel p;
    for (int k = 0; k < 3; ++k) {
        double a = top->dir[x][k], b = top->dir[x + 1][k];
        double c = bottom->dir[x][k], d = bottom->dir[x + 1][k];
        p.base[k] = a;
        p.right[k] = b - a;
        p.down[k] = c - a;
        p.twist[k] = d - c - b + a;
    }
    return p;
}

/* What the samples of a pixel have brought. */
typedef struct {
    double sum[3], low[3], high[3];
    const psfm_solid *first, *last; /* solids of the first and the last sample, or NULL */
    bool is_mixed;                  /* samples hit different solids */
    int num;
} tally;

static void add_to_tally(const double rgb[3], const psfm_solid *solid, tally *t) {
    if (t->num == 0)
        t->first = solid;
    t->last = solid;
    t->is_mixed = t->is_mixed || solid != t->first;
    for (int k = 0; k < 3; ++k) {
        double value = psfm_min(rgb[k], 1.5); /* lamps must not outshine their edges */
        t->sum[k] += value;
        t->low[k] = t->num == 0 ? value : psfm_min(t->low[k], value);
        t->high[k] = t->num == 0 ? value : psfm_max(t->high[k], value);
    }
    ++t->num;
}

static psfm_ray make_ray(const psfm_shot *shot, const pixel *p, double u, double v, double step) {
    psfm_ray ray;
    memcpy(ray.origin, shot->pose->center, sizeof ray.origin);
    for (int k = 0; k < 3; ++k) {
        ray.dir[k] = p->base[k] + u * p->right[k] + v * (p->down[k] + u * p->twist[k]);
        ray.dir_dx[k] = step * p->right[k];
        ray.dir_dy[k] = step * p->down[k];
    }
    return ray;
}

/* Which cells of an n x n grid over the pixel get a sample: all, or one in each row and column. */
typedef struct {
    int n;
    bool is_diagonal;
} pattern;

/* Takes the samples of a pattern. Only one of them looks at the mirror image, on behalf of all: it
 * is faint and blurred. */
static void take_samples(const psfm_stage *stage, const psfm_shot *shot, const pixel *p,
                         pattern cells, uint32_t seed, tally *t) {
    int n = cells.n, count = cells.is_diagonal ? n : n * n;
    double step = cells.is_diagonal ? 1.0 / sqrt(n) : 1.0 / n;
    int shift = (int)(seed % (uint32_t)n), mirrored = (int)(seed % (uint32_t)count);
    for (int k = 0; k < count; ++k) {
        uint32_t hash = psfm_hash(seed, k, n);
        int row = cells.is_diagonal ? (k + shift) % n : k / n;
        double u = (k % n + psfm_hash_share(hash, 0)) / n;
        double v = (row + psfm_hash_share(hash, 1)) / n, rgb[3];
        psfm_surface surface = {.solid = NULL};
        psfm_ray ray = make_ray(shot, p, u, v, step);
        bool is_glossy =
            look(stage, &ray, t->last, &surface, rgb) && surface.solid->coat.gloss > 0.0;
        add_to_tally(rgb, surface.solid, t);
        if (!is_glossy || k != mirrored)
            continue;
        look_at_mirror(&surface, &ray, hash, rgb);
        psfm_axpy3(t->sum, count, rgb, t->sum);
    }
}

static bool wants_more(const tally *t) {
    bool differs = t->is_mixed;
    for (int k = 0; k < 3; ++k)
        differs = differs || t->high[k] - t->low[k] > CONTRAST * (t->high[k] + t->low[k] + 0.05);
    return differs;
}

static void take_row(const psfm_stage *stage, const psfm_shot *shot, int y, const corner_row *top,
                     const corner_row *bottom, float *light) {
    const psfm_solid *last = NULL;
    for (int x = 0; x < (int)shot->camera->width; ++x) {
        tally t = {.last = last};
        bool seen =
            top->has_ray[x] && top->has_ray[x + 1] && bottom->has_ray[x] && bottom->has_ray[x + 1];
        if (seen) {
            pixel p = make_pixel(top, bottom, (size_t)x);
            uint32_t seed = psfm_hash((uint32_t)shot->sensor.image, x, y);
            take_samples(stage, shot, &p, (pattern){shot->samples, true}, seed, &t);
            if (wants_more(&t))
                take_samples(stage, shot, &p, (pattern){2 * shot->samples, false}, seed + 1, &t);
        }
        last = t.last;
        for (int k = 0; k < 3; ++k)
            light[3 * x + k] = seen ? (float)(t.sum[k] / t.num) : 0.0F;
    }
}

psfm_status psfm_shot_take(psfm_context *ctx, const psfm_stage *stage, const psfm_shot *shot,
                           psfm_image *image) {
    int width = (int)shot->camera->width, height = (int)shot->camera->height;
    size_t corners = (size_t)width + 1;
    void *memory[5] = {NULL};
    memset(image, 0, sizeof *image);
    psfm_status status = PSFM_OK;
    for (int k = 0; k < 2 && status == PSFM_OK; ++k) {
        status = psfm_alloc(ctx, corners, 3 * sizeof(double), &memory[k]);
        if (status == PSFM_OK)
            status = psfm_alloc(ctx, corners, sizeof(bool), &memory[2 + k]);
    }
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, corners, 3 * sizeof(float), &memory[4]);
    if (status == PSFM_OK)
        status = psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY_AND_RGB, image);
    if (status != PSFM_OK)
        goto cleanup;
    corner_row rows[2] = {{memory[0], memory[2]}, {memory[1], memory[3]}};
    float *light = memory[4];
    fill_corners(shot, 0, &rows[0]);
    for (int y = 0; y < height; ++y) {
        const corner_row *top = &rows[y % 2], *bottom = &rows[(y + 1) % 2];
        uint8_t *bytes = image->rgb + 3 * (size_t)width * (size_t)y;
        fill_corners(shot, (uint64_t)y + 1, &rows[(y + 1) % 2]);
        take_row(stage, shot, y, top, bottom, light);
        psfm_sensor_expose(&shot->sensor, width, height, y, light, bytes);
        for (int x = 0; x < width; ++x)
            image->gray[(size_t)y * (size_t)width + (size_t)x] =
                psfm_luma(bytes[3 * x], bytes[3 * x + 1], bytes[3 * x + 2]);
    }
cleanup:
    for (int k = 0; k < 5; ++k)
        free(memory[k]);
    return status;
}
