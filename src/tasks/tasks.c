/* Running a list of tasks: by the threads of this process and, with a link, by those of the other
 * ranks.
 *
 * Alone, the calling thread computes like the others and commits between its own tasks; whoever
 * gets no more tasks helps the others with loops inside theirs. With a link the calling thread only
 * hands out and commits (dispatch.c), and all computing is left to threads of their own: the ranks
 * need an answer at once. */
#include "tasks/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "tasks/board.h"
#include "tasks/dispatch.h"

/* Between two looks for a loop to help with, while nothing else is to do. */
#define WAIT_NS 1000000

size_t psfm_tasks_width(const psfm_context *ctx) {
    const psfm_link *link = psfm_context_link(ctx);
    size_t threads = (size_t)psfm_context_threads(ctx);
    return link == NULL ? threads : threads * (size_t)link->num_ranks;
}

typedef struct {
    psfm_board *board;
    psfm_place *place; /* this process */
    void *state;
} local_work;

typedef struct {
    const local_work *work;
    psfm_context *ctx;
    int worker;
    psfm_status status; /* of the one that commits */
    pthread_t thread;   /* with a link */
    bool is_started;
} local_worker;

static psfm_status bring_part_here(psfm_context *ctx, psfm_place *place, uint32_t part,
                                   const psfm_packet *content) {
    const local_work *work = place->own;
    psfm_packet_reader reader = psfm_packet_read(content);
    return work->board->list->kind->take_part(ctx, work->state, part, &reader);
}

static psfm_status forget_parts_here(psfm_context *ctx, psfm_place *place) {
    (void)ctx;
    const local_work *work = place->own;
    work->board->list->kind->forget_parts(work->state);
    return PSFM_OK;
}

psfm_status psfm_task_compute(psfm_context *ctx, const psfm_task_kind *kind, void *state,
                              int worker, const psfm_packet *input, psfm_packet *result) {
    psfm_packet_reader reader = psfm_packet_read(input);
    psfm_status status = kind->run(ctx, state, worker, &reader, result);
    if (status == PSFM_OK)
        return PSFM_OK;
    const char *text = psfm_context_message(ctx);
    result->size = 0;
    return psfm_packet_put(NULL, result, text, strlen(text) + 1) == PSFM_OK ? status
                                                                            : PSFM_ERR_MEMORY;
}

/* One task; the caller holds the lock, which is free while it is computed. */
static psfm_turn work_once(const local_worker *w) {
    psfm_board *board = w->work->board;
    psfm_packet input = {0}, result = {0};
    size_t index;
    psfm_turn turn = psfm_board_take(board, w->work->place, &index, &input);
    if (turn == PSFM_TURN_TASK) {
        pthread_mutex_unlock(&board->lock);
        psfm_status status = psfm_task_compute(w->ctx, board->list->kind, w->work->state, w->worker,
                                               &input, &result);
        pthread_mutex_lock(&board->lock);
        psfm_board_give(board, w->work->place, index, status, &result);
    }
    psfm_packet_free(&input);
    return turn;
}

static void *work_on(void *arg) {
    const local_worker *w = arg;
    psfm_board *board = w->work->board;
    pthread_mutex_lock(&board->lock);
    for (psfm_turn turn = PSFM_TURN_TASK; turn != PSFM_TURN_NONE;) {
        turn = work_once(w);
        if (turn == PSFM_TURN_LATER)
            pthread_cond_wait(&board->changed, &board->lock);
    }
    pthread_mutex_unlock(&board->lock);
    return NULL;
}

/* Helps with a loop inside somebody's task, or waits a little for a result. The caller holds the
 * board's lock. */
static void help_or_wait(const local_worker *w) {
    psfm_board *board = w->work->board;
    pthread_mutex_unlock(&board->lock);
    bool has_helped = psfm_parallel_help(w->ctx);
    pthread_mutex_lock(&board->lock);
    if (has_helped || psfm_board_has_result(board))
        return;
    const struct timespec end = psfm_time_in(WAIT_NS);
    pthread_cond_timedwait(&board->changed, &board->lock, &end);
}

/* The calling thread without a link: computes, and commits whenever it can. */
static psfm_status work_and_commit(const local_worker *w) {
    psfm_board *board = w->work->board;
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&board->lock);
    while (status == PSFM_OK && !psfm_board_is_done(board)) {
        psfm_turn turn = work_once(w);
        size_t before = board->committed;
        status = psfm_board_commit(board);
        if (turn != PSFM_TURN_TASK && status == PSFM_OK && board->committed == before)
            help_or_wait(w);
    }
    pthread_mutex_unlock(&board->lock);
    return status;
}

static psfm_status work_as(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    local_worker *workers = user;
    if (index == 0) /* the calling thread's */
        workers[0].status = work_and_commit(&workers[0]);
    else
        work_on(&workers[index]);
    return PSFM_OK;
}

/* Contexts of their own: what a task says of its progress is not the list's. */
static psfm_status make_workers(psfm_context *ctx, const local_work *work, int num,
                                local_worker *workers) {
    for (int k = 0; k < num; ++k) {
        workers[k] = (local_worker){.work = work, .worker = k, .ctx = psfm_context_spare(ctx)};
        if (workers[k].ctx == NULL)
            return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
        if (psfm_context_link(ctx) == NULL)
            psfm_context_borrow_threads(workers[k].ctx, ctx);
    }
    return PSFM_OK;
}

static void start(local_worker *workers, int num) {
    for (int k = 0; k < num; ++k)
        workers[k].is_started = pthread_create(&workers[k].thread, NULL, work_on, &workers[k]) == 0;
}

static void finish(local_worker *workers, int num) {
    for (int k = 0; workers != NULL && k < num; ++k) {
        if (workers[k].is_started)
            pthread_join(workers[k].thread, NULL);
        psfm_context_destroy(&workers[k].ctx);
    }
    free(workers);
}

static psfm_status run_here(psfm_context *ctx, psfm_board *board, psfm_place *place, void *state,
                            int num) {
    psfm_link *link = psfm_context_link(ctx);
    local_work work = {board, place, state};
    local_worker *workers = NULL;
    place->own = &work;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num, &workers);
    if (status == PSFM_OK)
        status = make_workers(ctx, &work, num, workers);
    if (status == PSFM_OK && link != NULL) {
        start(workers, num);
        status = psfm_dispatch(ctx, link, board);
    } else if (status == PSFM_OK) {
        status = psfm_parallel_for(ctx, NULL, (size_t)num, work_as, workers);
        status = status == PSFM_OK ? workers[0].status : status;
    }
    finish(workers, num);
    return status;
}

psfm_status psfm_tasks_run(psfm_context *ctx, const psfm_task_list *list) {
    int num = psfm_parallel_workers(ctx, list->num);
    const psfm_link *link = psfm_context_link(ctx);
    psfm_place here = {.bring_part = bring_part_here, .forget_parts = forget_parts_here};
    psfm_board board;
    void *state = NULL;
    psfm_packet_reader setup = psfm_packet_read(list->setup);
    psfm_status status =
        psfm_board_init(ctx, list, (size_t)num, link == NULL ? 1 : (size_t)link->num_ranks, &board);
    if (status == PSFM_OK)
        status = psfm_place_init(ctx, list, psfm_context_memory(ctx) / 4, &here);
    if (status == PSFM_OK && list->num > 0)
        status = list->kind->open(ctx, &setup, num, &state);
    if (status == PSFM_OK && list->num > 0) {
        status = run_here(ctx, &board, &here, state, num);
        list->kind->close(state);
    }
    psfm_place_free(&here);
    psfm_board_free(&board);
    return status;
}
