/* The steps that a user sees, from the stages that the library tells of. */
#ifndef PSFM_CLI_PROGRESS_STEPS_H
#define PSFM_CLI_PROGRESS_STEPS_H

#include <stddef.h>

#include "core/base/time_left.h"
#include "progress.h"

/* What is known of a command's run. Zero-initialised: one step, whatever its stages are. */
typedef struct {
    cli_plan plan;
    psfm_run_steps steps;
    size_t num_images, num_pairs; /* 0: not known yet */
    bool is_started;
} cli_steps;

/* The step that a stage belongs to at this point of the run. */
int cli_steps_find(cli_steps *run, const char *stage);

/* The name of a step; a stage that belongs to none is one of its own. */
const char *cli_steps_label(int step, const char *stage);

/* Whether the stage is all of its step, so that its share is that of the step. */
bool cli_steps_is_whole(int step);

/* Learns numbers of images and pairs from the total of a stage, and weighs the steps anew. */
void cli_steps_learn(cli_steps *run, const char *stage, size_t total);

#endif
