/* A rank that is not the first: it opens what it is told to open, computes what it is given and
 * says what came out. A failure of a task or of a list is said, too, and the first rank decides;
 * only a link that fails ends the rank by itself.
 *
 * While a list is open, the serving thread puts its tasks into one queue, from which the workers
 * take them, and sends what the workers put into another queue. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/cpu.h"
#include "core/base/parallel.h"
#include "core/tasks/protocol.h"
#include "core/tasks/task.h"
#include "core/tasks/workers.h"
#include "planarsfm/version.h"

/* Microseconds: while tasks are computed, and between lists. */
#define LONGEST_PAUSE 2000
#define LONGEST_REST 10000

/* First in, first out. */
typedef struct {
    psfm_task *first, *last;
} queue;

typedef struct {
    psfm_context *ctx;
    psfm_link *link;
    const psfm_task_kind *const *kinds;
    uint32_t list;              /* that is open */
    const psfm_task_kind *kind; /* of it; NULL: none */
    void *setup, *state;
    int num_workers;
    bool is_closing; /* the first rank closed the list */
    bool is_over;
    psfm_status status; /* of the serving thread */
    /* between it and the workers */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    queue todo, done;
    bool is_closed; /* the workers are to end */
} service;

/* ---- the queues ---- */

static void append_task(queue *q, psfm_task *added) {
    added->next = NULL;
    if (q->last != NULL)
        q->last->next = added;
    else
        q->first = added;
    q->last = added;
}

static psfm_task *pop_task(queue *q) {
    psfm_task *first = q->first;
    if (first != NULL)
        q->first = first->next;
    if (q->first == NULL)
        q->last = NULL;
    return first;
}

static void drop_task(psfm_task *task) {
    psfm_task_free(task);
    free(task);
}

static psfm_status add_task(service *s, uint64_t index, psfm_transfer *t) {
    psfm_task *added = NULL;
    psfm_status status = PSFM_ALLOC(s->ctx, 1, &added);
    if (status != PSFM_OK)
        return status;
    *added = (psfm_task){.kind = s->kind, .index = (size_t)index};
    psfm_task_move_items(t, added);
    if (t->status != PSFM_OK) {
        drop_task(added);
        return t->status;
    }
    pthread_mutex_lock(&s->lock);
    append_task(&s->todo, added);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return PSFM_OK;
}

static void work_on_tasks(psfm_context *ctx, int worker, void *user) {
    service *s = user;
    pthread_mutex_lock(&s->lock);
    while (!s->is_closed) {
        psfm_task *task = pop_task(&s->todo);
        if (task == NULL) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        psfm_task_compute(ctx, s->state, worker, task);
        pthread_mutex_lock(&s->lock);
        append_task(&s->done, task);
    }
    pthread_mutex_unlock(&s->lock);
}

static psfm_task *take_done(service *s) {
    pthread_mutex_lock(&s->lock);
    psfm_task *done = pop_task(&s->done);
    pthread_mutex_unlock(&s->lock);
    return done;
}

/* ---- opening a list ---- */

static void free_setup(service *s, const psfm_task_kind *kind) {
    psfm_task_value_free(&kind->setup, s->setup);
    free(s->setup);
    s->setup = s->state = NULL;
}

static void close_list(service *s) {
    for (psfm_task *old; (old = pop_task(&s->todo)) != NULL || (old = pop_task(&s->done)) != NULL;)
        drop_task(old);
    if (s->kind != NULL && s->kind->close != NULL)
        s->kind->close(s->state);
    if (s->kind != NULL)
        free_setup(s, s->kind);
    s->kind = NULL;
}

static const psfm_task_kind *find_kind(const service *s, const char *name) {
    for (size_t k = 0; s->kinds[k] != NULL; ++k)
        if (strcmp(s->kinds[k]->name, name) == 0)
            return s->kinds[k];
    return NULL;
}

static psfm_status open_kind(service *s, const psfm_list_facts *facts, const psfm_task_kind *kind,
                             psfm_transfer *t) {
    psfm_context_set_threads(s->ctx, facts->num_threads);
    psfm_context_set_memory(s->ctx, facts->memory);
    psfm_context_set_seed(s->ctx, facts->seed);
    s->num_workers = psfm_parallel_workers(s->ctx, facts->num_tasks);
    psfm_status status = psfm_alloc(s->ctx, 1, kind->setup.size, &s->setup);
    if (status == PSFM_OK) {
        psfm_task_value_move(t, &kind->setup, s->setup);
        s->state = s->setup;
        status = t->status;
    }
    if (status == PSFM_OK && kind->open != NULL)
        status = kind->open(s->ctx, s->setup, &s->num_workers, &s->state);
    if (status == PSFM_OK)
        s->kind = kind;
    else
        free_setup(s, kind);
    return status;
}

static psfm_status open_list(service *s, psfm_transfer *t) {
    psfm_list_facts facts;
    psfm_list_facts_move(t, &facts);
    const psfm_task_kind *kind = t->status == PSFM_OK ? find_kind(s, facts.kind) : NULL;
    psfm_status status = t->status;
    if (status == PSFM_OK && strcmp(facts.version, PSFM_VERSION) != 0)
        status =
            psfm_fail(s->ctx, PSFM_ERR_DATA,
                      "it has planarsfm " PSFM_VERSION ", the first rank has %s", facts.version);
    if (status == PSFM_OK && kind == NULL)
        status =
            psfm_fail(s->ctx, PSFM_ERR_DATA, "it does not know of tasks called %s", facts.kind);
    if (status == PSFM_OK)
        status = open_kind(s, &facts, kind, t);
    free((char *)facts.version);
    free((char *)facts.kind);
    return status;
}

