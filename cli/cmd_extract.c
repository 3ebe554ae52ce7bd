/* planarsfm extract: features of photographs into a database. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/path.h"
#include "sfm/summary_parts.h"

static psfm_run_options options;

static const char *const positional[] = {"PHOTOS", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for database.db (created if missing)", 0},
    {"--database", "DB", "the database itself, instead of -o", 0},
    {"--json", NULL, "print what was done as JSON", 0},
    {0},
};

/* The path of the database, malloc'ed; its folder is made. */
static psfm_status find_database(psfm_context *ctx, const cli_arguments *arguments, char **path) {
    const char *out = cli_flag_value(&cli_extract, arguments, "-o");
    const char *database = cli_flag_value(&cli_extract, arguments, "--database");
    if ((out == NULL) == (database == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "either -o OUT or --database DB is wanted");
    if (database != NULL)
        return psfm_path_join(ctx, "", database, path);
    psfm_status status = psfm_make_folders(ctx, out);
    return status == PSFM_OK ? psfm_path_join(ctx, out, "database.db", path) : status;
}

static psfm_status work_extract(psfm_context *ctx, const cli_arguments *arguments) {
    psfm_extract_stats stats = {0};
    char *database = NULL;
    psfm_status status = find_database(ctx, arguments, &database);
    if (status == PSFM_OK)
        status =
            psfm_extract_folder(ctx, arguments->positional[0], database, &options.folder, &stats);
    if (status == PSFM_OK && cli_flag_value(&cli_extract, arguments, "--json") != NULL) {
        status = cli_print_json(ctx, psfm_extract_stats_to_json(&stats));
    } else if (status == PSFM_OK) {
        char text[256];
        psfm_extract_stats_describe(&stats, text, sizeof text);
        printf("%s\n", text);
    }
    psfm_extract_stats_free(&stats);
    free(database);
    return status;
}

const cli_command cli_extract = {
    .name = "extract",
    .summary = "features of photographs into a COLMAP database",
    .usage = "PHOTOS -o OUT [--cameras PATH | --camera TEXT] [options]",
    .description =
        "Finds the JPEG, PNG, TIFF and HEIC files below the folder PHOTOS, extracts SIFT features "
        "as COLMAP\n"
        "does, or those of a network (--features, --weights), and writes cameras, images,\n"
        "keypoints and descriptors into OUT/database.db, which COLMAP 3.8 and newer read. "
        "Keypoints are in pixels of the files, also when --max-size\n"
        "shrinks images for extraction, so intrinsics are those of the files.\n"
        "Intrinsics come from --cameras or --camera, else from each photograph's EXIF focal "
        "length;\n"
        "nothing is guessed. It may be interrupted at any time and goes on where it stopped;\n"
        "photographs that changed are extracted again and lose their matches.\n\n"
        "    planarsfm extract photos -o out --camera \"PINHOLE,1280,720,1200,1200,640,360\"",
    .positional = positional,
    .flags = flags,
    .run = &options,
    .parts = PSFM_OF_FEATURES,
    .goes_on = true,
    .work = work_extract,
};
