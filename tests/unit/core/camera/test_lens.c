#include "test_util.h"

#include "core/base/rng.h"
#include "core/camera/lens.h"
#include "unit/core/camera/camera_samples.h"

/* Slow and plain: whether both eigenvalues of the symmetric part of the derivative are positive at
 * many points between the centre and uv; *least is the smallest of them. */
static bool sampled_in_range(const psfm_lens *lens, const double uv[2], double *least) {
    *least = HUGE_VAL;
    for (int k = 0; k <= 2000; ++k) {
        double at[2] = {uv[0] * k / 2000.0, uv[1] * k / 2000.0}, out[2], J[4];
        psfm_lens_distort(lens, at, out, J);
        double value = 0.5 * (J[0] + J[3]) - hypot(0.5 * (J[0] - J[3]), 0.5 * (J[1] + J[2]));
        *least = isnan(value) ? -HUGE_VAL : fmin(*least, value);
    }
    return *least > 0.0;
}

/* A camera with coefficients large enough to fold within a radius of two or so. */
static psfm_lens folding_lens(psfm_rng *rng, bool tangential) {
    const psfm_camera_model models[] = {PSFM_CAMERA_SIMPLE_RADIAL,  PSFM_CAMERA_RADIAL,
                                        PSFM_CAMERA_OPENCV_FISHEYE, PSFM_CAMERA_OPENCV,
                                        PSFM_CAMERA_FULL_OPENCV,    PSFM_CAMERA_THIN_PRISM_FISHEYE,
                                        PSFM_CAMERA_SIMPLE_DIVISION};
    psfm_camera camera = {.id = 1, .width = 1280, .height = 720};
    camera.model = models[psfm_rng_below(rng, 7)];
    int n = psfm_camera_num_params(camera.model);
    for (int k = 0; k < n; ++k)
        camera.params[k] = 0.4 * psfm_rng_normal(rng);
    psfm_lens lens;
    assert_true(psfm_lens_from_camera(&camera, &lens));
    for (int k = 0; k < 2; ++k) {
        lens.tangential[k] *= 0.02;
        lens.prism[k] *= 0.02;
    }
    lens.has_tangential = lens.has_tangential && tangential;
    return lens;
}

/* The range test against sampling: exact for radial lenses, on the safe side with tangential
 * terms and then tight as far as those terms are small. */
static void range_is_where_the_derivative_is_positive(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 1, 0);
    int in = 0, out = 0;
    for (int round = 0; round < 4000; ++round) {
        psfm_lens lens = folding_lens(&rng, round % 2 == 0);
        double uv[2] = {psfm_rng_normal(&rng), psfm_rng_normal(&rng)}, least;
        bool sampled = sampled_in_range(&lens, uv, &least);
        bool range = psfm_lens_in_range(&lens, uv);
        double slack = lens.has_tangential ? 0.2 * hypot(uv[0], uv[1]) : 1e-9;
        if (range && least < -1e-9)
            fail_msg("round %d: in range with a derivative of %g", round, least);
        if (!range && sampled && least > slack && !lens.has_denominator)
            fail_msg("round %d: out of range with a derivative of %g", round, least);
        in += range;
        out += !range;
    }
    assert_true(in > 500 && out > 500);
}

/* A denominator with a zero on the way is out of range although the far side is smooth again. */
static void poles_end_the_range(void **state) {
    (void)state;
    psfm_camera camera = camera_samples[18];
    memset(camera.params + 4, 0, 8 * sizeof *camera.params);
    camera.params[9] = -1.0;
    psfm_lens lens;
    assert_true(psfm_lens_from_camera(&camera, &lens));
    const double before[2] = {0.9, 0.3}, after[2] = {1.5, 1.0};
    assert_true(psfm_lens_in_range(&lens, before));
    assert_false(psfm_lens_in_range(&lens, after));
}

