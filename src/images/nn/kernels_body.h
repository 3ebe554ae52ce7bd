/* The kernels, for the instruction set that the including file is compiled for. It defines
 * KERNELS, the table to fill, and KERNELS_NAME.
 *
 * Vectors are GCC's and Clang's vector extension, so this is plain C on any machine.
 *
 * exp: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial of degree 6 in r (the coefficients of
 * Moshier's Cephes), relative error 2e-7. erf: Abramowitz and Stegun 7.1.26, absolute error 2e-7.
 * Winograd's F(4x4, 3x3): Lavin and Gray, "Fast algorithms for convolutional neural networks". */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "images/nn/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANES ((size_t)16)
#define TAPS_WIDE ((size_t)4)
#define PRODUCT_ROWS 12
#elif defined(__AVX2__)
#define LANES ((size_t)8)
#define TAPS_WIDE ((size_t)2)
#define PRODUCT_ROWS 6
#else
#define LANES ((size_t)4)
#define TAPS_WIDE ((size_t)2)
#define PRODUCT_ROWS 6
#endif

#define UNROLL _Pragma("GCC unroll 12")

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef float quad __attribute__((vector_size(16)));
typedef uint32_t bits __attribute__((vector_size(LANES * 4)));
typedef float loose __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static inline vec load_vec(const float *p) {
    return *(const loose *)p;
}

static inline void store_vec(float *p, vec v) {
    *(loose *)p = v;
}

static inline vec splat_vec(float x) {
    return x - (vec){0};
}

static inline vec choose_vec(bits mask, vec yes, vec no) {
    return (vec)((mask & (bits)yes) | (~mask & (bits)no));
}

/* a > b ? a : b. Compilers do not see the one instruction for it in the general form. */
static inline vec larger_vec(vec a, vec b) {
#if defined(__AVX512F__)
    return _mm512_max_ps(a, b);
#elif defined(__AVX2__)
    return _mm256_max_ps(a, b);
#else
    return choose_vec((bits)(a > b), a, b);
#endif
}

static inline float sum_lanes(vec v) {
    quad parts[LANES / 4];
    memcpy(parts, &v, sizeof v);
    for (size_t k = 1; k < LANES / 4; ++k)
        parts[0] += parts[k];
    return (parts[0][0] + parts[0][1]) + (parts[0][2] + parts[0][3]);
}

static inline float max_lanes(vec v) {
    float best = v[0];
    for (size_t k = 1; k < LANES; ++k)
        best = v[k] > best ? v[k] : best;
    return best;
}

/* Loads n < LANES values and fills up with `rest`. */
static inline vec load_part(const float *p, size_t n, float rest) {
    float values[LANES];
    for (size_t k = 0; k < LANES; ++k)
        values[k] = k < n ? p[k] : rest;
    return load_vec(values);
}

/* For x <= 88; below -87 the result is that of -87, next to nothing. */
static inline vec exp_vec(vec x) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    x = larger_vec(x, splat_vec(-87.0f));
    vec shifted = x * 1.44269504f + magic;
    vec n = shifted - magic;
    vec r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    bits power = ((bits)shifted << 23) + 0x3f800000u;
    return p * (vec)power;
}

/* Points 0, +-P, +-Q and infinity. These lose the fewest digits: with +-1, +-2 the rounding error
 * is 2.5 times as large. */
#define P (5.0f / 8)
#define Q (3.0f / 2)

static inline void input_1d(const vec *d, vec *o) {
    vec a = d[4] - Q * Q * d[2], b = d[3] - Q * Q * d[1];
    vec c = d[4] - P * P * d[2], e = d[3] - P * P * d[1];
    o[0] = P * P * Q * Q * d[0] - (P * P + Q * Q) * d[2] + d[4];
    o[1] = a + P * b;
    o[2] = a - P * b;
    o[3] = c + Q * e;
    o[4] = c - Q * e;
    o[5] = P * P * Q * Q * d[1] - (P * P + Q * Q) * d[3] + d[5];
}

