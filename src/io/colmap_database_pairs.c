/* Pairs of a COLMAP database. A pair is stored under pair_id = (2^31 - 1) * id1 + id2 with
 * id1 < id2. Databases of other programs also have pairs with id1 > id2; their columns are swapped
 * then. Rows of images that were deleted stay behind in COLMAP's databases and are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/colmap_database_internal.h"
#include "io/little_endian.h"

typedef struct {
    psfm_sql *sql;
    psfm_match_set *set;
    psfm_database_stats *stats;
    bool count_repeats; /* false for a table whose pairs may well have come from the other one */
    size_t num_sorted;  /* pairs of the earlier passes, sorted */
    size_t capacity;
    /* Per keypoint: the last round (pair) in which it was matched, on either side. */
    uint32_t *seen[2];
    uint32_t round;
} loader;

int64_t psfm_database_pair_id(const psfm_match_set *set, const psfm_match_pair *pair) {
    int64_t a = set->views[pair->view1].id, b = set->views[pair->view2].id;
    return PSFM_PAIR_ID_BASE * (a < b ? a : b) + (a < b ? b : a);
}

static bool find_view(const psfm_match_set *set, int64_t id, uint32_t *idx) {
    return id >= 0 && id < UINT32_MAX && psfm_match_set_find_view(set, (uint32_t)id, idx);
}

static int compare_pairs(const void *a, const void *b) {
    const psfm_match_pair *left = a, *right = b;
    if (left->view1 != right->view1)
        return left->view1 < right->view1 ? -1 : 1;
    return left->view2 < right->view2 ? -1 : left->view2 > right->view2;
}

/* Whether the pair was added before: in an earlier pass, or just now (a pass reads its rows in
 * order, so that rows for the same pair follow each other). */
static bool has_pair(const loader *load, const psfm_match_pair *pair) {
    const psfm_match_set *set = load->set;
    if (set->num_pairs > load->num_sorted &&
        compare_pairs(&set->pairs[set->num_pairs - 1], pair) == 0)
        return true;
    return load->num_sorted > 0 &&
           bsearch(pair, set->pairs, load->num_sorted, sizeof *pair, compare_pairs) != NULL;
}

/* Keeps the matches whose keypoints exist and were not matched before in this pair. */
static void filter_matches(loader *load, const unsigned char *data, size_t rows, bool is_swapped,
                           psfm_match_pair *pair) {
    size_t limit1 = load->set->views[pair->view1].num_keypoints;
    size_t limit2 = load->set->views[pair->view2].num_keypoints;
    ++load->round;
    for (size_t k = 0; k < rows; ++k) {
        uint32_t idx1 = psfm_get_u32(data + 8 * k + (is_swapped ? 4 : 0));
        uint32_t idx2 = psfm_get_u32(data + 8 * k + (is_swapped ? 0 : 4));
        if (idx1 >= limit1 || idx2 >= limit2 || load->seen[0][idx1] == load->round ||
            load->seen[1][idx2] == load->round) {
            ++load->stats->num_matches_dropped;
            continue;
        }
        load->seen[0][idx1] = load->seen[1][idx2] = load->round;
        pair->matches[pair->num_matches][0] = idx1;
        pair->matches[pair->num_matches][1] = idx2;
        ++pair->num_matches;
    }
}

static psfm_status add_pair(loader *load, sqlite3_stmt *statement, psfm_match_pair pair,
                            bool is_swapped) {
    psfm_match_set *set = load->set;
    psfm_context *ctx = load->sql->ctx;
    char owner[512];
    size_t rows = 0, cols = 0;
    const unsigned char *data = NULL;
    snprintf(owner, sizeof owner, "matches of images %.200s and %.200s",
             set->views[pair.view1].name, set->views[pair.view2].name);
    psfm_status status =
        psfm_database_get_matrix(load->sql, statement, 1, owner, &rows, &cols, &data);
    if (status != PSFM_OK)
        return status;
    if (cols != 2)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %s have %zu columns, not 2", load->sql->path,
                         owner, cols);
    status = PSFM_RESERVE(ctx, &set->pairs, &load->capacity, set->num_pairs + 1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, rows, &pair.matches);
    if (status != PSFM_OK)
        return status;
    filter_matches(load, data, rows, is_swapped, &pair);
    if (pair.num_matches > 0)
        set->pairs[set->num_pairs++] = pair;
    else
        free(pair.matches);
    return PSFM_OK;
}

