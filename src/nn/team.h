/* Threads that wait for loops. A network runs one or more loops a layer, some of them a tenth of a
 * millisecond long, so that starting threads for each (psfm_parallel_for) would show, and nothing
 * in them can fail. */
#ifndef PSFM_NN_TEAM_H
#define PSFM_NN_TEAM_H

#include <stddef.h>

#include "base/context.h"

typedef struct psfm_team psfm_team;

/* Does task `index`; `worker` in [0, psfm_team_size) tells which scratch memory to use. */
typedef void (*psfm_team_fn)(void *user, size_t index, int worker);

/* Starts num_threads - 1 threads (fewer if the system gives no more). */
psfm_status psfm_team_create(psfm_context *ctx, int num_threads, psfm_team **out);

/* Ends the threads and frees; sets *team to NULL. */
void psfm_team_destroy(psfm_team **team);

/* Number of workers, the caller included. */
int psfm_team_size(const psfm_team *team);

/* Runs task 0 .. n-1 on all workers, the caller being worker 0, and returns when all are done.
 * Allocates nothing. One caller at a time. */
void psfm_team_run(psfm_team *team, size_t n, psfm_team_fn task, void *user);

#endif
