/* A statue of stone on its pedestal in a square with houses on all sides, as visitors photograph
 * it: at different hours (the sun stands elsewhere in every image, or behind clouds). */
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define NUM_HOUSES 22
#define NUM_FOLDS 18
#define SQUARE 34.0 /* metres from the statue to the houses */
#define FAR 300.0

/* Weathered stone, in the solid's own frame. */
static void paint_stone(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    double grain = psfm_solid_noise(coat->seed, surface, 0.5, 0.8);
    double stains = psfm_solid_noise(coat->seed + 50, surface, 0.25, 0.7);
    double tone = psfm_clamp(1.0 + 0.45 * grain, 0.3, 1.6);
    tone *= 1.0 - 0.45 * psfm_clamp(4.0 * stains - 0.6, 0.0, 1.0);
    for (int k = 0; k < 3; ++k)
        rgb[k] = tone * coat->tint[k];
}

/* Plaster with rows of windows, each with a shade of its own. */
static void paint_house(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    double across = 2.2 + 1.2 * psfm_hash_share(coat->seed, 0), storey = 3.3, size[2];
    psfm_texel t = surface->texel;
    psfm_surface_extent(surface, size);
    double tone = 1.0 + 0.3 * psfm_noise_octaves(coat->seed, &t, 2.0, 0.8);
    for (int k = 0; k < 3; ++k)
        rgb[k] = tone * coat->tint[k];
    if (surface->face >= 4)
        return;
    int32_t column = psfm_floor(t.u / across), row = psfm_floor(t.v / storey);
    uint32_t hash = psfm_hash(coat->seed + (uint32_t)surface->face, column, row);
    t.u -= across * column;
    t.v -= storey * row;
    double half = 0.4 + 0.25 * psfm_hash_share(hash, 1),
           dark = 0.03 + 0.2 * psfm_hash_share(hash, 0);
    const double pane[3] = {dark, dark, 1.2 * dark};
    psfm_rgb_mix(rgb, pane,
                 psfm_cover_rect(&t, 0.5 * across - half, 0.8, 0.5 * across + half, 2.6));
}

static void paint_square(const psfm_surface *surface, double rgb[3]) {
    static const psfm_bond slabs = {0.9, 0.6, 0.02};
    uint32_t seed = surface->solid->coat.seed, hash;
    psfm_texel t = surface->texel;
    double shade, joints = psfm_cover_bond(seed, &t, &slabs, &shade, &hash);
    double tone = (0.34 + 0.08 * shade) * (1.0 - 0.5 * joints);
    tone *= 1.0 + 0.25 * psfm_noise_octaves(seed + 1, &t, 2.0, 0.85);
    for (int k = 0; k < 3; ++k)
        rgb[k] = tone * (1.0 - 0.04 * k) *
                 psfm_stage_foot_light(surface->stage, surface->xyz[0], surface->xyz[1]);
}

static void paint_sky(const double dir[3], double rgb[3]) {
    double up = psfm_clamp(dir[2], 0.0, 1.0);
    rgb[0] = 0.7 - 0.35 * up;
    rgb[1] = 0.75 - 0.25 * up;
    rgb[2] = 0.85;
}

/* The hour at which an image was taken. */
static psfm_light light_of(const psfm_take *take) {
    psfm_rng rng = psfm_synth_rng(take->plan, PSFM_STREAM_LIGHT, take->image);
    double azimuth = psfm_rng_range(&rng, -1.2, 1.2), height = psfm_rng_range(&rng, 0.5, 1.1);
    double clear = psfm_rng_uniform(&rng);
    psfm_light light = {
        .from_above = {0.55, 0.6, 0.68},
        .from_below = {0.3, 0.29, 0.27},
        .sun = {cos(height) * cos(azimuth), cos(height) * sin(azimuth), sin(height)},
        .has_shadows = true};
    const double full[3] = {0.9, 0.85, 0.75};
    for (int k = 0; k < 3; ++k)
        light.sun_rgb[k] = clear * full[k];
    return light;
}

