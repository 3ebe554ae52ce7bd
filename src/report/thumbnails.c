/* Thumbnails, parallel. Size and number are chosen from an estimate of the bytes, so that the page
 * stays within its limit; JPEG is decoded at reduced size where that is enough. */
#include "report/thumbnails.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/path.h"
#include "image/image_codec.h"
#include "image/resize.h"

enum { LARGEST_SIDE = 640, SMALLEST_SIDE = 96, QUALITY = 68 };

typedef struct {
    const char *folder;
    const char *const *names;
    size_t step; /* every step-th photograph gets a thumbnail */
    int side;
    psfm_thumbnails *out;
    char **problem; /* per photograph: why it has none, or NULL */
} gallery;

/* A thumbnail of this quality takes about a quarter of a byte per pixel, and a header. */
static size_t expected_size(int side) {
    return 700 + (size_t)side * (size_t)side * 3 / 4 / 4;
}

static void choose_size(gallery *g, size_t num, size_t max_size) {
    g->side = LARGEST_SIDE;
    while (g->side > SMALLEST_SIDE && expected_size(g->side) * num > max_size)
        g->side -= 8;
    size_t most = max_size / expected_size(g->side) + 1;
    g->step = (num + most - 1) / most;
}

static psfm_status encode(psfm_context *ctx, const psfm_image *image, const char *name,
                          uint8_t **bytes, size_t *size) {
    char *buffer = NULL;
    FILE *file = open_memstream(&buffer, size);
    if (file == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", name);
    psfm_status status = psfm_jpeg_encode(ctx, image, QUALITY, name, file);
    if (fclose(file) != 0 && status == PSFM_OK)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "%s: out of memory", name);
    if (status == PSFM_OK) {
        *bytes = (uint8_t *)buffer;
    } else {
        free(buffer);
        *size = 0;
    }
    return status;
}

static psfm_status make_one(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    gallery *g = user;
    size_t k = index * g->step;
    char *path = NULL;
    psfm_image image = {0}, small = {0};
    int width, height;
    psfm_status status = psfm_path_join(ctx, g->folder, g->names[k], &path);
    if (status == PSFM_OK)
        status = psfm_image_read_small(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, g->side, &image);
    if (status == PSFM_OK) {
        psfm_resize_dimensions(image.width, image.height, g->side, &width, &height);
        status = psfm_image_shrink(ctx, &image, width, height, &small);
    }
    if (status == PSFM_OK)
        status = encode(ctx, &small, path, &g->out->images[k].bytes, &g->out->images[k].size);
    if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT)
        status = psfm_strdup(ctx, psfm_context_message(ctx), &g->problem[k]);
    psfm_image_free(&image);
    psfm_image_free(&small);
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

psfm_status psfm_thumbnails_make(psfm_context *ctx, const char *folder, const char *const *names,
                                 size_t num, size_t max_size, psfm_thumbnails *out) {
    gallery g = {.folder = folder, .names = names, .out = out};
    *out = (psfm_thumbnails){0};
    choose_size(&g, num, max_size);
    psfm_status status = PSFM_ALLOC(ctx, num, &out->images);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &g.problem);
    if (status == PSFM_OK && num > 0) {
        out->num = num;
        status = psfm_parallel_for(ctx, "thumbnails", (num + g.step - 1) / g.step, make_one, &g);
    }
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
