/* Area averaging: the new pixel X covers the old columns [X s, (X + 1) s), s = old / new >= 1, and
 * likewise in y; its value is the mean over that rectangle, with the pixels at its rim counted by
 * the share that it covers. Separable: rows are averaged first, which goes through memory in
 * one piece, then the columns of their mean. */
#include "images/image/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

void psfm_resize_dimensions(int width, int height, int max_size, int *new_width, int *new_height) {
    int longer = width > height ? width : height;
    *new_width = width;
    *new_height = height;
    if (max_size <= 0 || longer <= max_size)
        return;
    double scale = (double)max_size / longer;
    *new_width = (int)(width * scale);
    *new_height = (int)(height * scale);
    *new_width = *new_width < 1 ? 1 : *new_width;
    *new_height = *new_height < 1 ? 1 : *new_height;
}

/* The old pixels under one new one: from `first` to `last`, with the weights of these two. */
typedef struct {
    int first, last;
    float first_weight, last_weight; /* of the mean; inner pixels weigh `inner` */
    float inner;
} span;

static span span_of(int new_index, int old_size, int new_size) {
    double scale = (double)old_size / new_size;
    double begin = new_index * scale, end = (new_index + 1) * scale;
    span s = {.first = (int)begin, .last = (int)ceil(end) - 1, .inner = (float)(1.0 / scale)};
    if (s.last >= old_size) /* the end may round past the last pixel */
        s.last = old_size - 1;
    if (s.last < s.first)
        s.last = s.first;
    s.first_weight = (float)((fmin(s.first + 1.0, end) - begin) / scale);
    s.last_weight = (float)((fmin(s.last + 1.0, end) - s.last) / scale);
    return s;
}

static uint8_t to_byte(float value) {
    return (uint8_t)(value < 254.5F ? value + 0.5F : 255.0F);
}

/* sum = the mean of the rows of the span, `samples_of_row` values. */
static void average_rows(const uint8_t *in, const span *s, size_t samples_of_row, float *sum) {
    memset(sum, 0, samples_of_row * sizeof *sum);
    for (int k = s->first; k <= s->last; ++k) {
        float weight = k == s->first ? s->first_weight : k == s->last ? s->last_weight : s->inner;
        const uint8_t *row = in + (size_t)k * samples_of_row;
        for (size_t x = 0; x < samples_of_row; ++x)
            sum[x] += weight * (float)row[x];
    }
}

static void average_columns(const float *row, int samples, const span *columns, int new_width,
                            uint8_t *out) {
    for (int x = 0; x < new_width; ++x) {
        const span *s = &columns[x];
        for (int c = 0; c < samples; ++c) {
            float sum = s->first_weight * row[s->first * samples + c];
            for (int k = s->first + 1; k < s->last; ++k)
                sum += s->inner * row[k * samples + c];
            if (s->last > s->first)
                sum += s->last_weight * row[s->last * samples + c];
            out[x * samples + c] = to_byte(sum);
        }
    }
}

/* One channel set: `samples` bytes per pixel, from `in` of an image to `out` of a smaller one;
 * `row` has room for a row of the larger one. */
static void shrink_plane(const psfm_image *image, const uint8_t *in, int samples,
                         const span *columns, const psfm_image *made, float *row, uint8_t *out) {
    for (int y = 0; y < made->height; ++y) {
        span s = span_of(y, image->height, made->height);
        average_rows(in, &s, (size_t)image->width * (size_t)samples, row);
        average_columns(row, samples, columns, made->width,
                        out + (size_t)y * (size_t)made->width * (size_t)samples);
    }
}

psfm_status psfm_image_shrink(psfm_context *ctx, const psfm_image *image, int new_width,
                              int new_height, psfm_image *out) {
    if (new_width < 1 || new_height < 1 || new_width > image->width || new_height > image->height)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "an image of %d x %d pixels cannot be shrunk to %d x %d", image->width,
                         image->height, new_width, new_height);
    span *columns = NULL;
    float *row = NULL;
    psfm_image made = {0};
    psfm_status status =
        psfm_image_init(ctx, new_width, new_height,
                        image->rgb != NULL ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_GRAY, &made);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)new_width, &columns);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 3 * (size_t)image->width, &row);
    if (status == PSFM_OK) {
        for (int x = 0; x < new_width; ++x)
            columns[x] = span_of(x, image->width, new_width);
        shrink_plane(image, image->gray, 1, columns, &made, row, made.gray);
        if (image->rgb != NULL)
            shrink_plane(image, image->rgb, 3, columns, &made, row, made.rgb);
        *out = made;
    }
    free(row);
    free(columns);
    if (status != PSFM_OK)
        psfm_image_free(&made);
    return status;
}
