#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/path.h"
#include "cli.h"
#include "io/colmap_database.h"
#include "synth/scene.h"

static psfm_scene_options options;

static const cli_option_group *groups(void) {
    static cli_option_group list[2];
    list[0] = (cli_option_group){&psfm_scene_option_table, &options, true};
    return list;
}

static const char *const positional[] = {"SCENE", NULL};
static const cli_flag flags[] = {
    {"-o", "DIR", "folder for DIR/database.db and DIR/gt", 0},
    {"--matches-only", NULL, "keypoints and matches without photographs", 0},
    {0},
};

static psfm_status write_scene(psfm_context *ctx, const psfm_scene *scene, const char *folder) {
    char *database = NULL, *truth = NULL;
    psfm_status status = psfm_make_folders(ctx, folder);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, "database.db", &database);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, "gt", &truth);
    if (status == PSFM_OK)
        status = psfm_database_write(ctx, &scene->matches, database);
    if (status == PSFM_OK)
        status = psfm_model_write(ctx, &scene->truth, PSFM_MODEL_TEXT, truth);
    if (status == PSFM_OK)
        printf("%zu images, %zu pairs, %zu points: %s and %s\n", scene->matches.num_views,
               scene->matches.num_pairs, scene->truth.num_points, database, truth);
    free(database);
    free(truth);
    return status;
}

static psfm_status make(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_scene_kind kind;
    psfm_scene scene = {0};
    const char *folder = cli_flag_value(&cli_synth, arguments, "-o");
    if (folder == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o DIR is missing");
    if (cli_flag_value(&cli_synth, arguments, "--matches-only") == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "scenes are not rendered to photographs yet: add --matches-only");
    if (!psfm_scene_kind_from_name(arguments->positional[0], &kind))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "there is no scene '%s' (arena, field, room, facade, general)",
                         arguments->positional[0]);
    psfm_status status = psfm_scene_make(ctx, kind, psfm_context_seed(ctx), &options, &scene);
    if (status == PSFM_OK)
        status = write_scene(ctx, &scene, folder);
    psfm_scene_free(&scene);
    return status;
}

static int run(int argc, char **argv) {
    psfm_context *ctx = cli_context();
    if (ctx == NULL)
        return 1;
    cli_arguments arguments;
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_status status = cli_parse(ctx, &cli_synth, argc, argv, &arguments);
    if (status == PSFM_OK && arguments.help)
        cli_print_help(&cli_synth);
    else if (status == PSFM_OK)
        status = make(ctx, &arguments);
    return cli_exit(&ctx, &cli_synth, status);
}

const cli_command cli_synth = {
    .name = "synth",
    .summary = "makes a scene with ground truth to try things on",
    .usage = "SCENE -o DIR --matches-only [options]",
    .description =
        "Scenes: arena (a ring of cameras round a 28 x 15 m court, stands for the off-plane "
        "part),\n"
        "field (a drone's grid over a flat field), room (inside a box: six planes), facade (a "
        "walk\n"
        "along a building front), general (a cloud of points, no plane). Writes DIR/database.db\n"
        "(a COLMAP database with keypoints and matches) and DIR/gt (a COLMAP text model).\n"
        "The same options and seed give the same bytes.\n\n"
        "    planarsfm synth arena -o arena --matches-only --off-plane 0.3 --twins 0.15",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .run = run,
};