/* A dip that touches zero between two rising parts: 1 - 2 c s + s^2 has a double root at c = 1. */
static void narrow_dips_are_found(void **state) {
    (void)state;
    psfm_camera camera = {.id = 1, .model = PSFM_CAMERA_RADIAL, .width = 10, .height = 10};
    camera.params[4] = 1.0 / 5.0;
    const double beyond[2] = {1.3, 0.9};
    psfm_lens lens;
    camera.params[3] = -2.0 / 3.0 * (1.0 - 1e-7);
    assert_true(psfm_lens_from_camera(&camera, &lens));
    assert_true(psfm_lens_in_range(&lens, beyond));
    camera.params[3] = -2.0 / 3.0 * (1.0 + 1e-7);
    assert_true(psfm_lens_from_camera(&camera, &lens));
    assert_false(psfm_lens_in_range(&lens, beyond));
}

static void undistort_inverts_up_to_the_fold(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 1, 0);
    int checked = 0;
    for (int round = 0; round < 20000; ++round) {
        psfm_lens lens = folding_lens(&rng, round % 2 == 0);
        double uv[2] = {psfm_rng_normal(&rng), psfm_rng_normal(&rng)}, image[2], back[2], J[4];
        if (!psfm_lens_in_range(&lens, uv))
            continue;
        psfm_lens_distort(&lens, uv, image, J);
        if (!psfm_lens_undistort(&lens, image, back))
            fail_msg("round %d: no inverse at %g, %g", round, uv[0], uv[1]);
        double det = J[0] * J[3] - J[1] * J[2];
        assert_close(hypot(back[0] - uv[0], back[1] - uv[1]) * fmin(det, 1.0), 0.0, 1e-12);
        ++checked;
    }
    assert_true(checked > 5000);
}

/* The same where the tangential part takes what the radial one came to. */
static void undistort_inverts_chains(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 2, 0);
    psfm_camera camera = {
        .id = 1, .model = PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE, .width = 10, .height = 10};
    int checked = 0, refused = 0;
    for (int round = 0; round < 20000; ++round) {
        double uv[2] = {psfm_rng_normal(&rng), psfm_rng_normal(&rng)}, image[2], back[2], J[4];
        psfm_lens lens;
        for (int k = 4; k < 16; ++k)
            camera.params[k] = (k < 10 ? 0.3 : 0.03) * psfm_rng_normal(&rng);
        camera.params[0] = camera.params[1] = 1.0;
        assert_true(psfm_lens_from_camera(&camera, &lens));
        refused += !psfm_lens_in_range(&lens, uv);
        if (!psfm_lens_in_range(&lens, uv))
            continue;
        psfm_lens_distort(&lens, uv, image, J);
        if (!psfm_lens_undistort(&lens, image, back))
            fail_msg("round %d: no inverse at %g, %g", round, uv[0], uv[1]);
        double det = J[0] * J[3] - J[1] * J[2];
        assert_true(det > 0.0);
        assert_close(hypot(back[0] - uv[0], back[1] - uv[1]) * fmin(det, 1.0), 0.0, 1e-11);
        ++checked;
    }
    assert_true(checked > 3000 && refused > 3000);
}

/* Images that no point in range reaches: refused, and quickly. */
static void undistort_refuses_what_is_beyond(void **state) {
    (void)state;
    psfm_camera camera = {.id = 1, .model = PSFM_CAMERA_OPENCV, .width = 10, .height = 10};
    const double params[8] = {1, 1, 0, 0, -0.3, 0, 1e-3, -1e-3};
    memcpy(camera.params, params, sizeof params);
    psfm_lens lens;
    assert_true(psfm_lens_from_camera(&camera, &lens));
    double fold = 1.0 / sqrt(0.9), top = fold * (1.0 - 0.3 * fold * fold);
    for (int k = 0; k < 100; ++k) {
        double angle = 0.0628 * k, uv[2];
        double outside[2] = {1.02 * top * cos(angle), 1.02 * top * sin(angle)};
        double inside[2] = {0.98 * top * cos(angle), 0.98 * top * sin(angle)};
        assert_false(psfm_lens_undistort(&lens, outside, uv));
        assert_true(psfm_lens_undistort(&lens, inside, uv));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_is_where_the_derivative_is_positive),
        cmocka_unit_test(poles_end_the_range),
        cmocka_unit_test(narrow_dips_are_found),
        cmocka_unit_test(undistort_inverts_up_to_the_fold),
        cmocka_unit_test(undistort_inverts_chains),
        cmocka_unit_test(undistort_refuses_what_is_beyond),
    };
    return cmocka_run_group_tests_name("camera/lens", tests, NULL, NULL);
}
