#include "lines/segments.h"

#include "test_util.h"
#include "unit/lines/line_scene.h"

enum { W = 240, H = 180 };

/* Line pixels along a straight line or an arc, as the detector gives them. */
typedef struct {
    psfm_line_pixel items[4000];
    psfm_line_pixels set;
    psfm_rng rng;
} scene;

static void open_scene(scene *s) {
    s->set = (psfm_line_pixels){.width = W, .height = H, .pixels = s->items};
    s->rng = psfm_rng_make(3, PSFM_RNG_TEST, 2, 0);
}

static void add_pixel(scene *s, double x, double y, double angle, float strength, int polarity) {
    double aside = 0.2 * psfm_rng_normal(&s->rng), turn = angle + 0.03 * psfm_rng_normal(&s->rng);
    double tx = cos(turn), ty = sin(turn), sign = ty < 0.0 ? -1.0 : 1.0;
    s->items[s->set.num++] = (psfm_line_pixel){(float)(x - aside * sin(angle)),
                                               (float)(y + aside * cos(angle)),
                                               (float)(sign * tx),
                                               (float)(sign * ty),
                                               strength,
                                               (int8_t)polarity};
}

static void add_line(scene *s, double x0, double y0, double x1, double y1, float strength,
                     int polarity) {
    double length = hypot(x1 - x0, y1 - y0), angle = atan2(y1 - y0, x1 - x0);
    for (double t = 0.0; t <= length; t += 1.0)
        add_pixel(s, x0 + t * cos(angle), y0 + t * sin(angle), angle, strength, polarity);
}

static double end_distance(const psfm_segment *g, double x0, double y0, double x1, double y1) {
    double same = fmax(hypot(g->a[0] - x0, g->a[1] - y0), hypot(g->b[0] - x1, g->b[1] - y1));
    double swapped = fmax(hypot(g->a[0] - x1, g->a[1] - y1), hypot(g->b[0] - x0, g->b[1] - y0));
    return fmin(same, swapped);
}

/* Two lines that cross: the stronger whole, the weaker as a whole or in pieces beside it. */
static void test_lines(void **state) {
    psfm_context *ctx = *state;
    static scene s;
    psfm_segments out;
    open_scene(&s);
    add_line(&s, 20.2, 30.7, 210.9, 150.1, 60.0F, 1);
    add_line(&s, 30.0, 150.0, 200.0, 20.0, 30.0F, -1);
    assert_ok(ctx, psfm_segments_find(ctx, &s.set, 18.0, &out));
    assert_true(out.num >= 2 && out.num <= 3);
    assert_below(end_distance(&out.items[0], 20.2, 30.7, 210.9, 150.1), 2.0);
    assert_close(out.items[0].polarity, 1.0, 1e-9);
    assert_close(out.items[0].strength, 60.0, 1e-4);
    assert_below(out.items[0].rms, 0.3);
    assert_close(out.items[1].polarity, -1.0, 1e-9);
    for (size_t k = 1; k < out.num; ++k)
        assert_true(out.items[k].length <= out.items[k - 1].length);
    psfm_segments_free(&out);
}

/* A long line through grain that runs nearly the same way stays one piece. */
static void test_grain(void **state) {
    psfm_context *ctx = *state;
    static scene s;
    psfm_segments out;
    open_scene(&s);
    add_line(&s, 20.0, 40.0, 220.0, 140.0, 60.0F, 1);
    for (int k = 0; k < 40; ++k) {
        double x = psfm_rng_range(&s.rng, 20.0, 200.0), y = 40.0 + 0.5 * (x - 20.0);
        y += psfm_rng_range(&s.rng, -12.0, 12.0);
        add_line(&s, x, y, x + 14.0, y + 14.0 * 0.5 + 1.5, 20.0F, -1);
    }
    assert_ok(ctx, psfm_segments_find(ctx, &s.set, 18.0, &out));
    assert_true(out.num >= 1);
    assert_below(end_distance(&out.items[0], 20.0, 40.0, 220.0, 140.0), 3.0);
    psfm_segments_free(&out);
}

/* An arc breaks into pieces none of which leaves it. */
static void test_arc(void **state) {
    psfm_context *ctx = *state;
    static scene s;
    psfm_segments out;
    open_scene(&s);
    for (double a = 0.0; a < 2.0 * M_PI; a += 1.0 / 70.0)
        add_pixel(&s, 120.0 + 70.0 * cos(a), 90.0 + 70.0 * sin(a), a + 0.5 * M_PI, 40.0F, 1);
    assert_ok(ctx, psfm_segments_find(ctx, &s.set, 10.0, &out));
    assert_true(out.num >= 4);
    for (size_t k = 0; k < out.num; ++k) {
        const psfm_segment *g = &out.items[k];
        double x = 0.5 * (g->a[0] + g->b[0]) - 120.0, y = 0.5 * (g->a[1] + g->b[1]) - 90.0;
        assert_close(hypot(x, y), 70.0, 3.0);
        assert_below(g->length, 50.0);
    }
    psfm_segments_free(&out);
}

static void test_none(void **state) {
    psfm_context *ctx = *state;
    psfm_line_pixels none = {.width = W, .height = H};
    psfm_segments out;
    assert_ok(ctx, psfm_segments_find(ctx, &none, 18.0, &out));
    assert_int_equal(out.num, 0);
    psfm_segments_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_grain),
        cmocka_unit_test(test_arc),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
