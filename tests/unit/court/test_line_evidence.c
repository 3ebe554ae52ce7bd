#include "court/line_evidence.h"

#include "core/base/rng.h"
#include "test_util.h"

enum { W = 320, H = 240 };

static psfm_line_pixel items[4000];
static uint8_t valid[W * H];
static psfm_line_pixels set;
static psfm_line_evidence evidence;

static void add_pixel(double x, double y, double angle, int polarity) {
    double tx = cos(angle), ty = sin(angle), sign = ty < 0.0 ? -1.0 : 1.0;
    items[set.num++] = (psfm_line_pixel){(float)x,           (float)y, (float)(sign * tx),
                                         (float)(sign * ty), 50.0F,    (int8_t)polarity};
}

/* A light horizontal line at y = 100.3, a dark vertical one at x = 200.6. */
static void draw_cross(psfm_context *ctx) {
    psfm_line_evidence_free(&evidence);
    set = (psfm_line_pixels){.width = W, .height = H, .pixels = items, .valid = valid};
    memset(valid, 1, sizeof valid);
    memset(valid, 0, W * 10);
    for (int k = 20; k < 300; ++k)
        add_pixel(k + 0.5, 100.3, 0.0, 1);
    for (int k = 20; k < 220; ++k)
        add_pixel(200.6, k + 0.5, 0.5 * M_PI, -1);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &set, &evidence));
}

/* The quick bins of directions agree with the arctangent but at their borders. */
static void test_way(void **state) {
    (void)state;
    for (int k = 0; k < 7200; ++k) {
        double angle = k * M_PI / 3600.0, place = fmod(angle, M_PI) / (M_PI / PSFM_NUM_WAYS);
        if (fabs(place - floor(place) - 0.5) < 0.03)
            continue;
        int way = psfm_way((float)cos(angle), (float)sin(angle));
        assert_int_equal(way, (int)(place + 0.5) % PSFM_NUM_WAYS);
    }
}

static void test_nearest(void **state) {
    psfm_context *ctx = *state;
    const double at[2] = {60.2, 103.9}, along[2] = {1.0, 0.0}, across[2] = {0.0, 1.0};
    double distance;
    draw_cross(ctx);
    assert_true(psfm_line_evidence_nearest(&evidence, at, along, 0, 6.0, &distance) >= 0);
    assert_close(distance, 100.3 - 103.9, 1e-5); /* along the normal (0, 1) */
    assert_true(psfm_line_evidence_nearest(&evidence, at, along, 0, 3.0, &distance) < 0);
    assert_true(psfm_line_evidence_nearest(&evidence, at, along, 1, 6.0, &distance) < 0); /* tone */
    assert_true(psfm_line_evidence_nearest(&evidence, at, across, 0, 6.0, &distance) < 0); /* way */
    const double beside[2] = {203.1, 160.0};
    assert_true(psfm_line_evidence_nearest(&evidence, beside, across, 1, 6.0, &distance) >= 0);
    assert_close(distance, 203.1 - 200.6, 1e-4); /* along the normal (-1, 0) */
}

/* For a line on line pixels much, beside them nothing, and what is missing costs log 2. */
static void test_value(void **state) {
    psfm_context *ctx = *state;
    const double at[2] = {60.2, 100.3}, along[2] = {1.0, 0.0};
    draw_cross(ctx);
    double on = psfm_line_evidence_value(&evidence, at, along, 0, 0.0);
    double near = psfm_line_evidence_value(&evidence, at, along, 0, 2.0);
    assert_true(on > near && near > 1.0 && on < 3.0);
    assert_close(psfm_line_evidence_value(&evidence, at, along, 0, 4.0), -log(2.0), 1e-9);
    assert_close(psfm_line_evidence_value(&evidence, at, along, 0, NAN), -log(2.0), 1e-9);
}

/* The coarse maps say the same for every place. */
static void test_maps(void **state) {
    psfm_context *ctx = *state;
    draw_cross(ctx);
    size_t size = (size_t)evidence.coarse_width * (size_t)evidence.coarse_height;
    size_t on = 50U * (size_t)evidence.coarse_width + 30U;
    size_t off = 80U * (size_t)evidence.coarse_width + 30U, out = 30U;
    int none = (int)lrint(-log(2.0) * PSFM_LLR_UNIT);
    assert_true(evidence.coarse[0][on] > 16);
    assert_int_equal(evidence.coarse[0][off], none);
    assert_int_equal(evidence.coarse[0][6 * size + on], none); /* another way */
    assert_int_equal(evidence.coarse[1][on], none);            /* another tone */
    assert_int_equal(evidence.coarse[0][out], 0);              /* not visible */
}

/* Among many lines of the same direction one more says less. */
static void test_texture(void **state) {
    psfm_context *ctx = *state;
    const double at[2] = {160.0, 100.3}, along[2] = {1.0, 0.0};
    draw_cross(ctx);
    double alone = psfm_line_evidence_value(&evidence, at, along, 0, 0.0);
    for (int line = 0; line < 12; ++line)
        for (int k = 20; k < 300; ++k)
            add_pixel(k + 0.5, 40.5 + 11.0 * line, 0.0, 1);
    psfm_line_evidence_free(&evidence);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &set, &evidence));
    double among = psfm_line_evidence_value(&evidence, at, along, 0, 0.0);
    assert_true(among < 0.4 * alone);
}

