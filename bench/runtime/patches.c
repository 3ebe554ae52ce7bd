/* Time of aligning a patch there and back, on one core, with each level of instructions.
 *
 *   bench_patches PHOTO
 *
 * The photograph is aligned with itself, moved by a homography, from a start 0.3 px away. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/cpu.h"
#include "core/base/timer.h"
#include "core/linalg/mat3.h"
#include "images/photometric/patch.h"
#include "images/photometric/pyramid.h"

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

/* Best CPU microseconds a patch of five passes; *aligned is the share that was aligned. */
static double measure(psfm_context *ctx, const psfm_patch_view *view, const psfm_corner *corners,
                      size_t num, double *aligned) {
    const double f = view->camera->params[0];
    const double there[9] = {1, 0, 0.3 / f, 0, 1, -0.2 / f, 0, 0, 1};
    double back[9], best = INFINITY;
    psfm_patch_options options;
    psfm_patch_aligner *aligner;
    psfm_options_init(&psfm_patch_option_table, &options);
    check(ctx, psfm_patch_aligner_create(ctx, &options, &aligner));
    psfm_mat3_inverse(there, back);
    for (int pass = 0; pass < 5; ++pass) {
        size_t good = 0;
        psfm_moment start = psfm_moment_now();
        for (size_t k = 0; k < num; ++k) {
            const psfm_patch_query query = {.view1 = *view,
                                            .view2 = *view,
                                            .xy1 = {(double)corners[k].x, (double)corners[k].y},
                                            .H_21 = there,
                                            .H_12 = back,
                                            .max_shift = 3.0};
            psfm_patch_match match;
            psfm_patch_align(aligner, &query, &match);
            good += match.outcome == PSFM_PATCH_ALIGNED;
        }
        best = fmin(best, (psfm_moment_now().cpu_seconds - start.cpu_seconds) * 1e6 / (double)num);
        *aligned = (double)good / (double)num;
    }
    psfm_patch_aligner_destroy(&aligner);
    return best;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"plain", "AVX2", "AVX-512"};
    psfm_context *ctx = psfm_context_create();
    psfm_image image = {0};
    psfm_pyramid photo;
    psfm_corner *corners;
    size_t num;
    if (argc < 2 || ctx == NULL) {
        fprintf(stderr, "usage: %s PHOTO\n", argv[0]);
        return 2;
    }
    check(ctx, psfm_image_read(ctx, argv[1], PSFM_IMAGE_GRAY, &image));
    check(ctx, psfm_pyramid_init(ctx, &image, &photo));
    check(ctx, psfm_corners_find(ctx, &photo, &(psfm_corner_grid){16, 4, 12, 1.0}, &corners, &num));
    psfm_camera camera = {.model = PSFM_CAMERA_PINHOLE,
                          .width = (uint64_t)image.width,
                          .height = (uint64_t)image.height,
                          .params = {1000.0, 1000.0, 0.5 * image.width, 0.5 * image.height}};
    const psfm_patch_view view = {&camera, &photo};
    printf("%zu corners\n%-8s %14s %10s\n", num, "", "us a patch", "aligned");
    for (int level = PSFM_CPU_PLAIN; num > 0 && level <= PSFM_CPU_AVX512; ++level) {
        double aligned = 0.0;
        psfm_cpu_limit((psfm_cpu_level)level);
        double time = measure(ctx, &view, corners, num, &aligned);
        printf("%-8s %14.2f %9.0f%%\n", names[level], time, 100.0 * aligned);
    }
    free(corners);
    psfm_pyramid_free(&photo);
    psfm_image_free(&image);
    psfm_context_destroy(&ctx);
    return 0;
}
