#include "core/base/print_number.h"

#include <inttypes.h>
#include <math.h>

#include "core/base/rng.h"
#include "test_util.h"

static void check(double x) {
    char expected[64], out[PSFM_NUMBER_CHARS];
    snprintf(expected, sizeof expected, "%.17g", x);
    assert_int_equal(psfm_print_double(x, out), strlen(expected));
    assert_string_equal(out, expected);
}

static void doubles_are_as_printf_has_them(void **state) {
    (void)state;
    static const double some[] = {0.0,      -0.0,
                                  1.0,      -1.0,
                                  0.5,      0.1,
                                  10.0,     1e15,
                                  1e-4,     1e16,
                                  1e-300,   1e300,
                                  INFINITY, 9.9999999999999995e14,
                                  1e-5,     1234.5,
                                  2.5,      1024.0,
                                  0.00025,  0.0001220703125};
    for (size_t k = 0; k < sizeof some / sizeof *some; ++k)
        check(some[k]);
    for (double power = 1e-6; power < 1e19; power *= 10.0) { /* and what is next to it */
        check(power);
        check(nextafter(power, 0.0));
        check(nextafter(power, INFINITY));
    }
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < 200000; ++k) {
        double x = psfm_rng_normal(&rng) * pow(10.0, psfm_rng_range(&rng, -7.0, 18.0));
        check(x);
        check((double)(float)x); /* few bits: ties and zeros at the end */
        check(round(x * 64.0) / 64.0);
    }
}

static void counts_are_as_printf_has_them(void **state) {
    (void)state;
    static const uint64_t some[] = {0, 7, 10, 99, 4294967296, UINT64_MAX};
    for (size_t k = 0; k < sizeof some / sizeof *some; ++k) {
        char expected[64], out[PSFM_NUMBER_CHARS];
        snprintf(expected, sizeof expected, "%" PRIu64, some[k]);
        assert_int_equal(psfm_print_count(some[k], out), strlen(expected));
        assert_string_equal(out, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(doubles_are_as_printf_has_them),
                                       cmocka_unit_test(counts_are_as_printf_has_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
