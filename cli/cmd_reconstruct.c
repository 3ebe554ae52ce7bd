/* planarsfm reconstruct: from a database to results. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "sfm/run.h"

static psfm_run_options options;

static const char *const positional[] = {"DATABASE", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the results (created if missing)", 0},
    CLI_STRICT,
    {0},
};

static psfm_status work_reconstruct(psfm_context *ctx, const cli_arguments *arguments) {
    cJSON *summary = NULL;
    char *database = NULL;
    const char *out = cli_flag_value(&cli_reconstruct, arguments, "-o");
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    cli_plan_poses(&options.settings, false);
    psfm_status status = cli_find_database(ctx, arguments->positional[0], &database);
    if (status == PSFM_OK)
        status = psfm_run_matches(ctx, database, &options.settings, out, &summary);
    if (status == PSFM_OK) {
        cli_print_results(ctx, summary, out);
        status = cli_check_strict(ctx, &cli_reconstruct, arguments, summary);
    }
    cJSON_Delete(summary);
    free(database);
    return status;
}

const cli_command cli_reconstruct = {
    .name = "reconstruct",
    .summary = "camera poses from the matches in a COLMAP database",
    .usage = "DATABASE -o OUT [--mode MODE] [options]",
    .description =
        "Verifies the raw matches of a COLMAP database (a pair without them is taken from\n"
        "two_view_geometries), finds the homographies of every pair, and from them the poses.\n"
        "Writes OUT/model/0 (COLMAP text model; 1, 2, ... for images that do not connect) and\n"
        "OUT/summary.json (counts, a reason for every image without a pose, time per stage); in\n"
        "robust mode also the planes of the scene, OUT/planes.json and OUT/planes.ply. The plane\n"
        "with most points is z = 0 with the cameras above it. OUT/report.html shows all of it in "
        "a\n"
        "browser; OUT/graph.json is the pose graph.\n"
        "Homographies are kept in the database in tables named planarsfm_*, which COLMAP ignores,\n"
        "and are used again when nothing they depend on has changed. A folder stands for the\n"
        "database.db in it.\n\n"
        "    planarsfm reconstruct database.db -o out\n"
        "    planarsfm reconstruct database.db -o out --distance a.jpg:100,420 b.jpg:900,380 28.0",
    .positional = positional,
    .flags = flags,
    .run = &options,
    .parts = PSFM_OF_RECONSTRUCTION,
    .goes_on = true,
    .work = work_reconstruct,
};
