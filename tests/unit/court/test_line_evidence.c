#include "court/line_evidence.h"

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

static int close_evidence(void **state) {
    psfm_line_evidence_free(&evidence);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_way),  cmocka_unit_test(test_nearest), cmocka_unit_test(test_value),
        cmocka_unit_test(test_maps), cmocka_unit_test(test_texture),
    };
    return cmocka_run_group_tests(tests, open_context, close_evidence);
}
