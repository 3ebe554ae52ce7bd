/* The context: the last message, log and progress callbacks, number of threads, seed.
 *
 * Worker threads of psfm_parallel_for get a context of their own, forked from the caller's, so
 * that messages do not race; progress goes up to the root and is serialised by its lock. BLAS is
 * set to one thread when a context is made: parallelism is by tasks, whose sums have a fixed
 * order, and so results do not depend on the number of threads. */
#include "core/base/context.h"

#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/base/number_locale.h"
#include "core/base/parallel.h"
#include "planarsfm/version.h"

struct psfm_context {
    char message[PSFM_MESSAGE_SIZE];
    psfm_log_fn log;
    void *log_user;
    psfm_progress_fn progress;
    void *progress_user;
    int num_threads; /* 0: one per core */
    size_t memory;   /* 0: what the machine has */
    uint64_t seed;
    struct psfm_link *link;    /* to the other processes of the run; NULL: alone */
    int share;                 /* processes of the run on this machine; 0: one */
    uint64_t made[2];          /* device and inode of the last file made; 0: none */
    struct psfm_threads *pool; /* threads of its loops; NULL: there was none yet */
    psfm_context *lender;      /* whose threads its loops use; NULL: its own */
    psfm_context *parent;      /* of a worker's context; NULL otherwise */
    pthread_mutex_t progress_lock;
};

const char *psfm_version(void) {
    return PSFM_VERSION;
}

const char *psfm_status_name(psfm_status status) {
    switch (status) {
    case PSFM_OK:
        return "ok";
    case PSFM_ERR_MEMORY:
        return "memory";
    case PSFM_ERR_ARGUMENT:
        return "argument";
    case PSFM_ERR_IO:
        return "io";
    case PSFM_ERR_FORMAT:
        return "format";
    case PSFM_ERR_DATA:
        return "data";
    case PSFM_ERR_NUMERIC:
        return "numeric";
    case PSFM_ERR_CANCELLED:
        return "cancelled";
    }
    return "unknown";
}

psfm_context *psfm_context_create(void) {
    psfm_context *ctx = psfm_number_locale_make() ? calloc(1, sizeof *ctx) : NULL;
    if (ctx == NULL)
        return NULL;
    pthread_mutex_init(&ctx->progress_lock, NULL);
    if (openblas_get_num_threads() > 1) /* or it starts threads that were ended */
        openblas_set_num_threads(1);
    return ctx;
}

void psfm_context_destroy(psfm_context **ctx) {
    if (ctx == NULL || *ctx == NULL)
        return;
    psfm_threads_destroy(&(*ctx)->pool);
    pthread_mutex_destroy(&(*ctx)->progress_lock);
    free(*ctx);
    *ctx = NULL;
}

psfm_context *psfm_context_fork(psfm_context *parent) {
    psfm_context *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return NULL;
    pthread_mutex_init(&ctx->progress_lock, NULL);
    ctx->num_threads = 1;
    ctx->parent = parent;
    if (parent != NULL) {
        ctx->seed = parent->seed;
        ctx->memory = parent->memory;
        ctx->share = parent->share;
    }
    return ctx;
}

psfm_context *psfm_context_spare(const psfm_context *like) {
    psfm_context *ctx = psfm_context_fork(NULL);
    if (ctx != NULL && like != NULL) {
        ctx->seed = like->seed;
        ctx->memory = like->memory;
        ctx->share = like->share;
    }
    return ctx;
}

void psfm_context_copy_message(psfm_context *to, const psfm_context *from) {
    if (to != NULL && from != NULL)
        memcpy(to->message, from->message, sizeof to->message);
}

const char *psfm_context_message(const psfm_context *ctx) {
    return ctx == NULL ? "" : ctx->message;
}

void psfm_context_set_log(psfm_context *ctx, psfm_log_fn log, void *user) {
    if (ctx == NULL)
        return;
    ctx->log = log;
    ctx->log_user = user;
}

void psfm_context_set_progress(psfm_context *ctx, psfm_progress_fn progress, void *user) {
    if (ctx == NULL)
        return;
    ctx->progress = progress;
    ctx->progress_user = user;
}

void psfm_context_set_threads(psfm_context *ctx, int num_threads) {
    if (ctx != NULL)
        ctx->num_threads = num_threads < 0 ? 0 : num_threads > 1024 ? 1024 : num_threads;
}

