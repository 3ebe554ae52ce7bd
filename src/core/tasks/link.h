/* What carries messages between the processes of a run, its ranks. The first rank has number 0. */
#ifndef PSFM_TASKS_LINK_H
#define PSFM_TASKS_LINK_H

#include "core/tasks/message.h"

/* Messages from one rank to another arrive in the order in which they were sent. Only one thread of
 * a rank may use its link. */
typedef struct psfm_link psfm_link;
struct psfm_link {
    int rank, num_ranks;
    uint32_t num_lists; /* of tasks that the first rank opened on it */
    /* Takes the message over, which is empty then, and sends it without waiting for the other side.
     */
    psfm_status (*send)(psfm_link *link, psfm_context *ctx, int to, psfm_message *message);
    /* A message that has arrived, which the caller frees; *from is -1 if there is none. Does not
     * wait. */
    psfm_status (*receive)(psfm_link *link, psfm_context *ctx, int *from, psfm_message *message);
    void *own;
};

#endif
