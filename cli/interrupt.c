/* Ctrl-C stops a command at its next step of progress, which closes what is open. Who does not want
 * to wait presses again: files are replaced whole, so nothing is lost by that, either. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, line_length;

/* Says it in the place of the line that is being drawn, which ends with the terminal's "^C". */
static void note_interrupt(int number) {
    enum { SAID = 36, WIDEST = 256 };
    static const char text[] = "\rstopping; Ctrl-C again stops at once\n";
    char line[WIDEST];
    size_t blanks = line_length + 2 > SAID ? (size_t)(line_length + 2 - SAID) : 0;
    blanks = blanks < WIDEST - sizeof text ? blanks : WIDEST - sizeof text;
    signal(number, SIG_DFL);
    interrupted = 1;
    memcpy(line, text, SAID + 1);
    memset(line + SAID + 1, ' ', blanks);
    line[SAID + 1 + blanks] = '\n';
    if (isatty(STDERR_FILENO) && write(STDERR_FILENO, line, SAID + 2 + blanks) < 0)
        interrupted = 1; /* nobody to tell */
}

void cli_interrupt_set_line(int length) {
    line_length = length;
}

void cli_interrupt_catch(void) {
    struct sigaction action, before;
    if (sigaction(SIGINT, NULL, &before) != 0 || before.sa_handler == SIG_IGN)
        return; /* in the background of a script it stays ignored */
    action = (struct sigaction){.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

int cli_interrupted(void) {
    return interrupted;
}
