/* import-hloc and import-matches: what other programs found, into a database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/number_locale.h"
#include "frontend/import_matches.h"

/* ---- import-hloc ---- */

static const char *const hloc_positional[] = {"FEATURES", "MATCHES", NULL};
static const cli_flag hloc_flags[] = {
    {"-o", "DB", "the COLMAP database to write; must not exist", 0},
    {"--cameras", "PATH",
     "intrinsics: a COLMAP model with an image of each name, or a cameras file with one camera for "
     "all",
     0},
    {"--camera", "TEXT", "intrinsics for all: MODEL,width,height,parameters in COLMAP's order", 0},
    {"--share-cameras", "WHICH", PSFM_SHARE_CHOICES ": which images share a camera", 0},
    {"--opencv-pixels", NULL,
     "given principal points have the first pixel's centre at 0, 0: add 0.5", 0},
    {"--features", "KIND",
     "what made the features (sift, superpoint, ...): keep descriptors, for match", 0},
    {"--min-score", "S", "leave out matches with a lower matching_scores0", 0},
    {0},
};

static psfm_status take_score(psfm_context *ctx, const char *text, double *score) {
    *score = 0.0;
    if (text != NULL && (!psfm_parse_number(text, score) || !(*score >= 0.0 && *score <= 1.0)))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--min-score: '%s' is not a number from 0 to 1",
                         text);
    return PSFM_OK;
}

static psfm_status import_hloc(psfm_context *ctx, const cli_arguments *arguments) {
    const cli_command *c = &cli_import_hloc;
    psfm_import_stats stats;
    psfm_hloc_options options = {
        .intrinsics = {.cameras_path = cli_flag_value(c, arguments, "--cameras"),
                       .camera_text = cli_flag_value(c, arguments, "--camera"),
                       .opencv_pixels = cli_flag_value(c, arguments, "--opencv-pixels") != NULL},
        .features = cli_flag_value(c, arguments, "--features")};
    const char *out = cli_flag_value(c, arguments, "-o");
    if (out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o DB is missing");
    psfm_status status =
        take_score(ctx, cli_flag_value(c, arguments, "--min-score"), &options.min_score);
    if (status == PSFM_OK)
        status = cli_apply_sharing(ctx, c, arguments, &options.intrinsics.sharing);
    if (status == PSFM_OK)
        status = psfm_import_hloc(ctx, arguments->positional[0], arguments->positional[1], out,
                                  &options, &stats);
    if (status == PSFM_OK)
        printf("%s: %zu images with %zu keypoints, %zu pairs with %zu matches; left out: %zu pairs "
               "of unknown images, %zu given twice\n",
               out, stats.num_images, stats.num_keypoints, stats.num_pairs, stats.num_matches,
               stats.num_pairs_unknown, stats.num_pairs_repeated);
    return status;
}

/* ---- import-matches ---- */

static const char *const list_positional[] = {"DATABASE", "LIST", NULL};
static const cli_flag list_flags[] = {
    {"--type", "raw|inliers", "raw matches (default), or verified ones", 0},
    {0},
};

static psfm_status import_list(psfm_context *ctx, const cli_arguments *arguments) {
    const char *type = cli_flag_value(&cli_import_matches, arguments, "--type");
    psfm_import_stats stats;
    bool verified = type != NULL && strcmp(type, "inliers") == 0;
    if (type != NULL && !verified && strcmp(type, "raw") != 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--type: '%s' is not raw or inliers", type);
    psfm_status status = psfm_import_match_file(ctx, arguments->positional[0],
                                                arguments->positional[1], verified, &stats);
    if (status == PSFM_OK)
        printf("%s: %zu pairs with %zu matches\n", arguments->positional[0], stats.num_pairs,
               stats.num_matches);
    return status;
}

/* ---- both ---- */

const cli_command cli_import_hloc = {
    .name = "import-hloc",
    .summary = "features and matches from hloc's HDF5 files into a COLMAP database",
    .usage = "FEATURES MATCHES -o DB --cameras PATH | --camera TEXT [--min-score S]",
    .description =
        "Writes keypoints (0.5 is added: hloc's first pixel has its centre at 0, 0) and raw\n"
        "matches of all pairs of images in the two files; pairs may be named a/b or, as in older\n"
        "files, a_b. Go on with reconstruct.\n\n"
        "    planarsfm import-hloc feats.h5 matches.h5 -o database.db --cameras calibration",
    .positional = hloc_positional,
    .flags = hloc_flags,
    .work = import_hloc,
};

const cli_command cli_import_matches = {
    .name = "import-matches",
    .summary = "a text list of matches into a COLMAP database",
    .usage = "DATABASE LIST [--type raw|inliers]",
    .description =
        "LIST is what COLMAP's matches_importer takes: a line of two image names, lines of two\n"
        "keypoint indices (from 0), an empty line, the next pair. Images and keypoints must be in\n"
        "the database. With --type inliers they go to its two_view_geometries, where COLMAP's\n"
        "mappers take them without verification.\n\n"
        "    planarsfm import-matches out/database.db matches.txt",
    .positional = list_positional,
    .flags = list_flags,
    .work = import_list,
};