static void winograd_input(const float *src, size_t row_stride, size_t pixel_stride,
                           size_t channels, float *dst, size_t plane) {
    for (size_t c = 0; c < channels; c += LANES) {
        vec half[6][6]; /* half[row][f]: columns transformed, rows not yet */
        for (size_t y = 0; y < 6; ++y) {
            vec d[6];
            for (size_t x = 0; x < 6; ++x)
                d[x] = load_vec(src + y * row_stride + x * pixel_stride + c);
            input_1d(d, half[y]);
        }
        for (size_t f = 0; f < 6; ++f) {
            vec d[6], o[6];
            for (size_t y = 0; y < 6; ++y)
                d[y] = half[y][f];
            input_1d(d, o);
            for (size_t g = 0; g < 6; ++g)
                store_vec(dst + (6 * g + f) * plane + c, o[g]);
        }
    }
}

static inline void output_1d(const vec *m, vec *y) {
    vec s = m[1] + m[2], d = m[1] - m[2], t = m[3] + m[4], e = m[3] - m[4];
    y[0] = m[0] + s + t;
    y[1] = P * d + Q * e;
    y[2] = P * P * s + Q * Q * t;
    y[3] = P * P * P * d + (Q * Q * Q * e + m[5]);
}

static inline void store_tile(const psfm_winograd_sink *sink, size_t c, vec y[4][4]) {
    vec bias = load_vec(sink->bias + c);
    for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < 4; ++j) {
            y[i][j] += bias;
            if (sink->add != NULL)
                y[i][j] += load_vec(sink->add + i * sink->row_stride + j * sink->pixel_stride + c);
            if (sink->relu)
                y[i][j] = larger_vec(y[i][j], splat_vec(0));
            if (!sink->pool)
                store_vec(sink->dst + i * sink->row_stride + j * sink->pixel_stride + c, y[i][j]);
        }
    }
    for (size_t i = 0; sink->pool && i < 4; i += 2)
        for (size_t j = 0; j < 4; j += 2)
            store_vec(sink->dst + i / 2 * sink->row_stride + j / 2 * sink->pixel_stride + c,
                      larger_vec(larger_vec(y[i][j], y[i][j + 1]),
                                 larger_vec(y[i + 1][j], y[i + 1][j + 1])));
}

static void winograd_output(const float *src, size_t plane, size_t channels,
                            const psfm_winograd_sink *sink) {
    for (size_t c = 0; c < channels; c += LANES) {
        vec half[6][4]; /* half[f][row]: rows back, columns not yet */
        for (size_t f = 0; f < 6; ++f) {
            vec m[6];
            for (size_t g = 0; g < 6; ++g)
                m[g] = load_vec(src + (6 * g + f) * plane + c);
            output_1d(m, half[f]);
        }
        vec y[4][4];
        for (size_t i = 0; i < 4; ++i) {
            vec m[6];
            for (size_t f = 0; f < 6; ++f)
                m[f] = half[f][i];
            output_1d(m, y[i]);
        }
        store_tile(sink, c, y);
    }
}

static void bias_act(float *rows, size_t ld, size_t num_rows, size_t n, const float *bias,
                     const float *add, size_t add_ld, bool relu) {
    for (size_t i = 0; i < num_rows; ++i) {
        float *row = rows + i * ld;
        const float *more = add == NULL ? NULL : add + i * add_ld;
        size_t j = 0;
        for (; j + LANES <= n; j += LANES) {
            vec v = load_vec(row + j) + load_vec(bias + j);
            if (more != NULL)
                v += load_vec(more + j);
            store_vec(row + j, relu ? larger_vec(v, splat_vec(0)) : v);
        }
        for (; j < n; ++j) {
            float v = row[j] + bias[j] + (more != NULL ? more[j] : 0);
            row[j] = relu && !(v > 0) ? 0 : v;
        }
    }
}

