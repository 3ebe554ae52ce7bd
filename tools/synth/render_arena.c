/* The hall: court, advertising boards round it, stands with spectators on all four sides, walls
 * with banners, lamps under the ceiling, two hoops, the scorers' table and players. Stands are rows
 * of treads and risers that climb outward from a rectangle; cameras hang above them. */
#include <string.h>

#include "synth/render_floor.h"
#include "synth/render_paint.h"
#include "synth/render_scenes.h"

#define NUM_ROWS 13
#define ROW_DEPTH 0.85
#define ROW_RISE 0.42
#define FIRST_ROW 0.5 /* metres above the floor */
#define SEAT_PITCH 0.55
#define SECTOR 9.0 /* metres of a row from aisle to aisle */
#define AISLE 1.2
#define PIECE 4.0 /* rows are laid in pieces of about this length */

static const double stand_front[2] = {18.0, 12.0}; /* |x| and |y| of the first row */
static const double board_line[2] = {17.0, 11.0};

/* One side of the hall: the direction outward, the one to the right of somebody who looks outward,
 * and which of the two axes is outward. */
typedef struct {
    double out[2], right[2];
    int axis;
} side;

static const side sides[4] = {
    {{1, 0}, {0, -1}, 0}, {{-1, 0}, {0, 1}, 0}, {{0, 1}, {1, 0}, 1}, {{0, -1}, {-1, 0}, 1}};

/* World point `away` metres outward from the middle of the hall and `along` to the right. */
static void at_side(const side *s, double away, double along, double z, double out[3]) {
    for (int k = 0; k < 2; ++k)
        out[k] = away * s->out[k] + along * s->right[k];
    out[2] = z;
}

/* A rectangle that faces the court, `length` wide around `along`, between two heights. */
static void add_upright(psfm_stage *stage, const side *s, double away, double along, double length,
                        const double height[2], const psfm_coat *coat) {
    double corner[3], right[3] = {length * s->right[0], length * s->right[1], 0.0};
    const double up[3] = {0.0, 0.0, height[1] - height[0]};
    at_side(s, away, along - 0.5 * length, height[0], corner);
    psfm_stage_rect(stage, corner, right, up, coat);
}

static void add_tread(psfm_stage *stage, const side *s, double away, double along, double length,
                      double z, const psfm_coat *coat) {
    double corner[3], right[3] = {length * s->right[0], length * s->right[1], 0.0};
    const double up[3] = {ROW_DEPTH * s->out[0], ROW_DEPTH * s->out[1], 0.0};
    at_side(s, away, along - 0.5 * length, z, corner);
    psfm_stage_rect(stage, corner, right, up, coat);
}

/* Calls for the middle of each of the pieces that a length is divided into. */
static size_t num_pieces(double length, double piece) {
    return (size_t)ceil(length / piece);
}

static double piece_middle(double length, size_t n, size_t k) {
    return length * (((double)k + 0.5) / (double)n - 0.5);
}

static bool keeps_place(const psfm_stage *stage, const side *s, double away, double along) {
    double at[3];
    at_side(s, away, along, 0.0, at);
    return psfm_stage_keeps(stage, at[0], at[1]);
}

/* Riser and tread of a row. */
static void add_row(psfm_stage *stage, const side *s, int row, uint32_t seed) {
    double away = stand_front[s->axis] + ROW_DEPTH * row;
    double riser_length = 2.0 * (stand_front[1 - s->axis] + ROW_DEPTH * row);
    /* two of the sides take the corners */
    double tread_length = riser_length + (s->axis == 1 ? 2.0 * ROW_DEPTH : 0.0);
    double z = FIRST_ROW + ROW_RISE * row, below = row == 0 ? 0.0 : z - ROW_RISE;
    size_t n = num_pieces(tread_length, PIECE);
    for (size_t k = 0; k < n; ++k) {
        double along = piece_middle(tread_length, n, k);
        if (!keeps_place(stage, s, away, along))
            continue;
        psfm_coat coat = {psfm_paint_concrete,
                          {0.16, 0.16, 0.17},
                          psfm_hash(seed, row, (int)k),
                          NULL,
                          NULL,
                          0.0,
                          false};
        add_tread(stage, s, away, along, tread_length / (double)n, z, &coat);
        psfm_rgb_scale(coat.tint, 0.6);
        add_upright(stage, s, away, piece_middle(riser_length, n, k), riser_length / (double)n,
                    (const double[]){below, z}, &coat);
    }
}

static bool in_aisle(double along) {
    double place = along / SECTOR;
    return fabs(place - floor(place) - 0.5) > 0.5 - 0.5 * AISLE / SECTOR;
}

