/* Where the first rank saturates: the tasks of a folder of photographs are recorded as they run,
 * and played again on ranks that are not here.
 *
 * Recorded, on two ranks that are threads of this process: the CPU time of every task of the second
 * rank, the bytes of every message, and the CPU time that the first rank spends on images and on
 * everything else. Simulated: NUM images, each paired with the K before it, ranks of T threads, a
 * first rank that hands out and commits one thing after the other by the rules of src/tasks, and a
 * network whose bytes the first rank sends and takes one by one. Waiting for the disk is left out.
 *
 *   bench_cluster PHOTOS [--images NUM] [--pairs K] [--threads T] [--mb-per-second B] [--high 1] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../tests/thread_link.h"
#include "base/alloc.h"
#include "intake/extract_folder.h"
#include "intake/feature_tasks.h"
#include "intake/match_images.h"
#include "intake/match_tasks.h"
#include "tasks/board.h"
#include "tasks/messages.h"

enum { MOST_TASKS = 1 << 16, NUM_KINDS = PSFM_MESSAGE_BYE + 1, PAIRS_PER_TASK = 16 };

/* ---- recording ---- */

/* What was seen of one kind of tasks. */
typedef struct {
    double seconds[MOST_TASKS]; /* of the tasks that the second rank computed */
    size_t num;
    size_t num_tasks; /* of both ranks */
    size_t num_messages[NUM_KINDS];
    double bytes[NUM_KINDS], cost[NUM_KINDS]; /* of all messages; the first rank's CPU seconds */
} record;

static record records[2], *current = &records[0];
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static double last_cpu; /* of the first rank, at its last message */

static double thread_cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note_message(const psfm_packet *packet) {
    psfm_message_head head;
    memcpy(&head, packet->bytes, sizeof head);
    double now = thread_cpu();
    current->bytes[head.kind] += (double)packet->size;
    current->cost[head.kind] += now - last_cpu;
    ++current->num_messages[head.kind];
    last_cpu = now;
}

static psfm_status recorded_send(psfm_link *link, psfm_context *ctx, int to, psfm_packet *packet) {
    note_message(packet);
    psfm_status status = thread_link_send(link, ctx, to, packet);
    last_cpu = thread_cpu();
    return status;
}

/* What happened since the last message belongs to the result before; waiting in vain to nobody. */
static psfm_status recorded_receive(psfm_link *link, psfm_context *ctx, int *from,
                                    psfm_packet *packet) {
    double before = thread_cpu();
    psfm_status status = thread_link_receive(link, ctx, from, packet);
    if (status == PSFM_OK && *from >= 0) {
        current->cost[PSFM_MESSAGE_RESULT] += before - last_cpu;
        last_cpu = before;
        note_message(packet);
    }
    last_cpu = thread_cpu();
    return status;
}

static psfm_status timed(const psfm_task_kind *kind, record *r, psfm_context *ctx, void *state,
                         int worker, psfm_packet_reader *input, psfm_packet *result) {
    double start = thread_cpu();
    psfm_status status = kind->run(ctx, state, worker, input, result);
    double seconds = thread_cpu() - start;
    pthread_mutex_lock(&record_lock);
    if (r->num < MOST_TASKS)
        r->seconds[r->num++] = seconds;
    pthread_mutex_unlock(&record_lock);
    return status;
}

static psfm_status timed_features(psfm_context *ctx, void *state, int worker,
                                  psfm_packet_reader *input, psfm_packet *result) {
    return timed(&psfm_feature_tasks, &records[0], ctx, state, worker, input, result);
}

static psfm_status timed_matches(psfm_context *ctx, void *state, int worker,
                                 psfm_packet_reader *input, psfm_packet *result) {
    return timed(&psfm_match_tasks, &records[1], ctx, state, worker, input, result);
}

/* Few pairs make small tasks (src/intake/match_images.c): the times become those of full ones. */
static void scale_matches(size_t num_pairs) {
    record *r = &records[1];
    const size_t share = num_pairs / (4 * 2) + 1,
                 each = share < PAIRS_PER_TASK ? share : PAIRS_PER_TASK;
    const double scale = (double)PAIRS_PER_TASK / (double)each;
    r->num_tasks = (num_pairs + each - 1) / each;
    for (size_t k = 0; k < r->num; ++k)
        r->seconds[k] *= scale;
    for (int k = 0; k < NUM_KINDS; ++k)
        if (k != PSFM_MESSAGE_PART) {
            r->cost[k] *= scale;
            r->bytes[k] *= scale;
        }
}

