#include "test_util.h"

#include <stdatomic.h>

#include "base/parallel.h"

typedef struct {
    double slot[1000];
    atomic_size_t ran;
    size_t fail_from; /* tasks from this index on fail */
} counted;

static psfm_status square(psfm_context *ctx, size_t index, int worker, void *user) {
    counted *c = user;
    (void)worker;
    atomic_fetch_add(&c->ran, 1);
    if (index >= c->fail_from)
        return psfm_fail(ctx, PSFM_ERR_DATA, "task %zu failed", index);
    c->slot[index] = (double)index * (double)index;
    return PSFM_OK;
}

static void runs_every_task_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        counted c = {.fail_from = SIZE_MAX};
        assert_ok(ctx, psfm_parallel_for(ctx, NULL, 1000, square, &c));
        assert_int_equal(c.ran, 1000);
        for (size_t k = 0; k < 1000; ++k)
            assert_true(c.slot[k] == (double)(k * k));
        assert_ok(ctx, psfm_parallel_for(ctx, NULL, 0, square, &c));
        psfm_context_destroy(&ctx);
    }
}

static void reports_the_lowest_failure(void **state) {
    (void)state;
    for (int round = 0; round < 50; ++round) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 1 + round % 8);
        counted c = {.fail_from = 300};
        assert_int_equal(psfm_parallel_for(ctx, NULL, 1000, square, &c), PSFM_ERR_DATA);
        assert_string_equal(psfm_context_message(ctx), "task 300 failed");
        psfm_context_destroy(&ctx);
    }
}

static int stop_half_way(const char *stage, size_t done, size_t total, void *user) {
    assert_string_equal(stage, "squaring");
    *(size_t *)user = done;
    return done * 2 >= total;
}

static void progress_can_cancel(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    size_t seen = 0;
    psfm_context_set_threads(ctx, 4);
    psfm_context_set_progress(ctx, stop_half_way, &seen);
    counted c = {.fail_from = SIZE_MAX};
    assert_int_equal(psfm_parallel_for(ctx, "squaring", 1000, square, &c), PSFM_ERR_CANCELLED);
    assert_true(seen >= 500 && c.ran < 1000);
    psfm_context_destroy(&ctx);
}

/* What a progress function was told. */
typedef struct {
    counted *work;
    size_t calls;
    bool in_order, began_before_the_work;
} told;

static int listen(const char *stage, size_t done, size_t total, void *user) {
    (void)stage, (void)total;
    told *t = user;
    if (t->calls == 0)
        t->began_before_the_work = done == 0 && t->work->ran == 0;
    t->in_order = t->in_order && done == t->calls;
    ++t->calls;
    return 0;
}

static void a_stage_begins_before_its_first_task(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    counted c = {.fail_from = SIZE_MAX};
    told t = {.work = &c, .in_order = true};
    psfm_context_set_threads(ctx, 3);
    psfm_context_set_progress(ctx, listen, &t);
    assert_ok(ctx, psfm_parallel_for(ctx, "squaring", 50, square, &c));
    assert_true(t.began_before_the_work && t.in_order);
    assert_int_equal(t.calls, 51);
    assert_ok(ctx, psfm_parallel_for(ctx, "squaring", 0, square, &c)); /* nothing to tell */
    assert_int_equal(t.calls, 51);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_every_task_once),
        cmocka_unit_test(reports_the_lowest_failure),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(a_stage_begins_before_its_first_task),
    };
    return cmocka_run_group_tests_name("base/parallel", tests, NULL, NULL);
}
