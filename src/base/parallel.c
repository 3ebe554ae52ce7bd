/* The one parallel loop.
 *
 * Tasks are handed out in order under a lock, so a task should be worth some microseconds; callers
 * cut small work into blocks. With one worker everything runs on the calling thread. After a
 * failure no higher task starts, but all lower ones still run, and the failure of the lowest task
 * is reported: which one that is does not depend on the schedule.
 *
 * Plain threads rather than OpenMP: a task may fail, and ThreadSanitizer understands them. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct {
    const char *stage;
    size_t n;
    psfm_task_fn task;
    void *user;
    pthread_mutex_t lock;
    size_t next;         /* next task to hand out */
    size_t done;         /* finished tasks, for progress */
    size_t failed_index; /* lowest failing task so far; SIZE_MAX if none */
    psfm_status failed_status;
    psfm_context *failed_ctx; /* copy of the message of that task */
} loop;

typedef struct {
    loop *shared;
    psfm_context *ctx;
    int worker;
} worker_arg;

/* Hands out the next task; false when the loop is over. Tasks below a failing one still run, so
 * that the reported failure does not depend on the schedule. */
static bool take(loop *l, size_t *index) {
    pthread_mutex_lock(&l->lock);
    bool more = l->next < l->n && l->next < l->failed_index;
    if (more)
        *index = l->next++;
    pthread_mutex_unlock(&l->lock);
    return more;
}

static void finish(loop *l, psfm_context *ctx, size_t index, psfm_status status) {
    pthread_mutex_lock(&l->lock);
    size_t done = ++l->done;
    if (status == PSFM_OK && l->stage != NULL)
        status = psfm_progress(ctx, l->stage, done, l->n);
    if (status != PSFM_OK && index < l->failed_index) {
        l->failed_index = index;
        l->failed_status = status;
        psfm_context_copy_message(l->failed_ctx, ctx);
    }
    pthread_mutex_unlock(&l->lock);
}

static void *work(void *arg) {
    worker_arg *w = arg;
    size_t index;
    while (take(w->shared, &index))
        finish(w->shared, w->ctx, index,
               w->shared->task(w->ctx, index, w->worker, w->shared->user));
    return NULL;
}

int psfm_parallel_workers(const psfm_context *ctx, size_t n) {
    int threads = psfm_context_threads(ctx);
    return n < (size_t)threads ? (n == 0 ? 1 : (int)n) : threads;
}

static psfm_status run_threads(psfm_context *ctx, loop *l, int num_workers) {
    worker_arg *args = NULL;
    pthread_t *threads = NULL;
    int started = 0;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num_workers, &args);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)num_workers, &threads);
    for (int k = 0; status == PSFM_OK && k < num_workers; ++k) {
        args[k] = (worker_arg){l, psfm_context_fork(ctx), k};
        if (args[k].ctx == NULL)
            status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    }
    if (status == PSFM_OK) {
        /* If the system gives fewer threads, those that started do all the work. */
        for (int k = 1; k < num_workers; ++k, ++started)
            if (pthread_create(&threads[k], NULL, work, &args[k]) != 0)
                break;
        work(&args[0]);
        for (int k = 1; k <= started; ++k)
            pthread_join(threads[k], NULL);
    }
    for (int k = 0; args != NULL && k < num_workers; ++k)
        psfm_context_destroy(&args[k].ctx);
    free(threads);
    free(args);
    return status;
}

psfm_status psfm_parallel_for(psfm_context *ctx, const char *stage, size_t n, psfm_task_fn task,
                              void *user) {
    int num_workers = psfm_parallel_workers(ctx, n);
    loop l = {.stage = stage, .n = n, .task = task, .user = user, .failed_index = SIZE_MAX};
    l.failed_ctx = psfm_context_fork(ctx);
    if (l.failed_ctx == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&l.lock, NULL);
    psfm_status status = PSFM_OK;
    if (stage != NULL)
        status = psfm_progress(ctx, stage, 0, n);
    if (status == PSFM_OK)
        status = run_threads(ctx, &l, num_workers);
    if (status == PSFM_OK && l.failed_index != SIZE_MAX) {
        status = l.failed_status;
        psfm_context_copy_message(ctx, l.failed_ctx);
    }
    pthread_mutex_destroy(&l.lock);
    psfm_context_destroy(&l.failed_ctx);
    return status;
}