/* ---- against the formulas, on an image of no even size ---- */

enum { ODD_W = 317, ODD_H = 235, NUM_SCATTERED = 260 };

/* Line pixels anywhere, of any direction and polarity; a corner is not visible. */
static void scatter(psfm_context *ctx) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 7, 0);
    psfm_line_evidence_free(&evidence);
    set = (psfm_line_pixels){.width = ODD_W, .height = ODD_H, .pixels = items, .valid = valid};
    memset(valid, 1, sizeof valid);
    for (int y = 0; y < 60; ++y)
        memset(valid + y * ODD_W, 0, 50);
    for (int k = 0; k < NUM_SCATTERED; ++k)
        add_pixel(psfm_rng_range(&rng, 0.0, ODD_W), psfm_rng_range(&rng, 0.0, ODD_H),
                  psfm_rng_range(&rng, 0.0, M_PI), (int)psfm_rng_below(&rng, 3) - 1);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &set, &evidence));
}

/* Whether a line pixel counts for a way and a tone: within 13.5 degrees of the way. */
static bool counts_for(const psfm_line_pixel *p, int tone, int way) {
    double angle = atan2((double)p->ty, (double)p->tx) - way * M_PI / PSFM_NUM_WAYS;
    double away = fabs(remainder(angle, M_PI));
    return away <= 0.2356 && (tone == 0 ? p->polarity >= 0 : p->polarity <= 0);
}

/* Closeness in sixteenths of the line pixel nearest to a coarse pixel: 1 - (d / 7)^2. */
static int level_at(int tone, int way, int u, int v) {
    double best = 0.0;
    for (size_t k = 0; k < set.num; ++k) {
        double x = (double)items[k].x - 2.0 * (u + 0.5), y = (double)items[k].y - 2.0 * (v + 0.5);
        if (x * x + y * y < 49.0 && counts_for(&items[k], tone, way))
            best = fmax(best, 1.0 - (x * x + y * y) / 49.0);
    }
    return (int)(best * 15.99);
}

/* Share of the visible coarse pixels, within seven cells of a cell, that are close to a line. */
static double density_at(const uint8_t *levels, int row, int column) {
    double close = 0.0, seen = 0.0;
    for (int v = 0; v < evidence.coarse_height; ++v)
        for (int u = 0; u < evidence.coarse_width; ++u) {
            bool is_near = abs(v / 8 - row) <= 7 && abs(u / 8 - column) <= 7;
            if (!is_near || !valid[2 * v * ODD_W + 2 * u])
                continue;
            seen += 1.0;
            close += levels[v * evidence.coarse_width + u] >= 10;
        }
    return close / fmax(seen, 1.0);
}

static double evidence_for(double closeness, double density) {
    return log(0.5 + 0.75 * closeness / fmin(fmax(density, 0.04), 1.0));
}

/* One map of one tone and way: its density and its entries, but for some on the border between two
 * levels, where the last digits decide. */
static void check_map(int tone, int way) {
    const int w = evidence.coarse_width, h = evidence.coarse_height, columns = evidence.columns;
    const float *density = evidence.density[tone] + (size_t)(way * columns * evidence.rows);
    const int8_t *map = evidence.coarse[tone] + (size_t)(way * w * h);
    uint8_t *levels = malloc((size_t)(w * h));
    int wrong = 0;
    assert_non_null(levels);
    for (int k = 0; k < w * h; ++k)
        levels[k] = (uint8_t)level_at(tone, way, k % w, k / w);
    for (int k = 0; k < columns * evidence.rows; ++k)
        assert_close((double)density[k], density_at(levels, k / columns, k % columns), 3e-4);
    for (int k = 0; k < w * h; ++k) {
        double around = 1.75 * (double)density[k / w / 8 * columns + k % w / 8];
        double value = evidence_for(levels[k] == 0 ? 0.0 : (levels[k] + 0.5) / 16.0, around);
        bool is_visible = valid[2 * (k / w) * ODD_W + 2 * (k % w)];
        wrong += map[k] != (is_visible ? (int)lrint(16.0 * value) : 0);
    }
    assert_true(wrong <= 3);
    free(levels);
}

static void maps_are_those_of_the_formula(void **state) {
    scatter(*state);
    assert_int_equal(evidence.coarse_width, (ODD_W + 1) / 2);
    assert_int_equal(evidence.rows, (ODD_H + 15) / 16);
    check_map(0, 0);
    check_map(0, 5);
    check_map(1, 3);
    check_map(1, 11);
}

