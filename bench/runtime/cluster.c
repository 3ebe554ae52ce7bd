/* Where the first rank saturates: the tasks of a run from photographs to models are recorded as
 * they run (task_record.h), and played again on ranks that are not here (task_play.h): NUM images,
 * each paired with the K before it, ranks of T threads.
 *
 *   bench_cluster PHOTOS [--cameras MODEL] [--images NUM] [--pairs K] [--threads T]
 *                 [--mb-per-second B] [--high 1] */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <unistd.h>

#include "../../tests/run_defaults.h"
#include "../scratch.h"
#include "core/base/path.h"
#include "frontend/extract_folder.h"
#include "frontend/match_images.h"
#include "images/image/image_list.h"
#include "images/photometric/pyramid.h"
#include "sfm/run.h"
#include "task_play.h"

/* Of full tasks: src/frontend/match_images.c, src/core/twoview/two_view_tasks.c and those of
 * src/images/photometric. */
enum { PAIRS_PER_TASK = 16, VIEWS_PER_TASK = 4, SEARCHES_PER_TASK = 4000 };

/* What the recorded run did. */
typedef struct {
    size_t num_images, num_matched;
    double num_aligned, num_searches; /* pairs; points in photographs, of all rounds */
    double read;                      /* CPU seconds for a photograph */
} run_facts;

/* ---- recording ---- */

static psfm_status make_features(psfm_context *ctx, const char *photos, const char *cameras,
                                 bool high, const char *database, run_facts *facts) {
    psfm_folder_options folder = {.intrinsics.cameras_path = cameras};
    psfm_extract_stats stats = {0};
    psfm_options_init(&psfm_extract_option_table, &folder.extract);
    psfm_options_init(&psfm_sift_option_table, &folder.sift);
    folder.detector = default_detector();
    folder.effort.level = high ? PSFM_EFFORT_HIGH : PSFM_EFFORT_NORMAL;
    psfm_status status = psfm_extract_folder(ctx, photos, database, &folder, &stats);
    facts->num_images = stats.num_extracted;
    psfm_extract_stats_free(&stats);
    return status;
}

static psfm_status make_matches(psfm_context *ctx, const char *database, run_facts *facts) {
    psfm_match_options match = {.pairs = "exhaustive"};
    psfm_match_stats stats = {0};
    psfm_options_init(&psfm_nearest_option_table, &match.nearest);
    psfm_options_init(&psfm_guided_option_table, &match.guided);
    psfm_options_init(&psfm_two_view_option_table, &match.two_view);
    match.matcher = default_matcher();
    psfm_status status = psfm_match_images(ctx, database, &match, &stats);
    facts->num_matched = stats.num_matched;
    return status;
}

static double member(const cJSON *tree, const char *object, const char *name) {
    return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(tree, object), name));
}

static psfm_status make_models(psfm_context *ctx, const char *photos, const char *database,
                               const char *folder, run_facts *facts) {
    psfm_settings *settings = psfm_settings_create();
    cJSON *summary = NULL;
    psfm_status status =
        settings == NULL ? PSFM_ERR_MEMORY : psfm_settings_set(ctx, settings, "images", photos);
    if (status == PSFM_OK)
        status = psfm_settings_set(ctx, settings, "no-report", "on");
    if (status == PSFM_OK)
        status = psfm_run_matches(ctx, database, settings, folder, &summary);
    facts->num_aligned = member(summary, "refine_matches", "pairs");
    facts->num_searches =
        member(summary, "align_tracks", "patches") * (double)records[TRACKS].num_lists;
    cJSON_Delete(summary);
    psfm_settings_destroy(&settings);
    return status;
}

/* Reads some photographs as for the alignment of patches. */
static psfm_status time_reading(psfm_context *ctx, const char *folder, double *read) {
    enum { MOST = 20 };
    psfm_image_list files = {0};
    psfm_status status = psfm_image_list_folder(ctx, folder, &files);
    const size_t num = files.num < MOST ? files.num : MOST;
    double start = thread_cpu();
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        char *path = NULL;
        psfm_image image = {0};
        psfm_pyramid photo = {0};
        status = psfm_path_join(ctx, folder, files.names[k], &path);
        if (status == PSFM_OK)
            status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY, &image);
        if (status == PSFM_OK)
            status = psfm_pyramid_init(ctx, &image, &photo);
        psfm_pyramid_free(&photo);
        psfm_image_free(&image);
        free(path);
    }
    *read = mean_of(thread_cpu() - start, num);
    psfm_image_list_free(&files);
    return status;
}

