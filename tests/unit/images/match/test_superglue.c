#include "nn_util.h"

#include "images/match/superglue.h"

enum { DIM = 32, HEADS = 4, HEAD = DIM / HEADS, LAYERS = 3, WIDTH = 200, HEIGHT = 120 };

static nn_file *make_weights(void) {
    nn_file *file = nn_file_make(41);
    const size_t widths[] = {3, 16, 24, DIM};
    char name[128], norm[128];
    for (size_t k = 0; k < 3; ++k) {
        snprintf(name, sizeof name, "keypoint_encoder.encoder.%zu%s", k, k < 2 ? ".linear" : "");
        snprintf(norm, sizeof norm, "keypoint_encoder.encoder.%zu.batch_norm", k);
        nn_add_layer(file, name, widths[k + 1], widths[k], 0);
        if (k < 2)
            nn_add_norm(file, norm, widths[k + 1], true);
    }
    static const char *const parts[] = {"attention.self.query", "attention.self.key",
                                        "attention.self.value", "attention.output.dense"};
    for (size_t l = 0; l < LAYERS; ++l) {
        for (size_t k = 0; k < 4; ++k) {
            snprintf(name, sizeof name, "gnn.layers.%zu.%s", l, parts[k]);
            nn_add_layer(file, name, DIM, DIM, 0);
        }
        snprintf(name, sizeof name, "gnn.layers.%zu.mlp.0.linear", l);
        nn_add_layer(file, name, 2 * DIM, 2 * DIM, 0);
        snprintf(norm, sizeof norm, "gnn.layers.%zu.mlp.0.batch_norm", l);
        nn_add_norm(file, norm, 2 * DIM, true);
        snprintf(name, sizeof name, "gnn.layers.%zu.mlp.1", l);
        nn_add_layer(file, name, DIM, 2 * DIM, 0);
        nn_scale_layer(file, name, 0.05f);
    }
    nn_scale_layer(file, "keypoint_encoder.encoder.2", 0.1f);
    nn_add_layer(file, "final_projection.final_proj", DIM, DIM, 0);
    nn_scale_layer(file, "final_projection.final_proj", 3);
    nn_add(file, "bin_score", 1, 0, (size_t[]){1, 0});
    nn_write(file);
    return file;
}

/* Matches features of two images of the same size. */
static psfm_status match(psfm_context *ctx, psfm_superglue *model, const psfm_keypoint_set *a,
                         const psfm_keypoint_set *b, const psfm_superglue_options *options,
                         psfm_neural_matches *matches) {
    psfm_neural_input inputs[2] = {{a, WIDTH, HEIGHT}, {b, WIDTH, HEIGHT}};
    return psfm_superglue_match(ctx, model, &inputs[0], &inputs[1], options, matches);
}

static psfm_keypoint_set make_features(psfm_context *ctx, psfm_rng *rng, size_t num) {
    psfm_keypoint_set f;
    assert_ok(ctx, psfm_neural_features_init(ctx, num, DIM, &f));
    for (size_t k = 0; k < num; ++k) {
        f.keypoints[k].x = (float)psfm_rng_range(rng, 0, WIDTH);
        f.keypoints[k].y = (float)psfm_rng_range(rng, 0, HEIGHT);
        f.scores[k] = (float)psfm_rng_uniform(rng);
        for (size_t c = 0; c < DIM; ++c)
            f.descriptors_f32[k * DIM + c] = (float)(psfm_rng_normal(rng) / sqrt(DIM));
    }
    return f;
}

/* Moves a part of the features of a into b, a little changed, so that there is something to
 * match. */
static void share_features(psfm_rng *rng, const psfm_keypoint_set *a, psfm_keypoint_set *b) {
    for (size_t k = 0; k < b->num && k < a->num; k += 2) {
        size_t from = (k * 7 + 3) % a->num;
        for (size_t c = 0; c < DIM; ++c)
            b->descriptors_f32[k * DIM + c] =
                a->descriptors_f32[from * DIM + c] + (float)(0.02 * psfm_rng_normal(rng));
        b->keypoints[k].x = a->keypoints[from].x;
        b->keypoints[k].y = a->keypoints[from].y;
        b->scores[k] = a->scores[from];
    }
}