/* The value of a place: of its own cell, way and tone, at a tolerance of four pixels. */
static void values_are_those_of_the_formula(void **state) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 7, 0);
    scatter(*state);
    const size_t cells = (size_t)evidence.columns * (size_t)evidence.rows;
    for (int k = 0; k < 200; ++k) {
        const double at[2] = {psfm_rng_range(&rng, 0.0, ODD_W), psfm_rng_range(&rng, 0.0, ODD_H)};
        int way = (int)psfm_rng_below(&rng, 12), tone = k % 2;
        double angle = way * M_PI / 12.0 + psfm_rng_range(&rng, -0.12, 0.12);
        double sign = k % 4 < 2 ? 1.0 : -1.0, distance = psfm_rng_range(&rng, -5.0, 5.0);
        const double along[2] = {sign * cos(angle), sign * sin(angle)};
        size_t cell = (size_t)(at[1] / 16.0) * (size_t)evidence.columns + (size_t)(at[0] / 16.0);
        double density = (double)evidence.density[tone][(size_t)way * cells + cell];
        double closeness = fmax(1.0 - distance * distance / 16.0, 0.0);
        assert_close(psfm_line_evidence_value(&evidence, at, along, tone, distance),
                     evidence_for(closeness, density), 1e-9);
    }
}

/* Of lines on both sides the nearer, and of lines that are not a pixel's distance apart as well;
 * what is neither light nor dark counts as both. */
static void the_nearer_line_is_found(void **state) {
    psfm_context *ctx = *state;
    static const double lines[4] = {50.0, 53.25, 60.0, 130.5};
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 7, 0);
    psfm_line_evidence_free(&evidence);
    set = (psfm_line_pixels){.width = W, .height = H, .pixels = items, .valid = valid};
    memset(valid, 1, sizeof valid);
    for (int k = 0; k < W; ++k) /* slanting a little */
        for (int j = 0; j < 4; ++j)
            add_pixel(k + 0.5, lines[j] + 0.05 * k, atan(0.05), j == 2 ? 0 : 1);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &set, &evidence));
    const double c = cos(atan(0.05)), s = sin(atan(0.05)), along[2] = {c, s};
    for (int k = 0; k < 400; ++k) {
        const double at[2] = {psfm_rng_range(&rng, 20.0, 300.0), psfm_rng_range(&rng, 40.0, 160.0)};
        double reach = psfm_rng_range(&rng, 1.5, 9.0), best = INFINITY, distance;
        int tone = k % 2;
        for (int j = tone == 1 ? 2 : 0; j < (tone == 1 ? 3 : 4); ++j) {
            double off = (lines[j] + 0.05 * at[0] - at[1]) * c;
            best = fabs(off) < fabs(best) ? off : best;
        }
        if (fabs(fabs(best) - reach) < 0.1)
            continue;
        int32_t found = psfm_line_evidence_nearest(&evidence, at, along, tone, reach, &distance);
        assert_int_equal(found >= 0, fabs(best) < reach);
        if (found >= 0)
            assert_close(distance, best, 0.06); /* whose line slants from pixel to pixel */
    }
}

/* A place that is not in the image, or no number, is not seen and has no line pixel. */
static void beyond_the_image_nothing_is_seen(void **state) {
    static const double along[2] = {1.0, 0.0};
    const double places[][2] = {
        {-0.01, 100.0},      {100.0, -0.01},        {W, 100.0},  {100.0, H}, {(double)NAN, 9.0},
        {50.0, (double)NAN}, {(double)INFINITY, 9}, {100.0, 9.9}};
    draw_cross(*state);
    for (size_t k = 0; k < sizeof places / sizeof *places; ++k) {
        double distance;
        assert_false(psfm_line_evidence_sees(&evidence, places[k]));
        assert_true(psfm_line_evidence_nearest(&evidence, places[k], along, 0, 6.0, &distance) < 0);
    }
    assert_true(psfm_line_evidence_sees(&evidence, (double[2]){0.0, 10.0}));
    assert_true(psfm_line_evidence_sees(&evidence, (double[2]){W - 0.01, H - 0.01}));
}

/* No line pixels at all: what is visible speaks against every line, by log 2. */
static void without_lines_everything_is_missing(void **state) {
    psfm_context *ctx = *state;
    psfm_line_evidence_free(&evidence);
    set = (psfm_line_pixels){.width = 5, .height = 3, .pixels = items, .valid = valid};
    memset(valid, 1, sizeof valid);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &set, &evidence));
    assert_true(evidence.coarse_width == 3 && evidence.coarse_height == 2);
    for (size_t k = 0; k < 12 * 6; ++k) {
        assert_int_equal(evidence.coarse[0][k], (int)lrint(-16.0 * log(2.0)));
        assert_int_equal(evidence.coarse[1][k], (int)lrint(-16.0 * log(2.0)));
    }
    for (size_t k = 0; k < 15; ++k)
        assert_int_equal(evidence.grid[k], -1);
}

static int close_evidence(void **state) {
    psfm_line_evidence_free(&evidence);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_way),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_texture),
        cmocka_unit_test(maps_are_those_of_the_formula),
        cmocka_unit_test(values_are_those_of_the_formula),
        cmocka_unit_test(the_nearer_line_is_found),
        cmocka_unit_test(beyond_the_image_nothing_is_seen),
        cmocka_unit_test(without_lines_everything_is_missing),
    };
    return cmocka_run_group_tests(tests, open_context, close_evidence);
}
