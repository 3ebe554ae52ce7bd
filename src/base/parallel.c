/* The one parallel loop, and jobs in the background.
 *
 * A context has threads that sleep between its loops. Tasks are handed out in order under the
 * pool's lock, so a task should be worth some microseconds; callers cut small work into blocks.
 * With one worker everything runs on the calling thread. After a failure no higher task starts, but
 * all lower ones still run, and the failure of the lowest task is reported: which one that is does
 * not depend on the schedule.
 *
 * Tasks mostly have contexts with one thread, and their own loops run inline. Where they borrow the
 * threads (psfm_context_borrow_threads), whoever has no task left helps those that still have one
 * with its loops: the oldest loop that has tasks comes first, so that is when nothing else is to
 * do.
 *
 * A thread that no loop needed for a while takes one task of a job and then looks again. So while
 * the caller does what cannot be shared, the others do what nobody waits for yet.
 *
 * Plain threads rather than OpenMP: a task may fail, and ThreadSanitizer understands them. */
#include "base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/timer.h"

/* Of a thread before it begins with a job: loops of an adjustment follow each other sooner, and a
 * task of a job takes longer. */
#define PATIENCE_NS 1000000

typedef struct loop loop;
struct loop {
    const char *stage; /* NULL: progress is not told */
    size_t n;
    psfm_task_fn task;
    void *user;
    psfm_context **ctx;  /* per worker */
    bool is_inner;       /* of a task that borrowed the threads */
    int num_workers;     /* that may take part */
    int num_joined;      /* of them, the caller among these */
    int num_active;      /* threads of the pool at its tasks */
    size_t next;         /* next task to hand out */
    size_t done;         /* finished tasks, for progress */
    size_t failed_index; /* lowest failing task so far; SIZE_MAX if none */
    psfm_status failed_status;
    psfm_context *failed_ctx; /* copy of the message of that task */
    loop *next_loop;          /* of the pool's loops */
};

struct psfm_job {
    loop loop; /* its workers are the threads of the pool */
    psfm_threads *pool;
    psfm_job *next; /* of the pool's jobs */
};

typedef struct {
    psfm_threads *pool;
    int number; /* from 0 on */
    pthread_t thread;
} member;

struct psfm_threads {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    loop *loops;    /* that somebody waits for, the oldest first */
    psfm_job *jobs; /* that nobody does, likewise */
    bool is_closing;
    pid_t process;              /* a child of it has no threads */
    int num_asked, num_started; /* threads */
    member members[];
};

/* ---- tasks of a loop; whoever calls holds the pool's lock, if there is a pool ---- */

static bool has_task(const loop *l) {
    return l->next < l->n && l->next < l->failed_index;
}

static void note(loop *l, psfm_context *ctx, size_t index, psfm_status status) {
    const size_t done = ++l->done;
    if (status == PSFM_OK && l->stage != NULL)
        status = psfm_progress(ctx, l->stage, done, l->n);
    if (status != PSFM_OK && index < l->failed_index) {
        l->failed_index = index;
        l->failed_status = status;
        psfm_context_copy_message(l->failed_ctx, ctx);
    }
}

/* The next task, computed without the lock. */
static void do_task(psfm_threads *pool, loop *l, psfm_context *ctx, int worker) {
    const size_t index = l->next++;
    if (pool != NULL)
        pthread_mutex_unlock(&pool->lock);
    psfm_status status = l->task(ctx, index, worker, l->user);
    if (pool != NULL)
        pthread_mutex_lock(&pool->lock);
    note(l, ctx, index, status);
}

/* Makes the contexts of a loop, and one for the message of a failure. */
static psfm_status prepare(psfm_context *ctx, loop *l) {
    bool is_whole = true;
    l->failed_index = SIZE_MAX;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)l->num_workers, &l->ctx);
    if (status != PSFM_OK)
        return status;
    l->failed_ctx = psfm_context_fork(ctx);
    for (int k = 0; k < l->num_workers; ++k) {
        l->ctx[k] = psfm_context_fork(ctx);
        is_whole = is_whole && l->ctx[k] != NULL;
    }
    return is_whole && l->failed_ctx != NULL ? PSFM_OK
                                             : psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}

static void clean_up(loop *l) {
    for (int k = 0; l->ctx != NULL && k < l->num_workers; ++k)
        psfm_context_destroy(&l->ctx[k]);
    psfm_context_destroy(&l->failed_ctx);
    free(l->ctx);
}

