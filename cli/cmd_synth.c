/* planarsfm synth: scenes with their truth, as photographs or as matches. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/path.h"
#include "store/colmap_database.h"
#include "synth/render.h"
#include "synth/scene.h"

typedef struct {
    psfm_scene_options scene;
    psfm_render_options render;
} synth_options;

static synth_options options;

static const psfm_option_group groups[] = {
    {&psfm_scene_option_table, offsetof(synth_options, scene), 1},
    {&psfm_render_option_table, offsetof(synth_options, render), 1},
    {0},
};

static const char *const positional[] = {"SCENE", NULL};
static const cli_flag flags[] = {
    {"-o", "DIR", "folder for DIR/images or DIR/database.db, and DIR/gt", 0},
    {"--matches-only", NULL, "keypoints and matches instead of photographs", 0},
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

static psfm_status make_matches(psfm_context *ctx, psfm_scene_kind kind, const char *folder) {
    static const char *const names[] = {"database.db", "gt", NULL};
    psfm_own_folder own = {.path = folder, .names = names};
    psfm_scene scene = {0};
    psfm_status status = psfm_scene_make(ctx, kind, psfm_context_seed(ctx), &options.scene, &scene);
    if (status == PSFM_OK)
        status = psfm_own_folder_take(ctx, &own);
    if (status == PSFM_OK)
        status = write_scene(ctx, &scene, folder);
    psfm_own_folder_leave(&own);
    psfm_scene_free(&scene);
    return status;
}

static psfm_status make_images(psfm_context *ctx, psfm_scene_kind kind, const char *folder) {
    static const char *const names[] = {"images", "gt", NULL};
    psfm_own_folder own = {.path = folder, .names = names};
    psfm_status status = psfm_own_folder_take(ctx, &own);
    if (status == PSFM_OK)
        status = psfm_scene_render(ctx, kind, psfm_context_seed(ctx), &options.scene,
                                   &options.render, folder);
    psfm_own_folder_leave(&own);
    if (status == PSFM_OK)
        printf("%d images: %s/images and %s/gt\n", options.scene.num_cameras, folder, folder);
    return status;
}

static psfm_status work_synth(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_scene_kind kind;
    const char *folder = cli_flag_value(&cli_synth, arguments, "-o");
    if (folder == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o DIR is missing");
    if (!psfm_scene_kind_from_name(arguments->positional[0], &kind))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "there is no scene '%s' (arena, field, room, facade, general, turntable, "
                         "statue, board, mug, city)",
                         arguments->positional[0]);
    if (cli_flag_value(&cli_synth, arguments, "--matches-only") != NULL)
        return make_matches(ctx, kind, folder);
    return make_images(ctx, kind, folder);
}

const cli_command cli_synth = {
    .name = "synth",
    .summary = "makes a scene with ground truth to try things on",
    .usage = "SCENE -o DIR [--matches-only] [options]",
    .description =
        "Scenes: arena (a ring of cameras round a 28 x 15 m court, stands for the off-plane "
        "part),\n"
        "field (a drone's grid over a flat field), room (inside a box: six planes), facade (a "
        "walk\n"
        "along a building front), general (a cloud of points, no plane), city (walks along the "
        "fronts\n"
        "of blocks in a grid of streets; always pairs of images that look at near places).\n"
        "Photographs only:\n"
        "turntable (a curved figure through a long lens), statue (visitors' photographs in a\n"
        "square, light and focal lengths differ), board (one plane with strict repetition), mug\n"
        "(once round a mug with one print on opposite sides, in a room). Writes photographs to\n"
        "DIR/images, or with --matches-only keypoints and matches to DIR/database.db (a COLMAP\n"
        "database), and the true cameras and poses to DIR/gt (a COLMAP text model). Photographs\n"
        "have no use for points, noise-px, outliers, off-plane, neighbours, open-chain and miss;\n"
        "a share of duplicates above 0 makes the scene symmetric; there are none of the general "
        "scene\n"
        "and of the city, which has no duplicate either.\n"
        "The same options and seed give the same bytes.\n\n"
        "    planarsfm synth arena -o hall --cameras 46 --render.moving 0.5\n"
        "    planarsfm synth arena -o arena --matches-only --off-plane 0.3 --duplicates 0.15",
    .positional = positional,
    .flags = flags,
    .groups = groups,
    .options = &options,
    .work = work_synth,
};
