#include "nn_util.h"

#include "core/base/alloc.h"
#include "images/match/lightglue.h"

enum { IN = 24, DIM = 32, HEADS = 2, HEAD = DIM / HEADS, LAYERS = 3, WIDTH = 200, HEIGHT = 320 };

static void layer_name(char out[128], size_t layer, const char *part) {
    snprintf(out, 128, "transformers.%zu.%s", layer, part);
}

/* With the names of the original code. */
static nn_file *make_weights(void) {
    nn_file *file = nn_file_make(51);
    char name[128];
    nn_add_layer(file, "input_proj", DIM, IN, 0);
    nn_add(file, "posenc.Wr.weight", 0, 2, (size_t[]){HEAD / 2, 2, 0});
    static const struct {
        const char *part;
        size_t out, in;
    } parts[] = {{"self_attn.Wqkv", 3 * DIM, DIM},      {"self_attn.out_proj", DIM, DIM},
                 {"self_attn.ffn.0", 2 * DIM, 2 * DIM}, {"self_attn.ffn.3", DIM, 2 * DIM},
                 {"cross_attn.to_qk", DIM, DIM},        {"cross_attn.to_v", DIM, DIM},
                 {"cross_attn.to_out", DIM, DIM},       {"cross_attn.ffn.0", 2 * DIM, 2 * DIM},
                 {"cross_attn.ffn.3", DIM, 2 * DIM}};
    for (size_t l = 0; l < LAYERS; ++l) {
        for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
            layer_name(name, l, parts[k].part);
            nn_add_layer(file, name, parts[k].out, parts[k].in, 0);
            if (parts[k].out == DIM && parts[k].in == 2 * DIM)
                nn_scale_layer(file, name, 0.1f);
        }
        for (int k = 0; k < 2; ++k) {
            layer_name(name, l, k == 0 ? "self_attn.ffn.1.weight" : "cross_attn.ffn.1.weight");
            nn_add(file, name, 1, 0.1, (size_t[]){2 * DIM, 0});
            layer_name(name, l, k == 0 ? "self_attn.ffn.1.bias" : "cross_attn.ffn.1.bias");
            nn_add(file, name, 0, 0.1, (size_t[]){2 * DIM, 0});
        }
        snprintf(name, sizeof name, "log_assignment.%zu.final_proj", l);
        nn_add_layer(file, name, DIM, DIM, 0);
        nn_scale_layer(file, name, 2.5f);
        snprintf(name, sizeof name, "log_assignment.%zu.matchability", l);
        nn_add_layer(file, name, 1, DIM, 0);
        nn_scale_layer(file, name, 3);
    }
    return file;
}

/* Matches features of two images of the same size. */
static psfm_status match(psfm_context *ctx, psfm_lightglue *model, const psfm_keypoint_set *a,
                         const psfm_keypoint_set *b, const psfm_lightglue_options *options,
                         psfm_neural_matches *matches) {
    psfm_neural_input inputs[2] = {{a, WIDTH, HEIGHT}, {b, WIDTH, HEIGHT}};
    return psfm_lightglue_match(ctx, model, &inputs[0], &inputs[1], options, matches);
}

static psfm_keypoint_set make_features(psfm_context *ctx, psfm_rng *rng, size_t num) {
    psfm_keypoint_set f;
    assert_ok(ctx, psfm_neural_features_init(ctx, num, IN, &f));
    for (size_t k = 0; k < num; ++k) {
        f.keypoints[k].x = (float)psfm_rng_range(rng, 0, WIDTH);
        f.keypoints[k].y = (float)psfm_rng_range(rng, 0, HEIGHT);
        for (size_t c = 0; c < IN; ++c)
            f.descriptors_f32[k * IN + c] = (float)(psfm_rng_normal(rng) / sqrt(IN));
    }
    return f;
}