/* ---- the threads ---- */

static psfm_job *find_job(const psfm_threads *pool) {
    psfm_job *job = pool->jobs;
    while (job != NULL && !has_task(&job->loop))
        job = job->next;
    return job;
}

static void leave(psfm_threads *pool, loop *l) {
    if (--l->num_active == 0)
        pthread_cond_broadcast(&pool->done);
}

static bool needs_worker(const loop *l) {
    return has_task(l) && l->num_joined < l->num_workers;
}

/* The oldest loop that needs another worker, perhaps of the inner ones only. */
static loop *find_loop(const psfm_threads *pool, bool only_inner) {
    loop *l = pool->loops;
    while (l != NULL && !(needs_worker(l) && (l->is_inner || !only_inner)))
        l = l->next_loop;
    return l;
}

/* Takes part in a loop until it has no task left; false if none needs it. */
static bool join_loop(psfm_threads *pool, bool only_inner) {
    loop *l = find_loop(pool, only_inner);
    if (l == NULL)
        return false;
    const int worker = l->num_joined++;
    ++l->num_active;
    while (has_task(l))
        do_task(pool, l, l->ctx[worker], worker);
    leave(pool, l);
    return true;
}

/* Does one task of a job; false if there is none. */
static bool do_job(psfm_threads *pool, int number) {
    psfm_job *job = find_job(pool);
    if (job == NULL)
        return false;
    ++job->loop.num_active;
    do_task(pool, &job->loop, job->loop.ctx[number], 0);
    leave(pool, &job->loop);
    return true;
}

/* Waits for a loop, but if there is a job not for long: another loop mostly follows soon, and would
 * miss a thread. Returns whether to begin with the job. */
static bool wait_for_loop(psfm_threads *pool) {
    if (find_job(pool) == NULL) {
        pthread_cond_wait(&pool->work, &pool->lock);
        return false;
    }
    const struct timespec end = psfm_time_in(PATIENCE_NS);
    return pthread_cond_timedwait(&pool->work, &pool->lock, &end) == ETIMEDOUT;
}

