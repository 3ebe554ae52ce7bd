/* A link between threads of one process, each of which plays a rank. */
#ifndef PSFM_TESTS_THREAD_LINK_H
#define PSFM_TESTS_THREAD_LINK_H

#include <pthread.h>
#include <stdlib.h>

#include "core/tasks/tasks.h"

enum { MOST_RANKS = 8, MOST_LETTERS = 4096 };

/* Letters that wait for a rank, oldest first. */
typedef struct {
    int from[MOST_LETTERS];
    psfm_message messages[MOST_LETTERS];
    size_t first, end;
} letter_box;

typedef struct {
    pthread_mutex_t lock;
    letter_box boxes[MOST_RANKS];
    psfm_link links[MOST_RANKS];
    psfm_context *contexts[MOST_RANKS];
    psfm_status statuses[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    const psfm_task_kind *const *kinds;
    int num;
} thread_ranks;

static inline psfm_status thread_link_send(psfm_link *link, psfm_context *ctx, int to,
                                           psfm_message *message) {
    thread_ranks *ranks = link->own;
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&ranks->lock);
    letter_box *box = &ranks->boxes[to];
    if (box->end - box->first == MOST_LETTERS) {
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "a full letter box");
    } else {
        box->from[box->end % MOST_LETTERS] = link->rank;
        box->messages[box->end++ % MOST_LETTERS] = *message;
        *message = (psfm_message){0};
    }
    pthread_mutex_unlock(&ranks->lock);
    return status;
}

static inline psfm_status thread_link_receive(psfm_link *link, psfm_context *ctx, int *from,
                                              psfm_message *message) {
    (void)ctx;
    thread_ranks *ranks = link->own;
    letter_box *box = &ranks->boxes[link->rank];
    *from = -1;
    pthread_mutex_lock(&ranks->lock);
    if (box->first < box->end) {
        *from = box->from[box->first % MOST_LETTERS];
        *message = box->messages[box->first++ % MOST_LETTERS];
    }
    pthread_mutex_unlock(&ranks->lock);
    return PSFM_OK;
}

static inline void *thread_rank(void *arg) {
    psfm_link *link = arg;
    thread_ranks *ranks = link->own;
    ranks->statuses[link->rank] = psfm_tasks_serve(ranks->contexts[link->rank], link, ranks->kinds);
    return NULL;
}

/* Starts `num` ranks, of which the caller is the first, and links its context to them. */
static inline thread_ranks *thread_ranks_start(psfm_context *ctx, int num,
                                               const psfm_task_kind *const *kinds) {
    thread_ranks *ranks = calloc(1, sizeof *ranks);
    ranks->num = num;
    ranks->kinds = kinds;
    pthread_mutex_init(&ranks->lock, NULL);
    for (int k = 0; k < num; ++k)
        ranks->links[k] = (psfm_link){.rank = k,
                                      .num_ranks = num,
                                      .send = thread_link_send,
                                      .receive = thread_link_receive,
                                      .own = ranks};
    for (int k = 1; k < num; ++k) {
        ranks->contexts[k] = psfm_context_create();
        pthread_create(&ranks->threads[k], NULL, thread_rank, &ranks->links[k]);
    }
    psfm_context_set_link(ctx, num > 1 ? &ranks->links[0] : NULL);
    return ranks;
}

/* Lets the ranks go; whether all of them ended well and nothing is left in their boxes. */
static inline bool thread_ranks_stop(psfm_context *ctx, thread_ranks *ranks) {
    bool ok = psfm_tasks_dismiss(ctx, &ranks->links[0]) == PSFM_OK;
    psfm_context_set_link(ctx, NULL);
    for (int k = 1; k < ranks->num; ++k) {
        pthread_join(ranks->threads[k], NULL);
        ok = ok && ranks->statuses[k] == PSFM_OK;
        psfm_context_destroy(&ranks->contexts[k]);
    }
    for (int k = 0; k < ranks->num; ++k)
        ok = ok && ranks->boxes[k].first == ranks->boxes[k].end;
    pthread_mutex_destroy(&ranks->lock);
    free(ranks);
    return ok;
}

#endif
