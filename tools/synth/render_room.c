/* The room: papered walls with posters, doors and windows painted on them (so everything on a wall
 * is exactly in its plane), a floor of tiles or parquet with a rug, a plastered ceiling, and boxes
 * as furniture. */
#include <string.h>

#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define SLOT 1.0 /* metres of wall for one poster, door or window */

static const double half_size[2] = {0.5 * PSFM_ROOM_LENGTH, 0.5 * PSFM_ROOM_WIDTH};
static const double white[3] = {0.75, 0.74, 0.7}, black[3] = {0.03, 0.03, 0.03};

static void poster_lines(uint32_t seed, const psfm_texel *t, const double size[2], double rgb[3]) {
    double ink[3];
    psfm_rgb_hue(psfm_hash_share(seed, 0), 0.8, 0.3, ink);
    for (int k = 0; k < 5; ++k) {
        double top = size[1] * (0.95 - 0.18 * k), bottom = top - size[1] * 0.13;
        const char *name = psfm_paint_name(psfm_hash(seed, k, 1));
        psfm_rgb_mix(rgb, k % 2 == 0 ? ink : black,
                     psfm_cover_text_in(t, name, 0.08 * size[0], bottom, 0.92 * size[0], top));
    }
}

/* Layers of hills under a sky, by levels of noise. */
static void poster_hills(uint32_t seed, const psfm_texel *t, const double size[2], double rgb[3]) {
    double color[3], w = psfm_texel_extent(t, 0.0, 1.0), hue = psfm_hash_share(seed, 0);
    psfm_rgb_hue(hue, 0.5, 0.8, rgb);
    psfm_rgb_mix(rgb, white, psfm_cover_disc(t, 0.7 * size[0], 0.78 * size[1], 0.1 * size[0]));
    for (uint32_t k = 0; k < 4; ++k) {
        psfm_texel line = {.u = t->u, .v = 0.5, .width = t->width};
        double crest = size[1] * (0.75 - 0.18 * k) +
                       0.25 * size[1] * psfm_noise_octaves(seed + 10 * k, &line, 0.4, 0.5);
        psfm_rgb_hue(hue + 0.13 * (k + 1.0), 0.7, 0.55 - 0.12 * k, color);
        psfm_rgb_mix(rgb, color, psfm_cover_step(crest - t->v, w));
    }
}

static void poster_discs(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    static const double pitch[3] = {0.27, 0.16, 0.07};
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t hash;
        double color[3], cover = psfm_cover_spots(seed + k, t, pitch[k], 0.8, &hash);
        psfm_rgb_hue(psfm_hash_share(hash * 31u, 1), 0.8, 0.6, color);
        psfm_rgb_mix(rgb, color, cover);
    }
}

static void poster_clouds(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    double color[3];
    double a = psfm_noise_octaves(seed, t, 0.35, 0.7);
    double b = psfm_noise_octaves(seed + 20, t, 0.35, 0.7);
    psfm_rgb_hue(psfm_hash_share(seed, 0) + 0.2 * a, 0.8, 0.5, rgb);
    psfm_rgb_hue(psfm_hash_share(seed, 1) + 0.3 * b, 0.6, 0.7, color);
    psfm_rgb_mix(rgb, color, psfm_clamp(0.5 + 3.0 * b, 0.0, 1.0));
}

/* A framed picture with its lower left corner at the origin of the texel. */
static void paint_poster(uint32_t seed, const psfm_texel *t, const double size[2], double rgb[3]) {
    double picture[3] = {0.7, 0.68, 0.6}, frame[3];
    double cover = psfm_cover_rect(t, 0.0, 0.0, size[0], size[1]);
    if (cover <= 0.0)
        return;
    switch (seed >> 4 & 3) {
    case 0:
        poster_lines(seed, t, size, picture);
        break;
    case 1:
        poster_hills(seed, t, size, picture);
        break;
    case 2:
        poster_discs(seed, t, picture);
        break;
    default:
        poster_clouds(seed, t, picture);
    }
    psfm_rgb_hue(psfm_hash_share(seed, 1), 0.4, 0.25, frame);
    psfm_rgb_mix(picture, frame,
                 1.0 - psfm_cover_rect(t, 0.03, 0.03, size[0] - 0.03, size[1] - 0.03));
    psfm_rgb_mix(rgb, picture, cover);
}

