/* Settings that the tests of the renderer share. */
#ifndef PSFM_TEST_RENDER_UTIL_H
#define PSFM_TEST_RENDER_UTIL_H

#include "test_util.h"

#include "images/image/image_io.h"
#include "synth/render.h"

#define NUM_RENDERED 4 /* kinds of scenes, the first ones */

typedef struct {
    psfm_scene_options scene;
    psfm_render_options render;
} settings;

/* Small images without what makes photographs imperfect. */
static inline settings plain_settings(int num_cameras, int width) {
    settings s;
    psfm_options_init(&psfm_scene_option_table, &s.scene);
    psfm_options_init(&psfm_render_option_table, &s.render);
    s.scene.num_cameras = num_cameras;
    s.render.width = width;
    s.render.noise = s.render.exposure = s.render.white_balance = s.render.vignetting = 0.0;
    s.render.gloss = 0.0;
    s.render.jpeg_quality = 100;
    return s;
}

static inline int setup(void **state) {
    *state = psfm_context_create();
    return *state == NULL;
}

static inline int teardown(void **state) {
    psfm_context *ctx = *state;
    psfm_context_destroy(&ctx);
    return 0;
}

/* Gray value at a place given in pixels (centres at 0.5), bilinear; false outside. */
static inline bool gray_at(const psfm_image *image, const double xy[2], double *value) {
    double x = xy[0] - 0.5, y = xy[1] - 0.5;
    if (!(x >= 0.0 && y >= 0.0 && x < image->width - 1 && y < image->height - 1))
        return false;
    size_t i = (size_t)x, j = (size_t)y, w = (size_t)image->width;
    double u = x - (double)i, v = y - (double)j;
    const uint8_t *p = image->gray + j * w + i;
    *value = (1 - v) * ((1 - u) * p[0] + u * p[1]) + v * ((1 - u) * p[w] + u * p[w + 1]);
    return true;
}

#endif
