/* Photographs on a rank: read by itself, and only if they are the first rank's. */
#include "refine/rank_photos.h"

#include "intake/file_print.h"
#include "plane_views.h"

/* A view's file as the first rank sees it, or as if it saw another one. */
static psfm_photo_print print_of(fixture *f, uint32_t view, bool is_same) {
    char *path = NULL;
    psfm_photo_print print = {.name = f->set.views[view].name};
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->folder, print.name, &path));
    assert_ok(f->ctx, psfm_file_print(f->ctx, path, &print.print));
    print.print += is_same ? 0 : 2;
    free(path);
    return print;
}

static psfm_status open_with(fixture *f, const psfm_photo_print *compared, size_t num,
                             psfm_rank_photos **photos) {
    psfm_packet setup = {0};
    assert_ok(f->ctx, psfm_rank_photos_pack(f->ctx, f->photos, NUM_VIEWS, &f->options.patch,
                                            compared, num, &setup));
    psfm_packet_reader reader = psfm_packet_read(&setup);
    psfm_status status = psfm_rank_photos_open(f->ctx, &reader, 2, photos);
    psfm_packet_free(&setup);
    return status;
}

static psfm_rank_photos *open_rank(fixture *f) {
    const psfm_photo_print compared[] = {print_of(f, 0, true), print_of(f, 2, true)};
    psfm_rank_photos *photos = NULL;
    assert_ok(f->ctx, open_with(f, compared, 2, &photos));
    return photos;
}

static void tell_view(fixture *f, psfm_rank_photos *photos, uint32_t view, bool is_same) {
    const psfm_photo_print print = print_of(f, view, is_same);
    psfm_packet content = {0};
    assert_ok(f->ctx, psfm_rank_photos_pack_view(f->ctx, &print, f->set.cameras, &content));
    psfm_packet_reader reader = psfm_packet_read(&content);
    assert_ok(f->ctx, psfm_rank_photos_take_view(f->ctx, photos, view, &reader));
    psfm_packet_free(&content);
}

static void test_known_views_are_read(void **state) {
    (void)state;
    fixture f;
    const psfm_pyramid *pair[2];
    bool both = false;
    set_up(&f, 1);
    psfm_rank_photos *photos = open_rank(&f);
    tell_view(&f, photos, 0, true);
    tell_view(&f, photos, 2, true);
    const uint32_t views[2] = {0, 2};
    assert_ok(f.ctx, psfm_rank_photos_get_pair(f.ctx, photos, views, pair, &both));
    assert_true(both && pair[0]->levels[0].width == 320 && pair[1] != pair[0]);
    assert_true(psfm_rank_photos_camera(photos, 2)->width == 320);
    assert_true(psfm_rank_photos_aligner(photos, 0) != psfm_rank_photos_aligner(photos, 1));
    psfm_rank_photos_release_pair(photos, views);
    psfm_rank_photos_close(&photos);
    assert_null(photos);
    tear_down(&f);
}

/* A task of a view that nobody told of, or that was forgotten, is no task of this rank. */
static void test_unknown_views_fail(void **state) {
    (void)state;
    fixture f;
    const psfm_pyramid *photo;
    set_up(&f, 1);
    psfm_rank_photos *photos = open_rank(&f);
    assert_int_equal(psfm_rank_photos_get(f.ctx, photos, 1, &photo), PSFM_ERR_FORMAT);
    assert_int_equal(psfm_rank_photos_get(f.ctx, photos, NUM_VIEWS, &photo), PSFM_ERR_FORMAT);
    tell_view(&f, photos, 1, true);
    assert_ok(f.ctx, psfm_rank_photos_get(f.ctx, photos, 1, &photo));
    psfm_rank_photos_release(photos, 1);
    psfm_rank_photos_forget(photos);
    assert_int_equal(psfm_rank_photos_get(f.ctx, photos, 1, &photo), PSFM_ERR_FORMAT);
    psfm_rank_photos_close(&photos);
    tear_down(&f);
}

static void assert_another_photograph(const fixture *f) {
    assert_non_null(strstr(psfm_context_message(f->ctx), "1.png"));
    assert_non_null(strstr(psfm_context_message(f->ctx), "sees another photograph"));
}

static void test_another_folder_is_refused(void **state) {
    (void)state;
    fixture f;
    psfm_rank_photos *photos = NULL;
    set_up(&f, 1);
    const psfm_photo_print compared[] = {print_of(&f, 0, true), print_of(&f, 1, false)};
    assert_int_equal(open_with(&f, compared, 2, &photos), PSFM_ERR_DATA);
    assert_null(photos);
    assert_another_photograph(&f);
    tear_down(&f);
}

static void test_another_photograph_is_refused(void **state) {
    (void)state;
    fixture f;
    const psfm_pyramid *pair[2];
    bool both = true;
    set_up(&f, 1);
    psfm_rank_photos *photos = open_rank(&f);
    tell_view(&f, photos, 0, true);
    tell_view(&f, photos, 1, false);
    const uint32_t views[2] = {0, 1};
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(psfm_rank_photos_get_pair(f.ctx, photos, views, pair, &both),
                         PSFM_ERR_DATA);
        assert_false(both);
        assert_another_photograph(&f);
    }
    psfm_rank_photos_close(&photos);
    tear_down(&f);
}

/* A photograph that neither side has is none; one that cannot be read says why. */
static void test_missing_photographs_are_told(void **state) {
    (void)state;
    fixture f;
    const psfm_pyramid *pair[2];
    bool both = true;
    char *path = NULL;
    set_up(&f, 1);
    assert_ok(f.ctx, psfm_path_join(f.ctx, f.folder, "1.png", &path));
    assert_int_equal(remove(path), 0);
    free(path);
    psfm_rank_photos *photos = open_rank(&f);
    tell_view(&f, photos, 0, true);
    tell_view(&f, photos, 1, true);
    const uint32_t views[2] = {0, 1};
    assert_ok(f.ctx, psfm_rank_photos_get_pair(f.ctx, photos, views, pair, &both));
    assert_false(both);
    assert_non_null(strstr(psfm_rank_photos_problem(photos, 1), "1.png"));
    assert_null(psfm_rank_photos_problem(photos, 0));
    psfm_rank_photos_close(&photos);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_views_are_read),
        cmocka_unit_test(test_unknown_views_fail),
        cmocka_unit_test(test_another_folder_is_refused),
        cmocka_unit_test(test_another_photograph_is_refused),
        cmocka_unit_test(test_missing_photographs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
