/* Lists of tasks over threads, and over ranks that are threads. Task k multiplies two parts, k % 7
 * and k % 5, and adds what the setup says. */
#include "tasks/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/parallel.h"
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

static psfm_status open_sums(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                             void **state) {
    sums_setup setup;
    sums *s = NULL;
    assert_true(num_workers >= 1);
    psfm_status status = psfm_packet_get(ctx, reader, &setup, sizeof setup);
    if (status == PSFM_OK && setup.refuses && !is_first_rank)
        return psfm_fail(ctx, PSFM_ERR_IO, "no weights here");
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &s);
    if (status == PSFM_OK) {
        s->added = setup.added;
        s->fails_at = setup.fails_at;
    }
    *state = s;
    return status;
}

static psfm_status take_part(psfm_context *ctx, void *state, uint32_t part,
                             psfm_packet_reader *content) {
    sums *s = state;
    if (s->is_there[part])
        return psfm_fail(ctx, PSFM_ERR_DATA, "part %u comes twice", part);
    s->is_there[part] = true;
    return psfm_packet_get(ctx, content, &s->parts[part], sizeof s->parts[part]);
}

static void forget_parts(void *state) {
    sums *s = state;
    memset(s->is_there, 0, sizeof s->is_there);
}

static psfm_status sum(psfm_context *ctx, void *state, int worker, psfm_packet_reader *input,
                       psfm_packet *result) {
    (void)worker;
    const sums *s = state;
    size_t k;
    psfm_status status = psfm_packet_get(ctx, input, &k, sizeof k);
    if (status != PSFM_OK)
        return status;
    if (k >= s->fails_at)
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "task %zu has no sum", k);
    if (!s->is_there[k % 7] || !s->is_there[k % 5])
        return psfm_fail(ctx, PSFM_ERR_DATA, "task %zu misses a part", k);
    int64_t product = s->parts[k % 7] * s->parts[k % 5] + s->added;
    return psfm_packet_put(ctx, result, &product, sizeof product);
}

static const psfm_task_kind sums_kind = {.name = "sums",
                                         .open = open_sums,
                                         .take_part = take_part,
                                         .forget_parts = forget_parts,
                                         .run = sum,
                                         .close = free};
static const psfm_task_kind *const kinds[] = {&sums_kind, NULL};
static const psfm_task_kind *const no_kinds[] = {NULL};

/* ---- the list ---- */

typedef struct {
    size_t num_committed;
    size_t refuses_at; /* the commit of this task fails */
    size_t num_packed;
    size_t memory; /* that a part is said to take */
    uint32_t named[2];
} book;

static psfm_status describe(psfm_context *ctx, size_t index, void *user, psfm_packet *input) {
    (void)user;
    return psfm_packet_put(ctx, input, &index, sizeof index);
}

static void name_parts(size_t index, void *user, const uint32_t **parts, size_t *num) {
    book *b = user;
    b->named[0] = (uint32_t)(index % 7);
    b->named[1] = (uint32_t)(index % 5);
    *parts = b->named;
    *num = 2;
}

static psfm_status pack_part(psfm_context *ctx, uint32_t part, void *user, psfm_packet *content,
                             size_t *memory) {
    book *b = user;
    int64_t value = 1000 + (int64_t)part;
    ++b->num_packed;
    *memory = b->memory;
    return psfm_packet_put(ctx, content, &value, sizeof value);
}

static psfm_status commit(psfm_context *ctx, size_t index, void *user, psfm_packet_reader *result) {
    book *b = user;
    int64_t value = 0;
    assert_int_equal(index, b->num_committed);
    psfm_status status = psfm_packet_get(ctx, result, &value, sizeof value);
    if (status == PSFM_OK && index == b->refuses_at)
        return psfm_fail(ctx, PSFM_ERR_IO, "the disk is full");
    assert_int_equal(value, (1000 + index % 7) * (1000 + index % 5) + 42);
    ++b->num_committed;
    return status;
}

static psfm_status run(psfm_context *ctx, sums_setup setup, size_t num, book *b) {
    psfm_packet packet = {0};
    const psfm_task_list list = {.kind = &sums_kind,
                                 .num = num,
                                 .setup = &packet,
                                 .describe = describe,
                                 .num_parts = NUM_PARTS,
                                 .name_parts = name_parts,
                                 .pack_part = pack_part,
                                 .commit = commit,
                                 .user = b};
    setup.added = 42;
    is_first_rank = true;
    assert_ok(ctx, psfm_packet_put(ctx, &packet, &setup, sizeof setup));
    psfm_status status = psfm_tasks_run(ctx, &list);
    psfm_packet_free(&packet);
    return status;
}

static const sums_setup plain = {.fails_at = NOWHERE};

/* ---- tests ---- */

static void test_results_come_in_order(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int num_ranks = 1; num_ranks <= 4; ++num_ranks) {
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, kinds);
        for (int threads = 1; threads <= 3; ++threads) {
            book b = {.refuses_at = NOWHERE, .memory = 1};
            psfm_context_set_threads(ctx, threads);
            assert_ok(ctx, run(ctx, plain, NUM_TASKS, &b));
            assert_int_equal(b.num_committed, NUM_TASKS);
            assert_true(b.num_packed >= NUM_PARTS);
            assert_true(b.num_packed <= NUM_PARTS * (size_t)num_ranks);
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
        assert_true(b.num_packed > NUM_PARTS * (size_t)num_ranks);
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

static psfm_status open_meeting(psfm_context *ctx, psfm_packet_reader *setup, int num_workers,
                                void **state) {
    (void)ctx, (void)num_workers;
    int *host = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &host);
    *state = host;
    return status == PSFM_OK ? psfm_packet_get(ctx, setup, host, sizeof *host) : status;
}

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

static psfm_status run_meeting(psfm_context *ctx, void *state, int worker,
                               psfm_packet_reader *input, psfm_packet *result) {
    (void)input, (void)result;
    if (worker == *(int *)state)
        return psfm_parallel_for(ctx, NULL, 2, meet, NULL);
    wait_until_met(1);
    return PSFM_OK;
}

static psfm_status describe_meeting(psfm_context *ctx, size_t index, void *user,
                                    psfm_packet *input) {
    (void)ctx, (void)index, (void)user, (void)input;
    return PSFM_OK;
}

static psfm_status commit_meeting(psfm_context *ctx, size_t index, void *user,
                                  psfm_packet_reader *result) {
    (void)ctx, (void)index, (void)user, (void)result;
    return PSFM_OK;
}

/* A thread that gets no more tasks, the one that commits (worker 0) or another, helps the other
 * with its last one. */
static void test_the_last_task_is_shared(void **state) {
    (void)state;
    static const psfm_task_kind kind = {
        .name = "meeting", .open = open_meeting, .run = run_meeting, .close = free};
    for (int round = 0; round < 40; ++round) {
        psfm_context *ctx = psfm_context_create();
        const int host = round % 2;
        psfm_packet setup = {0};
        const psfm_task_list list = {.kind = &kind,
                                     .num = 2,
                                     .setup = &setup,
                                     .describe = describe_meeting,
                                     .commit = commit_meeting};
        assert_ok(ctx, psfm_packet_put(ctx, &setup, &host, sizeof host));
        psfm_context_set_threads(ctx, 2);
        num_met = 0;
        assert_ok(ctx, psfm_tasks_run(ctx, &list));
        psfm_packet_free(&setup);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
