/* The one thread pool: parallel loops, and jobs in the background.
 *
 * A context has threads that sleep between its loops. Tasks are taken in order from a counter, so
 * that a loop may be as short as one of a network's layer. Layers and adjustments have one loop
 * after the other, and waking a thread takes as long as a short one: whoever waits looks about for
 * a while before it sleeps, and no loop waits for a thread that has not woken by its end. With one
 * worker everything runs on the calling thread. After a failure no higher task starts, but all
 * lower ones still run, and the failure of the lowest task is reported: which one that is does not
 * depend on the schedule.
 *
 * Tasks mostly have contexts with one thread, and their own loops run inline. Where they borrow the
 * threads (psfm_context_borrow_threads), whoever has no task left helps those that still have one
 * with its loops: the oldest loop that has tasks comes first, so that is when nothing else is to
 * do.
 *
 * A thread that no loop needed for a while takes one task of a job and then looks again. So while
 * the caller does what cannot be shared, the others do what no thread waits for yet.
 *
 * Plain threads rather than OpenMP: a task may fail, and ThreadSanitizer understands them. */
#include "core/base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/stack.h"
#include "core/base/timer.h"

/* Of a thread before it begins with a job: loops of an adjustment follow each other sooner, and a
 * task of a job takes longer. */
#define PATIENCE_NS 1000000

/* How often to look for the next loop, or for the end of this one, before going to sleep. Some 30
 * microseconds: more would take the processor from others where there are fewer than threads. */
#define NUM_LOOKS 1000

typedef struct loop loop;
struct loop {
    psfm_context *ctx; /* gets the message of the failure, has the workers' contexts made like it */
    const char *stage; /* NULL: progress is not told */
    size_t n;
    psfm_task_fn task;
    void *user;
    bool is_inner;              /* of a task that borrowed the threads */
    int num_workers;            /* that may take part */
    int num_joined;             /* of them, the caller among these */
    atomic_int num_active;      /* threads of the pool at its tasks; changed with the pool's lock */
    atomic_size_t next;         /* next task to hand out */
    size_t done;                /* finished tasks, for progress */
    atomic_size_t failed_index; /* lowest failing task so far; SIZE_MAX if none */
    psfm_status failed_status;
    loop *next_loop; /* of the pool's loops */
};

struct psfm_job {
    loop loop; /* its workers are the threads of the pool */
    psfm_threads *pool;
    psfm_job *next; /* of the pool's jobs */
};

typedef struct {
    psfm_threads *pool;
    pthread_t thread;
} member;

struct psfm_threads {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    loop *loops;             /* that somebody waits for, the oldest first */
    psfm_job *jobs;          /* that nobody does, likewise */
    atomic_uint num_changes; /* of what there is to do; made with the lock, looked at without it */
    bool is_closing;
    pid_t process;              /* a child of it has no threads */
    int num_asked, num_started; /* threads */
    member members[];
};

/* ---- tasks of a loop ---- */

static bool has_task(const loop *l) {
    return l->next < l->n && l->next < l->failed_index;
}

static bool take_task(loop *l, size_t *index) {
    *index = atomic_fetch_add(&l->next, 1);
    return *index < l->n && *index < l->failed_index;
}

/* Tells the progress and keeps a failure. The caller holds the pool's lock, if there is a pool. */
static void note_result(loop *l, psfm_context *ctx, size_t index, psfm_status status) {
    const size_t done = ++l->done;
    if (status == PSFM_OK && l->stage != NULL)
        status = psfm_progress(ctx, l->stage, done, l->n);
    if (status != PSFM_OK && index < l->failed_index) {
        l->failed_index = index;
        l->failed_status = status;
        psfm_context_copy_message(l->ctx, ctx);
    }
}

/* Does the task that was taken, and those that can be taken after it. */
static void do_tasks(psfm_threads *pool, loop *l, psfm_context *ctx, size_t index, int worker) {
    do {
        psfm_status status = l->task(ctx, index, worker, l->user);
        if (status == PSFM_OK && l->stage == NULL)
            continue;
        if (pool != NULL)
            pthread_mutex_lock(&pool->lock);
        note_result(l, ctx, index, status);
        if (pool != NULL)
            pthread_mutex_unlock(&pool->lock);
    } while (take_task(l, &index));
}

/* ---- the threads ---- */

