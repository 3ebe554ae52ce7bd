/* A mug on a small table in the middle of the room. Its print comes twice, on opposite sides:
 * turned by 180 degrees the mug is the same, but for its handle. The room behind it is not. */
#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define RADIUS 0.05
#define HEIGHT PSFM_MUG_HEIGHT
#define TOP PSFM_TABLE_HEIGHT

static const double china[3] = {0.74, 0.73, 0.7}, coffee[3] = {0.05, 0.025, 0.015};

static void paint_print(const psfm_surface *surface, double rgb[3]) {
    static const double pitch[3] = {0.031, 0.017, 0.008};
    const psfm_coat *coat = &surface->solid->coat;
    double half = M_PI * RADIUS, color[3];
    psfm_texel t = surface->texel;
    for (int k = 0; k < 3; ++k)
        rgb[k] = china[k];
    if (surface->face == 5) {
        psfm_rgb_mix(rgb, coffee, psfm_cover_disc(&t, 0.0, 0.0, 0.92 * RADIUS));
        return;
    }
    t.u -= half * floor(t.u / half);
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t hash;
        double cover = psfm_cover_spots(coat->seed + k, &t, pitch[k], 0.8, &hash);
        psfm_rgb_hue(psfm_hash_share(hash * 31u, 1), 0.8, 0.6, color);
        psfm_rgb_mix(rgb, color, cover);
    }
    psfm_rgb_mix(
        rgb, coffee,
        psfm_cover_text_in(&t, psfm_paint_name(coat->seed), 0.01, 0.05, half - 0.01, 0.08));
}

static void add_handle(psfm_stage *stage) {
    psfm_coat plain = {.paint = psfm_paint_glow, .tint = {china[0], china[1], china[2]}};
    double x = -0.9 * RADIUS, out = -RADIUS - 0.03, low = TOP + 0.03, high = TOP + 0.09;
    const double a[3] = {0.0, x, low}, b[3] = {0.0, out, low + 0.01},
                 c[3] = {0.0, out, high - 0.01}, d[3] = {0.0, x, high};
    psfm_stage_capsule(stage, a, b, 0.006, &plain);
    psfm_stage_capsule(stage, b, c, 0.006, &plain);
    psfm_stage_capsule(stage, c, d, 0.006, &plain);
}

void psfm_stage_build_mug(const psfm_take *take, psfm_stage *stage) {
    static const double foot[3] = {0.0, 0.0, TOP}, leg[3] = {0.0, 0.0, 0.0};
    psfm_coat print = {.paint = paint_print, .seed = psfm_paint_seed(take->plan, 200)};
    psfm_coat plate = {.paint = psfm_paint_glow, .tint = {0.3, 0.3, 0.32}};
    psfm_stage_room_shell(take->plan, stage);
    psfm_stage_raise_sun(stage);
    psfm_stage_cylinder(stage, leg, 0.03, TOP - 0.02, &plate);
    psfm_stage_cylinder(stage, (const double[3]){0.0, 0.0, TOP - 0.02}, 0.14, 0.02, &plate);
    psfm_stage_cylinder(stage, foot, RADIUS, HEIGHT, &print);
    add_handle(stage);
}
