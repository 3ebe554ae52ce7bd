#include "formats/control_file.h"

#include "core/base/alloc.h"
#include "test_util.h"

static psfm_context *ctx;

static psfm_status positions(const char *text, bool geodetic, psfm_positions *out) {
    return psfm_positions_parse(ctx, text, strlen(text), "p.txt", geodetic, out);
}

static psfm_status control(const char *text, psfm_control_set *out) {
    return psfm_control_parse(ctx, text, strlen(text), "g.txt", PSFM_FILE_CONTROL, NULL, out);
}

static psfm_status court(const char *text, psfm_control_set *out) {
    psfm_court c;
    assert_true(psfm_court_get("tennis", &c));
    return psfm_control_parse(ctx, text, strlen(text), "c.txt", PSFM_FILE_COURT, &c, out);
}

static void test_positions(void **state) {
    (void)state;
    psfm_positions p;
    assert_ok(ctx, positions("# name x y z\r\na.jpg 1 2 3\r\n\n  my cam 2.jpg\t-1e2, .5,0\nb,4,5,6",
                             false, &p));
    assert_int_equal(p.num, 3);
    assert_false(p.has_geo);
    assert_string_equal(p.items[1].image, "my cam 2.jpg");
    assert_true(p.items[1].at[0] == -100.0 && p.items[1].at[1] == 0.5 && p.items[1].at[2] == 0.0);
    assert_string_equal(p.items[2].image, "b");
    psfm_positions_free(&p);
    assert_ok(ctx, positions("a 50 14 200\nb 50.001 14 210", true, &p));
    assert_true(p.has_geo && p.geo.origin.latitude_deg == 50.0 && p.geo.origin.altitude_m == 0.0);
    assert_close(p.items[0].at[2], 200.0, 1e-6);
    assert_close(p.items[1].at[1], 111.23, 0.01);
    psfm_positions_free(&p);
}

static void test_bad_positions(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",          "# nothing\n",      "a 1 2",       "1 2 3", "a 1 2 x", "a 1 2 nan",
        "a 1 2 inf", "a 1 2 3\na 4 5 6", "a 1 2 1e999",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        psfm_positions p;
        assert_int_equal(positions(bad[k], false, &p), PSFM_ERR_FORMAT);
        assert_non_null(strstr(psfm_context_message(ctx), "p.txt"));
        assert_null(p.items);
    }
    psfm_positions p;
    assert_int_equal(positions("a 1 2 3\nb 91 0 0", true, &p), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "line 2"));
    assert_int_equal(psfm_positions_read(ctx, "/nonexistent/p.txt", false, &p), PSFM_ERR_IO);
    static const char zero[] = "a 1 2 3\n\0\0\n";
    assert_int_equal(psfm_positions_parse(ctx, zero, sizeof zero - 1, "p.txt", false, &p),
                     PSFM_ERR_FORMAT);
}

static void test_control(void **state) {
    (void)state;
    psfm_control_set s;
    assert_ok(ctx, control("1 2 3 100.5 200 a.jpg corner\n1 2 3 50 60 b.jpg\n4 5 6 7 8 a.jpg\n"
                           "4\t5\t6\t9\t9\tmy b.jpg\tleft post\n",
                           &s));
    assert_int_equal(s.num_points, 2);
    assert_int_equal(s.num_views, 4);
    assert_string_equal(s.points[0].label, "corner");
    assert_string_equal(s.points[1].label, "point 2");
    assert_string_equal(s.views[3].image, "my b.jpg");
    assert_int_equal(s.views[3].point, 1);
    assert_true(s.views[0].xy[0] == 100.5 && s.points[1].at[2] == 6.0);
    assert_false(s.has_geo);
    psfm_control_free(&s);
}

static void test_control_on_the_earth(void **state) {
    (void)state;
    psfm_control_set degrees, utm, code;
    assert_ok(ctx, control("WGS84\n15 45 100 1 2 a\n15.001 45 100 1 2 b", &degrees));
    assert_true(degrees.has_geo && degrees.geo.origin.latitude_deg == 45.0);
    assert_close(degrees.points[1].at[0], 78.85, 0.01); /* a thousandth of a degree east */
    assert_close(degrees.points[1].at[2], 100.0, 0.01);
    /* the same two places on the grid of zone 33, whose central meridian is 15 degrees */
    assert_ok(ctx, control("WGS84 UTM 33N\n500000 4982950.400226 100 1 2 a\n"
                           "500078.817 4982950.438 100 1 2 b",
                           &utm));
    assert_close(utm.geo.origin.latitude_deg, 45.0, 1e-9);
    for (int k = 0; k < 3; ++k)
        assert_close(utm.points[1].at[k], degrees.points[1].at[k], 0.05);
    assert_ok(ctx, control("EPSG:32633\n500000 4982950.400226 100 1 2 a", &code));
    assert_memory_equal(&code.geo, &utm.geo, sizeof code.geo);
    psfm_control_free(&code);
    assert_ok(ctx, control("+proj=utm +zone=33 +datum=WGS84 +units=m +no_defs\n"
                           "500000 4982950.400226 100 1 2 a",
                           &code));
    assert_memory_equal(&code.geo, &utm.geo, sizeof code.geo);
    psfm_control_free(&code);
    assert_ok(ctx,
              control("+proj=utm +zone=33 +south +ellps=WGS84\n500000 5017049.6 1 1 2 a", &code));
    assert_close(code.geo.origin.latitude_deg, -45.0, 1e-6);
    psfm_control_free(&degrees);
    psfm_control_free(&utm);
    psfm_control_free(&code);
}

