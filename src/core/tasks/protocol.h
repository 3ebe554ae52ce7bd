/* What the first rank and the others say to each other. */
#ifndef PSFM_TASKS_PROTOCOL_H
#define PSFM_TASKS_PROTOCOL_H

#include "core/tasks/link.h"

typedef enum {
    /* from the first rank */
    PSFM_MESSAGE_OPEN,   /* a list of tasks: psfm_list_facts, the setup */
    PSFM_MESSAGE_PART,   /* number: of the part; its content */
    PSFM_MESSAGE_FORGET, /* all parts */
    PSFM_MESSAGE_TASK,   /* number: of the task; its items */
    PSFM_MESSAGE_CLOSE,  /* the list: no result is wanted any more */
    PSFM_MESSAGE_END,    /* no list will follow */
    /* to the first rank */
    PSFM_MESSAGE_READY,  /* the list is open, or why not: psfm_rank_facts */
    PSFM_MESSAGE_RESULT, /* number: of the task; status; results or message */
    PSFM_MESSAGE_BYE     /* nothing will follow */
} psfm_message_kind;

/* How every message begins. */
typedef struct {
    uint32_t kind;
    uint32_t list; /* that it belongs to */
    uint64_t number;
} psfm_message_head;

/* What list it is, and what its tasks take over from the first rank's context. */
typedef struct {
    const char *version, *kind;
    int num_threads; /* 0: all that the rank may use */
    size_t memory;   /* 0: all that it may use */
    uint64_t seed;
    size_t num_tasks;
} psfm_list_facts;

void psfm_list_facts_move(psfm_transfer *t, psfm_list_facts *facts);

typedef struct {
    char *host, *message;
    psfm_status status; /* of opening the list */
    int num_workers;
    size_t budget; /* memory for parts */
    int cpu;       /* psfm_cpu_level */
} psfm_rank_facts;

void psfm_rank_facts_move(psfm_transfer *t, void *facts);

/* Sends a message: a head, and a value as `move` tells it, which may be NULL. */
psfm_status psfm_message_send(psfm_link *link, psfm_context *ctx, int to,
                              const psfm_message_head *head,
                              void (*move)(psfm_transfer *t, void *value), void *value);

/* Waits a little where nothing happens, longer and longer up to `most` microseconds. *pause is 0
 * after something happened. */
void psfm_message_pause(unsigned *pause, unsigned most);

#endif