static psfm_status record_run(psfm_context *ctx, const char *photos, int effort) {
    static psfm_task_kind features, matches;
    static const psfm_task_kind *const kinds[] = {&features, &matches, NULL};
    char database[] = "/tmp/bench_cluster_XXXXXX";
    psfm_folder_options folder = {0};
    psfm_match_options match = {0};
    psfm_extract_stats stats = {0};
    psfm_match_stats matched = {0};
    features = psfm_feature_tasks;
    features.run = timed_features;
    matches = psfm_match_tasks;
    matches.run = timed_matches;
    psfm_options_init(&psfm_extract_option_table, &folder.extract);
    psfm_options_init(&psfm_sift_option_table, &folder.sift);
    psfm_options_init(&psfm_nearest_option_table, &match.nearest);
    psfm_options_init(&psfm_guided_option_table, &match.guided);
    psfm_detector_options_init(&folder.detector);
    psfm_matcher_options_init(&match.matcher);
    folder.effort.level = effort;
    match.pairs = "exhaustive";
    int file = mkstemp(database);
    if (file < 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be made", database);
    close(file);
    thread_ranks *ranks = thread_ranks_start(ctx, 2, kinds);
    ranks->links[0].send = recorded_send;
    ranks->links[0].receive = recorded_receive;
    psfm_status status = psfm_extract_folder(ctx, photos, database, &folder, &stats);
    current = &records[1];
    last_cpu = thread_cpu();
    if (status == PSFM_OK)
        status = psfm_match_images(ctx, database, &match, &matched);
    records[0].num_tasks = stats.num_extracted;
    scale_matches(matched.num_matched);
    current = &records[0]; /* the good-byes are nobody's */
    thread_ranks_stop(ctx, ranks);
    psfm_extract_stats_free(&stats);
    unlink(database);
    return status;
}

/* ---- simulation ---- */

/* Seconds of the first rank for one thing of a kind, and bytes of it. */
typedef struct {
    double part, task, result; /* CPU */
    double part_bytes, task_bytes, result_bytes;
} costs;

static double per(double sum, size_t num) {
    return num == 0 ? 0.0 : sum / (double)num;
}

static costs costs_of(const record *r) {
    return (costs){
        .part = per(r->cost[PSFM_MESSAGE_PART], r->num_messages[PSFM_MESSAGE_PART]),
        .task = per(r->cost[PSFM_MESSAGE_TASK] + r->cost[PSFM_MESSAGE_RESULT], r->num_tasks),
        .part_bytes = per(r->bytes[PSFM_MESSAGE_PART], r->num_messages[PSFM_MESSAGE_PART]),
        .task_bytes = per(r->bytes[PSFM_MESSAGE_TASK], r->num_messages[PSFM_MESSAGE_TASK]),
        .result_bytes = per(r->bytes[PSFM_MESSAGE_RESULT], r->num_messages[PSFM_MESSAGE_RESULT])};
}

typedef struct {
    size_t num_images, num_pairs; /* pairs: of each image with those before it; 0: of features */
    size_t num_threads;           /* of a rank */
    double bytes_per_second, latency;
} world;

/* A result on its way to the first rank. */
typedef struct {
    double time;
    size_t rank, task;
} event;

typedef struct {
    const record *r;
    costs c;
    const world *w;
    size_t num_tasks, num_ranks, reserve, window;
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

static void send_image(play *p, size_t rank, size_t image) {
    unsigned char *held = &p->held[rank * p->w->num_images + image];
    if (*held)
        return;
    *held = 1;
    ++p->num_parts;
    p->clock += p->c.part + p->c.part_bytes / p->w->bytes_per_second;
}

/* Pair k joins image 1 + k / num_pairs with one of those before it. */
static void send_images(play *p, size_t rank, size_t task) {
    const size_t each = p->w->num_pairs;
    for (size_t k = task * PAIRS_PER_TASK; each > 0 && k < (task + 1) * PAIRS_PER_TASK; ++k) {
        size_t image = 1 + k / each, back = 1 + k % each;
        if (image >= p->w->num_images)
            break;
        send_image(p, rank, image);
        send_image(p, rank, back > image ? 0 : image - back);
    }
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
    const size_t task = p->next++;
    send_images(p, rank, task);
    p->clock += p->c.task + p->c.task_bytes / p->w->bytes_per_second;
    double there = p->clock + p->w->latency, *thread = free_thread(p, rank);
    *thread = (there > *thread ? there : *thread) + p->r->seconds[task % p->r->num];
    ++p->num_running[rank];
    push(p, (event){*thread + p->w->latency, rank, task});
}

static void take(play *p, const event *e) {
    p->clock =
        (e->time > p->clock ? e->time : p->clock) + p->c.result_bytes / p->w->bytes_per_second;
    --p->num_running[e->rank];
    p->is_done[e->task] = true;
    while (p->committed < p->num_tasks && p->is_done[p->committed])
        ++p->committed;
}

/* Ranks whose reserve is used up get a new one, as far as the window goes. */
static void refill(play *p) {
    const size_t threads = p->w->num_threads;
    for (size_t rank = 0; rank < p->num_ranks; ++rank) {
        const size_t fair = (p->num_tasks - p->next) / (2 * threads * p->num_ranks + 1);
        const size_t most = threads + (fair < p->reserve ? fair : p->reserve);
        if (p->num_running[rank] > threads)
            continue;
        while (p->num_running[rank] < most && p->next < p->num_tasks &&
               p->next < p->committed + p->window)
            hand_out(p, rank);
    }
}

static double run_play(play *p) {
    while (p->committed < p->num_tasks) {
        refill(p);
        event e = pop(p);
        take(p, &e);
    }
    return p->clock;
}

/* What the simulation of one list came to. */
typedef struct {
    double seconds, work; /* by the clock; of all tasks together */
    size_t num_parts;
} outcome;

static psfm_status simulate(psfm_context *ctx, const record *r, const world *w, size_t num_ranks,
                            outcome *out) {
    play p = {.r = r, .c = costs_of(r), .w = w, .num_ranks = num_ranks};
    const size_t num_pairs = w->num_images * w->num_pairs;
    const psfm_task_list list = {.num_parts = w->num_pairs};
    psfm_status status;
    p.num_tasks =
        num_pairs == 0 ? w->num_images : (num_pairs + PAIRS_PER_TASK - 1) / PAIRS_PER_TASK;
    p.reserve = psfm_board_reserve(&list, w->num_threads);
    p.window = 2 * num_ranks * (w->num_threads + p.reserve);
    if ((status = PSFM_ALLOC(ctx, p.window, &p.heap)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks * w->num_threads, &p.is_free)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks, &p.num_running)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, num_ranks * w->num_images, &p.held)) == PSFM_OK &&
        (status = PSFM_ALLOC(ctx, p.num_tasks, &p.is_done)) == PSFM_OK) {
        out->seconds = run_play(&p);
        out->num_parts = p.num_parts;
        out->work = 0.0;
        for (size_t k = 0; k < p.num_tasks; ++k)
            out->work += r->seconds[k % r->num];
    }
    free(p.heap);
    free(p.is_free);
    free(p.num_running);
    free(p.held);
    free(p.is_done);
    return status;
}

