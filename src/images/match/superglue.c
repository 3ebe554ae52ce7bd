/* SuperGlue.
 *
 * Keypoints (position relative to the image centre, in units of 0.7 times its longer side, and
 * score) are encoded by a small network and added to the descriptors. Layers of attention follow,
 * by turns within an image and across to the other; each is
 *
 *     x <- x + MLP([x, softmax(Q K^T / sqrt(d)) V W])
 *
 * with four heads. The scaled products of the projected results are the scores of all pairs;
 * Sinkhorn's algorithm, with a dustbin for keypoints without partner, makes them an assignment.
 *
 * Batch norms are folded into the layers before them, W into the first layer of the MLP, and
 * 1 / sqrt(d) into the weights of Q. A layer is one loop over tiles of keypoints: attention, MLP,
 * and Q, K, V of the next layer, which go to a second buffer because other tiles still read the
 * first. Hugging Face's files order Q, K and V by heads. */
#include "images/match/superglue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "images/nn/linear.h"

#define NUM_HEADS 4
#define MAX_ENCODER 8
#define MAX_LAYERS 64
#define TILE PSFM_ATTENTION_ROWS

/* Of Sinkhorn's algorithm, as the original has it. */
enum { ITERATIONS = 20 };

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_superglue_options, threshold, "threshold", 0.2, 0, 1,
                       "lowest confidence of a match"),
};
const psfm_option_table psfm_superglue_option_table = PSFM_OPTION_TABLE("superglue", rows);

typedef struct {
    psfm_linear qkv;  /* dim -> 3 dim */
    psfm_linear mlp1; /* [x, attention] 2 dim -> 2 dim */
    psfm_linear mlp2; /* 2 dim -> dim */
} glue_layer;

/* What is computed for the keypoints of one image. */
typedef struct {
    const psfm_neural_input *input;
    size_t num, num_tiles;
    psfm_buffer x, projected;
    psfm_buffer qkv[2];
} glue_side;

struct psfm_superglue {
    psfm_engine *nn;
    size_t dim;
    size_t encoder_size, num_layers;
    psfm_linear encoder[MAX_ENCODER];
    glue_layer layers[MAX_LAYERS]; /* nothing but psfm_linear */
    psfm_linear final;
    float bin_score;
    glue_side sides[2];
    size_t layer; /* that is running */
    psfm_buffer scores, shifts;
};

static psfm_status load_encoder(psfm_context *ctx, const psfm_safetensors *file,
                                psfm_superglue *m) {
    size_t in = 3;
    for (size_t k = 0; k < MAX_ENCODER; ++k) {
        char layer[PSFM_TENSOR_NAME_SIZE], norm[PSFM_TENSOR_NAME_SIZE];
        snprintf(layer, sizeof layer, "keypoint_encoder.encoder.%zu.linear", k);
        snprintf(norm, sizeof norm, "keypoint_encoder.encoder.%zu.batch_norm", k);
        bool last = !psfm_weights_have(file, layer, "weight");
        if (last)
            snprintf(layer, sizeof layer, "keypoint_encoder.encoder.%zu", k);
        char name[PSFM_TENSOR_NAME_SIZE + 8];
        snprintf(name, sizeof name, "%s.weight", layer);
        const psfm_tensor_info *info = psfm_safetensors_find(file, name);
        size_t out = last || info == NULL || info->num_dims == 0 ? m->dim : info->dims[0];
        psfm_status status =
            psfm_linear_load(ctx, file, layer, last ? NULL : norm, in, out, &m->encoder[k]);
        if (status != PSFM_OK)
            return status;
        m->encoder_size = k + 1;
        in = out;
        if (last)
            return PSFM_OK;
    }
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: the keypoint encoder has more than %d layers",
                     psfm_safetensors_name(file), MAX_ENCODER);
}

