/* Running a list of tasks: by the threads of this process and, with a link, by those of the other
 * ranks.
 *
 * Alone, the calling thread computes like the others and commits between its own tasks. With a link
 * it only hands out and commits (dispatch.c), and all computing is left to threads beside it: the
 * ranks need an answer at once. Whoever gets no more tasks helps the others with loops inside
 * theirs. */
#include "core/tasks/tasks.h"

#include "core/base/parallel.h"
#include "core/base/timer.h"
#include "core/tasks/dispatch.h"
#include "core/tasks/scheduler.h"
#include "core/tasks/workers.h"

/* Between two looks for a loop to help with, while nothing else is to do. */
#define WAIT_NS 1000000

typedef struct {
    psfm_context *ctx;
    psfm_board *board;
    psfm_place *place; /* this process */
    void *state;
    psfm_status status; /* of the thread that commits */
} local_work;

static psfm_status bring_part_here(psfm_context *ctx, psfm_place *place, uint32_t part,
                                   void *content) {
    const local_work *work = place->own;
    return work->board->list->kind->take_part(ctx, work->state, part, content);
}

static psfm_status forget_parts_here(psfm_context *ctx, psfm_place *place) {
    (void)ctx;
    const local_work *work = place->own;
    work->board->list->kind->forget_parts(work->state);
    return PSFM_OK;
}

/* One task; the caller holds the lock, which is free while it is described and computed. */
static psfm_turn work_once(psfm_context *ctx, int worker, const local_work *work) {
    psfm_board *board = work->board;
    psfm_task task;
    psfm_turn turn = psfm_board_take(board, work->place, &task);
    if (turn != PSFM_TURN_TASK)
        return turn;
    pthread_mutex_unlock(&board->lock);
    psfm_task_describe(ctx, board->list, board->begin[task.index], &task);
    psfm_task_compute(ctx, work->state, worker, &task);
    pthread_mutex_lock(&board->lock);
    psfm_board_give(board, work->place, &task);
    return turn;
}

static void work_on(psfm_context *ctx, int worker, const local_work *work) {
    psfm_board *board = work->board;
    pthread_mutex_lock(&board->lock);
    for (psfm_turn turn = PSFM_TURN_TASK; turn != PSFM_TURN_NONE;) {
        turn = work_once(ctx, worker, work);
        if (turn == PSFM_TURN_LATER)
            pthread_cond_wait(&board->changed, &board->lock);
    }
    pthread_mutex_unlock(&board->lock);
}

/* Helps with a loop inside somebody's task, or waits a little for a result. The caller holds the
 * board's lock. */
static void help_or_wait(psfm_context *ctx, psfm_board *board) {
    pthread_mutex_unlock(&board->lock);
    bool has_helped = psfm_parallel_help(ctx);
    pthread_mutex_lock(&board->lock);
    if (has_helped || psfm_board_has_result(board))
        return;
    const struct timespec end = psfm_time_in(WAIT_NS);
    pthread_cond_timedwait(&board->changed, &board->lock, &end);
}

/* The calling thread without a link: computes, and commits whenever it can. */
static psfm_status work_and_commit(psfm_context *ctx, int worker, const local_work *work) {
    psfm_board *board = work->board;
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&board->lock);
    while (status == PSFM_OK && !psfm_board_is_done(board)) {
        psfm_turn turn = work_once(ctx, worker, work);
        size_t before = board->committed;
        status = psfm_board_commit(board);
        if (turn != PSFM_TURN_TASK && status == PSFM_OK && board->committed == before)
            help_or_wait(ctx, board);
    }
    pthread_mutex_unlock(&board->lock);
    return status;
}

static void work_alone(psfm_context *ctx, int worker, void *user) {
    local_work *work = user;
    if (worker == 0) /* the calling thread */
        work->status = work_and_commit(ctx, worker, work);
    else
        work_on(ctx, worker, work);
}

static void work_beside(psfm_context *ctx, int worker, void *user) {
    work_on(ctx, worker, user);
}

static void lead(void *user) {
    local_work *work = user;
    work->status = psfm_dispatch(work->ctx, psfm_context_link(work->ctx), work->board);
}

static psfm_status run_here(psfm_context *ctx, psfm_board *board, psfm_place *place, void *state,
                            int num) {
    const bool has_link = psfm_context_link(ctx) != NULL;
    local_work work = {.ctx = ctx, .board = board, .place = place, .state = state};
    const psfm_crew crew = {num, has_link ? work_beside : work_alone, has_link ? lead : NULL,
                            &work};
    place->own = &work;
    psfm_status status = psfm_crew_run(ctx, &crew);
    return status == PSFM_OK ? work.status : status;
}

/* Runs a list that is open here. */
static psfm_status run_list(psfm_context *ctx, const psfm_task_list *list, void *state, int num) {
    const psfm_link *link = psfm_context_link(ctx);
    psfm_place here = {.bring_part = bring_part_here, .forget_parts = forget_parts_here};
    psfm_board board;
    psfm_status status =
        psfm_board_init(ctx, list, (size_t)num, link == NULL ? 1 : (size_t)link->num_ranks, &board);
    if (status == PSFM_OK)
        status = psfm_place_init(ctx, list, psfm_context_memory(ctx) / 4, &here);
    if (status == PSFM_OK && list->stage != NULL)
        status = psfm_progress(ctx, list->stage, 0, list->num);
    if (status == PSFM_OK)
        status = run_here(ctx, &board, &here, state, num);
    psfm_place_free(&here);
    psfm_board_free(&board);
    return status;
}

psfm_status psfm_tasks_run(psfm_context *ctx, const psfm_task_list *list) {
    const psfm_task_kind *kind = list->kind;
    int num = psfm_parallel_workers(ctx, list->num);
    void *state = list->setup;
    if (list->num == 0)
        return PSFM_OK;
    psfm_status status = kind->open != NULL ? kind->open(ctx, list->setup, &num, &state) : PSFM_OK;
    if (status != PSFM_OK)
        return status;
    status = run_list(ctx, list, state, num);
    if (kind->close != NULL)
        kind->close(state);
    return status;
}
