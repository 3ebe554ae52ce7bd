/* A field from above: parcels of soil, crops, stubble and meadow with grass between them, a wheel
 * track, stones and clods; huts and trees that throw shadows. The ground is the plane z = 0. With
 * duplicates every cell of the plan is the same, and equals its own half turn. */
#include <string.h>

#include "core/linalg/mat3.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define FAR 4000.0 /* metres of ground around the camera */
#define PARCEL_LENGTH 37.0
#define PARCEL_WIDTH 11.0
#define ROW_PITCH 0.75 /* of crops */
#define PLANT_PITCH 0.45
#define TRACK_PITCH 47.0 /* metres between wheel tracks */

static const double soil[3] = {0.23, 0.15, 0.09}, grass[3] = {0.13, 0.2, 0.05};
static const double straw[3] = {0.46, 0.36, 0.17}, leaf[3] = {0.1, 0.24, 0.04};
static const double stone[3] = {0.5, 0.48, 0.45}, dust[3] = {0.4, 0.31, 0.21};

/* Place in its cell, for a plan with duplicates; otherwise the world. */
static psfm_texel cell_texel(const psfm_surface *surface) {
    const psfm_plan *plan = surface->solid->coat.data;
    psfm_texel t = surface->texel;
    double at[2] = {surface->xyz[0], surface->xyz[1]};
    if (plan->options->duplicates > 0.0) {
        for (int k = 0; k < 2; ++k) {
            double cells = (at[k] - plan->origin[k]) / plan->cell_size[k];
            at[k] = (cells - floor(cells + 0.5)) * plan->cell_size[k];
        }
        double side = at[0] < 0.0 ? -1.0 : 1.0;
        at[0] *= side;
        at[1] *= side;
    }
    t.u = at[0];
    t.v = at[1];
    return t;
}

static void paint_soil(uint32_t seed, const psfm_texel *t, double rough, double rgb[3]) {
    uint32_t hash;
    memcpy(rgb, soil, sizeof soil);
    psfm_rgb_scale(rgb, 1.0 + 0.35 * rough);
    static const double pitch[3] = {0.31, 0.83, 2.3};
    for (int k = 0; k < 3; ++k) { /* clods and damp spots */
        double spot = psfm_cover_spots(seed + 70 + (uint32_t)k, t, pitch[k], 0.45, &hash);
        psfm_rgb_scale(rgb, 1.0 + spot * 0.8 * (psfm_hash_share(hash, 1) - 0.55));
    }
    psfm_rgb_mix(rgb, stone, 0.8 * psfm_cover_spots(seed + 80, t, 0.33, 0.06, &hash));
}

/* Crops in rows along u: one plant in each cell of row and plant pitch. */
static void paint_crop(uint32_t seed, const psfm_texel *t, double share, double rgb[3]) {
    psfm_texel plants = psfm_texel_scaled(t, 0.0, 0.0, 1.0 / PLANT_PITCH, 1.0 / ROW_PITCH);
    uint32_t hash;
    double green[3] = {leaf[0], leaf[1], leaf[2]};
    double cover = psfm_cover_spots(seed, &plants, 1.0, share, &hash);
    psfm_rgb_scale(green, 0.6 + 0.9 * psfm_hash_share(hash, 1));
    double w = psfm_texel_extent(t, 0.0, 1.0);
    double furrow = psfm_cover_stripes(t->v, ROW_PITCH, 0.25 * ROW_PITCH, w);
    psfm_rgb_scale(rgb, 1.0 - 0.25 * furrow);
    psfm_rgb_mix(rgb, green, cover);
}

static void paint_stubble(uint32_t seed, const psfm_texel *t, double rough, double rgb[3]) {
    psfm_texel stalks = psfm_texel_scaled(t, 0.0, 0.0, 0.25, 1.0);
    double lines = psfm_noise_octaves(seed, &stalks, 0.5, 0.8);
    psfm_rgb_mix(rgb, straw, psfm_clamp(0.55 + 0.9 * lines + 0.3 * rough, 0.0, 1.0));
}

