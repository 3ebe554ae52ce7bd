/* The table of formats that models are written in, and what the writers share: which terms of a
 * lens a format has words for. Numbers are printed with a decimal point in every locale. */
#include "formats/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/number_locale.h"
#include "core/base/output.h"
#include "core/base/path.h"
#include "core/camera/lens.h"
#include "core/linalg/mat3.h"

static psfm_status export_colmap(psfm_context *ctx, const psfm_export_input *in,
                                 psfm_model_format format, const char *folder) {
    psfm_status status = psfm_model_write(ctx, in->model, format, folder);
    if (status == PSFM_OK)
        status = psfm_geo_reference_write(ctx, folder, in->geo);
    return status;
}

psfm_status psfm_export_colmap_text(psfm_context *ctx, const psfm_export_input *in,
                                    const char *folder) {
    return export_colmap(ctx, in, PSFM_MODEL_TEXT, folder);
}

psfm_status psfm_export_colmap_binary(psfm_context *ctx, const psfm_export_input *in,
                                      const char *folder) {
    return export_colmap(ctx, in, PSFM_MODEL_BINARY, folder);
}

static const psfm_export_format formats[] = {
#define FORMAT(name, function, help) {name, function},
    PSFM_EXPORT_FORMATS(FORMAT)
#undef FORMAT
};

const psfm_export_format *psfm_export_find(psfm_context *ctx, const char *name) {
    char all[256] = "";
    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k) {
        if (strcmp(formats[k].name, name) == 0)
            return &formats[k];
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", formats[k].name);
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

/* Whether a format has words for the lens: focal lengths, k1 to k3, tangential terms, `rational`:
 * the denominator too; or those of a fisheye. */
static bool has_words(const psfm_camera *camera, const psfm_lens *lens, bool rational) {
    return camera->model != PSFM_CAMERA_FOV && lens->shape == PSFM_LENS_POLYNOMIAL &&
           !lens->has_high && is_zero(lens->prism, 4) &&
           (!lens->is_angular || is_zero(lens->tangential, 2)) &&
           (rational || is_zero(lens->denominator, 3));
}

psfm_status psfm_export_lens(psfm_context *ctx, const psfm_camera *camera, bool rational,
                             const char *program, psfm_lens *lens) {
    *lens = (psfm_lens){0};
    if (psfm_lens_from_camera(camera, lens) && has_words(camera, lens, rational))
        return PSFM_OK;
    const char *name = psfm_camera_model_name(camera->model);
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "camera %u is %s with parameters that %s has no place for; undistort its "
                     "photographs first",
                     camera->id, name == NULL ? "unknown" : name, program);
}

/* OpenCV's FileStorage YAML, one file per camera: camera_ID.yml.
 *
 * The principal point is OpenCV's, where the first pixel's centre is (0, 0): half a pixel less than
 * COLMAP's. Distortion in OpenCV's order: k1 k2 p1 p2 k3, then k4 k5 k6 of the rational model; or
 * k1 to k4 of cv::fisheye. `images` lists every image of the camera with rvec and tvec (camera from
 * world), as cv::projectPoints and cv::fisheye::projectPoints take them. */

static psfm_status find_lens(psfm_context *ctx, const psfm_camera *camera, psfm_lens *lens) {
    return psfm_export_lens(ctx, camera, true, "OpenCV", lens);
}

static void print_matrix(FILE *file, const char *indent, const char *name, int rows, int cols,
                         const double *values) {
    fprintf(file, "%s%s: !!opencv-matrix\n%s   rows: %d\n%s   cols: %d\n%s   dt: d\n%s   data: [",
            indent, name, indent, rows, indent, cols, indent, indent);
    for (int k = 0; k < rows * cols; ++k)
        fprintf(file, "%s %.17g", k > 0 ? "," : "", values[k]);
    fprintf(file, " ]\n");
}

static void print_lens(FILE *file, const psfm_lens *lens) {
    const double *k = lens->radial, *p = lens->tangential, *d = lens->denominator;
    const double K[9] = {lens->focal[0],
                         0,
                         lens->center[0] - 0.5,
                         0,
                         lens->focal[1],
                         lens->center[1] - 0.5,
                         0,
                         0,
                         1};
    const double rational[8] = {k[0], k[1], p[0], p[1], k[2], d[0], d[1], d[2]};
    const char *model = lens->is_angular        ? "fisheye"
                        : lens->has_denominator ? "rational_polynomial"
                                                : "plumb_bob";
    print_matrix(file, "", "camera_matrix", 3, 3, K);
    fprintf(file, "distortion_model: %s\n", model);
    if (lens->is_angular)
        print_matrix(file, "", "distortion_coefficients", 1, 4, k);
    else
        print_matrix(file, "", "distortion_coefficients", 1, lens->has_denominator ? 8 : 5,
                     rational);
}

static void print_pose(FILE *file, const psfm_model_image *image) {
    double R[9], rvec[3];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_rotation_log(R, rvec);
    fprintf(file, "   -\n      name: ");
    psfm_print_json_string(file, image->name);
    fputc('\n', file);
    print_matrix(file, "      ", "rvec", 3, 1, rvec);
    print_matrix(file, "      ", "tvec", 3, 1, image->cam_from_world_t);
}

static psfm_status write_camera(psfm_context *ctx, const psfm_model *model,
                                const psfm_camera *camera, const char *folder) {
    char name[64], *path = NULL;
    psfm_output out = {0};
    psfm_lens lens;
    snprintf(name, sizeof name, "camera_%" PRIu32 ".yml", camera->id);
    psfm_status status = find_lens(ctx, camera, &lens);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK) {
        fprintf(out.file, "%%YAML:1.0\n---\nimage_width: %" PRIu64 "\nimage_height: %" PRIu64 "\n",
                camera->width, camera->height);
        print_lens(out.file, &lens);
        bool first = true;
        for (size_t k = 0; k < model->num_images; ++k) {
            if (model->images[k].camera_id != camera->id)
                continue;
            if (first)
                fprintf(out.file, "images:\n");
            first = false;
            print_pose(out.file, &model->images[k]);
        }
        status = psfm_output_commit(ctx, &out);
    }
    free(path);
    return status;
}

psfm_status psfm_export_opencv(psfm_context *ctx, const psfm_export_input *in, const char *folder) {
    const psfm_model *model = in->model;
    psfm_status status = PSFM_OK;
    psfm_lens lens;
    for (size_t c = 0; status == PSFM_OK && c < model->num_cameras; ++c)
        status = find_lens(ctx, &model->cameras[c], &lens);
    if (status == PSFM_OK)
        status = psfm_make_folders(ctx, folder);
    for (size_t c = 0; status == PSFM_OK && c < model->num_cameras; ++c)
        status = write_camera(ctx, model, &model->cameras[c], folder);
    return status;
}
