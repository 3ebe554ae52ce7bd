/* The processes that mpirun or srun started together. */
#ifndef PSFM_CLI_RANKS_H
#define PSFM_CLI_RANKS_H

#include "core/base/context.h"

/* To be called once, before anything else. Where the command was started alone, this looks at the
 * environment and does nothing; so does everything below. False if the ranks cannot work together:
 * the first one has said why. */
bool cli_ranks_open(void);

/* Whether this is not the first rank: then it does what the first one says until that dismisses it.
 * *code is how it ended. */
bool cli_ranks_serve(int *code);

/* Gives the context of the first rank's command the others for its tasks. */
void cli_ranks_attach(psfm_context *ctx);

/* Dismisses the others. */
void cli_ranks_close(void);

#endif
