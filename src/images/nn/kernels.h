/* The inner loops that are not matrix products, compiled once per instruction set (kernels_body.h)
 * and chosen at run time.
 *
 * Arrays need no alignment. "Padded" arrays may be read and written up to the next multiple of 16
 * floats. */
#ifndef PSFM_NN_KERNELS_H
#define PSFM_NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a Winograd tile goes, and what happens to it on the way. */
typedef struct {
    const float *bias; /* per channel, padded */
    const float *add;  /* added before the activation, strides as dst; NULL if nothing */
    bool relu;
    bool pool;  /* store the maxima of the four 2 x 2 squares instead of all 4 x 4 pixels */
    float *dst; /* top-left pixel */
    size_t row_stride, pixel_stride;
} psfm_winograd_sink;

/* Outputs of a convolution of a few planes: taps[t][x] is what tap t (channel, row and column of
 * the kernel) sees at output column x. */
typedef struct {
    size_t num_taps, num_out; /* num_out a multiple of 4 */
    const float *weights;     /* num_taps x num_out */
    const float *bias;        /* num_out */
    bool relu;
} psfm_taps;

#define PSFM_PANEL ((size_t)32)

/* C = act(A B + bias + add): A is m x k, B is k x n, C and add are m x n with `ldc` floats between
 * rows; they may be one. Rows of C and add, and bias, are padded. B is stored in panels of
 * PSFM_PANEL columns, the last filled up with zeros, each row by row. */
typedef struct {
    size_t m, n, k;
    const float *a, *b;
    float *c;
    size_t lda, ldc;
    const float *bias, *add; /* or NULL */
    bool relu;
} psfm_product;

/* Floats of k x n values in panels, and where the one in a row and column is. */
static inline size_t psfm_panels_size(size_t k, size_t n) {
    return k * ((n + PSFM_PANEL - 1) / PSFM_PANEL * PSFM_PANEL);
}
static inline size_t psfm_panels_at(size_t k, size_t row, size_t column) {
    return (column / PSFM_PANEL * k + row) * PSFM_PANEL + column % PSFM_PANEL;
}

/* Widest block of columns that conv_taps writes at once; rows need room for a multiple of it. */
#define PSFM_TAPS_BLOCK 64

typedef struct {
    const char *name; /* "avx512", "avx2", "base" */

    /* B^T d B of one 6 x 6 tile of F(4x4, 3x3), for `channels` (multiple of 16) at a time:
     * value f = 6 row + column of channel c goes to dst[f * plane + c]. */
    void (*winograd_input)(const float *src, size_t row_stride, size_t pixel_stride,
                           size_t channels, float *dst, size_t plane);
    /* A^T m A of one tile, the inverse. */
    void (*winograd_output)(const float *src, size_t plane, size_t channels,
                            const psfm_winograd_sink *sink);

    /* rows[i][j] = act(rows[i][j] + bias[j] + add[i][j]); add NULL: nothing. Two matrices and a
     * vector as in BLAS, so that the loop keeps all of them in registers. */
    void (*bias_act)(float *rows, size_t ld, size_t num_rows, size_t n, const float *bias,
                     const float *add, size_t add_ld, bool relu);

    /* A product of small matrices that are in the cache, with nothing copied first. */
    void (*product)(const psfm_product *p);

    /* out[o][x] = act(bias[o] + sum_t weights[t][o] taps[t][x]) for x < width. */
    void (*conv_taps)(const psfm_taps *taps, const float *const *rows, size_t width,
                      float *const *out);

    /* dst[x] = max_k src[k][x] for x < n; num > 0. */
    void (*max_of)(const float *const *src, size_t num, size_t n, float *dst);

    /* Places of the values that equal `largest` and pass the threshold, in order: out has room
     * for n. Returns their number. */
    size_t (*find_peaks)(const float *x, const float *largest, size_t n, float threshold,
                         uint32_t *out);

    /* Softmax of 65 values, of which the first 64 go to an 8 x 8 square, row by row. */
    void (*cell_softmax)(const float *x, float *out, size_t row_stride);

    /* x <- exp(x - t), where t, the larger of *top and max x, becomes *top; returns the sum. n > 0.
     */
    float (*softmax_exp)(float *x, size_t n, float *top);
    void (*scale)(float *x, size_t n, float factor);

    /* log sum_j exp(x[j] + shift[j]); n > 0. */
    float (*log_sum_exp)(const float *x, const float *shift, size_t n);
    /* out[j] = log sum_i exp(x[i][j] + shift[i]) for j < n; rows of x and out are padded. */
    void (*log_sum_exp_columns)(const float *x, size_t ld, const float *shift, size_t num_rows,
                                size_t n, float *out);

    /* x <- gelu(gain (x - mean) / deviation + offset), the layer norm with epsilon 1e-5 and the
     * Gaussian error linear unit; n a multiple of 16. */
    void (*norm_gelu)(float *x, size_t n, const float *gain, const float *offset);

    /* Sum of squares. */
    float (*sum_squares)(const float *x, size_t n);
} psfm_kernels;

extern const psfm_kernels psfm_kernels_base;
extern const psfm_kernels psfm_kernels_avx2;
extern const psfm_kernels psfm_kernels_avx512;

/* The fastest that this CPU can run. */
const psfm_kernels *psfm_kernels_best(void);
/* All that this CPU can run, NULL-terminated; for tests. */
const psfm_kernels *const *psfm_kernels_usable(void);

#endif
