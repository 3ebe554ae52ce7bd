/* Progress and log on standard error: a bar with the time left on a terminal, one line a stage
 * otherwise. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/timer.h"

static struct {
    char stage[PSFM_STAGE_NAME];
    psfm_stage_clock clock;
    double started, shown;
    bool quiet;
    bool open; /* a bar is on the current line */
} state;

static void show_bar(size_t done, size_t total, double now) {
    enum { WIDTH = 30 };
    double elapsed = now - state.started;
    double share = total == 0 ? 1.0 : (double)done / (double)total;
    char bar[WIDTH + 1];
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)(share * WIDTH));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r%-16s [%s] %3.0f %%  ", state.stage, bar, 100.0 * share);
    if (done < total && done > 0)
        fprintf(stderr, "%.0f s left   ", elapsed * (1.0 - share) / share);
    else
        fprintf(stderr, "%.1f s         ", elapsed);
    state.open = true;
    if (done >= total)
        cli_progress_finish();
}

static int progress(const char *stage, size_t done, size_t total, void *user) {
    (void)user;
    double now = psfm_now();
    if (strcmp(stage, state.stage) != 0) {
        cli_progress_finish();
        snprintf(state.stage, sizeof state.stage, "%s", stage);
        state.shown = 0.0;
    }
    state.started = psfm_stage_started(&state.clock, stage, done, now);
    if (state.quiet)
        return 0;
    if (isatty(STDERR_FILENO)) {
        if (done >= total || now - state.shown > 0.1) {
            state.shown = now;
            show_bar(done, total, now);
        }
    } else if (done >= total) {
        fprintf(stderr, "%s: %zu done in %.2f s\n", stage, total, now - state.started);
    }
    return 0;
}

static void log_line(psfm_log_level level, const char *message, void *user) {
    (void)user;
    if (level == PSFM_LOG_DEBUG || (state.quiet && level != PSFM_LOG_WARNING))
        return;
    cli_progress_finish();
    fputs(level == PSFM_LOG_WARNING ? "warning: " : "", stderr);
    psfm_print_plain(stderr, message);
    fputc('\n', stderr);
}

void cli_progress_attach(psfm_context *ctx) {
    psfm_context_set_progress(ctx, progress, NULL);
    psfm_context_set_log(ctx, log_line, NULL);
}

void cli_progress_silence(void) {
    state.quiet = true;
}

void cli_progress_finish(void) {
    if (state.open)
        fputc('\n', stderr);
    state.open = false;
}