/* Two sets that share half of their points. */
static void make_pair(psfm_context *ctx, psfm_keypoint_set *a, psfm_keypoint_set *b) {
    psfm_rng rng = psfm_rng_make(52, PSFM_RNG_TEST, 0, 0);
    *a = make_features(ctx, &rng, 131);
    *b = make_features(ctx, &rng, 70);
    for (size_t k = 0; k < b->num; k += 2) {
        size_t from = (k * 5 + 2) % a->num;
        for (size_t c = 0; c < IN; ++c)
            b->descriptors_f32[k * IN + c] =
                a->descriptors_f32[from * IN + c] + (float)(0.01 * psfm_rng_normal(&rng));
        b->keypoints[k].x = a->keypoints[from].x;
        b->keypoints[k].y = a->keypoints[from].y;
    }
}

/* The points of one image in the plain network. */
typedef struct {
    size_t num;
    double *x, *angles; /* num x DIM, num x HEAD / 2 */
} plain_side;

static plain_side plain_encode(const nn_file *w, const psfm_keypoint_set *f) {
    plain_side s = {f->num, NULL, nn_new(f->num * HEAD / 2, sizeof(double))};
    double *d = nn_new(f->num * IN, sizeof *d);
    const float *frequencies = nn_find(w, "posenc.Wr.weight")->values;
    for (size_t k = 0; k < f->num * IN; ++k)
        d[k] = f->descriptors_f32[k];
    s.x = nn_plain_linear(w, "input_proj", NULL, d, f->num, IN, DIM, false);
    free(d);
    for (size_t k = 0; k < f->num; ++k) {
        double x = (f->keypoints[k].x - 0.5 - WIDTH / 2.0) / (HEIGHT / 2.0);
        double y = (f->keypoints[k].y - 0.5 - HEIGHT / 2.0) / (HEIGHT / 2.0);
        for (size_t c = 0; c < HEAD / 2; ++c)
            s.angles[k * HEAD / 2 + c] = frequencies[2 * c] * x + frequencies[2 * c + 1] * y;
    }
    return s;
}

static double *plain_part(const nn_file *w, size_t layer, const char *part, const double *x,
                          size_t num, size_t in, size_t out) {
    char name[128];
    layer_name(name, layer, part);
    return nn_plain_linear(w, name, NULL, x, num, in, out, false);
}

static void plain_attend(const double *q, const double *k, const double *v, size_t num,
                         size_t num_keys, double *out) {
    for (size_t i = 0; i < num; ++i)
        for (size_t h = 0; h < HEADS; ++h) {
            double total = 0;
            for (size_t j = 0; j < num_keys; ++j) {
                double score = 0;
                for (size_t c = h * HEAD; c < (h + 1) * HEAD; ++c)
                    score += q[i * DIM + c] * k[j * DIM + c];
                double weight = exp(score / sqrt(HEAD));
                total += weight;
                for (size_t c = h * HEAD; c < (h + 1) * HEAD; ++c)
                    out[i * DIM + c] += weight * v[j * DIM + c];
            }
            for (size_t c = h * HEAD; c < (h + 1) * HEAD; ++c)
                out[i * DIM + c] /= total;
        }
}

/* x += ffn([x, out(mixed)]) */
static void plain_ffn(const nn_file *w, size_t layer, const char *kind, const double *mixed,
                      plain_side *s) {
    char part[64];
    snprintf(part, sizeof part, "%s.%s", kind,
             strcmp(kind, "self_attn") == 0 ? "out_proj" : "to_out");
    double *message = plain_part(w, layer, part, mixed, s->num, DIM, DIM);
    double *both = nn_new(s->num * 2 * DIM, sizeof *both);
    for (size_t k = 0; k < s->num * DIM; ++k) {
        both[k / DIM * 2 * DIM + k % DIM] = s->x[k];
        both[k / DIM * 2 * DIM + DIM + k % DIM] = message[k];
    }
    snprintf(part, sizeof part, "%s.ffn.0", kind);
    double *hidden = plain_part(w, layer, part, both, s->num, 2 * DIM, 2 * DIM);
    char norm[128];
    snprintf(part, sizeof part, "%s.ffn.1", kind);
    layer_name(norm, layer, part);
    const float *gain = nn_values(w, norm, "weight"), *offset = nn_values(w, norm, "bias");
    for (size_t i = 0; i < s->num; ++i) {
        double *h = hidden + i * 2 * DIM, mean = 0, variance = 0;
        for (size_t c = 0; c < 2 * DIM; ++c)
            mean += h[c] / (2 * DIM);
        for (size_t c = 0; c < 2 * DIM; ++c)
            variance += pow(h[c] - mean, 2) / (2 * DIM);
        for (size_t c = 0; c < 2 * DIM; ++c) {
            double z = (h[c] - mean) / sqrt(variance + 1e-5) * gain[c] + offset[c];
            h[c] = 0.5 * z * (1 + erf(z / sqrt(2.0)));
        }
    }
    snprintf(part, sizeof part, "%s.ffn.3", kind);
    double *delta = plain_part(w, layer, part, hidden, s->num, 2 * DIM, DIM);
    for (size_t k = 0; k < s->num * DIM; ++k)
        s->x[k] += delta[k];
    free(message), free(both), free(hidden), free(delta);
}