static inline void finish_product(const psfm_product *p, size_t i, size_t j, vec sum) {
    if (p->bias != NULL)
        sum += load_vec(p->bias + j);
    if (p->add != NULL)
        sum += load_vec(p->add + i * p->ldc + j);
    store_vec(p->c + i * p->ldc + j, p->relu ? larger_vec(sum, splat_vec(0)) : sum);
}

/* `rows` <= PRODUCT_ROWS rows and `wide` <= 2 vectors of columns of a product. Inlined with
 * constant sizes, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void product_block(const psfm_product *p, size_t i,
                                                                size_t j, size_t rows,
                                                                size_t wide) {
    const float *a = p->a + i * p->lda;
    const float *panel = p->b + psfm_panels_at(p->k, 0, j);
    vec sum[PRODUCT_ROWS][2], b[2];
    UNROLL
    for (size_t r = 0; r < rows; ++r)
        sum[r][0] = sum[r][1] = splat_vec(0);
    for (size_t k = 0; k < p->k; ++k) {
        for (size_t w = 0; w < wide; ++w)
            b[w] = load_vec(panel + k * PSFM_PANEL + w * LANES);
        UNROLL
        for (size_t r = 0; r < rows; ++r)
            for (size_t w = 0; w < wide; ++w)
                sum[r][w] += a[r * p->lda + k] * b[w];
    }
    UNROLL
    for (size_t r = 0; r < rows; ++r)
        for (size_t w = 0; w < wide; ++w)
            finish_product(p, i + r, j + w * LANES, sum[r][w]);
}

static inline __attribute__((always_inline)) void product_columns(const psfm_product *p, size_t j,
                                                                  size_t wide) {
    size_t i = 0;
    for (; i + PRODUCT_ROWS <= p->m; i += PRODUCT_ROWS)
        product_block(p, i, j, PRODUCT_ROWS, wide);
    for (; i + 4 <= p->m; i += 4)
        product_block(p, i, j, 4, wide);
    for (; i < p->m; ++i)
        product_block(p, i, j, 1, wide);
}

static void multiply_matrices(const psfm_product *p) {
    size_t j = 0;
    for (; j + LANES < p->n; j += 2 * LANES)
        product_columns(p, j, 2);
    if (j < p->n)
        product_columns(p, j, 1);
}

/* Four outputs of `wide` <= TAPS_WIDE vectors of columns: enough sums to keep the multipliers busy.
 * Inlined, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void taps_block(const psfm_taps *taps,
                                                             const float *const *rows, size_t x,
                                                             size_t o, size_t wide,
                                                             float *const *out) {
    vec sum[4][TAPS_WIDE];
    for (size_t k = 0; k < 4; ++k)
        for (size_t w = 0; w < wide; ++w)
            sum[k][w] = splat_vec(taps->bias[o + k]);
    for (size_t t = 0; t < taps->num_taps; ++t) {
        const float *weights = taps->weights + t * taps->num_out + o;
        vec v[TAPS_WIDE];
        for (size_t w = 0; w < wide; ++w)
            v[w] = load_vec(rows[t] + x + w * LANES);
        for (size_t k = 0; k < 4; ++k)
            for (size_t w = 0; w < wide; ++w)
                sum[k][w] += weights[k] * v[w];
    }
    for (size_t k = 0; k < 4; ++k)
        for (size_t w = 0; w < wide; ++w)
            store_vec(out[o + k] + x + w * LANES,
                      taps->relu ? larger_vec(sum[k][w], splat_vec(0)) : sum[k][w]);
}

static void conv_taps(const psfm_taps *taps, const float *const *rows, size_t width,
                      float *const *out) {
    size_t x = 0;
    for (; x + (TAPS_WIDE - 1) * LANES < width; x += TAPS_WIDE * LANES)
        for (size_t o = 0; o < taps->num_out; o += 4)
            taps_block(taps, rows, x, o, TAPS_WIDE, out);
    for (; x < width; x += LANES)
        for (size_t o = 0; o < taps->num_out; o += 4)
            taps_block(taps, rows, x, o, 1, out);
}

static void max_of(const float *const *src, size_t num, size_t n, float *dst) {
    size_t x = 0;
    for (; x + LANES <= n; x += LANES) {
        vec best = load_vec(src[0] + x);
        for (size_t k = 1; k < num; ++k)
            best = larger_vec(best, load_vec(src[k] + x));
        store_vec(dst + x, best);
    }
    for (; x < n; ++x) {
        float best = src[0][x];
        for (size_t k = 1; k < num; ++k)
            best = src[k][x] > best ? src[k][x] : best;
        dst[x] = best;
    }
}

/* Largest x[j] + shift[j]; shift may be NULL. */
static float max_sum(const float *x, const float *shift, size_t n) {
    vec best = splat_vec(-INFINITY);
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        best = larger_vec(shift == NULL ? load_vec(x + j) : load_vec(x + j) + load_vec(shift + j),
                          best);
    if (j < n) {
        vec last = load_part(x + j, n - j, -INFINITY);
        best = larger_vec(shift == NULL ? last : last + load_part(shift + j, n - j, 0), best);
    }
    return max_lanes(best);
}

