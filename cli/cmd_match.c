/* planarsfm match: matches of a database's images. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "sfm/summary_parts.h"

static psfm_run_options options;

static const char *const positional[] = {"DATABASE", NULL};
static const cli_flag flags[] = {
    {"--json", NULL, "print what was done as JSON", 0},
    {0},
};

static psfm_status work_match(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_match_stats stats;
    char text[256], *database = NULL;
    options.match.two_view = options.settings.options.two_view;
    psfm_status status = cli_find_database(ctx, arguments->positional[0], &database);
    if (status == PSFM_OK)
        status = psfm_match_images(ctx, database, &options.match, &stats);
    free(database);
    if (status != PSFM_OK)
        return status;
    if (cli_flag_value(&cli_match, arguments, "--json") != NULL)
        return cli_print_json(ctx, psfm_match_stats_to_json(&stats));
    psfm_match_stats_describe(&stats, text, sizeof text);
    printf("%s\n", text);
    return PSFM_OK;
}

const cli_command cli_match = {
    .name = "match",
    .summary = "matches the features in a COLMAP database",
    .usage = "DATABASE [--pairs RULE] [--matcher KIND --weights PATH] [--json] [options]",
    .description =
        "Compares the descriptors of pairs of images, all with all, or gives them to a network\n"
        "(--matcher, --weights), and writes raw matches into the database, as COLMAP's matchers\n"
        "do before their verification. With SIFT, the homographies of each pair are estimated\n"
        "then, and keypoints without a match are matched again where these put them\n"
        "(--guided.enabled off leaves that out). Pairs that have matches\n"
        "are left as they are, unless this command made them with other options. It may be\n"
        "interrupted at any time and goes on where it stopped.\n"
        "Without --pairs every pair is matched up to 200 images; beyond, each image with the five\n"
        "after it in the order of names and with the twenty that look most like it\n"
        "(sequential:5+retrieval:20; if most images have a position, sequential:5+gps:20+\n"
        "retrieval:10), and then images that share a neighbour (--pairs.expand).\n"
        "A folder stands for the database.db in it.\n\n"
        "    planarsfm match out/database.db --pairs ring:2",
    .positional = positional,
    .flags = flags,
    .run = &options,
    .parts = PSFM_OF_MATCHES,
    .goes_on = true,
    .work = work_match,
};