/* A door with two panels and a handle, 0.86 m wide, in the middle of its slot. */
static void paint_door(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    double wood[3] = {0.35, 0.22, 0.12};
    double cover = psfm_cover_rect(t, 0.07, 0.0, 0.93, 2.05);
    double panels =
        psfm_cover_rect(t, 0.2, 0.2, 0.8, 0.95) - psfm_cover_rect(t, 0.22, 0.22, 0.78, 0.93) +
        psfm_cover_rect(t, 0.2, 1.1, 0.8, 1.9) - psfm_cover_rect(t, 0.22, 1.12, 0.78, 1.88);
    double J[4] = {t->jac[2], t->jac[3], t->jac[0], t->jac[1]};
    psfm_texel upright = {.u = t->v, .v = t->u, .jac = {J[0], J[1], J[2], J[3]}, .width = t->width};
    psfm_rgb_scale(wood, psfm_wood_grain(seed, &upright) * (1.0 - 0.5 * panels));
    psfm_rgb_mix(wood, white, 1.0 - psfm_cover_rect(t, 0.12, -1.0, 0.88, 2.0));
    psfm_rgb_mix(wood, black, psfm_cover_rect(t, 0.78, 1.0, 0.86, 1.03));
    psfm_rgb_mix(rgb, wood, cover);
}

/* A window with a view of hills, four panes. */
static void paint_window(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    const double size[2] = {0.8, 1.2};
    psfm_texel in = *t;
    in.u -= 0.1;
    in.v -= 1.0;
    double view[3], cover = psfm_cover_rect(&in, 0.0, 0.0, size[0], size[1]);
    if (cover <= 0.0)
        return;
    poster_hills(seed, &in, size, view);
    psfm_rgb_scale(view, 1.3);
    double panes = 0.0;
    for (int k = 0; k < 4; ++k) {
        double u = 0.05 + 0.375 * (k % 2), v = 0.05 + (k < 2 ? 0.0 : 0.575);
        panes += psfm_cover_rect(&in, u, v, u + 0.325, v + 0.525);
    }
    psfm_rgb_mix(view, white, 1.0 - psfm_min(panes, 1.0));
    psfm_rgb_mix(rgb, view, cover);
}

/* Stripes and small flowers, faded and stained. */
static void paint_paper(const psfm_coat *coat, const psfm_texel *t, double rgb[3]) {
    double other[3] = {coat->tint[0], coat->tint[1], coat->tint[2]}, flower[3];
    uint32_t hash;
    memcpy(rgb, coat->tint, sizeof coat->tint);
    psfm_rgb_scale(other, 0.82);
    psfm_rgb_mix(rgb, other, psfm_cover_stripes(t->u, 0.24, 0.12, psfm_texel_extent(t, 1.0, 0.0)));
    double cover = psfm_cover_spots(coat->seed + 3, t, 0.12, 0.7, &hash);
    psfm_rgb_hue(psfm_hash_share(hash, 0), 0.5, 0.5, flower);
    psfm_rgb_mix(rgb, flower, 0.6 * cover);
    cover = psfm_cover_spots(coat->seed + 4, t, 0.041, 0.5, &hash);
    psfm_rgb_scale(rgb, 1.0 - 0.25 * cover);
    psfm_rgb_scale(rgb, 1.0 + 0.12 * psfm_noise_octaves(coat->seed, t, 0.9, 0.85));
}

