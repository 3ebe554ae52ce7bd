#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "cli.h"
#include "pipeline/settings.h"

static psfm_settings settings;

static const cli_option_group *groups(void) {
    return cli_reconstruct_groups(&settings.options);
}

static const char *const positional[] = {"DATABASE", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the results (created if missing)"},
    {"--mode", "MODE", PSFM_MODE_CHOICES ": the method; its options get their defaults from it"},
    {NULL, NULL, NULL},
};

/* The mode sets the defaults, so it comes before every other option wherever it stands. */
static psfm_status set_mode(psfm_context *ctx, int argc, char **argv) {
    psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &settings.options);
    for (int k = 1; k + 1 < argc; ++k)
        if (strcmp(argv[k], "--mode") == 0)
            return psfm_settings_set(ctx, &settings, "mode", argv[k + 1]);
    return PSFM_OK;
}

static int run(int argc, char **argv) {
    psfm_context *ctx = cli_context();
    if (ctx == NULL)
        return 1;
    cli_arguments arguments;
    psfm_status status = set_mode(ctx, argc, argv);
    if (status == PSFM_OK)
        status = cli_parse(ctx, &cli_reconstruct, argc, argv, &arguments);
    if (status == PSFM_OK && arguments.help) {
        cli_print_help(&cli_reconstruct);
        return cli_exit(&ctx, &cli_reconstruct, status);
    }
    const char *out = NULL;
    if (status == PSFM_OK) {
        out = cli_flag_value(&cli_reconstruct, &arguments, "-o");
        if (out == NULL)
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    }
    if (status == PSFM_OK)
        status = psfm_reconstruct_database(ctx, arguments.positional[0], &settings, out);
    if (status == PSFM_OK)
        printf("models in %s/model, summary in %s/summary.json\n", out, out);
    return cli_exit(&ctx, &cli_reconstruct, status);
}

const cli_command cli_reconstruct = {
    .name = "reconstruct",
    .summary = "camera poses from the matches in a COLMAP database",
    .usage = "DATABASE -o OUT [--mode MODE] [options]",
    .description =
        "Verifies the raw matches of a COLMAP database (a pair without them is taken from\n"
        "two_view_geometries), finds the homographies of every pair, and from them the poses.\n"
        "Writes OUT/model/0 (COLMAP text model; 1, 2, ... for images that do not connect) and\n"
        "OUT/summary.json (counts, a reason for every image without a pose, time per stage).\n"
        "Homographies are kept in the database in tables named planarsfm_*, which COLMAP ignores,\n"
        "and are used again when nothing they depend on has changed.\n\n"
        "    planarsfm reconstruct database.db -o out",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .run = run,
};
