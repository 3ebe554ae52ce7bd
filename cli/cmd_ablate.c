/* planarsfm ablate: the ablation of the published method on one database. */
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "cli.h"
#include "io/colmap_database.h"
#include "pipeline/ablation.h"
#include "pipeline/reconstruct.h"

static psfm_reconstruct_options options;

static const cli_option_group *groups(void) {
    return cli_reconstruct_groups(&options);
}

static const char *const positional[] = {"DATABASE", NULL};
static const cli_flag flags[] = {
    {"--gt", "GT", "ground truth, a COLMAP model folder", 0},
    {"--seeds", "N", "runs of the variants that draw random numbers (default 100)", 0},
    {"--json", NULL, "print JSON instead of a table", 0},
    {0},
};

static void print_table(const psfm_ablation_row *rows) {
    printf("%-16s %8s %10s   rotation AUC (%%) at", "", "pruning", "confidence");
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        printf(" %g", psfm_auc_thresholds_deg[k]);
    printf(" deg\n");
    for (int r = 0; r < PSFM_NUM_ABLATIONS; ++r) {
        printf("%-16s %8s %10s  ", rows[r].name, rows[r].pruning ? "on" : "off",
               rows[r].confidence ? "on" : "off");
        for (int k = 0; k < PSFM_NUM_AUC; ++k)
            printf(" %6.2f", rows[r].mean[k]);
        printf("\n");
    }
}

static psfm_status study(psfm_context *ctx, const char *database, const char *gt, int num_seeds,
                         bool json) {
    psfm_match_set set = {0};
    psfm_database_stats stats;
    psfm_model truth = {0};
    psfm_two_view *two_views = NULL;
    psfm_pose_graph graph = {0};
    psfm_ablation_row rows[PSFM_NUM_ABLATIONS];
    psfm_status status = psfm_model_read(ctx, gt, &truth);
    if (status == PSFM_OK)
        status = psfm_database_read(ctx, database, &set, &stats);
    if (status == PSFM_OK)
        two_views = calloc(set.num_pairs + 1, sizeof *two_views);
    if (status == PSFM_OK && two_views == NULL)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    if (status == PSFM_OK)
        status = psfm_two_view_estimate_all(ctx, &set, &options.two_view, two_views);
    if (status == PSFM_OK)
        status = psfm_pose_graph_build(ctx, &set, two_views, false, &graph);
    if (status == PSFM_OK)
        status = psfm_ablate(ctx, &set, &graph, &truth, &options.skeleton, num_seeds, rows);
    if (status == PSFM_OK && json)
        status = cli_print_json(ctx, psfm_ablation_to_json(rows));
    else if (status == PSFM_OK)
        print_table(rows);
    for (size_t p = 0; two_views != NULL && p < set.num_pairs; ++p)
        psfm_two_view_free(&two_views[p]);
    free(two_views);
    psfm_pose_graph_free(&graph);
    psfm_match_set_free(&set);
    psfm_model_free(&truth);
    return status;
}

static void set_defaults(void) {
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
}

static psfm_status ablate(psfm_context *ctx, const cli_arguments *arguments) {
    int num_seeds = 0;
    const char *gt = cli_flag_value(&cli_ablate, arguments, "--gt");
    psfm_status status =
        cli_flag_int(ctx, &cli_ablate, arguments, "--seeds", 1, 1000000, 100, &num_seeds);
    if (status == PSFM_OK && gt == NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--gt GT is missing");
    return status != PSFM_OK ? status
                             : study(ctx, arguments->positional[0], gt, num_seeds,
                                     cli_flag_value(&cli_ablate, arguments, "--json") != NULL);
}

const cli_command cli_ablate = {
    .name = "ablate",
    .summary = "the published ablation: pruning on/off x confidence on/off",
    .usage = "DATABASE --gt GT [--seeds N] [--json] [options]",
    .description =
        "Runs the published method four times on the matches of a database: as it is, with a\n"
        "random spanning tree instead of the minimum-range one (pruning off), with random weights\n"
        "instead of the essential matrix's (confidence off), and with both. Rows that draw random\n"
        "numbers are averaged over the seeds. Prints the AUC of the pairwise rotation error.\n\n"
        "    planarsfm ablate demo/database.db --gt demo/gt --seeds 100",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .defaults = set_defaults,
    .work = ablate,
};
