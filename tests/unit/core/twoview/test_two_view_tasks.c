/* Two-view geometries that other ranks computed are those of one process, to the last bit. */
#include "core/twoview/two_view_tasks.h"

#include "core/twoview/two_view.h"
#include "synth/scene.h"
#include "test_util.h"
#include "thread_link.h"

static const psfm_task_kind *const kinds[] = {&psfm_two_view_tasks, NULL};

static psfm_two_view *estimate(psfm_context *ctx, const psfm_match_set *set) {
    psfm_two_view *views = calloc(set->num_pairs, sizeof *views);
    assert_ok(ctx, psfm_two_view_estimate_all(ctx, set, NULL, views));
    return views;
}

static void release(psfm_two_view *views, size_t num) {
    for (size_t k = 0; k < num; ++k)
        psfm_two_view_free(&views[k]);
    free(views);
}

static void assert_same_inliers(const uint32_t *a, size_t num_a, const uint32_t *b, size_t num_b) {
    assert_int_equal(num_a, num_b);
    for (size_t k = 0; k < num_a; ++k)
        assert_int_equal(a[k], b[k]);
}

static void assert_same(const psfm_two_view *a, const psfm_two_view *b) {
    const psfm_essential *e = &a->essential, *f = &b->essential;
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->num_homographies, b->num_homographies);
    for (size_t k = 0; k < a->num_homographies; ++k) {
        const psfm_homography *h = &a->homographies[k], *g = &b->homographies[k];
        assert_memory_equal(h->H_21, g->H_21, sizeof h->H_21);
        assert_memory_equal(h->motions, g->motions, sizeof h->motions);
        assert_int_equal(h->num_motions, g->num_motions);
        assert_same_inliers(h->inliers, h->num_inliers, g->inliers, g->num_inliers);
    }
    assert_int_equal(e->found, f->found);
    assert_memory_equal(e->R_21, f->R_21, sizeof e->R_21);
    assert_memory_equal(e->t_21, f->t_21, sizeof e->t_21);
    assert_same_inliers(e->inliers, e->num_inliers, f->inliers, f->num_inliers);
}

/* Cut anywhere, a geometry is a failure, and what was read of it can be freed. */
static void assert_cuts_fail(psfm_context *ctx, psfm_two_view *view) {
    const psfm_task_value *kind = &psfm_two_view_tasks.result;
    psfm_message message = {0};
    psfm_transfer t = {.ctx = ctx, .message = &message};
    kind->move(&t, view);
    assert_ok(ctx, t.status);
    for (size_t size = message.size; size > 0;) {
        psfm_two_view got;
        message.size = --size;
        message.at = 0;
        t = (psfm_transfer){.ctx = ctx, .message = &message, .is_reading = true};
        kind->move(&t, &got);
        assert_int_equal(t.status, PSFM_ERR_FORMAT);
        kind->free(&got);
    }
    psfm_message_free(&message);
}

static void test_ranks_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 20;
    options.num_points = 300;
    options.off_plane = 0.3;
    psfm_context_set_seed(ctx, 5);
    psfm_context_set_threads(ctx, 1);
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    const psfm_match_set *set = &scene.matches;
    psfm_two_view *alone = estimate(ctx, set);
    size_t num_found = 0;
    for (int num_ranks = 2; num_ranks <= 3; ++num_ranks) {
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, kinds);
        psfm_two_view *spread = estimate(ctx, set);
        for (size_t k = 0; k < set->num_pairs; ++k) {
            assert_same(&alone[k], &spread[k]);
            num_found += spread[k].num_homographies;
        }
        release(spread, set->num_pairs);
        assert_true(thread_ranks_stop(ctx, ranks));
    }
    assert_true(num_found > set->num_pairs);
    assert_cuts_fail(ctx, &alone[0]);
    release(alone, set->num_pairs);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
