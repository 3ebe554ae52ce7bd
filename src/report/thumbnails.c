/* Thumbnails, parallel. Size and number are chosen from an estimate of the bytes, so that the page
 * stays within its limit; JPEG is decoded at reduced size where that is enough. */
#include "report/thumbnails.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "images/image/image_codec.h"
#include "images/image/resize.h"

enum { LARGEST_SIDE = PSFM_THUMBNAIL_SOURCE, SMALLEST_SIDE = 96, QUALITY = 68 };

typedef struct {
    const char *folder;
    const char *const *names;
    psfm_thumbnails *out;
    char **problem; /* per photograph: why it has none, or NULL */
} gallery;

/* A thumbnail of this quality takes about a quarter of a byte per pixel, and a header. */
static size_t expected_size(int side) {
    return 700 + (size_t)side * (size_t)side * 3 / 4 / 4;
}

static psfm_status encode_thumbnail(psfm_context *ctx, const psfm_image *image, const char *name,
                                    uint8_t **bytes, size_t *size) {
    char *buffer = NULL;
    FILE *file = open_memstream(&buffer, size);
    if (file == NULL)
        return psfm_fail_memory(ctx);
    psfm_status status = psfm_jpeg_codec.encode(ctx, image, QUALITY, name, file);
    if (fclose(file) != 0 && status == PSFM_OK)
        status = psfm_fail_memory(ctx);
    if (status == PSFM_OK) {
        *bytes = (uint8_t *)buffer;
    } else {
        free(buffer);
        *size = 0;
    }
    return status;
}

psfm_status psfm_thumbnails_begin(psfm_context *ctx, size_t num, size_t max_size,
                                  psfm_thumbnails *out) {
    *out = (psfm_thumbnails){.side = LARGEST_SIDE};
    while (out->side > SMALLEST_SIDE && expected_size(out->side) * num > max_size)
        out->side -= 8;
    const size_t most = max_size / expected_size(out->side) + 1;
    out->step = num == 0 ? 1 : (num + most - 1) / most;
    psfm_status status = PSFM_ALLOC(ctx, num, &out->images);
    if (status == PSFM_OK)
        out->num = num;
    return status;
}

static bool is_missing(const psfm_thumbnails *thumbnails, size_t k) {
    return k % thumbnails->step == 0 && thumbnails->images[k].size == 0;
}

psfm_status psfm_thumbnails_add(psfm_context *ctx, psfm_thumbnails *thumbnails, size_t k,
                                const psfm_image *photograph, const char *name) {
    psfm_image small = {0};
    int width, height;
    if (!is_missing(thumbnails, k))
        return PSFM_OK;
    psfm_resize_dimensions(photograph->width, photograph->height, thumbnails->side, &width,
                           &height);
    psfm_status status = psfm_image_shrink(ctx, photograph, width, height, &small);
    if (status == PSFM_OK)
        status = encode_thumbnail(ctx, &small, name, &thumbnails->images[k].bytes,
                                  &thumbnails->images[k].size);
    thumbnails->images[k].quarters = photograph->quarters;
    psfm_image_free(&small);
    return status;
}

static psfm_status read_one(psfm_context *ctx, size_t k, int worker, void *user) {
    (void)worker;
    gallery *g = user;
    char *path = NULL;
    psfm_image image = {0};
    if (!is_missing(g->out, k))
        return PSFM_OK;
    psfm_status status = psfm_photo_path(ctx, g->folder, g->names[k], &path);
    if (status == PSFM_OK)
        status = psfm_image_read_small(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, PSFM_THUMBNAIL_SOURCE,
                                       &image);
    if (status == PSFM_OK)
        status = psfm_thumbnails_add(ctx, g->out, k, &image, path);
    if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT)
        status = psfm_strdup(ctx, psfm_context_message(ctx), &g->problem[k]);
    psfm_image_free(&image);
    free(path);
    return status;
}

static void log_problems(psfm_context *ctx, char **problem, size_t num) {
    const char *first = NULL;
    size_t count = 0;
    for (size_t k = 0; k < num; ++k) {
        if (problem[k] == NULL)
            continue;
        first = first == NULL ? problem[k] : first;
        ++count;
    }
    if (count > 0)
        psfm_log(ctx, PSFM_LOG_WARNING, "report: no thumbnail of %zu photograph%s: %s", count,
                 count == 1 ? "" : "s", first);
}

psfm_status psfm_thumbnails_complete(psfm_context *ctx, psfm_thumbnails *thumbnails,
                                     const char *folder, const char *const *names) {
    gallery g = {.folder = folder, .names = names, .out = thumbnails};
    size_t num = thumbnails->num;
    psfm_status status = PSFM_ALLOC(ctx, num, &g.problem);
    if (status == PSFM_OK && num > 0)
        status = psfm_parallel_for(ctx, "thumbnails", num, read_one, &g);
    if (status == PSFM_OK)
        log_problems(ctx, g.problem, num);
    for (size_t k = 0; g.problem != NULL && k < num; ++k)
        free(g.problem[k]);
    free((void *)g.problem);
    return status;
}

void psfm_thumbnails_free(psfm_thumbnails *thumbnails) {
    for (size_t k = 0; k < thumbnails->num; ++k)
        free(thumbnails->images[k].bytes);
    free(thumbnails->images);
    *thumbnails = (psfm_thumbnails){0};
}
