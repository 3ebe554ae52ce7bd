/* Ctrl-C stops a command at its next step of progress, which closes what is open. Who does not want
 * to wait presses again: files are replaced whole, so nothing is lost by that, either. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void note(int number) {
    static const char text[] = "\nstopping; Ctrl-C again stops at once\n";
    signal(number, SIG_DFL);
    interrupted = 1;
    if (isatty(STDERR_FILENO) && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        interrupted = 1; /* nobody to tell */
}

void cli_interrupt_catch(void) {
    struct sigaction action, before;
    if (sigaction(SIGINT, NULL, &before) != 0 || before.sa_handler == SIG_IGN)
        return; /* in the background of a script it stays ignored */
    action = (struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

int cli_interrupted(void) {
    return interrupted;
}