void psfm_context_set_share(psfm_context *ctx, int num_processes) {
    ctx->share = num_processes;
}

void psfm_context_set_made(psfm_context *ctx, uint64_t device, uint64_t inode) {
    ctx->made[0] = device;
    ctx->made[1] = inode;
}

bool psfm_context_made(const psfm_context *ctx, uint64_t device, uint64_t inode) {
    return ctx != NULL && inode != 0 && ctx->made[0] == device && ctx->made[1] == inode;
}

void psfm_context_borrow_threads(psfm_context *ctx, psfm_context *lender) {
    ctx->lender = lender;
    ctx->num_threads = psfm_context_threads(lender);
}

bool psfm_context_borrows(const psfm_context *ctx) {
    return ctx != NULL && ctx->lender != NULL;
}

struct psfm_threads **psfm_context_own_threads(psfm_context *ctx) {
    return ctx->lender != NULL ? &ctx->lender->pool : &ctx->pool;
}

static int process_share(const psfm_context *ctx) {
    return ctx == NULL || ctx->share < 1 ? 1 : ctx->share;
}

int psfm_context_threads(const psfm_context *ctx) {
    if (ctx != NULL && ctx->num_threads > 0)
        return ctx->num_threads;
    int cores = psfm_cpu_cores(), own = (int)sysconf(_SC_NPROCESSORS_ONLN) / process_share(ctx);
    cores = cores < own ? cores : own;
    return cores < 1 ? 1 : cores > 1024 ? 1024 : cores;
}

int psfm_context_asked_threads(const psfm_context *ctx) {
    return ctx->num_threads;
}

void psfm_context_set_memory(psfm_context *ctx, size_t bytes) {
    ctx->memory = bytes;
}

size_t psfm_context_memory(const psfm_context *ctx) {
    if (ctx != NULL && ctx->memory > 0)
        return ctx->memory;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t all = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : (size_t)1 << 31;
    return all / (size_t)process_share(ctx);
}

size_t psfm_context_asked_memory(const psfm_context *ctx) {
    return ctx->memory;
}

void psfm_context_set_link(psfm_context *ctx, struct psfm_link *link) {
    ctx->link = link;
}

struct psfm_link *psfm_context_link(const psfm_context *ctx) {
    return ctx == NULL ? NULL : ctx->link;
}

void psfm_context_set_seed(psfm_context *ctx, uint64_t seed) {
    if (ctx != NULL)
        ctx->seed = seed;
}

uint64_t psfm_context_seed(const psfm_context *ctx) {
    return ctx == NULL ? 0 : ctx->seed;
}

/* A message reads the same in every locale. */
static void print_message(char text[PSFM_MESSAGE_SIZE], const char *format, va_list args) {
    locale_t before = psfm_number_locale_begin();
    vsnprintf(text, PSFM_MESSAGE_SIZE, format, args);
    psfm_number_locale_end(before);
}

psfm_status psfm_fail(psfm_context *ctx, psfm_status status, const char *format, ...) {
    if (ctx != NULL) {
        va_list args;
        va_start(args, format);
        print_message(ctx->message, format, args);
        va_end(args);
    }
    return status;
}

psfm_status psfm_check_given(psfm_context *ctx, const char *function, bool all) {
    return all ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: a pointer that it needs is NULL", function);
}

psfm_status psfm_fail_memory(psfm_context *ctx) {
    return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}

void psfm_log(psfm_context *ctx, psfm_log_level level, const char *format, ...) {
    if (ctx == NULL || ctx->log == NULL)
        return;
    char line[PSFM_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    print_message(line, format, args);
    va_end(args);
    ctx->log(level, line, ctx->log_user);
}

psfm_status psfm_progress(psfm_context *ctx, const char *stage, size_t done, size_t total) {
    psfm_context *root = ctx;
    while (root != NULL && root->parent != NULL)
        root = root->parent;
    if (root == NULL || root->progress == NULL || total == 0)
        return PSFM_OK;
    pthread_mutex_lock(&root->progress_lock);
    int stop = root->progress(stage, done, total, root->progress_user);
    pthread_mutex_unlock(&root->progress_lock);
    if (stop != 0)
        return psfm_fail(ctx, PSFM_ERR_CANCELLED, "cancelled during %s", stage);
    return PSFM_OK;
}
