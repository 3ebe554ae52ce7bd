/* Lists of tasks over threads, and over ranks that are threads. Task k multiplies two parts, k % 7
 * and k % 5, and adds what the setup says. */
#include "core/tasks/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "test_util.h"
#include "thread_link.h"

enum { NUM_TASKS = 300, NUM_PARTS = 7, NOWHERE = 1 << 20 };

/* ---- the kind ---- */

typedef struct {
    int64_t added;
    size_t fails_at;
    int64_t parts[NUM_PARTS];
    bool is_there[NUM_PARTS];
} sums;

typedef struct {
    int64_t added;
    size_t fails_at; /* this task and all after it fail */
    bool refuses;    /* ranks without the part of the setup that only the first has */
} sums_setup;

static _Thread_local bool is_first_rank;

static psfm_status open_sums(psfm_context *ctx, void *value, int *num_workers, void **state) {
    const sums_setup *setup = value;
    sums *s = NULL;
    assert_true(*num_workers >= 1);
    if (setup->refuses && !is_first_rank)
        return psfm_fail(ctx, PSFM_ERR_IO, "no weights here");
    psfm_status status = PSFM_ALLOC(ctx, 1, &s);
    if (status == PSFM_OK) {
        s->added = setup->added;
        s->fails_at = setup->fails_at;
    }
    *state = s;
    return status;
}

static psfm_status take_part(psfm_context *ctx, void *state, uint32_t part, void *content) {
    sums *s = state;
    if (s->is_there[part])
        return psfm_fail(ctx, PSFM_ERR_DATA, "part %u comes twice", part);
    s->is_there[part] = true;
    s->parts[part] = *(int64_t *)content;
    return PSFM_OK;
}

static void forget_parts(void *state) {
    sums *s = state;
    memset(s->is_there, 0, sizeof s->is_there);
}

/* Results are behind pointers, which do not get to another rank by themselves. */
static psfm_status sum(psfm_context *ctx, void *state, int worker, void *item, void *result) {
    (void)worker;
    const sums *s = state;
    const size_t k = *(const size_t *)item;
    int64_t *product = NULL;
    if (k >= s->fails_at)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "task %zu has no sum", k);
    if (!s->is_there[k % 7] || !s->is_there[k % 5])
        return psfm_fail(ctx, PSFM_ERR_DATA, "task %zu misses a part", k);
    psfm_status status = PSFM_ALLOC(ctx, 1, &product);
    if (status == PSFM_OK)
        *product = s->parts[k % 7] * s->parts[k % 5] + s->added;
    *(int64_t **)result = product;
    return status;
}

static void move_sum(psfm_transfer *t, void *result) {
    size_t num = 1;
    psfm_move_array(t, result, &num, sizeof(int64_t));
}

static void free_sum(void *result) {
    free(*(int64_t **)result);
}

static const psfm_task_kind sums_kind = {.name = "sums",
                                         .setup = {.size = sizeof(sums_setup)},
                                         .part = {.size = sizeof(int64_t)},
                                         .item = {.size = sizeof(size_t)},
                                         .result = {sizeof(int64_t *), move_sum, free_sum},
                                         .open = open_sums,
                                         .take_part = take_part,
                                         .forget_parts = forget_parts,
                                         .compute = sum,
                                         .close = free};

/* The same, several at once. */
static psfm_status sum_all(psfm_context *ctx, void *state, int worker, void *items, size_t num,
                           void *results) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = sum(ctx, state, worker, (size_t *)items + k, (int64_t **)results + k);
    return status;
}

static const psfm_task_kind *const kinds[] = {&sums_kind, NULL};
static const psfm_task_kind *const no_kinds[] = {NULL};

/* ---- the list ---- */

typedef struct {
    size_t num_committed;
    size_t refuses_at; /* the commit of this task fails */
    size_t num_loaded;
    size_t memory;      /* that a part is said to take */
    size_t task_weight; /* of the list */
    bool at_once;
} book;

static psfm_status describe(psfm_context *ctx, size_t index, void *user, void *item) {
    (void)ctx, (void)user;
    memcpy(item, &index, sizeof index);
    return PSFM_OK;
}

static psfm_status load_part(psfm_context *ctx, const psfm_task_list *list, uint32_t part,
                             void *content, size_t *memory) {
    (void)ctx;
    book *b = list->user;
    *(int64_t *)content = 1000 + (int64_t)part;
    ++b->num_loaded;
    *memory = b->memory;
    return PSFM_OK;
}

static psfm_status commit(psfm_context *ctx, size_t index, void *user, void *result) {
    book *b = user;
    assert_int_equal(index, b->num_committed);
    if (index == b->refuses_at)
        return psfm_fail(ctx, PSFM_ERR_IO, "the disk is full");
    assert_int_equal(**(int64_t **)result, (1000 + index % 7) * (1000 + index % 5) + 42);
    ++b->num_committed;
    return PSFM_OK;
}