static void paint_wall(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    psfm_texel t = surface->texel;
    paint_paper(coat, &t, rgb);
    int32_t slot = psfm_floor(t.u / SLOT);
    int32_t num_slots = (int32_t)(surface->solid->size[0] / SLOT + 0.5);
    uint32_t hash = psfm_hash(coat->seed, slot, 0);
    t.u -= SLOT * slot;
    if (slot == (int32_t)(coat->seed % (uint32_t)num_slots)) {
        paint_door(hash, &t, rgb);
    } else if (psfm_hash_share(hash, 0) < 0.2) {
        paint_window(hash, &t, rgb);
    } else {
        const double size[2] = {0.45 + 0.4 * psfm_hash_share(hash, 1),
                                0.5 + 0.6 * psfm_hash_share(hash >> 3, 0)};
        double high = 0.75 + 0.9 * psfm_hash_share(hash >> 5, 0);
        t.u -= 0.5 * (SLOT - size[0]);
        t.v -= high;
        paint_poster(hash, &t, size, rgb);
        t.v += high;
    }
    double w = psfm_texel_extent(&t, 0.0, 1.0);
    psfm_rgb_mix(rgb, white, psfm_cover_step(0.09 - t.v, w));
}

static void paint_tiles(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    static const double dark[3] = {0.2, 0.18, 0.17}, light[3] = {0.55, 0.5, 0.45};
    int32_t i = psfm_floor(t->u / 0.4), j = psfm_floor(t->v / 0.4);
    uint32_t hash = psfm_hash(seed, i, j);
    double wu = psfm_texel_extent(t, 1.0, 0.0), wv = psfm_texel_extent(t, 0.0, 1.0);
    double joints = 1.0 - (1.0 - psfm_cover_stripes(t->u + 0.004, 0.4, 0.008, wu)) *
                              (1.0 - psfm_cover_stripes(t->v + 0.004, 0.4, 0.008, wv));
    memcpy(rgb, ((i ^ j) & 1) != 0 ? dark : light, sizeof dark);
    double veins = psfm_noise_octaves(hash, t, 0.3, 0.8);
    psfm_rgb_scale(rgb, (0.85 + 0.3 * psfm_hash_share(hash, 0)) * (1.0 + 0.3 * veins));
    psfm_rgb_mix(rgb, black, 0.6 * joints);
}

static void paint_parquet(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    static const psfm_bond boards = {0.9, 0.11, 0.004};
    uint32_t hash;
    double shade, joints = psfm_cover_bond(seed, t, &boards, &shade, &hash);
    rgb[0] = 0.42;
    rgb[1] = 0.27;
    rgb[2] = 0.15;
    psfm_rgb_scale(rgb, (1.0 + 0.3 * shade) * psfm_wood_grain(hash, t) * (1.0 - 0.6 * joints));
}

/* A woven rug around the origin: borders and a field of figures. */
static void paint_rug(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    double cloth[3], figure[3], cover = psfm_cover_rect(t, -1.5, -1.0, 1.5, 1.0);
    if (cover <= 0.0)
        return;
    uint32_t hash;
    psfm_rgb_hue(psfm_hash_share(seed, 0), 0.7, 0.35, cloth);
    psfm_rgb_hue(psfm_hash_share(seed, 1), 0.6, 0.5, figure);
    double inner = psfm_cover_rect(t, -1.3, -0.8, 1.3, 0.8);
    double band = psfm_cover_rect(t, -1.42, -0.92, 1.42, 0.92) - inner;
    double spots = psfm_cover_spots(seed + 7, t, 0.22, 0.8, &hash);
    psfm_rgb_mix(cloth, figure, band);
    psfm_rgb_mix(cloth, figure, inner * spots * psfm_hash_share(hash, 1));
    psfm_rgb_mix(cloth, white, 0.7 * psfm_cover_spots(seed + 8, t, 0.09, 0.4, &hash));
    psfm_rgb_scale(cloth, 1.0 + 0.25 * psfm_noise_octaves(seed, t, 0.2, 0.9));
    psfm_rgb_mix(rgb, cloth, cover);
}

/* World coordinates, folded to one half if the room equals its half turn. */
static psfm_texel floor_texel(const psfm_surface *surface) {
    psfm_texel t = surface->texel;
    double turn = surface->stage->is_turned && surface->xyz[0] < 0.0 ? -1.0 : 1.0;
    t.u = turn * surface->xyz[0];
    t.v = turn * surface->xyz[1];
    return t;
}

