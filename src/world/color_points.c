/* Colours of points: the mean over their images, sampled bilinearly. One task a photograph, which
 * is read once, at a part of its size where the file allows that, and forgotten. */
#include "world/color_points.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/path.h"

/* What one image says about its keypoints. */
typedef struct {
    uint8_t (*rgb)[3]; /* per keypoint */
    bool *seen;        /* per keypoint: has a colour */
    char *problem;     /* why there are none, or NULL */
} samples;

typedef struct {
    const char *folder;
    int min_side;
    const psfm_photo_watcher *watcher; /* NULL: none */
    const psfm_model *model;
    samples *images;
} coloring;

/* A photograph, decoded at `scale` of its size. */
typedef struct {
    psfm_image image;
    double scale;
} photograph;

/* Linear between the centres of the four nearest pixels; false outside the image. */
static bool sample(const photograph *photo, const double place[2], uint8_t rgb[3]) {
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

static psfm_status read_photograph(psfm_context *ctx, const char *path, int min_side,
                                   photograph *out) {
    char *bytes = NULL;
    size_t size = 0;
    int divisor = 1;
    psfm_status status = psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = psfm_image_decode_small(ctx, (const uint8_t *)bytes, size, path,
                                         PSFM_IMAGE_GRAY_AND_RGB, min_side, &divisor, &out->image);
    out->scale = 1.0 / divisor;
    free(bytes);
    return status;
}

static psfm_status sample_image(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    coloring *all = user;
    const psfm_model_image *view = &all->model->images[index];
    samples *out = &all->images[index];
    photograph photo = {0};
    char *path = NULL;
    psfm_status status = PSFM_ALLOC(ctx, view->num_keypoints, &out->rgb);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, view->num_keypoints, &out->seen);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, all->folder, view->name, &path);
    if (status == PSFM_OK)
        status = read_photograph(ctx, path, all->min_side, &photo);
    for (size_t k = 0; status == PSFM_OK && k < view->num_keypoints; ++k)
        out->seen[k] = view->point3D_ids[k] != PSFM_NO_POINT &&
                       sample(&photo, view->keypoints[k], out->rgb[k]);
    if (status == PSFM_OK && all->watcher != NULL)
        status = all->watcher->see(ctx, view->name, &photo.image, all->watcher->user);
    if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT)
        status = psfm_strdup(ctx, psfm_context_message(ctx), &out->problem);
    psfm_image_free(&photo.image);
    free(path);
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
                              const psfm_photo_watcher *watcher, psfm_model *model) {
    coloring all = {.folder = folder, .min_side = min_side, .watcher = watcher, .model = model};
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