/* Items of weights 0 to 3. */
static psfm_status run(psfm_context *ctx, sums_setup setup, size_t num, book *b) {
    static const char *const stage = "sums";
    psfm_task_kind all_at_once = sums_kind;
    uint32_t parts[2 * NUM_TASKS];
    size_t weights[NUM_TASKS];
    const psfm_task_list list = {.kind = b->at_once ? &all_at_once : &sums_kind,
                                 .stage = stage,
                                 .setup = &setup,
                                 .num = num,
                                 .weights = weights,
                                 .task_weight = b->task_weight,
                                 .describe = describe,
                                 .parts = parts,
                                 .parts_each = 2,
                                 .num_parts = NUM_PARTS,
                                 .load_part = load_part,
                                 .commit = commit,
                                 .user = b};
    all_at_once.compute_all = sum_all;
    for (size_t k = 0; k < NUM_TASKS; ++k) {
        parts[2 * k] = (uint32_t)(k % 7);
        parts[2 * k + 1] = (uint32_t)(k % 5);
        weights[k] = k % 4;
    }
    setup.added = 42;
    is_first_rank = true;
    return psfm_tasks_run(ctx, &list);
}

static const sums_setup plain = {.fails_at = NOWHERE};

/* ---- tests ---- */

static void test_results_come_in_order(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int num_ranks = 1; num_ranks <= 4; ++num_ranks) {
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, kinds);
        for (int k = 0; k < 12; ++k) {
            book b = {.refuses_at = NOWHERE,
                      .memory = 1,
                      .task_weight = (size_t[]){0, 5, 1000}[k % 3],
                      .at_once = k % 2 == 1};
            psfm_context_set_threads(ctx, 1 + k / 4);
            assert_ok(ctx, run(ctx, plain, NUM_TASKS, &b));
            assert_int_equal(b.num_committed, NUM_TASKS);
            assert_true(b.num_loaded >= NUM_PARTS);
            assert_true(b.num_loaded <= NUM_PARTS * (size_t)num_ranks);
        }
        book none = {.refuses_at = NOWHERE};
        assert_ok(ctx, run(ctx, plain, 0, &none));
        book one = {.refuses_at = NOWHERE};
        assert_ok(ctx, run(ctx, plain, 1, &one));
        assert_int_equal(one.num_committed, 1);
        assert_true(thread_ranks_stop(ctx, ranks));
    }
    psfm_context_destroy(&ctx);
}

static void test_parts_are_forgotten_beyond_the_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 2);
    psfm_context_set_memory(ctx, 4000); /* of which a quarter is for parts */
    for (int num_ranks = 1; num_ranks <= 3; ++num_ranks) {
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, kinds);
        book b = {.refuses_at = NOWHERE, .memory = 400};
        assert_ok(ctx, run(ctx, plain, NUM_TASKS, &b));
        assert_int_equal(b.num_committed, NUM_TASKS);
        assert_true(b.num_loaded > NUM_PARTS * (size_t)num_ranks);
        assert_true(thread_ranks_stop(ctx, ranks));
    }
    psfm_context_destroy(&ctx);
}

static void test_the_lowest_failure_is_reported(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 2);
    for (int num_ranks = 1; num_ranks <= 3; ++num_ranks) {
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, kinds);
        book b = {.refuses_at = NOWHERE};
        assert_int_equal(run(ctx, (sums_setup){.fails_at = 100}, NUM_TASKS, &b), PSFM_ERR_NUMERIC);
        assert_string_equal(psfm_context_message(ctx), "task 100 has no sum");
        assert_int_equal(b.num_committed, 100);
        book full = {.refuses_at = 50};
        assert_int_equal(run(ctx, plain, NUM_TASKS, &full), PSFM_ERR_IO);
        assert_string_equal(psfm_context_message(ctx), "the disk is full");
        assert_int_equal(full.num_committed, 50);
        book again = {.refuses_at = NOWHERE}; /* late results of the lists before do no harm */
        assert_ok(ctx, run(ctx, plain, NUM_TASKS, &again));
        assert_true(thread_ranks_stop(ctx, ranks));
    }
    psfm_context_destroy(&ctx);
}

static void test_a_rank_that_cannot_work_is_named(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    thread_ranks *ranks = thread_ranks_start(ctx, 2, kinds);
    book b = {.refuses_at = NOWHERE};
    assert_int_equal(run(ctx, (sums_setup){.fails_at = NOWHERE, .refuses = true}, NUM_TASKS, &b),
                     PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "rank 1 on "));
    assert_non_null(strstr(psfm_context_message(ctx), ": no weights here"));
    assert_true(thread_ranks_stop(ctx, ranks));
    ranks = thread_ranks_start(ctx, 2, no_kinds);
    book other = {.refuses_at = NOWHERE};
    assert_int_equal(run(ctx, plain, NUM_TASKS, &other), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "does not know of tasks called sums"));
    assert_true(thread_ranks_stop(ctx, ranks));
    psfm_context_destroy(&ctx);
}

