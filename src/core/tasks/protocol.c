/* Messages. MPI's own waiting keeps a core busy, which the tasks need; so everybody looks for
 * messages now and then and sleeps in between, longer the less there is. */
#include "core/tasks/protocol.h"

#include <time.h>

void psfm_list_facts_move(psfm_transfer *t, psfm_list_facts *facts) {
    psfm_move(t, facts, sizeof *facts);
    psfm_move_text(t, &facts->version);
    psfm_move_text(t, &facts->kind);
}

void psfm_rank_facts_move(psfm_transfer *t, void *facts) {
    psfm_rank_facts *f = facts;
    psfm_move(t, f, sizeof *f);
    psfm_move_text(t, &f->host);
    psfm_move_text(t, &f->message);
}

psfm_status psfm_message_send(psfm_link *link, psfm_context *ctx, int to,
                              const psfm_message_head *head,
                              void (*move)(psfm_transfer *t, void *value), void *value) {
    psfm_message message = {0};
    psfm_transfer t = {.ctx = ctx, .message = &message};
    psfm_message_head first = *head;
    psfm_move(&t, &first, sizeof first);
    if (move != NULL)
        move(&t, value);
    psfm_status status = t.status == PSFM_OK ? link->send(link, ctx, to, &message) : t.status;
    psfm_message_free(&message);
    return status;
}

void psfm_message_pause(unsigned *pause, unsigned most) {
    enum { SHORTEST = 20 };
    *pause = *pause == 0 ? SHORTEST : 2 * *pause < most ? 2 * *pause : most;
    const struct timespec time = {.tv_nsec = 1000L * (long)*pause};
    nanosleep(&time, NULL);
}