static double *plain_encode(const nn_file *w, const psfm_keypoint_set *f) {
    double *x = nn_new(f->num * 3, sizeof *x);
    for (size_t k = 0; k < f->num; ++k) {
        x[3 * k] = (f->keypoints[k].x - 0.5 - WIDTH / 2.0) / (0.7 * WIDTH);
        x[3 * k + 1] = (f->keypoints[k].y - 0.5 - HEIGHT / 2.0) / (0.7 * WIDTH);
        x[3 * k + 2] = f->scores[k];
    }
    const size_t widths[] = {3, 16, 24, DIM};
    for (size_t k = 0; k < 3; ++k) {
        char name[128], norm[128];
        snprintf(name, sizeof name, "keypoint_encoder.encoder.%zu%s", k, k < 2 ? ".linear" : "");
        snprintf(norm, sizeof norm, "keypoint_encoder.encoder.%zu.batch_norm", k);
        double *y = nn_plain_linear(w, name, k < 2 ? norm : NULL, x, f->num, widths[k],
                                    widths[k + 1], k < 2);
        free(x);
        x = y;
    }
    for (size_t k = 0; k < f->num * DIM; ++k)
        x[k] += f->descriptors_f32[k];
    return x;
}

static double *plain_part(const nn_file *w, size_t layer, const char *part, const double *x,
                          size_t num) {
    char name[128];
    snprintf(name, sizeof name, "gnn.layers.%zu.%s", layer, part);
    return nn_plain_linear(w, name, NULL, x, num, DIM, DIM, false);
}

/* What layer adds to x, with keys and values from y. */
static double *plain_layer(const nn_file *w, size_t layer, const double *x, size_t num,
                           const double *y, size_t num_keys) {
    double *q = plain_part(w, layer, "attention.self.query", x, num);
    double *k = plain_part(w, layer, "attention.self.key", y, num_keys);
    double *v = plain_part(w, layer, "attention.self.value", y, num_keys);
    double *mixed = nn_new(num * DIM, sizeof *mixed), *both = nn_new(num * 2 * DIM, sizeof *both);
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
                    mixed[i * DIM + c] += weight * v[j * DIM + c];
            }
            for (size_t c = h * HEAD; c < (h + 1) * HEAD; ++c)
                mixed[i * DIM + c] /= total;
        }
    double *message = plain_part(w, layer, "attention.output.dense", mixed, num);
    for (size_t i = 0; i < num; ++i)
        for (size_t c = 0; c < DIM; ++c) {
            both[i * 2 * DIM + c] = x[i * DIM + c];
            both[i * 2 * DIM + DIM + c] = message[i * DIM + c];
        }
    char name[128], norm[128];
    snprintf(name, sizeof name, "gnn.layers.%zu.mlp.0.linear", layer);
    snprintf(norm, sizeof norm, "gnn.layers.%zu.mlp.0.batch_norm", layer);
    double *hidden = nn_plain_linear(w, name, norm, both, num, 2 * DIM, 2 * DIM, true);
    snprintf(name, sizeof name, "gnn.layers.%zu.mlp.1", layer);
    double *delta = nn_plain_linear(w, name, NULL, hidden, num, 2 * DIM, DIM, false);
    free(q), free(k), free(v), free(mixed), free(both), free(message), free(hidden);
    return delta;
}

static double log_sum(const double *z, size_t step, const double *shift, size_t num) {
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < num; ++k)
        top = fmax(top, z[k * step] + shift[k]);
    for (size_t k = 0; k < num; ++k)
        sum += exp(z[k * step] + shift[k] - top);
    return top + log(sum);
}

