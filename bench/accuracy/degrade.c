/* Worse photographs from good ones, to see how a stage stands them.
 *
 *   bench_degrade KIND IN OUT [seed]
 *
 * KIND: exposure (every other photograph two stops darker), jpeg (quality 40), noise (Gaussian, 10
 * gray levels), covered (textured things over 30 % of each, elsewhere in every photograph), blur
 * (3 pixels along a random direction in every third). OUT gets the photographs of the folder IN
 * under the same names; what a kind does not touch is written as it is at quality 95. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/rng.h"
#include "images/image/image_io.h"
#include "images/image/image_list.h"

static const char *const kinds[] = {"exposure", "jpeg", "noise", "covered", "blur", NULL};
enum { EXPOSURE, JPEG, NOISE, COVERED, BLUR, NUM_KINDS };

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static uint8_t to_byte(double value) {
    return (uint8_t)fmin(fmax(value + 0.5, 0.0), 255.0);
}

/* A quarter of the light, through a gamma of 2.2. */
static void darken(psfm_image *image) {
    size_t n = 3 * (size_t)image->width * (size_t)image->height;
    for (size_t k = 0; k < n; ++k)
        image->rgb[k] = to_byte(255.0 * pow(0.25 * pow(image->rgb[k] / 255.0, 2.2), 1.0 / 2.2));
}

static void add_noise(psfm_image *image, psfm_rng *rng) {
    size_t n = 3 * (size_t)image->width * (size_t)image->height;
    for (size_t k = 0; k < n; ++k)
        image->rgb[k] = to_byte(image->rgb[k] + 10.0 * psfm_rng_normal(rng));
}

/* Ellipses with stripes of random colours, until 30 % is covered. */
static void cover(psfm_context *ctx, psfm_image *image, psfm_rng *rng) {
    size_t width = (size_t)image->width, height = (size_t)image->height, covered = 0;
    uint8_t *is_covered = NULL;
    check(ctx, PSFM_ALLOC(ctx, width * height, &is_covered));
    while ((double)covered < 0.3 * (double)(width * height)) {
        double x0 = psfm_rng_range(rng, 0.0, (double)width);
        double y0 = psfm_rng_range(rng, 0.0, (double)height);
        double a = (double)width * psfm_rng_range(rng, 0.02, 0.06);
        double b = a * psfm_rng_range(rng, 1.0, 2.5), colors[2][3];
        double kx = psfm_rng_range(rng, -0.7, 0.7), ky = psfm_rng_range(rng, -0.7, 0.7);
        for (int c = 0; c < 6; ++c)
            colors[c / 3][c % 3] = psfm_rng_range(rng, 0.0, 255.0);
        for (size_t y = 0; y < height; ++y) {
            for (size_t x = 0; x < width; ++x) {
                double dx = ((double)x - x0) / a, dy = ((double)y - y0) / b;
                if (dx * dx + dy * dy > 1.0)
                    continue;
                double w = 0.5 + 0.5 * sin(kx * (double)x + ky * (double)y);
                for (size_t c = 0; c < 3; ++c)
                    image->rgb[3 * (y * width + x) + c] =
                        to_byte(w * colors[0][c] + (1.0 - w) * colors[1][c]);
                covered += is_covered[y * width + x] == 0;
                is_covered[y * width + x] = 1;
            }
        }
    }
    free(is_covered);
}

/* The mean of seven values along 3 pixels, each linear between four pixels. */
static void blur(psfm_context *ctx, psfm_image *image, psfm_rng *rng) {
    int width = image->width, height = image->height;
    double angle = psfm_rng_range(rng, 0.0, 3.141592653589793), dx = cos(angle), dy = sin(angle);
    uint8_t *from = NULL;
    size_t bytes = 3 * (size_t)width * (size_t)height;
    check(ctx, PSFM_ALLOC(ctx, bytes, &from));
    memcpy(from, image->rgb, bytes);
    for (int y = 2; y < height - 3; ++y) {
        for (int x = 2; x < width - 3; ++x) {
            for (int c = 0; c < 3; ++c) {
                double sum = 0.0;
                for (int k = -3; k <= 3; ++k) {
                    double px = x + 0.5 * k * dx, py = y + 0.5 * k * dy;
                    int ix = (int)floor(px), iy = (int)floor(py);
                    double u = px - ix, v = py - iy;
                    const uint8_t *p = from + 3 * ((ptrdiff_t)iy * width + ix) + c;
                    sum += (1.0 - v) * ((1.0 - u) * p[0] + u * p[3]) +
                           v * ((1.0 - u) * p[3 * width] + u * p[3 * width + 3]);
                }
                image->rgb[3 * ((ptrdiff_t)y * width + x) + c] = to_byte(sum / 7.0);
            }
        }
    }
    free(from);
}

int main(int argc, char **argv) {
    int kind = 0;
    while (argc > 3 && kinds[kind] != NULL && strcmp(kinds[kind], argv[1]) != 0)
        ++kind;
    if (argc < 4 || kind == NUM_KINDS) {
        fprintf(stderr, "usage: %s exposure|jpeg|noise|covered|blur IN OUT [seed]\n", argv[0]);
        return 2;
    }
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list = {0};
    uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    check(ctx, psfm_image_list_folder(ctx, argv[2], &list));
    check(ctx, psfm_make_folders(ctx, argv[3]));
    for (size_t k = 0; k < list.num; ++k) {
        psfm_image image = {0};
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, (uint64_t)kind, k);
        char *from = NULL, *to = NULL;
        check(ctx, psfm_path_join(ctx, argv[2], list.names[k], &from));
        check(ctx, psfm_path_join(ctx, argv[3], list.names[k], &to));
        check(ctx, psfm_image_read(ctx, from, PSFM_IMAGE_GRAY_AND_RGB, &image));
        if (kind == EXPOSURE && k % 2 == 1)
            darken(&image);
        if (kind == NOISE)
            add_noise(&image, &rng);
        if (kind == COVERED)
            cover(ctx, &image, &rng);
        if (kind == BLUR && k % 3 == 1)
            blur(ctx, &image, &rng);
        check(ctx, psfm_image_write(ctx, &image, kind == JPEG ? 40 : 95, to));
        psfm_image_free(&image);
        free(from);
        free(to);
    }
    psfm_image_list_free(&list);
    psfm_context_destroy(&ctx);
    return 0;
}
