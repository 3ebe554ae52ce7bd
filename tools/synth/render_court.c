/* The floor of the arena: a basketball court by the rules of FIBA. The playing field is 28 x 15 m
 * within its boundary lines; all lines are 5 cm wide, and distances from the baseline (here `deep`)
 * are to outer edges as the rules give them. Around it a painted apron with lettering, then the
 * grey floor of the hall. The floor is laid in planks along x; scuffs and blotches at all scales
 * lie over everything. Another game's lines, or none, lie on bare wood. */
#include <string.h>

#include "synth/render_floor.h"
#include "synth/render_font.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define HALF_LENGTH 14.0
#define HALF_WIDTH 7.5
#define LINE 0.05
#define BASKET 1.575       /* from the baseline to the middle of the ring */
#define KEY_DEPTH 5.8      /* to the far edge of the free-throw line */
#define KEY_HALF 2.45      /* half the width of the restricted area */
#define ARC 6.75           /* three points from beyond it */
#define ARC_HALF 6.6       /* half the distance between the arc's straight ends */
#define ARC_START 2.990565 /* BASKET + sqrt(ARC^2 - ARC_HALF^2): where they meet the arc */
#define CIRCLE 1.8
#define NO_CHARGE 1.25
#define APRON 2.3 /* metres beyond the boundary */

static const double white[3] = {0.8, 0.8, 0.78};

/* Share of a sample on a circle line with the given outer radius. */
static double cover_ring(const psfm_texel *t, double x, double y, double outer) {
    double du = t->u - x, dv = t->v - y, r = sqrt(du * du + dv * dv) + 1e-9;
    if (fabs(r - outer) > 1.0)
        return 0.0;
    return psfm_cover_band(r, outer - LINE, outer, psfm_texel_extent(t, du / r, dv / r));
}

/* Share on the outline of a rectangle, the line being inside. */
static double cover_frame(const psfm_texel *t, double u0, double v0, double u1, double v1) {
    return psfm_cover_rect(t, u0, v0, u1, v1) -
           psfm_cover_rect(t, u0 + LINE, v0 + LINE, u1 - LINE, v1 - LINE);
}

/* Small marks beside the restricted area; `side` is the distance from the long axis. */
static double rebound_marks(const psfm_texel *t, double side) {
    static const double from[4] = {1.75, 2.6, 3.85, 4.7}, to[4] = {1.8, 3.0, 3.9, 4.75};
    psfm_texel mirrored = *t;
    mirrored.v = side;
    double sum = 0.0;
    for (int k = 0; k < 4; ++k)
        sum += psfm_cover_rect(&mirrored, from[k], KEY_HALF, to[k], KEY_HALF + 0.1);
    return sum;
}

/* The lines of one end, in coordinates (distance from the baseline, place along it). */
static double end_lines(const psfm_texel *t) {
    double deep = t->u, side = fabs(t->v);
    double wu = psfm_texel_extent(t, 1.0, 0.0), wv = psfm_texel_extent(t, 0.0, 1.0);
    double sum = 0.0;
    if (deep < KEY_DEPTH + 0.5 && side < KEY_HALF + 0.5) {
        sum += cover_frame(t, -LINE, -KEY_HALF, KEY_DEPTH, KEY_HALF);
        sum += rebound_marks(t, side);
        sum += psfm_cover_step(deep - BASKET, wu) * cover_ring(t, BASKET, 0.0, NO_CHARGE + LINE);
        sum += psfm_cover_band(deep, 1.2, BASKET, wu) *
               psfm_cover_band(side, NO_CHARGE, NO_CHARGE + LINE, wv);
    }
    if (deep > 5.0 && deep < 8.2)
        sum += psfm_cover_step(deep - KEY_DEPTH, wu) *
               cover_ring(t, KEY_DEPTH - 0.5 * LINE, 0.0, CIRCLE);
    if (deep < 9.0) {
        sum += psfm_cover_band(deep, 0.0, ARC_START, wu) *
               psfm_cover_band(side, ARC_HALF - LINE, ARC_HALF, wv);
        sum += psfm_cover_step(deep - ARC_START, wu) * cover_ring(t, BASKET, 0.0, ARC);
        sum += psfm_cover_band(deep, 8.325 - LINE, 8.325, wu) *
               psfm_cover_band(side, HALF_WIDTH + LINE, HALF_WIDTH + LINE + 0.15, wv);
    }
    return sum;
}

