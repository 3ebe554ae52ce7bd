#include "test_util.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/parallel.h"

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

typedef struct {
    atomic_int runs[1000];
    atomic_int workers[8];
} tally;

static psfm_status count_task(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    tally *t = user;
    atomic_fetch_add(&t->runs[index], 1);
    atomic_fetch_add(&t->workers[worker], 1);
    return PSFM_OK;
}

/* Loops that follow each other at once, most of no more than a few tasks. */
static void short_loops_run_every_task_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; ++threads) {
        psfm_context *ctx = psfm_context_create();
        tally t = {0};
        int total = 0;
        psfm_context_set_threads(ctx, threads);
        for (int loop = 0; loop < 300; ++loop) {
            size_t n = (size_t)(loop % 7 == 0 ? 1000 : loop % 7 - 1);
            assert_ok(ctx, psfm_parallel_for(ctx, NULL, n, count_task, &t));
        }
        for (int k = 0; k < 1000; ++k) {
            int expected = k >= 5 ? 43 : 0; /* long loops */
            for (int loop = 0; k < 5 && loop < 300; ++loop)
                expected += loop % 7 == 0 || k < loop % 7 - 1;
            assert_int_equal(t.runs[k], expected);
            total += expected;
        }
        for (int k = 0; k < 8; ++k) {
            total -= t.workers[k];
            assert_true(k < threads || t.workers[k] == 0);
        }
        assert_int_equal(total, 0);
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

/* Threads outlive a loop, and there are as many as asked for last. */
static void threads_follow_their_number(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int round = 0; round < 20; ++round) {
        counted c = {.fail_from = SIZE_MAX};
        psfm_context_set_threads(ctx, 1 + round % 5);
        for (int k = 0; k < 5; ++k)
            assert_ok(ctx, psfm_parallel_for(ctx, NULL, 200, square, &c));
        assert_int_equal(c.ran, 1000);
    }
    psfm_context_destroy(&ctx);
}

static void wait_a_little(void) {
    const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
}

static void wait_for(const counted *c, size_t num) {
    while (c->ran < num)
        wait_a_little();
}

/* While the caller does something else, threads do the tasks of a job. */
static void a_job_goes_on_beside_the_caller(void **state) {
    (void)state;
    for (int threads = 2; threads <= 5; ++threads) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        counted c = {.fail_from = SIZE_MAX}, other = {.fail_from = SIZE_MAX};
        psfm_job *job = NULL;
        assert_ok(ctx, psfm_job_begin(ctx, 1000, square, &c, &job));
        assert_ok(ctx, psfm_parallel_for(ctx, NULL, 1000, square, &other));
        assert_int_equal(other.ran, 1000);
        wait_for(&c, 1000);
        assert_ok(ctx, psfm_job_stop(ctx, &job));
        assert_null(job);
        assert_int_equal(c.ran, 1000);
        for (size_t k = 0; k < 1000; ++k)
            assert_true(c.slot[k] == (double)(k * k));
        psfm_context_destroy(&ctx);
    }
}

/* Tasks that begin only when they are let. */
typedef struct {
    atomic_size_t begun, let;
} gate;

static psfm_status pass(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    gate *g = user;
    atomic_fetch_add(&g->begun, 1);
    while (g->let <= index)
        wait_a_little();
    return PSFM_OK;
}

/* A thread does one task of a job and then looks whether a loop needs it. */
static void loops_go_before_jobs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 2);
    counted c = {.fail_from = SIZE_MAX};
    gate jobs = {0};
    psfm_job *job = NULL;
    assert_ok(ctx, psfm_job_begin(ctx, 1000, pass, &jobs, &job));
    while (jobs.begun == 0)
        wait_a_little();
    assert_ok(ctx, psfm_parallel_for(ctx, NULL, 1000, square, &c)); /* the caller does all of it */
    assert_int_equal(c.ran, 1000);
    assert_int_equal(jobs.begun, 1);
    jobs.let = 1000;
    assert_ok(ctx, psfm_job_stop(ctx, &job));
    psfm_context_destroy(&ctx);
}

static void there_is_no_job_without_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    counted c = {.fail_from = SIZE_MAX};
    psfm_job *job = NULL;
    assert_ok(ctx, psfm_job_begin(ctx, 100, square, &c, &job));
    assert_null(job);
    assert_ok(ctx, psfm_job_stop(ctx, &job));
    assert_int_equal(c.ran, 0);
    psfm_context_destroy(&ctx);
}

