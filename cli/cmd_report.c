/* planarsfm report: report.html anew from the files of a run, or a page of two runs. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/path.h"
#include "report/report.h"

static const char *const positional[] = {"OUT...", NULL};
static const cli_flag flags[] = {
    {"-o", "PAGE", "of two runs: the page, otherwise A/comparison.html", 0},
    {"--images", "PHOTOS", "folder of the photographs, if they are no longer where they were", 0},
    {0},
};

static const char *value_of(const cli_arguments *arguments, const char *name) {
    return cli_flag_value(&cli_report, arguments, name);
}

static psfm_status make_one(psfm_context *ctx, const char *out, const char *images) {
    psfm_status status = psfm_report_write(ctx, out, images);
    if (status == PSFM_OK)
        printf("report in %s/report.html\n", out);
    return status;
}

static psfm_status make_two(psfm_context *ctx, const char *const *folders, const char *images,
                            const char *page) {
    char *path = NULL;
    psfm_status status = PSFM_OK;
    if (page == NULL)
        status = psfm_path_join(ctx, folders[0], "comparison.html", &path);
    page = page == NULL ? path : page;
    if (status == PSFM_OK)
        status = psfm_report_compare(ctx, folders[0], folders[1], images, page);
    if (status == PSFM_OK)
        printf("comparison in %s\n", page);
    free(path);
    return status;
}

static psfm_status work_report(psfm_context *ctx, const cli_arguments *arguments) {
    const char *images = value_of(arguments, "--images"), *page = value_of(arguments, "-o");
    size_t num = arguments->num_repeated;
    if (num > 2)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "one folder, or two to compare, not %zu", num);
    if (num == 1 && page != NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "-o is for two runs; the page of one is OUT/report.html");
    for (size_t k = 0; k < num; ++k)
        if (!psfm_path_is_folder(arguments->repeated[k]))
            return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder", arguments->repeated[k]);
    if (images != NULL && !psfm_path_is_folder(images))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", images);
    return num == 1 ? make_one(ctx, arguments->repeated[0], images)
                    : make_two(ctx, arguments->repeated, images, page);
}

const cli_command cli_report = {
    .name = "report",
    .summary = "makes the page that shows a run, OUT/report.html, anew; or one of two runs",
    .usage = "OUT [--images PHOTOS] | A B [-o PAGE] [--images PHOTOS]",
    .description =
        "OUT is a folder that run or reconstruct has written; both end with this step. The page "
        "is\n"
        "one file that needs no network: cameras, points and planes in 3D, the pose graph with "
        "what\n"
        "was kept and pruned, the embedding with its tree, matches, residuals, every image, "
        "times,\n"
        "options, and what went wrong with what to try. It is made from OUT/summary.json,\n"
        "graph.json, planes.json and model; thumbnails from the photographs, as long as they are\n"
        "there. OUT may also be what align has written, or any COLMAP model: the page then shows "
        "less.\n"
        "With A and B the page shows two runs or models of the same images side by side: what\n"
        "differs in counts, errors, focal lengths and, after alignment, in poses, and both in one\n"
        "3D view.\n\n"
        "    planarsfm report out\n"
        "    planarsfm report out other -o both.html",
    .positional = positional,
    .flags = flags,
    .work = work_report,
};