static void paint_meadow(uint32_t seed, const psfm_texel *t, double rough, double rgb[3]) {
    static const double flower[2][3] = {{0.7, 0.6, 0.1}, {0.7, 0.68, 0.65}};
    uint32_t hash;
    memcpy(rgb, grass, sizeof grass);
    psfm_rgb_scale(rgb, 1.0 + 0.5 * rough + 0.3 * psfm_noise_octaves(seed, t, 0.5, 0.9));
    double cover = psfm_cover_spots(seed + 5, t, 0.35, 0.08, &hash);
    psfm_rgb_mix(rgb, flower[hash >> 20 & 1], 0.8 * cover);
    cover = psfm_cover_spots(seed + 6, t, 1.9, 0.3, &hash);
    psfm_rgb_scale(rgb, 1.0 - 0.4 * cover);
}

/* The parcel at a place: its hash, and the distance to its border. */
static uint32_t find_parcel(uint32_t seed, const psfm_texel *t, double *to_border) {
    int32_t row = psfm_floor(t->v / PARCEL_WIDTH);
    double shift = PARCEL_LENGTH * psfm_hash_share(psfm_hash(seed, row, 3), 0);
    int32_t column = psfm_floor((t->u + shift) / PARCEL_LENGTH);
    double v = t->v - PARCEL_WIDTH * row, u = t->u + shift - PARCEL_LENGTH * column;
    *to_border = psfm_min(psfm_min(v, PARCEL_WIDTH - v), psfm_min(u, PARCEL_LENGTH - u));
    return psfm_hash(seed, column, row);
}

static void paint_parcel(uint32_t hash, const psfm_texel *t, double rough, double rgb[3]) {
    switch (hash >> 8 & 7) {
    case 0:
    case 1:
        paint_crop(hash, t, 0.9, rgb);
        break;
    case 2:
    case 3:
        paint_crop(hash, t, 0.55, rgb);
        break;
    case 4:
        paint_stubble(hash, t, rough, rgb);
        break;
    case 5:
        paint_meadow(hash, t, rough, rgb);
        break;
    default: /* ploughed */
        psfm_rgb_scale(
            rgb, 0.8 + 0.35 * psfm_cover_stripes(t->v, 0.4, 0.2, psfm_texel_extent(t, 0.0, 1.0)));
    }
}

/* Two ruts that wind along u, with the marks of tyres. */
static void paint_track(uint32_t seed, const psfm_texel *t, double rgb[3]) {
    double winding = 5.0 * psfm_noise(seed + 90, t->u / 31.0, 0.5);
    double place = t->v - winding, w = psfm_texel_extent(t, 0.0, 1.0);
    place -= TRACK_PITCH * floor(place / TRACK_PITCH + 0.5);
    double ruts = psfm_cover_band(fabs(place), 0.6, 1.05, w);
    double verge = psfm_cover_band(place, -1.5, 1.5, w + 0.3);
    double tread = psfm_cover_stripes(t->u, 0.34, 0.14, psfm_texel_extent(t, 1.0, 0.0));
    psfm_rgb_mix(rgb, grass, 0.5 * verge);
    psfm_rgb_mix(rgb, dust, ruts * (0.75 + 0.25 * tread));
}

static void paint_ground(const psfm_surface *surface, double rgb[3]) {
    uint32_t seed = surface->solid->coat.seed;
    psfm_texel t = cell_texel(surface);
    double rough = psfm_noise_octaves(seed, &t, 9.0, 0.93), to_border;
    psfm_texel rough_place = t; /* borders are not drawn with a ruler */
    rough_place.u += 0.5 * rough;
    rough_place.v += 0.5 * psfm_noise(seed + 91, 0.3 * t.u, 0.3 * t.v);
    uint32_t hash = find_parcel(seed, &rough_place, &to_border);
    paint_soil(seed, &t, rough, rgb);
    paint_parcel(hash, &t, rough, rgb);
    double margin = psfm_clamp(3.0 * (0.6 - to_border), 0.0, 1.0);
    if (margin > 0.0) {
        double green[3];
        paint_meadow(seed, &t, rough, green);
        psfm_rgb_mix(rgb, green, margin);
    }
    paint_track(seed, &t, rgb);
}

