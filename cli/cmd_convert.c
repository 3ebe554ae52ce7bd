/* planarsfm convert: a model in another program's format. */
#include <stdio.h>

#include "cli.h"
#include "core/base/context.h"
#include "formats/export.h"
#include "world/upright_model.h"

#define FORMAT(name, function, help) "- " name ": " help ".\n"

static const char *const positional[] = {"MODEL", NULL};
static const cli_flag flags[] = {
    {"--to", "FORMAT", "one of those above", 0},
    {"-o", "OUT", "file or folder to write", 0},
    {"--images", "DIR", "put before the images' names in transforms.json (default images)", 0},
    {"--planes", "FILE", "planes.json for ply (default: MODEL/planes.json if it is there)", 0},
    {"--upright", "PHOTOS",
     "keypoints, poses and cameras of the photographs as their EXIF data turn them, for programs "
     "that show them so; without it they are those of the pixels as stored",
     0},
    {0},
};

static psfm_status turn_upright(psfm_context *ctx, const char *photos, psfm_model_source *source) {
    size_t num = 0;
    if (photos == NULL)
        return PSFM_OK;
    psfm_status status = psfm_model_turn_upright(ctx, photos, &source->model, &num);
    if (status == PSFM_OK)
        psfm_log(ctx, PSFM_LOG_INFO, "%zu of %zu images turned upright", num,
                 source->model.num_images);
    return status;
}

static psfm_status work_convert(psfm_context *ctx, const cli_arguments *arguments) {
    const char *to = cli_flag_value(&cli_convert, arguments, "--to");
    const char *out = cli_flag_value(&cli_convert, arguments, "-o");
    const char *images = cli_flag_value(&cli_convert, arguments, "--images");
    if (to == NULL || out == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s is missing", to == NULL ? "--to" : "-o OUT");
    const psfm_export_format *format = psfm_export_find(ctx, to);
    if (format == NULL)
        return PSFM_ERR_ARGUMENT;
    psfm_model_source source;
    psfm_status status =
        psfm_model_source_read(ctx, arguments->positional[0],
                               cli_flag_value(&cli_convert, arguments, "--planes"), &source);
    if (status != PSFM_OK)
        return status;
    status = turn_upright(ctx, cli_flag_value(&cli_convert, arguments, "--upright"), &source);
    if (images == NULL && format->write == psfm_export_transforms)
        images = "images";
    psfm_export_input in = {&source.model, source.has_geo ? &source.geo : NULL,
                            source.has_planes ? &source.planes : NULL, images};
    if (status == PSFM_OK)
        status = psfm_export(ctx, format, &in, out);
    if (status == PSFM_OK)
        printf("%zu cameras, %zu images, %zu points as %s: %s\n", source.model.num_cameras,
               source.model.num_images, source.model.num_points, to, out);
    psfm_model_source_free(&source);
    return status;
}

const cli_command cli_convert = {
    .name = "convert",
    .summary = "writes a model for another program",
    .usage = "MODEL --to FORMAT -o OUT [--images DIR] [--planes FILE] [--upright PHOTOS]",
    .description =
        "MODEL is a COLMAP model folder, or the OUT of run or reconstruct, whose largest model is\n"
        "taken. A lens that a format cannot express (FOV, thin prism, rational where it is not\n"
        "known, ...) is an error that names the camera. Formats:\n" PSFM_EXPORT_FORMATS(
            FORMAT) "\n"
                    "    planarsfm convert out --to transforms.json -o photos/transforms.json "
                    "--images images",
    .positional = positional,
    .flags = flags,
    .work = work_convert,
};
