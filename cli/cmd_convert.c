/* planarsfm convert: a model in another program's format. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/own_folder.h"
#include "formats/export.h"
#include "world/upright_model.h"

#define FORMAT(name, function, help) "- " name ": " help ".\n"

static const char *const positional[] = {"MODEL", NULL};
static const cli_flag flags[] = {
    {"--to", "FORMAT", "one of those above", 0},
    {"-o", "OUT", "file or folder to write", 0},
    {"--images", "DIR", "put before the images' names in transforms.json (default images)",
     CLI_MAY_BE_EMPTY},
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

/* Whether a format is a folder of files whose names we choose. */
static bool is_folder_format(const psfm_export_format *format) {
    return format->write == psfm_export_colmap_text || format->write == psfm_export_colmap_binary ||
           format->write == psfm_export_opencv;
}

/* The names of the files of such a format, by which the folder is known to be somebody's; NULL
 * ends. The caller frees the array; the text behind camera names is in it. */
static psfm_status list_files(psfm_context *ctx, const psfm_export_format *format,
                              const psfm_model *model, const char ***names) {
    static const char *const colmap[] = {"cameras.txt", "images.txt",        "points3D.txt",
                                         "cameras.bin", "images.bin",        "points3D.bin",
                                         "rigs.txt",    "rigs.bin",          "frames.txt",
                                         "frames.bin",  "geo_reference.json"};
    enum { NUM_COLMAP = sizeof colmap / sizeof colmap[0], NAME_SIZE = 32 };
    const bool is_colmap = format->write != psfm_export_opencv;
    const size_t num = is_colmap ? NUM_COLMAP : model->num_cameras;
    *names = calloc(num + 1, sizeof **names + NAME_SIZE);
    if (*names == NULL)
        return psfm_fail_memory(ctx);
    char *text = (char *)(*names + num + 1);
    for (size_t k = 0; k < num; ++k, text += NAME_SIZE) {
        if (!is_colmap)
            snprintf(text, NAME_SIZE, "camera_%u.yml", model->cameras[k].id);
        (*names)[k] = is_colmap ? colmap[k] : text;
    }
    return PSFM_OK;
}

static psfm_status write_folder(psfm_context *ctx, const psfm_export_format *format,
                                const psfm_export_input *in, const char *out) {
    const char **names = NULL;
    psfm_status status = list_files(ctx, format, in->model, &names);
    psfm_own_folder own = {.path = out, .names = names};
    if (status == PSFM_OK)
        status = psfm_own_folder_take(ctx, &own);
    if (status == PSFM_OK) {
        status = psfm_export(ctx, format, in, out);
        psfm_own_folder_leave(&own);
    }
    free((void *)names);
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
        status = is_folder_format(format) ? write_folder(ctx, format, &in, out)
                                          : psfm_export(ctx, format, &in, out);
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
