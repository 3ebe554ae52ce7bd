/* Lists of tasks that go wrong, over threads and over ranks that are threads: what is committed
 * then, what is told, and that nothing is left behind. */
#include "core/tasks/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "test_util.h"
#include "thread_link.h"

enum { NUM_COUNTED = 120, MOST_WORKERS = 16, NOWHERE = 1 << 20 };

/* Of all ranks together. Items and results own a byte each. */
typedef struct {
    atomic_int opened, closed;
    atomic_int items, results; /* that are there */
    atomic_int computed[NUM_COUNTED];
} all_counts;
static all_counts counts;

typedef struct {
    size_t slow; /* every so many-th item takes long, so that results come in any order; 0: none */
    size_t fails_open, fails_at;
} counted_setup;

typedef struct {
    counted_setup setup;
    int num_workers;
    atomic_flag busy[MOST_WORKERS];
} counted;

typedef struct {
    size_t index;
    char *own;
} counted_value;

static psfm_status open_counted(psfm_context *ctx, void *setup, int *num_workers, void **state) {
    counted *c = NULL;
    if (((const counted_setup *)setup)->fails_open)
        return psfm_fail(ctx, PSFM_ERR_DATA, "nothing to open");
    psfm_status status = PSFM_ALLOC(ctx, 1, &c);
    if (status == PSFM_OK) {
        c->setup = *(const counted_setup *)setup;
        c->num_workers = *num_workers;
        for (int k = 0; k < MOST_WORKERS; ++k)
            atomic_flag_clear(&c->busy[k]);
        atomic_fetch_add(&counts.opened, 1);
    }
    *state = c;
    return status;
}

static void close_counted(void *state) {
    atomic_fetch_add(&counts.closed, 1);
    free(state);
}

static psfm_status fill_counted(psfm_context *ctx, counted_value *value, size_t index,
                                atomic_int *count) {
    value->index = index;
    psfm_status status = PSFM_ALLOC(ctx, 1, &value->own);
    if (status == PSFM_OK)
        atomic_fetch_add(count, 1);
    return status;
}

/* On its way to another rank a value is freed here and made anew there. */
static void move_counted(psfm_transfer *t, counted_value *value, atomic_int *count) {
    size_t num = 1;
    psfm_move(t, &value->index, sizeof value->index);
    psfm_move_array(t, &value->own, &num, 1);
    if (t->is_reading && value->own != NULL)
        atomic_fetch_add(count, 1);
}

static void move_item(psfm_transfer *t, void *value) {
    move_counted(t, value, &counts.items);
}

static void move_result(psfm_transfer *t, void *value) {
    move_counted(t, value, &counts.results);
}

static void drop_value(counted_value *value, atomic_int *count) {
    if (value->own != NULL)
        atomic_fetch_sub(count, 1);
    free(value->own);
}

static void free_item(void *value) {
    drop_value(value, &counts.items);
}

static void free_result(void *value) {
    drop_value(value, &counts.results);
}

/* Nobody else works with the same scratch memory meanwhile. */
static psfm_status compute_counted(psfm_context *ctx, void *state, int worker, void *item,
                                   void *result) {
    counted *c = state;
    const size_t k = ((const counted_value *)item)->index;
    if (worker < 0 || worker >= c->num_workers || atomic_flag_test_and_set(&c->busy[worker]))
        return psfm_fail(ctx, PSFM_ERR_DATA, "worker %d is not alone", worker);
    atomic_fetch_add(&counts.computed[k], 1);
    const struct timespec pause = {.tv_nsec = 2000000};
    if (c->setup.slow > 0 && k % c->setup.slow == 0)
        nanosleep(&pause, NULL);
    atomic_flag_clear(&c->busy[worker]);
    return k == c->setup.fails_at ? psfm_fail(ctx, PSFM_ERR_NUMERIC, "item %zu is odd", k)
                                  : fill_counted(ctx, result, k, &counts.results);
}

static const psfm_task_kind counted_kind = {
    .name = "counted",
    .setup = {.size = sizeof(counted_setup)},
    .item = {sizeof(counted_value), move_item, free_item},
    .result = {sizeof(counted_value), move_result, free_result},
    .open = open_counted,
    .compute = compute_counted,
    .close = close_counted};
static const psfm_task_kind *const counted_kinds[] = {&counted_kind, NULL};

