/* Convolutions as matrix products.
 *
 * Maps are stored pixel by pixel, so a 1 x 1 convolution is one product of (pixels x c_in) by
 * (c_in x c_out), done in blocks of pixels. A larger kernel that Winograd's method does not serve
 * (stride 2, few channels) first gathers the neighbourhoods of a block of output pixels as rows of
 * kernel * kernel * c_in values.
 *
 * Products with short rows are our own (psfm_product), with the weights laid out for them when
 * they are loaded; long ones are oneDNN's, which arranges both factors anew each time, and gains
 * by it from some 300 values a row on. */
#include "nn/conv.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "nn/winograd.h"

/* Pixels of one task: enough for an efficient product, few enough for the cache. */
#define LEAST_PIXELS 32
#define MOST_PIXELS 256
#define MOST_PANEL_ROWS 256 /* longest rows of a product of our own */

psfm_status psfm_map_resize(psfm_context *ctx, psfm_map *map, size_t height, size_t width,
                            size_t channels) {
    size_t pitch = channels == 1 ? 1 : psfm_align_floats(channels);
    if (height > SIZE_MAX / 64 / pitch || (height != 0 && width > SIZE_MAX / 64 / pitch / height))
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory: a map of %zu x %zu x %zu values",
                         width, height, channels);
    psfm_status status = psfm_buffer_reserve(ctx, &map->buffer, height * width * pitch);
    if (status != PSFM_OK)
        return status;
    map->height = height;
    map->width = width;
    map->channels = channels;
    map->pitch = pitch;
    map->data = map->buffer.data;
    return PSFM_OK;
}

void psfm_map_free(psfm_map *map) {
    psfm_buffer_free(&map->buffer);
    *map = (psfm_map){0};
}

double psfm_conv_flops(const psfm_conv_shape *shape, size_t num_pixels) {
    size_t per_out = shape->c_in / shape->groups * shape->kernel * shape->kernel;
    return 2.0 * (double)per_out * (double)shape->c_out * (double)num_pixels;
}

/* Winograd pays when the products of its 36 parts are not too thin. */
static psfm_conv_method choose_method(const psfm_conv_shape *s) {
    if (s->kernel == 1 && s->stride == 1)
        return PSFM_CONV_POINTWISE;
    if (s->kernel == 3 && s->stride == 1 && s->c_in >= 8 && s->c_out >= 8)
        return PSFM_CONV_WINOGRAD;
    return PSFM_CONV_GATHER;
}

/* From c_out x c_in x k x k to (k x k x c_in) x c_out. */
static void transpose_weights(const psfm_conv *conv, const float *weights) {
    const psfm_conv_shape *s = &conv->shape;
    size_t area = s->kernel * s->kernel;
    for (size_t o = 0; o < s->c_out; ++o)
        for (size_t i = 0; i < s->c_in; ++i)
            for (size_t k = 0; k < area; ++k) {
                size_t row = k * s->c_in + i;
                size_t at =
                    conv->panels ? psfm_panels_at(area * s->c_in, row, o) : row * s->c_out + o;
                conv->weights[at] = weights[(o * s->c_in + i) * area + k];
            }
}

static size_t weights_size(const psfm_conv *conv) {
    const psfm_conv_shape *s = &conv->shape;
    size_t length = s->kernel * s->kernel * s->c_in;
    if (conv->method == PSFM_CONV_WINOGRAD)
        return psfm_winograd_weights_size(s);
    return conv->panels ? psfm_panels_size(length, s->c_out) : length * s->c_out;
}

psfm_status psfm_conv_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                           const char *norm, const psfm_conv_shape *shape, psfm_conv *conv) {
    psfm_layer_weights w;
    size_t per_out = shape->c_in / shape->groups * shape->kernel * shape->kernel;
    *conv = (psfm_conv){.shape = *shape, .method = choose_method(shape)};
    psfm_status status = psfm_layer_weights_read(ctx, file, layer, norm, shape->c_out, per_out, &w);
    if (status != PSFM_OK)
        return status;
    conv->panels =
        conv->method == PSFM_CONV_WINOGRAD || (per_out <= MOST_PANEL_ROWS && shape->c_out > 1);
    status = PSFM_ALLOC(ctx, weights_size(conv), &conv->weights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, psfm_align_floats(shape->c_out), &conv->bias);
    if (status == PSFM_OK) {
        memcpy(conv->bias, w.bias, shape->c_out * sizeof(float));
        if (conv->method == PSFM_CONV_WINOGRAD)
            psfm_winograd_weights(shape, w.weights, conv->weights);
        else
            transpose_weights(conv, w.weights);
    } else {
        psfm_conv_free(conv);
    }
    psfm_layer_weights_free(&w);
    return status;
}