/* Walls of boards, a roof of corrugated and rusty sheets. */
static void paint_hut(const psfm_surface *surface, double rgb[3]) {
    static const double rust[3] = {0.25, 0.1, 0.05}, sheet[3] = {0.4, 0.42, 0.44};
    const psfm_texel *t = &surface->texel;
    uint32_t seed = surface->solid->coat.seed;
    if (surface->face < 4) {
        psfm_paint_wood(surface, rgb);
        return;
    }
    static const psfm_bond sheets = {2.4, 0.9, 0.03};
    uint32_t hash;
    double shade, joints = psfm_cover_bond(seed, t, &sheets, &shade, &hash);
    double waves = psfm_cover_stripes(t->u, 0.18, 0.09, psfm_texel_extent(t, 1.0, 0.0));
    memcpy(rgb, sheet, sizeof sheet);
    psfm_rgb_scale(rgb, (0.85 + 0.25 * waves + 0.2 * shade) * (1.0 - 0.6 * joints));
    psfm_rgb_mix(rgb, rust, psfm_clamp(1.4 * psfm_noise_octaves(seed, t, 1.5, 0.8), 0.0, 0.9));
}

/* Leaves: noise across a slanted view of the clump, so that all its sides show some. */
static void paint_leaves(const psfm_surface *surface, double rgb[3]) {
    const psfm_solid *solid = surface->solid;
    psfm_texel t = surface->texel;
    double from[3], p[3];
    psfm_sub3(surface->xyz, solid->origin, from);
    psfm_mat3_mul_vec(solid->axes, from, p);
    t.u = p[0] + 0.4 * p[2];
    t.v = p[1] - 0.4 * p[2];
    double clumps = psfm_noise_octaves(solid->coat.seed, &t, 0.9, 0.95);
    memcpy(rgb, solid->coat.tint, sizeof solid->coat.tint);
    psfm_rgb_scale(rgb, psfm_clamp(1.0 + 0.7 * clumps, 0.25, 2.0));
}

static void add_tree(psfm_stage *stage, const psfm_plan *plan, size_t object, const double foot[3],
                     const double size[3]) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_PAINT, 1000 + object);
    uint32_t seed = (uint32_t)psfm_rng_next(&rng);
    psfm_coat bark = {.paint = psfm_paint_concrete, .tint = {0.12, 0.08, 0.05}, .seed = seed};
    psfm_coat leaves = {.paint = paint_leaves, .seed = seed};
    const double top[3] = {foot[0], foot[1], foot[2] + 0.8 * size[2]};
    psfm_stage_capsule(stage, foot, top, 0.04 * (size[0] + size[1]), &bark);
    for (int k = 0; k < 40; ++k) {
        double at[3], dir[3], radii[3];
        psfm_rng_direction(&rng, dir);
        double share = psfm_rng_range(&rng, 0.3, 0.85), grow = psfm_rng_range(&rng, 0.1, 0.17);
        for (int a = 0; a < 2; ++a)
            at[a] = foot[a] + 0.5 * share * size[a] * dir[a];
        at[2] = foot[2] + size[2] * (0.62 + 0.3 * share * dir[2]);
        radii[0] = grow * size[0];
        radii[1] = grow * size[1];
        radii[2] = 0.5 * (radii[0] + radii[1]);
        ++leaves.seed;
        psfm_rgb_hue(psfm_rng_range(&rng, 0.2, 0.28), 0.75, psfm_rng_range(&rng, 0.12, 0.26),
                     leaves.tint);
        psfm_stage_ellipsoid(stage, at, radii, &leaves);
    }
}

