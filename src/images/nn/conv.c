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
#include "images/nn/conv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* ---- Winograd's convolutions ---- */

/* Winograd's minimal filtering, F(4x4, 3x3).
 *
 * An output tile of 4 x 4 pixels comes from an input tile of 6 x 6 (tiles overlap by two):
 *
 *     Y = A^T [ (G g G^T) * (B^T d B) ] A      (* by element)
 *
 * Summed over the input channels, each of the 36 elements is a matrix product over channels:
 * M_f (tiles x c_out) = V_f (tiles x c_in) U_f (c_in x c_out). It does 36 multiplications where
 * the direct way does 144, at the price of about half a digit of single precision.
 *
 * A task takes a block of tiles through all three steps, so that V and M stay in the cache; the
 * output step adds the bias, applies the activation, and may reduce to 2 x 2 maxima. */

#define NUM_PARTS 36
#define LEAST_BLOCK_TILES 8    /* below, products are inefficient */
#define MIN_BLOCK_TILES 64     /* for efficient products */
#define BLOCK_FLOATS (1 << 18) /* what V and M of a block should fill, if that is more tiles */

/* Floats of the weights of one part and group, which are in panels. */
static size_t group_size(const psfm_conv_shape *s) {
    return psfm_panels_size(s->c_in / s->groups, s->c_out / s->groups);
}

/* Number of floats of the transformed weights. */
static size_t count_winograd_weights(const psfm_conv_shape *shape) {
    return NUM_PARTS * shape->groups * group_size(shape);
}

/* G g G^T of c_out x (c_in / groups) kernels of 3 x 3. */
static void transform_weights(const psfm_conv_shape *shape, const float *weights, float *out) {
    const double p = 5.0 / 8, q = 3.0 / 2; /* as in kernels_body.h */
    const double np = 2 * p * p * (p * p - q * q), nq = 2 * q * q * (q * q - p * p);
    const double g[6][3] = {{1 / (p * p * q * q), 0, 0},   {1 / np, p / np, p * p / np},
                            {1 / np, -p / np, p * p / np}, {1 / nq, q / nq, q * q / nq},
                            {1 / nq, -q / nq, q * q / nq}, {0, 0, 1}};
    size_t in = shape->c_in / shape->groups, out_group = shape->c_out / shape->groups;
    for (size_t o = 0; o < shape->c_out; ++o)
        for (size_t i = 0; i < in; ++i) {
            const float *kernel = weights + (o * in + i) * 9;
            size_t at = psfm_panels_at(in, i, o % out_group), group = o / out_group;
            for (size_t f = 0; f < NUM_PARTS; ++f) {
                double sum = 0;
                for (size_t k = 0; k < 9; ++k)
                    sum += g[f / 6][k / 3] * kernel[k] * g[f % 6][k % 3];
                out[(f * shape->groups + group) * group_size(shape) + at] = (float)sum;
            }
        }
}

/* Where input tiles are read: data[0] is pixel (x0, y0) of the map, height and width what is
 * there; the rest of the plane is zero. */
typedef struct {
    const float *data;
    ptrdiff_t x0, y0, width, height;
    size_t pitch;
} tile_source;

typedef struct {
    const psfm_conv *conv;
    const psfm_map *src;
    const psfm_conv_extras *extras;
    psfm_map *dst;
    size_t tiles_x, tiles_y; /* of the whole map */
    size_t block;            /* tiles of a task */
    size_t pitch_in, pitch_out;
    size_t plane_in, plane_out; /* floats of V_f and M_f of a block */
    size_t height, width;       /* of the output before pooling */
} winograd_job;

/* A run of tiles in raster order, and the memory for them. */
typedef struct {
    size_t begin, num;
    float *v, *m; /* 36 planes */
    float *patch; /* a tile that lies partly outside */
} tile_block;

