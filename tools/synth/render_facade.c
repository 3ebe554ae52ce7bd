/* A row of houses, their front wall in the plane y = 0, cut into bays and storeys of 4 x 4 m. Each
 * has a window set into the wall (or, on the ground, sometimes a door) and a balcony (or, on the
 * ground, a stall) in front of it, at the places where the scene has its points off the plane;
 * cornices, pilasters, signs and downpipes stand out by a few centimetres. In front of it all lies
 * a pavement in the plane z = 0. With duplicates all bays are equal. */
#include <string.h>

#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define BAY PSFM_FACADE_BAY
#define STOREY 4.0
#define HOUSE 3     /* bays of one house */
#define FAR 600.0   /* metres of wall and pavement beyond the bays that are built */
#define KERB (-5.5) /* y of the edge between pavement and road */
#define DOOR_SHARE 0.3

static const double white[3] = {0.72, 0.7, 0.65}, black[3] = {0.02, 0.02, 0.02};

/* One bay of one storey: its lower left corner, and what decides about it. */
typedef struct {
    double x, z;
    int storey;
    uint32_t hash;
    bool has_door;
} cell;

/* Wall coordinates: along the front, and up. With duplicates, along the bay. */
static psfm_texel wall_texel(const psfm_surface *surface, int32_t *house) {
    const psfm_plan *plan = surface->solid->coat.data;
    psfm_texel t = surface->texel;
    double left = plan->origin[0] - 0.5 * plan->cell_size[0]; /* a border of bays */
    double along = surface->xyz[0] - left;
    bool repeats = plan->options->duplicates > 0.0;
    *house = repeats ? 0 : psfm_floor(along / (HOUSE * BAY));
    t.u = repeats ? along - BAY * floor(along / BAY) : along;
    t.v = surface->xyz[2];
    return t;
}

static void paint_brick(const psfm_surface *surface, double rgb[3]) {
    static const psfm_bond bricks = {0.25, 0.083, 0.012};
    static const double mortar[3] = {0.42, 0.4, 0.36};
    uint32_t seed = surface->solid->coat.seed, hash;
    int32_t house;
    psfm_texel t = wall_texel(surface, &house);
    uint32_t own = psfm_hash(seed, house, 4);
    double shade, joints = psfm_cover_bond(seed, &t, &bricks, &shade, &hash);
    psfm_rgb_hue(0.02 + 0.07 * psfm_hash_share(own, 0), 0.62, 0.28 + 0.2 * psfm_hash_share(own, 1),
                 rgb);
    double rough = psfm_noise_octaves(seed + 1, &t, 0.06, 0.8);
    psfm_rgb_scale(rgb, (1.0 + 0.35 * shade) * (1.0 + 0.25 * rough));
    psfm_rgb_mix(rgb, mortar, joints);
    double stains = psfm_noise_octaves(seed + 2, &t, 1.6, 0.7);
    double streaks = psfm_noise(seed + 3, 3.0 * t.u, 0.4 * t.v);
    psfm_rgb_scale(rgb, psfm_clamp(1.0 + 0.25 * stains + 0.15 * streaks, 0.3, 1.6));
}

/* Window frame and panes; behind them curtains, or a dark room. */
static void paint_window(const psfm_surface *surface, double rgb[3]) {
    const psfm_coat *coat = &surface->solid->coat;
    const psfm_texel *t = &surface->texel;
    double size[2], curtain[3], panes = 0.0;
    psfm_surface_extent(surface, size);
    psfm_rgb_hue(psfm_hash_share(coat->seed, 0), 0.4, 0.45, curtain);
    double room = psfm_noise_octaves(coat->seed, t, 0.6, 0.7);
    for (int k = 0; k < 3; ++k)
        rgb[k] = 0.06 + 0.05 * room;
    psfm_texel folds = psfm_texel_scaled(t, 0.0, 0.0, 1.0, 0.1);
    psfm_rgb_scale(curtain, 1.0 + 0.5 * psfm_noise_octaves(coat->seed + 9, &folds, 0.15, 0.7));
    double drawn = size[0] * (0.15 + 0.25 * psfm_hash_share(coat->seed, 1));
    double open = psfm_cover_rect(t, drawn, 0.0, size[0] - drawn, size[1]);
    psfm_rgb_mix(rgb, curtain, 1.0 - open);
    for (int k = 0; k < 4; ++k) {
        double w = 0.5 * size[0], h = k < 2 ? 0.65 * size[1] : 0.35 * size[1];
        double u = w * (k % 2), v = k < 2 ? 0.0 : 0.65 * size[1];
        panes += psfm_cover_rect(t, u + 0.05, v + 0.05, u + w - 0.05, v + h - 0.05);
    }
    psfm_rgb_mix(rgb, white, 1.0 - psfm_min(panes, 1.0));
}