void psfm_conv_free(psfm_conv *conv) {
    free(conv->weights);
    free(conv->bias);
    *conv = (psfm_conv){0};
}

typedef struct {
    const psfm_conv *conv;
    const psfm_map *src, *add;
    psfm_map *dst;
    size_t block; /* pixels of a task */
} conv_job;

/* The neighbourhood of output pixel (x, y) as one row. */
static void gather(const psfm_conv_shape *s, const psfm_map *src, size_t x, size_t y, float *row) {
    size_t k = s->kernel, pad = (k - 1) / 2, c = s->c_in;
    for (size_t ky = 0; ky < k; ++ky, row += k * c) {
        /* Above and left of the map these wrap round to huge numbers. */
        size_t sy = y * s->stride + ky - pad, sx = x * s->stride - pad;
        if (sy < src->height && sx < src->width && sx + k <= src->width && c == src->pitch) {
            memcpy(row, src->data + (sy * src->width + sx) * c, k * c * sizeof *row);
            continue;
        }
        for (size_t kx = 0; kx < k; ++kx) {
            if (sy < src->height && sx + kx < src->width)
                memcpy(row + kx * c, src->data + (sy * src->width + sx + kx) * src->pitch,
                       c * sizeof *row);
            else
                memset(row + kx * c, 0, c * sizeof *row);
        }
    }
}

static void conv_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const conv_job *job = user;
    const psfm_conv_shape *s = &job->conv->shape;
    const psfm_map *dst = job->dst;
    size_t begin = index * job->block, num_pixels = dst->height * dst->width;
    size_t num = num_pixels - begin < job->block ? num_pixels - begin : job->block;
    size_t length = s->kernel * s->kernel * s->c_in, ld = length;
    const float *rows = scratch;
    if (job->conv->method == PSFM_CONV_POINTWISE) {
        rows = job->src->data + begin * job->src->pitch;
        ld = job->src->pitch;
    } else {
        for (size_t k = 0; k < num; ++k)
            gather(s, job->src, (begin + k) % dst->width, (begin + k) / dst->width,
                   scratch + k * length);
    }
    float *out = dst->data + begin * dst->pitch;
    const float *add = job->add == NULL ? NULL : job->add->data + begin * job->add->pitch;
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    if (job->conv->panels) {
        psfm_product product = {.m = num,
                                .n = s->c_out,
                                .k = length,
                                .a = rows,
                                .lda = ld,
                                .b = job->conv->weights,
                                .c = out,
                                .ldc = dst->pitch,
                                .bias = job->conv->bias,
                                .add = add,
                                .relu = s->relu};
        kernels->product(&product);
        return;
    }
    psfm_engine_gemm(nn, num, s->c_out, length, rows, ld, job->conv->weights, s->c_out, 0, out,
                     dst->pitch);
    kernels->bias_act(out, dst->pitch, num, s->c_out, job->conv->bias, add, dst->pitch, s->relu);
}

psfm_status psfm_conv_run(psfm_context *ctx, psfm_engine *nn, const psfm_conv *conv,
                          const psfm_map *src, const psfm_conv_extras *extras, psfm_map *dst) {
    static const psfm_conv_extras plain = {0};
    const psfm_conv_shape *s = &conv->shape;
    if (extras == NULL)
        extras = &plain;
    size_t around = 2 * ((s->kernel - 1) / 2);
    if (src->height + around < s->kernel || src->width + around < s->kernel)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a map of %zu x %zu is too small for a layer",
                         src->width, src->height);
    size_t height = (src->height + around - s->kernel) / s->stride + 1;
    size_t width = (src->width + around - s->kernel) / s->stride + 1;
    if (extras->pool) {
        height /= 2;
        width /= 2;
    }
    psfm_status status = psfm_map_resize(ctx, dst, height, width, s->c_out);
    if (status != PSFM_OK)
        return status;
    if (conv->method == PSFM_CONV_WINOGRAD)
        return psfm_winograd_run(ctx, nn, conv, src, extras, dst);
    size_t block = psfm_engine_block(height * width, LEAST_PIXELS, MOST_PIXELS);
    conv_job job = {conv, src, extras->add, dst, block};
    size_t length = conv->method == PSFM_CONV_POINTWISE ? 0 : s->kernel * s->kernel * s->c_in;
    return psfm_engine_run(ctx, nn, (height * width + block - 1) / block, block * length, conv_task,
                           &job);
}