static void add_hut(psfm_stage *stage, const psfm_plan *plan, size_t object, const double foot[3],
                    const double size[3]) {
    psfm_coat coat = {.paint = paint_hut, .seed = psfm_paint_seed(plan, 1000 + object)};
    double hue = 0.05 + 0.05 * psfm_hash_share(coat.seed, 0);
    psfm_rgb_hue(hue, 0.5, 0.2 + 0.25 * psfm_hash_share(coat.seed, 1), coat.tint);
    psfm_stage_box(stage, foot, size, 0.0, &coat);
}

/* The objects of the cell around `middle`, those near the view; turned about it or as they are. */
static void add_objects(const psfm_take *take, psfm_stage *stage, const double middle[2],
                        bool is_turned) {
    const psfm_plan *plan = take->plan;
    double side = is_turned ? -1.0 : 1.0;
    for (size_t k = 0; k < psfm_field_num_objects(plan); ++k) {
        double foot[3], size[3];
        bool is_tree = psfm_field_object(plan, k, foot, size);
        double x = middle[0] + side * foot[0] - take->pose->view[0];
        double y = middle[1] + side * foot[1] - take->pose->view[1];
        if (hypot(x, y) > 2.0 * plan->reach)
            continue;
        size_t first = stage->num_solids;
        foot[0] += middle[0];
        foot[1] += middle[1];
        if (is_tree)
            add_tree(stage, plan, k, foot, size);
        else
            add_hut(stage, plan, k, foot, size);
        if (is_turned)
            psfm_stage_turn(stage, first, middle);
    }
}

static void add_cells(const psfm_take *take, psfm_stage *stage) {
    const psfm_plan *plan = take->plan;
    if (!(plan->options->duplicates > 0.0)) {
        add_objects(take, stage, plan->origin, false);
        return;
    }
    long low[2], high[2];
    for (int k = 0; k < 2; ++k) {
        double middle = (take->pose->view[k] - plan->origin[k]) / plan->cell_size[k];
        double span = 2.0 * plan->reach / plan->cell_size[k] + 1.0;
        low[k] = lround(middle - span);
        high[k] = lround(middle + span);
    }
    for (long b = low[1]; b <= high[1]; ++b) {
        for (long a = low[0]; a <= high[0]; ++a) {
            const double middle[2] = {plan->origin[0] + plan->cell_size[0] * (double)a,
                                      plan->origin[1] + plan->cell_size[1] * (double)b};
            add_objects(take, stage, middle, false);
            add_objects(take, stage, middle, true);
        }
    }
}

static void field_sky(const double dir[3], double rgb[3]) {
    double up = psfm_clamp(dir[2], 0.0, 1.0);
    rgb[0] = 0.6 - 0.4 * up;
    rgb[1] = 0.7 - 0.3 * up;
    rgb[2] = 0.85;
}

void psfm_stage_build_field(const psfm_take *take, psfm_stage *stage) {
    static const psfm_light daylight = {.from_above = {0.32, 0.38, 0.48},
                                        .from_below = {0.12, 0.1, 0.07},
                                        .sun = {0.48, -0.36, 0.8},
                                        .sun_rgb = {1.35, 1.27, 1.12},
                                        .has_shadows = true};
    stage->light = daylight;
    stage->sky = field_sky;
    if (take->plan->options->duplicates > 0.0)
        psfm_stage_raise_sun(stage);
    psfm_coat ground = {
        .paint = paint_ground, .seed = psfm_paint_seed(take->plan, 0), .data = take->plan};
    const double corner[3] = {take->pose->center[0] - FAR, take->pose->center[1] - FAR, 0.0};
    const double right[3] = {2.0 * FAR, 0.0, 0.0}, up[3] = {0.0, 2.0 * FAR, 0.0};
    psfm_stage_rect(stage, corner, right, up, &ground);
    add_cells(take, stage);
}
