/* Time and memory of bundle adjustment on synthetic scenes with their true tracks, 0.7 px noise,
 * poses turned by 1 degree and moved by 0.2 m, points moved by 0.2 m.
 *
 *   bench_bundle [threads] [--solver auto|direct|iterative] [scene cameras points]...
 * Without scenes: arena and field of 46, 200 and 1000 cameras. Each runs in a process of its own,
 * so that its peak memory is its own. */
#include <malloc.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bundle_start.h"
#include "core/base/timer.h"

typedef struct {
    double num_obs, seconds_per_step;
} outcome;

/* A line of /proc/self/status in MB; 0 where there is none. */
static double memory_mb(const char *name) {
    char line[256];
    double kb = 0.0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtod(line + strlen(name) + 1, NULL);
    if (file != NULL)
        fclose(file);
    return kb / 1024.0;
}

/* Lets the peak memory count from now. */
static void reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
}

static psfm_bundle_options adjustment;

static outcome run(int threads, psfm_scene_kind kind, int cameras, int points) {
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, threads);
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = cameras;
    options.num_points = points;
    options.noise_px = 0.7;
    options.neighbours = 1; /* matches are not used here */
    static bundle_start s;
    psfm_bundle_stats stats;
    double seconds = INFINITY, cpu = INFINITY, memory = 0.0;
    int repeats = cameras <= 200 ? 3 : 1;
    for (int k = 0; k < repeats; ++k) { /* the machine may be busy: the fastest run counts */
        bundle_start_make(ctx, kind, 1, &options, &s);
        bundle_start_move(&s, 1, 1.0, 0.2);
        psfm_match_set_free(&s.scene.matches);
        malloc_trim(0);
        reset_peak();
        double before = memory_mb("VmRSS"), start = psfm_now(), cpu_start = bench_cpu();
        bench_check(ctx, psfm_bundle_adjust(ctx, &s.problem, &adjustment, &stats));
        seconds = fmin(seconds, psfm_now() - start);
        cpu = fmin(cpu, bench_cpu() - cpu_start);
        memory = fmax(memory, memory_mb("VmHWM") - before);
        bundle_start_free(&s);
        free(stats.images); /* the numbers are still wanted */
    }
    size_t n = stats.num_observations;
    printf("%-8s %5d %7zu %8zu %6.1f %5d %9.4f %8.3f %8.3f %8.0f %10zu %6zu %7.4f  %s\n",
           psfm_scene_kind_name(kind), cameras, stats.num_points, n,
           (double)n / (double)stats.num_points, stats.iterations, seconds / stats.iterations,
           seconds, cpu, memory, stats.factor_entries, stats.inner_steps, stats.mean_px,
           psfm_bundle_stop_name(stats.stop));
    fflush(stdout);
    psfm_context_destroy(&ctx);
    return (outcome){(double)n, seconds / stats.iterations};
}

/* Runs one size in a child and says how the time per step grew with the observations. */
static void run_alone(int threads, psfm_scene_kind kind, int cameras, int points,
                      outcome *previous) {
    int ends[2];
    outcome now = {0};
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        now = run(threads, kind, cameras, points);
        exit(write(ends[1], &now, sizeof now) == sizeof now ? 0 : 1);
    }
    close(ends[1]);
    bool done = read(ends[0], &now, sizeof now) == sizeof now;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (!done)
        exit(1);
    if (previous->num_obs > 0.0)
        printf("         seconds per step grew with observations to the power %.2f\n",
               log(now.seconds_per_step / previous->seconds_per_step) /
                   log(now.num_obs / previous->num_obs));
    fflush(stdout);
    *previous = now;
}

int main(int argc, char **argv) {
    static const int sizes[] = {46, 200, 1000};
    static const int field_points[] = {9200, 40000, 200000};
    int threads = argc > 1 ? atoi(argv[1]) : 0, first = 2;
    psfm_options_init(&psfm_bundle_option_table, &adjustment);
    if (argc > 3 && strcmp(argv[2], "--solver") == 0) {
        adjustment.solver = strcmp(argv[3], "direct") == 0      ? PSFM_BUNDLE_DIRECT
                            : strcmp(argv[3], "iterative") == 0 ? PSFM_BUNDLE_ITERATIVE
                                                                : PSFM_BUNDLE_AUTO;
        first = 4;
    }
    printf("%-8s %5s %7s %8s %6s %5s %9s %8s %8s %8s %10s %6s %7s\n", "scene", "cams", "points",
           "obs", "obs/pt", "steps", "s/step", "s", "cpu s", "MB", "factor", "inner", "mean px");
    fflush(stdout);
    outcome previous = {0};
    for (int k = first; k + 2 < argc; k += 3) {
        psfm_scene_kind kind;
        if (!psfm_scene_kind_from_name(argv[k], &kind))
            return 1;
        run_alone(threads, kind, atoi(argv[k + 1]), atoi(argv[k + 2]), &previous);
    }
    for (int k = 0; argc <= first && k < 3; ++k)
        run_alone(threads, PSFM_SCENE_ARENA, sizes[k], 1500, &previous);
    previous = (outcome){0};
    for (int k = 0; argc <= first && k < 3; ++k)
        run_alone(threads, PSFM_SCENE_FIELD, sizes[k], field_points[k], &previous);
    return 0;
}
