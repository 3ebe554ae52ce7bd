/* Progress on standard error: a bar with the time left on a terminal, a line per stage otherwise.
 */
#ifndef PSFM_CLI_PROGRESS_H
#define PSFM_CLI_PROGRESS_H

#include "planarsfm/context.h"

/* Lets the context show progress and log lines. The state is the process's: one command, one bar.
 */
void cli_progress_attach(psfm_context *ctx);
/* Switches progress and information off; warnings stay. */
void cli_progress_silence(void);
/* Ends the line of a running stage, so that other output starts on a fresh one. */
void cli_progress_finish(void);

#endif