/* ---- loops inside tasks ---- */

/* Two tasks for two workers: one has a loop, the other is done when that has begun. */
static atomic_size_t num_met;

static void wait_until_met(size_t num) {
    const struct timespec pause = {.tv_nsec = 200000};
    for (int k = 0; k < 50000 && num_met < num; ++k)
        nanosleep(&pause, NULL);
}

/* Two of these wait for each other. */
static psfm_status meet(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)index, (void)worker, (void)user;
    atomic_fetch_add(&num_met, 1);
    wait_until_met(2);
    return num_met < 2 ? psfm_fail(ctx, PSFM_ERR_DATA, "nobody helped") : PSFM_OK;
}

/* The setup says which worker has the loop. */
static psfm_status run_meeting(psfm_context *ctx, void *host, int worker, void *item,
                               void *result) {
    (void)item, (void)result;
    if (worker == *(int *)host)
        return psfm_parallel_for(ctx, NULL, 2, meet, NULL);
    wait_until_met(1);
    return PSFM_OK;
}

static psfm_status describe_meeting(psfm_context *ctx, size_t index, void *user, void *item) {
    (void)ctx, (void)index, (void)user, (void)item;
    return PSFM_OK;
}

static psfm_status commit_meeting(psfm_context *ctx, size_t index, void *user, void *result) {
    (void)ctx, (void)index, (void)user, (void)result;
    return PSFM_OK;
}

/* A thread that gets no more tasks, the one that commits (worker 0) or another, helps the other
 * with its last one. */
static void test_the_last_task_is_shared(void **state) {
    (void)state;
    static const psfm_task_kind kind = {.name = "meeting",
                                        .setup = {.size = sizeof(int)},
                                        .item = {.size = 1},
                                        .result = {.size = 1},
                                        .compute = run_meeting};
    for (int round = 0; round < 40; ++round) {
        psfm_context *ctx = psfm_context_create();
        int host = round % 2;
        const psfm_task_list list = {.kind = &kind,
                                     .num = 2,
                                     .setup = &host,
                                     .describe = describe_meeting,
                                     .commit = commit_meeting};
        psfm_context_set_threads(ctx, 2);
        num_met = 0;
        assert_ok(ctx, psfm_tasks_run(ctx, &list));
        psfm_context_destroy(&ctx);
    }
}

/* One worker, whatever number of threads; its loops need a second thread. */
static psfm_status open_alone(psfm_context *ctx, void *setup, int *num_workers, void **state) {
    (void)ctx;
    *num_workers = 1;
    *state = setup;
    return PSFM_OK;
}

static psfm_status run_alone(psfm_context *ctx, void *host, int worker, void *item, void *result) {
    static atomic_size_t num_at_once;
    if (worker != 0 || atomic_fetch_add(&num_at_once, 1) > 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "worker %d is not alone", worker);
    num_met = 0;
    psfm_status status = run_meeting(ctx, host, worker, item, result);
    atomic_fetch_sub(&num_at_once, 1);
    return status;
}

/* A kind may want fewer workers than there are threads, and the others help with its loops; on
 * another rank, too. */
static void test_threads_without_tasks_help(void **state) {
    (void)state;
    static const psfm_task_kind kind = {.name = "alone",
                                        .setup = {.size = sizeof(int)},
                                        .item = {.size = 1},
                                        .result = {.size = 1},
                                        .open = open_alone,
                                        .compute = run_alone};
    static const psfm_task_kind *const alone[] = {&kind, NULL};
    for (int num_ranks = 1; num_ranks <= 3; ++num_ranks) {
        psfm_context *ctx = psfm_context_create();
        int host = 0;
        const psfm_task_list list = {.kind = &kind,
                                     .num = num_ranks == 1 ? 5 : 1, /* not two ranks at once */
                                     .setup = &host,
                                     .describe = describe_meeting,
                                     .commit = commit_meeting};
        psfm_context_set_threads(ctx, 2);
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, alone);
        for (int round = 0; round < 10; ++round)
            assert_ok(ctx, psfm_tasks_run(ctx, &list));
        assert_true(thread_ranks_stop(ctx, ranks));
        psfm_context_destroy(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_come_in_order),
        cmocka_unit_test(test_parts_are_forgotten_beyond_the_memory),
        cmocka_unit_test(test_the_lowest_failure_is_reported),
        cmocka_unit_test(test_a_rank_that_cannot_work_is_named),
        cmocka_unit_test(test_the_last_task_is_shared),
        cmocka_unit_test(test_threads_without_tasks_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
