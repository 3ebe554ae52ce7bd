/* The camera's rays are computed at the corners of the pixels; samples within a pixel take the
 * bilinear blend of its four corners, which is off by less than 1 / (8 f) pixels for a focal length
 * of f pixels. A pixel is the mean over its square, as a sensor makes it. It is sampled n times,
 * once in each row and column of an n x n grid, which is enough on a surface, since patterns are
 * filtered over what a sample stands for. Where the samples see different things, or those of two
 * neighbours do, an edge may pass: then m x m more are taken with m = 3n / 2, one in each cell of a
 * finer grid and no two in the same of m^2 rows or columns (multi-jittering, after Chiu, Shirley
 * and Wang), so that an edge at any angle is placed to a fraction of a pixel. */
#include "synth/render_camera.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "synth/render_shading.h"

#define CONTRAST 0.3 /* relative difference between samples that calls for more */
#define NUM_ROWS 3   /* of the image that are in work at a time */

/* The rays of a row of pixel corners, in the world; has_ray[x] tells which exist. */
typedef struct {
    double (*dir)[3];
    bool *has_ray;
} corner_row;

/* What the samples of a pixel have brought. */
typedef struct {
    double sum[3], low[3], high[3];
    psfm_glimpse first;
    bool is_mixed; /* the first samples saw different things */
    int num;       /* 0: the camera has no ray for the pixel */
} tally;

/* A photograph being taken: the rows that are in work, row y in place y % NUM_ROWS. */
typedef struct {
    const psfm_stage *stage;
    const psfm_shot *shot;
    int width, height;
    corner_row corners[NUM_ROWS];
    tally *pixels[NUM_ROWS];
    float *light;            /* of a row that is done */
    const psfm_solid *guess; /* where the last ray ended */
} film;

static void fill_corners(film *f, int y) {
    corner_row *row = &f->corners[y % NUM_ROWS];
    for (int x = 0; x <= f->width; ++x) {
        const double xy[2] = {x, y};
        double ray[3];
        row->has_ray[x] = psfm_camera_unproject(f->shot->camera, xy, ray);
        if (row->has_ray[x])
            psfm_mat3_tmul_vec(f->shot->pose->R, ray, row->dir[x]);
    }
}

static bool has_rays(const film *f, int x, int y) {
    const bool *top = f->corners[y % NUM_ROWS].has_ray + x;
    const bool *bottom = f->corners[(y + 1) % NUM_ROWS].has_ray + x;
    return top[0] && top[1] && bottom[0] && bottom[1];
}

/* The ray at (u, v) in [0, 1]^2 of a pixel, whose samples have the side `step`. */
static psfm_ray make_ray(const film *f, int x, int y, double u, double v, double step) {
    const double *top[2] = {f->corners[y % NUM_ROWS].dir[x], f->corners[y % NUM_ROWS].dir[x + 1]};
    const double *bottom[2] = {f->corners[(y + 1) % NUM_ROWS].dir[x],
                               f->corners[(y + 1) % NUM_ROWS].dir[x + 1]};
    psfm_ray ray;
    memcpy(ray.origin, f->shot->pose->center, sizeof ray.origin);
    for (int k = 0; k < 3; ++k) {
        double right = top[1][k] - top[0][k], down = bottom[0][k] - top[0][k];
        double twist = bottom[1][k] - bottom[0][k] - right;
        ray.dir[k] = top[0][k] + u * right + v * (down + u * twist);
        ray.dir_dx[k] = step * right;
        ray.dir_dy[k] = step * down;
    }
    return ray;
}

static bool sees_another(const psfm_glimpse *a, const psfm_glimpse *b) {
    return a->solid != b->solid || a->in_sun != b->in_sun;
}

static void count_sample(const psfm_glimpse *seen, tally *t) {
    if (t->num == 0)
        t->first = *seen;
    t->is_mixed = t->is_mixed || sees_another(seen, &t->first);
    for (int k = 0; k < 3; ++k) {
        double value = psfm_min(seen->rgb[k], 1.5); /* lamps must not outshine their edges */
        t->sum[k] += value;
        t->low[k] = t->num == 0 ? value : psfm_min(t->low[k], value);
        t->high[k] = t->num == 0 ? value : psfm_max(t->high[k], value);
    }
    ++t->num;
}

/* Where sample k lies, of n on a diagonal of the pixel or of n x n all over it. */
typedef struct {
    int n;
    bool is_diagonal;
} pattern;

static void place_sample(pattern cells, int k, uint32_t seed, double *u, double *v) {
    int n = cells.n, column = k % n, row = k / n;
    if (cells.is_diagonal) {
        *u = (column + 0.5) / n;
        *v = ((k + (int)(seed % (uint32_t)n)) % n + 0.5) / n;
    } else {
        *u = (column + (row + 0.5) / n) / n;
        *v = (row + (column + 0.5) / n) / n;
    }
}

/* Takes the samples of a pattern. Only one of them looks at the mirror image, on behalf of all: it
 * is faint and blurred. */
