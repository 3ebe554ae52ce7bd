/* Every instruction set that this machine has, against double precision. */
#include "nn_util.h"

#include "images/nn/kernels.h"

static float *random_values(psfm_rng *rng, size_t num, double deviation) {
    float *values = nn_new(num, sizeof *values);
    for (size_t k = 0; k < num; ++k)
        values[k] = (float)(deviation * psfm_rng_normal(rng));
    return values;
}

static void winograd_is_a_convolution(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    const double p = 5.0 / 8, q = 3.0 / 2, np = 2 * p * p * (p * p - q * q),
                 nq = 2 * q * q * (q * q - p * p);
    const double g[6][3] = {{1 / (p * p * q * q), 0, 0},   {1 / np, p / np, p * p / np},
                            {1 / np, -p / np, p * p / np}, {1 / nq, q / nq, q * q / nq},
                            {1 / nq, -q / nq, q * q / nq}, {0, 0, 1}};
    const size_t c = 32;
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k) {
        float *src = random_values(&rng, 36 * c, 1), *kernel = random_values(&rng, 9, 1);
        float *bias = random_values(&rng, c, 1), *add = random_values(&rng, 16 * c, 1);
        float *v = nn_new(36 * c, 4), *out = nn_new(16 * c, 4), *pooled = nn_new(4 * c, 4);
        (*k)->winograd_input(src, 6 * c, c, c, v, c);
        for (size_t f = 0; f < 36; ++f) {
            double u = 0;
            for (size_t t = 0; t < 9; ++t)
                u += g[f / 6][t / 3] * kernel[t] * g[f % 6][t % 3];
            for (size_t i = 0; i < c; ++i)
                v[f * c + i] = (float)(v[f * c + i] * u);
        }
        psfm_winograd_sink sink = {bias, add, true, false, out, 4 * c, c};
        (*k)->winograd_output(v, c, c, &sink);
        sink = (psfm_winograd_sink){bias, NULL, false, true, pooled, 2 * c, c};
        (*k)->winograd_output(v, c, c, &sink);
        for (size_t i = 0; i < c; ++i) {
            double best[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
            for (size_t t = 0; t < 16; ++t) {
                double sum = bias[i];
                for (size_t w = 0; w < 9; ++w)
                    sum += kernel[w] * src[((t / 4 + w / 3) * 6 + t % 4 + w % 3) * c + i];
                size_t square = t / 8 * 2 + t % 4 / 2;
                best[square] = fmax(best[square], sum);
                assert_close(out[t * c + i], fmax(0, sum + add[t * c + i]), 5e-5);
            }
            for (size_t t = 0; t < 4; ++t)
                assert_close(pooled[t * c + i], best[t], 5e-5);
        }
        free(src), free(kernel), free(bias), free(add), free(v), free(out), free(pooled);
    }
}

static void softmax_and_logarithms(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t n = 1; n < 90; n += n < 40 ? 1 : 7) {
            float *x = random_values(&rng, n, 30), *shift = random_values(&rng, n, 10);
            double top = -INFINITY, sum = 0, top_shifted = -INFINITY, sum_shifted = 0;
            for (size_t j = 0; j < n; ++j) {
                top = fmax(top, x[j]);
                top_shifted = fmax(top_shifted, (double)x[j] + shift[j]);
            }
            for (size_t j = 0; j < n; ++j) {
                sum += exp(x[j] - top);
                sum_shifted += exp((double)x[j] + shift[j] - top_shifted);
            }
            assert_close((*k)->log_sum_exp(x, shift, n), top_shifted + log(sum_shifted), 2e-5);
            double *expected = nn_new(n, sizeof *expected);
            for (size_t j = 0; j < n; ++j)
                expected[j] = exp(x[j] - top);
            float largest = -INFINITY;
            assert_close((*k)->softmax_exp(x, n, &largest), sum, 1e-6 * sum);
            assert_true(largest == (float)top);
            /* x - max is rounded to single precision before the exponential. */
            for (size_t j = 0; j < n; ++j)
                assert_close(x[j], expected[j],
                             (3e-7 - 6e-8 * log(expected[j])) * expected[j] + 1e-30);
            free(x), free(shift), free(expected);
        }
}

