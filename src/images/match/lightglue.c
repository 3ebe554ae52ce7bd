/* LightGlue.
 *
 * Each layer attends within an image, then across to the other, and after each
 *
 *     x <- x + W2 gelu(norm(W1 [x, softmax(Q K^T / sqrt(d)) V W]))
 *
 * Within an image, positions (relative to the centre, in units of half the longer side) enter as
 * rotations of pairs of channels of Q and K by learnt frequencies, so that products depend on the
 * difference of two positions only. Across images Q and K are the same projection. In the end
 * log P_ij = log softmax over j + log softmax over i of the scores + log sigmoid(m_i) +
 * log sigmoid(m_j), where m is the matchability of a point. Pairs that are best both ways stay.
 *
 * The original may also stop early and drop points on the way; here it does neither.
 *
 * As in SuperGlue, one loop over tiles of points does attention, feed-forward network and the
 * projections for the next step, which go to a second buffer. */
#include "images/match/lightglue.h"

#include <math.h>
#include <string.h>

#include "images/match/lightglue_weights.h"

#define TILE PSFM_ATTENTION_ROWS

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_lightglue_options, threshold, "threshold", 0.1, 0, 1,
                       "lowest confidence of a match"),
};
/* Surer matches are more exact; 0.6 was chosen on the photographs of docs/neural.md. A pair keeps
 * its hundred best in any case, a number of which no trial is on record. */
static const psfm_lightglue_options unlisted = {.confident = 0.6, .at_least = 100};
const psfm_option_table psfm_lightglue_option_table =
    PSFM_OPTION_TABLE_FROM("lightglue", rows, unlisted);

/* What is computed for the keypoints of one image. */
typedef struct {
    const psfm_neural_input *input;
    size_t num, num_tiles;
    psfm_buffer x, projected;
    psfm_buffer rotations; /* num x head: cosine and sine of each pair of channels */
    psfm_buffer qkv[2];
    psfm_buffer logits; /* matchability */
} glue_side;

struct psfm_lightglue {
    psfm_engine *nn;
    psfm_lightglue_weights w;
    glue_side sides[2];
    size_t step; /* that is running: 2 layer, + 1 across images */
    psfm_buffer scores, shifts;
};

static int fit_weights(const psfm_safetensors *file, size_t dim) {
    return psfm_lightglue_weights_dim(file) == dim ? 2 : 0;
}

const psfm_network_file psfm_lightglue_superpoint_file = {
    "LightGlue for SuperPoint",
    "LightGlue weights for SuperPoint (model.safetensors of ETH-CVG/lightglue_superpoint on "
    "Hugging Face)",
    256, fit_weights};
const psfm_network_file psfm_lightglue_xfeat_file = {
    "LightGlue for XFeat",
    "LightGlue weights for XFeat (LighterGlue, a .safetensors file with the names of the original "
    "model)",
    64, fit_weights};

static psfm_status load_weights(psfm_context *ctx, const psfm_safetensors *file, void *network) {
    psfm_lightglue *m = network;
    return psfm_lightglue_weights_load(ctx, m->nn, file, &m->w);
}

static const psfm_network_part parts[] = {
    PSFM_PART(PSFM_PART_ARRAY, psfm_lightglue, w.frequencies, w.frequencies),
    PSFM_PART(PSFM_PART_LINEAR, psfm_lightglue, w.input, w.head),
    PSFM_PART(PSFM_PART_BUFFER, psfm_lightglue, sides[0].x, sides[0].logits),
    PSFM_PART(PSFM_PART_BUFFER, psfm_lightglue, sides[1].x, sides[1].logits),
    PSFM_PART(PSFM_PART_BUFFER, psfm_lightglue, scores, shifts),
};
const psfm_network_type psfm_lightglue_network = {&psfm_lightglue_superpoint_file,
                                                  sizeof(psfm_lightglue), load_weights, parts,
                                                  sizeof parts / sizeof *parts};

