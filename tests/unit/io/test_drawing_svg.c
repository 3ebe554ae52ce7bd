/* Shapes of SVG files as lines and arcs, and what is said of those that are none. */
#include "base/alloc.h"
#include "io/drawing_file.h"
#include "test_util.h"

#define FRAME "<line x2='4'/><line y1='3' x2='4' y2='3'/><line y2='3'/>"

static psfm_status parse(psfm_context *ctx, const char *text, double unit, psfm_drawing *drawing) {
    return psfm_drawing_parse_svg(ctx, text, strlen(text), "plan.svg", unit, drawing);
}

/* Reads a drawing with three plain lines and `shapes`; returns the number of parts of these. */
static size_t read_shapes(psfm_context *ctx, const char *shapes, psfm_drawing *drawing) {
    char text[4096];
    snprintf(text, sizeof text, "<svg xmlns='http://www.w3.org/2000/svg'>" FRAME "%s</svg>",
             shapes);
    assert_ok(ctx, parse(ctx, text, 0.0, drawing));
    return drawing->num_parts - 3;
}

static void check_line(const psfm_drawing_part *p, double x0, double y0, double x1, double y1) {
    assert_true(p->radius == 0.0);
    assert_close(p->a[0], x0, 1e-12);
    assert_close(p->a[1], y0, 1e-12);
    assert_close(p->b[0], x1, 1e-12);
    assert_close(p->b[1], y1, 1e-12);
}

static void check_arc(const psfm_drawing_part *p, double x, double y, double radius, double from,
                      double to, double error) {
    assert_close(p->a[0], x, error);
    assert_close(p->a[1], y, error);
    assert_close(p->radius, radius, error);
    double turns = round((p->b[0] - from * M_PI / 180.0) / (2.0 * M_PI));
    assert_close(p->b[0] - 2.0 * M_PI * turns, from * M_PI / 180.0, error);
    assert_close(p->b[1] - 2.0 * M_PI * turns, to * M_PI / 180.0, error);
}

/* y goes up in the drawing. */
static void plain_shapes_are_read(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing d;
    assert_int_equal(read_shapes(ctx, "<rect x='1' y='1' width='2' height='1.5'/>", &d), 4);
    check_line(&d.parts[3], 1, -1, 3, -1);
    check_line(&d.parts[4], 3, -1, 3, -2.5);
    check_line(&d.parts[6], 1, -2.5, 1, -1);
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<circle cx='2' cy='1' r='0.5'/>", &d), 1);
    check_arc(&d.parts[3], 2, -1, 0.5, 0, 360, 1e-12);
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<polygon points='1,1 2 1-.5.5'/>", &d), 3);
    check_line(&d.parts[4], 2, -1, -0.5, -0.5);
    check_line(&d.parts[5], -0.5, -0.5, 1, -1);
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<polyline points='1,1 2,1 2,2'/>", &d), 2);
    psfm_drawing_free(&d);
}

static void paths_are_read(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing d;
    assert_int_equal(read_shapes(ctx, "<path d='M1 1 2 1V2h-.5l-.5.5z M3,3L4,4'/>", &d), 6);
    check_line(&d.parts[3], 1, -1, 2, -1);
    check_line(&d.parts[4], 2, -1, 2, -2);
    check_line(&d.parts[5], 2, -2, 1.5, -2);
    check_line(&d.parts[6], 1.5, -2, 1, -2.5);
    check_line(&d.parts[7], 1, -2.5, 1, -1);
    check_line(&d.parts[8], 3, -3, 4, -4);
    psfm_drawing_free(&d);
    /* sweeping to the right over the top: with y up, from 0 to 180 degrees */
    assert_int_equal(read_shapes(ctx, "<path d='M1 2A1 1 0 013 2'/>", &d), 1);
    check_arc(&d.parts[3], 2, -2, 1, 0, 180, 1e-9);
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<path d='M2 1a1 1 0 1 1 -1 1'/>", &d), 1);
    check_arc(&d.parts[3], 2, -2, 1, -180, 90, 1e-9); /* three quarters */
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<path d='M2 1a1 1 0 0 0 -1 1'/>", &d), 1);
    check_arc(&d.parts[3], 2, -2, 1, 90, 180, 1e-9);
    psfm_drawing_free(&d);
    /* curves by which programs write circles and lines */
    assert_int_equal(read_shapes(ctx, "<path d='M3 2C3 2.5523 2.5523 3 2 3S1 2.5523 1 2'/>", &d),
                     2);
    check_arc(&d.parts[3], 2, -2, 1, -90, 0, 2e-3);
    check_arc(&d.parts[4], 2, -2, 1, -180, -90, 2e-3);
    psfm_drawing_free(&d);
    assert_int_equal(read_shapes(ctx, "<path d='M1 1Q2 2 3 3T5 5'/>", &d), 2);
    check_line(&d.parts[3], 1, -1, 3, -3);
    check_line(&d.parts[4], 3, -3, 5, -5);
    psfm_drawing_free(&d);
}

