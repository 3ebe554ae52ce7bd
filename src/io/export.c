/* The table of formats that models are written in, and what the writers share: which terms of a
 * lens a format has words for, and names of images behind a folder. Numbers are printed with a
 * decimal point in every locale. */
#include "io/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number_locale.h"
#include "base/path.h"

static psfm_status export_colmap(psfm_context *ctx, const psfm_export_input *in,
                                 psfm_model_format format, const char *folder) {
    psfm_status status = psfm_model_write(ctx, in->model, format, folder);
    if (status == PSFM_OK)
        status = psfm_geo_reference_write(ctx, folder, in->geo);
    return status;
}

static psfm_status export_colmap_text(psfm_context *ctx, const psfm_export_input *in,
                                      const char *folder) {
    return export_colmap(ctx, in, PSFM_MODEL_TEXT, folder);
}

static psfm_status export_colmap_binary(psfm_context *ctx, const psfm_export_input *in,
                                        const char *folder) {
    return export_colmap(ctx, in, PSFM_MODEL_BINARY, folder);
}

const psfm_export_format psfm_export_formats[] = {
    {"colmap-text", export_colmap_text},
    {"colmap-bin", export_colmap_binary},
    {"transforms.json", psfm_export_transforms},
    {"tum", psfm_export_tum},
    {"bundler", psfm_export_bundler},
    {"ply", psfm_export_ply},
    {"opencv-yaml", psfm_export_opencv},
    {"kml", psfm_export_kml},
    {"geojson", psfm_export_geojson},
    {NULL, NULL},
};

const psfm_export_format *psfm_export_find(psfm_context *ctx, const char *name) {
    char all[256] = "";
    for (const psfm_export_format *f = psfm_export_formats; f->name != NULL; ++f) {
        if (strcmp(f->name, name) == 0)
            return f;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", f->name);
    }
    (void)psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no format '%s' (%s)", name, all);
    return NULL;
}

psfm_status psfm_export(psfm_context *ctx, const psfm_export_format *format,
                        const psfm_export_input *in, const char *path) {
    locale_t before = psfm_number_locale_begin();
    psfm_status status = format->write(ctx, in, path);
    psfm_number_locale_end(before);
    return status;
}

static bool is_zero(const double *values, int num) {
    for (int k = 0; k < num; ++k)
        if (values[k] != 0.0)
            return false;
    return true;
}

/* The terms that the lens needs; false if no format has a word for it. */
static bool terms_of(const psfm_camera *camera, const psfm_lens *lens, int *terms) {
    bool tangential = !is_zero(lens->tangential, 2);
    if (camera->model == PSFM_CAMERA_FOV || !is_zero(lens->prism, 2) ||
        (lens->is_angular && tangential))
        return false;
    *terms = fabs(lens->focal[0] / lens->focal[1] - 1.0) > 1e-2 ? PSFM_LENS_TWO_FOCALS : 0;
    if (lens->is_angular)
        *terms |= PSFM_LENS_FISHEYE;
    else if (lens->radial[2] != 0.0)
        *terms |= PSFM_LENS_K3;
    if (tangential)
        *terms |= PSFM_LENS_TANGENTIAL;
    if (!is_zero(lens->denominator, 3))
        *terms |= PSFM_LENS_RATIONAL;
    return true;
}

psfm_status psfm_export_lens(psfm_context *ctx, const psfm_camera *camera, int terms,
                             const char *program, psfm_lens *lens) {
    int needed = 0;
    *lens = (psfm_lens){0};
    if (psfm_lens_from_camera(camera, lens) && terms_of(camera, lens, &needed) &&
        (needed & ~terms) == 0)
        return PSFM_OK;
    const char *name = psfm_camera_model_name(camera->model);
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "camera %u is %s with parameters that %s has no place for; undistort its "
                     "photographs first",
                     camera->id, name == NULL ? "unknown" : name, program);
}

psfm_status psfm_export_image_path(psfm_context *ctx, const psfm_export_input *in, const char *name,
                                   char **path) {
    return psfm_path_join(ctx, in->image_folder == NULL ? "" : in->image_folder, name, path);
}
