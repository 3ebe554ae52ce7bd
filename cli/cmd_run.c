/* planarsfm run: from photographs to results. */
#include <stdio.h>

#include "base/context.h"
#include "cli.h"
#include "pipeline/run.h"

static psfm_run_options options;

static const cli_option_group *groups(void) {
    static cli_option_group list[48];
    int k = cli_detector_groups(&options.folder.detector, list);
    k += cli_matcher_groups(&options.match.matcher, list + k);
    list[k++] = (cli_option_group){&psfm_effort_option_table, &options.folder.effort, true};
    list[k++] = (cli_option_group){&psfm_extract_option_table, &options.folder.extract, false};
    list[k++] = (cli_option_group){&psfm_sift_option_table, &options.folder.sift, false};
    list[k++] = (cli_option_group){&psfm_expand_option_table, &options.match.expand, false};
    list[k++] = (cli_option_group){&psfm_nearest_option_table, &options.match.nearest, false};
    list[k++] = (cli_option_group){&psfm_guided_option_table, &options.match.guided, false};
    const cli_option_group *rest = cli_reconstruct_groups(&options.settings.options);
    for (; rest->table != NULL; ++rest)
        list[k++] = *rest;
    list[k] = (cli_option_group){0};
    return list;
}

static const char *const positional[] = {"PHOTOS", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the results (created if missing)", 0},
    CLI_PHOTOGRAPH_FLAGS,
    CLI_WEIGHTS_FLAG,
    {"--pairs", "RULE", CLI_PAIRS_HELP, 0},
    CLI_SETTINGS_FLAGS,
    {"--json", NULL, "print the summary to standard output", 0},
    {0},
};

static psfm_status run_all(psfm_context *ctx, const cli_arguments *arguments) {
    cJSON *summary = NULL;
    bool json = cli_flag_value(&cli_run, arguments, "--json") != NULL;
    const char *out = cli_flag_value(&cli_run, arguments, "-o");
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    options.match.pairs = cli_flag_value(&cli_run, arguments, "--pairs");
    options.match.weights = cli_weights(arguments);
    psfm_status status = cli_apply_photographs(ctx, &cli_run, arguments, &options.folder);
    if (status == PSFM_OK)
        status = cli_apply_settings(ctx, &cli_run, arguments, &options.settings);
    cli_plan_poses(&options.settings, true);
    if (status == PSFM_OK)
        status = psfm_run(ctx, arguments->positional[0], out, &options, &summary);
    if (json && summary != NULL) {
        psfm_status printed = cli_print_json(ctx, summary);
        return status == PSFM_OK ? printed : status;
    }
    if (status == PSFM_OK)
        cli_print_results(ctx, summary, out);
    cJSON_Delete(summary);
    return status;
}

static void set_defaults(void) {
    psfm_options_init(&psfm_effort_option_table, &options.folder.effort);
    psfm_options_init(&psfm_extract_option_table, &options.folder.extract);
    psfm_options_init(&psfm_sift_option_table, &options.folder.sift);
    psfm_options_init(&psfm_expand_option_table, &options.match.expand);
    psfm_options_init(&psfm_nearest_option_table, &options.match.nearest);
    psfm_detector_options_init(&options.folder.detector);
    psfm_matcher_options_init(&options.match.matcher);
    psfm_options_init(&psfm_guided_option_table, &options.match.guided);
}

const cli_command cli_run = {
    .name = "run",
    .summary = "camera poses from a folder of photographs: extract, match, reconstruct",
    .usage = "PHOTOS -o OUT [--cameras PATH | --camera TEXT] [--pairs RULE] [options]",
    .description =
        "Does what extract, match and reconstruct do one after the other, with the same results "
        "if\n"
        "--effort is high; by default only photographs that need it get that. It makes\n"
        "OUT/database.db, OUT/model, OUT/summary.json, graph.json, report.html (open it in a\n"
        "browser) and, in robust mode, OUT/planes.json and planes.ply. Points get their colours "
        "from the photographs. Interrupted at any point, the\n"
        "same command goes on where it stopped and ends with the same models. Pairs that an\n"
        "earlier run with another --pairs matched are removed. Without --cameras or --camera "
        "focal\n"
        "lengths come from EXIF data and from the planes in the photographs. --features and "
        "--matcher choose a\n"
        "network instead of SIFT, --weights says where its weights are.\n\n"
        "    planarsfm run photos -o out --cameras calibration --pairs ring:2",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .defaults = set_defaults,
    .settings = &options.settings,
    .goes_on = true,
    .work = run_all,
};
