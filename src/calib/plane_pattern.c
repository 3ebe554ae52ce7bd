/* Which blocks of the normal equations of planes are not zero. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calib/plane_adjust_internal.h"

typedef struct {
    uint32_t row, col;
} entry;

static int by_place(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->col > b->col) - (a->col < b->col);
}

static void number_blocks(const psfm_plane_problem *p, const psfm_plane_edge *edge,
                          uint32_t block[4]) {
    block[0] = p->sights[edge->sight1].group;
    block[1] = p->sights[edge->sight2].group;
    block[2] = (uint32_t)p->num_groups + edge->sight1;
    block[3] = (uint32_t)p->num_groups + edge->sight2;
}

static size_t find_slot(const psfm_block_pattern *pattern, uint32_t row, uint32_t col) {
    size_t low = pattern->row_begin[row], high = pattern->row_begin[row + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pattern->col[middle] <= col)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sorts the entries, drops doubles and writes them down by rows. */
static void fill_pattern(entry *entries, size_t num, psfm_block_pattern *pattern) {
    size_t kept = 0;
    qsort(entries, num, sizeof *entries, by_place);
    for (size_t k = 0; k < num; ++k) {
        if (kept > 0 && by_place(&entries[kept - 1], &entries[k]) == 0)
            continue;
        entries[kept] = entries[k];
        pattern->col[kept] = entries[k].col;
        ++pattern->row_begin[entries[k].row + 1];
        ++kept;
    }
    for (uint32_t r = 0; r < pattern->num_blocks; ++r)
        pattern->row_begin[r + 1] += pattern->row_begin[r];
}

/* Lists the blocks that are not zero. */
static size_t list_entries(const psfm_plane_problem *p, psfm_plane_equations *eq, entry *entries) {
    size_t num = 0;
    for (uint32_t k = 0; k < eq->pattern.num_blocks; ++k)
        entries[num++] = (entry){k, k};
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t *block = eq->places[e].block;
        number_blocks(p, &p->edges[e], block);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                entries[num++] =
                    block[i] < block[j] ? (entry){block[i], block[j]} : (entry){block[j], block[i]};
    }
    return num;
}

static void find_slots(psfm_plane_equations *eq, psfm_edge_place *place) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (place->block[i] <= place->block[j])
                place->slot[i][j] = find_slot(&eq->pattern, place->block[i], place->block[j]);
}

static psfm_status make_pattern(psfm_context *ctx, const psfm_plane_problem *p,
                                psfm_plane_equations *eq) {
    psfm_block_pattern *pattern = &eq->pattern;
    entry *entries = NULL;
    size_t most = 10 * p->num_edges + p->num_groups + p->num_sights;
    pattern->num_blocks = (uint32_t)(p->num_groups + p->num_sights);
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &entries)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &pattern->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->row_begin)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < pattern->num_blocks; ++k)
        pattern->scalar_begin[k + 1] =
            pattern->scalar_begin[k] +
            (uint32_t)(k < p->num_groups ? eq->lens_dim : PSFM_SIGHT_DIM);
    fill_pattern(entries, list_entries(p, eq, entries), pattern);
    for (size_t e = 0; e < p->num_edges; ++e)
        find_slots(eq, &eq->places[e]);
    status = psfm_block_spd_create(ctx, pattern, &eq->spd);

cleanup:
    free(entries);
    return status;
}

psfm_status psfm_plane_equations_init(psfm_context *ctx, const psfm_plane_problem *p,
                                      psfm_plane_equations *eq) {
    psfm_status status;
    *eq = (psfm_plane_equations){.lens_dim = p->bend == NULL ? 1 : PSFM_LENS_DIM};
    if ((status = PSFM_ALLOC(ctx, p->num_edges, &eq->places)) != PSFM_OK ||
        (status = make_pattern(ctx, p, eq)) != PSFM_OK)
        return status;
    size_t n = eq->pattern.scalar_begin[eq->pattern.num_blocks];
    if ((status = PSFM_ALLOC(ctx, eq->pattern.row_begin[eq->pattern.num_blocks], &eq->normal)) !=
            PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &eq->rhs)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, n, &eq->step);
}

void psfm_plane_equations_free(psfm_plane_equations *eq) {
    psfm_block_pattern_free(&eq->pattern);
    psfm_block_spd_destroy(&eq->spd);
    free(eq->places);
    free(eq->normal);
    free(eq->rhs);
    free(eq->step);
    *eq = (psfm_plane_equations){0};
}
