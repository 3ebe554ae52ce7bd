/* The store that extraction and matching fill, as `extract`, `match` and `run` find it. An input
 * that begins with 'S' is a whole SQLite file, any other a recipe for rows of all its tables. What
 * is listed is read; afterwards the photographs are changed and dropped, as a run does. */
#include "fuzz_sql.h"
#include "store/feature_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate_database(data, size, max_size, seed);
}

/* The one database of recipes. */
static sqlite3 *recipe_database(psfm_context *ctx) {
    static psfm_feature_store store;
    if (store.sql.db == NULL) {
        store.sql = (psfm_sql){.ctx = ctx, .path = "store", .db = open_in_memory()};
        if (psfm_store_prepare(&store, true) != PSFM_OK ||
            psfm_sql_distrust(&store.sql, 1 << 20) != PSFM_OK)
            abort();
    }
    if (sqlite3_exec(store.sql.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    return store.sql.db;
}

/* Rows of the store's own tables. */
static void fill_own(sqlite3 *db, source *from) {
    static sqlite3_stmt *kept[4];
    sqlite3_stmt *photo =
        keep_statement(db, "INSERT INTO planarsfm_photos VALUES (?1, ?2, ?3, ?4, ?5)", &kept[0]);
    sqlite3_stmt *features =
        keep_statement(db, "INSERT INTO planarsfm_features VALUES (?1, ?2, ?3)", &kept[1]);
    sqlite3_stmt *camera =
        keep_statement(db, "INSERT INTO planarsfm_cameras VALUES (?1, ?2)", &kept[2]);
    sqlite3_stmt *pair =
        keep_statement(db, "INSERT INTO planarsfm_matches VALUES (?1, ?2)", &kept[3]);
    for (int num = take_byte(from) % 8; num > 0; --num) {
        sqlite3_bind_int64(photo, 1, take_number(from));
        for (int k = 2; k < 6; ++k)
            bind_number(photo, k, from);
        run_statement(photo);
        sqlite3_bind_int64(features, 1, take_number(from));
        sqlite3_bind_text(features, 2, take_byte(from) % 4 == 0 ? "x" : "xfeat", -1, SQLITE_STATIC);
        bind_bytes(features, 3, from);
        run_statement(features);
        bind_number(camera, 1, from);
        bind_number(camera, 2, from);
        run_statement(camera);
        sqlite3_bind_int64(pair, 1, take_pair_id(from));
        sqlite3_bind_text(pair, 2, (const char *)from->at, (from->end - from->at) % 17,
                          SQLITE_TRANSIENT);
        run_statement(pair);
    }
}

static void cook(sqlite3 *db, source *from) {
    static sqlite3_stmt *kept[3];
    fill_cameras(db, from);
    fill_images(db, from);
    int cols = 2 + take_byte(from) % 3 * 2, width = take_byte(from) % 4 == 0 ? 64 : 32;
    fill_matrices(keep_statement(db, "INSERT INTO keypoints VALUES (?1, ?2, ?3, ?4)", &kept[0]),
                  false, cols, 4, from);
    fill_matrices(keep_statement(db, "INSERT INTO descriptors VALUES (?1, ?2, ?3, ?4)", &kept[1]),
                  false, 4 * width, 1, from);
    fill_matrices(keep_statement(db, "INSERT INTO matches VALUES (?1, ?2, ?3, ?4)", &kept[2]), true,
                  2, 4, from);
    fill_own(db, from);
}

static void read_photo(psfm_feature_store *store, const psfm_stored_photo *photo) {
    psfm_keypoint_set set = {0};
    if (photo->num_keypoints > INT32_MAX)
        abort();
    psfm_status status = photo->features == NULL ? psfm_store_descriptors(store, photo, &set)
                                                 : psfm_store_float_features(store, photo, &set);
    if (status == PSFM_OK && photo->features != NULL && set.num > 0 &&
        (set.keypoints == NULL || set.descriptors_f32 == NULL || set.scores == NULL))
        abort();
    psfm_keypoint_set_free(&set);
}

static void read_views(psfm_feature_store *store, const psfm_stored_photos *photos) {
    psfm_match_set set = {0};
    psfm_status status = psfm_store_views(store, photos, &set);
    for (size_t k = 0; status == PSFM_OK && k < set.num_views; ++k)
        status = psfm_store_keypoints(store, &set.views[k]);
    if (status == PSFM_OK && set.num_views != photos->num)
        abort();
    psfm_match_set_free(&set);
}

/* What a run does to photographs that have changed or are gone. */
static void change_photo(psfm_feature_store *store, const psfm_stored_photo *photo, bool drop) {
    psfm_keypoint_set none = {0};
    if (drop)
        (void)!psfm_store_drop_photo(store, photo->image_id);
    else
        (void)!psfm_store_put_photo(store, photo, &none);
}

static void try_store(psfm_feature_store *store) {
    psfm_stored_photos photos = {0};
    psfm_stored_pair *pairs = NULL;
    size_t num_pairs = 0;
    if (psfm_store_list(store, &photos) == PSFM_OK) {
        for (size_t k = 0; k < photos.num; ++k)
            read_photo(store, &photos.photos[k]);
        read_views(store, &photos);
        if (psfm_store_list_pairs(store, &pairs, &num_pairs) == PSFM_OK)
            for (size_t k = 0; k < num_pairs; ++k)
                if (pairs[k].id1 >= PSFM_PAIR_ID_BASE || pairs[k].num_matches > INT32_MAX)
                    abort();
        for (size_t k = 0; k < photos.num; ++k)
            change_photo(store, &photos.photos[k], k % 2 == 0);
        (void)!psfm_store_drop_cameras(store);
    }
    free(pairs);
    psfm_stored_photos_free(&photos);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    psfm_feature_store store = {.has_geometries = true};
    source from = {data, data + size};
    if (ctx == NULL)
        ctx = psfm_context_create();
    store.sql = (psfm_sql){.ctx = ctx, .path = "store.db"};
    if (size > 0 && data[0] == 'S') {
        store.sql.db = open_in_memory();
        load_file(store.sql.db, data, size, SQLITE_DESERIALIZE_RESIZEABLE);
        if (psfm_sql_distrust(&store.sql, (int64_t)size) == PSFM_OK &&
            psfm_store_prepare(&store, false) == PSFM_OK)
            try_store(&store);
        psfm_sql_close(&store.sql);
    } else {
        store.sql.db = recipe_database(ctx);
        cook(store.sql.db, &from);
        try_store(&store);
        sqlite3_exec(store.sql.db, "ROLLBACK", NULL, NULL, NULL);
    }
    free(store.bytes);
    return 0;
}
