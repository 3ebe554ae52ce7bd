/* planarsfm import-points: labelled points as the only matches. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/path.h"
#include "frontend/labelled_points.h"
#include "store/colmap_database.h"

static const char *const positional[] = {"POINTS", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for database.db (created if missing)", 0},
    {"--cameras", "PATH",
     "intrinsics: a COLMAP model with an image of each name, or a cameras file with one camera for "
     "all",
     0},
    {"--camera", "TEXT", "intrinsics for all: MODEL,width,height,parameters in COLMAP's order", 0},
    {"--opencv-pixels", NULL,
     "points and principal points have the first pixel's centre at 0, 0: add 0.5", 0},
    {0},
};

static const char *value_of(const cli_arguments *arguments, const char *name) {
    return cli_flag_value(&cli_import_points, arguments, name);
}

static psfm_status write_database(psfm_context *ctx, const char *out, const psfm_match_set *set) {
    char *path = NULL;
    psfm_status status = psfm_make_folders(ctx, out);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out, "database.db", &path);
    if (status == PSFM_OK && access(path, F_OK) == 0)
        status = psfm_fail(ctx, PSFM_ERR_IO,
                           "%s is there already and is not replaced: remove it, or choose another "
                           "folder",
                           path);
    if (status == PSFM_OK)
        status = psfm_database_write(ctx, set, path);
    if (status == PSFM_OK)
        printf("%zu images, %zu pairs in %s\n", set->num_views, set->num_pairs, path);
    free(path);
    return status;
}

static psfm_status work_import_points(psfm_context *ctx, const cli_arguments *arguments) {
    const char *out = value_of(arguments, "-o");
    bool opencv = value_of(arguments, "--opencv-pixels") != NULL;
    psfm_intrinsics_options given = {.cameras_path = value_of(arguments, "--cameras"),
                                     .camera_text = value_of(arguments, "--camera"),
                                     .opencv_pixels = opencv};
    psfm_intrinsics intrinsics = {0};
    psfm_control_set labels = {0};
    psfm_match_set set = {0};
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    psfm_status status = psfm_labels_read(ctx, arguments->positional[0], &labels);
    if (status == PSFM_OK)
        status = psfm_intrinsics_open(ctx, &given, &intrinsics);
    if (status == PSFM_OK)
        status = psfm_label_matches(ctx, &labels, opencv, &intrinsics, &set);
    if (status == PSFM_OK)
        status = write_database(ctx, out, &set);
    psfm_match_set_free(&set);
    psfm_control_free(&labels);
    psfm_intrinsics_free(&intrinsics);
    return status;
}

const cli_command cli_import_points = {
    .name = "import-points",
    .summary = "points named by hand, as keypoints and matches of a database",
    .usage = "POINTS -o OUT (--cameras PATH | --camera TEXT)",
    .description =
        "Reads lines \"LABEL IMAGE x y\" (pixels as COLMAP's: the first one's centre is at 0.5, "
        "0.5)\n"
        "and writes OUT/database.db, in which two images match where both show a label. A dozen\n"
        "corners of a court, clicked in each image, are enough where photographs show too little\n"
        "or too different things for features; reconstruct does the rest.\n\n"
        "    planarsfm import-points corners.txt --cameras calibration -o out\n"
        "    planarsfm reconstruct out/database.db -o out",
    .positional = positional,
    .flags = flags,
    .work = work_import_points,
};