size_t psfm_lightglue_dim(const psfm_lightglue *model) {
    return model->w.dim_in;
}

typedef struct {
    const glue_side *side;
    const glue_side *other;
    size_t begin, num;
    float *x; /* its rows */
} glue_tile;

static glue_tile find_tile(const psfm_lightglue *m, size_t index) {
    size_t s = index < m->sides[0].num_tiles ? 0 : 1;
    glue_tile t = {.side = &m->sides[s], .other = &m->sides[1 - s]};
    t.begin = (index - s * m->sides[0].num_tiles) * TILE;
    t.num = t.side->num - t.begin < TILE ? t.side->num - t.begin : TILE;
    t.x = t.side->x.data + t.begin * m->w.dim;
    return t;
}

static void rotate_row(const psfm_lightglue_weights *w, float *row, const float *rotation) {
    size_t head = w->dim / w->num_heads;
    for (size_t h = 0; h < w->num_heads; ++h, row += head)
        for (size_t k = 0; k < head; k += 2) {
            float a = row[k], b = row[k + 1], c = rotation[k], s = rotation[k + 1];
            row[k] = a * c - b * s;
            row[k + 1] = b * c + a * s;
        }
}

/* Q, K and V of a step. */
static void project_tile(psfm_engine *nn, const psfm_lightglue *m, const glue_tile *t,
                         size_t step) {
    const psfm_lightglue_weights *w = &m->w;
    size_t d = w->dim, head = d / w->num_heads;
    if (step >= 2 * w->num_layers)
        return;
    bool across = step % 2 == 1;
    float *qkv = t->side->qkv[step % 2].data + t->begin * 3 * d;
    psfm_linear_apply(nn, across ? &w->across[step / 2].qkv : &w->within[step / 2].qkv, t->num,
                      t->x, d, qkv, 3 * d, false);
    for (size_t k = 0; !across && k < t->num; ++k) {
        const float *rotation = t->side->rotations.data + (t->begin + k) * head;
        rotate_row(w, qkv + k * 3 * d, rotation);
        rotate_row(w, qkv + k * 3 * d + d, rotation);
    }
}

static void encode_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_lightglue *m = user;
    const psfm_lightglue_weights *w = &m->w;
    glue_tile t = find_tile(m, index);
    const psfm_keypoint_set *f = t.side->input->set;
    size_t head = w->dim / w->num_heads;
    float width = (float)t.side->input->width, height = (float)t.side->input->height;
    float unit = (width > height ? width : height) / 2;
    for (size_t k = 0; k < t.num; ++k) {
        /* The network's pixel centres are whole numbers. */
        float x = (f->keypoints[t.begin + k].x - 0.5f - width / 2) / unit;
        float y = (f->keypoints[t.begin + k].y - 0.5f - height / 2) / unit;
        float *rotation = t.side->rotations.data + (t.begin + k) * head;
        for (size_t c = 0; c < head; c += 2) {
            float angle = w->frequencies[c] * x + w->frequencies[c + 1] * y;
            rotation[c] = cosf(angle);
            rotation[c + 1] = sinf(angle);
        }
    }
    const float *descriptors = f->descriptors_f32 + t.begin * w->dim_in;
    if (w->input.in != 0)
        psfm_linear_apply(nn, &w->input, t.num, descriptors, w->dim_in, t.x, w->dim, false);
    else
        memcpy(t.x, descriptors, t.num * w->dim * sizeof *t.x);
    project_tile(nn, m, &t, 0);
}

