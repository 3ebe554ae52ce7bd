/* Our verification in COLMAP's own terms. COLMAP keeps one geometry per pair, as row-major doubles:
 *   E    x2^T E x1 = 0 on normalised coordinates, E = [t_21]_x R_21
 *   F    the same on pixels, F = K2^-T E K1^-1
 *   H    pixels of image 1 to pixels of image 2, H = K2 H_21 K1^-1
 *   qvec, tvec   X2 = R(qvec) X1 + tvec
 * K is the linear part of a camera; COLMAP, too, leaves the distortion out when it decomposes H.
 * Image 1 is the one with the smaller id. Pairs that the set has the other way round are turned.
 * Its incremental mapper only looks at the inliers and the config; its global one at all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "camera/camera_model.h"
#include "io/colmap_database_internal.h"
#include "io/little_endian.h"
#include "linalg/mat3.h"

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

static void mark(const uint32_t *inliers, size_t num, bool *is_inlier) {
    for (size_t k = 0; k < num; ++k)
        is_inlier[inliers[k]] = true;
}

static psfm_status collect_matches(psfm_context *ctx, const psfm_match_pair *pair,
                                   const psfm_two_view *two_view, bool is_turned, geometry *g) {
    psfm_status status = PSFM_RESERVE(ctx, &g->is_inlier, &g->flag_capacity, pair->num_matches);
    if (status == PSFM_OK)
        status = psfm_reserve(ctx, &g->matches, &g->capacity, pair->num_matches, 8);
    if (status != PSFM_OK)
        return status;
    if (pair->num_matches > 0)
        memset(g->is_inlier, 0, pair->num_matches);
    for (size_t k = 0; k < two_view->num_homographies; ++k)
        mark(two_view->homographies[k].inliers, two_view->homographies[k].num_inliers,
             g->is_inlier);
    if (g->config == CONFIG_CALIBRATED)
        mark(two_view->essential.inliers, two_view->essential.num_inliers, g->is_inlier);
    g->num_matches = 0;
    for (size_t k = 0; k < pair->num_matches && g->config != CONFIG_DEGENERATE; ++k) {
        if (!g->is_inlier[k])
            continue;
        psfm_put_u32(pair->matches[k][is_turned], g->matches + 8 * g->num_matches);
        psfm_put_u32(pair->matches[k][!is_turned], g->matches + 8 * g->num_matches + 4);
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
    return collect_matches(ctx, pair, two_view, is_turned, g);
}

static psfm_status write_geometry(psfm_sql *sql, sqlite3_stmt *statement, int64_t pair_id,
                                  const geometry *g) {
    const struct {
        const unsigned char *bytes;
        size_t size;
        int parameter;
        bool is_there;
    } blobs[] = {
        {g->F, sizeof g->F, 4, g->has_pose},       {g->E, sizeof g->E, 5, g->has_pose},
        {g->H, sizeof g->H, 6, g->has_homography}, {g->qvec, sizeof g->qvec, 7, g->has_pose},
        {g->tvec, sizeof g->tvec, 8, g->has_pose}, {g->matches, 8 * g->num_matches, 9, true}};
    sqlite3_bind_int64(statement, 1, pair_id);
    sqlite3_bind_int64(statement, 2, (int64_t)g->num_matches);
    sqlite3_bind_int(statement, 3, g->config);
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof blobs / sizeof blobs[0]; ++k)
        if (blobs[k].is_there)
            status = psfm_sql_bind_blob(sql, statement, blobs[k].parameter, blobs[k].bytes,
                                        blobs[k].size);
    return status == PSFM_OK ? psfm_sql_run(sql, statement) : status;
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
                             "INSERT INTO two_view_geometries (pair_id, rows, cols, config, F, "
                             "E, H, qvec, tvec, data) VALUES (?1, ?2, 2, ?3, ?4, ?5, ?6, ?7, "
                             "?8, ?9)",
                             &statement);
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
