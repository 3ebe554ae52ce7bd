/* Which photographs are said to have changed since their features were taken. */
#include "frontend/photo_changes.h"

#include "frontend/photo_key.h"
#include "photo_folder.h"
#include "store/colmap_database.h"
#include "store/feature_store.h"

/* Warnings, and the last one. */
typedef struct {
    int num;
    char last[512];
} warnings;

static void note(psfm_log_level level, const char *message, void *user) {
    warnings *w = user;
    if (level != PSFM_LOG_WARNING)
        return;
    ++w->num;
    snprintf(w->last, sizeof w->last, "%s", message);
}

/* An image of the database whose key records so many bytes; key NULL: somebody else's. */
static void put_image(psfm_feature_store *store, const char *name, const char *key) {
    psfm_keypoint_set none = {.descriptor_size = 128};
    psfm_stored_photo photo = {0, 0, (char *)name, (char *)key, 100, 80, 0.0, 0, NULL, NULL};
    psfm_camera camera = {0, PSFM_CAMERA_PINHOLE, 100, 80, {90.0, 90.0, 50.0, 40.0}, true};
    assert_ok(NULL, psfm_store_put_camera(store, "all", &camera, &photo.camera_id));
    assert_ok(NULL, psfm_store_put_photo(store, &photo, &none));
}

static void put_images(const photo_folder *f) {
    psfm_feature_store store;
    assert_ok(f->ctx, psfm_store_open(f->ctx, f->database, true, &store));
    assert_ok(f->ctx, psfm_store_begin(&store));
    put_image(&store, "changed.jpg", "0123456789abcdef 7@100.000000000 -");
    put_image(&store, "gone.jpg", "0123456789abcdef 7@100.000000000 -");
    put_image(&store, "odd.jpg", "a key of another kind");
    put_image(&store, "same.jpg", "0123456789abcdef 4@999.000000000 -");
    assert_ok(f->ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
}

static warnings warn(const photo_folder *f) {
    warnings w = {0};
    psfm_context_set_log(f->ctx, note, &w);
    assert_ok(f->ctx, psfm_warn_changed_photos(f->ctx, f->database, f->photos));
    psfm_context_set_log(f->ctx, NULL, NULL);
    return w;
}

static void only_changed_sizes_are_said(void **state) {
    (void)state;
    photo_folder f;
    make_photo_folder(&f);
    put_images(&f);
    put_text(&f, "same.jpg", "four"); /* at another time: a copy */
    put_text(&f, "odd.jpg", "whatever");
    put_text(&f, "changed.jpg", "four");
    warnings w = warn(&f);
    assert_int_equal(w.num, 1);
    assert_non_null(strstr(w.last, "changed.jpg"));
    assert_non_null(strstr(w.last, f.database));
    put_text(&f, "changed.jpg", "+++"); /* the seven that it had */
    assert_int_equal(warn(&f).num, 0);
    put_text(&f, "changed.jpg", "more");
    assert_int_equal(warn(&f).num, 1);
    drop_photo_folder(&f);
}

static void put_mark(const photo_folder *f, const char *name) {
    char *path = photo_path(f, name);
    char text[PSFM_PHOTO_KEY_SIZE];
    psfm_feature_store store;
    psfm_photo_key key = {.options = 1, .photo = psfm_file_mark_of(path)};
    assert_ok(f->ctx, psfm_file_contents(f->ctx, path, &key.photo.contents));
    psfm_photo_key_print(&key, text);
    assert_ok(f->ctx, psfm_store_open(f->ctx, f->database, true, &store));
    assert_ok(f->ctx, psfm_store_begin(&store));
    put_image(&store, name, text);
    assert_ok(f->ctx, psfm_store_commit(&store));
    psfm_store_close(&store);
    free(path);
}

static void other_contents_of_one_size_are_said(void **state) {
    (void)state;
    photo_folder f;
    make_photo_folder(&f);
    put_text(&f, "a.tif", "this");
    put_mark(&f, "a.tif");
    assert_int_equal(warn(&f).num, 0);
    remove_photo(&f, "a.tif");
    put_text(&f, "a.tif", "this"); /* a copy */
    assert_int_equal(warn(&f).num, 0);
    remove_photo(&f, "a.tif");
    put_text(&f, "a.tif", "that");
    assert_int_equal(warn(&f).num, 1);
    drop_photo_folder(&f);
}

static void databases_of_others_know_no_sizes(void **state) {
    (void)state;
    photo_folder f;
    psfm_view views[1] = {{.id = 1, .name = (char *)"a.jpg"}};
    psfm_camera cameras[1] = {{1, PSFM_CAMERA_PINHOLE, 100, 80, {90.0, 90.0, 50.0, 40.0}, true}};
    const psfm_match_set set = {
        .cameras = cameras, .num_cameras = 1, .views = views, .num_views = 1};
    make_photo_folder(&f);
    put_text(&f, "a.jpg", "x");
    assert_ok(f.ctx, psfm_database_write(f.ctx, &set, f.database));
    assert_int_equal(warn(&f).num, 0);
    assert_int_equal(psfm_warn_changed_photos(f.ctx, "/nowhere.db", f.photos), PSFM_ERR_IO);
    drop_photo_folder(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_changed_sizes_are_said),
        cmocka_unit_test(other_contents_of_one_size_are_said),
        cmocka_unit_test(databases_of_others_know_no_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
