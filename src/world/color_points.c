/* Colours of points: the mean over their images, sampled bilinearly. One task a photograph, which
 * is read at a part of its size where the file allows that, unless the keeper has it, and
 * forgotten. */
#include "world/color_points.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/path.h"

/* What one image says about its keypoints. */
typedef struct {
    uint8_t (*rgb)[3]; /* per keypoint */
    bool *seen;        /* per keypoint: has a colour */
    char *problem;     /* why there are none, or NULL */
} samples;

typedef struct {
    const char *folder;
    int min_side;
    const psfm_photo_keeper *keeper; /* NULL: none */
    const psfm_model *model;
    samples *images;
} coloring;

/* Linear between the centres of the four nearest pixels; false outside the image. */
static bool sample(const psfm_small_photo *photo, const double place[2], uint8_t rgb[3]) {
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
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
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

/* From the keeper, or read and shown to it. */
static psfm_status get_photo(psfm_context *ctx, const coloring *all, const char *name,
                             psfm_small_photo *photo) {
    const psfm_photo_keeper *keeper = all->keeper;
    if (keeper != NULL && keeper->take(name, keeper->user, photo))
        return PSFM_OK;
    psfm_status status = psfm_small_photo_read(ctx, all->folder, name, all->min_side, photo);
    return status == PSFM_OK && keeper != NULL ? keeper->see(ctx, name, &photo->image, keeper->user)
                                               : status;
}

static psfm_status sample_image(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    coloring *all = user;
    const psfm_model_image *view = &all->model->images[index];
    samples *out = &all->images[index];
    psfm_small_photo photo = {0};
    psfm_status status = PSFM_ALLOC(ctx, view->num_keypoints, &out->rgb);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num_keypoints, &out->seen);
    if (status == PSFM_OK)
        status = get_photo(ctx, all, view->name, &photo);
    for (size_t k = 0; status == PSFM_OK && k < view->num_keypoints; ++k)
        out->seen[k] = view->point3D_ids[k] != PSFM_NO_POINT &&
                       sample(&photo, view->keypoints[k], out->rgb[k]);
    if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT)
        status = psfm_strdup(ctx, psfm_context_message(ctx), &out->problem);
    psfm_image_free(&photo.image);
    return status;
}

static void color_point(const coloring *all, psfm_model_point *point) {
    unsigned sum[3] = {0}, num = 0;
    for (size_t k = 0; k < point->track_length; ++k) {
        const psfm_track_element *element = &point->track[k];
        const psfm_model_image *image = psfm_model_image_by_id(all->model, element->image_id);
        const samples *s = image == NULL ? NULL : &all->images[image - all->model->images];
        if (s == NULL || !s->seen[element->keypoint_idx])
            continue;
        for (int c = 0; c < 3; ++c)
            sum[c] += s->rgb[element->keypoint_idx][c];
        ++num;
    }
    for (int c = 0; num > 0 && c < 3; ++c)
        point->rgb[c] = (uint8_t)((sum[c] + num / 2) / num);
}

psfm_status psfm_color_points(psfm_context *ctx, const char *folder, int min_side,
                              const psfm_photo_keeper *keeper, psfm_model *model) {
    coloring all = {.folder = folder, .min_side = min_side, .keeper = keeper, .model = model};
    psfm_status status = PSFM_ALLOC(ctx, model->num_images, &all.images);
    if (status == PSFM_OK && model->num_points > 0)
        status = psfm_parallel_for(ctx, "colours", model->num_images, sample_image, &all);
    if (status == PSFM_OK && model->num_points > 0) {
        for (size_t k = 0; k < model->num_images; ++k)
            if (all.images[k].problem != NULL)
                psfm_log(ctx, PSFM_LOG_WARNING, "no colours from %s", all.images[k].problem);
        for (size_t k = 0; k < model->num_points; ++k)
            color_point(&all, &model->points[k]);
    }
    for (size_t k = 0; all.images != NULL && k < model->num_images; ++k) {
        free(all.images[k].rgb);
        free(all.images[k].seen);
        free(all.images[k].problem);
    }
    free(all.images);
    return status;
}
