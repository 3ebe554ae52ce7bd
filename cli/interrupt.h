/* Ctrl-C. */
#ifndef PSFM_CLI_INTERRUPT_H
#define PSFM_CLI_INTERRUPT_H

/* Exit status of a command that was interrupted, as shells give it. */
#define CLI_EXIT_INTERRUPTED 130

/* From now on the first interrupt is only noted; a second one ends the process. */
void cli_interrupt_catch(void);
/* Length of the line that is drawn over itself: the note of an interrupt takes its place. */
void cli_interrupt_set_line(int length);
/* 1 after an interrupt, 0 before. */
int cli_interrupted(void);

#endif