static float softmax_exp(float *x, size_t n, float *largest) {
    float most = max_sum(x, NULL, n);
    *largest = most > *largest ? most : *largest;
    vec top = splat_vec(*largest), sum = splat_vec(0), sum2 = splat_vec(0);
    size_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        vec a = exp_vec(load_vec(x + j) - top), b = exp_vec(load_vec(x + j + LANES) - top);
        store_vec(x + j, a);
        store_vec(x + j + LANES, b);
        sum += a;
        sum2 += b;
    }
    float total = sum_lanes(sum + sum2);
    for (; j < n; j += LANES) {
        size_t part = n - j < LANES ? n - j : LANES;
        vec a = exp_vec(load_part(x + j, part, 0) - top);
        for (size_t k = 0; k < part; ++k) {
            x[j + k] = a[k];
            total += a[k];
        }
    }
    return total;
}

static inline bool any_bit(bits mask) {
    uint64_t parts[LANES / 2], all = 0;
    memcpy(parts, &mask, sizeof parts);
    for (size_t k = 0; k < LANES / 2; ++k)
        all |= parts[k];
    return all != 0;
}

static size_t find_peaks(const float *x, const float *largest, size_t n, float threshold,
                         uint32_t *out) {
    size_t num = 0, j = 0;
    for (; j + LANES <= n; j += LANES) {
        vec v = load_vec(x + j);
        bits found = (bits)(v == load_vec(largest + j)) & (bits)(v > threshold);
        for (size_t k = 0; any_bit(found) && k < LANES; ++k) {
            out[num] = (uint32_t)(j + k);
            num += found[k] & 1;
        }
    }
    for (; j < n; ++j)
        if (x[j] == largest[j] && x[j] > threshold)
            out[num++] = (uint32_t)j;
    return num;
}

static void cell_softmax(const float *x, float *out, size_t row_stride) {
    float values[64];
    vec top = splat_vec(x[64]), last, sum = splat_vec(0);
    for (size_t j = 0; j < 64; j += LANES)
        top = larger_vec(load_vec(x + j), top);
    top = splat_vec(max_lanes(top));
    last = exp_vec(splat_vec(x[64]) - top);
    for (size_t j = 0; j < 64; j += LANES) {
        vec v = exp_vec(load_vec(x + j) - top);
        sum += v;
        store_vec(values + j, v);
    }
    float inverse = 1.0f / (sum_lanes(sum) + last[0]);
    for (size_t j = 0; j < 64; j += LANES)
        store_vec(values + j, load_vec(values + j) * inverse);
    for (size_t r = 0; r < 8; ++r)
        memcpy(out + r * row_stride, values + 8 * r, 8 * sizeof *out);
}

static void scale_row(float *x, size_t n, float factor) {
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        store_vec(x + j, load_vec(x + j) * factor);
    for (; j < n; ++j)
        x[j] *= factor;
}

