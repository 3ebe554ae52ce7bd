/* Reading COLMAP's database.db: cameras, images, keypoints. Columns are asked for by name, so that
 * the additional ones of newer versions do not matter; their additional tables (rigs, frames,
 * pose_priors, ...) are not looked at. Pairs: colmap_database_pairs.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "formats/little_endian.h"
#include "store/colmap_database_internal.h"

static psfm_status need_table(psfm_sql *sql, const char *name) {
    bool exists = false;
    sql->doing = "cannot be read";
    psfm_status status = psfm_sql_has_table(sql, name, &exists);
    if (status == PSFM_OK && !exists)
        status = psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                           "%s: no table %s: this is not a COLMAP database", sql->path, name);
    return status;
}

/* A whole number from 0 to max in a column; `what` names it in the message. */
static psfm_status get_uint(const psfm_sql *sql, sqlite3_stmt *statement, int column,
                            const char *what, int64_t max, int64_t *out) {
    int64_t value = sqlite3_column_int64(statement, column);
    if (sqlite3_column_type(statement, column) != SQLITE_INTEGER)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s is not a whole number", sql->path,
                         what);
    if (value < 0 || value > max)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s %" PRId64 " is out of range", sql->path,
                         what, value);
    *out = value;
    return PSFM_OK;
}

psfm_status psfm_database_get_matrix(const psfm_sql *sql, sqlite3_stmt *statement, int first,
                                     const char *owner, size_t *rows, size_t *cols,
                                     const unsigned char **data) {
    int64_t num_rows = 0, num_cols = 0;
    char what[600];
    snprintf(what, sizeof what, "number of %s", owner);
    psfm_status status = get_uint(sql, statement, first, what, INT32_MAX, &num_rows);
    if (status == PSFM_OK)
        status = get_uint(sql, statement, first + 1, what, INT32_MAX, &num_cols);
    if (status != PSFM_OK)
        return status;
    /* The blob first: sqlite3_column_bytes is valid for the type it left behind. */
    *data = sqlite3_column_blob(statement, first + 2);
    int64_t num_bytes = sqlite3_column_bytes(statement, first + 2);
    if (*data == NULL && num_bytes > 0)
        return psfm_sql_fail(sql);
    if (num_rows * num_cols > INT32_MAX || num_bytes != 4 * num_rows * num_cols)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: %s: %" PRId64 " x %" PRId64 " numbers do not fit %" PRId64 " bytes",
                         sql->path, owner, num_rows, num_cols, num_bytes);
    *rows = (size_t)num_rows;
    *cols = (size_t)num_cols;
    return PSFM_OK;
}

/* Puts path (and reason of the last failure) together. */
static psfm_status prefix_path(const psfm_sql *sql) {
    char reason[PSFM_MESSAGE_SIZE];
    snprintf(reason, sizeof reason, "%s", psfm_context_message(sql->ctx));
    return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s", sql->path, reason);
}

static psfm_status get_params(const psfm_sql *sql, sqlite3_stmt *statement, int column,
                              psfm_camera *camera) {
    int num = psfm_camera_num_params(camera->model);
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    if (bytes == NULL && size > 0)
        return psfm_sql_fail(sql);
    if (bytes == NULL || size != 8 * num)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: camera %" PRIu32 ": %d bytes of parameters, %s takes %d", sql->path,
                         camera->id, size, psfm_camera_model_name(camera->model), 8 * num);
    for (int k = 0; k < num; ++k)
        camera->params[k] = psfm_get_f64(bytes + 8 * (size_t)k);
    return PSFM_OK;
}

static psfm_status get_camera(const psfm_sql *sql, sqlite3_stmt *statement, psfm_camera *camera) {
    int64_t id = 0, model = 0, width = 0, height = 0;
    psfm_status status = get_uint(sql, statement, 0, "camera id", UINT32_MAX - 1, &id);
    if (status == PSFM_OK)
        status = get_uint(sql, statement, 1, "camera model", INT32_MAX, &model);
    if (status == PSFM_OK)
        status = get_uint(sql, statement, 2, "image width", INT64_MAX, &width);
    if (status == PSFM_OK)
        status = get_uint(sql, statement, 3, "image height", INT64_MAX, &height);
    if (status != PSFM_OK)
        return status;
    if (model >= PSFM_NUM_CAMERA_MODELS)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: camera %" PRId64 " has model number %" PRId64 ", which is not known",
                         sql->path, id, model);
    *camera = (psfm_camera){.id = (uint32_t)id,
                            .model = (psfm_camera_model)model,
                            .width = (uint64_t)width,
                            .height = (uint64_t)height,
                            .has_prior_focal_length = sqlite3_column_int(statement, 5) != 0};
    status = get_params(sql, statement, 4, camera);
    if (status == PSFM_OK && psfm_camera_check(sql->ctx, camera) != PSFM_OK)
        status = prefix_path(sql);
    return status;
}

