/* A small set of matches, its comparison, and SQL on files, for the tests of the database. */
#ifndef PSFM_TEST_DATABASE_UTIL_H
#define PSFM_TEST_DATABASE_UTIL_H

#include <sqlite3.h>

#include "unit/formats/io_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "store/colmap_database.h"

static inline void *test_alloc(size_t num, size_t size) {
    void *memory = NULL;
    assert_int_equal(psfm_alloc(NULL, num, size, &memory), PSFM_OK);
    return memory;
}

/* Keypoints that a float can hold, matches of all pairs: keypoint k with keypoint (k + view) % n.
 */
static inline void make_set(psfm_match_set *set, size_t num_views, size_t num_keypoints) {
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, num_views, num_keypoints);
    *set = (psfm_match_set){0};
    set->num_cameras = 2;
    set->cameras = test_alloc(2, sizeof *set->cameras);
    set->cameras[0] = (psfm_camera){3, PSFM_CAMERA_PINHOLE, 640, 480, {500, 510, 320, 240}, true};
    set->cameras[1] =
        (psfm_camera){8, PSFM_CAMERA_SIMPLE_RADIAL, 640, 480, {0.1 + 500, 320, 240, -0.01}, false};
    set->num_views = num_views;
    set->views = test_alloc(num_views, sizeof *set->views);
    for (size_t i = 0; i < num_views; ++i) {
        psfm_view *view = &set->views[i];
        char name[32];
        snprintf(name, sizeof name, "ring/%03zu.jpg", i);
        view->id = (uint32_t)(2 * i + 1);
        view->camera_idx = i % 2;
        view->num_keypoints = num_keypoints;
        view->keypoints = test_alloc(num_keypoints, sizeof *view->keypoints);
        assert_int_equal(psfm_strdup(NULL, name, &view->name), PSFM_OK);
        for (size_t k = 0; k < num_keypoints; ++k) {
            view->keypoints[k][0] = (float)psfm_rng_range(&rng, 0, 640);
            view->keypoints[k][1] = (float)psfm_rng_range(&rng, 0, 480);
        }
    }
    set->pairs = test_alloc(num_views * num_views, sizeof *set->pairs);
    for (uint32_t i = 0; i < num_views && num_keypoints > 0; ++i)
        for (uint32_t j = i + 1; j < num_views; ++j) {
            psfm_match_pair *pair = &set->pairs[set->num_pairs++];
            *pair = (psfm_match_pair){i, j, num_keypoints,
                                      test_alloc(num_keypoints, sizeof *pair->matches)};
            for (size_t k = 0; k < num_keypoints; ++k) {
                pair->matches[k][0] = (uint32_t)k;
                pair->matches[k][1] = (uint32_t)((k + j) % num_keypoints);
            }
        }
    assert_int_equal(psfm_match_set_compute_rays(NULL, set, NULL), PSFM_OK);
}

static inline void assert_same_view(const psfm_view *a, const psfm_view *b) {
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->camera_idx, b->camera_idx);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->num_keypoints, b->num_keypoints);
    if (a->num_keypoints == 0)
        return;
    assert_memory_equal(a->keypoints, b->keypoints, a->num_keypoints * sizeof *a->keypoints);
    assert_memory_equal(a->rays, b->rays, a->num_keypoints * sizeof *a->rays);
    assert_memory_equal(a->px_from_ray, b->px_from_ray, a->num_keypoints * sizeof *a->px_from_ray);
}

static inline void assert_same_set(const psfm_match_set *a, const psfm_match_set *b) {
    assert_int_equal(a->num_cameras, b->num_cameras);
    assert_int_equal(a->num_views, b->num_views);
    assert_int_equal(a->num_pairs, b->num_pairs);
    for (size_t i = 0; i < a->num_cameras; ++i) {
        assert_int_equal(a->cameras[i].id, b->cameras[i].id);
        assert_int_equal(a->cameras[i].model, b->cameras[i].model);
        assert_true(a->cameras[i].width == b->cameras[i].width);
        assert_true(a->cameras[i].height == b->cameras[i].height);
        assert_memory_equal(a->cameras[i].params, b->cameras[i].params,
                            sizeof a->cameras[i].params);
        assert_int_equal(a->cameras[i].has_prior_focal_length,
                         b->cameras[i].has_prior_focal_length);
    }
    for (size_t i = 0; i < a->num_views; ++i)
        assert_same_view(&a->views[i], &b->views[i]);
    for (size_t i = 0; i < a->num_pairs; ++i) {
        const psfm_match_pair *left = &a->pairs[i], *right = &b->pairs[i];
        assert_int_equal(left->view1, right->view1);
        assert_int_equal(left->view2, right->view2);
        assert_int_equal(left->num_matches, right->num_matches);
        assert_memory_equal(left->matches, right->matches,
                            left->num_matches * sizeof *left->matches);
    }
}

static inline sqlite3 *open_sql(const char *path) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
                     SQLITE_OK);
    return db;
}

static inline void exec_sql(sqlite3 *db, const char *text) {
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
}

/* Runs statements on a file. */
static inline void run_sql(const char *path, const char *text) {
    sqlite3 *db = open_sql(path);
    exec_sql(db, text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The first column of the first row, as a number. */
static inline int64_t ask_sql(const char *path, const char *text) {
    sqlite3 *db = open_sql(path);
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return value;
}

#endif
