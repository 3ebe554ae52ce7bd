/* The library called from four threads at once, each with a context of its own: all get the same
 * numbers, also after some of them were cancelled at any moment. */
#include <pthread.h>

#include "planarsfm/solve.h"
#include "synth/scene.h"
#include "test_util.h"

enum { NUM_THREADS = 4, NUM_ROUNDS = 3, MAX_IMAGES = 8 };

typedef struct {
    const psfm_match_set *set;
    int number;
    psfm_status status[NUM_ROUNDS];
    double poses[MAX_IMAGES][7]; /* of the last round */
    size_t num_posed;
} caller;

typedef struct {
    int left; /* calls of the callback until it stops the run; none if negative */
} patience;

static int stop_some_time(const char *stage, size_t done, size_t total, void *user) {
    patience *p = user;
    (void)stage, (void)done, (void)total;
    return p->left >= 0 && p->left-- == 0;
}

static psfm_status fill(psfm_context *ctx, const psfm_match_set *set, psfm_problem *problem) {
    psfm_status status = PSFM_OK;
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c)
        status = psfm_problem_add_camera(ctx, problem, &set->cameras[c]);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v) {
        const psfm_view *view = &set->views[v];
        status = psfm_problem_add_image(ctx, problem, view->id, set->cameras[view->camera_idx].id,
                                        view->name, view->num_keypoints, &view->keypoints[0][0]);
    }
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        status = psfm_problem_add_matches(ctx, problem, set->views[pair->view1].id,
                                          set->views[pair->view2].id, pair->num_matches,
                                          &pair->matches[0][0]);
    }
    return status;
}

static void keep_poses(const psfm_result *result, caller *c) {
    c->num_posed = 0;
    for (size_t k = 0; k < psfm_result_num_images(result) && k < MAX_IMAGES; ++k) {
        psfm_image_result image = {.struct_size = sizeof image};
        if (!psfm_result_image(result, k, &image) || image.model < 0)
            continue;
        memcpy(c->poses[k], image.cam_from_world_q, sizeof image.cam_from_world_q);
        memcpy(c->poses[k] + 4, image.cam_from_world_t, sizeof image.cam_from_world_t);
        ++c->num_posed;
    }
}

/* Assertions must stay on the first thread; everything is judged there. */
static void *call(void *user) {
    caller *c = user;
    psfm_context *ctx = psfm_context_create();
    psfm_problem *problem = psfm_problem_create();
    psfm_context_set_threads(ctx, 2);
    psfm_status filled = fill(ctx, c->set, problem);
    for (int round = 0; round < NUM_ROUNDS; ++round) {
        psfm_result *result = NULL;
        bool is_last = round == NUM_ROUNDS - 1;
        patience p = {is_last ? -1 : (c->number * 13 + round * 29) % 40};
        psfm_context_set_progress(ctx, stop_some_time, &p);
        c->status[round] = filled == PSFM_OK ? psfm_solve(ctx, problem, NULL, &result) : filled;
        if (is_last && c->status[round] == PSFM_OK)
            keep_poses(result, c);
        psfm_result_destroy(&result);
    }
    psfm_problem_destroy(&problem);
    psfm_context_destroy(&ctx);
    return NULL;
}

static void all_agree(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene = {0};
    caller callers[NUM_THREADS];
    pthread_t threads[NUM_THREADS];
    size_t num_cancelled = 0;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = MAX_IMAGES;
    options.num_points = 120;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 4, &options, &scene));
    for (int k = 0; k < NUM_THREADS; ++k) {
        callers[k] = (caller){.set = &scene.matches, .number = k};
        assert_int_equal(pthread_create(&threads[k], NULL, call, &callers[k]), 0);
    }
    for (int k = 0; k < NUM_THREADS; ++k)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < NUM_THREADS; ++k) {
        for (int round = 0; round < NUM_ROUNDS - 1; ++round) {
            assert_true(callers[k].status[round] == PSFM_OK ||
                        callers[k].status[round] == PSFM_ERR_CANCELLED);
            num_cancelled += callers[k].status[round] == PSFM_ERR_CANCELLED;
        }
        assert_int_equal(callers[k].status[NUM_ROUNDS - 1], PSFM_OK);
        assert_int_equal(callers[k].num_posed, MAX_IMAGES);
        assert_memory_equal(callers[k].poses, callers[0].poses, sizeof callers[0].poses);
    }
    assert_true(num_cancelled > 0);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
