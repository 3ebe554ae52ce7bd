/* Linear layers and attention.
 *
 * Attention takes the keys in parts that stay in the cache and never stores all weights: each
 * query keeps the largest product so far and the sum of exponentials relative to it, and what was
 * summed before is rescaled when a larger one comes (the online softmax of Milakov and
 * Gimelshein). */
#include "images/nn/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

psfm_status psfm_linear_init(psfm_context *ctx, size_t in, size_t out, psfm_linear *linear) {
    *linear = (psfm_linear){.in = in, .out = out};
    psfm_status status = PSFM_ALLOC(ctx, in * out, &linear->weights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, out, &linear->bias);
    if (status != PSFM_OK)
        psfm_linear_free(linear);
    return status;
}

void psfm_linear_free(psfm_linear *linear) {
    free(linear->weights);
    free(linear->bias);
    *linear = (psfm_linear){0};
}

psfm_status psfm_linear_load(psfm_context *ctx, const psfm_safetensors *file, const char *layer,
                             const char *norm, size_t in, size_t out, psfm_linear *linear) {
    psfm_layer_weights w;
    *linear = (psfm_linear){0};
    psfm_status status = psfm_layer_weights_read(ctx, file, layer, norm, out, in, &w);
    if (status == PSFM_OK)
        status = psfm_linear_init(ctx, in, out, linear);
    if (status == PSFM_OK) {
        for (size_t o = 0; o < out; ++o)
            for (size_t i = 0; i < in; ++i)
                linear->weights[i * out + o] = w.weights[o * in + i];
        memcpy(linear->bias, w.bias, out * sizeof *w.bias);
    }
    psfm_layer_weights_free(&w);
    return status;
}

void psfm_linear_put(psfm_linear *to, const psfm_linear *from, size_t column, float factor) {
    for (size_t i = 0; i < from->in; ++i)
        for (size_t o = 0; o < from->out; ++o)
            to->weights[i * to->out + column + o] = factor * from->weights[i * from->out + o];
    for (size_t o = 0; o < from->out; ++o)
        to->bias[column + o] = factor * from->bias[o];
}

typedef struct {
    const psfm_linear *first;
    const float *rows; /* of second, those that take the outputs of first */
    psfm_linear *second;
    float *product;
} absorb_job;

static void absorb_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)index, (void)memory;
    const absorb_job *job = user;
    size_t n = job->first->out, out = job->second->out;
    psfm_engine_gemm(nn, n, out, n, job->first->weights, n, job->rows, out, 0, job->product, out);
    psfm_engine_gemm(nn, 1, out, n, job->first->bias, n, job->rows, out, 1, job->second->bias, out);
}

psfm_status psfm_linear_absorb(psfm_context *ctx, psfm_engine *nn, const psfm_linear *first,
                               size_t row, psfm_linear *second) {
    absorb_job job = {first, second->weights + row * second->out, second, NULL};
    size_t size = first->out * second->out;
    psfm_status status = PSFM_ALLOC(ctx, size, &job.product);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, nn, 1, 0, absorb_task, &job);
    if (status == PSFM_OK)
        memcpy(second->weights + row * second->out, job.product, size * sizeof *job.product);
    free(job.product);
    return status;
}

void psfm_linear_apply(psfm_engine *nn, const psfm_linear *linear, size_t num, const float *x,
                       size_t ldx, float *y, size_t ldy, bool relu) {
    psfm_engine_gemm(nn, num, linear->out, linear->in, x, ldx, linear->weights, linear->out, 0, y,
                     ldy);
    psfm_engine_kernels(nn)->bias_act(y, ldy, num, linear->out, linear->bias, NULL, 0, relu);
}

/* Keys that are taken at a time: their part of the weights stays in the cache. */
#define ATTENTION_KEYS ((size_t)512)

size_t psfm_attention_scratch(size_t num_queries, size_t num_keys) {
    return num_queries * psfm_align_floats(num_keys < ATTENTION_KEYS ? num_keys : ATTENTION_KEYS);
}

/* What is known of the softmax of a row after some of its keys: the largest product so far, and the
 * sum of the exponentials relative to it. */
typedef struct {
    float top, sum;
} softmax_row;

/* Takes the next `num` products of a query; what came before is brought to the new largest. */
static void add_keys(const psfm_kernels *kernels, float *products, size_t num, softmax_row *row,
                     float *out, size_t head_dim) {
    float before = row->top, sum = kernels->softmax_exp(products, num, &row->top);
    float factor = before < row->top ? expf(before - row->top) : 1.0f;
    row->sum = row->sum * factor + sum;
    if (factor < 1)
        kernels->scale(out, head_dim, factor);
}

void psfm_attention_run(psfm_engine *nn, const psfm_attention *a, float *out, size_t ld_out,
                        float *scratch) {
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    size_t ld = psfm_align_floats(a->num_keys < ATTENTION_KEYS ? a->num_keys : ATTENTION_KEYS);
    for (size_t h = 0; h < a->num_heads; ++h) {
        size_t column = h * a->head_dim;
        softmax_row rows[PSFM_ATTENTION_ROWS];
        for (size_t i = 0; i < a->num_queries; ++i) {
            rows[i] = (softmax_row){-INFINITY, 0};
            memset(out + i * ld_out + column, 0, a->head_dim * sizeof *out);
        }
        for (size_t begin = 0; begin < a->num_keys; begin += ATTENTION_KEYS) {
            size_t left = a->num_keys - begin, num = left < ATTENTION_KEYS ? left : ATTENTION_KEYS;
            psfm_engine_gemm_bt(nn, a->num_queries, num, a->head_dim, a->queries + column, a->ld,
                                a->keys + begin * a->ld + column, a->ld, 0, scratch, ld);
            for (size_t i = 0; i < a->num_queries; ++i)
                add_keys(kernels, scratch + i * ld, num, &rows[i], out + i * ld_out + column,
                         a->head_dim);
            psfm_engine_gemm(nn, a->num_queries, a->head_dim, num, scratch, ld,
                             a->values + begin * a->ld + column, a->ld, 1, out + column, ld_out);
        }
        /* The sums divide the short rows of the result, not the long ones of the weights. */
        for (size_t i = 0; i < a->num_queries; ++i)
            kernels->scale(out + i * ld_out + column, a->head_dim, 1.0f / rows[i].sum);
    }
}
