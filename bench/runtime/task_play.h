/* Recorded tasks, played again on ranks that are not here: a first rank that hands out and
 * commits one thing after the other by the rules of src/core/tasks, and a network whose bytes the
 * first rank sends and takes one by one. Waiting for the disk is left out. */
#ifndef PSFM_BENCH_TASK_PLAY_H
#define PSFM_BENCH_TASK_PLAY_H

#include "core/base/alloc.h"
#include "core/tasks/scheduler.h"
#include "task_record.h"

/* Seconds of the first rank for one thing of a kind, and bytes of it. */
typedef struct {
    double part, task; /* CPU; the second with its result */
    double part_bytes, task_bytes, result_bytes;
} costs;

static costs costs_of(const task_record *r) {
    const size_t *num = r->num_messages;
    return (costs){.part = mean_of(r->cost[PSFM_MESSAGE_PART], num[PSFM_MESSAGE_PART]),
                   .task = mean_of(r->cost[PSFM_MESSAGE_TASK], num[PSFM_MESSAGE_TASK]) +
                           mean_of(r->cost[PSFM_MESSAGE_RESULT], r->num_tasks),
                   .part_bytes = mean_of(r->bytes[PSFM_MESSAGE_PART], num[PSFM_MESSAGE_PART]),
                   .task_bytes = mean_of(r->bytes[PSFM_MESSAGE_TASK], num[PSFM_MESSAGE_TASK]),
                   .result_bytes =
                       mean_of(r->bytes[PSFM_MESSAGE_RESULT], num[PSFM_MESSAGE_RESULT])};
}

typedef struct {
    size_t num_images, num_pairs; /* pairs: of each image with those before it */
    size_t num_threads;           /* of a rank */
    double bytes_per_second, latency;
} world;

/* Tasks of one kind for all images of a world. */
typedef struct {
    const task_record *r;
    size_t num_tasks;
    double pairs_each;  /* of a task, whose images are parts; 0: it names none */
    double images_each; /* of a task that names images, but no pairs */
    double read;        /* seconds of a rank for an image that it has not had */
} stage;

/* A result on its way to the first rank. */
typedef struct {
    double time;
    size_t rank, task;
} event;

typedef struct {
    const stage *s;
    costs c;
    const world *w;
    size_t num_ranks, reserve, window;
    event *heap;
    size_t num_events;
    double clock, *is_free; /* of the first rank; of each thread */
    size_t *num_running;    /* per rank */
    unsigned char *held;    /* per rank and image */
    bool *is_done;          /* per task */
    size_t next, committed;
    size_t num_parts; /* that were sent */
} play;

static void push(play *p, event e) {
    size_t k = p->num_events++;
    for (; k > 0 && p->heap[(k - 1) / 2].time > e.time; k = (k - 1) / 2)
        p->heap[k] = p->heap[(k - 1) / 2];
    p->heap[k] = e;
}

static event pop(play *p) {
    event first = p->heap[0], moved = p->heap[--p->num_events];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < p->num_events; k = child) {
        child += child + 1 < p->num_events && p->heap[child + 1].time < p->heap[child].time;
        if (p->heap[child].time >= moved.time)
            break;
        p->heap[k] = p->heap[child];
    }
    p->heap[k] = moved;
    return first;
}

/* Sends an image unless the rank has it; how many were sent. */
static size_t send_image(play *p, size_t rank, size_t image) {
    if (image >= p->w->num_images || p->held[rank * p->w->num_images + image])
        return 0;
    p->held[rank * p->w->num_images + image] = 1;
    ++p->num_parts;
    p->clock += p->c.part + p->c.part_bytes / p->w->bytes_per_second;
    return 1;
}

/* Pair k joins image 1 + k / num_pairs with one of those before it. */
static size_t send_pairs(play *p, size_t rank, size_t task) {
    const size_t each = p->w->num_pairs;
    size_t num = 0;
    for (size_t k = (size_t)((double)task * p->s->pairs_each);
         k < (size_t)((double)(task + 1) * p->s->pairs_each); ++k) {
        size_t image = 1 + k / each, back = 1 + k % each;
        num += send_image(p, rank, image);
        num += send_image(p, rank, back > image ? 0 : image - back);
    }
    return num;
}