static psfm_job *find_job(const psfm_threads *pool) {
    psfm_job *job = pool->jobs;
    while (job != NULL && !has_task(&job->loop))
        job = job->next;
    return job;
}

static void leave_loop(psfm_threads *pool, loop *l) {
    if (--l->num_active == 0)
        pthread_cond_broadcast(&pool->done);
}

/* Calls the threads that wait. The caller holds the lock. */
static void call_threads(psfm_threads *pool) {
    ++pool->num_changes;
    pthread_cond_broadcast(&pool->work);
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
    size_t index;
    if (l == NULL)
        return false;
    const int worker = l->num_joined++;
    ++l->num_active;
    pthread_mutex_unlock(&pool->lock);
    psfm_context *ctx = psfm_context_fork(l->ctx);
    if (ctx != NULL && take_task(l, &index)) /* without memory others do it */
        do_tasks(pool, l, ctx, index, worker);
    psfm_context_destroy(&ctx);
    pthread_mutex_lock(&pool->lock);
    leave_loop(pool, l);
    return true;
}

/* Does one task of a job; false if there is none. */
static bool do_job(psfm_threads *pool) {
    psfm_job *job = find_job(pool);
    psfm_context *ctx = job == NULL ? NULL : psfm_context_fork(job->loop.ctx);
    if (ctx == NULL)
        return false;
    const size_t index = job->loop.next++;
    ++job->loop.num_active;
    pthread_mutex_unlock(&pool->lock);
    psfm_status status = job->loop.task(ctx, index, 0, job->loop.user);
    pthread_mutex_lock(&pool->lock);
    note_result(&job->loop, ctx, index, status);
    leave_loop(pool, &job->loop);
    psfm_context_destroy(&ctx);
    return true;
}

static void pause_shortly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks about for something new to do, without the lock meanwhile. */
static bool look_about(psfm_threads *pool) {
    const unsigned seen = pool->num_changes;
    pthread_mutex_unlock(&pool->lock);
    for (int k = 0; k < NUM_LOOKS && pool->num_changes == seen; ++k)
        pause_shortly();
    pthread_mutex_lock(&pool->lock);
    return pool->num_changes != seen;
}

/* Waits for a loop, but if there is a job not for long: another loop mostly follows soon, and would
 * miss a thread. Returns whether to begin with the job. */
static bool wait_for_loop(psfm_threads *pool) {
    if (look_about(pool))
        return false;
    if (find_job(pool) == NULL) {
        pthread_cond_wait(&pool->work, &pool->lock);
        return false;
    }
    const struct timespec end = psfm_time_in(PATIENCE_NS);
    return pthread_cond_timedwait(&pool->work, &pool->lock, &end) == ETIMEDOUT;
}

