/* The board of a list of tasks.
 *
 * Results come in any order and are committed in that of the tasks: they wait in a window, and no
 * task is handed out that would not find room in it, which also bounds the memory. A failure is a
 * result like any other: it takes effect when its turn comes, after all tasks before it, so which
 * failure is reported does not depend on the schedule. */
#include "tasks/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Tasks with parts that a rank gets in a row, at least. */
#define ROW_OF_TASKS 32

psfm_status psfm_place_init(psfm_context *ctx, const psfm_task_list *list, size_t budget,
                            psfm_place *place) {
    place->budget = budget;
    return PSFM_ALLOC(ctx, list->num_parts, &place->held);
}

void psfm_place_free(psfm_place *place) {
    free(place->held);
    *place = (psfm_place){0};
}

size_t psfm_board_reserve(const psfm_task_list *list, size_t num_workers) {
    return list->num_parts > 0 && num_workers < ROW_OF_TASKS ? ROW_OF_TASKS : num_workers;
}

psfm_status psfm_board_init(psfm_context *ctx, const psfm_task_list *list, size_t num_workers,
                            size_t num_ranks, psfm_board *board) {
    *board = (psfm_board){.ctx = ctx, .list = list, .end = list->num};
    pthread_mutex_init(&board->lock, NULL);
    pthread_cond_init(&board->changed, NULL);
    /* Twice what is held at once: one slow task must not stop the others soon. */
    board->size = 2 * num_ranks * (num_workers + psfm_board_reserve(list, num_workers));
    if (board->size > list->num)
        board->size = list->num + 1;
    return PSFM_ALLOC(ctx, board->size, &board->window);
}

void psfm_board_free(psfm_board *board) {
    for (size_t k = 0; board->window != NULL && k < board->size; ++k)
        psfm_packet_free(&board->window[k].content);
    free(board->window);
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
}

/* ---- handing out ---- */

static psfm_status bring_part(psfm_board *board, psfm_place *place, uint32_t part) {
    const psfm_task_list *list = board->list;
    psfm_packet content = {0};
    size_t memory = 0;
    psfm_status status = list->pack_part(board->ctx, part, list->user, &content, &memory);
    if (status == PSFM_OK)
        status = place->bring_part(board->ctx, place, part, &content);
    place->held[part] = status == PSFM_OK;
    place->memory += memory;
    psfm_packet_free(&content);
    return status;
}

static psfm_status bring_parts(psfm_board *board, psfm_place *place, size_t index) {
    const psfm_task_list *list = board->list;
    const uint32_t *parts = NULL;
    size_t num = 0;
    psfm_status status = PSFM_OK;
    if (list->num_parts > 0)
        list->name_parts(index, list->user, &parts, &num);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        if (!place->held[parts[k]])
            status = bring_part(board, place, parts[k]);
    return status;
}

static psfm_status forget_parts(psfm_board *board, psfm_place *place) {
    memset(place->held, 0, board->list->num_parts * sizeof *place->held);
    place->memory = 0;
    return place->forget_parts(board->ctx, place);
}

/* A task that could not be handed out has failed like one that was computed. */
static void give_message(psfm_board *board, psfm_place *place, size_t index, psfm_status status) {
    psfm_packet message = {0};
    const char *text = psfm_context_message(board->ctx);
    if (psfm_packet_put(NULL, &message, text, strlen(text) + 1) != PSFM_OK)
        status = PSFM_ERR_MEMORY;
    psfm_board_give(board, place, index, status, &message);
}

psfm_turn psfm_board_take(psfm_board *board, psfm_place *place, size_t *index, psfm_packet *input) {
    const psfm_task_list *list = board->list;
    bool is_full = place->memory > place->budget;
    psfm_status status = PSFM_OK;
    if (board->next >= board->end)
        return PSFM_TURN_NONE;
    if (board->next >= board->committed + board->size || (is_full && place->num_running > 0))
        return PSFM_TURN_LATER;
    *index = board->next++;
    ++place->num_running;
    if (is_full)
        status = forget_parts(board, place);
    if (status == PSFM_OK)
        status = bring_parts(board, place, *index);
    if (status == PSFM_OK)
        status = list->describe(board->ctx, *index, list->user, input);
    if (status == PSFM_OK)
        return PSFM_TURN_TASK;
    give_message(board, place, *index, status);
    return PSFM_TURN_NONE;
}

/* ---- taking back ---- */

void psfm_board_give(psfm_board *board, psfm_place *place, size_t index, psfm_status status,
                     psfm_packet *content) {
    psfm_result *result = &board->window[index % board->size];
    --place->num_running;
    *result = (psfm_result){true, status, *content};
    *content = (psfm_packet){0};
    if (status != PSFM_OK && index < board->end)
        board->end = index;
    pthread_cond_broadcast(&board->changed);
}

static psfm_status fail_like(psfm_context *ctx, const psfm_result *result) {
    if (result->content.size == 0)
        return psfm_fail(ctx, result->status, "out of memory");
    return psfm_fail(ctx, result->status, "%.*s", (int)result->content.size,
                     (const char *)result->content.bytes);
}

psfm_status psfm_board_commit(psfm_board *board) {
    const psfm_task_list *list = board->list;
    psfm_result *result = &board->window[board->committed % board->size];
    while (result->is_there) {
        psfm_packet_reader reader = psfm_packet_read(&result->content);
        psfm_status status = result->status == PSFM_OK
                                 ? list->commit(board->ctx, board->committed, list->user, &reader)
                                 : fail_like(board->ctx, result);
        psfm_packet_free(&result->content);
        *result = (psfm_result){0};
        pthread_cond_broadcast(&board->changed);
        if (status != PSFM_OK) {
            board->end = 0;
            return status;
        }
        result = &board->window[++board->committed % board->size];
    }
    return PSFM_OK;
}

bool psfm_board_has_result(const psfm_board *board) {
    return board->window[board->committed % board->size].is_there;
}

bool psfm_board_is_done(const psfm_board *board) {
    return board->committed == board->list->num;
}
