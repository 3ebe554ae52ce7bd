/* Photographs on a rank: read by itself, and only if they are the first rank's. */
#include "images/photometric/photo_tasks.h"

#include "core/base/file_fingerprint.h"
#include "plane_views.h"

/* A view as it comes to a rank, or as if the first rank saw another file. */
static psfm_photo_view view_of(const fixture *f, uint32_t v, bool is_same) {
    char *path = NULL;
    psfm_photo_view view = {.name = copy(f->set.views[v].name), .camera = f->set.cameras[0]};
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->folder, view.name, &path));
    assert_ok(f->ctx, psfm_file_print(f->ctx, path, &view.print));
    view.print += is_same ? 0 : 2;
    free(path);
    return view;
}

/* What a rank gets to know before its first task: compared are the first view and the second. */
static psfm_photo_setup setup_of(const fixture *f, bool is_same) {
    return (psfm_photo_setup){.patch = f->options.patch,
                              .folder = copy(f->folder),
                              .num_views = NUM_VIEWS,
                              .cache_bytes = 64 << 20,
                              .num_compared = 2,
                              .compared = {view_of(f, 0, true), view_of(f, 1, is_same)}};
}

static psfm_photo_state *open_rank(const fixture *f, psfm_photo_setup *setup) {
    void *state = NULL;
    *setup = setup_of(f, true);
    assert_ok(f->ctx, psfm_photo_state_open(f->ctx, setup, &(int){2}, &state));
    return state;
}

static void close_rank(psfm_photo_state *s, psfm_photo_setup *setup) {
    psfm_photo_state_close(s);
    psfm_photo_setup_free(setup);
}

static void tell_view(const fixture *f, psfm_photo_state *s, uint32_t v, bool is_same) {
    psfm_photo_view view = view_of(f, v, is_same);
    assert_ok(f->ctx, psfm_photo_state_take(f->ctx, s, v, &view));
}

static void test_views_are_read(void **state) {
    (void)state;
    static const uint32_t views[2] = {0, 2};
    fixture f;
    psfm_photo_setup setup;
    const psfm_pyramid *pair[2];
    bool both = false;
    set_up(&f, 1);
    psfm_photo_state *s = open_rank(&f, &setup);
    for (int round = 0; round < 2; ++round) {
        tell_view(&f, s, 0, true);
        tell_view(&f, s, 2, true);
        assert_ok(f.ctx, psfm_photos_get(f.ctx, s, views, 2, pair, &both));
        assert_true(both && pair[0]->levels[0].width == 320 && pair[1] != pair[0]);
        psfm_photos_release(s, views, 2);
        psfm_photo_state_forget(s);
    }
    assert_true(s->aligners[0] != s->aligners[1]);
    close_rank(s, &setup);
    tear_down(&f);
}

static void assert_another_photograph(const fixture *f) {
    assert_non_null(strstr(psfm_context_message(f->ctx), "1.png"));
    assert_non_null(strstr(psfm_context_message(f->ctx), "sees another photograph"));
}

static void test_another_folder_is_refused(void **state) {
    (void)state;
    fixture f;
    void *rank = NULL;
    set_up(&f, 1);
    psfm_photo_setup setup = setup_of(&f, false);
    assert_int_equal(psfm_photo_state_open(f.ctx, &setup, &(int){2}, &rank), PSFM_ERR_DATA);
    assert_null(rank);
    assert_another_photograph(&f);
    psfm_photo_setup_free(&setup);
    tear_down(&f);
}

static void test_another_photograph_is_refused(void **state) {
    (void)state;
    static const uint32_t views[2] = {0, 1};
    fixture f;
    psfm_photo_setup setup;
    const psfm_pyramid *pair[2];
    bool both = true;
    set_up(&f, 1);
    psfm_photo_state *s = open_rank(&f, &setup);
    tell_view(&f, s, 0, true);
    tell_view(&f, s, 1, false);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(psfm_photos_get(f.ctx, s, views, 2, pair, &both), PSFM_ERR_DATA);
        assert_false(both);
        assert_another_photograph(&f);
    }
    close_rank(s, &setup);
    tear_down(&f);
}

/* A photograph that neither side has is none; one that cannot be read says why. */
static void test_missing_photographs_are_told(void **state) {
    (void)state;
    static const uint32_t views[2] = {0, 1};
    fixture f;
    psfm_photo_setup setup;
    const psfm_pyramid *pair[2];
    bool both = true;
    char *path = NULL;
    set_up(&f, 1);
    assert_ok(f.ctx, psfm_path_join(f.ctx, f.folder, "1.png", &path));
    assert_int_equal(remove(path), 0);
    free(path);
    psfm_photo_state *s = open_rank(&f, &setup);
    tell_view(&f, s, 0, true);
    tell_view(&f, s, 1, true);
    assert_ok(f.ctx, psfm_photos_get(f.ctx, s, views, 2, pair, &both));
    assert_false(both);
    assert_non_null(strstr(psfm_photo_cache_problem(s->photos, 1), "1.png"));
    assert_null(psfm_photo_cache_problem(s->photos, 0));
    close_rank(s, &setup);
    tear_down(&f);
}

/* Cut at any byte, a view with its corners is a failure and owns nothing that is not its own. */
static void test_cut_views_are_refused(void **state) {
    (void)state;
    fixture f;
    psfm_corner corners[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    psfm_message message = {0};
    set_up(&f, 1);
    psfm_photo_view view = {.name = "a.png", .corners = corners, .num_corners = 3}, got;
    psfm_transfer t = {.ctx = f.ctx, .message = &message};
    psfm_photo_view_move(&t, &view);
    assert_ok(f.ctx, t.status);
    const size_t whole = message.size;
    for (size_t size = 0; size <= whole; ++size) {
        message.size = size;
        message.at = 0;
        t = (psfm_transfer){.ctx = f.ctx, .message = &message, .is_reading = true};
        psfm_photo_view_move(&t, &got);
        assert_int_equal(t.status, size < whole ? PSFM_ERR_FORMAT : PSFM_OK);
        assert_int_equal(got.num_corners, size < whole ? 0 : 3);
        if (size == whole)
            assert_memory_equal(got.corners, corners, sizeof corners);
        free((char *)got.name);
        free(got.corners);
    }
    psfm_message_free(&message);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views_are_read),
        cmocka_unit_test(test_another_folder_is_refused),
        cmocka_unit_test(test_another_photograph_is_refused),
        cmocka_unit_test(test_missing_photographs_are_told),
        cmocka_unit_test(test_cut_views_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
