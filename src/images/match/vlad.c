/* Nearest words by one matrix product a block of rows: |x - w|^2 = |w|^2 - 2 x w + what all words
 * have in common. */
#include "images/match/vlad.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

enum {
    BLOCK = 512,       /* rows of a product */
    ROUNDS = 12,       /* of k-means */
    ROWS_PER_WORD = 8, /* at least */
};

void psfm_codebook_free(psfm_codebook *codebook) {
    free(codebook->words);
    *codebook = (psfm_codebook){0};
}

void psfm_descriptor_unit(const psfm_keypoint_set *set, size_t k, float *out) {
    size_t size = set->descriptor_size;
    if (set->descriptors_u8 == NULL) {
        const float *own = set->descriptors_f32 + k * size;
        bool finite = true;
        for (size_t i = 0; i < size; ++i)
            finite = finite && isfinite(own[i]);
        for (size_t i = 0; i < size; ++i)
            out[i] = finite ? own[i] : 0.0F;
        return;
    }
    const uint8_t *bins = set->descriptors_u8 + k * size;
    float sum = 0.0F;
    for (size_t i = 0; i < size; ++i)
        sum += bins[i];
    for (size_t i = 0; i < size; ++i)
        out[i] = sum > 0.0F ? sqrtf(bins[i] / sum) : 0.0F;
}

/* What finding nearest words needs. */
typedef struct {
    const psfm_codebook *codebook;
    float *half;    /* per word: half its square */
    float *product; /* BLOCK x words */
} finder;

static psfm_status finder_init(psfm_context *ctx, const psfm_codebook *codebook, finder *f) {
    *f = (finder){.codebook = codebook};
    psfm_status status = PSFM_ALLOC(ctx, codebook->num_words, &f->half);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, BLOCK * codebook->num_words, &f->product);
    return status;
}

static void finder_free(finder *f) {
    free(f->half);
    free(f->product);
}

static void weigh_words(finder *f) {
    const psfm_codebook *c = f->codebook;
    for (size_t w = 0; w < c->num_words; ++w) {
        f->half[w] = 0.0F;
        for (size_t i = 0; i < c->size; ++i)
            f->half[w] += 0.5F * c->words[w * c->size + i] * c->words[w * c->size + i];
    }
}

/* The nearest word of each of at most BLOCK rows. */
static void find_nearest(finder *f, const float *rows, size_t num, uint32_t *nearest) {
    const psfm_codebook *c = f->codebook;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)num, (int)c->num_words, (int)c->size,
                1.0F, rows, (int)c->size, c->words, (int)c->size, 0.0F, f->product,
                (int)c->num_words);
    for (size_t k = 0; k < num; ++k) {
        const float *product = f->product + k * c->num_words;
        uint32_t best = 0;
        for (uint32_t w = 1; w < c->num_words; ++w)
            if (product[w] - f->half[w] > product[best] - f->half[best])
                best = w;
        nearest[k] = best;
    }
}

/* ---- k-means ---- */

/* Words move to the means of their rows; one without rows stays. */
static void move_words(const float *rows, size_t num, const uint32_t *nearest, double *sum,
                       size_t *count, psfm_codebook *c) {
    memset(sum, 0, c->num_words * c->size * sizeof *sum);
    memset(count, 0, c->num_words * sizeof *count);
    for (size_t k = 0; k < num; ++k) {
        double *own = sum + nearest[k] * c->size;
        ++count[nearest[k]];
        for (size_t i = 0; i < c->size; ++i)
            own[i] += (double)rows[k * c->size + i];
    }
    for (size_t w = 0; w < c->num_words; ++w)
        for (size_t i = 0; count[w] > 0 && i < c->size; ++i)
            c->words[w * c->size + i] = (float)(sum[w * c->size + i] / (double)count[w]);
}

psfm_status psfm_codebook_train(psfm_context *ctx, const float *rows, size_t num, size_t size,
                                size_t most, psfm_codebook *codebook) {
    size_t fair = num / ROWS_PER_WORD, words = fair < 1 ? 1 : fair < most ? fair : most;
    uint32_t *nearest = NULL;
    double *sum = NULL;
    size_t *count = NULL;
    finder f = {0};
    psfm_status status;
    *codebook = (psfm_codebook){.num_words = words, .size = size};
    if ((status = PSFM_ALLOC(ctx, words * size, &codebook->words)) ||
        (status = PSFM_ALLOC(ctx, num, &nearest)) ||
        (status = PSFM_ALLOC(ctx, words * size, &sum)) ||
        (status = PSFM_ALLOC(ctx, words, &count)) || (status = finder_init(ctx, codebook, &f)))
        goto cleanup;
    for (size_t w = 0; num > 0 && w < words; ++w) /* rows in no particular order, evenly taken */
        memcpy(codebook->words + w * size, rows + w * num / words * size, size * sizeof *rows);
    for (int round = 0; round < ROUNDS; ++round) {
        weigh_words(&f);
        for (size_t k = 0; k < num; k += BLOCK)
            find_nearest(&f, rows + k * size, num - k < BLOCK ? num - k : BLOCK, nearest + k);
        move_words(rows, num, nearest, sum, count, codebook);
    }

cleanup:
    free(nearest);
    free(sum);
    free(count);
    finder_free(&f);
    return status;
}

/* ---- images ---- */

static void normalize_vector(float *x, size_t size) {
    double square = 0.0;
    for (size_t i = 0; i < size; ++i)
        square += (double)x[i] * (double)x[i];
    float factor = square > 0.0 ? (float)(1.0 / sqrt(square)) : 0.0F;
    for (size_t i = 0; i < size; ++i)
        x[i] *= factor;
}

psfm_status psfm_vlad_encode(psfm_context *ctx, const psfm_codebook *codebook,
                             const psfm_keypoint_set *set, float *out) {
    const psfm_codebook *c = codebook;
    float *rows = NULL;
    uint32_t nearest[BLOCK];
    finder f;
    psfm_status status = finder_init(ctx, codebook, &f);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, BLOCK * c->size, &rows);
    if (status != PSFM_OK)
        goto cleanup;
    weigh_words(&f);
    memset(out, 0, c->num_words * c->size * sizeof *out);
    for (size_t k = 0; k < set->num; k += BLOCK) {
        size_t num = set->num - k < BLOCK ? set->num - k : BLOCK;
        for (size_t i = 0; i < num; ++i)
            psfm_descriptor_unit(set, k + i, rows + i * c->size);
        find_nearest(&f, rows, num, nearest);
        for (size_t i = 0; i < num; ++i)
            for (size_t d = 0; d < c->size; ++d)
                out[nearest[i] * c->size + d] +=
                    rows[i * c->size + d] - c->words[nearest[i] * c->size + d];
    }
    for (size_t w = 0; w < c->num_words; ++w)
        normalize_vector(out + w * c->size, c->size);
    normalize_vector(out, c->num_words * c->size);

cleanup:
    finder_free(&f);
    free(rows);
    return status;
}
