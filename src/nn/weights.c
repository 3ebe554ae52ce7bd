/* Weights of a layer by their names, with a batch normalisation behind it folded in:
 *   a (W x + b - mean) + offset,  a = gain / sqrt(variance + epsilon),
 * which is a layer of the same shape. */
#include "nn/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#define NORM_EPSILON 1e-5 /* PyTorch's default, which all our models keep */

static void join(const char *prefix, const char *suffix, char name[PSFM_TENSOR_NAME_SIZE]) {
    snprintf(name, PSFM_TENSOR_NAME_SIZE, "%s.%s", prefix, suffix);
}

bool psfm_weights_have(const psfm_safetensors *file, const char *prefix, const char *suffix) {
    char name[PSFM_TENSOR_NAME_SIZE];
    join(prefix, suffix, name);
    return psfm_safetensors_find(file, name) != NULL;
}

/* Reads PREFIX.SUFFIX, or fills in `absent` if it may be absent and is. */
static psfm_status read_vector(psfm_context *ctx, const psfm_safetensors *file, const char *prefix,
                               const char *suffix, size_t num, const float *absent, float *out) {
    char name[PSFM_TENSOR_NAME_SIZE];
    join(prefix, suffix, name);
    if (absent != NULL && psfm_safetensors_find(file, name) == NULL) {
        for (size_t k = 0; k < num; ++k)
            out[k] = *absent;
        return PSFM_OK;
    }
    return psfm_safetensors_read(ctx, file, name, num, out);
}

static void apply_norm(const float *norm, psfm_layer_weights *w) {
    size_t n = w->num_out;
    const float *mean = norm, *variance = norm + n, *gain = norm + 2 * n, *offset = norm + 3 * n;
    for (size_t r = 0; r < n; ++r) {
        double a = gain[r] / sqrt((double)variance[r] + NORM_EPSILON);
        for (size_t c = 0; c < w->per_out; ++c)
            w->weights[r * w->per_out + c] = (float)(a * w->weights[r * w->per_out + c]);
        w->bias[r] = (float)(a * ((double)w->bias[r] - mean[r]) + offset[r]);
    }
}

static psfm_status fold_norm(psfm_context *ctx, const psfm_safetensors *file, const char *norm,
                             psfm_layer_weights *w) {
    static const float zero = 0, one = 1;
    size_t n = w->num_out;
    float *values;
    psfm_status status = PSFM_ALLOC(ctx, 4 * n, &values);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "running_mean", n, NULL, values);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "running_var", n, NULL, values + n);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "weight", n, &one, values + 2 * n);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, norm, "bias", n, &zero, values + 3 * n);
    if (status == PSFM_OK)
        apply_norm(values, w);
    free(values);
    return status;
}

psfm_status psfm_layer_weights_read(psfm_context *ctx, const psfm_safetensors *file,
                                    const char *layer, const char *norm, size_t num_out,
                                    size_t per_out, psfm_layer_weights *out) {
    static const float zero = 0;
    *out = (psfm_layer_weights){.num_out = num_out, .per_out = per_out};
    psfm_status status = PSFM_ALLOC(ctx, num_out * per_out, &out->weights);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_out, &out->bias);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, layer, "weight", num_out * per_out, NULL, out->weights);
    if (status == PSFM_OK)
        status = read_vector(ctx, file, layer, "bias", num_out, &zero, out->bias);
    if (status == PSFM_OK && norm != NULL)
        status = fold_norm(ctx, file, norm, out);
    if (status != PSFM_OK)
        psfm_layer_weights_free(out);
    return status;
}

void psfm_layer_weights_free(psfm_layer_weights *w) {
    free(w->weights);
    free(w->bias);
    *w = (psfm_layer_weights){0};
}