static psfm_status load_qkv(psfm_context *ctx, const psfm_safetensors *file, size_t layer,
                            size_t dim, psfm_linear *qkv) {
    static const char *const parts[3] = {"query", "key", "value"};
    size_t head = dim / NUM_HEADS;
    psfm_status status = psfm_linear_init(ctx, dim, 3 * dim, qkv);
    for (size_t k = 0; status == PSFM_OK && k < 3; ++k) {
        char name[PSFM_TENSOR_NAME_SIZE];
        psfm_linear part;
        snprintf(name, sizeof name, "gnn.layers.%zu.attention.self.%s", layer, parts[k]);
        status = psfm_linear_load(ctx, file, name, NULL, dim, dim, &part);
        if (status == PSFM_OK)
            psfm_linear_put(qkv, &part, k * dim, k == 0 ? 1.0f / sqrtf((float)head) : 1.0f);
        psfm_linear_free(&part);
    }
    return status;
}

static psfm_status load_layer(psfm_context *ctx, const psfm_safetensors *file, size_t layer,
                              psfm_superglue *m) {
    char name[PSFM_TENSOR_NAME_SIZE], norm[PSFM_TENSOR_NAME_SIZE];
    glue_layer *l = &m->layers[layer];
    psfm_linear merge = {0};
    psfm_status status = load_qkv(ctx, file, layer, m->dim, &l->qkv);
    snprintf(name, sizeof name, "gnn.layers.%zu.attention.output.dense", layer);
    if (status == PSFM_OK)
        status = psfm_linear_load(ctx, file, name, NULL, m->dim, m->dim, &merge);
    snprintf(name, sizeof name, "gnn.layers.%zu.mlp.0.linear", layer);
    snprintf(norm, sizeof norm, "gnn.layers.%zu.mlp.0.batch_norm", layer);
    if (status == PSFM_OK)
        status = psfm_linear_load(ctx, file, name, norm, 2 * m->dim, 2 * m->dim, &l->mlp1);
    snprintf(name, sizeof name, "gnn.layers.%zu.mlp.1", layer);
    if (status == PSFM_OK)
        status = psfm_linear_load(ctx, file, name, NULL, 2 * m->dim, m->dim, &l->mlp2);
    if (status == PSFM_OK)
        status = psfm_linear_absorb(ctx, m->nn, &merge, m->dim, &l->mlp1);
    psfm_linear_free(&merge);
    return status;
}

static psfm_status load_final(psfm_context *ctx, const psfm_safetensors *file, psfm_superglue *m) {
    psfm_linear plain;
    psfm_status status = psfm_linear_init(ctx, m->dim, m->dim, &m->final);
    if (status != PSFM_OK)
        return status;
    status =
        psfm_linear_load(ctx, file, "final_projection.final_proj", NULL, m->dim, m->dim, &plain);
    if (status == PSFM_OK) /* scores are divided by sqrt(dim), half of that on each side */
        psfm_linear_put(&m->final, &plain, 0, 1.0f / sqrtf(sqrtf((float)m->dim)));
    psfm_linear_free(&plain);
    if (status == PSFM_OK)
        status = psfm_safetensors_read(ctx, file, "bin_score", 1, &m->bin_score);
    return status;
}