static void step_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const psfm_lightglue *m = user;
    const psfm_lightglue_weights *w = &m->w;
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    glue_tile t = find_tile(m, index);
    bool across = m->step % 2 == 1;
    const psfm_lightglue_block *b = across ? &w->across[m->step / 2] : &w->within[m->step / 2];
    const glue_side *source = across ? t.other : t.side;
    size_t d = w->dim, buffer = m->step % 2;
    const float *from = source->qkv[buffer].data;
    psfm_attention attention = {.num_heads = w->num_heads,
                                .head_dim = d / w->num_heads,
                                .num_queries = t.num,
                                .num_keys = source->num,
                                .queries = t.side->qkv[buffer].data + t.begin * 3 * d,
                                .keys = across ? from : from + d,
                                .values = across ? from + d : from + 2 * d,
                                .ld = 3 * d};
    float *message = scratch, *hidden = message + TILE * d, *rest = hidden + TILE * 2 * d;
    psfm_attention_run(nn, &attention, message, d, rest);
    psfm_engine_gemm(nn, t.num, 2 * d, d, t.x, d, b->ffn1.weights, 2 * d, 0, hidden, 2 * d);
    psfm_engine_gemm(nn, t.num, 2 * d, d, message, d, b->ffn1.weights + 2 * d * d, 2 * d, 1, hidden,
                     2 * d);
    kernels->bias_act(hidden, 2 * d, t.num, 2 * d, b->ffn1.bias, NULL, 0, false);
    for (size_t k = 0; k < t.num; ++k)
        kernels->norm_gelu(hidden + k * 2 * d, 2 * d, b->norm.weights, b->norm.bias);
    psfm_engine_gemm(nn, t.num, d, 2 * d, hidden, 2 * d, b->ffn2.weights, d, 1, t.x, d);
    kernels->bias_act(t.x, d, t.num, d, b->ffn2.bias, NULL, 0, false);
    project_tile(nn, m, &t, m->step + 1);
}

static float dot_product(const float *a, const float *b, size_t n) {
    float sum = 0;
    for (size_t k = 0; k < n; ++k)
        sum += a[k] * b[k];
    return sum;
}

/* log sigmoid(x) */
static float log_sigmoid(float x) {
    return x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x));
}

static psfm_status set_side(psfm_context *ctx, psfm_lightglue *m, int s,
                            const psfm_neural_input *input) {
    glue_side *side = &m->sides[s];
    size_t num = input->set->num, d = m->w.dim;
    side->input = input;
    side->num = num;
    side->num_tiles = (num + TILE - 1) / TILE;
    psfm_status status = PSFM_OK;
    const struct {
        psfm_buffer *buffer;
        size_t per_point;
    } needs[] = {{&side->x, d},          {&side->projected, d},
                 {&side->qkv[0], 3 * d}, {&side->qkv[1], 3 * d},
                 {&side->logits, 1},     {&side->rotations, d / m->w.num_heads}};
    for (size_t k = 0; status == PSFM_OK && k < sizeof needs / sizeof *needs; ++k)
        status = psfm_buffer_reserve(ctx, needs[k].buffer, num * needs[k].per_point);
    return status;
}

static psfm_status run_layers(psfm_context *ctx, psfm_lightglue *m) {
    size_t most = m->sides[0].num > m->sides[1].num ? m->sides[0].num : m->sides[1].num;
    size_t scratch = 3 * TILE * m->w.dim + psfm_attention_scratch(TILE, most);
    psfm_status status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles,
                                         0, encode_task, m);
    for (m->step = 0; status == PSFM_OK && m->step < 2 * m->w.num_layers; ++m->step)
        status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles, scratch,
                                 step_task, m);
    return status;
}

static size_t score_pitch(const psfm_lightglue *m) {
    return psfm_align_floats(m->sides[1].num);
}

/* Final projection and matchability of a tile; the latter becomes the shift of its row or column.
 */
static void final_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_lightglue *m = user;
    glue_tile t = find_tile(m, index);
    size_t d = m->w.dim;
    psfm_linear_apply(nn, &m->w.head.final, t.num, t.x, d, t.side->projected.data + t.begin * d, d,
                      false);
    for (size_t k = 0; k < t.num; ++k)
        t.side->logits.data[t.begin + k] =
            log_sigmoid(dot_product(t.x + k * d, m->w.head.matchability.weights, d) +
                        m->w.head.matchability.bias[0]);
}

