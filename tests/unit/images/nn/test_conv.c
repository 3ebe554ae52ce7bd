#include "nn_util.h"

#include "core/base/alloc.h"
#include "images/nn/conv.h"
#include "images/nn/plane_conv.h"

typedef struct {
    size_t c_in, c_out, kernel, stride, groups;
    size_t h, w;
    bool relu, add, pool, first;
} conv_case;

static const conv_case cases[] = {
    {16, 5, 1, 1, 1, 13, 17, true, true, false, false}, /* by pixels */
    {64, 65, 1, 1, 1, 20, 30, false, false, false, false},
    {1, 8, 4, 2, 1, 32, 38, true, false, false, false}, /* gathered */
    {24, 20, 3, 2, 1, 17, 15, true, true, false, false},
    {5, 4, 3, 1, 1, 9, 30, false, false, false, false},
    {16, 16, 3, 1, 1, 8, 8, true, false, false, false},   /* Winograd */
    {24, 40, 3, 1, 1, 13, 21, false, true, false, false}, /* sides not multiples of 4 */
    {32, 16, 3, 1, 1, 3, 2, true, true, false, false},    /* smaller than a tile */
    {8, 8, 3, 1, 1, 1, 1, false, false, false, false},
    {48, 48, 3, 1, 3, 10, 11, true, false, false, false}, /* groups */
    {16, 32, 3, 1, 1, 15, 13, true, false, true, false},  /* maxima of 2 x 2 */
    {16, 32, 3, 1, 1, 16, 12, true, false, true, true},   /* another convolution before */
    {64, 16, 3, 1, 1, 7, 401, true, false, false, true},  /* wider than a block */
};

static void to_map(psfm_context *ctx, const nn_plain *plain, psfm_map *map) {
    assert_ok(ctx, psfm_map_resize(ctx, map, plain->h, plain->w, plain->c));
    for (size_t k = 0; k < plain->h * plain->w; ++k)
        for (size_t c = 0; c < plain->c; ++c)
            map->data[k * map->pitch + c] = (float)plain->v[k * plain->c + c];
}

static nn_plain random_plain(psfm_rng *rng, size_t h, size_t w, size_t c) {
    nn_plain m = nn_plain_make(h, w, c);
    for (size_t k = 0; k < h * w * c; ++k)
        m.v[k] = (float)psfm_rng_normal(rng);
    return m;
}

/* Replaces *m by another. */
static void put(nn_plain *m, nn_plain other) {
    free(m->v);
    *m = other;
}

static void compare(const nn_plain *expected, const psfm_map *map) {
    assert_int_equal(map->height, expected->h);
    assert_int_equal(map->width, expected->w);
    for (size_t k = 0; k < map->height * map->width; ++k)
        for (size_t c = 0; c < map->channels; ++c)
            assert_close(map->data[k * map->pitch + c], expected->v[k * expected->c + c], 3e-5);
}

static void run_case(psfm_context *ctx, psfm_engine *nn, const conv_case *t) {
    nn_file *weights = nn_file_make(7);
    nn_add_layer(weights, "conv", t->c_out, t->c_in / t->groups, t->kernel);
    nn_add_norm(weights, "norm", t->c_out, true);
    nn_add_layer(weights, "first", t->c_in, 1, 3);
    nn_write(weights);
    psfm_safetensors *file;
    psfm_conv conv, first;
    psfm_conv_shape shape = {t->c_in, t->c_out, t->kernel, t->stride, t->groups, t->relu};
    psfm_conv_shape first_shape = {1, t->c_in, 3, 1, 1, true};
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    assert_ok(ctx, psfm_conv_load(ctx, file, "conv", "norm", &shape, &conv));
    assert_ok(ctx, psfm_conv_load(ctx, file, "first", NULL, &first_shape, &first));
    psfm_map src = {0}, dst = {0}, add = {0};
    nn_plain in = random_plain(&weights->rng, t->h, t->w, t->first ? 1 : t->c_in);
    to_map(ctx, &in, &src);
    if (t->first)
        put(&in, nn_plain_conv(weights, "first", NULL, &in, (nn_shape){t->c_in, 3, 1, 1, true}));
    nn_plain out = nn_plain_conv(weights, "conv", "norm", &in,
                                 (nn_shape){t->c_out, t->kernel, t->stride, t->groups, false});
    nn_plain more = random_plain(&weights->rng, out.h, out.w, out.c);
    for (size_t k = 0; k < out.h * out.w * out.c; ++k) {
        out.v[k] += t->add ? more.v[k] : 0;
        out.v[k] = t->relu && out.v[k] < 0 ? 0 : out.v[k];
    }
    if (t->pool)
        put(&out, nn_plain_pool(&out, 2, true));
    to_map(ctx, &more, &add);
    psfm_conv_extras extras = {t->add ? &add : NULL, t->pool, t->first ? &first : NULL};
    assert_ok(ctx, psfm_conv_run(ctx, nn, &conv, &src, &extras, &dst));
    compare(&out, &dst);
    psfm_map_free(&src), psfm_map_free(&dst), psfm_map_free(&add);
    free(in.v), free(out.v), free(more.v);
    psfm_conv_free(&conv), psfm_conv_free(&first);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
}

static void agrees_with_definition(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k) {
        psfm_engine_set_kernels(nn, *k);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
            run_case(ctx, nn, &cases[c]);
    }
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