/* Ids come in order; in a damaged file they may not, whatever was asked for. */
static psfm_status check_order(const psfm_sql *sql, const char *what, uint32_t before,
                               uint32_t id) {
    if (before < id)
        return PSFM_OK;
    return before == id
               ? psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s %" PRIu32 " is given twice",
                           sql->path, what, id)
               : psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                           "%s: %s %" PRIu32 " comes after %" PRIu32 ": the file is damaged",
                           sql->path, what, id, before);
}

psfm_status psfm_database_read_cameras(psfm_sql *sql, psfm_match_set *set) {
    psfm_status status = need_table(sql, "cameras");
    if (status != PSFM_OK)
        return status;
    sqlite3_stmt *statement;
    size_t capacity = 0;
    sql->doing = "cannot read the table cameras";
    status = psfm_sql_prepare(sql,
                              "SELECT camera_id, model, width, height, params, prior_focal_length "
                              "FROM cameras ORDER BY camera_id",
                              NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        status = PSFM_RESERVE(sql->ctx, &set->cameras, &capacity, set->num_cameras + 1);
        if (status != PSFM_OK)
            break;
        psfm_camera *camera = &set->cameras[set->num_cameras];
        status = get_camera(sql, statement, camera);
        if (status == PSFM_OK && set->num_cameras > 0)
            status = check_order(sql, "camera", camera[-1].id, camera->id);
        ++set->num_cameras;
    }
    sqlite3_finalize(statement);
    return status;
}

static psfm_status get_name(const psfm_sql *sql, sqlite3_stmt *statement, int column, int64_t id,
                            char **name) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    if (text == NULL && sqlite3_column_type(statement, column) != SQLITE_NULL)
        return psfm_sql_fail(sql);
    if (text == NULL || size == 0)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: image %" PRId64 " has no name", sql->path,
                         id);
    if (strlen(text) != (size_t)size)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: image %" PRId64 ": its name has a zero byte in it", sql->path, id);
    return psfm_strdup(sql->ctx, text, name);
}

static psfm_status get_view(const psfm_sql *sql, sqlite3_stmt *statement, const psfm_match_set *set,
                            psfm_view *view) {
    int64_t id = 0, camera_id = 0;
    psfm_status status = get_uint(sql, statement, 0, "image id", PSFM_PAIR_ID_BASE - 1, &id);
    if (status == PSFM_OK && id == 0)
        status = psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                           "%s: an image has id 0; COLMAP's begin with 1", sql->path);
    if (status == PSFM_OK)
        status = get_name(sql, statement, 1, id, &view->name);
    if (status == PSFM_OK)
        status = get_uint(sql, statement, 2, "camera id of an image", UINT32_MAX - 1, &camera_id);
    if (status != PSFM_OK)
        return status;
    view->id = (uint32_t)id;
    if (!psfm_match_set_find_camera(set, (uint32_t)camera_id, &view->camera_idx))
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                         "%s: image %" PRIu32 " (%.200s): its camera %" PRId64 " does not exist",
                         sql->path, view->id, view->name, camera_id);
    return PSFM_OK;
}

static psfm_status read_images(psfm_sql *sql, psfm_match_set *set) {
    psfm_status status = need_table(sql, "images");
    if (status != PSFM_OK)
        return status;
    sqlite3_stmt *statement;
    size_t capacity = 0;
    sql->doing = "cannot read the table images";
    status = psfm_sql_prepare(sql, "SELECT image_id, name, camera_id FROM images ORDER BY image_id",
                              NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        status = PSFM_RESERVE(sql->ctx, &set->views, &capacity, set->num_views + 1);
        if (status != PSFM_OK)
            break;
        psfm_view *view = &set->views[set->num_views++];
        status = get_view(sql, statement, set, view);
        if (status == PSFM_OK && set->num_views > 1)
            status = check_order(sql, "image", view[-1].id, view->id);
    }
    sqlite3_finalize(statement);
    return status;
}