static void add_seat(psfm_stage *stage, const psfm_plan *plan, const side *s, const double at[3],
                     size_t sector, uint64_t number) {
    psfm_rng rng = psfm_synth_rng(plan, PSFM_STREAM_SEAT, number);
    psfm_coat plastic = {psfm_paint_plain, {0}, (uint32_t)number, NULL, NULL, 0.0, false};
    psfm_rgb_hue(0.58 + 0.07 * (double)(sector % 3), 0.8, 0.3, plastic.tint);
    const double ahead[2] = {-s->out[0], -s->out[1]};
    const double foot[3] = {at[0] + 0.2 * s->out[0], at[1] + 0.2 * s->out[1], at[2] + 0.1};
    const double size[3] = {s->axis == 0 ? 0.07 : 0.46, s->axis == 0 ? 0.46 : 0.07, 0.75};
    psfm_stage_box(stage, foot, size, 0.0, &plastic);
    if (psfm_rng_uniform(&rng) < 0.86)
        psfm_stage_spectator(stage, &rng, at, ahead);
}

static void add_seats(psfm_stage *stage, const psfm_plan *plan, int side_index, int row) {
    const side *s = &sides[side_index];
    double away = stand_front[s->axis] + ROW_DEPTH * (row + 0.55);
    double length = 2.0 * (stand_front[1 - s->axis] + ROW_DEPTH * row);
    size_t n = (size_t)(length / SEAT_PITCH);
    for (size_t k = 0; k < n; ++k) {
        double along = SEAT_PITCH * ((double)k - 0.5 * (double)(n - 1)), at[3];
        if (in_aisle(along) || !keeps_place(stage, s, away, along))
            continue;
        at_side(s, away, along, FIRST_ROW + ROW_RISE * row, at);
        uint64_t number = ((uint64_t)side_index * NUM_ROWS + (uint64_t)row) * 1000 + k;
        add_seat(stage, plan, s, at, (size_t)(along / SECTOR + 50.0) + (size_t)side_index, number);
    }
}

static void add_boards(psfm_stage *stage, const side *s, uint32_t seed) {
    double length = 2.0 * board_line[1 - s->axis];
    size_t n = num_pieces(length, 3.4);
    for (size_t k = 0; k < n; ++k) {
        uint32_t hash = psfm_hash(seed, (int)k, 5);
        double along = piece_middle(length, n, k);
        double hue = psfm_hash_share(seed, 0) + 0.382 * (double)k; /* neighbours differ */
        if (!keeps_place(stage, s, board_line[s->axis], along))
            continue;
        const char *name = psfm_paint_name(seed % 1000 + 7 * (uint32_t)k);
        psfm_coat coat = {psfm_paint_sign, {0}, hash, name, NULL, 0.0, false};
        psfm_rgb_hue(hue, 0.75, psfm_hash_share(hash, 1) < 0.5 ? 0.2 : 0.8, coat.tint);
        add_upright(stage, s, board_line[s->axis], along, length / (double)n,
                    (const double[]){0.0, 0.9}, &coat);
    }
}

/* A wall in panels, every third of which carries a banner. */
static void add_wall(psfm_stage *stage, const side *s, uint32_t seed) {
    double away = stand_front[s->axis] + ROW_DEPTH * NUM_ROWS;
    double length = 2.0 * (stand_front[1 - s->axis] + ROW_DEPTH * NUM_ROWS);
    size_t n = num_pieces(length, 3.5);
    for (size_t k = 0; k < n; ++k) {
        double along = piece_middle(length, n, k), piece = length / (double)n;
        uint32_t hash = psfm_hash(seed, (int)k, 9);
        if (!keeps_place(stage, s, away, along))
            continue;
        psfm_coat wall = {psfm_paint_concrete, {0.24, 0.23, 0.22}, hash, NULL, NULL, 0.0, false};
        psfm_rgb_scale(wall.tint, k % 2 == 0 ? 1.0 : 0.8);
        add_upright(stage, s, away, along, piece, (const double[]){0.0, PSFM_HALL_HEIGHT}, &wall);
        if (k % 3 == 1)
            continue;
        psfm_coat banner = {psfm_paint_sign, {0}, hash, NULL, NULL, 0.0, false};
        psfm_rgb_hue(psfm_hash_share(hash, 1), 0.7, 0.5, banner.tint);
        add_upright(stage, s, away - 0.05, along, 0.85 * piece, (const double[]){6.9, 8.3},
                    &banner);
    }
}

