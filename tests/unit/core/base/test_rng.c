#include "test_util.h"

#include "core/base/rng.h"

static void streams_differ_and_repeat(void **state) {
    (void)state;
    psfm_rng a = psfm_rng_make(7, PSFM_RNG_TEST, 1, 2), b = psfm_rng_make(7, PSFM_RNG_TEST, 1, 2);
    psfm_rng others[] = {
        psfm_rng_make(8, PSFM_RNG_TEST, 1, 2), psfm_rng_make(7, PSFM_RNG_SYNTH, 1, 2),
        psfm_rng_make(7, PSFM_RNG_TEST, 2, 1), psfm_rng_make(7, PSFM_RNG_TEST, 1, 3)};
    for (int k = 0; k < 100; ++k) {
        uint64_t x = psfm_rng_next(&a);
        assert_true(x == psfm_rng_next(&b));
        for (int o = 0; o < 4; ++o)
            assert_true(x != psfm_rng_next(&others[o]));
    }
}

static void moments_are_right(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    enum { N = 200000 };
    double mean = 0, square = 0, normal_mean = 0, normal_square = 0, direction[3] = {0};
    for (int k = 0; k < N; ++k) {
        double u = psfm_rng_uniform(&rng), z = psfm_rng_normal(&rng), d[3];
        assert_true(u >= 0 && u < 1);
        mean += u / N;
        square += u * u / N;
        normal_mean += z / N;
        normal_square += z * z / N;
        psfm_rng_direction(&rng, d);
        for (int c = 0; c < 3; ++c)
            direction[c] += d[c] / N;
    }
    assert_close(mean, 0.5, 0.005);
    assert_close(square, 1.0 / 3, 0.005);
    assert_close(normal_mean, 0, 0.01);
    assert_close(normal_square, 1, 0.02);
    for (int c = 0; c < 3; ++c)
        assert_close(direction[c], 0, 0.01);
}

static void samples_are_distinct_and_uniform(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    int count[6] = {0};
    for (int round = 0; round < 60000; ++round) {
        uint32_t s[3];
        psfm_rng_sample(&rng, 6, 3, s);
        assert_true(s[0] != s[1] && s[0] != s[2] && s[1] != s[2]);
        for (int k = 0; k < 3; ++k)
            ++count[s[k]];
    }
    for (int k = 0; k < 6; ++k)
        assert_close(count[k] / 30000.0, 1.0, 0.03);
    uint32_t values[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, seen = 0;
    psfm_rng_shuffle(&rng, values, 10);
    for (int k = 0; k < 10; ++k)
        seen |= 1u << values[k];
    assert_int_equal(seen, 1023);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(moments_are_right),
        cmocka_unit_test(samples_are_distinct_and_uniform),
    };
    return cmocka_run_group_tests_name("base/rng", tests, NULL, NULL);
}
