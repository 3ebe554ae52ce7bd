/* Threads of a rank that compute tasks from one queue and leave the results in another. */
#ifndef PSFM_TASKS_CREW_H
#define PSFM_TASKS_CREW_H

#include "tasks/tasks.h"

typedef struct psfm_crew psfm_crew;

/* Starts num_workers threads on tasks of this kind, whose state outlives the crew. */
psfm_status psfm_crew_create(psfm_context *ctx, const psfm_task_kind *kind, void *state,
                             int num_workers, psfm_crew **out);
/* Waits for the tasks that are being computed, drops those in the queue, and sets *crew to NULL. */
void psfm_crew_destroy(psfm_crew **crew);

/* Appends a task. */
psfm_status psfm_crew_add(psfm_context *ctx, psfm_crew *crew, uint64_t index,
                          const psfm_packet_reader *input);

/* A task that was computed; false if there is none. The caller frees *result, which on failure is
 * the message. */
bool psfm_crew_next(psfm_crew *crew, uint64_t *index, psfm_status *status, psfm_packet *result);

#endif
