#include "lines/smooth.h"
#include "test_util.h"

/* A constant stays, also at the border. */
static void test_constant(void **state) {
    (void)state;
    enum { W = 37, H = 23 };
    static float in[W * H], out[W * H];
    float *scratch = malloc(psfm_smooth_scratch(W) * sizeof *scratch);
    for (int k = 0; k < W * H; ++k)
        in[k] = 42.0F;
    psfm_smooth(in, W, H, 2.3, scratch, out);
    for (int k = 0; k < W * H; ++k)
        assert_close(out[k], 42.0, 1e-4);
    free(scratch);
}

/* A single bright pixel becomes a Gaussian: its sum is kept, its variance is sigma squared. */
static void test_impulse(void **state) {
    (void)state;
    enum { N = 61, C = 30 };
    static float in[N * N], out[N * N];
    static const double sigmas[] = {0.8, 1.4, 2.5};
    float *scratch = malloc(psfm_smooth_scratch(N) * sizeof *scratch);
    in[C * N + C] = 1.0F;
    for (int s = 0; s < 3; ++s) {
        double sum = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
        psfm_smooth(in, N, N, sigmas[s], scratch, out);
        for (int y = 0; y < N; ++y)
            for (int x = 0; x < N; ++x) {
                double value = (double)out[y * N + x];
                sum += value;
                xx += value * (x - C) * (x - C);
                yy += value * (y - C) * (y - C);
                xy += value * (x - C) * (y - C);
            }
        assert_close(sum, 1.0, 1e-5);
        assert_close(xx, sigmas[s] * sigmas[s], 0.05 * xx);
        assert_close(yy, sigmas[s] * sigmas[s], 0.05 * yy);
        assert_close(xy, 0.0, 1e-5);
    }
    free(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_impulse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