/* The second rank read each photograph that it was told of once; what is left is aligning. */
static void leave_reading_out(task_record *r, double read) {
    const double reads = read * (double)r->num_messages[PSFM_MESSAGE_PART],
                 mean = mean_seconds(r) - mean_of(reads, r->num);
    for (size_t k = 0; k < r->num; ++k)
        r->seconds[k] = mean > 0.0 ? mean : 0.0;
}

/* Makes all tasks as large as they are where there is enough to do. */
static void scale_records(const run_facts *facts) {
    const double units[NUM_STAGES] = {[MATCHES] = (double)facts->num_matched,
                                      [CORNERS] = (double)facts->num_images,
                                      [PAIRS] = facts->num_aligned,
                                      [TRACKS] = facts->num_searches};
    static const double full[NUM_STAGES] = {[MATCHES] = PAIRS_PER_TASK,
                                            [CORNERS] = VIEWS_PER_TASK,
                                            [PAIRS] = PAIRS_PER_TASK,
                                            [TRACKS] = SEARCHES_PER_TASK};
    leave_reading_out(&records[PAIRS], facts->read);
    leave_reading_out(&records[TRACKS], facts->read);
    for (int k = 0; k < NUM_STAGES; ++k)
        if (units[k] > 0.0)
            scale_record(&records[k], full[k] * (double)records[k].num_tasks / units[k]);
}

static psfm_status record_run(psfm_context *ctx, const char *photos, const char *cameras, bool high,
                              run_facts *facts) {
    char folder[SCRATCH_LENGTH];
    char *database = NULL;
    if (make_scratch(folder) == NULL)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be made", folder);
    psfm_status status = psfm_path_join(ctx, folder, "database.db", &database);
    thread_ranks *ranks = start_recording(ctx);
    if (status == PSFM_OK)
        status = make_features(ctx, photos, cameras, high, database, facts);
    if (status == PSFM_OK)
        status = make_matches(ctx, database, facts);
    if (status == PSFM_OK)
        status = make_models(ctx, photos, database, folder, facts);
    if (status == PSFM_OK)
        status = time_reading(ctx, photos, &facts->read);
    thread_ranks_stop(ctx, ranks);
    scale_records(facts);
    psfm_status removed = psfm_remove_all(ctx, folder);
    free(database);
    return status == PSFM_OK ? removed : status;
}

/* ---- tables ---- */

static const char *const names[NUM_STAGES] = {
    [FEATURES] = "features, a photograph each",   [MATCHES] = "matches, 16 pairs each",
    [GEOMETRIES] = "verification, 16 pairs each", [CORNERS] = "corners, 4 photographs each",
    [PAIRS] = "pairs aligned, 16 each",           [TRACKS] = "tracks, 4,000 searches each"};

static void print_records(void) {
    printf("| tasks | recorded | CPU ms | first rank, ms a task | ms an image | kB an image | kB a "
           "task | kB a result |\n|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < NUM_STAGES; ++k) {
        const task_record *r = &records[k];
        const costs c = costs_of(r);
        printf("| %s | %zu of %zu | %.1f | %.2f | %.2f | %.0f | %.0f | %.0f |\n", names[k], r->num,
               r->num_tasks, 1e3 * mean_seconds(r), 1e3 * c.task, 1e3 * c.part, 1e-3 * c.part_bytes,
               1e-3 * c.task_bytes, 1e-3 * c.result_bytes);
    }
}

static size_t tasks_for(double units, double each) {
    return (size_t)(units / each + 0.999);
}

/* The tasks of all images of the world. Tracks reach as far as pairs, both ways, with as many
 * searches an image as recorded. */