static void paint_door(const psfm_surface *surface, double rgb[3]) {
    const psfm_texel *t = &surface->texel;
    double size[2], groove = 0.0;
    psfm_surface_extent(surface, size);
    psfm_paint_plain(surface, rgb);
    for (int k = 0; k < 3; ++k) {
        double v = 0.15 + 0.7 * k;
        groove += psfm_cover_rect(t, 0.15, v, size[0] - 0.15, v + 0.6) -
                  psfm_cover_rect(t, 0.19, v + 0.04, size[0] - 0.19, v + 0.56);
    }
    psfm_rgb_scale(rgb, 1.0 - 0.6 * groove);
    psfm_rgb_mix(rgb, black, psfm_cover_disc(t, size[0] - 0.09, 1.05, 0.04));
    psfm_rgb_mix(rgb, white, psfm_cover_rect(t, 0.3, 2.15, size[0] - 0.3, 2.45));
}

/* Slabs, a kerb, asphalt with patches. */
static void paint_pavement(const psfm_surface *surface, double rgb[3]) {
    static const psfm_bond slabs = {0.6, 0.4, 0.012};
    uint32_t seed = surface->solid->coat.seed, hash;
    int32_t house;
    psfm_texel t = wall_texel(surface, &house);
    t.v = surface->xyz[1];
    double shade, joints = psfm_cover_bond(seed, &t, &slabs, &shade, &hash);
    double w = psfm_texel_extent(&t, 0.0, 1.0), road = psfm_cover_step(KERB - t.v, w);
    double tone = (0.36 + 0.07 * shade) * (1.0 - 0.6 * joints);
    tone += road * (0.16 - tone);
    tone += psfm_cover_band(t.v, KERB, KERB + 0.18, w) * (0.5 - tone);
    tone *= 1.0 + 0.2 * psfm_noise_octaves(seed + 1, &t, 1.5, 0.85);
    tone *= 1.0 - 0.4 * psfm_cover_spots(seed + 2, &t, 0.35, 0.25, &hash);
    for (int k = 0; k < 3; ++k)
        rgb[k] = tone * (1.0 - 0.03 * k);
}

/* A stall: its front a sign, its top full of goods. */
static void paint_stall(const psfm_surface *surface, double rgb[3]) {
    uint32_t hash;
    if (surface->face < 4) {
        psfm_paint_sign(surface, rgb);
        return;
    }
    double goods[3], seed_hue = psfm_hash_share(surface->solid->coat.seed, 0);
    double cover = psfm_cover_spots(surface->solid->coat.seed, &surface->texel, 0.16, 0.9, &hash);
    psfm_paint_wood(surface, rgb);
    psfm_rgb_hue(seed_hue + 0.3 * psfm_hash_share(hash, 1), 0.8, 0.6, goods);
    psfm_rgb_mix(rgb, goods, cover);
}

static psfm_coat brick_coat(const psfm_plan *plan) {
    return (psfm_coat){.paint = paint_brick, .seed = psfm_paint_seed(plan, 0), .data = plan};
}

/* A piece of the wall, from x0 to x1 and z0 to z1. */
static void add_piece(psfm_stage *stage, double x0, double x1, double z0, double z1,
                      const psfm_coat *coat) {
    const double corner[3] = {x0, 0.0, z0}, right[3] = {x1 - x0, 0.0, 0.0}, up[3] = {0, 0, z1 - z0};
    psfm_stage_rect(stage, corner, right, up, coat);
}

/* The four sides of a hole in the wall and the window or door at its bottom. */
static void add_niche(psfm_stage *stage, const cell *c, const double hole[4], double depth) {
    psfm_coat side = {.paint = psfm_paint_concrete, .tint = {0.4, 0.38, 0.34}, .seed = c->hash};
    psfm_coat pane = {.paint = c->has_door ? paint_door : paint_window, .seed = c->hash};
    psfm_rgb_hue(psfm_hash_share(c->hash, 1), 0.6, 0.3, pane.tint);
    double x0 = hole[0], x1 = hole[1], z0 = hole[2], z1 = hole[3];
    const double along[3] = {x1 - x0, 0, 0}, up[3] = {0, 0, z1 - z0}, in[3] = {0, depth, 0};
    const double low[3] = {x0, 0, z0}, right_low[3] = {x1, 0, z0}, high[3] = {x0, 0, z1};
    const double back[3] = {x0, depth, z0};
    psfm_stage_rect(stage, low, in, up, &side);
    psfm_stage_rect(stage, right_low, in, up, &side);
    psfm_stage_rect(stage, low, along, in, &side);
    psfm_stage_rect(stage, high, along, in, &side);
    psfm_stage_rect(stage, back, along, up, &pane);
    if (c->has_door)
        return;
    const double sill_foot[3] = {0.5 * (x0 + x1), -0.05, z0 - 0.08}, sill[3] = {1.4, 0.16, 0.08};
    psfm_stage_box(stage, sill_foot, sill, 0.0, &side);
}

