/* A figure of ellipsoids grown together, painted all over, on a plain turntable before a plain
 * backdrop. Camera and lamps stand still and the object turns: seen from the object, the light goes
 * round with the camera. With duplicates the figure equals its half turn. */
#include "core/linalg/mat3.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define NUM_LUMPS 14

/* Patches of three colours, in the lump's own frame. */
static void paint_glaze(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    double other[3], third[3];
    double a = psfm_solid_noise(coat->seed, surface, 0.035, 0.75);
    double b = psfm_solid_noise(coat->seed + 50, surface, 0.02, 0.75);
    psfm_rgb_hue(psfm_hash_share(coat->seed, 0), 0.6, 0.35, rgb);
    psfm_rgb_hue(psfm_hash_share(coat->seed, 1), 0.5, 0.8, other);
    psfm_rgb_hue(psfm_hash_share(coat->seed >> 8, 0), 0.8, 0.15, third);
    psfm_rgb_mix(rgb, other, psfm_clamp(0.5 + 4.0 * a, 0.0, 1.0));
    psfm_rgb_mix(rgb, third, psfm_clamp(4.0 * b - 0.8, 0.0, 1.0));
}

static void paint_backdrop(const double dir[3], double rgb[3]) {
    (void)dir;
    rgb[0] = rgb[1] = rgb[2] = 0.18;
}

/* A lump that sits on the surface of the body. */
static void add_lump(psfm_stage *stage, const psfm_plan *plan, size_t lump, const double body[3],
                     const double radii[3]) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_OBJECT, lump);
    double out[3], center[3], size[3];
    psfm_rng_direction(&rng, out);
    for (int k = 0; k < 3; ++k) {
        center[k] = body[k] + 0.9 * radii[k] * out[k];
        size[k] = psfm_rng_range(&rng, 0.02, 0.05);
    }
    center[2] = psfm_max(center[2], size[2]);
    psfm_coat coat = {.paint = paint_glaze, .seed = psfm_paint_seed(plan, 10 + lump)};
    psfm_stage_ellipsoid(stage, center, size, &coat);
}

void psfm_stage_build_turntable(const psfm_take *take, psfm_stage *stage) {
    static const double lamp[3] = {-0.45, -0.6, -0.66}; /* in the camera's frame */
    static const double body[3] = {0.0, 0.0, 0.14}, radii[3] = {0.085, 0.07, 0.13};
    static const double middle[3] = {0.0, 0.0, -0.01}, disc[3] = {0.16, 0.16, 0.012};
    const psfm_plan *plan = take->plan;
    psfm_coat glaze = {.paint = paint_glaze, .seed = psfm_paint_seed(plan, 0)};
    psfm_coat plain = {.paint = psfm_paint_glow, .tint = {0.25, 0.25, 0.26}};
    stage->light = (psfm_light){.from_above = {0.55, 0.55, 0.55},
                                .from_below = {0.4, 0.4, 0.4},
                                .sun_rgb = {0.7, 0.68, 0.65}};
    psfm_mat3_tmul_vec(take->pose->R, lamp, stage->light.sun);
    psfm_normalize3(stage->light.sun);
    stage->sky = paint_backdrop;
    stage->is_turned = plan->options->duplicates > 0.0;
    psfm_stage_ellipsoid(stage, middle, disc, &plain);
    psfm_stage_ellipsoid(stage, body, radii, &glaze);
    for (size_t k = 0; k < NUM_LUMPS; ++k)
        add_lump(stage, plan, k, body, radii);
}
