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
    {"-o", "OUT", "folder for the results (created if missing)", 0},
    {"--mode", "MODE", PSFM_MODE_CHOICES ": the method; its options get their defaults from it", 0},
    {"--plane-points", "free|soft|hard", "the same as --bundle.planes", 0},
    {"--refine", "WHAT", "intrinsics to refine, the same as --bundle.refine", 0},
    {"--scale", "S", "distance of the median camera from the dominant plane in the results", 0},
    {"--distance", "IMAGE:x,y IMAGE:x,y METRES",
     "metric scale from the distance of two pixels' points on the dominant plane", 3},
    {0},
};

/* The mode sets the defaults, so it comes before every other option wherever it stands. */
static psfm_status set_mode(psfm_context *ctx, int argc, char **argv) {
    psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &settings.options);
    for (int k = 1; k + 1 < argc; ++k)
        if (strcmp(argv[k], "--mode") == 0)
            return psfm_settings_set(ctx, &settings, "mode", argv[k + 1]);
    return PSFM_OK;
}

/* Flags that stand for settings. */
static psfm_status apply_flags(psfm_context *ctx, const cli_arguments *arguments) {
    static const char *const names[][2] = {
        {"--plane-points", "bundle.planes"}, {"--refine", "bundle.refine"}, {"--scale", "scale"}};
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof names / sizeof *names; ++k) {
        const char *value = cli_flag_value(&cli_reconstruct, arguments, names[k][0]);
        if (value != NULL)
            status = psfm_settings_set(ctx, &settings, names[k][1], value);
    }
    char **distance = cli_flag_values(&cli_reconstruct, arguments, "--distance");
    if (status == PSFM_OK && distance != NULL)
        status = psfm_settings_set_distance(ctx, &settings, distance[0], distance[1], distance[2]);
    return status;
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
        status = apply_flags(ctx, &arguments);
    if (status == PSFM_OK)
        status = psfm_reconstruct_database(ctx, arguments.positional[0], &settings, out);
    if (status == PSFM_OK)
        printf("models in %s/model, summary in %s/summary.json\n", out, out);
    psfm_settings_clear(&settings);
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
        "OUT/summary.json (counts, a reason for every image without a pose, time per stage); in\n"
        "robust mode also the planes of the scene, OUT/planes.json and OUT/planes.ply. The plane\n"
        "with most points is z = 0 with the cameras above it.\n"
        "Homographies are kept in the database in tables named planarsfm_*, which COLMAP ignores,\n"
        "and are used again when nothing they depend on has changed.\n\n"
        "    planarsfm reconstruct database.db -o out\n"
        "    planarsfm reconstruct database.db -o out --distance a.jpg:100,420 b.jpg:900,380 28.0",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .run = run,
};