/* What the list does, and what was told of its progress. */
typedef struct {
    size_t describe_fails_at, cancel_at, num_committed, num_told;
} counted_book;

static psfm_status describe_counted(psfm_context *ctx, size_t index, void *user, void *item) {
    const counted_book *b = user;
    if (index == b->describe_fails_at)
        return psfm_fail(ctx, PSFM_ERR_IO, "item %zu cannot be read", index);
    return fill_counted(ctx, item, index, &counts.items);
}

/* Takes the result of every other item over. */
static psfm_status commit_counted(psfm_context *ctx, size_t index, void *user, void *result) {
    counted_book *b = user;
    counted_value *value = result;
    (void)ctx;
    assert_int_equal(index, b->num_committed++);
    assert_int_equal(value->index, index);
    if (index % 2 == 0) {
        drop_value(value, &counts.results);
        value->own = NULL;
    }
    return PSFM_OK;
}

static int follow(const char *stage, size_t done, size_t total, void *user) {
    counted_book *b = user;
    assert_string_equal(stage, "counting");
    assert_int_equal(done, b->num_told++);
    assert_int_equal(total, NUM_COUNTED);
    return done >= b->cancel_at;
}

static psfm_status run_counted(psfm_context *ctx, counted_setup setup, size_t num,
                               counted_book *b) {
    const psfm_task_list list = {.kind = &counted_kind,
                                 .stage = num == NUM_COUNTED ? "counting" : NULL,
                                 .setup = &setup,
                                 .num = num,
                                 .task_weight = 4,
                                 .describe = describe_counted,
                                 .commit = commit_counted,
                                 .user = b};
    psfm_context_set_progress(ctx, follow, b);
    psfm_status status = psfm_tasks_run(ctx, &list);
    psfm_context_set_progress(ctx, NULL, NULL);
    return status;
}

/* For one rank to three with two threads each; nothing that was made is left when they are gone. */
typedef void (*counted_case)(psfm_context *ctx);

static void for_ranks(int threads, counted_case check) {
    for (int num_ranks = 1; num_ranks <= 3; ++num_ranks) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        memset(&counts, 0, sizeof counts);
        thread_ranks *ranks = thread_ranks_start(ctx, num_ranks, counted_kinds);
        check(ctx);
        assert_true(thread_ranks_stop(ctx, ranks));
        assert_int_equal(counts.opened, counts.closed);
        assert_int_equal(counts.items, 0);
        assert_int_equal(counts.results, 0);
        psfm_context_destroy(&ctx);
    }
}

static const counted_setup all_well = {.slow = 7, .fails_at = NOWHERE};
static const counted_book no_trouble = {.describe_fails_at = NOWHERE, .cancel_at = NOWHERE};

/* Each item is computed once, and told once it is committed. */
static void check_success(psfm_context *ctx) {
    counted_book b = no_trouble;
    assert_ok(ctx, run_counted(ctx, all_well, NUM_COUNTED, &b));
    assert_int_equal(b.num_committed, NUM_COUNTED);
    assert_int_equal(b.num_told, NUM_COUNTED + 1);
    for (size_t k = 0; k < NUM_COUNTED; ++k)
        assert_int_equal(counts.computed[k], 1);
}

static void items_are_computed_once(void **state) {
    (void)state;
    for_ranks(1, check_success);
    for_ranks(3, check_success);
}

/* Fewer items than threads, and than ranks. */
static void check_few(psfm_context *ctx) {
    for (size_t num = 0; num < 4; ++num) {
        counted_book b = no_trouble;
        for (size_t k = 0; k < NUM_COUNTED; ++k)
            counts.computed[k] = 0;
        assert_ok(ctx, run_counted(ctx, all_well, num, &b));
        assert_int_equal(b.num_committed, num);
        for (size_t k = 0; k < NUM_COUNTED; ++k)
            assert_int_equal(counts.computed[k], k < num);
    }
}

static void more_workers_than_items(void **state) {
    (void)state;
    for_ranks(8, check_few);
}

/* An item that cannot be described, that fails, or that nobody can open: what is before it is
 * committed, and the message is its own. The list after it is not disturbed. */
