#include "nn_util.h"

#include "images/nn/linear.h"

/* Runs one function as the only task of a loop. */
typedef struct {
    void (*run)(psfm_engine *nn, void *user, float *scratch);
    void *user;
} single;

static void single_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    (void)index;
    const single *s = user;
    s->run(nn, s->user, scratch);
}

typedef struct {
    psfm_linear linear;
    const float *x;
    float *y;
} linear_job;

static void apply(psfm_engine *nn, void *user, float *scratch) {
    (void)scratch;
    linear_job *job = user;
    psfm_linear_apply(nn, &job->linear, 11, job->x, 10, job->y, 30, true);
}

static float *random_values(psfm_rng *rng, size_t num) {
    float *values = nn_new(num, sizeof *values);
    for (size_t k = 0; k < num; ++k)
        values[k] = (float)psfm_rng_normal(rng);
    return values;
}

static void folds_the_norm(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    nn_file *weights = nn_file_make(1);
    nn_add_layer(weights, "layer", 29, 10, 0);
    nn_add_norm(weights, "norm", 29, true);
    nn_write(weights);
    psfm_safetensors *file;
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    float *x = random_values(&weights->rng, 110), *y = nn_new(11 * 30, 4);
    double *plain = nn_new(110, sizeof *plain);
    for (size_t k = 0; k < 110; ++k)
        plain[k] = x[k];
    double *expected = nn_plain_linear(weights, "layer", "norm", plain, 11, 10, 29, true);
    linear_job job = {.x = x, .y = y};
    assert_ok(ctx, psfm_linear_load(ctx, file, "layer", "norm", 10, 29, &job.linear));
    single s = {apply, &job};
    assert_ok(ctx, psfm_engine_run(ctx, nn, 1, 0, single_task, &s));
    for (size_t k = 0; k < 11 * 29; ++k)
        assert_close(y[k / 29 * 30 + k % 29], expected[k], 1e-5);
    psfm_linear other;
    assert_int_equal(psfm_linear_load(ctx, file, "layer", NULL, 11, 29, &other), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "layer.weight has 290 values, 319"));
    psfm_linear_free(&job.linear);
    free(x), free(y), free(plain), free(expected);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

/* [x, first(z)] through second is [x, z] through the absorbed layer. */
static void absorbs_a_layer(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    nn_file *weights = nn_file_make(2);
    nn_add_layer(weights, "first", 6, 6, 0);
    nn_add_layer(weights, "second", 9, 10, 0);
    nn_write(weights);
    psfm_safetensors *file;
    psfm_linear first, second;
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    assert_ok(ctx, psfm_linear_load(ctx, file, "first", NULL, 6, 6, &first));
    assert_ok(ctx, psfm_linear_load(ctx, file, "second", NULL, 10, 9, &second));
    assert_ok(ctx, psfm_linear_absorb(ctx, nn, &first, 4, &second));
    double z[6], both[10];
    for (size_t k = 0; k < 10; ++k)
        both[k] = psfm_rng_normal(&weights->rng);
    memcpy(z, both + 4, sizeof z);
    double *message = nn_plain_linear(weights, "first", NULL, z, 1, 6, 6, false);
    double replaced[10];
    memcpy(replaced, both, sizeof replaced);
    memcpy(replaced + 4, message, sizeof z);
    double *expected = nn_plain_linear(weights, "second", NULL, replaced, 1, 10, 9, false);
    for (size_t o = 0; o < 9; ++o) {
        double sum = second.bias[o];
        for (size_t i = 0; i < 10; ++i)
            sum += both[i] * second.weights[i * 9 + o];
        assert_close(sum, expected[o], 1e-5);
    }
    free(message), free(expected);
    psfm_linear_free(&first), psfm_linear_free(&second);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

typedef struct {
    psfm_attention attention;
    float *out;
} attention_job;

static void attend(psfm_engine *nn, void *user, float *scratch) {
    attention_job *job = user;
    psfm_attention_run(nn, &job->attention, job->out, 30, scratch);
}

static void attention_is_softmax(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    enum { HEADS = 3, HEAD = 10, DIM = 30, QUERIES = 5, KEYS = 1100, LD = 95 };
    float *q = random_values(&rng, QUERIES * LD), *kv = random_values(&rng, KEYS * LD);
    float *out = nn_new(QUERIES * DIM, 4);
    attention_job job = {{HEADS, HEAD, QUERIES, KEYS, q, kv, kv + DIM, LD}, out};
    single s = {attend, &job};
    assert_ok(ctx,
              psfm_engine_run(ctx, nn, 1, psfm_attention_scratch(QUERIES, KEYS), single_task, &s));
    for (size_t i = 0; i < QUERIES; ++i)
        for (size_t c = 0; c < DIM; ++c) {
            size_t column = c / HEAD * HEAD;
            double sum = 0, total = 0;
            for (size_t j = 0; j < KEYS; ++j) {
                double score = 0;
                for (size_t d = 0; d < HEAD; ++d)
                    score += (double)q[i * LD + column + d] * kv[j * LD + column + d];
                total += exp(score);
                sum += exp(score) * kv[j * LD + DIM + c];
            }
            assert_close(out[i * DIM + c], sum / total, 1e-5);
        }
    free(q), free(kv), free(out);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_the_norm),
        cmocka_unit_test(absorbs_a_layer),
        cmocka_unit_test(attention_is_softmax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