static void run_planes(psfm_context *ctx, psfm_engine *nn, size_t c_in, size_t c_out, size_t stride,
                       size_t h, size_t w) {
    nn_file *weights = nn_file_make(8);
    nn_add_layer(weights, "conv", c_out, c_in, 3);
    nn_add_norm(weights, "norm", c_out, false);
    nn_write(weights);
    psfm_safetensors *file;
    psfm_plane_conv conv;
    psfm_conv_shape shape = {c_in, c_out, 3, stride, 1, true};
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    assert_ok(ctx, psfm_plane_conv_load(ctx, file, "conv", "norm", &shape, &conv));
    nn_plain in = random_plain(&weights->rng, h, w, c_in);
    nn_plain out =
        nn_plain_conv(weights, "conv", "norm", &in, (nn_shape){c_out, 3, stride, 1, true});
    psfm_planes src = {0}, planes = {0};
    psfm_map map = {0};
    assert_ok(ctx, psfm_planes_resize(ctx, &src, c_in, h, w));
    for (size_t k = 0; k < h * w * c_in; ++k)
        src.data[k % c_in * h * w + k / c_in] = (float)in.v[k];
    assert_ok(ctx, psfm_plane_conv_run(ctx, nn, &conv, &src, NULL, &map));
    assert_ok(ctx, psfm_plane_conv_run(ctx, nn, &conv, &src, &planes, NULL));
    compare(&out, &map);
    for (size_t k = 0; k < out.h * out.w * c_out; ++k)
        assert_true(planes.data[k % c_out * out.h * out.w + k / c_out] ==
                    map.data[k / c_out * map.pitch + k % c_out]);
    psfm_planes_free(&src), psfm_planes_free(&planes), psfm_map_free(&map);
    free(in.v), free(out.v);
    psfm_plane_conv_free(&conv);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
}

static void planes_agree_with_definition(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k) {
        psfm_engine_set_kernels(nn, *k);
        run_planes(ctx, nn, 1, 4, 1, 20, 70);
        run_planes(ctx, nn, 4, 8, 2, 17, 131);
        run_planes(ctx, nn, 8, 24, 2, 32, 64);
        run_planes(ctx, nn, 3, 4, 1, 1, 1);
        run_planes(ctx, nn, 4, 8, 2, 16, 128); /* rows of whole blocks are written in place */
    }
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

/* The same bytes whatever the number of threads. */
static void threads_do_not_matter(void **state) {
    (void)state;
    static const size_t shapes[3][4] = {{64, 48, 3, 1}, {64, 65, 1, 1}, {32, 64, 3, 2}};
    psfm_context *ctx = psfm_context_create();
    nn_file *weights = nn_file_make(9);
    for (int s = 0; s < 3; ++s) {
        char name[8];
        snprintf(name, sizeof name, "c%d", s);
        nn_add_layer(weights, name, shapes[s][1], shapes[s][0], shapes[s][2]);
    }
    nn_write(weights);
    psfm_safetensors *file;
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    for (int s = 0; s < 3; ++s) {
        psfm_conv conv;
        psfm_conv_shape shape = {shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], 1, true};
        char name[8];
        snprintf(name, sizeof name, "c%d", s);
        assert_ok(ctx, psfm_conv_load(ctx, file, name, NULL, &shape, &conv));
        nn_plain in = random_plain(&weights->rng, 61, 83, shape.c_in);
        psfm_map src = {0}, dst[3] = {{0}};
        to_map(ctx, &in, &src);
        for (int threads = 1; threads <= 3; ++threads) {
            psfm_engine *nn;
            psfm_context_set_threads(ctx, threads);
            assert_ok(ctx, psfm_engine_create(ctx, &nn));
            psfm_map *out = &dst[threads - 1];
            assert_ok(ctx, psfm_conv_run(ctx, nn, &conv, &src, NULL, out));
            for (size_t k = 0; k < out->height * out->width; ++k)
                assert_memory_equal(out->data + k * out->pitch, dst[0].data + k * out->pitch,
                                    out->channels * sizeof(float));
            psfm_engine_destroy(&nn);
        }
        for (int k = 0; k < 3; ++k)
            psfm_map_free(&dst[k]);
        psfm_map_free(&src);
        psfm_conv_free(&conv);
        free(in.v);
    }
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
    psfm_context_destroy(&ctx);
}

static void nothing_is_allocated_after_the_first_run(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    nn_file *weights = nn_file_make(10);
    nn_add_layer(weights, "conv", 32, 16, 3);
    nn_write(weights);
    psfm_safetensors *file;
    psfm_conv conv;
    psfm_conv_shape shape = {16, 32, 3, 1, 1, true};
    assert_ok(ctx, psfm_safetensors_open(ctx, weights->path, "weights", &file));
    assert_ok(ctx, psfm_conv_load(ctx, file, "conv", NULL, &shape, &conv));
    psfm_map src = {0}, dst = {0};
    nn_plain in = random_plain(&weights->rng, 20, 20, 16);
    to_map(ctx, &in, &src);
    psfm_alloc_fail_after(1);
    assert_int_equal(psfm_conv_run(ctx, nn, &conv, &src, NULL, &dst), PSFM_ERR_MEMORY);
    psfm_alloc_fail_after(0);
    assert_ok(ctx, psfm_conv_run(ctx, nn, &conv, &src, NULL, &dst));
    psfm_alloc_fail_after(1);
    assert_ok(ctx, psfm_conv_run(ctx, nn, &conv, &src, NULL, &dst));
    psfm_alloc_fail_after(0);
    psfm_map_free(&src), psfm_map_free(&dst);
    psfm_conv_free(&conv);
    free(in.v);
    psfm_safetensors_close(&file);
    nn_file_drop(weights);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(planes_agree_with_definition),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(nothing_is_allocated_after_the_first_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