static void plain_within(const nn_file *w, size_t layer, plain_side *s) {
    size_t size = s->num * DIM;
    double *mixed = plain_part(w, layer, "self_attn.Wqkv", s->x, s->num, DIM, 3 * DIM);
    double *qkv[3], *out = nn_new(size, sizeof *out);
    for (size_t j = 0; j < 3; ++j) {
        qkv[j] = nn_new(size, sizeof(double));
        for (size_t k = 0; k < size; ++k) /* Q, K, V go round */
            qkv[j][k] = mixed[k * 3 + j];
        for (size_t k = 0; j < 2 && k < size; k += 2) {
            double angle = s->angles[k / DIM * HEAD / 2 + k % HEAD / 2];
            double a = qkv[j][k], b = qkv[j][k + 1];
            qkv[j][k] = a * cos(angle) - b * sin(angle);
            qkv[j][k + 1] = b * cos(angle) + a * sin(angle);
        }
    }
    plain_attend(qkv[0], qkv[1], qkv[2], s->num, s->num, out);
    plain_ffn(w, layer, "self_attn", out, s);
    free(mixed), free(qkv[0]), free(qkv[1]), free(qkv[2]), free(out);
}

static void plain_across(const nn_file *w, size_t layer, plain_side *sides) {
    double *qk[2], *v[2], *out[2];
    for (int s = 0; s < 2; ++s) {
        qk[s] = plain_part(w, layer, "cross_attn.to_qk", sides[s].x, sides[s].num, DIM, DIM);
        v[s] = plain_part(w, layer, "cross_attn.to_v", sides[s].x, sides[s].num, DIM, DIM);
        out[s] = nn_new(sides[s].num * DIM, sizeof(double));
    }
    for (int s = 0; s < 2; ++s)
        plain_attend(qk[s], qk[1 - s], v[1 - s], sides[s].num, sides[1 - s].num, out[s]);
    for (int s = 0; s < 2; ++s) {
        plain_ffn(w, layer, "cross_attn", out[s], &sides[s]);
        free(qk[s]), free(v[s]), free(out[s]);
    }
}