static void input_tile(const psfm_kernels *kernels, const winograd_job *job, const tile_source *src,
                       size_t tile, size_t k, const tile_block *b) {
    size_t pitch = job->pitch_in;
    ptrdiff_t x = (ptrdiff_t)(4 * (tile % job->tiles_x)) - 1 - src->x0;
    ptrdiff_t y = (ptrdiff_t)(4 * (tile / job->tiles_x)) - 1 - src->y0;
    const float *from = src->data + (y * src->width + x) * (ptrdiff_t)pitch;
    size_t row_stride = (size_t)src->width * pitch;
    if (x < 0 || y < 0 || x + 6 > src->width || y + 6 > src->height) {
        memset(b->patch, 0, NUM_PARTS * pitch * sizeof(float));
        for (ptrdiff_t r = 0; r < 6; ++r) {
            ptrdiff_t first = x < 0 ? -x : 0;
            ptrdiff_t last = x + 6 > src->width ? src->width - x : 6;
            if (y + r >= 0 && y + r < src->height && first < last)
                memcpy(b->patch + (size_t)(6 * r + first) * pitch,
                       src->data + ((y + r) * src->width + x + first) * (ptrdiff_t)pitch,
                       (size_t)(last - first) * pitch * sizeof(float));
        }
        from = b->patch;
        row_stride = 6 * pitch;
    }
    kernels->winograd_input(from, row_stride, pitch, pitch, b->v + k * pitch, job->plane_in);
}

/* The product of a group may write into the columns of the next, which comes after it. */
static void multiply_parts(psfm_engine *nn, const winograd_job *job, const tile_block *b) {
    const psfm_conv_shape *s = &job->conv->shape;
    size_t in = s->c_in / s->groups, out = s->c_out / s->groups, size = group_size(s);
    for (size_t f = 0; f < NUM_PARTS; ++f)
        for (size_t g = 0; g < s->groups; ++g) {
            psfm_product p = {.m = b->num,
                              .n = out,
                              .k = in,
                              .a = b->v + f * job->plane_in + g * in,
                              .lda = job->pitch_in,
                              .b = job->conv->weights + (f * s->groups + g) * size,
                              .c = b->m + f * job->plane_out + g * out,
                              .ldc = job->pitch_out};
            psfm_engine_kernels(nn)->product(&p);
        }
}

/* Copies the part of a 4 x 4 (or 2 x 2) tile that lies in the map, either way. */
static void copy_tile(const psfm_map *map, float *inside, float *tile, size_t rows, size_t columns,
                      size_t side, bool to_map) {
    for (size_t y = 0; y < rows; ++y) {
        float *a = inside + y * map->width * map->pitch, *b = tile + y * side * map->pitch;
        memcpy(to_map ? a : b, to_map ? b : a, columns * map->pitch * sizeof(float));
    }
}

static void output_tile(const psfm_kernels *kernels, const winograd_job *job, size_t tile, size_t k,
                        const tile_block *b) {
    const psfm_map *dst = job->dst, *add = job->extras->add;
    bool pool = job->extras->pool;
    size_t side = pool ? 2 : 4, pitch = job->pitch_out;
    size_t x = side * (tile % job->tiles_x), y = side * (tile / job->tiles_x);
    if (x >= dst->width || y >= dst->height)
        return;
    size_t columns = dst->width - x < side ? dst->width - x : side;
    size_t rows = dst->height - y < side ? dst->height - y : side;
    size_t offset = (y * dst->width + x) * pitch;
    psfm_winograd_sink sink = {.bias = job->conv->bias,
                               .add = add == NULL ? NULL : add->data + offset,
                               .relu = job->conv->shape.relu,
                               .pool = pool,
                               .dst = dst->data + offset,
                               .row_stride = dst->width * pitch,
                               .pixel_stride = pitch};
    bool partial = columns < side || rows < side;
    float *whole = b->patch, *more = b->patch + 16 * pitch;
    if (partial) {
        if (add != NULL) {
            copy_tile(add, add->data + offset, more, rows, columns, side, false);
            sink.add = more;
        }
        sink.dst = whole;
        sink.row_stride = side * pitch;
    }
    kernels->winograd_output(b->m + k * pitch, job->plane_out, pitch, &sink);
    if (partial)
        copy_tile(dst, dst->data + offset, whole, rows, columns, side, true);
}