/* Coordinates of the nearer end: turned so that both ends look the same. */
static psfm_texel end_texel(const psfm_texel *t) {
    psfm_texel out = *t;
    double side = t->u < 0.0 ? -1.0 : 1.0;
    out.u = HALF_LENGTH - side * t->u;
    out.v = side * t->v;
    return out;
}

double psfm_cover_court_lines(const psfm_texel *t) {
    psfm_texel end = end_texel(t);
    double sum = cover_frame(t, -HALF_LENGTH - LINE, -HALF_WIDTH - LINE, HALF_LENGTH + LINE,
                             HALF_WIDTH + LINE);
    sum += end_lines(&end);
    if (fabs(t->u) < 3.0) {
        sum += cover_ring(t, 0.0, 0.0, CIRCLE);
        sum += psfm_cover_rect(t, -0.5 * LINE, -HALF_WIDTH - 0.15, 0.5 * LINE, HALF_WIDTH + 0.15);
    }
    return psfm_min(sum, 1.0);
}

/* Lettering that runs along the baseline or sideline, read from inside the court. */
static double apron_text(const psfm_texel *t, const psfm_texel *end, uint32_t seed) {
    double out = HALF_WIDTH + 0.5, top = HALF_WIDTH + APRON - 0.5, ink = 0.0;
    if (fabs(t->v) > HALF_WIDTH) {
        psfm_texel along = *t; /* v outward from the side line, u to the right */
        double side = t->v < 0.0 ? -1.0 : 1.0;
        along.u = side * t->u;
        along.v = side * t->v;
        int part = along.u < 0.0 ? 0 : 1;
        double from = part == 0 ? -13.0 : 1.5;
        const char *name = psfm_paint_name(psfm_hash(seed, t->v < 0.0, part));
        ink += psfm_cover_text_in(&along, name, from, out, from + 11.5, top);
    } else if (end->u < 0.0) {
        double J[4] = {end->jac[2], end->jac[3], end->jac[0], end->jac[1]};
        psfm_texel across = {.u = -end->v, .v = -end->u, .jac = {J[0], J[1], J[2], J[3]}};
        const char *name = psfm_paint_name(psfm_hash(seed, t->u < 0.0, 7));
        ink += psfm_cover_text_in(&across, name, -6.0, 0.5, 6.0, APRON - 0.5);
    }
    return ink;
}

/* Names painted on the wood of the court. */
static void court_names(const psfm_texel *t, uint32_t seed, double rgb[3]) {
    for (int k = 0; k < 4; ++k) {
        double u = k < 2 ? -10.2 : 4.2, v = k % 2 == 0 ? -5.9 : 4.3, color[3];
        uint32_t hash = psfm_hash(seed, k, 99);
        if (t->u < u - 0.5 || t->u > u + 6.5 || t->v < v - 0.5 || t->v > v + 2.1)
            continue;
        psfm_rgb_hue(psfm_hash_share(hash, 0), 0.7, 0.35, color);
        psfm_rgb_mix(rgb, color,
                     0.85 * psfm_cover_text_in(t, psfm_paint_name(hash), u, v, u + 6.0, v + 1.6));
    }
}

static double inside_court(const psfm_texel *t, double beyond) {
    return psfm_cover_rect(t, -HALF_LENGTH - beyond, -HALF_WIDTH - beyond, HALF_LENGTH + beyond,
                           HALF_WIDTH + beyond);
}

/* Colours of the painted parts over the bare wood. */
static void paint_areas(const psfm_texel *t, const psfm_texel *end, const double team[3],
                        double rgb[3]) {
    static const double other[3] = {0.1, 0.35, 0.42};
    psfm_rgb_mix(rgb, team, 0.85 * psfm_cover_rect(end, 0.0, -KEY_HALF, KEY_DEPTH, KEY_HALF));
    if (fabs(t->u) < 3.0) {
        psfm_rgb_mix(rgb, team, 0.85 * psfm_cover_disc(t, 0.0, 0.0, CIRCLE));
        psfm_rgb_mix(rgb, other, psfm_cover_disc(t, 0.0, 0.0, 1.25));
        psfm_rgb_mix(rgb, white, psfm_cover_text_in(t, "PSM", -1.0, -0.6, 1.0, 0.6));
    }
    psfm_rgb_mix(rgb, team, 0.9 * (1.0 - inside_court(t, 0.0)));
}

