/* A small scene with known truth, and an adjustment of it that must succeed. */
#ifndef PSFM_TESTS_BUNDLE_RUN_H
#define PSFM_TESTS_BUNDLE_RUN_H

#include "unit/core/bundle/bundle_scene.h"

static const scene_options small_scene = {.num_images = 8,
                                          .num_points = 80,
                                          .num_cameras = 2,
                                          .model = PSFM_CAMERA_PINHOLE,
                                          .visible = 0.7,
                                          .seed = 1};

/* Enough observations for the adjustment to start threads: below 4000 it works in the caller's. */
static const scene_options threaded_scene = {.num_images = SCENE_MAX_IMAGES,
                                             .num_points = SCENE_MAX_POINTS,
                                             .num_cameras = 2,
                                             .model = PSFM_CAMERA_PINHOLE,
                                             .noise_px = 0.5,
                                             .visible = 1.0,
                                             .num_planes = 2,
                                             .seed = 1};

static inline psfm_bundle_options default_options(void) {
    psfm_bundle_options options;
    psfm_options_init(&psfm_bundle_option_table, &options);
    return options;
}

static inline psfm_bundle_stats adjust(psfm_context *ctx, scene *s,
                                       const psfm_bundle_options *options) {
    psfm_bundle_stats stats;
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s->problem, options, &stats));
    return stats;
}

#endif