static void transforms_are_applied(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing d;
    assert_int_equal(
        read_shapes(ctx,
                    "<g transform='translate(10,5)'><g transform='scale(2) rotate(90)'>"
                    "<line x1='1' x2='2'/><circle cx='1' r='0.5'/></g></g><line x1='5' x2='6'/>",
                    &d),
        3);
    check_line(&d.parts[3], 10, -7, 10, -9);
    check_arc(&d.parts[4], 10, -7, 1, 0, 360, 1e-12);
    check_line(&d.parts[5], 5, 0, 6, 0);
    psfm_drawing_free(&d);
    /* mirrored: the arc turns the other way */
    assert_int_equal(
        read_shapes(ctx, "<path transform='matrix(-1 0 0 1 4 0)' d='M2 1a1 1 0 0 0 -1 1'/>", &d),
        1);
    check_arc(&d.parts[3], 2, -2, 1, 0, 90, 1e-9);
    psfm_drawing_free(&d);
}

static void units_are_found(void **state) {
    psfm_context *ctx = *state;
    static const struct {
        const char *head;
        double unit, metres; /* given, and what a unit becomes */
    } cases[] = {
        {"<svg>", 0.0, 1.0},
        {"<svg width='800' viewBox='0 0 4 3'>", 0.0, 1.0},
        {"<svg width='28m' viewBox='0 0 280 150'>", 0.0, 0.1},
        {"<svg width=\"400mm\" viewBox=\"0 0 4 3\">", 0.0, 0.1},
        {"<svg width='20cm'>", 0.0, 0.01},
        {"<svg width='400mm' viewBox='0 0 4 3'>", 2.5, 2.5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[512];
        psfm_drawing d;
        snprintf(text, sizeof text, "<?xml version='1.0'?><!-- <line x2='9'/> -->%s" FRAME "</svg>",
                 cases[k].head);
        assert_ok(ctx, parse(ctx, text, cases[k].unit, &d));
        assert_int_equal(d.num_parts, 3);
        assert_close(d.size[0], 4.0 * cases[k].metres, 1e-12);
        psfm_drawing_free(&d);
    }
}

/* What is not shown, or has no stroke, is not painted on the floor either. */
static void hidden_things_are_passed_over(void **state) {
    psfm_context *ctx = *state;
    static const char *const shapes[] = {
        "<defs><line x1='7' x2='9'/></defs>",
        "<g style='fill:red; stroke: none'><rect width='9' height='9'/></g>",
        "<rect stroke='none' width='9' height='9'/>",
        "<g display='none'><g><line x1='7' x2='9'/></g></g>",
        "<text x='1'>a &lt; b</text><title>plan</title>",
        "<image href='photo.jpg' width='9' height='9'/>",
        "<line x1='1' x2='1.0001'/>",
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
        psfm_drawing d;
        assert_int_equal(read_shapes(ctx, shapes[k], &d), 0);
        psfm_drawing_free(&d);
    }
}

static void what_cannot_be_read_is_named(void **state) {
    psfm_context *ctx = *state;
    static const struct {
        const char *shapes, *words;
    } cases[] = {
        {"<path d='M0 0C1 0 1 5 2 0'/>", "shape 1 (path) has a curve that is no circular arc"},
        {"<path d='M0 0A1 2 0 0 1 1 1'/>", "elliptic arc"},
        {"<path d='M0 0A1 1 0 2 1 1 1'/>", "seven numbers"},
        {"<path d='L0 0'/>", "begin with M"},
        {"<path d='M0 0 1'/>", "without its end"},
        {"<path d='M0 0z1'/>", "behind Z"},
        {"<path d='M0 0X1'/>", "no path"},
        {"<ellipse rx='1' ry='2'/>", "no circle"},
        {"<g transform='scale(1,2)'><circle r='1'/></g>", "shape 2 (circle) is an ellipse"},
        {"<g transform='turn(1)'/>", "transform"},
        {"<rect width='1' height='1' rx='0.1'/>", "round corners"},
        {"<rect width='1em' height='1'/>", "no number"},
        {"<polyline points='1 2 3'/>", "without its y"},
        {"<use href='#a'/>", "refers to another shape"},
        {"<line x2='1e9'/>", "100 km"},
        {"<line x2='1", "ends within a tag"},
        {"", "along x"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[512];
        psfm_drawing d;
        snprintf(text, sizeof text, "<svg>%s</svg>", cases[k].shapes);
        psfm_status status = parse(ctx, text, 0.0, &d);
        assert_true(status == PSFM_ERR_FORMAT || status == PSFM_ERR_DATA);
        assert_non_null(strstr(psfm_context_message(ctx), "plan.svg"));
        if (strstr(psfm_context_message(ctx), cases[k].words) == NULL)
            fail_msg("'%s' does not say '%s'", psfm_context_message(ctx), cases[k].words);
        assert_null(d.parts);
        assert_null(d.name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_shapes_are_read),
        cmocka_unit_test(paths_are_read),
        cmocka_unit_test(transforms_are_applied),
        cmocka_unit_test(units_are_found),
        cmocka_unit_test(hidden_things_are_passed_over),
        cmocka_unit_test(what_cannot_be_read_is_named),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
