/* Sparse Cholesky of a matrix made of small dense blocks.
 *
 * A is kept as CHOLMOD wants it, upper triangle by columns. In each scalar column of block column
 * C the block (R, C) is a run of consecutive entries, and the run starts at the same distance from
 * the column's begin in all columns of C: the rows of the blocks above it. So one offset per block
 * says where its entries go, and different blocks can be set from different threads. */
#include "core/linalg/block_spd.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/cholmod_solve.h"
#include "core/linalg/selected_inverse.h"

struct psfm_block_spd {
    cholmod_common common;
    cholmod_sparse *A;
    cholmod_factor *L;
    psfm_cholmod_memory memory;
    uint32_t num_blocks;
    uint32_t *scalar_begin; /* num_blocks + 1 */
    uint32_t *block_row;    /* per block of the pattern */
    uint32_t *block_col;
    size_t *offset; /* of the block's run in each scalar column */
};

void psfm_block_pattern_free(psfm_block_pattern *pattern) {
    free(pattern->scalar_begin);
    free(pattern->row_begin);
    free(pattern->col);
    *pattern = (psfm_block_pattern){0};
}

static uint32_t block_size(const psfm_block_spd *spd, uint32_t b) {
    return spd->scalar_begin[b + 1] - spd->scalar_begin[b];
}

/* Rows are visited in ascending order, so that `height` (rows so far in each block column) gives
 * each block's offset. Returns the number of scalar entries of the upper triangle. */
static size_t place_blocks(psfm_block_spd *spd, const psfm_block_pattern *p, size_t *height) {
    size_t entries = 0;
    for (uint32_t r = 0; r < p->num_blocks; ++r) {
        for (size_t k = p->row_begin[r]; k < p->row_begin[r + 1]; ++k) {
            uint32_t c = p->col[k];
            size_t size = block_size(spd, r);
            spd->block_row[k] = r;
            spd->block_col[k] = c;
            spd->offset[k] = height[c];
            height[c] += size;
            entries += r == c ? size * (size + 1) / 2 : size * block_size(spd, c);
        }
    }
    return entries;
}

static void fill_columns(psfm_block_spd *spd, size_t num_pattern, const size_t *height) {
    SuiteSparse_long *begin = spd->A->p;
    SuiteSparse_long *index = spd->A->i;
    begin[0] = 0;
    for (uint32_t c = 0; c < spd->num_blocks; ++c) {
        uint32_t size = block_size(spd, c), first = spd->scalar_begin[c];
        for (uint32_t v = 0; v < size; ++v) /* the diagonal block closes the column */
            begin[first + v + 1] =
                begin[first + v] + (SuiteSparse_long)(height[c] - size) + (SuiteSparse_long)v + 1;
    }
    for (size_t k = 0; k < num_pattern; ++k) {
        uint32_t r = spd->block_row[k], c = spd->block_col[k];
        for (uint32_t v = 0; v < block_size(spd, c); ++v) {
            uint32_t rows = r == c ? v + 1 : block_size(spd, r);
            SuiteSparse_long *run =
                index + begin[spd->scalar_begin[c] + v] + (SuiteSparse_long)spd->offset[k];
            for (uint32_t u = 0; u < rows; ++u)
                run[u] = spd->scalar_begin[r] + u;
        }
    }
}

static psfm_status check_pattern(psfm_context *ctx, const psfm_block_pattern *p) {
    for (uint32_t r = 0; r < p->num_blocks; ++r) {
        size_t first = p->row_begin[r], end = p->row_begin[r + 1];
        bool good = first < end && p->col[first] == r && p->col[end - 1] < p->num_blocks &&
                    p->scalar_begin[r] < p->scalar_begin[r + 1];
        for (size_t k = first + 1; good && k < end; ++k)
            good = p->col[k - 1] < p->col[k];
        if (!good)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "block row %u: columns must ascend from the diagonal", r);
    }
    return PSFM_OK;
}

static psfm_status build_system(psfm_context *ctx, const psfm_block_pattern *p,
                                psfm_block_spd *spd) {
    size_t num_pattern = p->row_begin[p->num_blocks], n = p->scalar_begin[p->num_blocks];
    size_t *height = NULL;
    psfm_status status = PSFM_ALLOC(ctx, p->num_blocks, &height);
    if (status != PSFM_OK)
        return status;
    memcpy(spd->scalar_begin, p->scalar_begin,
           ((size_t)p->num_blocks + 1) * sizeof *p->scalar_begin);
    size_t entries = place_blocks(spd, p, height);
    spd->A = cholmod_l_allocate_sparse(n, n, entries, 1, 1, 1, CHOLMOD_REAL, &spd->common);
    if (spd->A == NULL) {
        status = psfm_cholmod_failure(ctx, &spd->common, "block", "allocation");
        goto cleanup;
    }
    fill_columns(spd, num_pattern, height);
    memset(spd->A->x, 0, entries * sizeof(double));
    status = psfm_cholmod_analyze(ctx, spd->A, &spd->common, "block", &spd->L);

cleanup:
    free(height);
    return status;
}