static psfm_status load_weights(psfm_context *ctx, const psfm_safetensors *file, void *network) {
    psfm_superglue *m = network;
    const psfm_tensor_info *info = psfm_safetensors_find(file, "final_projection.final_proj.bias");
    if (info == NULL || info->num_dims != 1 || info->dims[0] == 0 || info->dims[0] > 4096 ||
        info->dims[0] % NUM_HEADS != 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: no SuperGlue weights (final_projection.final_proj.bias is missing or "
                         "not a multiple of four long)",
                         psfm_safetensors_name(file));
    m->dim = info->dims[0];
    psfm_status status = load_encoder(ctx, file, m);
    while (status == PSFM_OK && m->num_layers < MAX_LAYERS) {
        char name[PSFM_TENSOR_NAME_SIZE];
        snprintf(name, sizeof name, "gnn.layers.%zu.attention.self.query", m->num_layers);
        if (!psfm_weights_have(file, name, "weight"))
            break;
        status = load_layer(ctx, file, m->num_layers++, m);
    }
    if (status == PSFM_OK && m->num_layers == 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: no layers gnn.layers.0...",
                         psfm_safetensors_name(file));
    return status == PSFM_OK ? load_final(ctx, file, m) : status;
}

static int fit_weights(const psfm_safetensors *file, size_t dim) {
    (void)dim;
    return psfm_safetensors_find(file, "final_projection.final_proj.bias") != NULL &&
                   psfm_safetensors_find(file, "bin_score") != NULL
               ? 2
               : 0;
}

const psfm_network_file psfm_superglue_file = {
    "SuperGlue",
    "SuperGlue weights (model.safetensors of magic-leap-community/superglue_outdoor or "
    "superglue_indoor on Hugging Face)",
    0, fit_weights};

static const psfm_network_part parts[] = {
    PSFM_PART(PSFM_PART_LINEAR, psfm_superglue, encoder, final),
    PSFM_PART(PSFM_PART_BUFFER, psfm_superglue, sides[0].x, sides[0].qkv),
    PSFM_PART(PSFM_PART_BUFFER, psfm_superglue, sides[1].x, sides[1].qkv),
    PSFM_PART(PSFM_PART_BUFFER, psfm_superglue, scores, shifts),
};
const psfm_network_type psfm_superglue_network = {&psfm_superglue_file, sizeof(psfm_superglue),
                                                  load_weights, parts,
                                                  sizeof parts / sizeof *parts};

size_t psfm_superglue_dim(const psfm_superglue *model) {
    return model->dim;
}

/* A tile of keypoints of one side. */
typedef struct {
    const glue_side *side;
    const glue_side *other;
    size_t begin, num;
    float *x; /* its rows */
} glue_tile;

static glue_tile find_tile(const psfm_superglue *m, size_t index) {
    size_t s = index < m->sides[0].num_tiles ? 0 : 1;
    glue_tile t = {.side = &m->sides[s], .other = &m->sides[1 - s]};
    t.begin = (index - s * m->sides[0].num_tiles) * TILE;
    t.num = t.side->num - t.begin < TILE ? t.side->num - t.begin : TILE;
    t.x = t.side->x.data + t.begin * m->dim;
    return t;
}

/* Q, K, V of the layer to come, or the final projection after the last. */
static void project_tile(psfm_engine *nn, const psfm_superglue *m, const glue_tile *t,
                         size_t layer) {
    if (layer < m->num_layers)
        psfm_linear_apply(nn, &m->layers[layer].qkv, t->num, t->x, m->dim,
                          t->side->qkv[layer % 2].data + t->begin * 3 * m->dim, 3 * m->dim, false);
    else
        psfm_linear_apply(nn, &m->final, t->num, t->x, m->dim,
                          t->side->projected.data + t->begin * m->dim, m->dim, false);
}

static size_t encoder_width(const psfm_superglue *m) {
    size_t width = 3;
    for (size_t k = 0; k < m->encoder_size; ++k)
        width = m->encoder[k].out > width ? m->encoder[k].out : width;
    return width;
}

static void encode_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const psfm_superglue *m = user;
    glue_tile t = find_tile(m, index);
    const psfm_keypoint_set *f = t.side->input->set;
    float *from = scratch, *to = scratch + TILE * encoder_width(m);
    float width = (float)t.side->input->width, height = (float)t.side->input->height;
    float unit = 0.7f * (width > height ? width : height);
    for (size_t k = 0; k < t.num; ++k) {
        /* The network's pixel centres are whole numbers. */
        from[3 * k] = (f->keypoints[t.begin + k].x - 0.5f - width / 2) / unit;
        from[3 * k + 1] = (f->keypoints[t.begin + k].y - 0.5f - height / 2) / unit;
        from[3 * k + 2] = f->scores[t.begin + k];
    }
    for (size_t k = 0; k < m->encoder_size; ++k) {
        const psfm_linear *l = &m->encoder[k];
        psfm_linear_apply(nn, l, t.num, from, l->in, to, l->out, k + 1 < m->encoder_size);
        float *swap = from;
        from = to;
        to = swap;
    }
    const float *descriptors = f->descriptors_f32 + t.begin * m->dim;
    for (size_t k = 0; k < t.num * m->dim; ++k)
        t.x[k] = descriptors[k] + from[k];
    project_tile(nn, m, &t, 0);
}

