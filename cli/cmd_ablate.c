/* planarsfm ablate: the ablation of the published method on one database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ablate/ablation_sweep.h"
#include "cli.h"
#include "core/base/alloc.h"
#include "core/base/context.h"
#include "core/base/path.h"

static psfm_run_options options;

static const char *const positional[] = {"DATABASE...", NULL};
static const cli_flag flags[] = {
    {"--gt", "GT", "ground truth, a COLMAP model folder (default: gt beside each database)", 0},
    {"--seeds", "N", "runs per database, each with a seed of its own (default 10)", 0},
    {"--sweep", NULL, "the same under other readings of the paper's formulas, one line each", 0},
    {"--json", NULL, "print JSON instead of tables", 0},
    {0},
};

/* The thresholds that the tables show: 1, 3 and 5 degrees. */
enum { FIRST_SHOWN = 1, LAST_SHOWN = 3 };

static void print_score(const psfm_ablation_score *score) {
    for (int k = FIRST_SHOWN; k <= LAST_SHOWN; ++k)
        printf(" %5.1f +-%4.1f", score->mean[k], score->sigma[k]);
}

static void print_head(const char *what) {
    printf("\n%-16s  AUC (%%) at", what);
    for (int k = FIRST_SHOWN; k <= LAST_SHOWN; ++k)
        printf(" %g", psfm_auc_thresholds_deg[k]);
    printf(" deg, recall (%%) at the same\n");
}

static void print_tables(const psfm_ablation *ablation) {
    printf("%zu scene%s, %zu runs: mean +- standard deviation\n", ablation->num_scenes,
           ablation->num_scenes == 1 ? "" : "s", ablation->num_runs);
    for (int r = 0; r < PSFM_NUM_ABLATIONS; ++r) {
        const psfm_ablation_row *row = &ablation->rows[r];
        if (r == 0)
            print_head("rotation");
        if (row->has_positions && !ablation->rows[r - 1].has_positions)
            print_head("max(R, t)");
        printf("%-16s", row->name);
        print_score(&row->auc);
        printf("  |");
        print_score(&row->recall);
        printf("\n");
    }
}

/* One line per reading: rotation AUC at 1 and 3 degrees of the four rows, then max(R, t). */
static void print_readings(const psfm_ablation *ablations, size_t num) {
    printf("%zu runs, means: rotation AUC (%%) at 1 / 3 deg; max(R, t) of %s at 1 / 3 deg\n\n",
           ablations[0].num_runs, psfm_paper_positions_names[PSFM_POSITIONS_AGREEING]);
    printf("| %-34s | full        | pruning off | confid. off | both off    | max(R, t)   |\n",
           "reading");
    printf("|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < num; ++k) {
        printf("| %-34s |", psfm_ablation_readings[k].name);
        for (int r = 0; r < PSFM_NUM_ABLATIONS; ++r) {
            const psfm_ablation_row *row = &ablations[k].rows[r];
            if (!row->has_positions || row->positions == PSFM_POSITIONS_AGREEING)
                printf(" %4.1f / %4.1f |", row->auc.mean[FIRST_SHOWN],
                       row->auc.mean[FIRST_SHOWN + 1]);
        }
        printf("\n");
    }
}

/* The folder gt beside a database; malloc'ed. */
static psfm_status truth_beside(psfm_context *ctx, const char *database, char **path) {
    char *folder = NULL;
    psfm_status status = psfm_strdup(ctx, database, &folder);
    if (status != PSFM_OK)
        return status;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    status = psfm_path_join(ctx, slash != NULL ? folder : ".", "gt", path);
    free(folder);
    return status;
}

static psfm_status read_scene(psfm_context *ctx, const char *database, const char *gt,
                              psfm_ablation_scene *scene) {
    char *beside = NULL;
    psfm_status status = gt != NULL ? PSFM_OK : truth_beside(ctx, database, &beside);
    if (status == PSFM_OK)
        status = psfm_model_read(ctx, gt != NULL ? gt : beside, &scene->truth);
    if (status == PSFM_OK)
        status = psfm_ablation_read(ctx, database, &options.settings.options, &scene->set);
    free(beside);
    return status;
}