static void add_figure(psfm_stage *stage, const psfm_plan *plan) {
    psfm_coat stone = {.paint = paint_stone, .tint = {0.5, 0.48, 0.42}};
    static const double torso[3] = {0, 0, 3.1}, torso_size[3] = {0.34, 0.48, 0.65};
    static const double head[3] = {0.05, 0, 4.05}, head_size[3] = {0.2, 0.18, 0.26};
    static const double limbs[4][2][3] = {{{0.0, 0.22, 2.7}, {0.1, 0.3, 1.75}},
                                          {{0.0, -0.22, 2.7}, {-0.15, -0.25, 1.75}},
                                          {{0.0, 0.48, 3.5}, {0.55, 0.62, 3.9}},
                                          {{0.0, -0.48, 3.5}, {0.3, -0.62, 2.75}}};
    stone.seed = psfm_paint_seed(plan, 1);
    psfm_stage_ellipsoid(stage, torso, torso_size, &stone);
    stone.seed = psfm_paint_seed(plan, 2);
    psfm_stage_ellipsoid(stage, head, head_size, &stone);
    for (size_t k = 0; k < 4; ++k) {
        stone.seed = psfm_paint_seed(plan, 3 + k);
        psfm_stage_capsule(stage, limbs[k][0], limbs[k][1], k < 2 ? 0.16 : 0.1, &stone);
    }
    for (size_t k = 0; k < NUM_FOLDS; ++k) { /* of its clothes */
        psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_OBJECT, k);
        double angle = psfm_rng_range(&rng, 0.0, 2.0 * M_PI), z = psfm_rng_range(&rng, 1.8, 3.5);
        const double center[3] = {0.32 * cos(angle), 0.42 * sin(angle), z};
        const double size[3] = {psfm_rng_range(&rng, 0.08, 0.16), psfm_rng_range(&rng, 0.08, 0.16),
                                psfm_rng_range(&rng, 0.15, 0.4)};
        stone.seed = psfm_paint_seed(plan, 10 + k);
        psfm_stage_ellipsoid(stage, center, size, &stone);
    }
}

static void add_pedestal(psfm_stage *stage, const psfm_plan *plan) {
    static const double feet[3][3] = {{0, 0, 0}, {0, 0, 0.3}, {0, 0, 1.5}};
    static const double sizes[3][3] = {{2.4, 2.4, 0.3}, {1.5, 1.5, 1.2}, {1.7, 1.7, 0.15}};
    psfm_coat stone = {.paint = paint_stone, .tint = {0.42, 0.4, 0.38}};
    for (size_t k = 0; k < 3; ++k) {
        stone.seed = psfm_paint_seed(plan, 60 + k);
        psfm_stage_box(stage, feet[k], sizes[k], 0.4, &stone);
    }
    psfm_stage_shadow(stage, &(psfm_foot_shadow){{0, 0}, {1.2, 1.2}, 0.6, 0.5});
}

static void add_houses(psfm_stage *stage, const psfm_plan *plan) {
    for (size_t k = 0; k < NUM_HOUSES; ++k) {
        psfm_coat coat = {.paint = paint_house, .seed = psfm_paint_seed(plan, 100 + k)};
        double angle = 2.0 * M_PI * (double)k / NUM_HOUSES;
        double away = SQUARE + 6.0 + 3.0 * psfm_hash_share(coat.seed, 1);
        const double foot[3] = {away * cos(angle), away * sin(angle), 0.0};
        const double size[3] = {10.0, 12.0, 10.0 + 6.0 * psfm_hash_share(coat.seed >> 4, 0)};
        psfm_rgb_hue(psfm_hash_share(coat.seed >> 8, 0), 0.35, 0.5, coat.tint);
        psfm_stage_box(stage, foot, size, angle, &coat);
    }
}

void psfm_stage_build_statue(const psfm_take *take, psfm_stage *stage) {
    static const double corner[3] = {-FAR, -FAR, 0.0}, right[3] = {2.0 * FAR, 0, 0},
                        up[3] = {0, 2.0 * FAR, 0};
    psfm_coat ground = {.paint = paint_square, .seed = psfm_paint_seed(take->plan, 0)};
    stage->light = light_of(take);
    stage->sky = paint_sky;
    psfm_stage_rect(stage, corner, right, up, &ground);
    add_pedestal(stage, take->plan);
    add_figure(stage, take->plan);
    add_houses(stage, take->plan);
}
