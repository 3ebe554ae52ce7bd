/* Convolutions of a few large planes. Rows are copied with zeros at their ends (with stride 2,
 * even and odd columns apart), so that each tap of the 3 x 3 kernel is a pointer into a row and
 * one vector kernel sums all taps over a row of output. A task is a band of rows. */
#include "images/nn/plane_conv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define BAND_ROWS 8 /* output rows of one task */
#define MAX_CHANNELS 32

psfm_status psfm_planes_resize(psfm_context *ctx, psfm_planes *planes, size_t channels,
                               size_t height, size_t width) {
    if (channels > SIZE_MAX / 64 || (channels != 0 && height > SIZE_MAX / 64 / channels) ||
        (channels * height != 0 && width > SIZE_MAX / 64 / (channels * height)))
        return psfm_fail_memory(ctx);
    psfm_status status = psfm_buffer_reserve(ctx, &planes->buffer, channels * height * width);
    if (status != PSFM_OK)
        return status;
    planes->channels = channels;
    planes->height = height;
    planes->width = width;
    planes->data = planes->buffer.data;
    return PSFM_OK;
}

void psfm_planes_free(psfm_planes *planes) {
    psfm_buffer_free(&planes->buffer);
    *planes = (psfm_planes){0};
}

psfm_status psfm_plane_conv_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                                 const char *norm, const psfm_conv_shape *shape,
                                 psfm_plane_conv *conv) {
    size_t num_taps = 9 * shape->c_in;
    psfm_layer_weights w;
    *conv = (psfm_plane_conv){.shape = *shape};
    psfm_status status =
        psfm_layer_weights_read(ctx, file, layer, norm, shape->c_out, num_taps, &w);
    if (status != PSFM_OK)
        return status;
    status = PSFM_ALLOC(ctx, num_taps * shape->c_out, &conv->weights);
    for (size_t o = 0; status == PSFM_OK && o < shape->c_out; ++o)
        for (size_t t = 0; t < num_taps; ++t)
            conv->weights[t * shape->c_out + o] = w.weights[o * num_taps + t];
    conv->bias = w.bias;
    w.bias = NULL;
    psfm_layer_weights_free(&w);
    if (status != PSFM_OK)
        psfm_plane_conv_free(conv);
    return status;
}

void psfm_plane_conv_free(psfm_plane_conv *conv) {
    free(conv->weights);
    free(conv->bias);
    *conv = (psfm_plane_conv){0};
}

typedef struct {
    const psfm_plane_conv *conv;
    const psfm_planes *src;
    psfm_planes *planes;
    psfm_map *map;
    size_t height, width; /* of the output */
    size_t padded;        /* floats of a source row, or of each half of it with stride 2 */
    size_t out_row;       /* floats of an output row in scratch memory */
} plane_job;

/* One source row with zeros at both ends; with stride 2 the even columns, then the odd ones, the
 * latter after a zero that stands for column -1. */
static void copy_row(const plane_job *job, size_t channel, size_t y, float *row) {
    size_t w = job->src->width, stride = job->conv->shape.stride;
    if (y >= job->src->height) {
        memset(row, 0, stride * job->padded * sizeof *row);
        return;
    }
    const float *from = job->src->data + (channel * job->src->height + y) * w;
    if (stride == 1) {
        row[0] = 0;
        memcpy(row + 1, from, w * sizeof *row);
        memset(row + 1 + w, 0, (job->padded - 1 - w) * sizeof *row);
        return;
    }
    float *even = row, *odd = row + job->padded + 1;
    size_t num = w / 2;
    odd[-1] = 0;
    for (size_t x = 0; x < num; ++x) {
        even[x] = from[2 * x];
        odd[x] = from[2 * x + 1];
    }
    memset(even + num, 0, (job->padded - num) * sizeof *row);
    memset(odd + num, 0, (job->padded - 1 - num) * sizeof *row);
    if (w % 2 != 0)
        even[num] = from[w - 1];
}