static psfm_status ablate_readings(psfm_context *ctx, const psfm_ablation_scene *scenes,
                                   size_t num_scenes, int num_seeds, bool json) {
    psfm_ablation ablations[PSFM_MAX_READINGS];
    size_t num = 0;
    psfm_status status = psfm_ablate_readings(ctx, scenes, num_scenes, &options.settings.options,
                                              num_seeds, ablations, &num);
    if (status == PSFM_OK && json)
        status = cli_print_json(ctx, psfm_ablation_readings_to_json(ablations, num));
    else if (status == PSFM_OK)
        print_readings(ablations, num);
    return status;
}

static psfm_status ablate_variants(psfm_context *ctx, const psfm_ablation_scene *scenes,
                                   size_t num_scenes, int num_seeds, bool json) {
    psfm_ablation ablation;
    psfm_status status =
        psfm_ablate(ctx, scenes, num_scenes, &options.settings.options, num_seeds, &ablation);
    if (status == PSFM_OK && json)
        status = cli_print_json(ctx, psfm_ablation_to_json(&ablation));
    else if (status == PSFM_OK)
        print_tables(&ablation);
    return status;
}

static psfm_status ablate_scenes(psfm_context *ctx, const cli_arguments *arguments, int num_seeds) {
    psfm_ablation_scene *scenes = NULL;
    size_t num = arguments->num_repeated;
    const char *gt = cli_flag_value(&cli_ablate, arguments, "--gt");
    bool json = cli_flag_value(&cli_ablate, arguments, "--json") != NULL;
    bool all_readings = cli_flag_value(&cli_ablate, arguments, "--sweep") != NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &scenes);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = read_scene(ctx, arguments->repeated[k], gt, &scenes[k]);
    if (status == PSFM_OK)
        status = all_readings ? ablate_readings(ctx, scenes, num, num_seeds, json)
                              : ablate_variants(ctx, scenes, num, num_seeds, json);
    for (size_t k = 0; scenes != NULL && k < num; ++k) {
        psfm_match_set_free(&scenes[k].set);
        psfm_model_free(&scenes[k].truth);
    }
    free(scenes);
    return status;
}

static psfm_status work_ablate(psfm_context *ctx, const cli_arguments *arguments) {
    int num_seeds = 0;
    static const cli_int_flag seeds = {"--seeds", 1, 1000000, 10};
    psfm_status status = cli_flag_int(ctx, &cli_ablate, arguments, &seeds, &num_seeds);
    return status != PSFM_OK ? status : ablate_scenes(ctx, arguments, num_seeds);
}

const cli_command cli_ablate = {
    .name = "ablate",
    .summary = "the published ablation: pruning on/off x confidence on/off",
    .usage = "DATABASE... [--gt GT] [--seeds N] [--sweep] [--json] [options]",
    .description =
        "Runs the published method on the matches of databases: as it is, with a random spanning\n"
        "tree instead of the minimum-range one (pruning off), with random weights instead of the\n"
        "essential matrix's (confidence off), and with both; then the whole method with each of\n"
        "its ways to positions. Every run has a seed of its own, which draws RANSAC's samples,\n"
        "trees and weights. Prints mean and standard deviation over all runs of the AUC of the\n"
        "pairwise error and of the recall, the share of pairs below the threshold: first of\n"
        "rotations, then of the larger of rotation and direction of translation.\n\n"
        "    planarsfm ablate demo/database.db\n"
        "    planarsfm ablate scene*/database.db --seeds 1",
    .positional = positional,
    .flags = flags,
    .run = &options,
    .parts = PSFM_OF_POSES,
    .mode = PSFM_MODE_PAPER,
    .work = work_ablate,
};