static void test_bad_control(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "local",
        "EPSG:3857\n1 2 3 4 5 a",
        "EPSG:32600\n1 2 3 4 5 a",
        "WGS84 UTM 61N\n1 2 3 4 5 a",
        "WGS84 UTM 33X\n1 2 3 4 5 a",
        "+proj=utm +datum=WGS84\n1 2 3 4 5 a",
        "+proj=utm +zone=33 +ellps=bessel\n1 2 3 4 5 a",
        "1 2 3 4 a.jpg",
        "1 2 3 4 5 a b c",
        "1 2 3 4 5 a\nlocal\n",
        "1 2 nan 4 5 a",
        "1 2 3 4 5 a\n1 2 3 9 9 a",
        "WGS84\n200 10 0 1 2 a",
        "WGS84 UTM 33N\n-5 10 0 1 2 a",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        psfm_control_set s;
        if (control(bad[k], &s) != PSFM_ERR_FORMAT)
            fail_msg("accepted: %s", bad[k]);
        assert_non_null(strstr(psfm_context_message(ctx), "g.txt"));
        assert_true(s.points == NULL && s.views == NULL);
    }
}

static void test_court_points(void **state) {
    (void)state;
    psfm_control_set s;
    assert_ok(ctx, court("corner-w-n a.jpg 1 2\ntee-e a.jpg 3 4\ncorner-w-n b.jpg 5 6", &s));
    assert_int_equal(s.num_points, 2);
    assert_int_equal(s.num_views, 3);
    assert_true(s.points[1].at[0] == 6.4);
    psfm_control_free(&s);
    assert_int_equal(court("elbow-w-n a.jpg 1 2", &s), PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "tennis has no point 'elbow-w-n'; it has"));
    assert_int_equal(court("tee-e a.jpg 1", &s), PSFM_ERR_FORMAT);
    assert_int_equal(court("tee-e a.jpg 1 2\ntee-e a.jpg 3 4", &s), PSFM_ERR_FORMAT);
}

static void test_labels(void **state) {
    (void)state;
    psfm_control_set s;
    const char *text = "post a.jpg 1 2\n# a comment\nflag a.jpg 3 4\npost b.jpg 5 6.5\n";
    assert_ok(ctx,
              psfm_control_parse(ctx, text, strlen(text), "l.txt", PSFM_FILE_LABELS, NULL, &s));
    assert_int_equal(s.num_points, 2);
    assert_int_equal(s.num_views, 3);
    assert_string_equal(s.points[1].label, "flag");
    assert_int_equal(s.views[2].point, 0);
    assert_true(s.views[2].xy[1] == 6.5);
    psfm_control_free(&s);
    static const char *const bad[] = {"", "post a.jpg 1", "post a.jpg 1 nan", "post a.jpg 1 2 3",
                                      "post a.jpg 1 2\npost a.jpg 3 4"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        assert_int_equal(
            psfm_control_parse(ctx, bad[k], strlen(bad[k]), "l.txt", PSFM_FILE_LABELS, NULL, &s),
            PSFM_ERR_FORMAT);
        assert_non_null(strstr(psfm_context_message(ctx), "l.txt"));
    }
}

static void test_no_memory(void **state) {
    (void)state;
    for (size_t n = 1; n <= 4; ++n) {
        psfm_control_set s;
        psfm_alloc_fail_after(n);
        assert_int_equal(control("1 2 3 4 5 a b", &s), PSFM_ERR_MEMORY);
        assert_true(s.points == NULL && s.views == NULL);
    }
    psfm_alloc_fail_after(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),   cmocka_unit_test(test_bad_positions),
        cmocka_unit_test(test_control),     cmocka_unit_test(test_control_on_the_earth),
        cmocka_unit_test(test_bad_control), cmocka_unit_test(test_court_points),
        cmocka_unit_test(test_labels),      cmocka_unit_test(test_no_memory),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
