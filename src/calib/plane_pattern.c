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

static void number_blocks(const psfm_plane_adjustment *a, const psfm_plane_edge *edge,
                          uint32_t block[4]) {
    const psfm_plane_problem *p = a->p;
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

psfm_status psfm_plane_pattern_make(psfm_context *ctx, psfm_plane_adjustment *a) {
    const psfm_plane_problem *p = a->p;
    psfm_block_pattern *pattern = &a->pattern;
    entry *entries = NULL;
    size_t num = 0, most = 10 * p->num_edges + p->num_groups + p->num_sights;
    pattern->num_blocks = (uint32_t)(p->num_groups + p->num_sights);
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &entries)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &pattern->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, pattern->num_blocks + 1, &pattern->row_begin)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < pattern->num_blocks; ++k) {
        pattern->scalar_begin[k + 1] =
            pattern->scalar_begin[k] + (k < p->num_groups ? PSFM_GROUP_DIM : PSFM_SIGHT_DIM);
        entries[num++] = (entry){k, k};
    }
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t *block = a->places[e].block;
        number_blocks(a, &p->edges[e], block);
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                entries[num++] =
                    block[i] < block[j] ? (entry){block[i], block[j]} : (entry){block[j], block[i]};
    }
    fill_pattern(entries, num, pattern);
    for (size_t e = 0; e < p->num_edges; ++e) {
        psfm_edge_place *place = &a->places[e];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                if (place->block[i] <= place->block[j])
                    place->slot[i][j] = find_slot(pattern, place->block[i], place->block[j]);
    }
    status = psfm_block_spd_create(ctx, pattern, &a->spd);

cleanup:
    free(entries);
    return status;
}
