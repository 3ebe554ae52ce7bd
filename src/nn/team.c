/* A team of threads for short loops. Members look for the next loop for a while before they sleep,
 * because layers follow each other within microseconds; a loop does not wait for a member that has
 * not woken by its end. Tasks are taken from one atomic counter. */
#include "nn/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"

/* How often to look for the next loop, or for the end of this one, before going to sleep. Layers
 * follow each other at once, and waking a thread takes as long as a small layer. Some 30
 * microseconds: more would take the processor from others where there are fewer than threads. */
#define NUM_LOOKS 1000

typedef struct {
    psfm_team *team;
    int worker;
} member;

struct psfm_team {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* a loop was opened, or the team ends */
    pthread_cond_t idle; /* the last member left the loop */
    psfm_team_fn task;
    void *user;
    size_t n;
    atomic_size_t next;
    /* Changed with the lock held, and looked at without it. */
    atomic_uint generation; /* counts loops, so that a member joins each at most once */
    atomic_int joined;      /* members inside the loop */
    bool open;              /* members may still join the loop */
    bool ending;
    int num_threads;
    pthread_t *threads;
    member *members;
};

static void do_tasks(psfm_team *team, int worker) {
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (index >= team->n)
            return;
        team->task(team->user, index, worker);
    }
}

static void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void *serve(void *arg) {
    const member *self = arg;
    psfm_team *team = self->team;
    unsigned seen = 0;
    for (;;) {
        for (int k = 0; k < NUM_LOOKS && atomic_load(&team->generation) == seen; ++k)
            rest();
        pthread_mutex_lock(&team->lock);
        while (!team->ending && (!team->open || team->generation == seen))
            pthread_cond_wait(&team->wake, &team->lock);
        if (team->ending)
            break;
        seen = team->generation;
        ++team->joined;
        pthread_mutex_unlock(&team->lock);
        do_tasks(team, self->worker);
        pthread_mutex_lock(&team->lock);
        if (--team->joined == 0)
            pthread_cond_signal(&team->idle);
        pthread_mutex_unlock(&team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

psfm_status psfm_team_create(psfm_context *ctx, int num_threads, psfm_team **out) {
    size_t extra = num_threads > 1 ? (size_t)num_threads - 1 : 0;
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    psfm_team *team = *out;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->idle, NULL);
    status = PSFM_ALLOC(ctx, extra, &team->threads);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, extra, &team->members);
    if (status != PSFM_OK) {
        psfm_team_destroy(out);
        return status;
    }
    for (size_t k = 0; k < extra; ++k) {
        team->members[k] = (member){team, (int)k + 1};
        if (pthread_create(&team->threads[k], NULL, serve, &team->members[k]) != 0)
            break;
        ++team->num_threads;
    }
    return PSFM_OK;
}

void psfm_team_destroy(psfm_team **team) {
    if (team == NULL || *team == NULL)
        return;
    psfm_team *t = *team;
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (int k = 0; k < t->num_threads; ++k)
        pthread_join(t->threads[k], NULL);
    pthread_cond_destroy(&t->idle);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t->members);
    free(t->threads);
    free(t);
    *team = NULL;
}

int psfm_team_size(const psfm_team *team) {
    return team->num_threads + 1;
}

void psfm_team_run(psfm_team *team, size_t n, psfm_team_fn task, void *user) {
    team->task = task;
    team->user = user;
    team->n = n;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    if (team->num_threads == 0 || n < 2) {
        do_tasks(team, 0);
        return;
    }
    pthread_mutex_lock(&team->lock);
    ++team->generation;
    team->open = true;
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
    do_tasks(team, 0);
    /* A member that has not woken by now is not waited for: on a busy machine it may take long. */
    pthread_mutex_lock(&team->lock);
    team->open = false;
    pthread_mutex_unlock(&team->lock);
    for (int k = 0; k < NUM_LOOKS && atomic_load(&team->joined) > 0; ++k)
        rest();
    pthread_mutex_lock(&team->lock);
    while (team->joined > 0)
        pthread_cond_wait(&team->idle, &team->lock);
    pthread_mutex_unlock(&team->lock);
}
