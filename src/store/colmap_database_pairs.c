/* Pairs of a COLMAP database. A pair is stored under pair_id = (2^31 - 1) * id1 + id2 with
 * id1 < id2. Databases of other programs also have pairs with id1 > id2; their columns are swapped
 * then. Rows of images that were deleted stay behind in COLMAP's databases and are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "formats/little_endian.h"
#include "store/colmap_database_internal.h"

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

/* Whether the pair was added before: in an earlier pass, or just now (a pass reads its rows in
 * order, so that rows for the same pair follow each other). */
static bool has_pair(const loader *load, const psfm_match_pair *pair) {
    const psfm_match_set *set = load->set;
    if (set->num_pairs > load->num_sorted &&
        psfm_compare_u32_pair(&set->pairs[set->num_pairs - 1], pair) == 0)
        return true;
    return load->num_sorted > 0 &&
           bsearch(pair, set->pairs, load->num_sorted, sizeof *pair, psfm_compare_u32_pair) != NULL;
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
    psfm_status status = PSFM_OK;
    load->num_sorted = set->num_pairs;
    while (psfm_sql_next(load->sql, statement, &status))
        status = load_row(load, statement, swapped_pass);
    sqlite3_reset(statement);
    if (set->num_pairs > 1)
        qsort(set->pairs, set->num_pairs, sizeof *set->pairs, psfm_compare_u32_pair);
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
    psfm_status status = psfm_sql_prepare(sql, query, NULL, 0, &statement);
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

/* Our verification in COLMAP's own terms. COLMAP keeps one geometry per pair, as row-major doubles:
 *   E    x2^T E x1 = 0 on normalised coordinates, E = [t_21]_x R_21
 *   F    the same on pixels, F = K2^-T E K1^-1
 *   H    pixels of image 1 to pixels of image 2, H = K2 H_21 K1^-1
 *   qvec, tvec   X2 = R(qvec) X1 + tvec
 * K is the linear part of a camera; COLMAP, too, leaves the distortion out when it decomposes H.
 * Image 1 is the one with the smaller id. Pairs that the set has the other way round are turned.
 * Its incremental mapper only looks at the inliers and the config; its global one at all of it. */

enum { CONFIG_DEGENERATE = 1, CONFIG_CALIBRATED = 2, CONFIG_PLANAR = 4, CONFIG_PANORAMIC = 5 };

/* One row, ready to be bound; what a pair does not have stays NULL. */
typedef struct {
    int config;
    unsigned char F[72], E[72], H[72], qvec[32], tvec[24];
    bool has_pose, has_homography;
    unsigned char *matches; /* scratch, 8 bytes each; owned */
    size_t num_matches, capacity;
    bool *is_inlier; /* scratch, per match of the pair; owned */
    size_t flag_capacity;
} geometry;

/* K and its inverse. */
static void linear_part(const psfm_camera *camera, double K[9], double K_inverse[9]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double fx = camera->params[info->focal[0]], fy = camera->params[info->focal[1]];
    double cx = camera->params[info->center[0]], cy = camera->params[info->center[1]];
    const double matrix[9] = {fx, 0, cx, 0, fy, cy, 0, 0, 1};
    const double inverse[9] = {1 / fx, 0, -cx / fx, 0, 1 / fy, -cy / fy, 0, 0, 1};
    memcpy(K, matrix, sizeof matrix);
    memcpy(K_inverse, inverse, sizeof inverse);
}

/* R and t of image 1 to image 2. */
static void orient_pose(const psfm_essential *essential, bool is_turned, double R[9], double t[3]) {
    memcpy(R, essential->R_21, 9 * sizeof *R);
    memcpy(t, essential->t_21, 3 * sizeof *t);
    if (!is_turned)
        return;
    psfm_mat3_transpose(essential->R_21, R);
    psfm_mat3_tmul_vec(essential->R_21, essential->t_21, t);
    for (int k = 0; k < 3; ++k)
        t[k] = -t[k];
}

static void describe_pose(const double R[9], const double t[3], const double K1_inverse[9],
                          const double K2_inverse[9], geometry *g) {
    const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    double E[9], F[9], product[9], q[4];
    psfm_mat3_mul(cross, R, E);
    psfm_mat3_t_mul(K2_inverse, E, product);
    psfm_mat3_mul(product, K1_inverse, F);
    psfm_rotation_to_quat(R, q);
    psfm_put_f64s(E, 9, g->E);
    psfm_put_f64s(F, 9, g->F);
    psfm_put_f64s(q, 4, g->qvec);
    psfm_put_f64s(t, 3, g->tvec);
    g->has_pose = true;
}

static void describe_homography(const double H_rays[9], const double K1_inverse[9],
                                const double K2[9], geometry *g) {
    double H[9], product[9];
    psfm_mat3_mul(K2, H_rays, product);
    psfm_mat3_mul(product, K1_inverse, H);
    psfm_put_f64s(H, 9, g->H);
    g->has_homography = true;
}

static void mark_inliers(const uint32_t *inliers, size_t num, bool *is_inlier) {
    for (size_t k = 0; k < num; ++k)
        is_inlier[inliers[k]] = true;
}

static psfm_status collect_matches(psfm_context *ctx, const psfm_match_set *set,
                                   const psfm_match_pair *pair, const psfm_two_view *two_view,
                                   bool is_turned, geometry *g) {
    psfm_status status = PSFM_RESERVE(ctx, &g->is_inlier, &g->flag_capacity, pair->num_matches);
    if (status == PSFM_OK)
        status = psfm_reserve(ctx, &g->matches, &g->capacity, pair->num_matches, 8);
    if (status != PSFM_OK)
        return status;
    if (pair->num_matches > 0)
        memset(g->is_inlier, 0, pair->num_matches);
    for (size_t k = 0; k < two_view->num_homographies; ++k)
        mark_inliers(two_view->homographies[k].inliers, two_view->homographies[k].num_inliers,
                     g->is_inlier);
    if (g->config == CONFIG_CALIBRATED)
        mark_inliers(two_view->essential.inliers, two_view->essential.num_inliers, g->is_inlier);
    g->num_matches = 0;
    for (size_t k = 0; k < pair->num_matches && g->config != CONFIG_DEGENERATE; ++k) {
        if (!g->is_inlier[k])
            continue;
        const uint32_t keypoints[2] = {
            psfm_view_origin(&set->views[pair->view1], pair->matches[k][0]),
            psfm_view_origin(&set->views[pair->view2], pair->matches[k][1])};
        psfm_put_u32(keypoints[is_turned], g->matches + 8 * g->num_matches);
        psfm_put_u32(keypoints[!is_turned], g->matches + 8 * g->num_matches + 4);
        ++g->num_matches;
    }
    return PSFM_OK;
}

static int choose_config(const psfm_two_view *two_view) {
    if (two_view->kind == PSFM_PAIR_ROTATION)
        return CONFIG_PANORAMIC;
    if (two_view->essential.found && !two_view->essential.is_degenerate)
        return CONFIG_CALIBRATED;
    return two_view->num_homographies > 0 ? CONFIG_PLANAR : CONFIG_DEGENERATE;
}

static psfm_status describe_pair(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_match_pair *pair, const psfm_two_view *two_view,
                                 geometry *g) {
    const psfm_view *view1 = &set->views[pair->view1], *view2 = &set->views[pair->view2];
    bool is_turned = view1->id > view2->id;
    double K1[9], K1_inverse[9], K2[9], K2_inverse[9], R[9], t[3], H[9];
    linear_part(&set->cameras[(is_turned ? view2 : view1)->camera_idx], K1, K1_inverse);
    linear_part(&set->cameras[(is_turned ? view1 : view2)->camera_idx], K2, K2_inverse);
    g->config = choose_config(two_view);
    g->has_pose = g->has_homography = false;
    if (g->config == CONFIG_CALIBRATED) {
        orient_pose(&two_view->essential, is_turned, R, t);
        describe_pose(R, t, K1_inverse, K2_inverse, g);
    }
    if (two_view->num_homographies > 0) {
        memcpy(H, two_view->homographies[0].H_21, sizeof H);
        if (!is_turned || psfm_mat3_inverse(two_view->homographies[0].H_21, H))
            describe_homography(H, K1_inverse, K2, g);
    }
    return collect_matches(ctx, set, pair, two_view, is_turned, g);
}

static psfm_status write_geometry(psfm_sql *sql, sqlite3_stmt *statement, int64_t pair_id,
                                  const geometry *g) {
    const psfm_sql_value none = {.kind = PSFM_SQL_NULL};
    const psfm_sql_value values[] = {psfm_sql_int(pair_id),
                                     psfm_sql_int((int64_t)g->num_matches),
                                     psfm_sql_int(g->config),
                                     psfm_sql_blob(g->matches, 8 * g->num_matches),
                                     g->has_homography ? psfm_sql_blob(g->H, sizeof g->H) : none,
                                     psfm_sql_blob(g->F, sizeof g->F),
                                     psfm_sql_blob(g->E, sizeof g->E),
                                     psfm_sql_blob(g->qvec, sizeof g->qvec),
                                     psfm_sql_blob(g->tvec, sizeof g->tvec)};
    return psfm_sql_run(sql, statement, values, g->has_pose ? 9 : 5);
}

psfm_status psfm_database_write_colmap_geometries(psfm_context *ctx, const char *path,
                                                  const psfm_match_set *set,
                                                  const psfm_two_view *two_views) {
    psfm_sql sql;
    sqlite3_stmt *statement = NULL;
    geometry g = {0};
    psfm_status status = psfm_sql_open_for_writing(ctx, path, &sql);
    sql.doing = "cannot write the table two_view_geometries";
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "BEGIN IMMEDIATE");
    if (status == PSFM_OK)
        status = psfm_database_need_geometries(&sql);
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "DELETE FROM two_view_geometries");
    if (status == PSFM_OK)
        status =
            psfm_sql_prepare(&sql,
                             "INSERT INTO two_view_geometries (pair_id, rows, cols, config, data, "
                             "H, F, E, qvec, tvec) VALUES (?1, ?2, 2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                             NULL, 0, &statement);
    for (size_t k = 0; status == PSFM_OK && k < set->num_pairs; ++k) {
        status = describe_pair(ctx, set, &set->pairs[k], &two_views[k], &g);
        if (status == PSFM_OK)
            status =
                write_geometry(&sql, statement, psfm_database_pair_id(set, &set->pairs[k]), &g);
    }
    if (status == PSFM_OK)
        status = psfm_sql_exec(&sql, "COMMIT");
    sqlite3_finalize(statement);
    psfm_sql_close(&sql);
    free(g.matches);
    free(g.is_inlier);
    return status;
}