/* Log of the assignment, (m + 1) x (n + 1), as the paper writes it. */
static double *plain_scores(const nn_file *w, const psfm_keypoint_set *a,
                            const psfm_keypoint_set *b) {
    size_t m = a->num, n = b->num;
    double *x[2] = {plain_encode(w, a), plain_encode(w, b)};
    size_t nums[2] = {m, n};
    for (size_t l = 0; l < LAYERS; ++l) {
        double *delta[2];
        for (size_t s = 0; s < 2; ++s) {
            size_t from = l % 2 == 0 ? s : 1 - s;
            delta[s] = plain_layer(w, l, x[s], nums[s], x[from], nums[from]);
        }
        for (size_t s = 0; s < 2; ++s) {
            for (size_t k = 0; k < nums[s] * DIM; ++k)
                x[s][k] += delta[s][k];
            free(delta[s]);
        }
    }
    double *p[2], *z = nn_new((m + 1) * (n + 1), sizeof *z);
    for (size_t s = 0; s < 2; ++s)
        p[s] =
            nn_plain_linear(w, "final_projection.final_proj", NULL, x[s], nums[s], DIM, DIM, false);
    for (size_t i = 0; i <= m; ++i)
        for (size_t j = 0; j <= n; ++j) {
            double sum = i == m || j == n ? 1 : 0; /* the bin score */
            for (size_t c = 0; i < m && j < n && c < DIM; ++c)
                sum += p[0][i * DIM + c] * p[1][j * DIM + c] / sqrt(DIM);
            z[i * (n + 1) + j] = sum;
        }
    double *u = nn_new(m + 1, sizeof *u), *v = nn_new(n + 1, sizeof *v);
    double norm = -log((double)(m + n));
    for (int k = 0; k < 20; ++k) {
        for (size_t i = 0; i <= m; ++i)
            u[i] = norm + (i < m ? 0 : log((double)n)) - log_sum(z + i * (n + 1), 1, v, n + 1);
        for (size_t j = 0; j <= n; ++j)
            v[j] = norm + (j < n ? 0 : log((double)m)) - log_sum(z + j, n + 1, u, m + 1);
    }
    for (size_t i = 0; i <= m; ++i)
        for (size_t j = 0; j <= n; ++j)
            z[i * (n + 1) + j] += u[i] + v[j] - norm;
    free(u), free(v), free(x[0]), free(x[1]), free(p[0]), free(p[1]);
    return z;
}

static void agrees_with_definition(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(42, PSFM_RNG_TEST, 0, 0);
    nn_file *file = make_weights();
    psfm_keypoint_set a = make_features(ctx, &rng, 70), b = make_features(ctx, &rng, 131);
    share_features(&rng, &a, &b);
    double *z = plain_scores(file, &a, &b);
    size_t m = a.num, n = b.num, num = 0;
    psfm_superglue_options options;
    psfm_options_init(&psfm_superglue_option_table, &options);
    options.threshold = 0.01;
    psfm_neural_matches first = {0};
    for (int threads = 1; threads <= 3; ++threads) {
        psfm_engine *nn;
        psfm_superglue *model;
        psfm_neural_matches matches;
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx, psfm_network_create(ctx, &psfm_superglue_network, nn, file->path, &model));
        assert_int_equal(psfm_superglue_dim(model), DIM);
        assert_ok(ctx, match(ctx, model, &a, &b, &options, &matches));
        psfm_network_destroy(&psfm_superglue_network, &model);
        psfm_engine_destroy(&nn);
        if (threads == 1) {
            first = matches;
            continue;
        }
        assert_int_equal(matches.list.num, first.list.num);
        assert_memory_equal(matches.list.matches, first.list.matches,
                            first.list.num * sizeof *first.list.matches);
        assert_memory_equal(matches.confidence, first.confidence, first.list.num * sizeof(float));
        psfm_neural_matches_free(&matches);
    }
    for (size_t i = 0; i < m; ++i) {
        size_t best = 0, back = 0;
        for (size_t j = 1; j < n; ++j)
            best = z[i * (n + 1) + j] > z[i * (n + 1) + best] ? j : best;
        for (size_t k = 1; k < m; ++k)
            back = z[k * (n + 1) + best] > z[back * (n + 1) + best] ? k : back;
        double confidence = exp(z[i * (n + 1) + best]);
        if (back != i || confidence <= 0.01)
            continue;
        assert_true(num < first.list.num);
        assert_int_equal(first.list.matches[num][0], i);
        assert_int_equal(first.list.matches[num][1], best);
        assert_close(first.confidence[num++], confidence, 1e-4);
    }
    assert_int_equal(num, first.list.num);
    assert_true(num > 15);
    psfm_neural_matches_free(&first);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&b);
    free(z);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