static void paint_ceiling(const psfm_surface *surface, double rgb[3]) {
    const psfm_texel *t = &surface->texel;
    double wu = psfm_texel_extent(t, 1.0, 0.0), wv = psfm_texel_extent(t, 0.0, 1.0);
    double lamp = psfm_cover_stripes(t->u, PSFM_LAMP_PERIOD_X, PSFM_LAMP_ON_X, wu) *
                  psfm_cover_stripes(t->v, PSFM_LAMP_PERIOD_Y, PSFM_LAMP_ON_Y, wv);
    for (int k = 0; k < 3; ++k)
        rgb[k] = 0.05 + 1.45 * lamp;
}

/* A backboard: frame and target square on either side. */
static void paint_backboard(const psfm_surface *surface, double rgb[3]) {
    static const double black[3] = {0.03, 0.03, 0.03}, red[3] = {0.6, 0.05, 0.04};
    const psfm_texel *t = &surface->texel;
    double size[2];
    psfm_surface_extent(surface, size);
    psfm_paint_plain(surface, rgb);
    if (surface->face / 2 != 0)
        return;
    double middle = 0.5 * size[0];
    double inner = psfm_cover_rect(t, 0.05, 0.05, size[0] - 0.05, size[1] - 0.05);
    double square = psfm_cover_rect(t, middle - 0.295, 0.15, middle + 0.295, 0.6) -
                    psfm_cover_rect(t, middle - 0.245, 0.2, middle + 0.245, 0.55);
    psfm_rgb_mix(rgb, red, 1.0 - inner);
    psfm_rgb_mix(rgb, black, square);
}

/* Ring and net: short capsules round a circle, and strings from it. */
static void add_ring(psfm_stage *stage, double x) {
    psfm_coat orange = {psfm_paint_glow, {0.75, 0.2, 0.03}, 0, NULL, NULL, 0.0, false};
    psfm_coat string = {psfm_paint_glow, {0.75, 0.75, 0.75}, 0, NULL, NULL, 0.0, false};
    for (int k = 0; k < 16; ++k) {
        double a = 2.0 * M_PI * k / 16.0, b = 2.0 * M_PI * (k + 1) / 16.0, c = 0.5 * (a + b);
        const double from[3] = {x + 0.225 * cos(a), 0.225 * sin(a), 3.05};
        const double to[3] = {x + 0.225 * cos(b), 0.225 * sin(b), 3.05};
        const double low[3] = {x + 0.13 * cos(c), 0.13 * sin(c), 2.62};
        psfm_stage_capsule(stage, from, to, 0.012, &orange);
        psfm_stage_capsule(stage, from, low, 0.006, &string);
    }
}

static void add_hoop(psfm_stage *stage, double end, uint32_t seed) {
    psfm_coat board = {paint_backboard, {0.75, 0.77, 0.8}, seed, NULL, NULL, 0.0, false};
    psfm_coat steel = {psfm_paint_plain, {0.1, 0.1, 0.12}, seed, NULL, NULL, 0.0, false};
    psfm_coat pad = {psfm_paint_sign, {0.05, 0.1, 0.35}, seed, NULL, NULL, 0.0, false};
    const double foot[3] = {end * 12.815, 0.0, 2.9}, size[3] = {0.03, 1.8, 1.05};
    psfm_stage_box(stage, foot, size, 0.0, &board);
    const double base[3] = {end * 16.0, 0.0, 0.0}, base_size[3] = {1.3, 1.1, 1.0};
    psfm_stage_box(stage, base, base_size, 0.0, &pad);
    const double bottom[3] = {end * 16.0, 0.0, 0.9}, top[3] = {end * 14.2, 0.0, 3.5};
    const double back[3] = {end * 12.85, 0.0, 3.4}, low[3] = {end * 15.2, 0.0, 1.9};
    const double lower_back[3] = {end * 12.85, 0.0, 3.0};
    psfm_stage_capsule(stage, bottom, top, 0.12, &steel);
    psfm_stage_capsule(stage, top, back, 0.08, &steel);
    psfm_stage_capsule(stage, low, lower_back, 0.05, &steel);
    add_ring(stage, end * 12.425);
    psfm_stage_shadow(stage, &(psfm_foot_shadow){{base[0], 0.0}, {0.65, 0.55}, 0.7, 0.7});
}