static void check_failures(psfm_context *ctx) {
    counted_book undescribed = {.describe_fails_at = 50, .cancel_at = NOWHERE};
    counted_book failing = no_trouble, unopened = no_trouble, after = no_trouble;
    assert_int_equal(run_counted(ctx, all_well, NUM_COUNTED, &undescribed), PSFM_ERR_IO);
    assert_string_equal(psfm_context_message(ctx), "item 50 cannot be read");
    assert_true(undescribed.num_committed <= 50 && undescribed.num_committed > 46);
    const counted_setup odd = {.slow = 7, .fails_at = 77};
    assert_int_equal(run_counted(ctx, odd, NUM_COUNTED, &failing), PSFM_ERR_NUMERIC);
    assert_string_equal(psfm_context_message(ctx), "item 77 is odd");
    assert_true(failing.num_committed <= 77 && failing.num_committed > 73); /* of its task none */
    const counted_setup closed = {.fails_open = 1};
    assert_int_equal(run_counted(ctx, closed, NUM_COUNTED, &unopened), PSFM_ERR_DATA);
    assert_int_equal(unopened.num_committed, 0);
    assert_ok(ctx, run_counted(ctx, all_well, NUM_COUNTED, &after));
    assert_int_equal(after.num_committed, NUM_COUNTED);
}

static void failures_leave_nothing(void **state) {
    (void)state;
    for_ranks(2, check_failures);
}

/* Cancelled before the first item, in between, and with the last one. */
static void check_cancelling(psfm_context *ctx) {
    static const size_t at[] = {0, 1, 33, NUM_COUNTED};
    for (size_t k = 0; k < sizeof at / sizeof *at; ++k) {
        counted_book b = {.describe_fails_at = NOWHERE, .cancel_at = at[k]};
        assert_int_equal(run_counted(ctx, all_well, NUM_COUNTED, &b), PSFM_ERR_CANCELLED);
        assert_int_equal(b.num_committed, at[k]);
        assert_int_equal(b.num_told, at[k] + 1);
    }
}

static void cancelling_stops_commits(void **state) {
    (void)state;
    for_ranks(2, check_cancelling);
}

/* ---- a rank that dies ---- */

static atomic_int letters_left;

static psfm_status send_some(psfm_link *link, psfm_context *ctx, int to, psfm_message *message) {
    if (to == 1 && atomic_fetch_sub(&letters_left, 1) <= 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "rank 1 is gone");
    return thread_link_send(link, ctx, to, message);
}

static psfm_status receive_some(psfm_link *link, psfm_context *ctx, int *from,
                                psfm_message *message) {
    psfm_status status = thread_link_receive(link, ctx, from, message);
    if (status == PSFM_OK && *from == 1 && atomic_fetch_sub(&letters_left, 1) <= 0) {
        psfm_message_free(message);
        return psfm_fail(ctx, PSFM_ERR_IO, "rank 1 is gone");
    }
    return status;
}

/* However far a list has come, a link that fails ends it with that failure unless the others had
 * done it all by then, and nobody waits for ever: not the threads of the first rank, nor the other
 * ranks once they are let go. */
static void a_rank_that_is_gone_ends_the_list(void **state) {
    (void)state;
    for (int k = 0; k < 12; ++k) {
        psfm_context *ctx = psfm_context_create();
        counted_book b = no_trouble;
        psfm_context_set_threads(ctx, 2);
        memset(&counts, 0, sizeof counts);
        thread_ranks *ranks = thread_ranks_start(ctx, 3, counted_kinds);
        letters_left = k / 2;
        if (k % 2 == 0)
            ranks->links[0].send = send_some;
        else
            ranks->links[0].receive = receive_some;
        psfm_status status = run_counted(ctx, all_well, NUM_COUNTED, &b);
        assert_true(status == PSFM_ERR_IO || (k > 1 && status == PSFM_OK));
        assert_true(status == PSFM_ERR_IO || b.num_committed == NUM_COUNTED);
        if (k < 2) /* without a word from it nothing can end well */
            assert_string_equal(psfm_context_message(ctx), "rank 1 is gone");
        ranks->links[0].send = thread_link_send;
        ranks->links[0].receive = thread_link_receive;
        thread_ranks_stop(ctx, ranks); /* which of them ended well is open */
        psfm_context_destroy(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_computed_once),
        cmocka_unit_test(more_workers_than_items),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(cancelling_stops_commits),
        cmocka_unit_test(a_rank_that_is_gone_ends_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