/* The wall of a cell around its niche, and the niche. */
static void add_wall_cell(psfm_stage *stage, const psfm_plan *plan, const cell *c) {
    psfm_coat brick = brick_coat(plan);
    double x1 = c->x + BAY, z1 = c->z + STOREY;
    double depth = 0.12 + 0.48 * psfm_hash_share(c->hash >> 7, 0);
    const double hole[4] = {c->x + 2.4, c->x + 3.6, c->z + (c->has_door ? 0.0 : 0.9), c->z + 2.6};
    add_piece(stage, c->x, hole[0], c->z, z1, &brick);
    add_piece(stage, hole[1], x1, c->z, z1, &brick);
    add_piece(stage, hole[0], hole[1], hole[3], z1, &brick);
    if (!c->has_door)
        add_piece(stage, hole[0], hole[1], c->z, hole[2], &brick);
    add_niche(stage, c, hole, depth);
}

static void add_bar(psfm_stage *stage, double x, double y, double z, const psfm_coat *coat) {
    const double foot[3] = {x, y, z}, size[3] = {0.025, 0.025, 1.0};
    psfm_stage_box(stage, foot, size, 0.0, coat);
}

/* A slab with a railing, and flowers along its front. */
static void add_balcony(psfm_stage *stage, const cell *c) {
    double x0 = c->x + 0.1, x1 = c->x + 1.9, z = c->z + 0.2, out = -1.4;
    psfm_coat slab = {.paint = psfm_paint_concrete, .tint = {0.45, 0.44, 0.4}, .seed = c->hash};
    psfm_coat iron = {.paint = psfm_paint_plain, .tint = {0.06, 0.06, 0.07}, .seed = c->hash};
    psfm_coat plants = {.paint = paint_stall, .tint = {0.1, 0.25, 0.06}, .seed = c->hash};
    const double foot[3] = {0.5 * (x0 + x1), 0.5 * out, z}, size[3] = {x1 - x0, -out, 0.14};
    psfm_stage_box(stage, foot, size, 0.0, &slab);
    for (int k = 0; k < 11; ++k)
        add_bar(stage, x0 + 0.05 + 0.17 * k, out + 0.04, z + 0.14, &iron);
    for (int k = 0; k < 7; ++k) {
        add_bar(stage, x0 + 0.03, out + 0.2 + 0.17 * k, z + 0.14, &iron);
        add_bar(stage, x1 - 0.03, out + 0.2 + 0.17 * k, z + 0.14, &iron);
    }
    const double rail_foot[3] = {foot[0], out + 0.04, z + 1.14}, rail[3] = {x1 - x0, 0.06, 0.05};
    psfm_stage_box(stage, rail_foot, rail, 0.0, &iron);
    if (c->hash % 3 == 0)
        return;
    const double box_foot[3] = {foot[0], out + 0.2, z + 0.14}, box[3] = {1.5, 0.22, 0.3};
    psfm_stage_box(stage, box_foot, box, 0.0, &plants);
}

/* A stall on the ground floor, with an awning above it. */
static void add_stall(psfm_stage *stage, const cell *c) {
    double x = c->x + 1.0;
    psfm_coat stall = {.paint = paint_stall, .seed = c->hash};
    psfm_coat cloth = {.paint = psfm_paint_cloth, .seed = c->hash | 2u};
    psfm_rgb_hue(psfm_hash_share(c->hash, 0), 0.6, 0.4, stall.tint);
    psfm_rgb_hue(psfm_hash_share(c->hash, 1), 0.7, 0.5, cloth.tint);
    const double foot[3] = {x, -0.7, 0.2}, size[3] = {1.8, 1.4, 0.9};
    psfm_stage_box(stage, foot, size, 0.0, &stall);
    const double corner[3] = {c->x + 0.1, -1.4, 2.35}, right[3] = {1.8, 0, 0},
                 up[3] = {0, 1.4, 0.5};
    psfm_stage_rect(stage, corner, right, up, &cloth);
}

