/* Settings that the tests of the renderer share. */
#ifndef PSFM_TEST_RENDER_UTIL_H
#define PSFM_TEST_RENDER_UTIL_H

#include "test_util.h"

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

#endif
