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
 * Optionally, after each layer: if enough points are confident the network stops; points that are
 * confident and not matchable are dropped.
 *
 * As in SuperGlue, one loop over tiles of points does attention, feed-forward network and the
 * projections for the next step, which go to a second buffer. */
#include "match/lightglue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "match/lightglue_weights.h"

#define TILE PSFM_ATTENTION_ROWS

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_lightglue_options, threshold, "threshold", 0.1, 0, 1,
                       "lowest confidence of a match"),
    PSFM_OPTION_DOUBLE(psfm_lightglue_options, depth_confidence, "depth-confidence", 0, 0, 1,
                       "stop early when this share of the keypoints is sure; 0: never"),
    PSFM_OPTION_DOUBLE(psfm_lightglue_options, width_confidence, "width-confidence", 0, 0, 1,
                       "drop keypoints that are unmatchable with this confidence; 0: none"),
    PSFM_OPTION_DOUBLE(psfm_lightglue_options, confident, "confident", 0.6, 0, 1,
                       "lowest confidence of a match where a pair has enough of them"),
    PSFM_OPTION_INT(psfm_lightglue_options, at_least, "at-least", 100, 0, 1000000,
                    "how many matches above that are enough; with fewer, the best ones are kept"),
};
const psfm_option_table psfm_lightglue_option_table = {"lightglue", rows,
                                                       sizeof rows / sizeof *rows};

/* What is computed for the keypoints of one image; `num` falls when keypoints are dropped. */
typedef struct {
    const psfm_neural_input *input;
    size_t num, num_tiles;
    uint32_t *kept; /* their numbers among the features */
    size_t kept_capacity;
    psfm_buffer x, projected;
    psfm_buffer rotations; /* num x head: cosine and sine of each pair of channels */
    psfm_buffer qkv[2];
    psfm_buffer logits; /* matchability, then confidence */
} glue_side;

struct psfm_lightglue {
    psfm_engine *nn;
    psfm_lightglue_weights w;
    glue_side sides[2];
    size_t step; /* that is running: 2 layer, + 1 across images */
    const psfm_lightglue_head *head;
    psfm_buffer scores, shifts;
};

static int fit(const psfm_safetensors *file, size_t dim) {
    return psfm_lightglue_weights_dim(file) == dim ? 2 : 0;
}

const psfm_network_file psfm_lightglue_superpoint_file = {
    "LightGlue for SuperPoint",
    "LightGlue weights for SuperPoint (model.safetensors of ETH-CVG/lightglue_superpoint on "
    "Hugging Face)",
    256, fit};
const psfm_network_file psfm_lightglue_xfeat_file = {
    "LightGlue for XFeat",
    "LightGlue weights for XFeat (LighterGlue, a .safetensors file with the names of the original "
    "model)",
    64, fit};

psfm_status psfm_lightglue_create(psfm_context *ctx, psfm_engine *nn, const char *path,
                                  psfm_lightglue **out) {
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    (*out)->nn = nn;
    status = psfm_lightglue_weights_load(ctx, nn, path, &(*out)->w);
    if (status != PSFM_OK)
        psfm_lightglue_destroy(out);
    return status;
}

void psfm_lightglue_destroy(psfm_lightglue **model) {
    if (model == NULL || *model == NULL)
        return;
    psfm_lightglue *m = *model;
    psfm_lightglue_weights_free(&m->w);
    for (int s = 0; s < 2; ++s) {
        glue_side *side = &m->sides[s];
        psfm_buffer_free(&side->x);
        psfm_buffer_free(&side->projected);
        psfm_buffer_free(&side->rotations);
        psfm_buffer_free(&side->qkv[0]);
        psfm_buffer_free(&side->qkv[1]);
        psfm_buffer_free(&side->logits);
        free(side->kept);
    }
    psfm_buffer_free(&m->scores);
    psfm_buffer_free(&m->shifts);
    free(m);
    *model = NULL;
}

size_t psfm_lightglue_dim(const psfm_lightglue *model) {
    return model->w.dim_in;
}