/* COLMAP keeps names unique; without that a pose could not be told from the other. */
static psfm_status check_names(const psfm_sql *sql, const psfm_match_set *set) {
    const psfm_view *namesakes[2];
    psfm_status status = psfm_match_set_find_namesakes(sql->ctx, set, namesakes);
    if (status == PSFM_OK && namesakes[0] != NULL)
        status = psfm_fail(sql->ctx, PSFM_ERR_FORMAT,
                           "%s: images %" PRIu32 " and %" PRIu32 " have the same name %.200s",
                           sql->path, namesakes[0]->id, namesakes[1]->id, namesakes[0]->name);
    return status;
}

psfm_status psfm_database_get_keypoints(const psfm_sql *sql, sqlite3_stmt *statement,
                                        psfm_view *view) {
    char owner[256];
    size_t rows = 0, cols = 0;
    const unsigned char *data = NULL;
    snprintf(owner, sizeof owner, "keypoints of image %" PRIu32 " (%.200s)", view->id, view->name);
    if (view->keypoints != NULL)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s are given twice", sql->path, owner);
    psfm_status status = psfm_database_get_matrix(sql, statement, 1, owner, &rows, &cols, &data);
    if (status != PSFM_OK)
        return status;
    if (rows > 0 && cols != 2 && cols != 4 && cols != 6)
        return psfm_fail(sql->ctx, PSFM_ERR_FORMAT, "%s: %s have %zu columns, not 2, 4 or 6",
                         sql->path, owner, cols);
    status = PSFM_ALLOC(sql->ctx, rows, &view->keypoints);
    if (status != PSFM_OK)
        return status;
    view->num_keypoints = rows;
    for (size_t k = 0; k < rows; ++k) {
        view->keypoints[k][0] = psfm_get_f32(data + 4 * cols * k);
        view->keypoints[k][1] = psfm_get_f32(data + 4 * cols * k + 4);
    }
    return PSFM_OK;
}

static psfm_status read_keypoints(psfm_sql *sql, psfm_match_set *set) {
    psfm_status status = need_table(sql, "keypoints");
    if (status == PSFM_OK)
        status = psfm_progress(sql->ctx, "load keypoints", 0, set->num_views);
    if (status != PSFM_OK)
        return status;
    sqlite3_stmt *statement;
    size_t k = 0;
    sql->doing = "cannot read the table keypoints";
    status =
        psfm_sql_prepare(sql, "SELECT image_id, rows, cols, data FROM keypoints ORDER BY image_id",
                         NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        int64_t id = sqlite3_column_int64(statement, 0);
        while (k < set->num_views && set->views[k].id < id)
            ++k;
        if (k == set->num_views || set->views[k].id != id)
            continue; /* of an image that was deleted */
        status = psfm_database_get_keypoints(sql, statement, &set->views[k]);
        if (status == PSFM_OK)
            status = psfm_progress(sql->ctx, "load keypoints", k + 1, set->num_views);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Views without a row of keypoints get an empty array, so that all have the same form. */
static psfm_status count_empty_views(const psfm_sql *sql, psfm_match_set *set,
                                     psfm_database_stats *stats) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < set->num_views; ++k) {
        psfm_view *view = &set->views[k];
        stats->num_images_without_keypoints += view->num_keypoints == 0;
        if (view->keypoints == NULL)
            status = PSFM_ALLOC(sql->ctx, 0, &view->keypoints);
    }
    return status;
}

/* Cameras whose focal length extraction took from EXIF data; given ones have a source that says
 * so ("model:" in databases of earlier versions). */