static void extreme_softmax(void **state) {
    (void)state;
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k) {
        float x[40];
        for (int j = 0; j < 40; ++j)
            x[j] = j == 17 ? 3e38f : -3e38f;
        float largest = -INFINITY;
        assert_close((*k)->softmax_exp(x, 40, &largest), 1, 1e-6);
        assert_close(x[17], 1, 1e-7);
        assert_below(x[0], 1e-37);
        for (int j = 0; j < 40; ++j)
            x[j] = -INFINITY;
        x[3] = 0;
        largest = -INFINITY;
        assert_close((*k)->softmax_exp(x, 40, &largest), 1, 1e-6);
        x[3] = 1;
        largest = 3; /* of what came before */
        assert_close((*k)->softmax_exp(x, 4, &largest), 3 * exp(-3) + exp(-2), 1e-6);
        assert_true(largest == 3);
    }
}

static void logarithms_of_columns(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    const size_t widths[] = {1, 15, 16, 17, 33, 64, 80};
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t w = 0; w < 7; ++w) {
            size_t rows = 13, n = widths[w], ld = (n + 15) / 16 * 16;
            float *x = random_values(&rng, rows * ld, 20), *shift = random_values(&rng, rows, 5);
            float *out = nn_new(ld, sizeof *out);
            (*k)->log_sum_exp_columns(x, ld, shift, rows, n, out);
            for (size_t j = 0; j < n; ++j) {
                double top = -INFINITY, sum = 0;
                for (size_t i = 0; i < rows; ++i)
                    top = fmax(top, (double)x[i * ld + j] + shift[i]);
                for (size_t i = 0; i < rows; ++i)
                    sum += exp((double)x[i * ld + j] + shift[i] - top);
                assert_close(out[j], top + log(sum), 2e-5);
            }
            free(x), free(shift), free(out);
        }
}

static void norm_and_gelu(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t n = 16; n <= 192; n += 48) {
            float *x = random_values(&rng, n, 3), *gain = random_values(&rng, n, 2);
            float *offset = random_values(&rng, n, 1);
            double mean = 0, variance = 0, *expected = nn_new(n, sizeof *expected);
            for (size_t j = 0; j < n; ++j)
                mean += x[j] / (double)n;
            for (size_t j = 0; j < n; ++j)
                variance += (x[j] - mean) * (x[j] - mean) / (double)n;
            for (size_t j = 0; j < n; ++j) {
                double z = (x[j] - mean) / sqrt(variance + 1e-5) * gain[j] + offset[j];
                expected[j] = 0.5 * z * (1 + erf(z / sqrt(2.0)));
            }
            (*k)->norm_gelu(x, n, gain, offset);
            for (size_t j = 0; j < n; ++j)
                assert_close(x[j], expected[j], 3e-6);
            free(x), free(gain), free(offset), free(expected);
        }
}

static void rows_and_maxima(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t n = 1; n < 70; n += 4) {
            float *x = random_values(&rng, 3 * (n + 2), 1), *bias = random_values(&rng, n, 1);
            float *add = random_values(&rng, 3 * n, 1), *copy = nn_new(3 * (n + 2), 4);
            float *best = nn_new(n, 4);
            memcpy(copy, x, 3 * (n + 2) * 4);
            const float *sources[3] = {x, x + n + 2, x + 2 * (n + 2)};
            (*k)->max_of(sources, 3, n, best);
            double squares = 0;
            for (size_t j = 0; j < n; ++j) {
                assert_true(best[j] == fmaxf(fmaxf(x[j], x[n + 2 + j]), x[2 * (n + 2) + j]));
                squares += (double)x[j] * x[j];
            }
            assert_close((*k)->sum_squares(x, n), squares, 1e-5 * (1 + squares));
            (*k)->bias_act(x, n + 2, 3, n, bias, add, n, true);
            for (size_t i = 0; i < 3; ++i)
                for (size_t j = 0; j < n + 2; ++j) {
                    float before = copy[i * (n + 2) + j], after = x[i * (n + 2) + j];
                    if (j < n)
                        assert_close(after, fmax(0, (double)before + bias[j] + add[i * n + j]),
                                     1e-6);
                    else
                        assert_true(after == before);
                }
            free(x), free(bias), free(add), free(copy), free(best);
        }
}