double psfm_lightglue_flops(const psfm_lightglue *model, size_t m, size_t n) {
    double d = (double)model->w.dim, a = (double)m, b = (double)n, points = a + b;
    double within = points * d * d * (3 + 1 + 4 + 2) + 2 * d * (a * a + b * b);
    double across = points * d * d * (2 + 1 + 4 + 2) + 2 * d * 2 * a * b;
    double input = model->w.input.in == 0 ? 0 : points * d * (double)model->w.dim_in;
    return 2 *
           (input + (double)model->w.num_layers * (within + across) + points * d * d + a * b * d);
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

static void rotate(const psfm_lightglue_weights *w, float *row, const float *rotation) {
    size_t head = w->dim / w->num_heads;
    for (size_t h = 0; h < w->num_heads; ++h, row += head)
        for (size_t k = 0; k < head; k += 2) {
            float a = row[k], b = row[k + 1], c = rotation[k], s = rotation[k + 1];
            row[k] = a * c - b * s;
            row[k + 1] = b * c + a * s;
        }
}

/* Q, K and V of a step. */
static void project(psfm_engine *nn, const psfm_lightglue *m, const glue_tile *t, size_t step) {
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
        rotate(w, qkv + k * 3 * d, rotation);
        rotate(w, qkv + k * 3 * d + d, rotation);
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
    project(nn, m, &t, 0);
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
        kernels->norm_gelu(hidden + k * 2 * d, 2 * d, b->norm, b->norm + 2 * d);
    psfm_engine_gemm(nn, t.num, d, 2 * d, hidden, 2 * d, b->ffn2.weights, d, 1, t.x, d);
    kernels->bias_act(t.x, d, t.num, d, b->ffn2.bias, NULL, 0, false);
    project(nn, m, &t, m->step + 1);
}

static float dot(const float *a, const float *b, size_t n) {
    float sum = 0;
    for (size_t k = 0; k < n; ++k)
        sum += a[k] * b[k];
    return sum;
}

static float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
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
    psfm_status status = PSFM_RESERVE(ctx, &side->kept, &side->kept_capacity, num);
    const struct {
        psfm_buffer *buffer;
        size_t per_point;
    } needs[] = {{&side->x, d},          {&side->projected, d},
                 {&side->qkv[0], 3 * d}, {&side->qkv[1], 3 * d},
                 {&side->logits, 2},     {&side->rotations, d / m->w.num_heads}};
    for (size_t k = 0; status == PSFM_OK && k < sizeof needs / sizeof *needs; ++k)
        status = psfm_buffer_reserve(ctx, needs[k].buffer, num * needs[k].per_point);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        side->kept[k] = (uint32_t)k;
    return status;
}

/* logits of a point: matchability, then confidence of its layer. */
static void logits_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)nn, (void)memory;
    const psfm_lightglue *m = user;
    glue_tile t = find_tile(m, index);
    size_t layer = m->step / 2, d = m->w.dim;
    const psfm_linear *match = &m->w.heads[layer].matchability, *sure = &m->w.confidence[layer];
    for (size_t k = 0; k < t.num; ++k) {
        float *out = t.side->logits.data + 2 * (t.begin + k);
        const float *x = t.x + k * d;
        out[0] = match->in != 0 ? dot(x, match->weights, d) + match->bias[0] : 0;
        out[1] = sure->in != 0 ? dot(x, sure->weights, d) + sure->bias[0] : 0;
    }
}

/* Moves the rows of the points that stay together, in everything that the next step reads. */
static void drop_points(const psfm_lightglue *m, glue_side *side, float min_match, float sure) {
    size_t d = m->w.dim, head = d / m->w.num_heads, num = 0;
    float *qkv = side->qkv[(m->step + 1) % 2].data;
    for (size_t k = 0; k < side->num; ++k) {
        const float *logits = side->logits.data + 2 * k;
        if (!(sigmoid(logits[0]) > min_match) && !(sigmoid(logits[1]) <= sure))
            continue;
        memmove(side->x.data + num * d, side->x.data + k * d, d * sizeof(float));
        memmove(side->rotations.data + num * head, side->rotations.data + k * head,
                head * sizeof(float));
        memmove(qkv + num * 3 * d, qkv + k * 3 * d, 3 * d * sizeof(float));
        side->kept[num++] = side->kept[k];
    }
    side->num = num;
    side->num_tiles = (num + TILE - 1) / TILE;
}