static void sinkhorn_gives_the_sums(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(43, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    enum { M = 40, N = 75, LD = 80 };
    float *z = nn_new((M + 1) * LD, 4), u[M + 1], v[LD];
    for (size_t k = 0; k < (M + 1) * LD; ++k)
        z[k] = (float)(3 * psfm_rng_normal(&rng));
    assert_ok(ctx, psfm_sinkhorn(ctx, nn, &(psfm_transport){M, N, LD, z, u, v}, 200));
    for (size_t i = 0; i <= M; ++i) {
        double sum = 0;
        for (size_t j = 0; j <= N; ++j)
            sum += exp((double)z[i * LD + j] + u[i] + v[j]);
        assert_close(sum, i < M ? 1 : N, 1e-3 * (i < M ? 1 : N));
    }
    for (size_t j = 0; j <= N; ++j) {
        double sum = 0;
        for (size_t i = 0; i <= M; ++i)
            sum += exp((double)z[i * LD + j] + u[i] + v[j]);
        assert_close(sum, j < N ? 1 : M, 1e-4 * (j < N ? 1 : M));
    }
    free(z);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

static void empty_and_wrong_input(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(44, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    psfm_superglue *model;
    nn_file *file = make_weights();
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_ok(ctx, psfm_network_create(ctx, &psfm_superglue_network, nn, file->path, &model));
    psfm_keypoint_set a = make_features(ctx, &rng, 5), none = make_features(ctx, &rng, 0);
    psfm_keypoint_set one = make_features(ctx, &rng, 1);
    psfm_neural_matches matches;
    assert_ok(ctx, match(ctx, model, &a, &none, NULL, &matches));
    assert_int_equal(matches.list.num, 0);
    psfm_neural_matches_free(&matches);
    assert_ok(ctx, match(ctx, model, &one, &a, NULL, &matches));
    assert_true(matches.list.num <= 1);
    psfm_neural_matches_free(&matches);
    a.descriptors_f32[7] = NAN;
    assert_int_equal(match(ctx, model, &a, &one, NULL, &matches), PSFM_ERR_DATA);
    a.descriptor_size = 16;
    assert_int_equal(match(ctx, model, &one, &a, NULL, &matches), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "descriptors of 16 floats"));
    assert_int_equal(matches.list.num, 0);
    psfm_superglue *other;
    assert_int_equal(psfm_network_create(ctx, &psfm_superglue_network, nn, "/nonexistent", &other),
                     PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "SuperGlue weights"));
    nn_file *wrong = nn_file_make(1);
    nn_add_layer(wrong, "something", 3, 3, 0);
    nn_write(wrong);
    assert_int_equal(psfm_network_create(ctx, &psfm_superglue_network, nn, wrong->path, &other),
                     PSFM_ERR_FORMAT);
    assert_null(other);
    nn_file_drop(wrong);
    psfm_keypoint_set_free(&a), psfm_keypoint_set_free(&one);
    psfm_keypoint_set_free(&none);
    psfm_network_destroy(&psfm_superglue_network, &model);
    psfm_engine_destroy(&nn);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(sinkhorn_gives_the_sums),
        cmocka_unit_test(empty_and_wrong_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
