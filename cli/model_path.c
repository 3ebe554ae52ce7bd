/* Where the model, the planes and the geo-reference of a positional argument are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/base/alloc.h"
#include "core/base/path.h"
#include "formats/colmap_model.h"

/* Which of a run's models a folder is: K of .../model/K, otherwise the first. */
static int32_t model_index(const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/')
        --length;
    size_t begin = length;
    while (begin > 0 && isdigit((unsigned char)folder[begin - 1]))
        --begin;
    bool inside = begin >= 6 && strncmp(folder + begin - 6, "model/", 6) == 0;
    return inside && begin < length && length - begin < 9
               ? (int32_t)strtol(folder + begin, NULL, 10)
               : 0;
}

/* Planes of a run's other models are in frames of their own. */
static void keep_planes(psfm_scene_planes *planes, uint32_t model) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < planes->num_planes; ++k) {
        if (planes->planes[k].component != model) {
            free(planes->planes[k].polygon);
            continue;
        }
        planes->planes[kept] = planes->planes[k];
        planes->planes[kept++].component = 0;
    }
    planes->num_planes = kept;
}

psfm_status cli_read_model(psfm_context *ctx, const char *path, const char *planes_path,
                           cli_model *out) {
    char *planes = NULL;
    *out = (cli_model){0};
    psfm_status status = psfm_model_folder(ctx, path, &out->folder);
    if (status == PSFM_OK)
        status = psfm_model_read(ctx, out->folder, &out->model);
    if (status == PSFM_OK)
        status = psfm_geo_reference_read(ctx, out->folder, &out->geo, &out->has_geo);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, path, "planes.json", &planes);
    if (status == PSFM_OK && (planes_path != NULL || psfm_path_is_file(planes))) {
        status =
            psfm_planes_read_json(ctx, planes_path != NULL ? planes_path : planes, &out->planes);
        out->has_planes = status == PSFM_OK;
        keep_planes(&out->planes, (uint32_t)model_index(out->folder));
    }
    free(planes);
    if (status != PSFM_OK)
        cli_model_free(out);
    return status;
}

void cli_model_free(cli_model *model) {
    free(model->folder);
    psfm_model_free(&model->model);
    psfm_scene_planes_free(&model->planes);
    *model = (cli_model){0};
}

psfm_status cli_find_database(psfm_context *ctx, const char *path, char **out) {
    *out = NULL;
    if (!psfm_path_is_folder(path))
        return psfm_strdup(ctx, path, out);
    psfm_status status = psfm_path_join(ctx, path, "database.db", out);
    if (status == PSFM_OK && !psfm_path_is_file(*out))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: a folder without a database.db", path);
    return status;
}
