/* What tasks cost: the CPU time of every task of the second rank, the bytes of every message, and
 * the CPU time that the first rank spends on each kind of them. Ranks are threads of this process.
 */
#ifndef PSFM_BENCH_TASK_RECORD_H
#define PSFM_BENCH_TASK_RECORD_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../tests/thread_link.h"
#include "core/tasks/protocol.h"
#include "core/twoview/two_view_tasks.h"
#include "frontend/feature_tasks.h"
#include "frontend/match_tasks.h"
#include "images/photometric/pair_tasks.h"
#include "images/photometric/track_tasks.h"

enum {
    FEATURES,
    MATCHES,
    GEOMETRIES,
    CORNERS,
    PAIRS,
    TRACKS,
    NUM_STAGES,
    MOST_TASKS = 1 << 14,
    NUM_MESSAGES = PSFM_MESSAGE_BYE + 1
};

/* What was seen of one kind of tasks. */
typedef struct {
    double seconds[MOST_TASKS]; /* of the tasks that the second rank computed */
    size_t num;
    size_t num_lists, num_tasks; /* of both ranks */
    size_t num_messages[NUM_MESSAGES];
    double bytes[NUM_MESSAGES], cost[NUM_MESSAGES]; /* of all messages; the first rank's seconds */
} task_record;

static task_record records[NUM_STAGES], *current = &records[0];
static double last_cpu; /* of the first rank, at its last message */

static const psfm_task_kind *const recorded_kinds[NUM_STAGES] = {
    &psfm_feature_tasks, &psfm_match_tasks, &psfm_two_view_tasks,
    &psfm_corner_tasks,  &psfm_pair_tasks,  &psfm_track_tasks};

static double thread_cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A list that is opened: what follows belongs to its kind. */
static void note_list(psfm_message message) {
    psfm_transfer t = {.message = &message, .is_reading = true};
    psfm_list_facts facts;
    message.at = sizeof(psfm_message_head);
    psfm_list_facts_move(&t, &facts);
    for (int k = 0; t.status == PSFM_OK && k < NUM_STAGES; ++k)
        if (strcmp(facts.kind, recorded_kinds[k]->name) == 0)
            current = &records[k];
    ++current->num_lists;
    current->num_tasks += facts.num_tasks;
    free((char *)facts.version);
    free((char *)facts.kind);
}

static void note_message(const psfm_message *message) {
    psfm_message_head head;
    memcpy(&head, message->bytes, sizeof head);
    if (head.kind == PSFM_MESSAGE_OPEN)
        note_list(*message);
    double now = thread_cpu();
    current->bytes[head.kind] += (double)message->size;
    current->cost[head.kind] += now - last_cpu;
    ++current->num_messages[head.kind];
    last_cpu = now;
}

static psfm_status recorded_send(psfm_link *link, psfm_context *ctx, int to,
                                 psfm_message *message) {
    note_message(message);
    psfm_status status = thread_link_send(link, ctx, to, message);
    last_cpu = thread_cpu();
    return status;
}

/* What happened since the last message belongs to the result before; waiting in vain to nobody. */
static psfm_status recorded_receive(psfm_link *link, psfm_context *ctx, int *from,
                                    psfm_message *message) {
    double before = thread_cpu();
    psfm_status status = thread_link_receive(link, ctx, from, message);
    if (status == PSFM_OK && *from >= 0) {
        current->cost[PSFM_MESSAGE_RESULT] += before - last_cpu;
        last_cpu = before;
        note_message(message);
    }
    last_cpu = thread_cpu();
    return status;
}

static psfm_status timed(int stage, psfm_context *ctx, void *state, int worker, void *items,
                         size_t num, void *results) {
    task_record *r = &records[stage];
    const psfm_task_kind *kind = recorded_kinds[stage];
    char *item = items, *result = results;
    psfm_status status = PSFM_OK;
    double start = thread_cpu();
    if (kind->compute_all != NULL)
        status = kind->compute_all(ctx, state, worker, items, num, results);
    for (size_t k = 0; status == PSFM_OK && kind->compute_all == NULL && k < num; ++k)
        status = kind->compute(ctx, state, worker, item + k * kind->item.size,
                               result + k * kind->result.size);
    if (r->num < MOST_TASKS) /* the second rank has one thread */
        r->seconds[r->num++] = thread_cpu() - start;
    return status;
}

static psfm_status timed_features(psfm_context *ctx, void *state, int worker, void *items,
                                  size_t num, void *results) {
    return timed(FEATURES, ctx, state, worker, items, num, results);
}

static psfm_status timed_matches(psfm_context *ctx, void *state, int worker, void *items,
                                 size_t num, void *results) {
    return timed(MATCHES, ctx, state, worker, items, num, results);
}

static psfm_status timed_geometries(psfm_context *ctx, void *state, int worker, void *items,
                                    size_t num, void *results) {
    return timed(GEOMETRIES, ctx, state, worker, items, num, results);
}

static psfm_status timed_corners(psfm_context *ctx, void *state, int worker, void *items,
                                 size_t num, void *results) {
    return timed(CORNERS, ctx, state, worker, items, num, results);
}

static psfm_status timed_pairs(psfm_context *ctx, void *state, int worker, void *items, size_t num,
                               void *results) {
    return timed(PAIRS, ctx, state, worker, items, num, results);
}

static psfm_status timed_tracks(psfm_context *ctx, void *state, int worker, void *items, size_t num,
                                void *results) {
    return timed(TRACKS, ctx, state, worker, items, num, results);
}

/* Two ranks of one thread each, whose tasks are recorded. */
static thread_ranks *start_recording(psfm_context *ctx) {
    static psfm_status (*const computes[NUM_STAGES])(psfm_context *, void *, int, void *, size_t,
                                                     void *) = {
        timed_features, timed_matches, timed_geometries, timed_corners, timed_pairs, timed_tracks};
    static psfm_task_kind kinds[NUM_STAGES];
    static const psfm_task_kind *list[NUM_STAGES + 1];
    for (int k = 0; k < NUM_STAGES; ++k) {
        kinds[k] = *recorded_kinds[k];
        kinds[k].compute_all = computes[k];
        list[k] = &kinds[k];
    }
    psfm_context_set_threads(ctx, 1);
    thread_ranks *ranks = thread_ranks_start(ctx, 2, list);
    ranks->links[0].send = recorded_send;
    ranks->links[0].receive = recorded_receive;
    last_cpu = thread_cpu();
    return ranks;
}

static double mean_of(double sum, size_t num) {
    return num == 0 ? 0.0 : sum / (double)num;
}

static double mean_seconds(const task_record *r) {
    double sum = 0.0;
    for (size_t k = 0; k < r->num; ++k)
        sum += r->seconds[k];
    return mean_of(sum, r->num);
}

/* Few things to do make small tasks: times and bytes become those of tasks that are `scale` times
 * as large. Images do not. */
static void scale_record(task_record *r, double scale) {
    for (size_t k = 0; k < r->num; ++k)
        r->seconds[k] *= scale;
    for (int k = 0; k < NUM_MESSAGES; ++k)
        if (k != PSFM_MESSAGE_PART) {
            r->cost[k] *= scale;
            r->bytes[k] *= scale;
        }
}

#endif
