/* A rank that is not the first: it opens what it is told to open, computes what it is given and
 * says what came out. A failure of a task or of a list is said, too, and the first rank decides;
 * only a link that fails ends the rank by itself. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/parallel.h"
#include "planarsfm/version.h"
#include "tasks/crew.h"
#include "tasks/messages.h"

/* Microseconds: while tasks are computed, and between lists. */
#define LONGEST_PAUSE 2000
#define LONGEST_REST 10000

typedef struct {
    psfm_context *ctx;
    psfm_link *link;
    const psfm_task_kind *const *kinds;
    uint32_t list;              /* that is open */
    const psfm_task_kind *kind; /* of it; NULL: none */
    void *state;
    psfm_crew *crew;
    bool is_over;
} service;

/* ---- lists ---- */

static void close_list(service *s) {
    psfm_crew_destroy(&s->crew);
    if (s->kind != NULL)
        s->kind->close(s->state);
    s->kind = NULL;
    s->state = NULL;
}

static const psfm_task_kind *find_kind(const service *s, const char *name) {
    for (size_t k = 0; s->kinds[k] != NULL; ++k)
        if (strcmp(s->kinds[k]->name, name) == 0)
            return s->kinds[k];
    return NULL;
}

static psfm_status check_version(service *s, psfm_packet_reader *reader) {
    char *version = NULL;
    psfm_status status = psfm_packet_get_text(s->ctx, reader, &version);
    if (status == PSFM_OK && strcmp(version, PSFM_VERSION) != 0)
        status = psfm_fail(s->ctx, PSFM_ERR_DATA,
                           "it has planarsfm " PSFM_VERSION ", the first rank has %s", version);
    free(version);
    return status;
}

static psfm_status open_list(service *s, psfm_packet_reader *reader, int *num_workers) {
    psfm_list_facts facts;
    char *name = NULL;
    psfm_status status = check_version(s, reader);
    if (status == PSFM_OK)
        status = psfm_packet_get(s->ctx, reader, &facts, sizeof facts);
    if (status == PSFM_OK)
        status = psfm_packet_get_text(s->ctx, reader, &name);
    if (status == PSFM_OK && find_kind(s, name) == NULL)
        status = psfm_fail(s->ctx, PSFM_ERR_DATA, "it does not know of tasks called %s", name);
    if (status == PSFM_OK) {
        const psfm_task_kind *kind = find_kind(s, name);
        psfm_context_set_threads(s->ctx, facts.num_threads);
        psfm_context_set_memory(s->ctx, facts.memory);
        psfm_context_set_seed(s->ctx, facts.seed);
        *num_workers = psfm_parallel_workers(s->ctx, facts.num_tasks);
        status = kind->open(s->ctx, reader, *num_workers, &s->state);
        s->kind = status == PSFM_OK ? kind : NULL;
    }
    if (status == PSFM_OK)
        status = psfm_crew_create(s->ctx, s->kind, s->state, *num_workers, &s->crew);
    free(name);
    return status;
}

/* Opens a list and says how that went. */
static psfm_status take_list(service *s, psfm_packet_reader *reader) {
    char host[256] = "";
    psfm_packet content = {0};
    psfm_rank_facts facts = {.cpu = (int)psfm_cpu()};
    const psfm_message_head head = {.kind = PSFM_MESSAGE_READY, .list = s->list};
    facts.status = open_list(s, reader, &facts.num_workers);
    facts.budget = psfm_context_memory(s->ctx) / 4;
    gethostname(host, sizeof host - 1);
    psfm_status status = psfm_packet_put(s->ctx, &content, &facts, sizeof facts);
    if (status == PSFM_OK)
        status = psfm_packet_put_text(s->ctx, &content, host);
    if (status == PSFM_OK)
        status = psfm_packet_put_text(s->ctx, &content, psfm_context_message(s->ctx));
    if (status == PSFM_OK)
        status = psfm_message_send(s->link, s->ctx, 0, &head, &content);
    psfm_packet_free(&content);
    if (facts.status != PSFM_OK)
        close_list(s);
    return status;
}

/* ---- tasks ---- */

static psfm_status send_result(service *s, uint64_t index, psfm_status result_status,
                               const psfm_packet *result) {
    psfm_packet content = {0};
    const psfm_message_head head = {PSFM_MESSAGE_RESULT, s->list, index};
    psfm_status status = psfm_packet_put(s->ctx, &content, &result_status, sizeof result_status);
    if (status == PSFM_OK)
        status = psfm_packet_put(s->ctx, &content, result->bytes, result->size);
    if (status == PSFM_OK)
        status = psfm_message_send(s->link, s->ctx, 0, &head, &content);
    psfm_packet_free(&content);
    return status;
}

static psfm_status send_results(service *s, bool *moved) {
    psfm_status status = PSFM_OK, result_status;
    psfm_packet result = {0};
    uint64_t index;
    while (status == PSFM_OK && s->crew != NULL &&
           psfm_crew_next(s->crew, &index, &result_status, &result)) {
        *moved = true;
        status = send_result(s, index, result_status, &result);
        psfm_packet_free(&result);
    }
    return status;
}

/* What belongs to a list that could not be opened is dropped. */
static psfm_status take_for_list(service *s, const psfm_message_head *head,
                                 psfm_packet_reader *reader) {
    if (s->kind == NULL)
        return PSFM_OK;
    if (head->kind == PSFM_MESSAGE_TASK)
        return psfm_crew_add(s->ctx, s->crew, head->number, reader);
    if (head->kind == PSFM_MESSAGE_PART)
        return s->kind->take_part(s->ctx, s->state, (uint32_t)head->number, reader);
    s->kind->forget_parts(s->state);
    return PSFM_OK;
}

static psfm_status take_message(service *s, const psfm_packet *packet) {
    psfm_packet_reader reader = psfm_packet_read(packet);
    psfm_message_head head;
    psfm_status status = psfm_packet_get(s->ctx, &reader, &head, sizeof head);
    if (status != PSFM_OK)
        return status;
    switch (head.kind) {
    case PSFM_MESSAGE_OPEN:
        s->list = head.list;
        return take_list(s, &reader);
    case PSFM_MESSAGE_CLOSE:
        close_list(s);
        return PSFM_OK;
    case PSFM_MESSAGE_END:
        s->is_over = true;
        return PSFM_OK;
    default:
        return take_for_list(s, &head, &reader);
    }
}

static psfm_status turn(service *s, bool *moved) {
    psfm_packet packet = {0};
    int from = -1;
    psfm_status status = send_results(s, moved);
    if (status == PSFM_OK)
        status = s->link->receive(s->link, s->ctx, &from, &packet);
    if (status == PSFM_OK && from >= 0) {
        *moved = true;
        status = take_message(s, &packet);
    }
    psfm_packet_free(&packet);
    return status;
}

psfm_status psfm_tasks_serve(psfm_context *ctx, psfm_link *link,
                             const psfm_task_kind *const *kinds) {
    service s = {.ctx = ctx, .link = link, .kinds = kinds};
    const psfm_message_head bye = {.kind = PSFM_MESSAGE_BYE};
    psfm_status status = PSFM_OK;
    unsigned pause = 0;
    while (status == PSFM_OK && !s.is_over) {
        bool moved = false;
        status = turn(&s, &moved);
        pause = moved ? 0 : pause;
        if (!moved)
            psfm_message_pause(&pause, s.kind == NULL ? LONGEST_REST : LONGEST_PAUSE);
    }
    close_list(&s);
    return status == PSFM_OK ? psfm_message_send(link, ctx, 0, &bye, NULL) : status;
}
