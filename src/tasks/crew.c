/* The crew of a rank: threads that take tasks from one queue and put results into another, both
 * under one lock. The thread that made the crew keeps its hands free for the link. */
#include "tasks/crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tasks/dispatch.h"

typedef struct item item;
struct item {
    item *next;
    uint64_t index;
    psfm_status status;
    psfm_packet input, result;
};

/* First in, first out. */
typedef struct {
    item *first, *last;
} queue;

typedef struct {
    psfm_crew *crew;
    psfm_context *ctx;
    int number;
    pthread_t thread;
    bool is_started;
} member;

struct psfm_crew {
    const psfm_task_kind *kind;
    void *state;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_over;
    queue todo, done;
    member *members;
    int num_members;
};

static void append(queue *q, item *added) {
    added->next = NULL;
    if (q->last != NULL)
        q->last->next = added;
    else
        q->first = added;
    q->last = added;
}

static item *pop(queue *q) {
    item *first = q->first;
    if (first != NULL)
        q->first = first->next;
    if (q->first == NULL)
        q->last = NULL;
    return first;
}

static void free_item(item *old) {
    psfm_packet_free(&old->input);
    psfm_packet_free(&old->result);
    free(old);
}

static void *work(void *arg) {
    const member *m = arg;
    psfm_crew *crew = m->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over) {
        item *task = pop(&crew->todo);
        if (task == NULL) {
            pthread_cond_wait(&crew->changed, &crew->lock);
            continue;
        }
        pthread_mutex_unlock(&crew->lock);
        task->status = psfm_task_compute(m->ctx, crew->kind, crew->state, m->number, &task->input,
                                         &task->result);
        psfm_packet_free(&task->input);
        pthread_mutex_lock(&crew->lock);
        append(&crew->done, task);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static psfm_status start(psfm_context *ctx, psfm_crew *crew) {
    for (int k = 0; k < crew->num_members; ++k) {
        member *m = &crew->members[k];
        *m = (member){.crew = crew, .number = k, .ctx = psfm_context_spare(ctx)};
        if (m->ctx == NULL)
            return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
        m->is_started = pthread_create(&m->thread, NULL, work, m) == 0;
        if (!m->is_started)
            return psfm_fail(ctx, PSFM_ERR_MEMORY, "a thread could not be started");
    }
    return PSFM_OK;
}

psfm_status psfm_crew_create(psfm_context *ctx, const psfm_task_kind *kind, void *state,
                             int num_workers, psfm_crew **out) {
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    psfm_crew *crew = *out;
    crew->kind = kind;
    crew->state = state;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    status = PSFM_ALLOC(ctx, (size_t)num_workers, &crew->members);
    if (status == PSFM_OK) {
        crew->num_members = num_workers;
        status = start(ctx, crew);
    }
    if (status != PSFM_OK)
        psfm_crew_destroy(out);
    return status;
}

void psfm_crew_destroy(psfm_crew **crew) {
    psfm_crew *c = *crew;
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->is_over = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (int k = 0; k < c->num_members; ++k) {
        if (c->members[k].is_started)
            pthread_join(c->members[k].thread, NULL);
        psfm_context_destroy(&c->members[k].ctx);
    }
    for (item *old; (old = pop(&c->todo)) != NULL || (old = pop(&c->done)) != NULL;)
        free_item(old);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->members);
    free(c);
    *crew = NULL;
}

psfm_status psfm_crew_add(psfm_context *ctx, psfm_crew *crew, uint64_t index,
                          const psfm_packet_reader *input) {
    item *added = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &added);
    if (status != PSFM_OK)
        return status;
    added->index = index;
    status = psfm_packet_put(ctx, &added->input, input->bytes + input->at, input->size - input->at);
    if (status != PSFM_OK) {
        free_item(added);
        return status;
    }
    pthread_mutex_lock(&crew->lock);
    append(&crew->todo, added);
    pthread_cond_signal(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    return PSFM_OK;
}

bool psfm_crew_next(psfm_crew *crew, uint64_t *index, psfm_status *status, psfm_packet *result) {
    pthread_mutex_lock(&crew->lock);
    item *done = pop(&crew->done);
    pthread_mutex_unlock(&crew->lock);
    if (done == NULL)
        return false;
    *index = done->index;
    *status = done->status;
    *result = done->result;
    done->result = (psfm_packet){0};
    free_item(done);
    return true;
}
