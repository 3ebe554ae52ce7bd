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
    psfm_place place;
    size_t num_workers; /* 0: not ready */
    psfm_link *link;
    uint32_t list;
    const psfm_task_value *kind; /* of its parts */
} remote;

typedef struct {
    psfm_context *ctx;
    psfm_link *link;
    psfm_board *board;
    remote *ranks; /* the first is not used */
    int num_ready;
    size_t num_workers; /* of those that are ready */
    bool has_warned;
} dispatch;

static psfm_status send(psfm_context *ctx, const remote *rank, psfm_message_kind kind,
                        uint64_t number, void (*move)(psfm_transfer *t, void *value), void *value) {
    const psfm_message_head head = {kind, rank->list, number};
    return psfm_message_send(rank->link, ctx, rank->place.rank, &head, move, value);
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

static psfm_status bring_part(psfm_context *ctx, psfm_place *place, uint32_t part, void *content) {
    const remote *rank = place->own;
    sent_part sent = {rank->kind, content};
    psfm_status status = send(ctx, rank, PSFM_MESSAGE_PART, part, move_part, &sent);
    psfm_task_value_free(rank->kind, content);
    return status;
}

static psfm_status forget_parts(psfm_context *ctx, psfm_place *place) {
    return send(ctx, place->own, PSFM_MESSAGE_FORGET, 0, NULL, NULL);
}

/* ---- opening and closing ---- */

static void move_list(psfm_transfer *t, void *value) {
    const psfm_board *board = value;
    const psfm_task_list *list = board->list;
    psfm_list_facts facts = {.version = PSFM_VERSION,
                             .kind = list->kind->name,
                             .num_threads = psfm_context_asked_threads(t->ctx),
                             .memory = psfm_context_asked_memory(t->ctx),
                             .seed = psfm_context_seed(t->ctx),
                             .num_tasks = board->num};
    psfm_list_facts_move(t, &facts);
    psfm_task_value_move(t, &list->kind->setup, list->setup);
}

static psfm_status open_list(dispatch *d) {
    uint32_t number = ++d->link->num_lists;
    psfm_status status = PSFM_ALLOC(d->ctx, (size_t)d->link->num_ranks, &d->ranks);
    for (int k = 1; status == PSFM_OK && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        *rank = (remote){.link = d->link, .list = number, .kind = &d->board->list->kind->part};
        rank->place = (psfm_place){
            .rank = k, .bring_part = bring_part, .forget_parts = forget_parts, .own = rank};
        status = psfm_place_init(d->ctx, d->board->list, 0, &rank->place);
        if (status == PSFM_OK)
            status = send(d->ctx, rank, PSFM_MESSAGE_OPEN, 0, move_list, d->board);
    }
    return status;
}

static psfm_status close_list(dispatch *d) {
    psfm_status status = PSFM_OK;
    for (int k = 1; d->ranks != NULL && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        psfm_status sent =
            rank->link == NULL ? PSFM_OK : send(NULL, rank, PSFM_MESSAGE_CLOSE, 0, NULL, NULL);
        status = status == PSFM_OK ? sent : status;
        psfm_place_free(&rank->place);
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
        status = psfm_fail(d->ctx, facts.status, "rank %d on %s: %s", rank->place.rank, facts.host,
                           facts.message);
    if (status == PSFM_OK) {
        compare_machines(d, rank->place.rank, facts.host, facts.cpu);
        ++d->num_ready;
        d->num_workers += (size_t)facts.num_workers;
        rank->num_workers = (size_t)facts.num_workers;
        rank->place.budget = facts.budget;
    }
    free(facts.host);
    free(facts.message);
    return status;
}

static psfm_status take_result(dispatch *d, remote *rank, uint64_t index, psfm_transfer *t) {
    psfm_task task = {.kind = d->board->list->kind, .index = (size_t)index};
    psfm_task_move_results(t, &task);
    if (t->status == PSFM_OK)
        psfm_board_give(d->board, &rank->place, &task);
    else
        psfm_task_free(&task);
    return t->status;
}

static psfm_status take_message(dispatch *d, int from, psfm_packet *packet) {
    psfm_transfer t = {.ctx = d->ctx, .packet = packet, .is_reading = true};
    psfm_message_head head;
    psfm_move(&t, &head, sizeof head);
    if (t.status != PSFM_OK || head.list != d->link->num_lists)
        return t.status;
    return head.kind == PSFM_MESSAGE_READY ? take_ready(d, &d->ranks[from], &t)
                                           : take_result(d, &d->ranks[from], head.number, &t);
}

static psfm_status receive(dispatch *d, bool *moved) {
    psfm_status status = PSFM_OK;
    for (int from = 0; status == PSFM_OK && from >= 0;) {
        psfm_packet packet = {0};
        status = d->link->receive(d->link, d->ctx, &from, &packet);
        if (status == PSFM_OK && from >= 0) {
            *moved = true;
            status = take_message(d, from, &packet);
        }
        psfm_packet_free(&packet);
    }
    return status;
}

/* ---- handing out ---- */

static psfm_status hand_out_to(dispatch *d, remote *rank, size_t most, bool *moved) {
    psfm_status status = PSFM_OK;
    psfm_task task;
    while (status == PSFM_OK && rank->place.num_running < most &&
           psfm_board_take(d->board, &rank->place, &task) == PSFM_TURN_TASK) {
        *moved = true;
        psfm_task_describe(d->ctx, d->board->list, d->board->begin[task.index], &task);
        if (task.status != PSFM_OK) {
            psfm_board_give(d->board, &rank->place, &task);
            continue;
        }
        status = send(d->ctx, rank, PSFM_MESSAGE_TASK, task.index, psfm_task_move_items, &task);
        psfm_task_free(&task);
    }
    return status;
}

/* Ranks whose reserve is used up get a new one at once, smaller towards the end, lest one has much
 * to do while others have nothing. */
static psfm_status hand_out(dispatch *d, bool *moved) {
    const psfm_board *board = d->board;
    psfm_status status = PSFM_OK;
    for (int k = 1; status == PSFM_OK && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        size_t fair = (board->num - board->next) / (2 * d->num_workers + 1);
        size_t reserve = psfm_board_reserve(board->list, rank->num_workers);
        if (rank->place.num_running <= rank->num_workers)
            status =
                hand_out_to(d, rank, rank->num_workers + (fair < reserve ? fair : reserve), moved);
    }
    return status;
}

/* Whether a rank can work does not depend on how fast the others are: all have to answer. */
static bool is_over(const dispatch *d) {
    return psfm_board_is_done(d->board) && d->num_ready == d->link->num_ranks - 1;
}

static psfm_status share(dispatch *d) {
    psfm_board *board = d->board;
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && !is_over(d)) {
        bool moved = false;
        pthread_mutex_lock(&board->lock);
        size_t before = board->committed;
        status = receive(d, &moved);
        if (status == PSFM_OK)
            status = psfm_board_commit(board);
        if (status == PSFM_OK)
            status = hand_out(d, &moved);
        moved = moved || board->committed > before;
        pthread_mutex_unlock(&board->lock);
        pause = moved ? 0 : pause;
        if (!moved)
            psfm_message_pause(&pause, LONGEST_PAUSE);
    }
    return status;
}

/* Whatever happened, threads of this process that wait for the board end. */
static void release(psfm_board *board) {
    pthread_mutex_lock(&board->lock);
    board->end = 0;
    pthread_cond_broadcast(&board->changed);
    pthread_mutex_unlock(&board->lock);
}

psfm_status psfm_dispatch(psfm_context *ctx, psfm_link *link, psfm_board *board) {
    dispatch d = {.ctx = ctx, .link = link, .board = board};
    psfm_status status = open_list(&d);
    if (status == PSFM_OK)
        status = share(&d);
    psfm_status closed = close_list(&d);
    release(board);
    return status == PSFM_OK ? closed : status;
}

/* ---- the end ---- */

static psfm_status wait_for_byes(psfm_context *ctx, psfm_link *link, int num) {
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && num > 0) {
        psfm_packet packet = {0};
        psfm_message_head head = {0};
        int from = -1;
        status = link->receive(link, ctx, &from, &packet);
        if (status == PSFM_OK && from >= 0) {
            psfm_transfer t = {.ctx = ctx, .packet = &packet, .is_reading = true};
            psfm_move(&t, &head, sizeof head);
            status = t.status;
        }
        num -= from >= 0 && head.kind == PSFM_MESSAGE_BYE;
        psfm_packet_free(&packet);
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