static size_t send_images(play *p, size_t rank, size_t task) {
    size_t num = 0;
    if (p->s->pairs_each > 0.0)
        return send_pairs(p, rank, task);
    for (size_t k = (size_t)((double)task * p->s->images_each);
         k < (size_t)((double)(task + 1) * p->s->images_each); ++k)
        num += send_image(p, rank, k);
    return num;
}

/* The thread of a rank that is free first. */
static double *free_thread(const play *p, size_t rank) {
    double *first = &p->is_free[rank * p->w->num_threads];
    for (size_t k = 1; k < p->w->num_threads; ++k)
        if (p->is_free[rank * p->w->num_threads + k] < *first)
            first = &p->is_free[rank * p->w->num_threads + k];
    return first;
}

static void hand_out(play *p, size_t rank) {
    const size_t task = p->next++, num = send_images(p, rank, task);
    p->clock += p->c.task + p->c.task_bytes / p->w->bytes_per_second;
    double there = p->clock + p->w->latency, *thread = free_thread(p, rank);
    *thread = (there > *thread ? there : *thread) + p->s->r->seconds[task % p->s->r->num] +
              (double)num * p->s->read;
    ++p->num_running[rank];
    push(p, (event){*thread + p->w->latency, rank, task});
}

static void take(play *p, const event *e) {
    p->clock =
        (e->time > p->clock ? e->time : p->clock) + p->c.result_bytes / p->w->bytes_per_second;
    --p->num_running[e->rank];
    p->is_done[e->task] = true;
    while (p->committed < p->s->num_tasks && p->is_done[p->committed])
        ++p->committed;
}

/* Ranks whose reserve is used up get a new one, as far as the window goes. */
static void refill(play *p) {
    const size_t threads = p->w->num_threads;
    for (size_t rank = 0; rank < p->num_ranks; ++rank) {
        const size_t fair = (p->s->num_tasks - p->next) / (2 * threads * p->num_ranks + 1);
        const size_t most = threads + (fair < p->reserve ? fair : p->reserve);
        if (p->num_running[rank] > threads)
            continue;
        while (p->num_running[rank] < most && p->next < p->s->num_tasks &&
               p->next < p->committed + p->window)
            hand_out(p, rank);
    }
}

/* What a list came to. */
typedef struct {
    double seconds; /* by the clock */
    double work;    /* of all tasks together, each image read once */
    size_t num_parts;
} outcome;

static void run_play(play *p, outcome *out) {
    const stage *s = p->s;
    while (p->committed < s->num_tasks) {
        refill(p);
        event e = pop(p);
        take(p, &e);
    }
    *out = (outcome){.seconds = p->clock, .num_parts = p->num_parts};
    out->work = s->read * (double)p->w->num_images;
    for (size_t k = 0; k < s->num_tasks; ++k)
        out->work += s->r->seconds[k % s->r->num];
}

static psfm_status simulate(psfm_context *ctx, const stage *s, const world *w, size_t num_ranks,
                            outcome *out) {
    play p = {.s = s, .c = costs_of(s->r), .w = w, .num_ranks = num_ranks};
    const psfm_task_list list = {.num_parts = s->pairs_each > 0.0 || s->images_each > 0.0};
    psfm_status status;
    p.reserve = psfm_scheduler_reserve(&list, w->num_threads);
    p.window = 2 * num_ranks * (w->num_threads + p.reserve);
    if ((status = PSFM_ALLOC(ctx, p.window, &p.heap)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks * w->num_threads, &p.is_free)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks, &p.num_running)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks * w->num_images, &p.held)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, s->num_tasks, &p.is_done)) == PSFM_OK)
        run_play(&p, out);
    free(p.heap);
    free(p.is_free);
    free(p.num_running);
    free(p.held);
    free(p.is_done);
    return status;
}

#endif
