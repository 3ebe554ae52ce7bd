/* LightGlue's weights from files that name and lay them out in three ways: the two forms of the
 * original code, and Hugging Face's. Everything is brought to one layout while loading: Q, K and V
 * side by side, factors of the attention in the weights, and the output projection of the
 * attention multiplied into the layer behind it, which saves a product per layer at run time. */
#include "images/match/lightglue_weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"

/* How a file names the parts of layer i. */
typedef enum {
    NAMES_TRANSFORMERS, /* transformers.i.self_attn.Wqkv */
    NAMES_LISTS,        /* self_attn.i.Wqkv: the first release */
    NAMES_HUGGING_FACE, /* transformer_layers.i.self_attention.q_proj */
} naming;

enum {
    WITHIN_QKV,
    WITHIN_Q,
    WITHIN_K,
    WITHIN_V,
    WITHIN_OUT,
    WITHIN_FFN1,
    WITHIN_NORM,
    WITHIN_FFN2,
    ACROSS_QK,
    ACROSS_V,
    ACROSS_OUT,
    ACROSS_FFN1,
    ACROSS_NORM,
    ACROSS_FFN2,
    HEAD_FINAL,
    HEAD_MATCHABILITY,
    NUM_PARTS
};

/* Original name and Hugging Face's; NULL where there is none. */
static const char *const part_names[NUM_PARTS][2] = {
    [WITHIN_QKV] = {"self_attn.Wqkv", NULL},
    [WITHIN_Q] = {NULL, "self_attention.q_proj"},
    [WITHIN_K] = {NULL, "self_attention.k_proj"},
    [WITHIN_V] = {NULL, "self_attention.v_proj"},
    [WITHIN_OUT] = {"self_attn.out_proj", "self_attention.o_proj"},
    [WITHIN_FFN1] = {"self_attn.ffn.0", "self_mlp.fc1"},
    [WITHIN_NORM] = {"self_attn.ffn.1", "self_mlp.layer_norm"},
    [WITHIN_FFN2] = {"self_attn.ffn.3", "self_mlp.fc2"},
    [ACROSS_QK] = {"cross_attn.to_qk", "cross_attention.q_proj"},
    [ACROSS_V] = {"cross_attn.to_v", "cross_attention.v_proj"},
    [ACROSS_OUT] = {"cross_attn.to_out", "cross_attention.o_proj"},
    [ACROSS_FFN1] = {"cross_attn.ffn.0", "cross_mlp.fc1"},
    [ACROSS_NORM] = {"cross_attn.ffn.1", "cross_mlp.layer_norm"},
    [ACROSS_FFN2] = {"cross_attn.ffn.3", "cross_mlp.fc2"},
    [HEAD_FINAL] = {"log_assignment.final_proj", "match_assignment_layers.final_projection"},
    [HEAD_MATCHABILITY] = {"log_assignment.matchability", "match_assignment_layers.matchability"},
};

typedef struct {
    psfm_context *ctx;
    psfm_engine *nn;
    const psfm_safetensors *file;
    naming names;
    psfm_lightglue_weights *w;
} loader;

/* The layer's number stands before the part, or after the part's first word. */
static void part_name(naming names, size_t layer, int part, char out[PSFM_TENSOR_NAME_SIZE]) {
    const char *name = part_names[part][names == NAMES_HUGGING_FACE];
    if (part < HEAD_FINAL && names != NAMES_LISTS) {
        snprintf(out, PSFM_TENSOR_NAME_SIZE, "%s.%zu.%s",
                 names == NAMES_TRANSFORMERS ? "transformers" : "transformer_layers", layer, name);
        return;
    }
    const char *dot = strchr(name, '.');
    snprintf(out, PSFM_TENSOR_NAME_SIZE, "%.*s.%zu%s", (int)(dot - name), name, layer, dot);
}

static bool have_part(const psfm_safetensors *file, naming names, size_t layer, int part) {
    char name[PSFM_TENSOR_NAME_SIZE];
    part_name(names, layer, part, name);
    return psfm_weights_have(file, name, "weight");
}

static naming find_naming(const psfm_safetensors *file) {
    return have_part(file, NAMES_TRANSFORMERS, 0, ACROSS_V) ? NAMES_TRANSFORMERS
           : have_part(file, NAMES_LISTS, 0, ACROSS_V)      ? NAMES_LISTS
                                                            : NAMES_HUGGING_FACE;
}

