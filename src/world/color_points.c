/* Colours of points: the mean over their images, sampled bilinearly. A photograph is read at a part
 * of its size where the file allows that. */
#include "world/color_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/path.h"

/* Linear between the centres of the four nearest pixels; false outside the image. */
static bool sample_color(const psfm_small_photo *photo, const double place[2], uint8_t rgb[3]) {
    const psfm_image *image = &photo->image;
    double xy[2] = {photo->scale * place[0], photo->scale * place[1]};
    if (!(xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] < image->width && xy[1] < image->height))
        return false;
    double x = fmax(xy[0] - 0.5, 0.0), y = fmax(xy[1] - 0.5, 0.0);
    size_t width = (size_t)image->width, height = (size_t)image->height;
    size_t x0 = (size_t)x, y0 = (size_t)y;
    size_t x1 = x0 + 1 < width ? x0 + 1 : x0, y1 = y0 + 1 < height ? y0 + 1 : y0;
    double u = x - (double)x0, v = y - (double)y0;
    const uint8_t *a = image->rgb + 3 * (y0 * width + x0), *b = image->rgb + 3 * (y0 * width + x1);
    const uint8_t *c = image->rgb + 3 * (y1 * width + x0), *d = image->rgb + 3 * (y1 * width + x1);
    for (int k = 0; k < 3; ++k)
        rgb[k] = (uint8_t)((1.0 - v) * ((1.0 - u) * a[k] + u * b[k]) +
                           v * ((1.0 - u) * c[k] + u * d[k]) + 0.5);
    return true;
}

psfm_status psfm_small_photo_read(psfm_context *ctx, const char *folder, const char *name,
                                  int min_side, psfm_small_photo *out) {
    char *path = NULL, *bytes = NULL;
    size_t size = 0;
    int divisor = 1;
    *out = (psfm_small_photo){.scale = 1.0};
    psfm_status status = psfm_photo_path(ctx, folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = psfm_image_decode_small(ctx, (const uint8_t *)bytes, size, path,
                                         PSFM_IMAGE_GRAY_AND_RGB, min_side, &divisor, &out->image);
    out->scale = 1.0 / divisor;
    free(bytes);
    free(path);
    return status;
}

psfm_status psfm_image_colors_take(psfm_context *ctx, const psfm_model_image *image,
                                   const psfm_small_photo *photo, psfm_image_colors *out) {
    *out = (psfm_image_colors){0};
    psfm_status status = PSFM_ALLOC(ctx, image->num_keypoints, &out->rgb);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, image->num_keypoints, &out->seen);
    for (size_t k = 0; status == PSFM_OK && k < image->num_keypoints; ++k)
        out->seen[k] = image->point3D_ids[k] != PSFM_NO_POINT &&
                       sample_color(photo, image->keypoints[k], out->rgb[k]);
    return status;
}

void psfm_image_colors_free(psfm_image_colors *colors) {
    free(colors->rgb);
    free(colors->seen);
    *colors = (psfm_image_colors){0};
}

static void color_point(const psfm_image_colors *images, const psfm_model *model,
                        psfm_model_point *point) {
    unsigned sum[3] = {0}, num = 0;
    for (size_t k = 0; k < point->track_length; ++k) {
        const psfm_track_element *element = &point->track[k];
        const psfm_model_image *image = psfm_model_image_by_id(model, element->image_id);
        const psfm_image_colors *colors = image == NULL ? NULL : &images[image - model->images];
        if (colors == NULL || colors->rgb == NULL || !colors->seen[element->keypoint_idx])
            continue;
        for (int c = 0; c < 3; ++c)
            sum[c] += colors->rgb[element->keypoint_idx][c];
        ++num;
    }
    for (int c = 0; num > 0 && c < 3; ++c)
        point->rgb[c] = (uint8_t)((sum[c] + num / 2) / num);
}

void psfm_color_points(const psfm_image_colors *images, psfm_model *model) {
    for (size_t k = 0; k < model->num_points; ++k)
        color_point(images, model, &model->points[k]);
}