/* The scorers' table and the two benches beside it. */
static void add_table(psfm_stage *stage, uint32_t seed) {
    psfm_coat table = {psfm_paint_sign, {0.1, 0.3, 0.15}, seed, "SCORERS", NULL, 0.0, false};
    psfm_coat bench = {psfm_paint_wood, {0.4, 0.3, 0.2}, seed + 1, NULL, NULL, 0.0, false};
    const double foot[3] = {0.0, 10.3, 0.0}, size[3] = {5.0, 0.7, 0.8};
    psfm_stage_box(stage, foot, size, 0.0, &table);
    psfm_stage_shadow(stage, &(psfm_foot_shadow){{0.0, 10.3}, {2.5, 0.35}, 0.6, 0.6});
    for (int k = -1; k <= 1; k += 2) {
        const double at[3] = {7.0 * k, 10.3, 0.0}, bench_size[3] = {6.0, 0.45, 0.45};
        psfm_stage_box(stage, at, bench_size, 0.0, &bench);
        psfm_stage_shadow(stage, &(psfm_foot_shadow){{at[0], 10.3}, {3.0, 0.22}, 0.5, 0.6});
    }
}

static void add_players(psfm_stage *stage, const psfm_take *take) {
    static const psfm_outfit outfits[2] = {{{0.6, 0.05, 0.06}, {0.6, 0.05, 0.06}, NULL},
                                           {{0.75, 0.75, 0.7}, {0.1, 0.1, 0.3}, NULL}};
    static const char *const numbers[10] = {"4", "5", "7", "8", "10", "11", "13", "21", "33", "99"};
    int n = take->options->num_players;
    for (int k = 0; k < n; ++k) {
        bool moves = k < (int)lround(take->options->moving * n);
        uint64_t index = (uint64_t)k | (moves ? ((uint64_t)take->image + 1) << 32 : 0);
        psfm_rng rng = psfm_synth_rng(take->plan, PSFM_STREAM_PLAYER, index);
        psfm_outfit outfit = outfits[k % 2];
        outfit.number = numbers[k / 2 % 10];
        const double foot[2] = {psfm_rng_range(&rng, -13.0, 13.0), psfm_rng_range(&rng, -7.0, 7.0)};
        psfm_stage_player(stage, &rng, foot, &outfit);
    }
}

static void add_floor_and_ceiling(psfm_stage *stage, const psfm_take *take) {
    double x = stand_front[0] + ROW_DEPTH * NUM_ROWS, y = stand_front[1] + ROW_DEPTH * NUM_ROWS;
    psfm_coat court = {.paint = psfm_paint_court,
                       .seed = psfm_paint_seed(take->plan, 0),
                       .data = take->options,
                       .gloss = take->options->gloss};
    psfm_rgb_hue(psfm_hash_share(court.seed, 0), 0.75, 0.33, court.tint);
    psfm_coat ceiling = {.paint = paint_ceiling, .glows = true};
    const double floor_corner[3] = {-x, -y, 0.0}, right[3] = {2.0 * x, 0, 0},
                 up[3] = {0, 2.0 * y, 0};
    const double ceiling_corner[3] = {-x, -y, PSFM_HALL_HEIGHT};
    psfm_stage_rect(stage, floor_corner, right, up, &court);
    psfm_stage_rect(stage, ceiling_corner, right, up, &ceiling);
}

void psfm_stage_build_arena(const psfm_take *take, psfm_stage *stage) {
    static const psfm_light lamps = {.from_above = {0.95, 0.94, 0.9},
                                     .from_below = {0.42, 0.38, 0.34},
                                     .sun = {0.24, 0.32, 0.9165},
                                     .sun_rgb = {0.35, 0.35, 0.34}};
    bool has_duplicate = take->plan->options->duplicates > 0.0;
    stage->light = lamps;
    if (has_duplicate)
        psfm_stage_raise_sun(stage);
    add_floor_and_ceiling(stage, take);
    stage->is_turned = has_duplicate;
    for (int s = 0; s < 4; ++s) {
        uint32_t seed = psfm_paint_seed(take->plan, 10 + (uint64_t)s);
        add_boards(stage, &sides[s], seed);
        add_wall(stage, &sides[s], seed);
        for (int row = 0; row < NUM_ROWS; ++row) {
            add_row(stage, &sides[s], row, seed);
            add_seats(stage, take->plan, s, row);
        }
    }
    add_hoop(stage, 1.0, psfm_paint_seed(take->plan, 1));
    if (!has_duplicate)
        add_hoop(stage, -1.0, psfm_paint_seed(take->plan, 2));
    add_table(stage, psfm_paint_seed(take->plan, 3));
    stage->is_turned = false; /* players and people are only once */
    size_t first = stage->num_solids;
    add_players(stage, take);
    if (take->options->people > 0.0)
        psfm_stage_crowd(take, first, stage);
    stage->is_turned = has_duplicate;
}
