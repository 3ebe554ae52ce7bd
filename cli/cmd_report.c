/* planarsfm report: report.html anew from the files of a run. */
#include <stdio.h>

#include "base/context.h"
#include "base/path.h"
#include "cli.h"
#include "report/report.h"

static const char *const positional[] = {"OUT", NULL};
static const cli_flag flags[] = {
    {"--images", "PHOTOS", "folder of the photographs, if they are no longer where they were", 0},
    {0},
};

static psfm_status make(psfm_context *ctx, const cli_arguments *arguments) {
    const char *out = arguments->positional[0];
    const char *images = cli_flag_value(&cli_report, arguments, "--images");
    if (!psfm_path_is_folder(out))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder", out);
    if (images != NULL && !psfm_path_is_folder(images))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", images);
    psfm_status status = psfm_report_write(ctx, out, images);
    if (status == PSFM_OK)
        printf("report in %s/report.html\n", out);
    return status;
}

const cli_command cli_report = {
    .name = "report",
    .summary = "makes the page that shows a run, OUT/report.html, anew",
    .usage = "OUT [--images PHOTOS]",
    .description =
        "OUT is a folder that run or reconstruct has written; both end with this step. The page "
        "is\n"
        "one file that needs no network: cameras, points and planes in 3D, the pose graph with "
        "what\n"
        "was kept and pruned, the embedding with its tree, matches, residuals, every image, "
        "times,\n"
        "options, and what went wrong with what to try. It is made from OUT/summary.json,\n"
        "graph.json, planes.json and model; thumbnails from the photographs, as long as they are\n"
        "there.\n\n"
        "    planarsfm report out",
    .positional = positional,
    .flags = flags,
    .work = make,
};