static void a_job_tells_its_lowest_failure(void **state) {
    (void)state;
    for (int round = 0; round < 50; ++round) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 2 + round % 4);
        counted c = {.fail_from = 30}, other = {.fail_from = SIZE_MAX};
        psfm_job *job = NULL;
        assert_ok(ctx, psfm_job_begin(ctx, 1000, square, &c, &job));
        assert_ok(ctx, psfm_parallel_for(ctx, NULL, 100, square, &other));
        wait_for(&c, 31);
        assert_int_equal(psfm_job_stop(ctx, &job), PSFM_ERR_DATA);
        assert_string_equal(psfm_context_message(ctx), "task 30 failed");
        psfm_context_destroy(&ctx);
    }
}

static void a_job_that_is_stopped_stands_still(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 3);
    counted c = {.fail_from = SIZE_MAX};
    gate first = {0};
    psfm_job *job = NULL, *other = NULL;
    assert_ok(ctx, psfm_job_begin(ctx, 1000, pass, &first, &job));
    assert_ok(ctx, psfm_job_begin(ctx, 1000, square, &c, &other));
    while (first.begun < 2) /* both threads are at it: none is left for the second */
        wait_a_little();
    assert_ok(ctx, psfm_job_stop(NULL, &other));
    assert_int_equal(c.ran, 0);
    first.let = 1000;
    assert_ok(ctx, psfm_job_stop(NULL, &job));
    psfm_context_destroy(&ctx);
}

/* A job that is closed begins nothing more, and the caller goes on while what has begun ends. */
static void a_job_that_is_closed_ends_by_itself(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 2);
    gate jobs = {0};
    psfm_job *job = NULL;
    assert_ok(ctx, psfm_job_begin(ctx, 1000, pass, &jobs, &job));
    while (jobs.begun == 0)
        wait_a_little();
    psfm_job_close(job);
    jobs.let = 1000;
    for (int k = 0; k < 20; ++k) /* time for others to begin */
        wait_a_little();
    assert_int_equal(jobs.begun, 1);
    assert_ok(ctx, psfm_job_stop(ctx, &job));
    psfm_job_close(NULL);
    psfm_context_destroy(&ctx);
}

/* Two tasks: the first is done at once, the second has a loop whose two tasks wait for each other.
 */
typedef struct {
    psfm_context *lender;
    atomic_size_t met;
} meeting;

static psfm_status meet(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)index, (void)worker;
    meeting *m = user;
    atomic_fetch_add(&m->met, 1);
    for (int k = 0; k < 10000 && m->met < 2; ++k)
        wait_a_little();
    return m->met < 2 ? PSFM_ERR_DATA : PSFM_OK;
}

static psfm_status rest_or_meet(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    meeting *m = user;
    if (index == 0)
        return PSFM_OK;
    psfm_context *own = psfm_context_spare(m->lender);
    psfm_context_borrow_threads(own, m->lender);
    psfm_status status = psfm_parallel_for(own, NULL, 2, meet, m);
    psfm_context_destroy(&own);
    return status;
}

static void whoever_is_done_helps(void **state) {
    (void)state;
    for (int threads = 3; threads <= 5; ++threads) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        meeting m = {.lender = ctx};
        assert_ok(ctx, psfm_parallel_for(ctx, NULL, 2, rest_or_meet, &m));
        assert_int_equal(m.met, 2);
        psfm_context_destroy(&ctx);
    }
}

/* A process that forks has a child without its threads; contexts work in both. */
static void a_child_makes_threads_of_its_own(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* which does not let a child start threads */
#else
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 3);
    counted c = {.fail_from = SIZE_MAX};
    int code = 0;
    assert_ok(ctx, psfm_parallel_for(ctx, NULL, 1000, square, &c));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        bool good = psfm_parallel_for(ctx, NULL, 1000, square, &c) == PSFM_OK && c.ran == 2000;
        psfm_context_destroy(&ctx);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    assert_ok(ctx, psfm_parallel_for(ctx, NULL, 1000, square, &c));
    psfm_context_destroy(&ctx);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_every_task_once),
        cmocka_unit_test(short_loops_run_every_task_once),
        cmocka_unit_test(reports_the_lowest_failure),
        cmocka_unit_test(progress_can_cancel),
        cmocka_unit_test(a_stage_begins_before_its_first_task),
        cmocka_unit_test(threads_follow_their_number),
        cmocka_unit_test(a_job_goes_on_beside_the_caller),
        cmocka_unit_test(loops_go_before_jobs),
        cmocka_unit_test(there_is_no_job_without_threads),
        cmocka_unit_test(a_job_tells_its_lowest_failure),
        cmocka_unit_test(a_job_that_is_stopped_stands_still),
        cmocka_unit_test(a_job_that_is_closed_ends_by_itself),
        cmocka_unit_test(whoever_is_done_helps),
        cmocka_unit_test(a_child_makes_threads_of_its_own),
    };
    return cmocka_run_group_tests_name("base/parallel", tests, NULL, NULL);
}