static void run_block(psfm_engine *nn, const winograd_job *job, const tile_source *src,
                      const tile_block *b) {
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    for (size_t k = 0; k < b->num; ++k)
        input_tile(kernels, job, src, b->begin + k, k, b);
    multiply_parts(nn, job, b);
    for (size_t k = 0; k < b->num; ++k)
        output_tile(kernels, job, b->begin + k, k, b);
}

/* Divides scratch memory; returns what is left of it. */
static float *divide_scratch(const winograd_job *job, float *scratch, tile_block *b) {
    b->v = scratch;
    b->m = b->v + NUM_PARTS * job->plane_in;
    b->patch = b->m + NUM_PARTS * job->plane_out;
    return b->patch + NUM_PARTS * (job->pitch_in + job->pitch_out);
}

static size_t scratch_size(const winograd_job *job) {
    return NUM_PARTS * (job->plane_in + job->plane_out + job->pitch_in + job->pitch_out);
}

static void winograd_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const winograd_job *job = user;
    const psfm_map *src = job->src;
    tile_block b = {.begin = index * job->block, .num = job->block};
    size_t num_tiles = job->tiles_x * job->tiles_y;
    if (num_tiles - b.begin < b.num)
        b.num = num_tiles - b.begin;
    divide_scratch(job, scratch, &b);
    tile_source source = {src->data, 0, 0, (ptrdiff_t)src->width, (ptrdiff_t)src->height,
                          src->pitch};
    run_block(nn, job, &source, &b);
}

/* Rows of the first convolution for the tiles of a block, all in one row of tiles: six rows of
 * 4 num + 2 pixels; zero outside the map, where the second convolution sees its padding. */
static void run_first(psfm_engine *nn, const winograd_job *job, const tile_source *region,
                      float *neighbours, float *out) {
    const psfm_conv *first = job->extras->first;
    const psfm_map *src = job->src;
    size_t pitch = job->pitch_in, width = (size_t)region->width;
    for (ptrdiff_t r = 0; r < 6; ++r) {
        float *row = out + (size_t)r * width * pitch, *at = neighbours;
        ptrdiff_t y = region->y0 + r;
        ptrdiff_t x_begin = region->x0 < 0 ? 0 : region->x0;
        ptrdiff_t x_end = region->x0 + region->width;
        if (x_end > (ptrdiff_t)src->width)
            x_end = (ptrdiff_t)src->width;
        if (y < 0 || y >= (ptrdiff_t)src->height || x_begin >= x_end) {
            memset(row, 0, width * pitch * sizeof *row);
            continue;
        }
        for (ptrdiff_t x = x_begin; x < x_end; ++x)
            for (ptrdiff_t ky = -1; ky <= 1; ++ky)
                for (ptrdiff_t kx = -1; kx <= 1; ++kx)
                    *at++ = y + ky < 0 || y + ky >= (ptrdiff_t)src->height || x + kx < 0 ||
                                    x + kx >= (ptrdiff_t)src->width
                                ? 0
                                : src->data[(y + ky) * (ptrdiff_t)src->width + x + kx];
        size_t before = (size_t)(x_begin - region->x0), num = (size_t)(x_end - x_begin);
        memset(row, 0, before * pitch * sizeof *row);
        memset(row + (before + num) * pitch, 0, (width - before - num) * pitch * sizeof *row);
        row += before * pitch;
        psfm_product p = {.m = num,
                          .n = first->shape.c_out,
                          .k = 9,
                          .a = neighbours,
                          .lda = 9,
                          .b = first->weights,
                          .c = row,
                          .ldc = pitch,
                          .bias = first->bias,
                          .relu = first->shape.relu};
        psfm_engine_kernels(nn)->product(&p);
    }
}

static void fused_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const winograd_job *job = user;
    size_t per_row = (job->tiles_x + job->block - 1) / job->block;
    size_t ty = index / per_row, tx = index % per_row * job->block;
    tile_block b = {.begin = ty * job->tiles_x + tx, .num = job->block};
    if (job->tiles_x - tx < b.num)
        b.num = job->tiles_x - tx;
    float *rows = divide_scratch(job, scratch, &b);
    tile_source region = {rows,
                          (ptrdiff_t)(4 * tx) - 1,
                          (ptrdiff_t)(4 * ty) - 1,
                          (ptrdiff_t)(4 * b.num + 2),
                          6,
                          job->pitch_in};
    run_first(nn, job, &region, rows + 6 * (4 * job->block + 2) * job->pitch_in, rows);
    run_block(nn, job, &region, &b);
}

