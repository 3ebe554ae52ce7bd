#include "core/linalg/geodetic.h"
#include "test_util.h"

/* Places with earth-centred facts that are known without any formula. */
static void test_poles_and_equator(void **state) {
    (void)state;
    double enu[3];
    psfm_geodetic origin = {0, 0, 0}, pole = {90, 0, 0}, east = {0, 90, 0};
    psfm_geodetic_to_enu(&origin, &pole, enu);
    assert_close(enu[1], 6356752.314245, 1e-5); /* the semi-minor axis */
    assert_close(enu[2], -6378137.0, 1e-6);
    psfm_geodetic_to_enu(&origin, &east, enu);
    assert_close(enu[0], 6378137.0, 1e-6);
    assert_close(enu[1], 0.0, 1e-6);
    psfm_geodetic above = {0, 0, 100};
    psfm_geodetic_to_enu(&origin, &above, enu);
    assert_close(enu[2], 100.0, 1e-9);
}

/* One degree of latitude at 45 degrees is 111 131.75 m of meridian; a thousandth is nearly flat. */
static void test_meridian(void **state) {
    (void)state;
    double enu[3];
    psfm_geodetic origin = {45, 7, 0}, north = {45.001, 7, 0}, east = {45, 7.001, 0};
    psfm_geodetic_to_enu(&origin, &north, enu);
    assert_close(enu[1], 111.1318, 1e-3);
    assert_close(enu[0], 0.0, 1e-9);
    psfm_geodetic_to_enu(&origin, &east, enu);
    assert_close(enu[0], 78.8468, 1e-3);
}

static void test_round_trip(void **state) {
    (void)state;
    static const psfm_geodetic origins[] = {
        {50.0755, 14.4378, 234.5}, {-33.9, 151.2, 10}, {89.9999, 10, 0}, {0, -179.9999, 5000}};
    static const double steps[][3] = {{0, 0, 0}, {10, -20, 30}, {-5000, 4000, 800}, {1, 1e5, -3}};
    for (size_t o = 0; o < 4; ++o) {
        for (size_t s = 0; s < 4; ++s) {
            psfm_geodetic p;
            double back[3];
            psfm_geodetic_from_enu(&origins[o], steps[s], &p);
            assert_true(psfm_geodetic_is_valid(&p));
            psfm_geodetic_to_enu(&origins[o], &p, back);
            for (int k = 0; k < 3; ++k)
                assert_close(back[k], steps[s][k], 2e-8); /* of 6.4e6 m: the doubles' own */
        }
    }
}

/* The central meridian, where the grid is the meridian arc (integrated numerically) times 0.9996.
 */
static void test_utm(void **state) {
    (void)state;
    psfm_geodetic p;
    assert_true(psfm_geodetic_from_utm(32, false, 500000, 0, 7, &p));
    assert_close(p.latitude_deg, 0.0, 1e-12);
    assert_close(p.longitude_deg, 9.0, 1e-12);
    assert_close(p.altitude_m, 7.0, 0);
    assert_true(psfm_geodetic_from_utm(32, false, 500000, 4984944.377977 * 0.9996, 0, &p));
    assert_close(p.latitude_deg, 45.0, 1e-9);
    assert_true(psfm_geodetic_from_utm(33, true, 500000, 1e7 - 4984944.377977 * 0.9996, 0, &p));
    assert_close(p.latitude_deg, -45.0, 1e-9);
    assert_close(p.longitude_deg, 15.0, 1e-12);
    assert_false(psfm_geodetic_from_utm(0, false, 500000, 0, 0, &p));
    assert_false(psfm_geodetic_from_utm(61, false, 500000, 0, 0, &p));
    assert_false(psfm_geodetic_from_utm(32, false, NAN, 0, 0, &p));
    assert_false(psfm_geodetic_from_utm(32, false, 500000, 2e7, 0, &p));
}

/* Off the meridian: the grid keeps small shapes (it is conformal) with a scale of 0.9996 times
 * 1 + x^2 / 2 / r^2, r the mean radius of curvature. */
static void test_utm_is_conformal(void **state) {
    (void)state;
    const double east = 650000, north = 5500000, step = 100;
    psfm_geodetic o, a, b;
    double enu_a[3], enu_b[3];
    assert_true(psfm_geodetic_from_utm(33, false, east, north, 0, &o));
    assert_true(psfm_geodetic_from_utm(33, false, east + step, north, 0, &a));
    assert_true(psfm_geodetic_from_utm(33, false, east, north + step, 0, &b));
    psfm_geodetic_to_enu(&o, &a, enu_a);
    psfm_geodetic_to_enu(&o, &b, enu_b);
    double scale = 0.9996 * (1.0 + 150000.0 * 150000.0 / 2.0 / 6.381e6 / 6.381e6);
    assert_close(hypot(enu_a[0], enu_a[1]), step / scale, 1e-3);
    assert_close(hypot(enu_b[0], enu_b[1]), step / scale, 1e-3);
    assert_close(enu_a[0] * enu_b[0] + enu_a[1] * enu_b[1], 0.0, 0.05);
    assert_true(enu_a[0] > 99 && enu_b[1] > 99);
}

static void test_validity(void **state) {
    (void)state;
    static const psfm_geodetic bad[] = {{91, 0, 0},  {0, 181, 0}, {NAN, 0, 0},
                                        {0, NAN, 0}, {0, 0, NAN}, {0, 0, 1e12}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
        assert_false(psfm_geodetic_is_valid(&bad[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poles_and_equator), cmocka_unit_test(test_meridian),
        cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_utm),
        cmocka_unit_test(test_utm_is_conformal),  cmocka_unit_test(test_validity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