static void scores_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const psfm_lightglue *m = user;
    glue_tile t = find_tile(m, index);
    size_t n = m->sides[1].num, ld = score_pitch(m), d = m->w.dim;
    float *z = m->scores.data + t.begin * ld, *u = m->shifts.data + t.begin;
    psfm_engine_gemm_bt(nn, t.num, n, d, t.side->projected.data + t.begin * d, d,
                        m->sides[1].projected.data, d, 0, z, ld);
    memset(scratch, 0, n * sizeof *scratch);
    for (size_t i = 0; i < t.num; ++i)
        u[i] = t.side->logits.data[t.begin + i] -
               psfm_engine_kernels(nn)->log_sum_exp(z + i * ld, scratch, n);
}

static void columns_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const psfm_lightglue *m = user;
    size_t rows_num = m->sides[0].num, ld = score_pitch(m), begin = index * TILE;
    size_t num = m->sides[1].num - begin < TILE ? m->sides[1].num - begin : TILE;
    float *v = m->shifts.data + psfm_align_floats(rows_num) + begin;
    memset(scratch, 0, rows_num * sizeof *scratch);
    psfm_engine_kernels(nn)->log_sum_exp_columns(m->scores.data + begin, ld, scratch, rows_num, num,
                                                 v);
    for (size_t j = 0; j < num; ++j)
        v[j] = m->sides[1].logits.data[begin + j] - v[j];
}

static psfm_status assign_matches(psfm_context *ctx, psfm_lightglue *m,
                                  const psfm_lightglue_options *options,
                                  psfm_neural_matches *matches) {
    size_t a = m->sides[0].num, b = m->sides[1].num, ld = score_pitch(m);
    psfm_status status = psfm_buffer_reserve(ctx, &m->scores, a * ld);
    if (status == PSFM_OK)
        status = psfm_buffer_reserve(ctx, &m->shifts, psfm_align_floats(a) + ld);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles, 0,
                                 final_task, m);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles, b, scores_task, m);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, m->sides[1].num_tiles, a, columns_task, m);
    if (status != PSFM_OK)
        return status;
    psfm_score_matrix scores = {
        a, b, ld, m->scores.data, 2, m->shifts.data, m->shifts.data + psfm_align_floats(a)};
    status = psfm_mutual_matches(ctx, m->nn, &scores, (float)options->threshold, matches);
    if (status == PSFM_OK)
        status =
            psfm_neural_matches_prune(ctx, options->confident, (size_t)options->at_least, matches);
    return status;
}

psfm_status psfm_lightglue_match(psfm_context *ctx, psfm_lightglue *model,
                                 const psfm_neural_input *a, const psfm_neural_input *b,
                                 const psfm_lightglue_options *options,
                                 psfm_neural_matches *matches) {
    psfm_lightglue_options defaults;
    *matches = (psfm_neural_matches){0};
    if (options == NULL) {
        psfm_options_init(&psfm_lightglue_option_table, &defaults);
        options = &defaults;
    }
    psfm_status status = psfm_options_check(ctx, &psfm_lightglue_option_table, options);
    if (status == PSFM_OK)
        status = psfm_neural_input_check(ctx, a, model->w.dim_in, false, "LightGlue");
    if (status == PSFM_OK)
        status = psfm_neural_input_check(ctx, b, model->w.dim_in, false, "LightGlue");
    if (status != PSFM_OK || a->set->num == 0 || b->set->num == 0)
        return status;
    status = set_side(ctx, model, 0, a);
    if (status == PSFM_OK)
        status = set_side(ctx, model, 1, b);
    if (status == PSFM_OK)
        status = run_layers(ctx, model);
    return status == PSFM_OK ? assign_matches(ctx, model, options, matches) : status;
}