static double logit(const nn_file *w, const char *layer, const double *x) {
    const float *weights = nn_values(w, layer, "weight");
    double sum = nn_values(w, layer, "bias")[0];
    for (size_t c = 0; c < DIM; ++c)
        sum += weights[c] * x[c];
    return sum;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* Confidences, a->num x b->num. */
static void plain_confidence(const nn_file *w, const psfm_keypoint_set *a,
                             const psfm_keypoint_set *b, double *confidence) {
    plain_side sides[2] = {plain_encode(w, a), plain_encode(w, b)};
    for (size_t layer = 0; layer < LAYERS; ++layer) {
        plain_within(w, layer, &sides[0]);
        plain_within(w, layer, &sides[1]);
        plain_across(w, layer, sides);
    }
    char final[64], match[64];
    snprintf(final, sizeof final, "log_assignment.%d.final_proj", LAYERS - 1);
    snprintf(match, sizeof match, "log_assignment.%d.matchability", LAYERS - 1);
    size_t m = sides[0].num, n = sides[1].num;
    double *p = nn_plain_linear(w, final, NULL, sides[0].x, m, DIM, DIM, false);
    double *q = nn_plain_linear(w, final, NULL, sides[1].x, n, DIM, DIM, false);
    double *z = nn_new(m * n, sizeof *z), *row = nn_new(m, sizeof *row),
           *column = nn_new(n, sizeof *column);
    for (size_t k = 0; k < m * n; ++k) {
        for (size_t c = 0; c < DIM; ++c)
            z[k] += p[k / n * DIM + c] * q[k % n * DIM + c] / sqrt(DIM);
        row[k / n] += exp(z[k]);
        column[k % n] += exp(z[k]);
    }
    for (size_t k = 0; k < m * n; ++k)
        confidence[k] = exp(z[k]) / row[k / n] * exp(z[k]) / column[k % n] *
                        sigmoid(logit(w, match, sides[0].x + k / n * DIM)) *
                        sigmoid(logit(w, match, sides[1].x + k % n * DIM));
    free(p), free(q), free(z), free(row), free(column);
    for (int s = 0; s < 2; ++s)
        free(sides[s].x), free(sides[s].angles);
}

static void check_matches(const double *confidence, size_t m, size_t n, double threshold,
                          const psfm_neural_matches *matches) {
    size_t num = 0;
    for (size_t i = 0; i < m; ++i) {
        size_t best = 0, back = 0;
        for (size_t j = 1; j < n; ++j)
            best = confidence[i * n + j] > confidence[i * n + best] ? j : best;
        for (size_t k = 1; k < m; ++k)
            back = confidence[k * n + best] > confidence[back * n + best] ? k : back;
        if (back != i || confidence[i * n + best] <= threshold)
            continue;
        assert_true(num < matches->list.num);
        assert_int_equal(matches->list.matches[num][0], i);
        assert_int_equal(matches->list.matches[num][1], best);
        assert_close(matches->confidence[num++], confidence[i * n + best], 1e-5);
    }
    assert_int_equal(num, matches->list.num);
    assert_true(num > 5);
}

static psfm_neural_matches run(psfm_context *ctx, const nn_file *file, int threads,
                               const psfm_keypoint_set *a, const psfm_keypoint_set *b,
                               const psfm_lightglue_options *options) {
    psfm_engine *nn;
    psfm_lightglue *model;
    psfm_neural_matches matches;
    psfm_context_set_threads(ctx, threads);
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_ok(ctx, psfm_network_create(ctx, &psfm_lightglue_network, nn, file->path, &model));
    assert_int_equal(psfm_lightglue_dim(model), IN);
    assert_ok(ctx, match(ctx, model, a, b, options, &matches));
    psfm_network_destroy(&psfm_lightglue_network, &model);
    assert_null(model);
    psfm_engine_destroy(&nn);
    return matches;
}

/* All matches above the threshold, however many are surer. */
static const psfm_lightglue_options all_above = {.threshold = 0.01};

static void agrees_with_definition(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    nn_file *file = make_weights();
    nn_write(file);
    psfm_keypoint_set a, b;
    make_pair(ctx, &a, &b);
    double *confidence = nn_new(a.num * b.num, sizeof *confidence);
    plain_confidence(file, &a, &b, confidence);
    psfm_neural_matches one = run(ctx, file, 1, &a, &b, &all_above);
    psfm_neural_matches three = run(ctx, file, 3, &a, &b, &all_above);
    check_matches(confidence, a.num, b.num, 0.01, &one);
    assert_int_equal(one.list.num, three.list.num);
    assert_memory_equal(one.list.matches, three.list.matches,
                        one.list.num * sizeof *one.list.matches);
    assert_memory_equal(one.confidence, three.confidence, one.list.num * sizeof(float));
    psfm_neural_matches_free(&one), psfm_neural_matches_free(&three);
    free(confidence);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&b);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

/* The same weights under the names of the first release. */
static nn_file *rename_to_lists(const nn_file *from) {
    nn_file *file = nn_file_make(51);
    for (size_t k = 0; k < from->num; ++k) {
        const nn_tensor *t = &from->tensors[k];
        char name[320], part[128], rest[128];
        size_t layer;
        if (sscanf(t->name, "transformers.%zu.%127[^.].%127s", &layer, part, rest) == 3)
            snprintf(name, sizeof name, "%s.%zu.%s", part, layer, rest);
        else
            snprintf(name, sizeof name, "%s", t->name);
        float *values = nn_add(file, name, 0, 0, t->dims);
        memcpy(values, t->values, t->num * sizeof *values);
    }
    nn_write(file);
    return file;
}

/* Splits Q, K, V (rows go round) into three tensors. */
static void split_qkv(nn_file *file, size_t layer, const nn_tensor *t, const char *kind) {
    static const char *const parts[3] = {"q_proj", "k_proj", "v_proj"};
    size_t per = t->num / (3 * DIM);
    for (size_t j = 0; j < 3; ++j) {
        char name[256];
        snprintf(name, sizeof name, "transformer_layers.%zu.self_attention.%s.%s", layer, parts[j],
                 kind);
        float *values =
            nn_add(file, name, 0, 0, per == 1 ? (size_t[]){DIM, 0} : (size_t[]){DIM, DIM, 0});
        for (size_t k = 0; k < DIM; ++k)
            memcpy(values + k * per, t->values + (3 * k + j) * per, per * sizeof *values);
    }
}

/* The same weights under Hugging Face's names. */
static nn_file *rename_to_hugging_face(const nn_file *from) {
    static const char *const names[][2] = {{"self_attn.out_proj", "self_attention.o_proj"},
                                           {"self_attn.ffn.0", "self_mlp.fc1"},
                                           {"self_attn.ffn.1", "self_mlp.layer_norm"},
                                           {"self_attn.ffn.3", "self_mlp.fc2"},
                                           {"cross_attn.to_qk", "cross_attention.q_proj"},
                                           {"cross_attn.to_v", "cross_attention.v_proj"},
                                           {"cross_attn.to_out", "cross_attention.o_proj"},
                                           {"cross_attn.ffn.0", "cross_mlp.fc1"},
                                           {"cross_attn.ffn.1", "cross_mlp.layer_norm"},
                                           {"cross_attn.ffn.3", "cross_mlp.fc2"}};
    nn_file *file = nn_file_make(51);
    for (size_t k = 0; k < from->num; ++k) {
        const nn_tensor *t = &from->tensors[k];
        char name[320], rest[128] = "";
        size_t layer = 0;
        const char *kind = strrchr(t->name, '.') + 1;
        if (sscanf(t->name, "transformers.%zu.%127s", &layer, rest) == 2) {
            if (strncmp(rest, "self_attn.Wqkv", 14) == 0) {
                split_qkv(file, layer, t, kind);
                continue;
            }
            for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
                if (strncmp(rest, names[n][0], strlen(names[n][0])) == 0)
                    snprintf(name, sizeof name, "transformer_layers.%zu.%s.%s", layer, names[n][1],
                             kind);
        } else if (sscanf(t->name, "log_assignment.%zu.%127[^.]", &layer, rest) == 2) {
            snprintf(name, sizeof name, "match_assignment_layers.%zu.%s.%s", layer,
                     rest[0] == 'f' ? "final_projection" : rest, kind);
        } else if (strncmp(t->name, "posenc", 6) == 0) {
            snprintf(name, sizeof name, "positional_encoder.projector.weight");
        } else {
            snprintf(name, sizeof name, "input_projection.%s", kind);
        }
        memcpy(nn_add(file, name, 0, 0, t->dims), t->values, t->num * sizeof(float));
    }
    nn_write(file);
    return file;
}

static void takes_all_three_namings(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    nn_file *files[3] = {make_weights()};
    nn_write(files[0]);
    files[1] = rename_to_lists(files[0]);
    files[2] = rename_to_hugging_face(files[0]);
    psfm_keypoint_set a, b;
    make_pair(ctx, &a, &b);
    psfm_neural_matches first = run(ctx, files[0], 2, &a, &b, &all_above);
    assert_true(first.list.num > 10);
    for (int k = 1; k < 3; ++k) {
        psfm_neural_matches other = run(ctx, files[k], 2, &a, &b, &all_above);
        assert_int_equal(first.list.num, other.list.num);
        assert_memory_equal(first.confidence, other.confidence, first.list.num * sizeof(float));
        psfm_neural_matches_free(&other);
    }
    psfm_neural_matches_free(&first);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&b);
    for (int k = 0; k < 3; ++k)
        nn_file_drop(files[k]);
    psfm_context_destroy(&ctx);
}

