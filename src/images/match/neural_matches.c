/* Mutual best entries of a score matrix.
 *
 * Scores are gain z_ij + row_shift_i + column_shift_j. The best column of a row does not depend on
 * the row's shift, nor the best row of a column on the column's, so the sums are never stored: two
 * passes over z, by blocks of rows and of columns. */
#include "images/match/neural_matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define BLOCK_ROWS 32
#define BLOCK_COLUMNS 64

typedef struct {
    const psfm_score_matrix *s;
    uint32_t *best_of_row, *best_of_column;
    float *value_of_row;
} mutual_job;

void psfm_neural_matches_free(psfm_neural_matches *matches) {
    psfm_match_list_free(&matches->list);
    free(matches->confidence);
    *matches = (psfm_neural_matches){0};
}

static void rows_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)nn, (void)memory;
    const mutual_job *job = user;
    const psfm_score_matrix *s = job->s;
    for (size_t i = index * BLOCK_ROWS; i < s->num_rows && i < (index + 1) * BLOCK_ROWS; ++i) {
        const float *row = s->z + i * s->ld;
        float best = -INFINITY;
        uint32_t at = 0;
        for (size_t j = 0; j < s->num_columns; ++j) {
            float value = s->gain * row[j] + s->column_shift[j];
            if (value > best) {
                best = value;
                at = (uint32_t)j;
            }
        }
        job->best_of_row[i] = at;
        job->value_of_row[i] = best + s->row_shift[i];
    }
}

static void columns_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)nn, (void)memory;
    const mutual_job *job = user;
    const psfm_score_matrix *s = job->s;
    size_t begin = index * BLOCK_COLUMNS, num = s->num_columns - begin;
    float best[BLOCK_COLUMNS];
    uint32_t at[BLOCK_COLUMNS] = {0};
    num = num < BLOCK_COLUMNS ? num : BLOCK_COLUMNS;
    for (size_t j = 0; j < BLOCK_COLUMNS; ++j)
        best[j] = -INFINITY;
    for (size_t i = 0; i < s->num_rows; ++i) {
        const float *row = s->z + i * s->ld + begin;
        for (size_t j = 0; j < num; ++j) {
            float value = s->gain * row[j] + s->row_shift[i];
            at[j] = value > best[j] ? (uint32_t)i : at[j];
            best[j] = value > best[j] ? value : best[j];
        }
    }
    for (size_t j = 0; j < num; ++j)
        job->best_of_column[begin + j] = at[j];
}

static psfm_status collect_matches(psfm_context *ctx, const mutual_job *job, float threshold,
                                   psfm_neural_matches *m) {
    size_t n = job->s->num_rows;
    psfm_status status = PSFM_ALLOC(ctx, n, &m->list.matches);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &m->confidence);
    for (size_t i = 0; status == PSFM_OK && i < n; ++i) {
        uint32_t j = job->best_of_row[i];
        float confidence = expf(job->value_of_row[i]);
        if (job->best_of_column[j] != i || !(confidence > threshold))
            continue;
        m->confidence[m->list.num] = confidence;
        m->list.matches[m->list.num][0] = (uint32_t)i;
        m->list.matches[m->list.num++][1] = j;
    }
    if (status != PSFM_OK)
        psfm_neural_matches_free(m);
    return status;
}

psfm_status psfm_mutual_matches(psfm_context *ctx, psfm_engine *nn, const psfm_score_matrix *scores,
                                float threshold, psfm_neural_matches *matches) {
    size_t rows = scores->num_rows, columns = scores->num_columns;
    mutual_job job = {.s = scores};
    *matches = (psfm_neural_matches){0};
    if (rows == 0 || columns == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, rows + columns, &job.best_of_row);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, rows, &job.value_of_row);
    if (status != PSFM_OK)
        goto cleanup;
    job.best_of_column = job.best_of_row + rows;
    status = psfm_engine_run(ctx, nn, (rows + BLOCK_ROWS - 1) / BLOCK_ROWS, 0, rows_task, &job);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, nn, (columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS, 0,
                                 columns_task, &job);
    if (status == PSFM_OK)
        status = collect_matches(ctx, &job, threshold, matches);
cleanup:
    free(job.best_of_row);
    free(job.value_of_row);
    return status;
}

static int compare_falling(const void *a, const void *b) {
    const float *p = a, *q = b;
    return *p > *q ? -1 : *p < *q;
}

psfm_status psfm_neural_matches_prune(psfm_context *ctx, double confident, size_t at_least,
                                      psfm_neural_matches *matches) {
    size_t num = matches->list.num, kept = 0;
    float *sorted = NULL, least = (float)confident;
    if (num <= at_least || confident <= 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, num, &sorted);
    if (status != PSFM_OK) {
        psfm_neural_matches_free(matches);
        return status;
    }
    memcpy(sorted, matches->confidence, num * sizeof *sorted);
    qsort(sorted, num, sizeof *sorted, compare_falling);
    if (at_least > 0 && sorted[at_least - 1] < least)
        least = sorted[at_least - 1];
    free(sorted);
    for (size_t k = 0; k < num; ++k) {
        if (matches->confidence[k] < least)
            continue;
        memmove(matches->list.matches[kept], matches->list.matches[k],
                sizeof *matches->list.matches);
        matches->confidence[kept++] = matches->confidence[k];
    }
    matches->list.num = kept;
    return PSFM_OK;
}
