/* planarsfm run: from photographs to results. */
#include <stdio.h>

#include "cli.h"
#include "core/base/context.h"
#include "sfm/run.h"

static psfm_run_options options;

static const char *const positional[] = {"PHOTOS", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the results (created if missing)", 0},
    {"--json", NULL, "print the summary to standard output", 0},
    CLI_STRICT,
    {0},
};

static psfm_status run_all(psfm_context *ctx, const cli_arguments *arguments) {
    cJSON *summary = NULL;
    bool json = cli_flag_value(&cli_run, arguments, "--json") != NULL;
    const char *out = cli_flag_value(&cli_run, arguments, "-o");
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    cli_plan_poses(&options.settings, true);
    psfm_status status = psfm_run(ctx, arguments->positional[0], out, &options, &summary);
    if (json && summary != NULL) {
        if (status == PSFM_OK)
            status = cli_check_strict(ctx, &cli_run, arguments, summary);
        psfm_status printed = cli_print_json(ctx, summary);
        return status == PSFM_OK ? printed : status;
    }
    if (status == PSFM_OK) {
        cli_print_results(ctx, summary, out);
        status = cli_check_strict(ctx, &cli_run, arguments, summary);
    }
    cJSON_Delete(summary);
    return status;
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
    .run = &options,
    .parts = PSFM_OF_RUN,
    .goes_on = true,
    .work = run_all,
};