/* Wear: blotches at all scales, scuff marks, drops. A factor around 1. */
static double wear_factor(const psfm_texel *t, uint32_t seed) {
    static const double pitch[3] = {0.23, 0.61, 1.7};
    uint32_t hash;
    double value = 1.0 + 0.14 * psfm_noise_octaves(seed, t, 1.6, 0.85);
    for (int k = 0; k < 3; ++k) {
        uint32_t own = seed + 50 + (uint32_t)k;
        double spot = psfm_cover_spots(own, t, pitch[k], 0.3, &hash);
        value *= 1.0 + spot * 0.35 * (psfm_hash_share(hash, 1) - 0.65);
        value *= 1.0 - 0.3 * psfm_cover_scratches(own, t, 1.3 * pitch[k], 0.03, 0.35);
    }
    return value;
}

/* What is painted on the wood; `lines` is the share of the sample on lines. */
static void paint_game(const psfm_texel *t, const psfm_coat *coat, double lines, double rgb[3]) {
    const psfm_render_options *options = coat->data;
    if (options->game == PSFM_GAME_BASKETBALL) {
        psfm_texel end = end_texel(t);
        paint_areas(t, &end, coat->tint, rgb);
        court_names(t, coat->seed, rgb);
        psfm_rgb_mix(rgb, white, 0.9 * apron_text(t, &end, coat->seed));
    }
    psfm_paint_advertisements(t, options->num_advertisements, coat->seed, rgb);
    psfm_rgb_mix(rgb, white, 0.95 * lines);
}

/* A factor around 1. */
static double wood_factor(const psfm_texel *t, uint32_t seed) {
    static const psfm_bond planks = {1.6, 0.09, 0.004}, panels = {2.4, 1.2, 0.0};
    uint32_t hash;
    double shade, panel, joints = psfm_cover_bond(seed, t, &planks, &shade, &hash);
    double grain = psfm_wood_grain(hash, t);
    psfm_cover_bond(seed + 1, t, &panels, &panel, &hash);
    return (1.0 + 0.3 * shade + 0.1 * panel) * grain * (1.0 - 0.4 * joints);
}

void psfm_paint_court(const psfm_surface *surface, double rgb[3]) {
    static const double bare[3] = {0.52, 0.34, 0.17}, grey[3] = {0.13, 0.13, 0.15};
    const psfm_solid *solid = surface->solid;
    const psfm_render_options *options = solid->coat.data;
    uint32_t seed = solid->coat.seed;
    psfm_texel t = surface->texel;
    const double half[2] = {0.5 * solid->size[0], 0.5 * solid->size[1]};
    t.u -= half[0];
    t.v -= half[1];
    double foot = psfm_stage_foot_light(surface->stage, t.u, t.v);
    if (surface->stage->is_turned && t.u < 0.0) {
        t.u = -t.u;
        t.v = -t.v;
    }
    bool has_apron = options->game == PSFM_GAME_BASKETBALL;
    double left = psfm_wear_left(&t, seed, options->wear);
    double lines = left * (has_apron ? psfm_cover_court_lines(&t)
                                     : psfm_cover_game(&t, (psfm_game)options->game));
    memcpy(rgb, bare, sizeof bare);
    if (!has_apron || inside_court(&t, APRON + 0.2) > 0.0) {
        paint_game(&t, &solid->coat, lines, rgb);
        psfm_rgb_scale(rgb, 0.3 + 0.7 * wood_factor(&t, seed));
    }
    if (has_apron)
        psfm_rgb_mix(rgb, grey, 1.0 - inside_court(&t, APRON));
    psfm_paint_other_games(&t, options->num_other_games, left * (1.0 - lines), rgb);
    psfm_rgb_scale(rgb, foot * psfm_max(wear_factor(&t, seed), 0.2));
    if (options->glare > 0.0)
        psfm_add_glare(surface, half, 2.0 * options->glare, rgb);
}
