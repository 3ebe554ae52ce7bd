/* More threads than places: never two in one place, and everybody gets one. */
#include <stdatomic.h>
#include <unistd.h>

#include "base/parallel.h"
#include "nn/pool.h"
#include "test_util.h"

enum { NUM_PLACES = 2, NUM_TASKS = 200, NUM_THREADS = 6 };

typedef struct {
    psfm_pool pool;
    atomic_int inside[NUM_PLACES];
    atomic_int clashes, done;
} world;

static psfm_status visit(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    world *w = user;
    int place = psfm_pool_take(&w->pool);
    if (place < 0 || place >= NUM_PLACES || atomic_fetch_add(&w->inside[place], 1) != 0)
        atomic_fetch_add(&w->clashes, 1);
    if (index % 8 == 0)
        usleep(100);
    atomic_fetch_sub(&w->inside[place], 1);
    psfm_pool_give(&w->pool, place);
    atomic_fetch_add(&w->done, 1);
    return PSFM_OK;
}

static void places_are_not_shared(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static world w;
    psfm_context_set_threads(ctx, NUM_THREADS);
    assert_ok(ctx, psfm_pool_init(ctx, NUM_PLACES, &w.pool));
    assert_ok(ctx, psfm_parallel_for(ctx, NULL, NUM_TASKS, visit, &w));
    assert_int_equal(w.clashes, 0);
    assert_int_equal(w.done, NUM_TASKS);
    psfm_pool_free(&w.pool);
    psfm_pool_free(&w.pool);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_not_shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