static void check_product(const psfm_kernels *kernels, psfm_rng *rng, size_t m, size_t n,
                          size_t k) {
    size_t ld = (n + 15) / 16 * 16, lda = k + 3;
    float *a = random_values(rng, m * lda, 1), *b = random_values(rng, k * n, 1);
    float *bias = random_values(rng, ld, 1), *add = random_values(rng, m * ld, 1);
    float *panels = nn_new(psfm_panels_size(k, n), 4), *c = nn_new(m * ld, 4);
    for (size_t i = 0; i < k * n; ++i)
        panels[psfm_panels_at(k, i / n, i % n)] = b[i];
    for (int variant = 0; variant < 3; ++variant) {
        psfm_product p = {
            .m = m, .n = n, .k = k, .a = a, .b = panels, .c = c, .lda = lda, .ldc = ld};
        p.bias = variant > 0 ? bias : NULL;
        p.add = variant == 1 ? add : NULL;
        p.relu = variant == 2;
        kernels->product(&p);
        for (size_t i = 0; i < m * n; ++i) {
            size_t row = i / n, column = i % n;
            double sum = variant > 0 ? bias[column] : 0;
            sum += variant == 1 ? add[row * ld + column] : 0;
            for (size_t t = 0; t < k; ++t)
                sum += (double)a[row * lda + t] * b[t * n + column];
            assert_close(c[row * ld + column], variant == 2 ? fmax(0, sum) : sum, 3e-5);
        }
    }
    free(a), free(b), free(bias), free(add), free(panels), free(c);
}

static void products_of_any_size(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    const size_t sizes[][3] = {{1, 1, 1}, {12, 32, 9}, {13, 24, 24}, {30, 65, 64}, {7, 96, 5}};
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
            check_product(*k, &rng, sizes[s][0], sizes[s][1], sizes[s][2]);
}

static void softmax_of_cells(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(8, PSFM_RNG_TEST, 0, 0);
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (int round = 0; round < 4; ++round) {
            float *x = random_values(&rng, 65, 10), out[8 * 11];
            if (round == 2) /* no keypoint, certainly */
                x[64] = 3e38f;
            double sum = 0, top = x[64];
            for (size_t j = 0; j < 64; ++j)
                top = fmax(top, x[j]);
            for (size_t j = 0; j < 65; ++j)
                sum += exp(x[j] - top);
            for (size_t j = 0; j < 8 * 11; ++j)
                out[j] = -1;
            (*k)->cell_softmax(x, out, 11);
            for (size_t j = 0; j < 8 * 11; ++j)
                if (j % 11 < 8)
                    assert_close(out[j], exp(x[j / 11 * 8 + j % 11] - top) / sum, 1e-6);
                else
                    assert_true(out[j] == -1);
            free(x);
        }
}

static void peaks_are_listed_in_order(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 0, 0);
    for (const psfm_kernels *const *k = psfm_kernels_usable(); *k != NULL; ++k)
        for (size_t n = 1; n < 100; n += 7) {
            float *x = random_values(&rng, n, 1), *largest = nn_new(n, 4);
            uint32_t *places = nn_new(n, sizeof *places);
            for (size_t j = 0; j < n; ++j)
                largest[j] = psfm_rng_below(&rng, 3) == 0 ? x[j] : x[j] + 1;
            x[n / 2] = NAN;
            size_t num = (*k)->find_peaks(x, largest, n, -0.3f, places), at = 0;
            for (size_t j = 0; j < n; ++j)
                if (x[j] == largest[j] && x[j] > -0.3f) {
                    assert_true(at < num);
                    assert_int_equal(places[at++], j);
                }
            assert_int_equal(at, num);
            free(x), free(largest), free(places);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winograd_is_a_convolution),
        cmocka_unit_test(softmax_and_logarithms),
        cmocka_unit_test(extreme_softmax),
        cmocka_unit_test(logarithms_of_columns),
        cmocka_unit_test(norm_and_gelu),
        cmocka_unit_test(rows_and_maxima),
        cmocka_unit_test(products_of_any_size),
        cmocka_unit_test(softmax_of_cells),
        cmocka_unit_test(peaks_are_listed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