static void take_samples(film *f, int x, int y, pattern cells, tally *t) {
    int num = cells.is_diagonal ? cells.n : cells.n * cells.n;
    double step = cells.is_diagonal ? 1.0 / sqrt(cells.n) : 1.0 / cells.n;
    uint32_t seed = psfm_hash((uint32_t)f->shot->sensor.image + (uint32_t)cells.n, x, y);
    int mirrored = (int)((seed >> 8) % (uint32_t)num);
    for (int k = 0; k < num; ++k) {
        double u, v, mirror[3];
        place_sample(cells, k, seed, &u, &v);
        psfm_ray ray = make_ray(f, x, y, u, v, step);
        psfm_glimpse seen =
            psfm_look(f->stage, &ray, f->guess, k == mirrored, psfm_mix(seed), mirror);
        f->guess = seen.solid;
        count_sample(&seen, t);
        if (k == mirrored)
            psfm_axpy3(t->sum, num, mirror, t->sum);
    }
}

/* The first samples of a row. */
static void expose_row(film *f, int y) {
    fill_corners(f, y + 1);
    for (int x = 0; x < f->width; ++x) {
        tally *t = &f->pixels[y % NUM_ROWS][x];
        memset(t, 0, sizeof *t);
        if (has_rays(f, x, y))
            take_samples(f, x, y, (pattern){f->shot->samples, true}, t);
    }
}

/* Whether an edge may run between two pixels of which neither has one inside. */
static bool is_edge(const tally *a, const tally *b) {
    return b->num > 0 && !a->is_mixed && !b->is_mixed && sees_another(&a->first, &b->first);
}

/* Whether a pixel needs more samples; row y + 1 must have its first ones. */
static bool wants_more(const film *f, int x, int y) {
    const tally *row = f->pixels[y % NUM_ROWS], *t = &row[x];
    bool more = t->is_mixed;
    for (int k = 0; k < 3; ++k)
        more = more || t->high[k] - t->low[k] > CONTRAST * (t->high[k] + t->low[k] + 0.05);
    more = more || (x > 0 && is_edge(t, t - 1)) || (x + 1 < f->width && is_edge(t, t + 1));
    more = more || (y > 0 && is_edge(t, &f->pixels[(y + NUM_ROWS - 1) % NUM_ROWS][x]));
    return more || (y + 1 < f->height && is_edge(t, &f->pixels[(y + 1) % NUM_ROWS][x]));
}

/* Takes the further samples of a row and develops it. */
static void finish_row(film *f, int y, psfm_image *image) {
    size_t offset = (size_t)f->width * (size_t)y;
    uint8_t *bytes = image->rgb + 3 * offset;
    for (int x = 0; x < f->width; ++x) {
        /* a copy, since the neighbours compare themselves to the first samples */
        tally t = f->pixels[y % NUM_ROWS][x];
        if (t.num > 0 && wants_more(f, x, y))
            take_samples(f, x, y, (pattern){3 * f->shot->samples / 2, false}, &t);
        for (int k = 0; k < 3; ++k)
            f->light[3 * x + k] = t.num > 0 ? (float)(t.sum[k] / t.num) : 0.0F;
    }
    psfm_sensor_expose(&f->shot->sensor, f->width, f->height, y, f->light, bytes);
    for (size_t x = 0; x < (size_t)f->width; ++x) {
        const uint8_t *pixel = bytes + 3 * x;
        image->gray[offset + x] = psfm_luma(pixel[0], pixel[1], pixel[2]);
    }
}

static psfm_status film_init(psfm_context *ctx, const psfm_stage *stage, const psfm_shot *shot,
                             film *f) {
    size_t num_corners = (size_t)shot->camera->width + 1;
    *f = (film){.stage = stage, .shot = shot};
    f->width = (int)shot->camera->width;
    f->height = (int)shot->camera->height;
    psfm_status status = PSFM_ALLOC(ctx, 3 * num_corners, &f->light);
    for (int k = 0; k < NUM_ROWS && status == PSFM_OK; ++k) {
        corner_row *row = &f->corners[k];
        status = PSFM_ALLOC(ctx, num_corners, &row->dir);
        if (status == PSFM_OK)
            status = PSFM_ALLOC(ctx, num_corners, &row->has_ray);
        if (status == PSFM_OK)
            status = PSFM_ALLOC(ctx, num_corners, &f->pixels[k]);
    }
    return status;
}

static void film_free(film *f) {
    free(f->light);
    for (int k = 0; k < NUM_ROWS; ++k) {
        free(f->corners[k].dir);
        free(f->corners[k].has_ray);
        free(f->pixels[k]);
    }
}

psfm_status psfm_shot_take(psfm_context *ctx, const psfm_stage *stage, const psfm_shot *shot,
                           psfm_image *image) {
    film f;
    memset(image, 0, sizeof *image);
    psfm_status status = film_init(ctx, stage, shot, &f);
    if (status == PSFM_OK)
        status = psfm_image_init(ctx, f.width, f.height, PSFM_IMAGE_GRAY_AND_RGB, image);
    if (status == PSFM_OK) {
        fill_corners(&f, 0);
        for (int y = 0; y < f.height; ++y) {
            expose_row(&f, y);
            if (y > 0)
                finish_row(&f, y - 1, image);
        }
        finish_row(&f, f.height - 1, image);
    }
    film_free(&f);
    return status;
}