static const psfm_tensor_info *find_matrix(const psfm_safetensors *file, const char *layer) {
    char tensor[PSFM_TENSOR_NAME_SIZE + 8];
    snprintf(tensor, sizeof tensor, "%s.weight", layer);
    const psfm_tensor_info *info = psfm_safetensors_find(file, tensor);
    return info != NULL && info->num_dims == 2 ? info : NULL;
}

static const char *input_name(naming names) {
    return names == NAMES_HUGGING_FACE ? "input_projection" : "input_proj";
}

size_t psfm_lightglue_weights_dim(const psfm_safetensors *file) {
    naming names = find_naming(file);
    char name[PSFM_TENSOR_NAME_SIZE];
    part_name(names, 0, ACROSS_V, name);
    const psfm_tensor_info *value = find_matrix(file, name);
    const psfm_tensor_info *input = find_matrix(file, input_name(names));
    return value == NULL ? 0 : input == NULL ? value->dims[0] : input->dims[1];
}

static psfm_status load_part(const loader *l, size_t layer, int part, size_t in, size_t out,
                             psfm_linear *linear) {
    char name[PSFM_TENSOR_NAME_SIZE];
    part_name(l->names, layer, part, name);
    return psfm_linear_load(l->ctx, l->file, name, NULL, in, out, linear);
}

/* Loads a dim -> dim part into columns of `to`. */
static psfm_status put_part(const loader *l, size_t layer, int part, size_t column, float factor,
                            psfm_linear *to) {
    psfm_linear linear;
    psfm_status status = load_part(l, layer, part, l->w->dim, l->w->dim, &linear);
    if (status == PSFM_OK)
        psfm_linear_put(to, &linear, column, factor);
    psfm_linear_free(&linear);
    return status;
}

/* The original's rows go round Q, K, V for each channel of each head. */
static psfm_status load_interleaved(const loader *l, size_t layer, float factor, psfm_linear *qkv) {
    size_t dim = l->w->dim;
    psfm_linear mixed;
    psfm_status status = load_part(l, layer, WITHIN_QKV, dim, 3 * dim, &mixed);
    for (size_t o = 0; status == PSFM_OK && o < 3 * dim; ++o) {
        size_t to = o % 3 * dim + o / 3;
        float f = o % 3 == 0 ? factor : 1;
        qkv->bias[to] = f * mixed.bias[o];
        for (size_t i = 0; i < dim; ++i)
            qkv->weights[i * 3 * dim + to] = f * mixed.weights[i * 3 * dim + o];
    }
    psfm_linear_free(&mixed);
    return status;
}

static psfm_status load_within(const loader *l, size_t layer, psfm_linear *qkv) {
    size_t dim = l->w->dim, head = dim / l->w->num_heads;
    float factor = 1.0f / sqrtf((float)head);
    psfm_status status = psfm_linear_init(l->ctx, dim, 3 * dim, qkv);
    if (status != PSFM_OK || l->names != NAMES_HUGGING_FACE)
        return status == PSFM_OK ? load_interleaved(l, layer, factor, qkv) : status;
    for (int k = 0; status == PSFM_OK && k < 3; ++k)
        status = put_part(l, layer, WITHIN_Q + k, (size_t)k * dim, k == 0 ? factor : 1, qkv);
    return status;
}

static psfm_status load_across(const loader *l, size_t layer, psfm_linear *qkv) {
    size_t dim = l->w->dim, head = dim / l->w->num_heads;
    float factor = 1.0f / sqrtf(sqrtf((float)head));
    psfm_status status = psfm_linear_init(l->ctx, dim, 2 * dim, qkv);
    if (status == PSFM_OK)
        status = put_part(l, layer, ACROSS_QK, 0, factor, qkv);
    if (status == PSFM_OK)
        status = put_part(l, layer, ACROSS_V, dim, 1, qkv);
    return status;
}