static void make_stages(const world *w, const run_facts *facts, stage stages[NUM_STAGES]) {
    const double images = (double)w->num_images, pairs = images * (double)w->num_pairs;
    const double searches = mean_of(facts->num_searches, facts->num_images);
    const double per_search = searches > 0.0 ? (double)w->num_pairs / searches : 0.0;
    for (int k = 0; k < NUM_STAGES; ++k)
        stages[k] = (stage){.r = &records[k]};
    stages[FEATURES].num_tasks = w->num_images;
    stages[MATCHES].num_tasks = stages[GEOMETRIES].num_tasks = stages[PAIRS].num_tasks =
        tasks_for(pairs, PAIRS_PER_TASK);
    stages[MATCHES].pairs_each = stages[PAIRS].pairs_each = PAIRS_PER_TASK;
    stages[CORNERS].num_tasks = tasks_for(images, VIEWS_PER_TASK);
    stages[CORNERS].images_each = VIEWS_PER_TASK;
    stages[TRACKS].num_tasks = tasks_for(images * searches, SEARCHES_PER_TASK);
    stages[TRACKS].pairs_each = per_search * SEARCHES_PER_TASK;
    stages[PAIRS].read = stages[TRACKS].read = facts->read;
}

static psfm_status print_row(psfm_context *ctx, const world *w, const stage *stages,
                             size_t num_ranks) {
    psfm_status status = PSFM_OK;
    printf("| %zu |", num_ranks);
    for (int k = 0; status == PSFM_OK && k < NUM_STAGES; ++k) {
        outcome out = {0};
        if (stages[k].r->num > 0)
            status = simulate(ctx, &stages[k], w, num_ranks, &out);
        if (status != PSFM_OK || out.seconds <= 0.0)
            printf(" |");
        else if (stages[k].pairs_each > 0.0)
            printf(" %.0f s, %.0f, %.1f |", out.seconds, out.work / out.seconds,
                   (double)out.num_parts / (double)w->num_images);
        else
            printf(" %.0f s, %.0f |", out.seconds, out.work / out.seconds);
    }
    printf("\n");
    return status;
}

static psfm_status print_tables(psfm_context *ctx, const world *w, const run_facts *facts) {
    static const size_t ranks[] = {1, 10, 30, 100, 300, 1000};
    stage stages[NUM_STAGES];
    psfm_status status = PSFM_OK;
    make_stages(w, facts, stages);
    print_records();
    printf("\nreading a photograph for alignment: %.1f CPU ms; %.0f searches an image\n",
           1e3 * facts->read, mean_of(facts->num_searches, facts->num_images));
    printf("\n%zu images, %zu pairs each, ranks of %zu threads, %.0f MB/s, %.0f us: seconds, "
           "speed-up, times an image is sent\n\n",
           w->num_images, w->num_pairs, w->num_threads, 1e-6 * w->bytes_per_second,
           1e6 * w->latency);
    printf("| ranks | features | matches | verification | corners | pairs | tracks |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; status == PSFM_OK && k < sizeof ranks / sizeof *ranks; ++k)
        status = print_row(ctx, w, stages, ranks[k]);
    return status;
}

static const char *text(int argc, char **argv, const char *name) {
    for (int k = 2; k + 1 < argc; k += 2)
        if (strcmp(argv[k], name) == 0)
            return argv[k + 1];
    return NULL;
}

static double number(int argc, char **argv, const char *name, double otherwise) {
    const char *given = text(argc, argv, name);
    return given == NULL ? otherwise : atof(given);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    run_facts facts = {0};
    if (argc < 2 || argc % 2 != 0 || ctx == NULL) {
        fprintf(stderr, "usage: bench_cluster PHOTOS [--cameras MODEL] [--images NUM] [--pairs K] "
                        "[--threads T] [--mb-per-second B] [--high 1]\n");
        return 2;
    }
    const world w = {.num_images = (size_t)number(argc, argv, "--images", 100000),
                     .num_pairs = (size_t)number(argc, argv, "--pairs", 20),
                     .num_threads = (size_t)number(argc, argv, "--threads", 1),
                     .bytes_per_second = 1e6 * number(argc, argv, "--mb-per-second", 1000),
                     .latency = 50e-6};
    const bool high = number(argc, argv, "--high", 0) > 0;
    psfm_status status = record_run(ctx, argv[1], text(argc, argv, "--cameras"), high, &facts);
    if (status == PSFM_OK)
        status = print_tables(ctx, &w, &facts);
    if (status != PSFM_OK)
        fprintf(stderr, "bench_cluster: %s\n", psfm_context_message(ctx));
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
