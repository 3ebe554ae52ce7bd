/* Progress and log on standard error.
 *
 * The line of the running step is drawn over itself and wiped before anything else is printed, so
 * that what stays on the screen is whole: one line a step, with the time from the end of the one
 * before to its own. Their sum is the time of the run. Blanks wipe as well as escape sequences and
 * need no terminal that knows them. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/escape.h"
#include "core/base/timer.h"
#include "interrupt.h"
#include "progress_steps.h"

#define LINE_SIZE 256
#define REDRAW_SECONDS 0.1
#define STEP_FORMAT "%-16s "

static struct {
    cli_steps run;
    char label[PSFM_STAGE_NAME]; /* of the running step; empty: none */
    double began, drawn;         /* the step; the line */
    int length;                  /* of the line on the screen */
    bool quiet, insisted;
} state;

static bool is_terminal(void) {
    return isatty(STDERR_FILENO) != 0;
}

static bool shows_steps(void) {
    return !state.quiet && (state.insisted || is_terminal());
}

static int count_columns(void) {
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

/* Draws a line over the last one; the last column stays free, lest the terminal wraps. */
static void draw_line(const char *text) {
    int length = (int)strlen(text), room = count_columns() - 1;
    length = length < room ? length : room;
    cli_interrupt_set_line(length > state.length ? length : state.length); /* it may come now */
    fprintf(stderr, "\r%.*s%*s", length, text, state.length > length ? state.length - length : 0,
            "");
    state.length = length;
}

static void wipe_line(void) {
    if (state.length > 0) {
        draw_line("");
        fputc('\r', stderr);
    }
    state.length = 0;
}

static int print_bar(char *text, size_t size, double share) {
    enum { WIDTH = 20 };
    char bar[WIDTH + 1];
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)(share * WIDTH));
    bar[WIDTH] = '\0';
    return snprintf(text, size, "[%s] %3.0f %%", bar, 100.0 * share);
}

static void show_step(int step, const char *stage, double share, double now) {
    char line[LINE_SIZE], spent[32], left[32];
    bool whole = cli_steps_is_whole(step);
    double rest = psfm_time_left(&state.run.steps, whole ? share : -1.0, now - state.began);
    int at = snprintf(line, sizeof line, STEP_FORMAT, state.label);
    at += whole ? print_bar(line + at, sizeof line - (size_t)at, share)
                : snprintf(line + at, sizeof line - (size_t)at, "%s", stage);
    psfm_print_duration(now - state.began, spent);
    at += snprintf(line + at, sizeof line - (size_t)at, "  %s", spent);
    psfm_print_rough_duration(rest, left);
    if (rest >= 0.0)
        snprintf(line + at, sizeof line - (size_t)at, ", about %s left in all", left);
    state.drawn = now;
    draw_line(line);
}

static void enter_step(int step, const char *stage) {
    const char *label = cli_steps_label(step, stage);
    if (strcmp(label, state.label) == 0)
        return;
    cli_progress_finish(true);
    psfm_run_steps_enter(&state.run.steps, step);
    snprintf(state.label, sizeof state.label, "%s", label);
    state.drawn = 0.0;
}

static int show_progress(const char *stage, size_t done, size_t total, void *user) {
    (void)user;
    double now = psfm_now(), share = total == 0 ? 1.0 : (double)done / (double)total;
    cli_steps_learn(&state.run, stage, total);
    int step = cli_steps_find(&state.run, stage);
    enter_step(step, stage);
    if (shows_steps() && is_terminal() && now - state.drawn > REDRAW_SECONDS)
        show_step(step, stage, share < 1.0 ? share : 1.0, now);
    if (done >= total && (cli_steps_is_whole(step) || !state.run.plan.poses))
        cli_progress_finish(true);
    return cli_interrupted();
}

static void log_line(psfm_log_level level, const char *message, void *user) {
    (void)user;
    if (level == PSFM_LOG_DEBUG || (state.quiet && level != PSFM_LOG_WARNING))
        return;
    wipe_line();
    fputs(level == PSFM_LOG_WARNING ? "warning: " : "", stderr);
    psfm_print_plain(stderr, message);
    fputc('\n', stderr);
}

void cli_progress_attach(psfm_context *ctx) {
    state.began = psfm_now();
    psfm_context_set_progress(ctx, show_progress, NULL);
    psfm_context_set_log(ctx, log_line, NULL);
    cli_interrupt_catch();
}

void cli_progress_plan(const cli_plan *plan) {
    state.run.plan = *plan;
}

void cli_progress_silence(void) {
    state.quiet = true;
}

void cli_progress_insist(void) {
    state.insisted = true;
}

void cli_progress_finish(bool is_done) {
    char spent[32];
    double now = psfm_now();
    wipe_line();
    if (state.label[0] != '\0' && shows_steps()) {
        psfm_print_duration(now - state.began, spent);
        fprintf(stderr, STEP_FORMAT "%s %s\n", state.label, is_done ? "done in" : "stopped after",
                spent);
    }
    if (state.label[0] != '\0') {
        psfm_run_steps_leave(&state.run.steps, now - state.began);
        state.began = now;
    }
    state.label[0] = '\0';
}