static void *serve_pool(void *arg) {
    const member *m = arg;
    psfm_threads *pool = m->pool;
    pthread_mutex_lock(&pool->lock);
    for (bool is_idle = false; !pool->is_closing;) {
        if (join_loop(pool, false))
            is_idle = false;
        else if (!is_idle || !do_job(pool))
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
        call_threads(p);
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

/* Whether the context wants other threads than these, which nobody uses. */
static bool wants_others(const psfm_context *ctx, const psfm_threads *pool) {
    return !psfm_context_borrows(ctx) && pool->jobs == NULL &&
           pool->num_asked != psfm_context_threads(ctx) - 1;
}

/* The context's threads, made if there are none or another number of them is wanted. */
static psfm_status open_pool(psfm_context *ctx, psfm_threads **out) {
    psfm_threads **place = psfm_context_own_threads(ctx);
    const int num = psfm_context_threads(ctx) - 1;
    if (*place != NULL && (!is_ours(*place) || wants_others(ctx, *place)))
        psfm_threads_destroy(place);
    *out = *place;
    if (*place != NULL)
        return PSFM_OK;
    psfm_threads *pool = calloc(1, sizeof *pool + (size_t)num * sizeof *pool->members);
    if (pool == NULL)
        return psfm_fail_memory(ctx);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->process = getpid();
    pool->num_asked = num;
    /* If the system gives fewer threads, those that started do all the work. */
    for (int k = 0; k < num; ++k, ++pool->num_started) {
        pool->members[k] = (member){.pool = pool};
        if (psfm_thread_start(&pool->members[k].thread, serve_pool, &pool->members[k]) != 0)
            break;
    }
    *out = *place = pool;
    return PSFM_OK;
}

static void publish_loop(psfm_threads *pool, loop *l) {
    pthread_mutex_lock(&pool->lock);
    loop **place = &pool->loops;
    while (*place != NULL)
        place = &(*place)->next_loop;
    *place = l;
    l->num_joined = 1;
    call_threads(pool);
    pthread_mutex_unlock(&pool->lock);
}

/* From here on nobody joins the loop. */
static void take_back(psfm_threads *pool, const loop *l) {
    pthread_mutex_lock(&pool->lock);
    loop **place = &pool->loops;
    while (*place != l)
        place = &(*place)->next_loop;
    *place = l->next_loop;
    pthread_mutex_unlock(&pool->lock);
}

static void wait_for_others(psfm_threads *pool, const loop *l) {
    for (int k = 0; k < NUM_LOOKS && l->num_active > 0; ++k)
        pause_shortly();
    pthread_mutex_lock(&pool->lock);
    while (l->num_active > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* Does the tasks of a loop with all threads that are free. The caller is worker 0, and no other
 * gets to the tasks before it. */
static void share_loop(psfm_threads *pool, loop *l, psfm_context *ctx) {
    size_t index;
    take_task(l, &index);
    publish_loop(pool, l);
    do_tasks(pool, l, ctx, index, 0);
    take_back(pool, l);
    wait_for_others(pool, l);
}

/* Does the tasks of a loop and returns what came of them. */
static psfm_status run_loop(psfm_threads *pool, loop *l, psfm_context *ctx) {
    size_t index;
    psfm_status status = l->stage == NULL ? PSFM_OK : psfm_progress(l->ctx, l->stage, 0, l->n);
    if (status != PSFM_OK)
        return status;
    if (pool != NULL)
        share_loop(pool, l, ctx);
    else if (take_task(l, &index))
        do_tasks(NULL, l, ctx, index, 0);
    return l->failed_status;
}

/* ---- loops ---- */

int psfm_parallel_workers(const psfm_context *ctx, size_t n) {
    int threads = psfm_context_threads(ctx);
    return n < (size_t)threads ? (n == 0 ? 1 : (int)n) : threads;
}

psfm_status psfm_parallel_for(psfm_context *ctx, const char *stage, size_t n, psfm_task_fn task,
                              void *user) {
    loop l = {.ctx = ctx,
              .stage = stage,
              .n = n,
              .task = task,
              .user = user,
              .is_inner = psfm_context_borrows(ctx),
              .num_workers = psfm_parallel_workers(ctx, n),
              .failed_index = SIZE_MAX};
    psfm_threads *pool = NULL;
    psfm_status status = l.num_workers > 1 && ctx != NULL ? open_pool(ctx, &pool) : PSFM_OK;
    if (status != PSFM_OK)
        return status;
    psfm_context *own = psfm_context_fork(ctx);
    status = own != NULL ? run_loop(pool, &l, own) : psfm_fail_memory(ctx);
    psfm_context_destroy(&own);
    return status;
}

psfm_status psfm_parallel_prepare(psfm_context *ctx) {
    psfm_threads *pool = NULL;
    psfm_status status = open_pool(ctx, &pool);
    if (status == PSFM_OK && pool->num_started == 0)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "a thread could not be started");
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

static void append_job(psfm_threads *pool, psfm_job *job) {
    pthread_mutex_lock(&pool->lock);
    psfm_job **last = &pool->jobs;
    while (*last != NULL)
        last = &(*last)->next;
    *last = job;
    call_threads(pool);
    pthread_mutex_unlock(&pool->lock);
}

static void withdraw_job(psfm_threads *pool, const psfm_job *job) {
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
    psfm_context_destroy(&job->loop.ctx);
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
    job->loop = (loop){.ctx = psfm_context_fork(ctx),
                       .n = n,
                       .task = task,
                       .user = user,
                       .failed_index = SIZE_MAX};
    if (job->loop.ctx == NULL) {
        free_job(job);
        return psfm_fail_memory(ctx);
    }
    append_job(pool, job);
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
    withdraw_job(j->pool, j);
    const psfm_status status = j->loop.failed_status;
    if (status != PSFM_OK)
        psfm_context_copy_message(ctx, j->loop.ctx);
    free_job(j);
    *job = NULL;
    return status;
}
