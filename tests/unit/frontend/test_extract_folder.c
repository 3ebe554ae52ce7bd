/* Photographs with spots at known places: what is in the database, and what is done again. */
#include "frontend/extract_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "photo_folder.h"
#include "run_defaults.h"
#include "store/colmap_database.h"

static const char camera[] = "SIMPLE_PINHOLE,240,180,200,120,90";

static psfm_folder_options defaults(void) {
    psfm_folder_options options = {.intrinsics.camera_text = camera};
    psfm_options_init(&psfm_extract_option_table, &options.extract);
    psfm_options_init(&psfm_sift_option_table, &options.sift);
    options.detector = default_detector();
    return options;
}

static psfm_extract_stats extract(const photo_folder *f, const psfm_folder_options *options) {
    psfm_extract_stats stats;
    assert_ok(f->ctx, psfm_extract_folder(f->ctx, f->photos, f->database, options, &stats));
    return stats;
}

static void fails(const photo_folder *f, const psfm_folder_options *options, psfm_status status,
                  const char *words) {
    psfm_extract_stats stats;
    assert_int_equal(psfm_extract_folder(f->ctx, f->photos, f->database, options, &stats), status);
    if (strstr(psfm_context_message(f->ctx), words) == NULL)
        fail_msg("'%s' does not say '%s'", psfm_context_message(f->ctx), words);
    psfm_extract_stats_free(&stats);
}

static void make_sub_folder(const photo_folder *f) {
    char *path = photo_path(f, "sub");
    assert_ok(f->ctx, psfm_make_folders(f->ctx, path));
    free(path);
}

static double nearest_keypoint(const psfm_view *view, const double xy[2]) {
    double nearest = INFINITY;
    for (size_t k = 0; k < view->num_keypoints; ++k)
        nearest =
            fmin(nearest, hypot(view->keypoints[k][0] - xy[0], view->keypoints[k][1] - xy[1]));
    return nearest;
}

static void spots_are_keypoints_of_the_database(void **state) {
    (void)state;
    photo_folder f;
    psfm_match_set set;
    psfm_folder_options options = defaults();
    const char *const names[3] = {"a.png", "b.png", "sub/c.png"};
    make_photo_folder(&f);
    make_sub_folder(&f);
    put_photo(&f, "sub/c.png", 2);
    put_photo(&f, "b.png", 1);
    put_photo(&f, "a.png", 0);
    psfm_extract_stats stats = extract(&f, &options);
    assert_true(stats.num_images == 3 && stats.num_extracted == 3 && stats.num_unchanged == 0);
    assert_string_equal(stats.features, "sift");
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    assert_true(set.num_views == 3 && set.num_cameras == 1);
    assert_true(set.cameras[0].params[0] == 200.0 && set.cameras[0].width == 240);
    size_t total = 0;
    for (int v = 0; v < 3; ++v) {
        assert_string_equal(set.views[v].name, names[v]);
        total += set.views[v].num_keypoints;
        for (int k = 0; k < NUM_SPOTS; ++k) {
            double xy[2];
            find_spot(v, k, xy);
            assert_below(nearest_keypoint(&set.views[v], xy), 0.2);
        }
    }
    assert_int_equal(stats.num_features, total);
    psfm_match_set_free(&set);
    psfm_extract_stats_free(&stats);
    drop_photo_folder(&f);
}

static void a_second_run_does_what_changed(void **state) {
    (void)state;
    photo_folder f;
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    put_photo(&f, "b.png", 1);
    put_photo(&f, "c.png", 2);
    psfm_extract_stats first = extract(&f, &options), stats = extract(&f, &options);
    assert_true(stats.num_extracted == 0 && stats.num_unchanged == 3 && stats.num_removed == 0);
    assert_int_equal(stats.num_features, first.num_features);
    put_photo(&f, "b.png", 5);
    remove_photo(&f, "c.png");
    stats = extract(&f, &options);
    assert_true(stats.num_extracted == 1 && stats.num_unchanged == 1 && stats.num_removed == 1);
    assert_int_equal(stats.num_images, 2);
    options.sift.max_num_features = 5; /* other options, other features */
    stats = extract(&f, &options);
    assert_true(stats.num_extracted == 2 && stats.num_unchanged == 0);
    assert_true(stats.num_features < first.num_features);
    drop_photo_folder(&f);
}

