/* The first rank among the others.
 *
 * A list is opened on all ranks, and each that answers gets as many tasks as it has threads, and a
 * reserve as long as there are plenty, so that none waits for an answer. What comes late, after
 * a failure closed the list, belongs to a list that is no more and is dropped. */
#include "tasks/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "planarsfm/version.h"
#include "tasks/messages.h"

#define LONGEST_PAUSE 2000 /* microseconds */

/* Another rank. */
typedef struct {
    psfm_place place;
    size_t num_workers; /* 0: not ready */
    psfm_link *link;
    uint32_t list;
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

static psfm_message_head head_of(const remote *rank, psfm_message_kind kind, uint64_t number) {
    return (psfm_message_head){kind, rank->list, number};
}

static psfm_status send(psfm_context *ctx, const remote *rank, psfm_message_kind kind,
                        uint64_t number, const psfm_packet *content) {
    const psfm_message_head head = head_of(rank, kind, number);
    return psfm_message_send(rank->link, ctx, rank->place.rank, &head, content);
}

static psfm_status bring_part(psfm_context *ctx, psfm_place *place, uint32_t part,
                              const psfm_packet *content) {
    return send(ctx, place->own, PSFM_MESSAGE_PART, part, content);
}

static psfm_status forget_parts(psfm_context *ctx, psfm_place *place) {
    return send(ctx, place->own, PSFM_MESSAGE_FORGET, 0, NULL);
}

/* ---- opening and closing ---- */

static psfm_status pack_list(psfm_context *ctx, const psfm_task_list *list, psfm_packet *content) {
    const psfm_list_facts facts = {psfm_context_asked_threads(ctx), psfm_context_asked_memory(ctx),
                                   psfm_context_seed(ctx), list->num};
    psfm_status status = psfm_packet_put_text(ctx, content, PSFM_VERSION);
    if (status == PSFM_OK)
        status = psfm_packet_put(ctx, content, &facts, sizeof facts);
    if (status == PSFM_OK)
        status = psfm_packet_put_text(ctx, content, list->kind->name);
    if (status == PSFM_OK)
        status = psfm_packet_put(ctx, content, list->setup->bytes, list->setup->size);
    return status;
}

static psfm_status open_list(dispatch *d) {
    psfm_packet content = {0};
    uint32_t number = ++d->link->num_lists;
    psfm_status status = PSFM_ALLOC(d->ctx, (size_t)d->link->num_ranks, &d->ranks);
    if (status == PSFM_OK)
        status = pack_list(d->ctx, d->board->list, &content);
    for (int k = 1; status == PSFM_OK && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        *rank = (remote){.link = d->link, .list = number};
        rank->place = (psfm_place){
            .rank = k, .bring_part = bring_part, .forget_parts = forget_parts, .own = rank};
        status = psfm_place_init(d->ctx, d->board->list, 0, &rank->place);
        if (status == PSFM_OK)
            status = send(d->ctx, rank, PSFM_MESSAGE_OPEN, 0, &content);
    }
    psfm_packet_free(&content);
    return status;
}

static psfm_status close_list(dispatch *d) {
    psfm_status status = PSFM_OK;
    for (int k = 1; d->ranks != NULL && k < d->link->num_ranks; ++k) {
        remote *rank = &d->ranks[k];
        psfm_status sent =
            rank->link == NULL ? PSFM_OK : send(NULL, rank, PSFM_MESSAGE_CLOSE, 0, NULL);
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

static psfm_status take_ready(dispatch *d, remote *rank, psfm_packet_reader *reader) {
    psfm_rank_facts facts;
    char *host = NULL, *message = NULL;
    psfm_status status = psfm_packet_get(d->ctx, reader, &facts, sizeof facts);
    if (status == PSFM_OK)
        status = psfm_packet_get_text(d->ctx, reader, &host);
    if (status == PSFM_OK)
        status = psfm_packet_get_text(d->ctx, reader, &message);
    if (status == PSFM_OK && facts.status != PSFM_OK)
        status =
            psfm_fail(d->ctx, facts.status, "rank %d on %s: %s", rank->place.rank, host, message);
    if (status == PSFM_OK) {
        compare_machines(d, rank->place.rank, host, facts.cpu);
        ++d->num_ready;
        d->num_workers += (size_t)facts.num_workers;
        rank->num_workers = (size_t)facts.num_workers;
        rank->place.budget = facts.budget;
    }
    free(host);
    free(message);
    return status;
}

static psfm_status take_result(dispatch *d, remote *rank, uint64_t index,
                               psfm_packet_reader *reader) {
    psfm_status given;
    psfm_packet content = {0};
    psfm_status status = psfm_packet_get(d->ctx, reader, &given, sizeof given);
    if (status == PSFM_OK)
        status = psfm_packet_put(d->ctx, &content, reader->bytes + reader->at,
                                 reader->size - reader->at);
    if (status == PSFM_OK)
        psfm_board_give(d->board, &rank->place, (size_t)index, given, &content);
    return status;
}

static psfm_status take_message(dispatch *d, int from, const psfm_packet *packet) {
    psfm_packet_reader reader = psfm_packet_read(packet);
    psfm_message_head head;
    psfm_status status = psfm_packet_get(d->ctx, &reader, &head, sizeof head);
    if (status != PSFM_OK || head.list != d->link->num_lists)
        return status;
    return head.kind == PSFM_MESSAGE_READY ? take_ready(d, &d->ranks[from], &reader)
                                           : take_result(d, &d->ranks[from], head.number, &reader);
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
    psfm_turn turn = PSFM_TURN_TASK;
    while (status == PSFM_OK && turn == PSFM_TURN_TASK && rank->place.num_running < most) {
        psfm_packet input = {0};
        size_t index;
        turn = psfm_board_take(d->board, &rank->place, &index, &input);
        if (turn == PSFM_TURN_TASK) {
            *moved = true;
            status = send(d->ctx, rank, PSFM_MESSAGE_TASK, index, &input);
        }
        psfm_packet_free(&input);
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
        size_t fair = (board->list->num - board->next) / (2 * d->num_workers + 1);
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
        psfm_packet_reader reader = psfm_packet_read(&packet);
        if (status == PSFM_OK && from >= 0)
            status = psfm_packet_get(ctx, &reader, &head, sizeof head);
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
        status = psfm_message_send(link, ctx, k, &head, NULL);
    return status == PSFM_OK ? wait_for_byes(ctx, link, link->num_ranks - 1) : status;
}