/* What stands out of the wall by a little. */
static void add_trim(psfm_stage *stage, const cell *c) {
    psfm_coat trim = {.paint = psfm_paint_concrete, .tint = {0.5, 0.48, 0.43}, .seed = c->hash};
    bool top = c->storey + 1 == PSFM_FACADE_NUM_STOREYS;
    double deep = top ? 0.35 : 0.14;
    const double foot[3] = {c->x + 0.5 * BAY, -0.5 * deep, c->z + STOREY - 0.15};
    const double size[3] = {BAY, deep, top ? 0.3 : 0.2};
    psfm_stage_box(stage, foot, size, 0.0, &trim);
    const double base[3] = {c->x, -0.04, c->z}, pilaster[3] = {0.2, 0.08, STOREY - 0.15};
    psfm_stage_box(stage, base, pilaster, 0.0, &trim);
    if (c->hash % 4 == 1) {
        psfm_coat zinc = {.paint = psfm_paint_plain, .tint = {0.3, 0.31, 0.32}, .seed = c->hash};
        const double low[3] = {c->x + 2.15, -0.1, c->z}, high[3] = {low[0], -0.1, c->z + 3.9};
        psfm_stage_capsule(stage, low, high, 0.05, &zinc);
    }
    if (c->storey > 0)
        return;
    psfm_coat sign = {.paint = psfm_paint_sign, .seed = c->hash};
    psfm_rgb_hue(psfm_hash_share(c->hash, 0), 0.7, 0.2 + 0.6 * psfm_hash_share(c->hash, 1),
                 sign.tint);
    const double sign_foot[3] = {c->x + 0.5 * BAY, -0.06, 3.0}, sign_size[3] = {3.4, 0.12, 0.7};
    psfm_stage_box(stage, sign_foot, sign_size, 0.0, &sign);
}

static void add_bay(psfm_stage *stage, const psfm_plan *plan, double x, uint32_t seed, long bay) {
    bool repeats = plan->options->duplicates > 0.0;
    for (int storey = 0; storey < PSFM_FACADE_NUM_STOREYS; ++storey) {
        cell c = {.x = x, .z = STOREY * storey, .storey = storey};
        c.hash = psfm_hash(seed, repeats ? 0 : (int32_t)bay, storey);
        c.has_door = storey == 0 && psfm_hash_share(c.hash >> 3, 0) < DOOR_SHARE;
        add_wall_cell(stage, plan, &c);
        add_trim(stage, &c);
        if (storey == 0)
            add_stall(stage, &c);
        else
            add_balcony(stage, &c);
    }
}

/* The wall goes on to both sides of the bays that are built, without niches. */
static void add_far_walls(psfm_stage *stage, const psfm_plan *plan, double x0, double x1) {
    psfm_coat brick = brick_coat(plan);
    double top = STOREY * PSFM_FACADE_NUM_STOREYS;
    add_piece(stage, x0 - FAR, x0, 0.0, top, &brick);
    add_piece(stage, x1, x1 + FAR, 0.0, top, &brick);
    psfm_coat slabs = {.paint = paint_pavement, .seed = psfm_paint_seed(plan, 1), .data = plan};
    const double corner[3] = {x0 - FAR, -FAR, 0.0}, right[3] = {x1 - x0 + 2.0 * FAR, 0, 0};
    const double up[3] = {0, FAR + 1.0, 0};
    psfm_stage_rect(stage, corner, right, up, &slabs);
}

static void street_sky(const double dir[3], double rgb[3]) {
    double up = psfm_clamp(dir[2], 0.05, 1.0);
    double cloud = psfm_noise(5, 1.5 * dir[0] / up, 1.5 * dir[1] / up) +
                   0.5 * psfm_noise(6, 3.0 * dir[0] / up, 3.0 * dir[1] / up);
    double share = psfm_clamp(0.4 + cloud, 0.0, 1.0);
    rgb[0] = 0.3 + 0.4 * share;
    rgb[1] = 0.45 + 0.27 * share;
    rgb[2] = 0.75;
}

void psfm_stage_build_facade(const psfm_take *take, psfm_stage *stage) {
    static const psfm_light daylight = {.from_above = {0.45, 0.5, 0.58},
                                        .from_below = {0.3, 0.28, 0.25},
                                        .sun = {0.36, -0.72, 0.593296},
                                        .sun_rgb = {1.0, 0.95, 0.85},
                                        .has_shadows = true};
    const psfm_plan *plan = take->plan;
    stage->light = daylight;
    stage->sky = street_sky;
    double left = plan->origin[0] - 0.5 * plan->cell_size[0];
    long middle = lround((take->pose->view[0] - left) / BAY);
    long span = lround(2.5 * plan->reach / BAY) + 1;
    for (long bay = middle - span; bay < middle + span; ++bay)
        add_bay(stage, plan, left + BAY * (double)bay, psfm_paint_seed(plan, 2), bay);
    add_far_walls(stage, plan, left + BAY * (double)(middle - span),
                  left + BAY * (double)(middle + span));
}
