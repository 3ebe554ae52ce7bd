/* A board of 1.6 x 1 m with the same motif in each of its 20 x 12 cells, on a floor of wood: near
 * the middle of the board nothing tells one cell from the next, at its border the floor does. */
#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define CELL 0.08
#define COLUMNS 20
#define ROWS 12
#define FAR 4.0 /* metres of floor to each side */

static const double paper[3] = {0.78, 0.77, 0.73}, ink[3] = {0.03, 0.03, 0.05};

static void paint_board(const psfm_surface *surface, double rgb[3]) {
    psfm_texel t = surface->texel;
    double red[3] = {0.6, 0.08, 0.06};
    t.u -= CELL * floor(t.u / CELL);
    t.v -= CELL * floor(t.v / CELL);
    for (int k = 0; k < 3; ++k)
        rgb[k] = paper[k];
    psfm_rgb_mix(rgb, ink, psfm_cover_disc(&t, 0.025, 0.05, 0.014));
    psfm_rgb_mix(rgb, paper, psfm_cover_disc(&t, 0.028, 0.053, 0.005));
    psfm_rgb_mix(rgb, red, psfm_cover_rect(&t, 0.046, 0.036, 0.07, 0.062));
    psfm_rgb_mix(rgb, ink, psfm_cover_text_in(&t, "SFM", 0.01, 0.008, 0.07, 0.028));
}

void psfm_stage_build_board(const psfm_take *take, psfm_stage *stage) {
    static const double wide = COLUMNS * CELL, high = ROWS * CELL;
    const double low[3] = {-FAR, -FAR, -0.01}, side[3] = {2.0 * FAR, 0, 0},
                 up[3] = {0, 2.0 * FAR, 0};
    const double corner[3] = {-0.5 * wide, -0.5 * high, 0.0};
    const double right[3] = {wide, 0, 0}, along[3] = {0, high, 0};
    psfm_coat wood = {.paint = psfm_paint_wood,
                      .tint = {0.34, 0.24, 0.16},
                      .seed = psfm_paint_seed(take->plan, 0)};
    psfm_coat print = {.paint = paint_board};
    stage->light = (psfm_light){.from_above = {0.8, 0.8, 0.8}, .from_below = {0.3, 0.3, 0.3}};
    stage->light.sun[2] = 1.0;
    psfm_stage_rect(stage, low, side, up, &wood);
    psfm_stage_rect(stage, corner, right, along, &print);
}
