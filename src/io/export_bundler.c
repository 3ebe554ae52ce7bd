/* Bundler's file (version 0.3) and its list of images.
 *
 * Bundler's camera looks along -z with y up, so R and t are COLMAP's with the second and third row
 * negated. Its pixels count from the principal point, x right and y up, and the principal point is
 * taken to be the middle of the image; one that is elsewhere is lost to readers that crop by the
 * image alone. Lens: one focal length and 1 + k1 r^2 + k2 r^4. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/output.h"
#include "camera/lens.h"
#include "io/export.h"
#include "linalg/mat3.h"

static psfm_status find_lens(psfm_context *ctx, const psfm_camera *camera, psfm_lens *lens) {
    return psfm_export_lens(ctx, camera, 0, "Bundler (one focal length, k1 and k2)", lens);
}

static psfm_status check_cameras(psfm_context *ctx, const psfm_model *model) {
    psfm_lens lens;
    for (size_t c = 0; c < model->num_cameras; ++c) {
        const psfm_camera *camera = &model->cameras[c];
        psfm_status status = find_lens(ctx, camera, &lens);
        if (status != PSFM_OK)
            return status;
        double stretch = fabs(lens.focal[0] / lens.focal[1] - 1.0);
        if (stretch > 1e-6)
            psfm_log(
                ctx, PSFM_LOG_WARNING,
                "camera %u: its focal lengths differ by %.2g %%; Bundler gets their mean, which "
                "is off by up to %.2g pixels",
                camera->id, 100.0 * stretch,
                0.25 * stretch * (double)(camera->width + camera->height) / 2.0);
        double off = hypot(lens.center[0] - 0.5 * (double)camera->width,
                           lens.center[1] - 0.5 * (double)camera->height);
        if (off > 1.0)
            psfm_log(ctx, PSFM_LOG_WARNING,
                     "camera %u: its principal point is %.1f pixels off the middle of the image, "
                     "which Bundler cannot say",
                     camera->id, off);
    }
    return PSFM_OK;
}

static void print_camera(FILE *file, const psfm_lens *lens, const psfm_model_image *image) {
    double R[9];
    const double *t = image->cam_from_world_t;
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    fprintf(file, "%.17g %.17g %.17g\n", 0.5 * (lens->focal[0] + lens->focal[1]), lens->radial[0],
            lens->radial[1]);
    fprintf(file, "%.17g %.17g %.17g\n", R[0], R[1], R[2]);
    for (int r = 1; r < 3; ++r)
        fprintf(file, "%.17g %.17g %.17g\n", -R[3 * r], -R[3 * r + 1], -R[3 * r + 2]);
    fprintf(file, "%.17g %.17g %.17g\n", t[0], -t[1], -t[2]);
}

static void print_point(FILE *file, const psfm_model *model, const psfm_lens *lenses,
                        const psfm_model_point *point) {
    fprintf(file, "%.17g %.17g %.17g\n%d %d %d\n%zu", point->xyz[0], point->xyz[1], point->xyz[2],
            point->rgb[0], point->rgb[1], point->rgb[2], point->track_length);
    for (size_t k = 0; k < point->track_length; ++k) {
        const psfm_track_element *e = &point->track[k];
        const psfm_model_image *image = psfm_model_image_by_id(model, e->image_id);
        size_t idx = (size_t)(image - model->images);
        const double *xy = image->keypoints[e->keypoint_idx];
        fprintf(file, " %zu %" PRIu32 " %.9g %.9g", idx, e->keypoint_idx,
                xy[0] - lenses[idx].center[0], lenses[idx].center[1] - xy[1]);
    }
    fputc('\n', file);
}

static psfm_status write_bundle(psfm_context *ctx, const psfm_model *model, const psfm_lens *lenses,
                                const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    if (status != PSFM_OK)
        return status;
    fprintf(out.file, "# Bundle file v0.3\n%zu %zu\n", model->num_images, model->num_points);
    for (size_t k = 0; k < model->num_images; ++k)
        print_camera(out.file, &lenses[k], &model->images[k]);
    for (size_t k = 0; k < model->num_points; ++k)
        print_point(out.file, model, lenses, &model->points[k]);
    return psfm_output_commit(ctx, &out);
}

/* One name a line, in the order of the cameras. */
static psfm_status write_list(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(ctx, path, &out);
    for (size_t k = 0; status == PSFM_OK && k < in->model->num_images; ++k) {
        char *name = NULL;
        status = psfm_export_image_path(ctx, in, in->model->images[k].name, &name);
        if (status == PSFM_OK) {
            psfm_print_plain(out.file, name);
            fputc('\n', out.file);
        }
        free(name);
    }
    if (status == PSFM_OK)
        status = psfm_output_commit(ctx, &out);
    psfm_output_abort(&out);
    return status;
}

/* bundle.out -> bundle.list.txt; malloc'ed. */
static psfm_status list_path(psfm_context *ctx, const char *path, char **out) {
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".out") == 0)
        length -= 4;
    psfm_status status = PSFM_ALLOC(ctx, length + sizeof ".list.txt", out);
    if (status == PSFM_OK)
        snprintf(*out, length + sizeof ".list.txt", "%.*s.list.txt", (int)length, path);
    return status;
}

psfm_status psfm_export_bundler(psfm_context *ctx, const psfm_export_input *in, const char *path) {
    const psfm_model *model = in->model;
    psfm_lens *lenses = NULL; /* per image */
    char *list = NULL;
    psfm_status status = check_cameras(ctx, model);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &lenses);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        status = find_lens(ctx, psfm_model_camera(model, model->images[k].camera_id), &lenses[k]);
    if (status == PSFM_OK)
        status = list_path(ctx, path, &list);
    if (status == PSFM_OK)
        status = write_list(ctx, in, list);
    if (status == PSFM_OK)
        status = write_bundle(ctx, model, lenses, path);
    free(lenses);
    free(list);
    return status;
}
