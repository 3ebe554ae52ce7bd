/* The first rank among the others.
 *
 * A list is opened on all ranks, and each that answers gets as many tasks as it has threads, and a
 * reserve as long as there are plenty, so that none waits for an answer. What comes late, after
 * a failure closed the list, belongs to a list that is no more and is dropped. */
#include "core/tasks/dispatch.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/cpu.h"
#include "core/tasks/protocol.h"
#include "planarsfm/version.h"

#define LONGEST_PAUSE 2000 /* microseconds */

/* Another rank. */
typedef struct {
    psfm_executor executor;
    size_t num_workers; /* 0: not ready */
    psfm_link *link;
    uint32_t list;
    const psfm_task_value *kind; /* of its parts */
} remote;

typedef struct {
    psfm_context *ctx;
    psfm_link *link;
    psfm_scheduler *scheduler;
    remote *ranks; /* the first is not used */
    int num_ready;
    size_t num_workers; /* of those that are ready */
    bool has_warned;
} dispatch;

static psfm_status send_message(psfm_context *ctx, const remote *rank, psfm_message_kind kind,
                                uint64_t number, void (*move)(psfm_transfer *t, void *value),
                                void *value) {
    const psfm_message_head head = {kind, rank->list, number};
    return psfm_message_send(rank->link, ctx, rank->executor.rank, &head, move, value);
}

/* A part on its way to a rank. */
typedef struct {
    const psfm_task_value *kind;
    void *content;
} sent_part;

static void move_part(psfm_transfer *t, void *value) {
    const sent_part *part = value;
    psfm_task_value_move(t, part->kind, part->content);
}

static psfm_status bring_part(psfm_context *ctx, psfm_executor *executor, uint32_t part,
                              void *content) {
    const remote *rank = executor->own;
    sent_part sent = {rank->kind, content};
    psfm_status status = send_message(ctx, rank, PSFM_MESSAGE_PART, part, move_part, &sent);
    psfm_task_value_free(rank->kind, content);
    return status;
}

static psfm_status forget_parts(psfm_context *ctx, psfm_executor *executor) {
    return send_message(ctx, executor->own, PSFM_MESSAGE_FORGET, 0, NULL, NULL);
}

/* ---- opening and closing ---- */

static void move_list(psfm_transfer *t, void *value) {
    const psfm_scheduler *scheduler = value;
    const psfm_task_list *list = scheduler->list;
    psfm_list_facts facts = {.version = PSFM_VERSION,
                             .kind = list->kind->name,
                             .num_threads = psfm_context_asked_threads(t->ctx),
                             .memory = psfm_context_asked_memory(t->ctx),
                             .seed = psfm_context_seed(t->ctx),
                             .num_tasks = scheduler->num};
    psfm_list_facts_move(t, &facts);
    psfm_task_value_move(t, &list->kind->setup, list->setup);
}

static psfm_status open_list(dispatch *d) {
    uint32_t number = ++d->link->num_lists;
    psfm_status status = PSFM_ALLOC(d->ctx, (size_t)d->link->num_ranks, &d->ranks);
    for (int k = 1; status == PSFM_OK && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        *rank = (remote){.link = d->link, .list = number, .kind = &d->scheduler->list->kind->part};
        rank->executor = (psfm_executor){
            .rank = k, .bring_part = bring_part, .forget_parts = forget_parts, .own = rank};
        status = psfm_executor_init(d->ctx, d->scheduler->list, 0, &rank->executor);
        if (status == PSFM_OK)
            status = send_message(d->ctx, rank, PSFM_MESSAGE_OPEN, 0, move_list, d->scheduler);
    }
    return status;
}

static psfm_status close_list(dispatch *d) {
    psfm_status status = PSFM_OK;
    for (int k = 1; d->ranks != NULL && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        psfm_status sent = rank->link == NULL
                               ? PSFM_OK
                               : send_message(NULL, rank, PSFM_MESSAGE_CLOSE, 0, NULL, NULL);
        status = status == PSFM_OK ? sent : status;
        psfm_executor_free(&rank->executor);
    }
    free(d->ranks);
    return status;
}

/* ---- what the others say ---- */

/* Networks and sums are the same bytes on machines of one kind only. */
static void compare_machines(dispatch *d, int rank, const char *host, int cpu) {
    if (cpu == (int)psfm_cpu() || d->has_warned)
        return;
    d->has_warned = true;
    psfm_log(d->ctx, PSFM_LOG_WARNING,
             "rank %d on %s has other vector instructions than the first: results may differ in "
             "their last digits from those of one machine",
             rank, host);
}

static psfm_status take_ready(dispatch *d, remote *rank, psfm_transfer *t) {
    psfm_rank_facts facts;
    psfm_rank_facts_move(t, &facts);
    psfm_status status = t->status;
    if (status == PSFM_OK && facts.status != PSFM_OK)
        status = psfm_fail(d->ctx, facts.status, "rank %d on %s: %s", rank->executor.rank,
                           facts.host, facts.message);
    if (status == PSFM_OK) {
        compare_machines(d, rank->executor.rank, facts.host, facts.cpu);
        ++d->num_ready;
        d->num_workers += (size_t)facts.num_workers;
        rank->num_workers = (size_t)facts.num_workers;
        rank->executor.budget = facts.budget;
    }
    free(facts.host);
    free(facts.message);
    return status;
}

static psfm_status take_result(dispatch *d, remote *rank, uint64_t index, psfm_transfer *t) {
    psfm_task task = {.kind = d->scheduler->list->kind, .index = (size_t)index};
    psfm_task_move_results(t, &task);
    if (t->status == PSFM_OK)
        psfm_scheduler_give(d->scheduler, &rank->executor, &task);
    else
        psfm_task_free(&task);
    return t->status;
}