static void layer_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const psfm_superglue *m = user;
    const glue_layer *l = &m->layers[m->layer];
    glue_tile t = find_tile(m, index);
    size_t d = m->dim, buffer = m->layer % 2;
    const glue_side *source = m->layer % 2 == 0 ? t.side : t.other;
    psfm_attention attention = {.num_heads = NUM_HEADS,
                                .head_dim = d / NUM_HEADS,
                                .num_queries = t.num,
                                .num_keys = source->num,
                                .queries = t.side->qkv[buffer].data + t.begin * 3 * d,
                                .keys = source->qkv[buffer].data + d,
                                .values = source->qkv[buffer].data + 2 * d,
                                .ld = 3 * d};
    float *message = scratch, *hidden = message + TILE * d, *rest = hidden + TILE * 2 * d;
    psfm_attention_run(nn, &attention, message, d, rest);
    psfm_engine_gemm(nn, t.num, 2 * d, d, t.x, d, l->mlp1.weights, 2 * d, 0, hidden, 2 * d);
    psfm_engine_gemm(nn, t.num, 2 * d, d, message, d, l->mlp1.weights + 2 * d * d, 2 * d, 1, hidden,
                     2 * d);
    psfm_engine_kernels(nn)->bias_act(hidden, 2 * d, t.num, 2 * d, l->mlp1.bias, NULL, 0, true);
    psfm_engine_gemm(nn, t.num, d, 2 * d, hidden, 2 * d, l->mlp2.weights, d, 1, t.x, d);
    psfm_engine_kernels(nn)->bias_act(t.x, d, t.num, d, l->mlp2.bias, NULL, 0, false);
    project_tile(nn, m, &t, m->layer + 1);
}

static size_t score_pitch(const psfm_superglue *m) {
    return psfm_align_floats(m->sides[1].num + 1);
}

/* Rows of the score matrix; the last task also writes the dustbin row. */
static void scores_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_superglue *m = user;
    glue_tile t = find_tile(m, index);
    size_t n = m->sides[1].num, ld = score_pitch(m);
    float *z = m->scores.data + t.begin * ld;
    psfm_engine_gemm_bt(nn, t.num, n, m->dim, m->sides[0].projected.data + t.begin * m->dim, m->dim,
                        m->sides[1].projected.data, m->dim, 0, z, ld);
    size_t num_rows = t.begin + t.num == t.side->num ? t.num + 1 : t.num;
    for (size_t i = 0; i < num_rows; ++i)
        for (size_t j = i < t.num ? n : 0; j < ld; ++j)
            z[i * ld + j] = m->bin_score;
}

static psfm_status reserve_buffers(psfm_context *ctx, psfm_superglue *m) {
    psfm_status status = PSFM_OK;
    for (int s = 0; status == PSFM_OK && s < 2; ++s) {
        glue_side *side = &m->sides[s];
        size_t size = side->num * m->dim;
        status = psfm_buffer_reserve(ctx, &side->x, size);
        if (status == PSFM_OK)
            status = psfm_buffer_reserve(ctx, &side->projected, size);
        for (int k = 0; status == PSFM_OK && k < 2; ++k)
            status = psfm_buffer_reserve(ctx, &side->qkv[k], 3 * size);
    }
    size_t num_rows = m->sides[0].num + 1, ld = score_pitch(m);
    if (status == PSFM_OK)
        status = psfm_buffer_reserve(ctx, &m->scores, num_rows * ld);
    if (status == PSFM_OK)
        status = psfm_buffer_reserve(ctx, &m->shifts, psfm_align_floats(num_rows) + ld);
    return status;
}

static psfm_status run_network(psfm_context *ctx, psfm_superglue *m) {
    size_t d = m->dim, num_tiles = m->sides[0].num_tiles + m->sides[1].num_tiles;
    size_t most = m->sides[0].num > m->sides[1].num ? m->sides[0].num : m->sides[1].num;
    psfm_status status =
        psfm_engine_run(ctx, m->nn, num_tiles, 2 * TILE * encoder_width(m), encode_task, m);
    for (m->layer = 0; status == PSFM_OK && m->layer < m->num_layers; ++m->layer)
        status = psfm_engine_run(ctx, m->nn, num_tiles,
                                 3 * TILE * d + psfm_attention_scratch(TILE, most), layer_task, m);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles, 0, scores_task, m);
    return status;
}