/* What the three columns of the kernel see of a row made by copy_row. */
static void set_taps(const plane_job *job, const float *row, const float **taps) {
    if (job->conv->shape.stride == 1) {
        for (size_t k = 0; k < 3; ++k)
            taps[k] = row + k;
        return;
    }
    taps[0] = row + job->padded;
    taps[1] = row;
    taps[2] = row + job->padded + 1;
}

/* Where channel o of output row y is computed: in place if whole blocks of columns fit. */
static float *result_row(const plane_job *job, size_t o, size_t y, float *results) {
    if (job->planes != NULL && job->out_row == job->width)
        return job->planes->data + (o * job->height + y) * job->width;
    return results + o * job->out_row;
}

static void put_row(const plane_job *job, size_t y, float *const *rows) {
    size_t n = job->conv->shape.c_out;
    for (size_t o = 0; job->planes != NULL && job->out_row != job->width && o < n; ++o)
        memcpy(job->planes->data + (o * job->height + y) * job->width, rows[o],
               job->width * sizeof *rows[o]);
    for (size_t o = 0; job->map != NULL && o < n; o += 4) {
        float *pixel = job->map->data + y * job->width * job->map->pitch + o;
        for (size_t x = 0; x < job->width; ++x, pixel += job->map->pitch)
            for (size_t k = 0; k < 4; ++k)
                pixel[k] = rows[o + k][x];
    }
}

static void plane_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    const plane_job *job = user;
    const psfm_conv_shape *s = &job->conv->shape;
    size_t begin = index * BAND_ROWS, stride = s->stride, row_size = stride * job->padded;
    size_t end = begin + BAND_ROWS < job->height ? begin + BAND_ROWS : job->height;
    size_t num_rows = (end - begin - 1) * stride + 3;
    const float *taps[9 * MAX_CHANNELS];
    float *out[MAX_CHANNELS], *results = memory;
    float *source = results + s->c_out * job->out_row;
    for (size_t c = 0; c < s->c_in; ++c)
        for (size_t r = 0; r < num_rows; ++r) /* row -1 wraps round to a huge number: zeros */
            copy_row(job, c, begin * stride + r - 1, source + (c * num_rows + r) * row_size);
    psfm_taps kernel = {9 * s->c_in, s->c_out, job->conv->weights, job->conv->bias, s->relu};
    for (size_t y = begin; y < end; ++y) {
        for (size_t o = 0; o < s->c_out; ++o)
            out[o] = result_row(job, o, y, results);
        for (size_t c = 0; c < s->c_in; ++c)
            for (size_t k = 0; k < 3; ++k)
                set_taps(job, source + (c * num_rows + (y - begin) * stride + k) * row_size,
                         taps + (c * 3 + k) * 3);
        psfm_engine_kernels(nn)->conv_taps(&kernel, taps, job->width, out);
        put_row(job, y, out);
    }
}

psfm_status psfm_plane_conv_run(psfm_context *ctx, psfm_engine *nn, const psfm_plane_conv *conv,
                                const psfm_planes *src, psfm_planes *planes, psfm_map *map) {
    const psfm_conv_shape *s = &conv->shape;
    plane_job job = {.conv = conv, .src = src, .planes = planes, .map = map};
    if (src->height == 0 || src->width == 0 || s->c_in > MAX_CHANNELS || s->c_out > MAX_CHANNELS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "no planes, or too many");
    job.height = (src->height - 1) / s->stride + 1;
    job.width = (src->width - 1) / s->stride + 1;
    job.out_row = (job.width + PSFM_TAPS_BLOCK - 1) / PSFM_TAPS_BLOCK * PSFM_TAPS_BLOCK;
    job.padded = psfm_align_floats(job.out_row + 3);
    psfm_status status = planes != NULL
                             ? psfm_planes_resize(ctx, planes, s->c_out, job.height, job.width)
                             : psfm_map_resize(ctx, map, job.height, job.width, s->c_out);
    if (status != PSFM_OK)
        return status;
    size_t num_rows = (BAND_ROWS - 1) * s->stride + 3;
    return psfm_engine_run(ctx, nn, (job.height + BAND_ROWS - 1) / BAND_ROWS,
                           s->c_out * job.out_row + s->c_in * num_rows * s->stride * job.padded,
                           plane_task, &job);
}