/* After a layer: whether to stop, and which points to go on with. */
static psfm_status adapt(psfm_context *ctx, psfm_lightglue *m,
                         const psfm_lightglue_options *options, bool *stop) {
    size_t layer = m->step / 2;
    bool deep = options->depth_confidence > 0 && m->w.confidence[layer].in != 0;
    bool wide = options->width_confidence > 0;
    if (!m->w.heads[layer].present || (!deep && !wide))
        return PSFM_OK;
    psfm_status status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles,
                                         0, logits_task, m);
    if (status != PSFM_OK)
        return status;
    double sure = 0.8 + 0.1 * exp(-4.0 * (double)layer / (double)m->w.num_layers);
    size_t unsure = 0, total = 0;
    for (int s = 0; s < 2; ++s) {
        total += m->sides[s].input->set->num;
        for (size_t k = 0; k < m->sides[s].num; ++k)
            unsure += sigmoid(m->sides[s].logits.data[2 * k + 1]) < (float)sure;
    }
    *stop = deep && 1.0 - (double)unsure / (double)total > options->depth_confidence;
    /* Without confidences, matchability alone decides: no point is "unsure". */
    for (int s = 0; wide && !*stop && s < 2; ++s)
        drop_points(m, &m->sides[s], (float)(1 - options->width_confidence),
                    deep ? (float)sure : -1.0f);
    return PSFM_OK;
}

static psfm_status run_layers(psfm_context *ctx, psfm_lightglue *m,
                              const psfm_lightglue_options *options) {
    size_t most = m->sides[0].num > m->sides[1].num ? m->sides[0].num : m->sides[1].num;
    size_t scratch = 3 * TILE * m->w.dim + psfm_attention_scratch(TILE, most);
    bool stop = false;
    psfm_status status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles,
                                         0, encode_task, m);
    size_t layer = 0;
    for (; status == PSFM_OK && !stop && layer < m->w.num_layers; ++layer) {
        for (int across = 0; status == PSFM_OK && across < 2; ++across) {
            m->step = 2 * layer + (size_t)across;
            status = psfm_engine_run(ctx, m->nn, m->sides[0].num_tiles + m->sides[1].num_tiles,
                                     scratch, step_task, m);
        }
        m->head = &m->w.heads[layer];
        if (status == PSFM_OK && layer + 1 < m->w.num_layers)
            status = adapt(ctx, m, options, &stop);
        if (m->sides[0].num == 0 || m->sides[1].num == 0)
            break;
    }
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
    psfm_linear_apply(nn, &m->head->final, t.num, t.x, d, t.side->projected.data + t.begin * d, d,
                      false);
    for (size_t k = 0; k < t.num; ++k)
        t.side->logits.data[t.begin + k] = log_sigmoid(
            dot(t.x + k * d, m->head->matchability.weights, d) + m->head->matchability.bias[0]);
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

static psfm_status assign(psfm_context *ctx, psfm_lightglue *m,
                          const psfm_lightglue_options *options, psfm_neural_matches *matches) {
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
    for (size_t k = 0; k < matches->list.num; ++k) {
        matches->list.matches[k][0] = m->sides[0].kept[matches->list.matches[k][0]];
        matches->list.matches[k][1] = m->sides[1].kept[matches->list.matches[k][1]];
    }
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
        status = run_layers(ctx, model, options);
    if (status != PSFM_OK || model->sides[0].num == 0 || model->sides[1].num == 0)
        return status;
    return assign(ctx, model, options, matches);
}
