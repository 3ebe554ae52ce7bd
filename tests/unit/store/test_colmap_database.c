#include "unit/formats/database_util.h"

#include <signal.h>
#include <sys/resource.h>

#include "store/sql.h"
#include "unit/core/camera/camera_samples.h"

static void a_round_trip_keeps_everything_a_float_can_hold(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "data base.db");
    psfm_match_set set, back;
    psfm_database_stats stats;
    make_set(&set, 5, 9000);                  /* blobs larger than a page, and than 64 kB */
    for (int round = 0; round < 2; ++round) { /* the second time over an existing file */
        assert_ok(ctx, psfm_database_write(ctx, &set, path));
        assert_int_equal(count_files(folder), 1);
        assert_ok(ctx, psfm_database_read(ctx, path, &back, &stats));
        assert_int_equal(count_files(folder), 1);
        assert_same_set(&set, &back);
        assert_ok(ctx, psfm_match_set_check(ctx, &back));
        assert_int_equal(stats.num_pairs_from_matches, 10);
        assert_int_equal(stats.num_pairs_from_geometries, 0);
        assert_int_equal(stats.num_pairs_repeated + stats.num_pairs_unknown, 0);
        assert_int_equal(stats.num_matches_dropped, 0);
        assert_int_equal(stats.num_keypoints_without_ray, 0);
        psfm_match_set_free(&back);
    }
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void every_camera_model_comes_back(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "a.db");
    psfm_camera cameras[NUM_CAMERA_SAMPLES + 1];
    memcpy(cameras, camera_samples, sizeof camera_samples);
    cameras[NUM_CAMERA_SAMPLES] =
        (psfm_camera){99, PSFM_CAMERA_EQUIRECTANGULAR, 2048, 1024, {2048, 1024}, false};
    psfm_match_set set = {.cameras = cameras, .num_cameras = NUM_CAMERA_SAMPLES + 1}, back;
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_int_equal(back.num_cameras, set.num_cameras);
    for (size_t c = 0; c < set.num_cameras; ++c) {
        assert_int_equal(back.cameras[c].model, cameras[c].model);
        assert_memory_equal(back.cameras[c].params, cameras[c].params, sizeof cameras[c].params);
    }
    psfm_match_set_free(&back);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void the_same_set_gives_the_same_bytes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    psfm_match_set set;
    make_set(&set, 4, 700);
    char *bytes[2];
    size_t size[2];
    for (int k = 0; k < 2; ++k) {
        join(path, folder, k == 0 ? "a.db" : "b.db");
        assert_ok(ctx, psfm_database_write(ctx, &set, path));
        bytes[k] = get_file(folder, k == 0 ? "a.db" : "b.db", &size[k]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void little_or_nothing_is_no_error(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    for (size_t num_views = 0; num_views < 3; ++num_views) {
        psfm_match_set set, back;
        psfm_database_stats stats;
        make_set(&set, num_views, 0);
        assert_ok(ctx, psfm_database_write(ctx, &set, path));
        assert_ok(ctx, psfm_database_read(ctx, path, &back, &stats));
        assert_same_set(&set, &back);
        assert_int_equal(stats.num_images_without_keypoints, num_views);
        psfm_match_set_free(&back);
        run_sql(path, "DELETE FROM keypoints");
        assert_ok(ctx, psfm_database_read(ctx, path, &back, &stats));
        assert_same_set(&set, &back);
        psfm_match_set_free(&back);
        psfm_match_set_free(&set);
    }
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* The tables of COLMAP 4, which knows rigs and frames, priors and kinds of descriptors. */
static const char schema_4[] =
    "CREATE TABLE rigs (rig_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, ref_sensor_id INTEGER"
    " NOT NULL, ref_sensor_type INTEGER NOT NULL);"
    "CREATE TABLE rig_sensors (rig_id INTEGER NOT NULL, sensor_id INTEGER NOT NULL, sensor_type"
    " INTEGER NOT NULL, sensor_from_rig BLOB, FOREIGN KEY(rig_id) REFERENCES rigs(rig_id));"
    "CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, model INTEGER NOT"
    " NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, params BLOB, prior_focal_length"
    " INTEGER NOT NULL);"
    "CREATE TABLE frames (frame_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, rig_id INTEGER NOT"
    " NULL);"
    "CREATE TABLE frame_data (frame_id INTEGER NOT NULL, data_id INTEGER NOT NULL, sensor_id"
    " INTEGER NOT NULL, sensor_type INTEGER NOT NULL);"
    "CREATE TABLE images (image_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT NOT NULL"
    " UNIQUE, camera_id INTEGER NOT NULL, CONSTRAINT image_id_check CHECK(image_id >= 0 and"
    " image_id < 2147483647), FOREIGN KEY(camera_id) REFERENCES cameras(camera_id));"
    "CREATE TABLE pose_priors (pose_prior_id INTEGER PRIMARY KEY NOT NULL, corr_data_id INTEGER NOT"
    " NULL, corr_sensor_id INTEGER NOT NULL, corr_sensor_type INTEGER NOT NULL, position BLOB,"
    " position_covariance BLOB, gravity BLOB, coordinate_system INTEGER NOT NULL);"
    "CREATE TABLE keypoints (image_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols"
    " INTEGER NOT NULL, data BLOB);"
    "CREATE TABLE descriptors (image_id INTEGER PRIMARY KEY NOT NULL, type INTEGER NOT NULL, rows"
    " INTEGER NOT NULL, cols INTEGER NOT NULL, data BLOB);"
    "CREATE TABLE matches (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL, cols"
    " INTEGER NOT NULL, data BLOB);"
    "CREATE TABLE two_view_geometries (pair_id INTEGER PRIMARY KEY NOT NULL, rows INTEGER NOT NULL,"
    " cols INTEGER NOT NULL, data BLOB, config INTEGER NOT NULL, F BLOB, E BLOB, H BLOB, qvec BLOB,"
    " tvec BLOB, camera1 BLOB, camera2 BLOB);"
    "PRAGMA user_version = 4010;"
    "INSERT INTO rigs VALUES (1, 1, 0); INSERT INTO frames VALUES (1, 1), (2, 1), (3, 1);"
    "INSERT INTO frame_data VALUES (1, 1, 1, 0), (2, 2, 1, 0), (3, 3, 1, 0);"
    /* f = 500, cx = 320, cy = 240 as little-endian doubles */
    "INSERT INTO cameras VALUES (1, 0, 640, 480,"
    " x'0000000000407F4000000000000074400000000000006E40', 1);"
    "INSERT INTO images VALUES (1, 'a.jpg', 1), (2, 'b.jpg', 1), (3, 'c.jpg', 1);"
    "INSERT INTO pose_priors VALUES (1, 1, 1, 0, zeroblob(24), zeroblob(72), NULL, 1);"
    /* (1, 2), (3, 4) with 2, 4 and 6 columns */
    "INSERT INTO keypoints VALUES (1, 2, 2, x'0000803F000000400000404000008040'),"
    " (2, 2, 4, x'0000803F000000400000A0400000C0400000404000008040FFFFFFFFFFFFFFFF'),"
    " (3, 2, 6, x'0000803F00000040000000000000000000000000000000000000404000008040"
    "00000000000000000000000000000000');"
    "INSERT INTO descriptors VALUES (1, 1, 2, 64, zeroblob(128));";

/* pair_id of images 1, 2, 3: 2147483647 * 1 + 2 = 2147483649, then 2147483650 and 4294967297. */
static void reads_the_tables_of_colmap_4(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    run_sql(path, "PRAGMA journal_mode = WAL; PRAGMA auto_vacuum = 1");
    run_sql(path, schema_4);
    run_sql(path,
            "INSERT INTO matches VALUES (2147483649, 2, 2, x'00000000010000000100000000000000'),"
            " (2147483650, 0, 0, NULL), (4294967297, 0, 2, x'');"
            "INSERT INTO two_view_geometries VALUES"
            " (2147483649, 1, 2, x'0000000001000000', 3, NULL, NULL, NULL, NULL, NULL, x'', x''),"
            " (2147483650, 1, 2, x'0100000000000000', 4, NULL, NULL, NULL, NULL, NULL, x'', x''),"
            " (4294967297, 0, 2, NULL, 1, NULL, NULL, NULL, NULL, NULL, x'', x'')");
    psfm_match_set set;
    psfm_database_stats stats;
    assert_ok(ctx, psfm_database_read(ctx, path, &set, &stats));
    assert_int_equal(count_files(folder), 1); /* no log left beside it */
    assert_int_equal(set.num_cameras, 1);
    assert_close(set.cameras[0].params[0], 500, 0);
    assert_int_equal(set.num_views, 3);
    for (int v = 0; v < 3; ++v)
        for (int k = 0; k < 4; ++k)
            assert_close(set.views[v].keypoints[k / 2][k % 2], k + 1, 0);
    assert_int_equal(set.num_pairs, 2);
    assert_int_equal(set.pairs[0].num_matches, 2);
    assert_int_equal(set.pairs[0].matches[0][1], 1);
    assert_int_equal(set.pairs[1].view2, 2);
    assert_int_equal(set.pairs[1].num_matches, 1);
    assert_int_equal(set.pairs[1].matches[0][0], 1);
    assert_int_equal(stats.num_pairs_from_matches, 1);
    assert_int_equal(stats.num_pairs_from_geometries, 1);
    assert_int_equal(stats.num_pairs_repeated, 0);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void mends_what_other_programs_write(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    run_sql(path, schema_4);
    /* Pair (3, 1), swapped: its columns are (keypoint of 3, keypoint of 1). Pair (2, 1) swapped
     * comes besides (1, 2). Image 9 is gone. (2, 2) is no pair. Of the five matches of (1, 2) the
     * second repeats keypoint 1 of image 2, the third keypoint 0 of image 1, and the fourth is out
     * of range. */
    run_sql(path,
            "INSERT INTO matches VALUES (3 * 2147483647 + 1, 1, 2, x'0000000001000000'),"
            " (2 * 2147483647 + 1, 2, 2, x'00000000010000000100000000000000'),"
            " (1 * 2147483647 + 9, 1, 2, x'0000000001000000'),"
            " (2 * 2147483647 + 2, 1, 2, x'0000000001000000'),"
            " (-5, 1, 2, x'0000000001000000'),"
            " (1 * 2147483647 + 2, 5, 2,"
            " x'00000000010000000100000001000000000000000000000002000000000000000100000000000000');"
            "INSERT INTO keypoints VALUES (77, 1, 3, x'00')"); /* of a deleted image */
    psfm_match_set set;
    psfm_database_stats stats;
    assert_ok(ctx, psfm_database_read(ctx, path, &set, &stats));
    assert_ok(ctx, psfm_match_set_check(ctx, &set));
    assert_int_equal(set.num_pairs, 2);
    assert_int_equal(set.pairs[0].view2, 1);
    assert_int_equal(set.pairs[0].num_matches, 2);
    assert_int_equal(set.pairs[0].matches[1][0], 1);
    assert_int_equal(set.pairs[0].matches[1][1], 0);
    assert_int_equal(set.pairs[1].view1, 0);
    assert_int_equal(set.pairs[1].view2, 2);
    assert_int_equal(set.pairs[1].matches[0][0], 1);
    assert_int_equal(set.pairs[1].matches[0][1], 0);
    assert_int_equal(stats.num_matches_dropped, 3);
    assert_int_equal(stats.num_pairs_repeated, 1);
    assert_int_equal(stats.num_pairs_unknown, 3);
    psfm_match_set_free(&set);
    /* Not-a-number as a keypoint has no ray; it is not an error. */
    run_sql(path, "UPDATE keypoints SET data = x'0000C07F000000400000404000008040' "
                  "WHERE image_id = 1");
    assert_ok(ctx, psfm_database_read(ctx, path, &set, &stats));
    assert_int_equal(stats.num_keypoints_without_ray, 1);
    assert_true(isnan(set.views[0].keypoints[0][0]));
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static const struct {
    const char *damage, *message;
} damages[] = {
    {"DROP TABLE cameras", "no table cameras: this is not a COLMAP database"},
    {"DROP TABLE images", "no table images"},
    {"DROP TABLE keypoints", "no table keypoints"},
    {"DROP TABLE matches", "no table matches"},
    {"DROP TABLE matches; CREATE VIEW matches AS SELECT 1 AS pair_id, 1 AS rows",
     "no table matches"},
    {"ALTER TABLE cameras RENAME COLUMN params TO p", "the table cameras: no such column: params"},
    {"ALTER TABLE keypoints RENAME COLUMN data TO d", "the table keypoints: no such column: data"},
    {"ALTER TABLE matches RENAME COLUMN pair_id TO p", "table matches: no such column: pair_id"},
    {"ALTER TABLE two_view_geometries RENAME COLUMN rows TO r", "two_view_geometries: no such col"},
    {"UPDATE cameras SET model = 18 WHERE camera_id = 3", "camera 3 has model number 18"},
    {"UPDATE cameras SET model = -1", "camera model -1 is out of range"},
    {"UPDATE cameras SET model = 'PINHOLE'", "camera model is not a whole number"},
    {"UPDATE cameras SET params = zeroblob(31)",
     "camera 3: 31 bytes of parameters, PINHOLE takes 32"},
    {"UPDATE cameras SET params = NULL", "camera 3: 0 bytes of parameters"},
    {"UPDATE cameras SET params = zeroblob(32)", "d.db: camera 3: the focal length 0"},
    {"UPDATE cameras SET width = 0", "d.db: camera 3: an image size of 0 x 480"},
    {"UPDATE cameras SET width = -4", "image width -4 is out of range"},
    {"UPDATE images SET camera_id = 4 WHERE image_id = 3", "image 3 (ring/001.jpg): its camera 4"},
    {"UPDATE images SET name = '' WHERE image_id = 3", "image 3 has no name"},
    {"UPDATE images SET name = CAST(x'610062' AS TEXT) WHERE image_id = 3", "a zero byte in it"},
    {"UPDATE images SET image_id = 0 WHERE image_id = 1", "an image has id 0"},
    {"UPDATE keypoints SET cols = 3, data = zeroblob(12 * rows)", "(ring/000.jpg) have 3 columns"},
    {"UPDATE keypoints SET rows = rows + 1", "(ring/000.jpg): 9 x 2 numbers do not fit 64 bytes"},
    {"UPDATE keypoints SET rows = -1", "number of keypoints of image 1 (ring/000.jpg) -1 is out"},
    {"UPDATE keypoints SET rows = 4611686018427387904", "4611686018427387904 is out of range"},
    {"UPDATE keypoints SET rows = 2147483647, cols = 6", "2147483647 x 6 numbers do not fit"},
    {"UPDATE keypoints SET data = NULL WHERE image_id = 3", "8 x 2 numbers do not fit 0 bytes"},
    {"UPDATE keypoints SET data = 'text'", "8 x 2 numbers do not fit 4 bytes"},
    {"UPDATE matches SET cols = 1, rows = 2 * rows",
     "matches of images ring/000.jpg and ring/001.jpg have 1 columns"},
    {"UPDATE matches SET data = zeroblob(63)", "8 x 2 numbers do not fit 63 bytes"},
    {"UPDATE matches SET rows = -1", "-1 is out of range"},
    {"CREATE TABLE c AS SELECT * FROM cameras; DROP TABLE cameras; ALTER TABLE c RENAME TO cameras;"
     "INSERT INTO cameras SELECT * FROM cameras",
     "camera 3 is given twice"},
    {"CREATE TABLE i AS SELECT * FROM images; DROP TABLE images; ALTER TABLE i RENAME TO images;"
     "INSERT INTO images SELECT * FROM images",
     "image 1 is given twice"},
    {"CREATE TABLE i AS SELECT * FROM images; DROP TABLE images; ALTER TABLE i RENAME TO images;"
     "UPDATE images SET name = 'x'",
     "images 1 and 3 have the same name x"},
    {"CREATE TABLE i AS SELECT * FROM images; DROP TABLE images; ALTER TABLE i RENAME TO images;"
     "UPDATE images SET name = NULL",
     "image 1 has no name"},
    {"CREATE TABLE k AS SELECT * FROM keypoints; DROP TABLE keypoints; ALTER TABLE k RENAME TO "
     "keypoints; INSERT INTO keypoints SELECT * FROM keypoints",
     "keypoints of image 1 (ring/000.jpg) are given twice"},
};

static void says_what_is_wrong_with_a_database(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    make_set(&set, 3, 8);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    size_t size;
    char *good = get_file(folder, "d.db", &size);
    for (size_t k = 0; k < sizeof damages / sizeof damages[0]; ++k) {
        psfm_database_stats stats;
        put_file(folder, "d.db", good, size);
        run_sql(path, damages[k].damage);
        if (psfm_database_read(ctx, path, &back, &stats) != PSFM_ERR_FORMAT)
            fail_msg("not seen: %s", damages[k].damage);
        assert_message(ctx, path);
        assert_message(ctx, damages[k].message);
        assert_true(back.views == NULL && back.cameras == NULL && back.pairs == NULL);
    }
    /* A table without geometries, as other programs leave it, is fine. */
    put_file(folder, "d.db", good, size);
    run_sql(path, "DROP TABLE two_view_geometries; DROP TABLE descriptors");
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_same_set(&set, &back);
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    free(good);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void refuses_what_is_no_database(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set;
    assert_int_equal(psfm_database_read(ctx, folder, &set, NULL), PSFM_ERR_IO);
    assert_message(ctx, "not a regular file");
    assert_int_equal(psfm_database_read(ctx, path, &set, NULL), PSFM_ERR_IO);
    assert_message(ctx, "No such file");
    assert_false(exists(folder, "d.db"));
    put_text(folder, "d.db", "");
    assert_int_equal(psfm_database_read(ctx, path, &set, NULL), PSFM_ERR_FORMAT);
    assert_message(ctx, "is empty");
    put_text(folder, "d.db", "cameras, images, points");
    assert_int_equal(psfm_database_read(ctx, path, &set, NULL), PSFM_ERR_FORMAT);
    assert_message(ctx, "not an SQLite database");
    put_file(folder, "d.db", "SQLite format 3\0\x10\0\x02\x02", 20);
    assert_int_equal(psfm_database_read(ctx, path, &set, NULL), PSFM_ERR_FORMAT);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* Cut short or with bytes overwritten, it reads or fails in good order; ASan watches. */
static void survives_damaged_files(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    make_set(&set, 6, 300);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    size_t size;
    char *bytes = get_file(folder, "d.db", &size), *copy = test_alloc(size, 1);
    size_t num_errors = 0;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 300; ++round) {
        memcpy(copy, bytes, size);
        size_t length = round % 3 == 0 ? psfm_rng_below(&rng, size) : size;
        for (int k = 0; k < round % 3 * 40; ++k)
            copy[psfm_rng_below(&rng, round % 2 == 0 ? size : 8192)] =
                (char)psfm_rng_below(&rng, 256);
        put_file(folder, "d.db", copy, length);
        psfm_status status = psfm_database_read(ctx, path, &back, NULL);
        if (status == PSFM_OK)
            assert_ok(ctx, psfm_match_set_check(ctx, &back));
        else
            assert_true(psfm_context_message(ctx)[0] != '\0' && back.views == NULL);
        num_errors += status != PSFM_OK;
        psfm_match_set_free(&back);
    }
    assert_true(num_errors > 150);
    free(bytes);
    free(copy);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void copes_with_other_programs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "50% #1?.db"); /* nothing of this may count as part of an address */
    psfm_match_set set, back;
    make_set(&set, 3, 8);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    sqlite3 *other = open_sql(path);
    exec_sql(other, "BEGIN EXCLUSIVE; DELETE FROM matches");
    assert_int_equal(psfm_database_read(ctx, path, &back, NULL), PSFM_ERR_IO);
    assert_message(ctx, "another program is writing");
    exec_sql(other, "ROLLBACK; PRAGMA journal_mode = WAL");
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_same_set(&set, &back);
    psfm_match_set_free(&back);
    /* In the log, not in the file yet: seen once it is committed. */
    exec_sql(other, "BEGIN; DELETE FROM matches WHERE pair_id = 2147483647 + 3");
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_int_equal(back.num_pairs, 3);
    psfm_match_set_free(&back);
    exec_sql(other, "COMMIT");
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_int_equal(back.num_pairs, 2);
    psfm_match_set_free(&back);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void notices_a_change_under_its_hands(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set;
    make_set(&set, 3, 8);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    run_sql(path, "PRAGMA journal_mode = WAL");
    psfm_sql sql;
    assert_ok(ctx, psfm_sql_open_for_reading(ctx, path, &sql));
    assert_true(sql.is_immutable);
    assert_ok(ctx, psfm_sql_check_unchanged(&sql));
    sqlite3 *other = open_sql(path);
    exec_sql(other, "DELETE FROM matches");
    assert_int_equal(psfm_sql_check_unchanged(&sql), PSFM_ERR_IO);
    assert_message(ctx, "while it was read");
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_int_equal(psfm_sql_check_unchanged(&sql), PSFM_ERR_IO);
    psfm_sql_close(&sql);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void a_failed_write_leaves_the_old_file(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set small, large, back;
    make_set(&small, 2, 8);
    make_set(&large, 8, 3000);
    assert_ok(ctx, psfm_database_write(ctx, &small, path));
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 200000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    psfm_status status = psfm_database_write(ctx, &large, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, PSFM_ERR_IO);
    assert_message(ctx, "d.db: cannot be written");
    assert_int_equal(count_files(folder), 1);
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_same_set(&small, &back);
    psfm_match_set_free(&back);
    assert_int_equal(psfm_database_write(ctx, &small, folder), PSFM_ERR_IO);
    join(path, folder, "no/such/folder.db");
    assert_int_equal(psfm_database_write(ctx, &small, path), PSFM_ERR_IO);
    assert_message(ctx, "cannot write");
    small.views[1].id = 2147483647;
    join(path, folder, "new.db");
    assert_int_equal(psfm_database_write(ctx, &small, path), PSFM_ERR_ARGUMENT);
    assert_int_equal(count_files(folder), 1);
    psfm_match_set_free(&small);
    psfm_match_set_free(&large);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

/* The journal of the old database must not be replayed into the new one. */
static void replaces_a_database_together_with_its_log(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    make_set(&set, 3, 8);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    sqlite3 *other = open_sql(path);
    exec_sql(other, "PRAGMA journal_mode = WAL; DELETE FROM matches");
    assert_true(exists(folder, "d.db-wal"));
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    assert_int_equal(count_files(folder), 1);
    assert_ok(ctx, psfm_database_read(ctx, path, &back, NULL));
    assert_same_set(&set, &back);
    sqlite3_close(other);
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static void survives_every_failing_allocation(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    make_set(&set, 3, 5);
    psfm_status status = PSFM_ERR_MEMORY;
    size_t n = 0;
    while (status != PSFM_OK) {
        psfm_alloc_fail_after(++n);
        status = psfm_database_write(ctx, &set, path);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        assert_int_equal(count_files(folder), status == PSFM_OK);
    }
    run_sql(path, "PRAGMA journal_mode = WAL"); /* the branch that builds an address */
    for (n = 0, status = PSFM_ERR_MEMORY; status != PSFM_OK;) {
        psfm_alloc_fail_after(++n);
        status = psfm_database_read(ctx, path, &back, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        if (status != PSFM_OK)
            assert_true(back.views == NULL && back.pairs == NULL && back.cameras == NULL);
    }
    assert_true(n > 15);
    assert_same_set(&set, &back);
    psfm_match_set_free(&back);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

static int stop_at_once(const char *stage, size_t done, size_t total, void *user) {
    (void)stage, (void)done, (void)total, (void)user;
    return 1;
}

static void can_be_cancelled(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char folder[MAX_PATH], path[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "d.db");
    psfm_match_set set, back;
    make_set(&set, 2, 5);
    assert_ok(ctx, psfm_database_write(ctx, &set, path));
    psfm_context_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(psfm_database_read(ctx, path, &back, NULL), PSFM_ERR_CANCELLED);
    assert_null(back.views);
    psfm_match_set_free(&set);
    remove_scratch(folder);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_keeps_everything_a_float_can_hold),
        cmocka_unit_test(every_camera_model_comes_back),
        cmocka_unit_test(the_same_set_gives_the_same_bytes),
        cmocka_unit_test(little_or_nothing_is_no_error),
        cmocka_unit_test(reads_the_tables_of_colmap_4),
        cmocka_unit_test(mends_what_other_programs_write),
        cmocka_unit_test(says_what_is_wrong_with_a_database),
        cmocka_unit_test(refuses_what_is_no_database),
        cmocka_unit_test(survives_damaged_files),
        cmocka_unit_test(copes_with_other_programs),
        cmocka_unit_test(notices_a_change_under_its_hands),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(replaces_a_database_together_with_its_log),
        cmocka_unit_test(survives_every_failing_allocation),
        cmocka_unit_test(can_be_cancelled),
    };
    return cmocka_run_group_tests_name("store/colmap_database", tests, NULL, NULL);
}