static void paint_floor(const psfm_surface *surface, double rgb[3]) {
    uint32_t seed = surface->solid->coat.seed, hash;
    psfm_texel t = floor_texel(surface);
    if (seed % 2 == 0)
        paint_tiles(seed, &t, rgb);
    else
        paint_parquet(seed, &t, rgb);
    psfm_rgb_scale(rgb, 1.0 - 0.2 * psfm_cover_spots(seed + 9, &t, 0.17, 0.3, &hash));
    paint_rug(seed, &t, rgb);
    psfm_rgb_scale(rgb, psfm_stage_foot_light(surface->stage, surface->xyz[0], surface->xyz[1]));
}

static void paint_plaster(const psfm_surface *surface, double rgb[3]) {
    uint32_t seed = surface->solid->coat.seed, hash;
    psfm_texel t = floor_texel(surface);
    memcpy(rgb, white, sizeof white);
    double stains = psfm_cover_spots(seed + 1, &t, 0.7, 0.35, &hash);
    psfm_rgb_scale(rgb, 1.0 + 0.12 * psfm_noise_octaves(seed, &t, 1.1, 0.85) - 0.12 * stains);
    double lamps =
        psfm_cover_rect(&t, -2.3, -0.3, -1.1, 0.3) + psfm_cover_rect(&t, 1.1, -0.3, 2.3, 0.3);
    for (int k = 0; k < 3; ++k)
        rgb[k] += 1.2 * lamps;
}

/* Three shelves of books of all widths and colours. */
static void paint_books(uint32_t seed, const psfm_texel *t, const double size[2], double rgb[3]) {
    static const double board[3] = {0.3, 0.2, 0.12};
    double high = size[1] / 3.0;
    int32_t shelf = psfm_floor(t->v / high);
    static const psfm_bond spines = {0.045, 10.0, 0.006};
    psfm_texel row = *t;
    row.v = 10.0 * (shelf + 0.5);
    uint32_t hash;
    double shade, joints = psfm_cover_bond(seed, &row, &spines, &shade, &hash);
    double top = high * (0.7 + 0.2 * psfm_hash_share(hash, 1)), v = t->v - high * shelf;
    double w = psfm_texel_extent(t, 0.0, 1.0);
    psfm_rgb_hue(psfm_hash_share(hash * 7u, 1), 0.7, 0.3 + 0.25 * shade, rgb);
    psfm_rgb_mix(rgb, white, 0.8 * psfm_cover_band(v, 0.55 * top, 0.65 * top, w));
    psfm_rgb_mix(rgb, black, joints);
    psfm_rgb_mix(rgb, black, 0.8 * psfm_cover_step(v - top, w));
    psfm_rgb_mix(rgb, board, psfm_cover_step(0.025 - v, w));
}

static void paint_drawers(uint32_t seed, const psfm_texel *t, const double size[2], double rgb[3]) {
    double high = size[1] / 3.0, v = t->v - high * floor(t->v / high), middle = 0.5 * size[0];
    psfm_texel in = *t;
    in.v = v;
    double front = psfm_cover_rect(&in, 0.02, 0.02, size[0] - 0.02, high - 0.02);
    psfm_rgb_scale(rgb, psfm_wood_grain(seed, t) * (0.35 + 0.65 * front));
    psfm_rgb_mix(rgb, black, psfm_cover_disc(&in, middle, 0.5 * high, 0.025));
}

