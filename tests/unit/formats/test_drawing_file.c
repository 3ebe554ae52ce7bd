#include "formats/court_request.h"

#include "core/base/alloc.h"
#include "test_util.h"

static const char good[] = "{\"name\": \"yard\", \"paint\": \"dark\", \"unit\": 0.5,\n"
                           " \"lines\": [[0, 0, 10, 0], [0, 4, 10, 4], [0, 0, 0, 4]],\n"
                           " \"arcs\": [[5, 2, 1.5, 0, 360]]}\n";

static psfm_status parse(psfm_context *ctx, const char *text, psfm_drawing *drawing) {
    return psfm_drawing_parse(ctx, text, strlen(text), "yard.json", 0.0, drawing);
}

static void test_good(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing;
    assert_ok(ctx, parse(ctx, good, &drawing));
    assert_string_equal(drawing.name, "yard");
    assert_int_equal(drawing.paint, PSFM_PAINT_DARK);
    assert_int_equal(drawing.num_parts, 4);
    assert_true(drawing.parts[1].b[0] == 5.0 && drawing.parts[1].b[1] == 2.0);
    assert_true(drawing.parts[3].a[0] == 2.5 && drawing.parts[3].radius == 0.75);
    assert_close(drawing.parts[3].b[1], 2.0 * M_PI, 1e-12);
    psfm_drawing_free(&drawing);
}

/* What is wrong is named: the file, and the line or arc where there is one. */
static void test_bad(void **state) {
    psfm_context *ctx = *state;
    static const struct {
        const char *text, *words;
        psfm_status status;
    } cases[] = {
        {"", "JSON", PSFM_ERR_FORMAT},
        {"[1, 2]", "JSON", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,1,0]]} x", "JSON", PSFM_ERR_FORMAT},
        {"{\"lines\": 3}", "'lines' is not a list", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,1,0], [0,0,1]]}", "line 2", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,0,0]]}", "line 1", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,1e400,0]]}", "line 1", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,\"1\",0]]}", "line 1", PSFM_ERR_FORMAT},
        {"{\"arcs\": [[0,0,-1,0,90]]}", "arc 1", PSFM_ERR_FORMAT},
        {"{\"arcs\": [[0,0,1,90,90]]}", "arc 1", PSFM_ERR_FORMAT},
        {"{\"arcs\": [[0,0,1,0,361]]}", "arc 1", PSFM_ERR_FORMAT},
        {"{\"paint\": \"red\"}", "paint", PSFM_ERR_FORMAT},
        {"{\"unit\": 0}", "unit", PSFM_ERR_FORMAT},
        {"{\"parts\": 1}", "'parts' is not a list", PSFM_ERR_FORMAT},
        {"{\"parts\": [{\"name\": \"q\", \"court\": \"chess\"}]}",
         "part q: there is no court 'chess'", PSFM_ERR_FORMAT},
        {"{\"parts\": [{\"at\": [1]}]}", "'at' is not x, y", PSFM_ERR_FORMAT},
        {"{\"parts\": [{\"turn\": \"up\"}]}", "'turn'", PSFM_ERR_FORMAT},
        {"{\"parts\": [{\"court\": \"tennis\", \"size\": [1]}]}", "'size'", PSFM_ERR_FORMAT},
        {"{\"lines\": [[0,0,1,0],[0,1,1,1]]}", "along y", PSFM_ERR_DATA},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        psfm_drawing drawing;
        assert_int_equal(parse(ctx, cases[k].text, &drawing), cases[k].status);
        assert_non_null(strstr(psfm_context_message(ctx), "yard.json"));
        assert_non_null(strstr(psfm_context_message(ctx), cases[k].words));
        assert_null(drawing.parts);
        assert_null(drawing.name);
    }
}

/* Courts and own lines placed beside each other. */
static void test_parts(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing one, hall;
    const char *text = "{\"unit\": 2, \"parts\": [{\"name\": \"a\", \"court\": \"badminton\"},"
                       "{\"court\": \"badminton\", \"at\": [0, 4], \"turn\": 0},"
                       "{\"lines\": [[0, 0, 1, 0]], \"at\": [5, 0], \"turn\": 90}]}";
    psfm_court court;
    assert_true(psfm_court_get("badminton", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &one));
    assert_ok(ctx, parse(ctx, text, &hall));
    assert_int_equal(hall.num_parts, 2 * one.num_parts + 1);
    for (size_t k = 0; k < one.num_parts; ++k) {
        const psfm_drawing_part *p = &hall.parts[one.num_parts + k];
        assert_close(p->a[0], one.parts[k].a[0], 1e-12);
        assert_close(p->a[1], one.parts[k].a[1] + 8.0, 1e-12);
    }
    const psfm_drawing_part *line = &hall.parts[2 * one.num_parts];
    assert_close(line->a[0], 10.0, 1e-12);
    assert_close(line->b[0], 10.0, 1e-12);
    assert_close(line->b[1], 2.0, 1e-12);
    psfm_drawing_free(&one);
    psfm_drawing_free(&hall);
}

/* The round corners of a rink take up all of its shorter sides: no line is left of these, and none
 * without a direction. */
static void test_all_corner(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing;
    psfm_drawing_sample *samples = NULL;
    size_t num = 0;
    assert_ok(ctx, parse(ctx,
                         "{\"lines\": [[0, 0, 10, 0]],"
                         " \"parts\": [{\"court\": \"ice-hockey\", \"size\": [17, 30]}]}",
                         &drawing));
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &drawing, 0.5, &samples, &num));
    for (size_t k = 0; k < num; ++k)
        assert_close(hypot(samples[k].tx, samples[k].ty), 1.0, 1e-6);
    free(samples);
    psfm_drawing_free(&drawing);
}

static void test_too_many(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing;
    char *text = malloc(1 << 17), *p = text;
    p += sprintf(p, "{\"lines\": [[0,0,0,1]");
    for (int k = 0; k < 2000; ++k)
        p += sprintf(p, ",[0,%d,1,%d]", k, k);
    sprintf(p, "]}");
    assert_int_equal(parse(ctx, text, &drawing), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "2000"));
    free(text);
}

static void test_memory(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing;
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = parse(ctx, good, &drawing);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && drawing.parts == NULL));
        psfm_drawing_free(&drawing);
        assert_true(n < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),       cmocka_unit_test(test_bad),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_all_corner), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