/* Floats of a plane of a block: an odd number of cache lines, so that a tile's 36 values do not
 * fall into a few sets of the cache and drive each other out. */
static size_t plane_size(size_t block, size_t pitch) {
    size_t size = psfm_align_floats(block * pitch);
    return size / 16 % 2 == 0 ? size + 16 : size;
}

static void set_block(winograd_job *job, size_t block) {
    job->block = block;
    job->plane_in = plane_size(block, job->pitch_in);
    job->plane_out = plane_size(block, job->pitch_out);
}

/* See psfm_conv_run; dst has its size. */
static psfm_status run_winograd(psfm_context *ctx, psfm_engine *nn, const psfm_conv *conv,
                                const psfm_map *src, const psfm_conv_extras *extras,
                                psfm_map *dst) {
    winograd_job job = {.conv = conv,
                        .src = src,
                        .extras = extras,
                        .dst = dst,
                        .tiles_x = (src->width + 3) / 4,
                        .tiles_y = (src->height + 3) / 4,
                        .pitch_in = psfm_align_floats(conv->shape.c_in),
                        .pitch_out = dst->pitch,
                        .height = src->height,
                        .width = src->width};
    size_t num_tiles = job.tiles_x * job.tiles_y;
    size_t most = BLOCK_FLOATS / (NUM_PARTS * (job.pitch_in + job.pitch_out));
    most = most < MIN_BLOCK_TILES ? MIN_BLOCK_TILES : most;
    if (extras->first != NULL) {
        size_t per_row = (job.tiles_x + most - 1) / most;
        set_block(&job, (job.tiles_x + per_row - 1) / per_row);
        per_row = (job.tiles_x + job.block - 1) / job.block;
        size_t pixels = 4 * job.block + 2;
        return psfm_engine_run(ctx, nn, per_row * job.tiles_y,
                               scratch_size(&job) + 6 * pixels * job.pitch_in + 9 * pixels,
                               fused_task, &job);
    }
    set_block(&job, psfm_engine_block(num_tiles, LEAST_BLOCK_TILES, most));
    return psfm_engine_run(ctx, nn, (num_tiles + job.block - 1) / job.block, scratch_size(&job),
                           winograd_task, &job);
}

/* ---- all convolutions ---- */

/* Pixels of one task: enough for an efficient product, few enough for the cache. */
#define LEAST_PIXELS 32
#define MOST_PIXELS 256
#define MOST_PANEL_ROWS 256 /* longest rows of a product of our own */

psfm_status psfm_map_resize(psfm_context *ctx, psfm_map *map, size_t height, size_t width,
                            size_t channels) {
    size_t pitch = channels == 1 ? 1 : psfm_align_floats(channels);
    if (height > SIZE_MAX / 64 / pitch || (height != 0 && width > SIZE_MAX / 64 / pitch / height))
        return psfm_fail_memory(ctx);
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
        return count_winograd_weights(s);
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
            transform_weights(shape, w.weights, conv->weights);
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
static void gather_pixels(const psfm_conv_shape *s, const psfm_map *src, size_t x, size_t y,
                          float *row) {
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
            gather_pixels(s, job->src, (begin + k) % dst->width, (begin + k) / dst->width,
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
        return run_winograd(ctx, nn, conv, src, extras, dst);
    size_t block = psfm_engine_block(height * width, LEAST_PIXELS, MOST_PIXELS);
    conv_job job = {conv, src, extras->add, dst, block};
    size_t length = conv->method == PSFM_CONV_POINTWISE ? 0 : s->kernel * s->kernel * s->c_in;
    return psfm_engine_run(ctx, nn, (height * width + block - 1) / block, block * length, conv_task,
                           &job);
}