static psfm_status take_message(dispatch *d, int from, psfm_message *message) {
    psfm_transfer t = {.ctx = d->ctx, .message = message, .is_reading = true};
    psfm_message_head head;
    psfm_move(&t, &head, sizeof head);
    if (t.status != PSFM_OK || head.list != d->link->num_lists)
        return t.status;
    return head.kind == PSFM_MESSAGE_READY ? take_ready(d, &d->ranks[from], &t)
                                           : take_result(d, &d->ranks[from], head.number, &t);
}

static psfm_status receive_messages(dispatch *d, bool *moved) {
    psfm_status status = PSFM_OK;
    for (int from = 0; status == PSFM_OK && from >= 0;) {
        psfm_message message = {0};
        status = d->link->receive(d->link, d->ctx, &from, &message);
        if (status == PSFM_OK && from >= 0) {
            *moved = true;
            status = take_message(d, from, &message);
        }
        psfm_message_free(&message);
    }
    return status;
}

/* ---- handing out ---- */

static psfm_status hand_out_to(dispatch *d, remote *rank, size_t most, bool *moved) {
    psfm_status status = PSFM_OK;
    psfm_task task;
    while (status == PSFM_OK && rank->executor.num_running < most &&
           psfm_scheduler_take(d->scheduler, &rank->executor, &task) == PSFM_HANDOUT_TASK) {
        *moved = true;
        psfm_task_describe(d->ctx, d->scheduler->list, d->scheduler->begin[task.index], &task);
        if (task.status != PSFM_OK) {
            psfm_scheduler_give(d->scheduler, &rank->executor, &task);
            continue;
        }
        status =
            send_message(d->ctx, rank, PSFM_MESSAGE_TASK, task.index, psfm_task_move_items, &task);
        psfm_task_free(&task);
    }
    return status;
}

/* Ranks whose reserve is used up get a new one at once, smaller towards the end, lest one has much
 * to do while others have nothing. */
static psfm_status hand_out(dispatch *d, bool *moved) {
    const psfm_scheduler *scheduler = d->scheduler;
    psfm_status status = PSFM_OK;
    for (int k = 1; status == PSFM_OK && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        size_t fair = (scheduler->num - scheduler->next) / (2 * d->num_workers + 1);
        size_t reserve = psfm_scheduler_reserve(scheduler->list, rank->num_workers);
        if (rank->executor.num_running <= rank->num_workers)
            status =
                hand_out_to(d, rank, rank->num_workers + (fair < reserve ? fair : reserve), moved);
    }
    return status;
}

/* Whether a rank can work does not depend on how fast the others are: all have to answer. */
static bool is_over(const dispatch *d) {
    return psfm_scheduler_is_done(d->scheduler) && d->num_ready == d->link->num_ranks - 1;
}

static psfm_status share_tasks(dispatch *d) {
    psfm_scheduler *scheduler = d->scheduler;
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && !is_over(d)) {
        bool moved = false;
        pthread_mutex_lock(&scheduler->lock);
        size_t before = scheduler->committed;
        status = receive_messages(d, &moved);
        if (status == PSFM_OK)
            status = psfm_scheduler_commit(scheduler);
        if (status == PSFM_OK)
            status = hand_out(d, &moved);
        moved = moved || scheduler->committed > before;
        pthread_mutex_unlock(&scheduler->lock);
        pause = moved ? 0 : pause;
        if (!moved)
            psfm_message_pause(&pause, LONGEST_PAUSE);
    }
    return status;
}

/* Whatever happened, threads of this process that wait for the scheduler end. */
static void release_threads(psfm_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->lock);
    scheduler->end = 0;
    pthread_cond_broadcast(&scheduler->changed);
    pthread_mutex_unlock(&scheduler->lock);
}

psfm_status psfm_dispatch(psfm_context *ctx, psfm_link *link, psfm_scheduler *scheduler) {
    dispatch d = {.ctx = ctx, .link = link, .scheduler = scheduler};
    psfm_status status = open_list(&d);
    if (status == PSFM_OK)
        status = share_tasks(&d);
    psfm_status closed = close_list(&d);
    release_threads(scheduler);
    return status == PSFM_OK ? closed : status;
}

/* ---- the end ---- */

static psfm_status wait_for_byes(psfm_context *ctx, psfm_link *link, int num) {
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && num > 0) {
        psfm_message message = {0};
        psfm_message_head head = {0};
        int from = -1;
        status = link->receive(link, ctx, &from, &message);
        if (status == PSFM_OK && from >= 0) {
            psfm_transfer t = {.ctx = ctx, .message = &message, .is_reading = true};
            psfm_move(&t, &head, sizeof head);
            status = t.status;
        }
        num -= from >= 0 && head.kind == PSFM_MESSAGE_BYE;
        psfm_message_free(&message);
        if (from < 0)
            psfm_message_pause(&pause, LONGEST_PAUSE);
    }
    return status;
}

psfm_status psfm_tasks_dismiss(psfm_context *ctx, psfm_link *link) {
    psfm_status status = PSFM_OK;
    const psfm_message_head head = {.kind = PSFM_MESSAGE_END};
    for (int k = 1; status == PSFM_OK && k < link->num_ranks; ++k)
        status = psfm_message_send(link, ctx, k, &head, NULL, NULL);
    return status == PSFM_OK ? wait_for_byes(ctx, link, link->num_ranks - 1) : status;
}