/* Handles one row if it is of the pass: its images in order, or swapped. */
static psfm_status load_row(loader *load, sqlite3_stmt *statement, bool swapped_pass) {
    int64_t pair_id = sqlite3_column_int64(statement, 0);
    int64_t id1 = pair_id / PSFM_PAIR_ID_BASE, id2 = pair_id % PSFM_PAIR_ID_BASE;
    if ((id1 > id2) != swapped_pass)
        return PSFM_OK;
    uint32_t first = 0, second = 0;
    if (!find_view(load->set, id1, &first) || !find_view(load->set, id2, &second) ||
        first == second) {
        ++load->stats->num_pairs_unknown;
        return PSFM_OK;
    }
    psfm_match_pair pair = {.view1 = swapped_pass ? second : first,
                            .view2 = swapped_pass ? first : second};
    if (has_pair(load, &pair)) {
        load->stats->num_pairs_repeated += load->count_repeats;
        return PSFM_OK;
    }
    return add_pair(load, statement, pair, swapped_pass);
}

static psfm_status run_pass(loader *load, sqlite3_stmt *statement, bool swapped_pass) {
    psfm_match_set *set = load->set;
    bool has_row = true;
    psfm_status status = PSFM_OK;
    load->num_sorted = set->num_pairs;
    while (status == PSFM_OK) {
        status = psfm_sql_step(load->sql, statement, &has_row);
        if (status != PSFM_OK || !has_row)
            break;
        status = load_row(load, statement, swapped_pass);
    }
    sqlite3_reset(statement);
    if (set->num_pairs > 1)
        qsort(set->pairs, set->num_pairs, sizeof *set->pairs, compare_pairs);
    return status;
}

static psfm_status alloc_seen(loader *load) {
    size_t max_keypoints = 0;
    for (size_t k = 0; k < load->set->num_views; ++k)
        if (load->set->views[k].num_keypoints > max_keypoints)
            max_keypoints = load->set->views[k].num_keypoints;
    psfm_status status = PSFM_OK;
    for (int side = 0; status == PSFM_OK && side < 2; ++side)
        status = PSFM_ALLOC(load->sql->ctx, max_keypoints, &load->seen[side]);
    return status;
}

psfm_status psfm_database_read_pairs(psfm_sql *sql, const char *table, psfm_match_set *set,
                                     psfm_database_stats *stats, size_t *num_added) {
    char query[160], doing[64];
    sqlite3_stmt *statement = NULL;
    size_t num_before = set->num_pairs;
    loader load = {.sql = sql,
                   .set = set,
                   .stats = stats,
                   .count_repeats = strcmp(table, "matches") == 0,
                   .capacity = set->num_pairs};
    snprintf(doing, sizeof doing, "cannot read the table %s", table);
    snprintf(query, sizeof query,
             "SELECT pair_id, rows, cols, data FROM %s WHERE rows IS NOT 0 ORDER BY pair_id",
             table);
    sql->doing = doing;
    psfm_status status = psfm_sql_prepare(sql, query, &statement);
    if (status == PSFM_OK)
        status = alloc_seen(&load);
    /* In order first: where a pair is given both ways, COLMAP's own way counts. */
    for (int swapped = 0; status == PSFM_OK && swapped < 2; ++swapped)
        status = run_pass(&load, statement, swapped == 1);
    *num_added += set->num_pairs - num_before;
    sqlite3_finalize(statement);
    free(load.seen[0]);
    free(load.seen[1]);
    sql->doing = "cannot be read";
    return status;
}