static psfm_status assign_matches(psfm_context *ctx, psfm_superglue *m,
                                  const psfm_superglue_options *options,
                                  psfm_neural_matches *matches) {
    size_t num = m->sides[0].num, ld = score_pitch(m);
    float *u = m->shifts.data, *v = u + psfm_align_floats(num + 1);
    const psfm_transport transport = {num, m->sides[1].num, ld, m->scores.data, u, v};
    psfm_status status = psfm_sinkhorn(ctx, m->nn, &transport, ITERATIONS);
    if (status != PSFM_OK)
        return status;
    psfm_score_matrix scores = {num, m->sides[1].num, ld, m->scores.data, 1, u, v};
    return psfm_mutual_matches(ctx, m->nn, &scores, (float)options->threshold, matches);
}

psfm_status psfm_superglue_match(psfm_context *ctx, psfm_superglue *model,
                                 const psfm_neural_input *a, const psfm_neural_input *b,
                                 const psfm_superglue_options *options,
                                 psfm_neural_matches *matches) {
    psfm_superglue_options defaults;
    *matches = (psfm_neural_matches){0};
    if (options == NULL) {
        psfm_options_init(&psfm_superglue_option_table, &defaults);
        options = &defaults;
    }
    psfm_status status = psfm_options_check(ctx, &psfm_superglue_option_table, options);
    if (status == PSFM_OK)
        status = psfm_neural_input_check(ctx, a, model->dim, true, "SuperGlue");
    if (status == PSFM_OK)
        status = psfm_neural_input_check(ctx, b, model->dim, true, "SuperGlue");
    if (status != PSFM_OK || a->set->num == 0 || b->set->num == 0)
        return status;
    const psfm_neural_input *both[2] = {a, b};
    for (int s = 0; s < 2; ++s) {
        model->sides[s].input = both[s];
        model->sides[s].num = both[s]->set->num;
        model->sides[s].num_tiles = (both[s]->set->num + TILE - 1) / TILE;
    }
    status = reserve_buffers(ctx, model);
    if (status == PSFM_OK)
        status = run_network(ctx, model);
    return status == PSFM_OK ? assign_matches(ctx, model, options, matches) : status;
}

/* ---- Sinkhorn's iterations ---- */

/* Sinkhorn's algorithm alternately scales rows and columns to their sums:
 *
 *     u_i = log a_i - log sum_j exp(z_ij + v_j),   v_j = log b_j - log sum_i exp(z_ij + u_i)
 *
 * with a = (1, .., 1, n) and b = (1, .., 1, m). In SuperGlue's code all sums are divided by m + n
 * and the result multiplied by it; that cancels. */

#define BLOCK_ROWS 32
#define BLOCK_COLUMNS 64

static void rows_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_transport *t = user;
    for (size_t i = index * BLOCK_ROWS; i <= t->m && i < (index + 1) * BLOCK_ROWS; ++i) {
        float sum = psfm_engine_kernels(nn)->log_sum_exp(t->z + i * t->ld, t->v, t->n + 1);
        t->u[i] = (i < t->m ? 0 : logf((float)t->n)) - sum;
    }
}

static void columns_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_transport *t = user;
    size_t begin = index * BLOCK_COLUMNS, num = t->n + 1 - begin;
    num = num < BLOCK_COLUMNS ? num : BLOCK_COLUMNS;
    float *v = t->v + begin;
    psfm_engine_kernels(nn)->log_sum_exp_columns(t->z + begin, t->ld, t->u, t->m + 1, num, v);
    for (size_t j = 0; j < num; ++j)
        v[j] = (begin + j < t->n ? 0 : logf((float)t->m)) - v[j];
}

psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const psfm_transport *transport,
                          int iterations) {
    size_t row_blocks = transport->m / BLOCK_ROWS + 1;
    size_t column_blocks = transport->n / BLOCK_COLUMNS + 1;
    psfm_status status = PSFM_OK;
    memset(transport->u, 0, (transport->m + 1) * sizeof *transport->u);
    memset(transport->v, 0, transport->ld * sizeof *transport->v);
    for (int k = 0; status == PSFM_OK && k < iterations; ++k) {
        status = psfm_engine_run(ctx, nn, row_blocks, 0, rows_task, transport);
        if (status == PSFM_OK)
            status = psfm_engine_run(ctx, nn, column_blocks, 0, columns_task, transport);
    }
    return status;
}