static void *serve(void *arg) {
    const member *m = arg;
    psfm_threads *pool = m->pool;
    pthread_mutex_lock(&pool->lock);
    for (bool is_idle = false; !pool->is_closing;) {
        if (join_loop(pool, false))
            is_idle = false;
        else if (!is_idle || !do_job(pool, m->number))
            is_idle = wait_for_loop(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool is_ours(const psfm_threads *pool) {
    return pool->process == getpid();
}

void psfm_threads_destroy(psfm_threads **pool) {
    psfm_threads *p = *pool;
    if (p == NULL)
        return;
    if (is_ours(p)) {
        pthread_mutex_lock(&p->lock);
        p->is_closing = true;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (int k = 0; k < p->num_started; ++k)
            pthread_join(p->members[k].thread, NULL);
        pthread_cond_destroy(&p->work);
        pthread_cond_destroy(&p->done);
        pthread_mutex_destroy(&p->lock);
    }
    free(p);
    *pool = NULL;
}

/* The context's threads, made if there are none or another number of them is wanted. */
static psfm_status open_pool(psfm_context *ctx, psfm_threads **out) {
    psfm_threads **place = psfm_context_own_threads(ctx);
    const int num = psfm_context_threads(ctx) - 1;
    if (*place != NULL &&
        (!is_ours(*place) || ((*place)->num_asked != num && (*place)->jobs == NULL)))
        psfm_threads_destroy(place);
    *out = *place;
    if (*place != NULL)
        return PSFM_OK;
    psfm_threads *pool = calloc(1, sizeof *pool + (size_t)num * sizeof *pool->members);
    if (pool == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->process = getpid();
    pool->num_asked = num;
    /* If the system gives fewer threads, those that started do all the work. */
    for (int k = 0; k < num; ++k, ++pool->num_started) {
        pool->members[k] = (member){.pool = pool, .number = k};
        if (pthread_create(&pool->members[k].thread, NULL, serve, &pool->members[k]) != 0)
            break;
    }
    *out = *place = pool;
    return PSFM_OK;
}

/* Does the tasks of a loop with all threads that are free. The caller is worker 0, and no other
 * gets to the tasks before him. */
static void share(psfm_threads *pool, loop *l) {
    pthread_mutex_lock(&pool->lock);
    loop **place = &pool->loops;
    while (*place != NULL)
        place = &(*place)->next_loop;
    *place = l;
    l->num_joined = 1;
    pthread_cond_broadcast(&pool->work);
    while (has_task(l))
        do_task(pool, l, l->ctx[0], 0);
    for (place = &pool->loops; *place != l;)
        place = &(*place)->next_loop;
    *place = l->next_loop;
    while (l->num_active > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static psfm_status result_of(psfm_context *ctx, const loop *l) {
    if (l->failed_index == SIZE_MAX)
        return PSFM_OK;
    psfm_context_copy_message(ctx, l->failed_ctx);
    return l->failed_status;
}

/* Does the tasks of a loop and returns what came of them. */
static psfm_status run(psfm_context *ctx, psfm_threads *pool, loop *l) {
    psfm_status status = l->stage == NULL ? PSFM_OK : psfm_progress(ctx, l->stage, 0, l->n);
    if (status != PSFM_OK)
        return status;
    if (pool != NULL)
        share(pool, l);
    else
        while (has_task(l))
            do_task(NULL, l, l->ctx[0], 0);
    return result_of(ctx, l);
}

/* ---- loops ---- */

int psfm_parallel_workers(const psfm_context *ctx, size_t n) {
    int threads = psfm_context_threads(ctx);
    return n < (size_t)threads ? (n == 0 ? 1 : (int)n) : threads;
}

psfm_status psfm_parallel_for(psfm_context *ctx, const char *stage, size_t n, psfm_task_fn task,
                              void *user) {
    const int num_workers = psfm_parallel_workers(ctx, n);
    loop l = {.stage = stage,
              .n = n,
              .task = task,
              .user = user,
              .is_inner = psfm_context_borrows(ctx),
              .num_workers = num_workers};
    psfm_threads *pool = NULL;
    psfm_status status = prepare(ctx, &l);
    if (status == PSFM_OK && num_workers > 1 && ctx != NULL)
        status = open_pool(ctx, &pool);
    if (status == PSFM_OK)
        status = run(ctx, pool, &l);
    clean_up(&l);
    return status;
}

bool psfm_parallel_help(psfm_context *ctx) {
    psfm_threads *pool = *psfm_context_own_threads(ctx);
    if (pool == NULL)
        return false;
    pthread_mutex_lock(&pool->lock);
    bool has_helped = join_loop(pool, true);
    pthread_mutex_unlock(&pool->lock);
    return has_helped;
}

/* ---- jobs ---- */

static void append(psfm_threads *pool, psfm_job *job) {
    pthread_mutex_lock(&pool->lock);
    psfm_job **last = &pool->jobs;
    while (*last != NULL)
        last = &(*last)->next;
    *last = job;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static void withdraw(psfm_threads *pool, const psfm_job *job) {
    pthread_mutex_lock(&pool->lock);
    psfm_job **place = &pool->jobs;
    while (*place != job)
        place = &(*place)->next;
    *place = job->next;
    while (job->loop.num_active > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void free_job(psfm_job *job) {
    clean_up(&job->loop);
    free(job);
}

psfm_status psfm_job_begin(psfm_context *ctx, size_t n, psfm_task_fn task, void *user,
                           psfm_job **out) {
    psfm_threads *pool = NULL;
    psfm_job *job = NULL;
    *out = NULL;
    if (ctx == NULL || psfm_context_threads(ctx) < 2)
        return PSFM_OK;
    psfm_status status = open_pool(ctx, &pool);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 1, &job);
    if (status != PSFM_OK)
        return status;
    job->pool = pool;
    job->loop = (loop){.n = n, .task = task, .user = user, .num_workers = pool->num_asked};
    status = prepare(ctx, &job->loop);
    if (status != PSFM_OK) {
        free_job(job);
        return status;
    }
    append(pool, job);
    *out = job;
    return PSFM_OK;
}

void psfm_job_close(psfm_job *job) {
    if (job == NULL)
        return;
    pthread_mutex_lock(&job->pool->lock);
    job->loop.n = job->loop.next;
    pthread_mutex_unlock(&job->pool->lock);
}

psfm_status psfm_job_stop(psfm_context *ctx, psfm_job **job) {
    psfm_job *j = *job;
    if (j == NULL)
        return PSFM_OK;
    withdraw(j->pool, j);
    psfm_status status = result_of(ctx, &j->loop);
    free_job(j);
    *job = NULL;
    return status;
}
