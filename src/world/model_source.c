/* Where the model, the planes and the geo-reference of a path are. */
#include "world/model_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

psfm_status psfm_model_source_read(psfm_context *ctx, const char *path, const char *planes_path,
                                   psfm_model_source *out) {
    char *planes = NULL;
    *out = (psfm_model_source){0};
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
        psfm_model_source_free(out);
    return status;
}

void psfm_model_source_free(psfm_model_source *model) {
    free(model->folder);
    psfm_model_free(&model->model);
    psfm_scene_planes_free(&model->planes);
    *model = (psfm_model_source){0};
}