static psfm_status mark_exif(psfm_sql *sql, psfm_match_set *set) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(sql,
                                          "SELECT camera_id FROM planarsfm_cameras"
                                          " WHERE source NOT LIKE 'given:%'"
                                          " AND source NOT LIKE 'model:%'",
                                          NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        uint32_t idx;
        int64_t id = sqlite3_column_int64(statement, 0);
        if (id >= 0 && id < UINT32_MAX && psfm_match_set_find_camera(set, (uint32_t)id, &idx))
            set->origins[idx] = psfm_camera_origin_of(&set->cameras[idx], true);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Cameras whose photographs were only taken for those of one. */
static psfm_status mark_groups(psfm_sql *sql, psfm_match_set *set) {
    sqlite3_stmt *statement;
    psfm_status status =
        psfm_sql_prepare(sql, "SELECT camera_id FROM planarsfm_cameras WHERE source LIKE 'group:%'",
                         NULL, 0, &statement);
    while (psfm_sql_next(sql, statement, &status)) {
        uint32_t idx;
        int64_t id = sqlite3_column_int64(statement, 0);
        if (id >= 0 && id < UINT32_MAX && psfm_match_set_find_camera(set, (uint32_t)id, &idx))
            set->origins[idx].group = (uint32_t)id;
    }
    sqlite3_finalize(statement);
    return status;
}

/* Where the focal lengths of the cameras come from. */
static psfm_status read_origins(psfm_sql *sql, psfm_match_set *set) {
    bool is_ours = false;
    psfm_status status = PSFM_ALLOC(sql->ctx, set->num_cameras, &set->origins);
    if (status != PSFM_OK)
        return status;
    for (size_t c = 0; c < set->num_cameras; ++c)
        set->origins[c] = psfm_camera_origin_of(&set->cameras[c], false);
    status = psfm_sql_has_table(sql, "planarsfm_cameras", &is_ours);
    if (status == PSFM_OK && is_ours)
        status = mark_exif(sql, set);
    return status == PSFM_OK && is_ours ? mark_groups(sql, set) : status;
}

psfm_status psfm_database_read_tables(psfm_sql *sql, psfm_match_set *set,
                                      psfm_database_stats *stats) {
    bool has_geometries = false;
    sql->doing = "cannot be read";
    psfm_status status = psfm_sql_exec(sql, "BEGIN"); /* one state of the file for all tables */
    if (status == PSFM_OK)
        status = psfm_database_read_cameras(sql, set);
    if (status == PSFM_OK)
        status = read_origins(sql, set);
    if (status == PSFM_OK)
        status = read_images(sql, set);
    if (status == PSFM_OK)
        status = check_names(sql, set);
    if (status == PSFM_OK)
        status = read_keypoints(sql, set);
    if (status == PSFM_OK)
        status = count_empty_views(sql, set, stats);
    if (status == PSFM_OK)
        status = need_table(sql, "matches");
    if (status == PSFM_OK)
        status =
            psfm_database_read_pairs(sql, "matches", set, stats, &stats->num_pairs_from_matches);
    if (status == PSFM_OK)
        status = psfm_sql_has_table(sql, "two_view_geometries", &has_geometries);
    if (status == PSFM_OK && has_geometries)
        status = psfm_database_read_pairs(sql, "two_view_geometries", set, stats,
                                          &stats->num_pairs_from_geometries);
    if (status == PSFM_OK)
        status = psfm_sql_exec(sql, "COMMIT");
    return status;
}

static psfm_status read_database(psfm_context *ctx, const char *path, bool matched_first,
                                 psfm_match_set *set, psfm_database_stats *stats) {
    psfm_database_stats counts = {0};
    psfm_match_set read = {0};
    psfm_sql sql;
    psfm_status status = psfm_sql_open_for_reading(ctx, path, &sql);
    if (status == PSFM_OK)
        status = psfm_database_read_tables(&sql, &read, &counts);
    if (status == PSFM_OK)
        status = psfm_sql_check_unchanged(&sql);
    psfm_sql_close(&sql);
    if (status == PSFM_OK && matched_first)
        status = psfm_match_set_sort_matched(ctx, &read);
    if (status == PSFM_OK)
        status = psfm_match_set_compute_rays(ctx, &read, &counts.num_keypoints_without_ray);
    if (status != PSFM_OK)
        psfm_match_set_free(&read);
    *set = read;
    if (stats != NULL)
        *stats = counts;
    return status;
}

psfm_status psfm_database_read(psfm_context *ctx, const char *path, psfm_match_set *set,
                               psfm_database_stats *stats) {
    return read_database(ctx, path, false, set, stats);
}

psfm_status psfm_database_read_matched_first(psfm_context *ctx, const char *path,
                                             psfm_match_set *set, psfm_database_stats *stats) {
    return read_database(ctx, path, true, set, stats);
}