/* Every allocation fails once: a status, nothing left behind. */
static void survives_lack_of_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    nn_file *file = make_weights();
    nn_write(file);
    psfm_keypoint_set a, b;
    make_pair(ctx, &a, &b);
    psfm_status status = PSFM_ERR_MEMORY;
    psfm_context_set_threads(ctx, 1);
    size_t n = 1;
    for (; n < 3000 && status != PSFM_OK; ++n) {
        psfm_engine *nn;
        psfm_lightglue *model = NULL;
        psfm_neural_matches matches = {0};
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        psfm_alloc_fail_after(n);
        status = psfm_network_create(ctx, &psfm_lightglue_network, nn, file->path, &model);
        assert_true((status == PSFM_OK) == (model != NULL));
        if (status == PSFM_OK)
            status = match(ctx, model, &a, &b, &all_above, &matches);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && matches.list.num == 0));
        psfm_neural_matches_free(&matches);
        psfm_network_destroy(&psfm_lightglue_network, &model);
        psfm_engine_destroy(&nn);
    }
    assert_in_range(n, 100, 2999);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&b);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

static void empty_and_wrong_input(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(53, PSFM_RNG_TEST, 0, 0);
    nn_file *file = make_weights();
    float *bias = nn_find(file, "log_assignment.2.matchability.bias")->values;
    bias[0] = -100; /* nothing is matchable */
    nn_write(file);
    psfm_keypoint_set a = make_features(ctx, &rng, 9), none = make_features(ctx, &rng, 0);
    psfm_keypoint_set one = make_features(ctx, &rng, 1);
    psfm_lightglue_options options = {.threshold = 0.1};
    psfm_neural_matches matches = run(ctx, file, 2, &a, &a, &options);
    assert_int_equal(matches.list.num, 0);
    psfm_neural_matches_free(&matches);
    matches = run(ctx, file, 2, &none, &a, NULL);
    assert_int_equal(matches.list.num, 0);
    psfm_neural_matches_free(&matches);
    matches = run(ctx, file, 2, &one, &one, NULL);
    assert_true(matches.list.num <= 1);
    psfm_neural_matches_free(&matches);
    psfm_engine *nn;
    psfm_lightglue *model;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_ok(ctx, psfm_network_create(ctx, &psfm_lightglue_network, nn, file->path, &model));
    a.keypoints[3].y = INFINITY;
    assert_int_equal(match(ctx, model, &one, &a, NULL, &matches), PSFM_ERR_DATA);
    options.threshold = -1;
    assert_int_equal(match(ctx, model, &one, &one, &options, &matches), PSFM_ERR_ARGUMENT);
    psfm_network_destroy(&psfm_lightglue_network, &model);
    assert_int_equal(psfm_network_create(ctx, &psfm_lightglue_network, nn, "/nonexistent", &model),
                     PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "LightGlue weights"));
    nn_file *wrong = nn_file_make(1);
    nn_add_layer(wrong, "something", 3, 3, 0);
    nn_write(wrong);
    assert_int_equal(psfm_network_create(ctx, &psfm_lightglue_network, nn, wrong->path, &model),
                     PSFM_ERR_FORMAT);
    assert_null(model);
    nn_file_drop(wrong);
    psfm_engine_destroy(&nn);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&one);
    psfm_keypoint_set_free(&none);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(takes_all_three_namings),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(empty_and_wrong_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