/* ---- tables ---- */

static void print_record(const char *name, const record *r) {
    costs c = costs_of(r);
    double sum = 0.0;
    for (size_t k = 0; k < r->num; ++k)
        sum += r->seconds[k];
    printf("| %s | %zu of %zu | %.1f | %.2f | %.2f | %.0f | %.0f |\n", name, r->num, r->num_tasks,
           1e3 * per(sum, r->num), 1e3 * c.task, 1e3 * c.part, 1e-3 * c.part_bytes,
           1e-3 * c.result_bytes);
}

static psfm_status print_row(psfm_context *ctx, const world *w, size_t num_ranks) {
    world features = *w;
    outcome made = {0}, matched = {0};
    features.num_pairs = 0;
    psfm_status status = simulate(ctx, &records[0], &features, num_ranks, &made);
    if (status == PSFM_OK)
        status = simulate(ctx, &records[1], w, num_ranks, &matched);
    if (status == PSFM_OK)
        printf("| %zu | %.1f | %.0f | %.1f | %.0f | %.1f |\n", num_ranks, made.seconds,
               made.work / made.seconds, matched.seconds, matched.work / matched.seconds,
               (double)matched.num_parts / (double)w->num_images);
    return status;
}

static psfm_status print_tables(psfm_context *ctx, const world *w) {
    static const size_t ranks[] = {1, 10, 30, 100, 300, 1000};
    psfm_status status = PSFM_OK;
    printf("| tasks | recorded | CPU ms | first rank, ms a task | ms an image | kB an image | kB a "
           "result |\n|---|---|---|---|---|---|---|\n");
    print_record("features", &records[0]);
    print_record("matches", &records[1]);
    printf("\n%zu images, %zu pairs each, ranks of %zu threads, %.0f MB/s, %.0f us\n\n",
           w->num_images, w->num_pairs, w->num_threads, 1e-6 * w->bytes_per_second,
           1e6 * w->latency);
    printf("| ranks | features, s | speed-up | matches, s | speed-up | times an image is sent |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t k = 0; status == PSFM_OK && k < sizeof ranks / sizeof *ranks; ++k)
        status = print_row(ctx, w, ranks[k]);
    return status;
}

static double number(int argc, char **argv, const char *name, double otherwise) {
    for (int k = 2; k + 1 < argc; k += 2)
        if (strcmp(argv[k], name) == 0)
            return atof(argv[k + 1]);
    return otherwise;
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    if (argc < 2 || argc % 2 != 0 || ctx == NULL) {
        fprintf(stderr, "usage: bench_cluster PHOTOS [--images NUM] [--pairs K] "
                        "[--threads T] [--mb-per-second B] [--high 1]\n");
        return 2;
    }
    const world w = {.num_images = (size_t)number(argc, argv, "--images", 100000),
                     .num_pairs = (size_t)number(argc, argv, "--pairs", 20),
                     .num_threads = (size_t)number(argc, argv, "--threads", 1),
                     .bytes_per_second = 1e6 * number(argc, argv, "--mb-per-second", 1000),
                     .latency = 50e-6};
    bool high = number(argc, argv, "--high", 0) > 0;
    psfm_context_set_threads(ctx, 1);
    psfm_status status = record_run(ctx, argv[1], high ? PSFM_EFFORT_HIGH : PSFM_EFFORT_NORMAL);
    if (status == PSFM_OK)
        status = print_tables(ctx, &w);
    if (status != PSFM_OK)
        fprintf(stderr, "bench_cluster: %s\n", psfm_context_message(ctx));
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
