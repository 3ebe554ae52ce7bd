/* Progress on standard error: on a terminal one line a step, which ends with the time it took, and
 * the time that the whole run still takes behind it. Elsewhere nothing, unless it is asked for. */
#ifndef PSFM_CLI_PROGRESS_H
#define PSFM_CLI_PROGRESS_H

#include <stdbool.h>

#include "planarsfm/context.h"

/* What a run will do; all false: a command of one step. */
typedef struct {
    bool photographs; /* features and matches are made */
    bool court;       /* a drawing is sought */
    bool patches;     /* planes and points are aligned in photographs */
    bool poses;
} cli_plan;

/* Lets the context show progress and log lines. The state is the process's: one command, one bar.
 * An interrupt (Ctrl-C) ends the command at its next step of progress. */
void cli_progress_attach(psfm_context *ctx);
/* Says what is to come, so that the time left can be told. */
void cli_progress_plan(const cli_plan *plan);
/* Switches progress and information off; warnings stay. */
void cli_progress_silence(void);
/* Lines of steps without a terminal, too. */
void cli_progress_insist(void);
/* Ends the line of the running step, as done or as not done. */
void cli_progress_finish(bool is_done);

#endif