/* Parts first_part .. + 3 are the output projection and the feed-forward network. */
static psfm_status load_ffn(const loader *l, size_t layer, int first_part,
                            psfm_lightglue_block *b) {
    size_t dim = l->w->dim;
    psfm_linear out;
    psfm_status status = load_part(l, layer, first_part, dim, dim, &out);
    if (status == PSFM_OK)
        status = load_part(l, layer, first_part + 1, 2 * dim, 2 * dim, &b->ffn1);
    if (status == PSFM_OK)
        status = psfm_linear_absorb(l->ctx, l->nn, &out, dim, &b->ffn1);
    if (status == PSFM_OK)
        status = load_part(l, layer, first_part + 2, 1, 2 * dim, &b->norm);
    if (status == PSFM_OK)
        status = load_part(l, layer, first_part + 3, 2 * dim, dim, &b->ffn2);
    psfm_linear_free(&out);
    return status;
}

static psfm_status load_head(const loader *l, size_t layer) {
    size_t dim = l->w->dim;
    psfm_lightglue_head *head = &l->w->head;
    psfm_status status = psfm_linear_init(l->ctx, dim, dim, &head->final);
    if (status == PSFM_OK)
        status = put_part(l, layer, HEAD_FINAL, 0, 1.0f / sqrtf(sqrtf((float)dim)), &head->final);
    if (status == PSFM_OK)
        status = load_part(l, layer, HEAD_MATCHABILITY, dim, 1, &head->matchability);
    return status;
}

static psfm_status load_layer(const loader *l, size_t layer) {
    psfm_lightglue_weights *w = l->w;
    psfm_status status = load_within(l, layer, &w->within[layer].qkv);
    if (status == PSFM_OK)
        status = load_ffn(l, layer, WITHIN_OUT, &w->within[layer]);
    if (status == PSFM_OK)
        status = load_across(l, layer, &w->across[layer].qkv);
    if (status == PSFM_OK)
        status = load_ffn(l, layer, ACROSS_OUT, &w->across[layer]);
    return status;
}

/* The embedding of positions tells the size of a head, the input layer that of the descriptors. */
static psfm_status load_shape(loader *l) {
    bool hf = l->names == NAMES_HUGGING_FACE;
    psfm_lightglue_weights *w = l->w;
    const char *file = psfm_safetensors_name(l->file);
    const char *frequencies = hf ? "positional_encoder.projector" : "posenc.Wr";
    char name[PSFM_TENSOR_NAME_SIZE];
    part_name(l->names, 0, ACROSS_V, name);
    const psfm_tensor_info *value = find_matrix(l->file, name);
    const psfm_tensor_info *position = find_matrix(l->file, frequencies);
    if (value == NULL || position == NULL)
        return psfm_fail(l->ctx, PSFM_ERR_FORMAT, "%s: %s.weight or %s.weight is missing", file,
                         name, frequencies);
    w->dim = w->dim_in = value->dims[0];
    size_t head = 2 * position->dims[0];
    if (w->dim == 0 || w->dim > 4096 || w->dim % 8 != 0 || head == 0 || w->dim % head != 0 ||
        position->dims[1] != 2)
        return psfm_fail(l->ctx, PSFM_ERR_FORMAT,
                         "%s: a width of %zu and heads of %zu do not make a LightGlue", file,
                         w->dim, head);
    w->num_heads = w->dim / head;
    psfm_status status = PSFM_ALLOC(l->ctx, head, &w->frequencies);
    if (status == PSFM_OK)
        status = psfm_safetensors_read(l->ctx, l->file, position->name, head, w->frequencies);
    const psfm_tensor_info *in = find_matrix(l->file, input_name(l->names));
    if (status != PSFM_OK || in == NULL)
        return status;
    w->dim_in = in->dims[1];
    return psfm_linear_load(l->ctx, l->file, input_name(l->names), NULL, w->dim_in, w->dim,
                            &w->input);
}

psfm_status psfm_lightglue_weights_load(psfm_context *ctx, psfm_engine *nn,
                                        const psfm_safetensors *file, psfm_lightglue_weights *w) {
    loader l = {.ctx = ctx, .nn = nn, .file = file, .names = find_naming(file), .w = w};
    psfm_status status = load_shape(&l);
    if (status != PSFM_OK)
        return status;
    while (w->num_layers < PSFM_LIGHTGLUE_MAX_LAYERS &&
           have_part(file, l.names, w->num_layers, ACROSS_V))
        ++w->num_layers;
    for (size_t k = 0; status == PSFM_OK && k < w->num_layers; ++k)
        status = load_layer(&l, k);
    return status == PSFM_OK ? load_head(&l, w->num_layers - 1) : status;
}
