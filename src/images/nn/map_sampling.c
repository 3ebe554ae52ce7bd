/* Feature maps between pixels: nearest, bilinear and bicubic samples, and bilinear resizing with
 * the rounding of PyTorch, whose results the networks are compared with. */
#include "images/nn/map_sampling.h"

#include <math.h>

#define BLOCK_POSITIONS 64

static void add_pixel(const psfm_map *map, ptrdiff_t x, ptrdiff_t y, float weight, float *out) {
    if (x < 0 || y < 0 || x >= (ptrdiff_t)map->width || y >= (ptrdiff_t)map->height)
        return;
    const float *pixel = map->data + ((size_t)y * map->width + (size_t)x) * map->pitch;
    for (size_t c = 0; c < map->channels; ++c)
        out[c] += weight * pixel[c];
}

static float pixel_or_zero(const psfm_map *map, ptrdiff_t x, ptrdiff_t y) {
    bool inside = x >= 0 && y >= 0 && x < (ptrdiff_t)map->width && y < (ptrdiff_t)map->height;
    return inside ? map->data[y * (ptrdiff_t)map->width + x] : 0;
}

/* Weights of the four pixels around position t in [0, 1) after the second. */
static void cubic_weights(float t, float w[4]) {
    const float a = -0.75f;
    float s = 1 - t;
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * s - (a + 3)) * s * s + 1;
    w[3] = ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a;
}

/* The largest whole number that is not above x, by instructions that every processor has. */
static ptrdiff_t whole_below(float x) {
    ptrdiff_t i = (ptrdiff_t)x;
    return (float)i > x ? i - 1 : i;
}

void psfm_map_sample(const psfm_map *map, psfm_sample_mode mode, float x, float y, float *out) {
    for (size_t c = 0; c < map->channels; ++c)
        out[c] = 0;
    if (mode == PSFM_SAMPLE_NEAREST) {
        add_pixel(map, lrintf(x), lrintf(y), 1, out);
        return;
    }
    ptrdiff_t ix = whole_below(x), iy = whole_below(y);
    float tx = x - (float)ix, ty = y - (float)iy;
    float wx[4] = {0, 1 - tx, tx, 0}, wy[4] = {0, 1 - ty, ty, 0};
    bool wide = mode == PSFM_SAMPLE_BICUBIC;
    if (!wide && map->pitch == 1) {
        for (ptrdiff_t k = 0; k < 4; ++k)
            *out += wx[1 + k % 2] * wy[1 + k / 2] * pixel_or_zero(map, ix + k % 2, iy + k / 2);
        return;
    }
    if (wide) {
        cubic_weights(tx, wx);
        cubic_weights(ty, wy);
    }
    for (ptrdiff_t j = wide ? 0 : 1; j < (wide ? 4 : 3); ++j)
        for (ptrdiff_t i = wide ? 0 : 1; i < (wide ? 4 : 3); ++i)
            if (wx[i] != 0 && wy[j] != 0)
                add_pixel(map, ix + i - 1, iy + j - 1, wx[i] * wy[j], out);
}

static void normalise_vector(psfm_engine *nn, float *x, size_t n) {
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    float length = sqrtf(kernels->sum_squares(x, n));
    kernels->scale(x, n, 1.0f / (length > 1e-12f ? length : 1e-12f));
}

typedef struct {
    const psfm_map *map;
    psfm_sample_mode mode;
    size_t num;
    const float (*positions)[2];
    float *out;
} sample_job;

static void sample_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const sample_job *job = user;
    size_t begin = index * BLOCK_POSITIONS, n = job->map->channels;
    size_t end = begin + BLOCK_POSITIONS < job->num ? begin + BLOCK_POSITIONS : job->num;
    for (size_t k = begin; k < end; ++k) {
        float *out = job->out + k * n;
        psfm_map_sample(job->map, job->mode, job->positions[k][0], job->positions[k][1], out);
        normalise_vector(nn, out, n);
    }
}

psfm_status psfm_map_sample_unit(psfm_context *ctx, psfm_engine *nn, const psfm_map *map,
                                 psfm_sample_mode mode, size_t num, const float (*positions)[2],
                                 float *out) {
    sample_job job = {.map = map, .mode = mode, .num = num, .positions = positions};
    job.out = out;
    return psfm_engine_run(ctx, nn, (num + BLOCK_POSITIONS - 1) / BLOCK_POSITIONS, 0, sample_task,
                           &job);
}

static void normalise_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    (void)memory;
    const psfm_map *map = user;
    for (size_t x = 0; x < map->width; ++x)
        normalise_vector(nn, map->data + (y * map->width + x) * map->pitch, map->channels);
}

psfm_status psfm_map_normalise(psfm_context *ctx, psfm_engine *nn, psfm_map *map) {
    return psfm_engine_run(ctx, nn, map->height, 0, normalise_task, map);
}

typedef struct {
    const psfm_map *src;
    psfm_map *dst;
    psfm_resize_rule rule;
    bool add;
} resize_job;

/* Two old pixels (or rows) and the weight of the second. */
typedef struct {
    size_t low, high;
    float weight;
} between;

/* Between which of m old pixels new pixel i of n lies. The ratio is rounded to single precision and
 * the rest is not: so does PyTorch, and the networks' reference results come from it. */
static between place_between(psfm_resize_rule rule, size_t i, size_t n, size_t m) {
    double position;
    if (rule == PSFM_RESIZE_CORNERS)
        position = n > 1 ? (double)i * (double)((float)(m - 1) / (float)(n - 1)) : 0;
    else
        position = ((double)i + 0.5) * (double)((float)m / (float)n) - 0.5;
    if (position < 0)
        position = 0;
    between b;
    b.low = (size_t)position < m - 1 ? (size_t)position : m - 1;
    b.high = b.low + 1 < m ? b.low + 1 : b.low;
    b.weight = (float)(position - (double)b.low);
    return b;
}

static void resize_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    (void)nn, (void)memory;
    const resize_job *job = user;
    const psfm_map *src = job->src, *dst = job->dst;
    between v = place_between(job->rule, y, dst->height, src->height);
    const float *top = src->data + v.low * src->width * src->pitch;
    const float *bottom = src->data + v.high * src->width * src->pitch;
    for (size_t x = 0; x < dst->width; ++x) {
        between h = place_between(job->rule, x, dst->width, src->width);
        const float *a = top + h.low * src->pitch, *b = top + h.high * src->pitch;
        const float *c = bottom + h.low * src->pitch, *d = bottom + h.high * src->pitch;
        float wa = (1 - v.weight) * (1 - h.weight), wb = (1 - v.weight) * h.weight;
        float wc = v.weight * (1 - h.weight), wd = v.weight * h.weight;
        float *out = dst->data + (y * dst->width + x) * dst->pitch;
        for (size_t k = 0; k < src->channels; ++k) {
            float value = wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k];
            out[k] = job->add ? out[k] + value : value;
        }
    }
}

psfm_status psfm_map_resize_bilinear(psfm_context *ctx, psfm_engine *nn, const psfm_map *src,
                                     const psfm_resize *resize, psfm_map *dst) {
    psfm_status status = PSFM_OK;
    if (!resize->add)
        status = psfm_map_resize(ctx, dst, resize->height, resize->width, src->channels);
    if (status != PSFM_OK)
        return status;
    resize_job job = {src, dst, resize->rule, resize->add};
    return psfm_engine_run(ctx, nn, dst->height, 0, resize_task, &job);
}