static void paint_furniture(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    const psfm_texel *t = &surface->texel;
    double size[2];
    uint32_t hash;
    psfm_surface_extent(surface, size);
    memcpy(rgb, coat->tint, sizeof coat->tint);
    if (surface->face >= 4) { /* things lie about on top */
        psfm_rgb_scale(rgb, psfm_wood_grain(coat->seed, t));
        double cover = psfm_cover_spots(coat->seed + 1, t, 0.13, 0.35, &hash), color[3];
        psfm_rgb_hue(psfm_hash_share(hash * 5u, 0), 0.7, 0.5, color);
        psfm_rgb_mix(rgb, color, cover);
        return;
    }
    switch (coat->seed >> 3 & 3) {
    case 0:
        paint_books(coat->seed + (uint32_t)surface->face, t, size, rgb);
        break;
    case 1:
        paint_drawers(coat->seed, t, size, rgb);
        break;
    case 2:
        psfm_paint_sign(surface, rgb);
        break;
    default:
        psfm_paint_cloth(surface, rgb);
        psfm_rgb_mix(rgb, black, 0.7 * psfm_cover_spots(coat->seed + 2, t, 0.08, 0.5, &hash));
    }
}

static void add_furniture(psfm_stage *stage, const psfm_plan *plan) {
    for (size_t k = 0; k < PSFM_ROOM_NUM_PIECES; ++k) {
        double foot[3], size[3];
        psfm_coat coat = {.paint = paint_furniture, .seed = psfm_paint_seed(plan, 100 + k)};
        coat.seed = (coat.seed & ~0x18u) | (uint32_t)(k % 4) << 3; /* some of every kind */
        psfm_room_piece(plan, k, foot, size);
        psfm_rgb_hue(psfm_hash_share(coat.seed, 0), 0.4, 0.45, coat.tint);
        psfm_stage_box(stage, foot, size, 0.0, &coat);
        psfm_stage_shadow(
            stage,
            &(psfm_foot_shadow){{foot[0], foot[1]}, {0.5 * size[0], 0.5 * size[1]}, 0.35, 0.6});
    }
}

static void add_walls(psfm_stage *stage, const psfm_plan *plan) {
    static const double out[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int s = 0; s < 4; ++s) {
        double away = half_size[s / 2], length = 2.0 * half_size[1 - s / 2];
        const double right[3] = {length * out[s][1], -length * out[s][0], 0.0};
        const double up[3] = {0.0, 0.0, PSFM_ROOM_HEIGHT};
        const double corner[3] = {away * out[s][0] - 0.5 * right[0],
                                  away * out[s][1] - 0.5 * right[1], 0.0};
        psfm_coat paper = {.paint = paint_wall, .seed = psfm_paint_seed(plan, 10 + (uint64_t)s)};
        psfm_rgb_hue(psfm_hash_share(paper.seed, 1), 0.25, 0.6, paper.tint);
        if (psfm_stage_keeps(stage, out[s][0], out[s][1]))
            psfm_stage_rect(stage, corner, right, up, &paper);
    }
}

void psfm_stage_room_shell(const psfm_plan *plan, psfm_stage *stage) {
    static const psfm_light lamps = {.from_above = {0.9, 0.87, 0.8},
                                     .from_below = {0.55, 0.52, 0.46},
                                     .sun = {0.36, 0.48, 0.8},
                                     .sun_rgb = {0.3, 0.29, 0.27}};
    const double right[3] = {PSFM_ROOM_LENGTH, 0, 0}, up[3] = {0, PSFM_ROOM_WIDTH, 0};
    const double low[3] = {-half_size[0], -half_size[1], 0.0};
    const double high[3] = {-half_size[0], -half_size[1], PSFM_ROOM_HEIGHT};
    psfm_coat floor_coat = {.paint = paint_floor, .seed = psfm_paint_seed(plan, 0)};
    psfm_coat ceiling = {.paint = paint_plaster, .seed = psfm_paint_seed(plan, 1)};
    stage->light = lamps;
    psfm_stage_rect(stage, low, right, up, &floor_coat);
    psfm_stage_rect(stage, high, right, up, &ceiling);
    stage->is_turned = plan->options->duplicates > 0.0;
    if (stage->is_turned)
        psfm_stage_raise_sun(stage);
    add_walls(stage, plan);
}

void psfm_stage_build_room(const psfm_take *take, psfm_stage *stage) {
    psfm_stage_room_shell(take->plan, stage);
    add_furniture(stage, take->plan);
}
