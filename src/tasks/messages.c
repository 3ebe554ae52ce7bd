/* Messages. MPI's own waiting keeps a core busy, which the tasks need; so everybody looks for
 * messages now and then and sleeps in between, longer the less there is. */
#include "tasks/messages.h"

#include <time.h>

psfm_status psfm_message_send(psfm_link *link, psfm_context *ctx, int to,
                              const psfm_message_head *head, const psfm_packet *content) {
    psfm_packet packet = {0};
    psfm_status status = psfm_packet_put(ctx, &packet, head, sizeof *head);
    if (status == PSFM_OK && content != NULL)
        status = psfm_packet_put(ctx, &packet, content->bytes, content->size);
    if (status == PSFM_OK)
        status = link->send(link, ctx, to, &packet);
    psfm_packet_free(&packet);
    return status;
}

void psfm_message_pause(unsigned *pause, unsigned most) {
    enum { SHORTEST = 20 };
    *pause = *pause == 0 ? SHORTEST : 2 * *pause < most ? 2 * *pause : most;
    const struct timespec time = {.tv_nsec = 1000L * (long)*pause};
    nanosleep(&time, NULL);
}