/* Says how opening a list went. */
static psfm_status answer_open(service *s, psfm_status opened) {
    char host[256] = "";
    psfm_rank_facts facts = {.host = host,
                             .message = (char *)psfm_context_message(s->ctx),
                             .status = opened,
                             .num_workers = s->num_workers,
                             .budget = psfm_context_memory(s->ctx) / 4,
                             .cpu = (int)psfm_cpu()};
    const psfm_message_head head = {.kind = PSFM_MESSAGE_READY, .list = s->list};
    gethostname(host, sizeof host - 1);
    return psfm_message_send(s->link, s->ctx, 0, &head, psfm_rank_facts_move, &facts);
}

/* ---- tasks ---- */

static psfm_status send_result(service *s, psfm_task *done) {
    const psfm_message_head head = {PSFM_MESSAGE_RESULT, s->list, done->index};
    return psfm_message_send(s->link, s->ctx, 0, &head, psfm_task_move_results, done);
}

/* Takes a part over, or drops it. */
static psfm_status take_part(service *s, uint32_t part, psfm_transfer *t) {
    void *content = NULL;
    psfm_status status = psfm_alloc(s->ctx, 1, s->kind->part.size, &content);
    if (status != PSFM_OK)
        return status;
    psfm_task_value_move(t, &s->kind->part, content);
    status = t->status;
    if (status == PSFM_OK)
        status = s->kind->take_part(s->ctx, s->state, part, content);
    else
        psfm_task_value_free(&s->kind->part, content);
    free(content);
    return status;
}

static psfm_status send_results(service *s, bool *moved) {
    psfm_status status = PSFM_OK;
    psfm_task *done;
    while (status == PSFM_OK && (done = take_done(s)) != NULL) {
        *moved = true;
        status = send_result(s, done);
        drop_task(done);
    }
    return status;
}

/* What belongs to a list that could not be opened is dropped. */
static psfm_status take_for_list(service *s, const psfm_message_head *head, psfm_transfer *t) {
    if (s->kind == NULL)
        return PSFM_OK;
    if (head->kind == PSFM_MESSAGE_TASK)
        return add_task(s, head->number, t);
    if (head->kind == PSFM_MESSAGE_PART)
        return take_part(s, (uint32_t)head->number, t);
    s->kind->forget_parts(s->state);
    return PSFM_OK;
}

static psfm_status work_on_list(service *s, psfm_transfer *t);

static psfm_status take_message(service *s, psfm_message *message) {
    psfm_transfer t = {.ctx = s->ctx, .message = message, .is_reading = true};
    psfm_message_head head;
    psfm_move(&t, &head, sizeof head);
    if (t.status != PSFM_OK)
        return t.status;
    switch (head.kind) {
    case PSFM_MESSAGE_OPEN:
        s->list = head.list;
        return work_on_list(s, &t);
    case PSFM_MESSAGE_CLOSE:
        s->is_closing = true;
        return PSFM_OK;
    case PSFM_MESSAGE_END:
        s->is_over = true;
        return PSFM_OK;
    default:
        return take_for_list(s, &head, &t);
    }
}

static psfm_status exchange_messages(service *s, bool *moved) {
    psfm_message message = {0};
    int from = -1;
    psfm_status status = send_results(s, moved);
    if (status == PSFM_OK)
        status = s->link->receive(s->link, s->ctx, &from, &message);
    if (status == PSFM_OK && from >= 0) {
        *moved = true;
        status = take_message(s, &message);
    }
    psfm_message_free(&message);
    return status;
}

/* Takes messages until the open list is closed, or without one until all is over. */
static psfm_status attend_list(service *s) {
    const bool in_list = s->kind != NULL;
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && !s->is_over && !(in_list && s->is_closing)) {
        bool moved = false;
        status = exchange_messages(s, &moved);
        pause = moved ? 0 : pause;
        if (!moved)
            psfm_message_pause(&pause, in_list ? LONGEST_PAUSE : LONGEST_REST);
    }
    return status;
}

static void lead_workers(void *user) {
    service *s = user;
    s->status = answer_open(s, PSFM_OK);
    if (s->status == PSFM_OK)
        s->status = attend_list(s);
    pthread_mutex_lock(&s->lock);
    s->is_closed = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static psfm_status work_on_list(service *s, psfm_transfer *t) {
    s->is_closing = s->is_closed = false;
    psfm_status opened = open_list(s, t);
    const psfm_workers workers = {s->num_workers, work_on_tasks, lead_workers, s};
    if (opened == PSFM_OK)
        opened = psfm_workers_run(s->ctx, &workers);
    close_list(s);
    return opened == PSFM_OK ? s->status : answer_open(s, opened);
}

psfm_status psfm_tasks_serve(psfm_context *ctx, psfm_link *link,
                             const psfm_task_kind *const *kinds) {
    service s = {.ctx = ctx, .link = link, .kinds = kinds};
    const psfm_message_head bye = {.kind = PSFM_MESSAGE_BYE};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.changed, NULL);
    psfm_status status = attend_list(&s);
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    return status == PSFM_OK ? psfm_message_send(link, ctx, 0, &bye, NULL, NULL) : status;
}