static float log_sum_exp(const float *x, const float *shift, size_t n) {
    float top = max_sum(x, shift, n);
    vec sum = splat_vec(0), sum2 = splat_vec(0);
    size_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        sum += exp_vec(load_vec(x + j) + load_vec(shift + j) - top);
        sum2 += exp_vec(load_vec(x + j + LANES) + load_vec(shift + j + LANES) - top);
    }
    float total = sum_lanes(sum + sum2);
    for (; j < n; j += LANES) {
        size_t part = n - j < LANES ? n - j : LANES;
        vec a = exp_vec(load_part(x + j, part, 0) + load_part(shift + j, part, 0) - top);
        for (size_t k = 0; k < part; ++k)
            total += a[k];
    }
    return top + logf(total);
}

static void log_sum_exp_columns(const float *x, size_t ld, const float *shift, size_t num_rows,
                                size_t n, float *out) {
    for (size_t j = 0; j < n; j += 2 * LANES) {
        /* The second vector may lie beyond the padding; then it repeats the first. */
        size_t next = j + LANES < n ? LANES : 0;
        vec top = splat_vec(-INFINITY), top2 = top, sum = splat_vec(0), sum2 = sum;
        for (size_t i = 0; i < num_rows; ++i) {
            const float *row = x + i * ld + j;
            top = larger_vec(load_vec(row) + shift[i], top);
            top2 = larger_vec(load_vec(row + next) + shift[i], top2);
        }
        for (size_t i = 0; i < num_rows; ++i) {
            const float *row = x + i * ld + j;
            sum += exp_vec(load_vec(row) + shift[i] - top);
            sum2 += exp_vec(load_vec(row + next) + shift[i] - top2);
        }
        for (size_t k = 0; k < LANES; ++k) {
            out[j + k] = top[k] + logf(sum[k]);
            out[j + next + k] = top2[k] + logf(sum2[k]);
        }
    }
}

static inline vec gelu_vec(vec x) {
    vec z = x * 0.70710678f;
    vec a = (vec)((bits)z & 0x7fffffffu);
    vec t = 1.0f / (1.0f + 0.3275911f * a);
    vec p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    vec erf = 1.0f - p * t * exp_vec(-a * a);
    erf = (vec)((bits)erf | ((bits)z & 0x80000000u));
    return 0.5f * x * (1.0f + erf);
}

static void norm_gelu(float *x, size_t n, const float *gain, const float *offset) {
    vec sum = splat_vec(0), square = splat_vec(0);
    for (size_t j = 0; j < n; j += LANES)
        sum += load_vec(x + j);
    float mean = sum_lanes(sum) / (float)n;
    for (size_t j = 0; j < n; j += LANES) {
        vec d = load_vec(x + j) - mean;
        square += d * d;
    }
    float inverse = 1.0f / sqrtf(sum_lanes(square) / (float)n + 1e-5f);
    for (size_t j = 0; j < n; j += LANES)
        store_vec(x + j, gelu_vec((load_vec(x + j) - mean) * inverse * load_vec(gain + j) +
                                  load_vec(offset + j)));
}

static float sum_squares(const float *x, size_t n) {
    vec sum = splat_vec(0);
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        sum += load_vec(x + j) * load_vec(x + j);
    float total = sum_lanes(sum);
    for (; j < n; ++j)
        total += x[j] * x[j];
    return total;
}

const psfm_kernels KERNELS = {
    .name = KERNELS_NAME,
    .winograd_input = winograd_input,
    .winograd_output = winograd_output,
    .bias_act = bias_act,
    .product = multiply_matrices,
    .conv_taps = conv_taps,
    .max_of = max_of,
    .find_peaks = find_peaks,
    .cell_softmax = cell_softmax,
    .softmax_exp = softmax_exp,
    .scale = scale_row,
    .log_sum_exp = log_sum_exp,
    .log_sum_exp_columns = log_sum_exp_columns,
    .norm_gelu = norm_gelu,
    .sum_squares = sum_squares,
};