static void give_time(const photo_folder *f, const char *name) {
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    char *path = photo_path(f, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void rename_photo(const photo_folder *f, const char *from, const char *to) {
    char *paths[2] = {photo_path(f, from), photo_path(f, to)};
    assert_int_equal(rename(paths[0], paths[1]), 0);
    free(paths[0]);
    free(paths[1]);
}

/* Uncompressed files have one size, and times can be equal. */
static void swapped_photographs_are_not_mistaken(void **state) {
    (void)state;
    photo_folder f;
    psfm_match_set set;
    psfm_folder_options options = defaults();
    double xy[2];
    make_photo_folder(&f);
    put_plain_photo(&f, "a.tif", 0);
    put_plain_photo(&f, "b.tif", 5);
    give_time(&f, "a.tif");
    give_time(&f, "b.tif");
    psfm_extract_stats stats = extract(&f, &options);
    if (stats.num_images == 0) {
        drop_photo_folder(&f);
        skip();
    }
    rename_photo(&f, "a.tif", "c");
    rename_photo(&f, "b.tif", "a.tif");
    rename_photo(&f, "c", "b.tif");
    stats = extract(&f, &options);
    assert_true(stats.num_extracted == 2 && stats.num_unchanged == 0);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    find_spot(5, 0, xy);
    assert_below(nearest_keypoint(&set.views[0], xy), 0.2);
    psfm_match_set_free(&set);
    /* the same contents in another file, at another time, are the same photograph */
    remove_photo(&f, "a.tif");
    put_plain_photo(&f, "a.tif", 5);
    for (int k = 0; k < 2; ++k) {
        stats = extract(&f, &options);
        assert_true(stats.num_extracted == 0 && stats.num_unchanged == 2);
    }
    drop_photo_folder(&f);
}

/* Features stay, the cameras are those of this run. */
static void cameras_follow_the_options(void **state) {
    (void)state;
    photo_folder f;
    psfm_match_set set;
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    make_sub_folder(&f);
    put_photo(&f, "a.png", 0);
    put_photo(&f, "sub/b.png", 1);
    extract(&f, &options);
    options.intrinsics.camera_text = "SIMPLE_PINHOLE,240,180,300,120,90";
    psfm_extract_stats stats = extract(&f, &options);
    assert_true(stats.num_extracted == 0 && stats.num_unchanged == 2);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    assert_true(set.num_cameras == 1 && set.cameras[0].params[0] == 300.0);
    psfm_match_set_free(&set);
    options.intrinsics.sharing = PSFM_SHARE_FOLDER;
    stats = extract(&f, &options);
    assert_int_equal(stats.num_extracted, 0);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    assert_int_equal(set.num_cameras, 2);
    assert_int_not_equal(set.views[0].camera_idx, set.views[1].camera_idx);
    psfm_match_set_free(&set);
    drop_photo_folder(&f);
}

static void files_that_are_no_photographs_have_a_reason(void **state) {
    (void)state;
    photo_folder f;
    char text[256];
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    put_text(&f, "notes.txt", "nothing to see");
    put_text(&f, "broken.jpg", "not a photograph");
    put_photo(&f, "cut.png", 1);
    char *path = photo_path(&f, "cut.png");
    assert_int_equal(truncate(path, 200), 0);
    free(path);
    psfm_extract_stats stats = extract(&f, &options);
    assert_true(stats.num_images == 1 && stats.num_other_files == 2);
    assert_int_equal(stats.num_unused, 2);
    assert_string_equal(stats.unused[0].name, "broken.jpg");
    assert_non_null(strstr(stats.unused[0].reason, "not a JPEG"));
    assert_string_equal(stats.unused[1].name, "cut.png");
    psfm_extract_stats_describe(&stats, text, sizeof text);
    assert_non_null(strstr(text, "1 "));
    psfm_extract_stats_free(&stats);
    drop_photo_folder(&f);
}

static void what_cannot_be_done_is_said_first(void **state) {
    (void)state;
    photo_folder f;
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    fails(&f, &options, PSFM_ERR_DATA, "no JPEG, PNG, TIFF");
    put_photo(&f, "a.png", 0);
    options.mask_folder = "/nowhere";
    fails(&f, &options, PSFM_ERR_IO, "masks");
    drop_photo_folder(&f);
}

static void photographs_without_focal_lengths_get_a_guess(void **state) {
    (void)state;
    photo_folder f;
    psfm_match_set set;
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    options.intrinsics.camera_text = NULL; /* and no EXIF data */
    psfm_extract_stats stats = extract(&f, &options);
    assert_int_equal(stats.num_extracted, 1);
    assert_ok(f.ctx, psfm_database_read(f.ctx, f.database, &set, NULL));
    assert_int_equal(set.origins[0].source, PSFM_FOCAL_GUESS);
    assert_close(set.cameras[0].params[0], 1.2 * 240.0, 0.0);
    psfm_match_set_free(&set);
    drop_photo_folder(&f);
}

static void images_of_others_are_not_touched(void **state) {
    (void)state;
    photo_folder f;
    psfm_folder_options options = defaults();
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    psfm_camera cameras[1] = {
        {1, PSFM_CAMERA_SIMPLE_PINHOLE, 240, 180, {200.0, 120.0, 90.0}, true}};
    psfm_view views[1] = {{.id = 1, .name = (char *)"a.png"}};
    const psfm_match_set set = {
        .cameras = cameras, .num_cameras = 1, .views = views, .num_views = 1};
    assert_ok(f.ctx, psfm_database_write(f.ctx, &set, f.database));
    fails(&f, &options, PSFM_ERR_DATA, "was not extracted by planarsfm");
    drop_photo_folder(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spots_are_keypoints_of_the_database),
        cmocka_unit_test(a_second_run_does_what_changed),
        cmocka_unit_test(swapped_photographs_are_not_mistaken),
        cmocka_unit_test(cameras_follow_the_options),
        cmocka_unit_test(files_that_are_no_photographs_have_a_reason),
        cmocka_unit_test(photographs_without_focal_lengths_get_a_guess),
        cmocka_unit_test(what_cannot_be_done_is_said_first),
        cmocka_unit_test(images_of_others_are_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