psfm_status psfm_block_spd_create(psfm_context *ctx, const psfm_block_pattern *pattern,
                                  psfm_block_spd **spd) {
    *spd = NULL;
    psfm_block_spd *made = NULL;
    psfm_status status = check_pattern(ctx, pattern);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &made);
    if (status != PSFM_OK)
        return status;
    psfm_cholmod_start(&made->common);
    made->common.supernodal = CHOLMOD_SUPERNODAL; /* columns of a block have the same pattern */
    made->num_blocks = pattern->num_blocks;
    size_t num_pattern = pattern->row_begin[pattern->num_blocks];
    if ((status = PSFM_ALLOC(ctx, (size_t)made->num_blocks + 1, &made->scalar_begin)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_pattern, &made->block_row)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_pattern, &made->block_col)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_pattern, &made->offset)) == PSFM_OK)
        status = build_system(ctx, pattern, made);
    if (status != PSFM_OK)
        psfm_block_spd_destroy(&made);
    *spd = made;
    return status;
}

void psfm_block_spd_set(psfm_block_spd *spd, size_t k, const double *block) {
    uint32_t r = spd->block_row[k], c = spd->block_col[k];
    uint32_t num_rows = block_size(spd, r), num_cols = block_size(spd, c);
    const SuiteSparse_long *begin = spd->A->p;
    double *entry = spd->A->x;
    for (uint32_t v = 0; v < num_cols; ++v) {
        double *run = entry + begin[spd->scalar_begin[c] + v] + (SuiteSparse_long)spd->offset[k];
        uint32_t rows = r == c ? v + 1 : num_rows;
        for (uint32_t u = 0; u < rows; ++u)
            run[u] = block[u * num_cols + v];
    }
}

psfm_status psfm_block_spd_factor(psfm_context *ctx, psfm_block_spd *spd) {
    return psfm_cholmod_factor(ctx, spd->A, spd->L, &spd->common, "block");
}

psfm_status psfm_block_spd_solve(psfm_context *ctx, psfm_block_spd *spd, size_t num_rhs,
                                 const double *b, double *x) {
    return psfm_cholmod_solve(ctx, spd->L, &spd->common, "block", &spd->memory, num_rhs, b, x);
}

void psfm_block_spd_cost(const psfm_block_spd *spd, double *operations, double *entries) {
    *operations = spd->common.fl;
    *entries = spd->common.lnz;
}

size_t psfm_block_spd_fill(const psfm_block_spd *spd) {
    if (spd->L->xtype == CHOLMOD_PATTERN)
        return 0;
    return spd->L->xsize;
}

/* Diagonal blocks of the inverse, from all entries where the factor has any. */
static psfm_status invert_all(psfm_context *ctx, const psfm_block_spd *spd,
                              const psfm_block_range *range) {
    psfm_selected_inverse inverse;
    psfm_status status = psfm_selected_inverse_make(ctx, spd->L, &inverse);
    for (uint32_t b = range->first; status == PSFM_OK && b < range->first + range->num; ++b) {
        uint32_t begin = spd->scalar_begin[b], m = spd->scalar_begin[b + 1] - begin;
        for (uint32_t k = 0; k < m * m; ++k)
            range->out[range->begin[b] + k] =
                psfm_selected_inverse_entry(&inverse, begin + k / m, begin + k % m);
    }
    psfm_selected_inverse_free(&inverse);
    return status;
}

/* The same by solving for the columns. */
static psfm_status invert_few(psfm_context *ctx, psfm_block_spd *spd,
                              const psfm_block_range *range) {
    double *column = NULL;
    size_t n = spd->L->n;
    psfm_status status = PSFM_ALLOC(ctx, n, &column);
    for (uint32_t b = range->first; status == PSFM_OK && b < range->first + range->num; ++b) {
        uint32_t begin = spd->scalar_begin[b], m = spd->scalar_begin[b + 1] - begin;
        for (uint32_t v = 0; status == PSFM_OK && v < m; ++v) {
            memset(column, 0, n * sizeof *column);
            column[begin + v] = 1.0;
            status = psfm_block_spd_solve(ctx, spd, 1, column, column);
            for (uint32_t u = 0; status == PSFM_OK && u < m; ++u)
                range->out[range->begin[b] + u * m + v] = column[begin + u];
        }
    }
    free(column);
    return status;
}

psfm_status psfm_block_spd_inverse(psfm_context *ctx, psfm_block_spd *spd,
                                   const psfm_block_range *range) {
    const double solve = 4.0; /* operations for a column over the entries of L */
    double wanted =
        (double)(spd->scalar_begin[range->first + range->num] - spd->scalar_begin[range->first]);
    bool few = wanted * solve * spd->common.lnz < 2.0 * spd->common.fl;
    return few ? invert_few(ctx, spd, range) : invert_all(ctx, spd, range);
}

void psfm_block_spd_destroy(psfm_block_spd **spd) {
    if (spd == NULL || *spd == NULL)
        return;
    psfm_block_spd *s = *spd;
    psfm_cholmod_memory_free(&s->memory, &s->common);
    cholmod_l_free_factor(&s->L, &s->common);
    cholmod_l_free_sparse(&s->A, &s->common);
    cholmod_l_finish(&s->common);
    free(s->scalar_begin);
    free(s->block_row);
    free(s->block_col);
    free(s->offset);
    free(s);
    *spd = NULL;
}
