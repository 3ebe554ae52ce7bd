/* The inner loops of patch alignment against what they say they compute, for all instructions. */
#include "images/photometric/patch_kernel.h"

#include "core/base/cpu.h"
#include "core/base/rng.h"
#include "test_util.h"

enum { WIDTH = 60, HEIGHT = 50, NUM = 96 };

typedef struct {
    uint8_t pixels[WIDTH * HEIGHT + 16];
    psfm_pyramid_level level;
    float u[NUM], v[NUM], out[NUM];
    const psfm_patch_kernel *kernel;
} fixture;

/* Runs a test with each version of the kernels that this machine has. */
static void with_all_instructions(void (*test)(fixture *f)) {
    for (int k = 0; k < 3; ++k) {
        static fixture f;
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 54, 0);
        psfm_cpu_limit((psfm_cpu_level)(PSFM_CPU_PLAIN + k));
        f = (fixture){.kernel = psfm_patch_kernel_choose()};
        f.level = (psfm_pyramid_level){WIDTH, HEIGHT, f.pixels};
        for (int i = 0; i < NUM; ++i) {
            f.u[i] = (float)psfm_rng_range(&rng, -6.0, 6.0);
            f.v[i] = (float)psfm_rng_range(&rng, -6.0, 6.0);
        }
        test(&f);
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

/* Turned, and bent a little. */
static const psfm_patch_map bent = {.base_x = 30,
                                    .base_y = 25,
                                    .x = {0.3F, 0.9F, -0.4F, 0.02F, -0.01F, 0.015F},
                                    .y = {0.7F, 0.5F, 1.1F, -0.01F, 0.02F, 0.01F}};

/* Where sample k of a map is, first pixel centre at 0. */
static void place_of(const psfm_patch_map *map, double u, double v, double xy[2]) {
    for (int k = 0; k < 2; ++k) {
        const float *c = k == 0 ? map->x : map->y;
        xy[k] = (k == 0 ? map->base_x : map->base_y) + (double)c[0] + (double)c[1] * u +
                (double)c[2] * v + (double)c[3] * u * u + (double)c[4] * u * v +
                (double)c[5] * v * v;
    }
}

/* The cubic B-spline, from its definition by distance. */
static double spline(double d) {
    d = fabs(d);
    return d < 1.0   ? (4.0 - 6.0 * d * d + 3.0 * d * d * d) / 6.0
           : d < 2.0 ? (2.0 - d) * (2.0 - d) * (2.0 - d) / 6.0
                     : 0.0;
}

static double spline_at(const fixture *f, const double xy[2]) {
    double sum = 0.0;
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            sum += f->pixels[y * WIDTH + x] * spline(xy[0] - x) * spline(xy[1] - y);
    return sum;
}

/* Four weights along a row that are off by half of 2^-14 each, of pixels to 255. */
#define ROUNDING (255.0 * 4.0 * 0.5 / 16384.0)

static void sample_noise(fixture *f) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 54, 0);
    for (int k = 0; k < WIDTH * HEIGHT; ++k)
        f->pixels[k] = (uint8_t)psfm_rng_below(&rng, 256);
    f->kernel->sample(&f->level, &bent, f->u, f->v, NUM, f->out);
    for (int k = 0; k < NUM; ++k) {
        double xy[2];
        place_of(&bent, (double)f->u[k], (double)f->v[k], xy);
        /* places are rounded to floats, too */
        assert_close((double)f->out[k], spline_at(f, xy), ROUNDING + 2e-3);
    }
}

static void samples_are_those_of_the_spline(void **state) {
    (void)state;
    with_all_instructions(sample_noise);
}

/* A slope stays what it is. Of a square the spline adds its variance, a third, along each axis: a
 * smoothing of 0.58 pixels. */
static void sample_shapes(fixture *f) {
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            f->pixels[y * WIDTH + x] = (uint8_t)(10 + 3 * x + y);
    f->kernel->sample(&f->level, &bent, f->u, f->v, NUM, f->out);
    for (int k = 0; k < NUM; ++k) {
        double xy[2];
        place_of(&bent, (double)f->u[k], (double)f->v[k], xy);
        assert_close((double)f->out[k], 10.0 + 3.0 * xy[0] + xy[1], ROUNDING);
    }
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) {
            int square = (x - 30) * (x - 30) + (y - 25) * (y - 25);
            f->pixels[y * WIDTH + x] = (uint8_t)(square < 255 ? square : 255);
        }
    for (int k = 0; k < NUM; ++k) {
        f->u[k] *= 0.7F;
        f->v[k] *= 0.7F;
    }
    f->kernel->sample(&f->level, &bent, f->u, f->v, NUM, f->out);
    for (int k = 0; k < NUM; ++k) {
        double xy[2];
        place_of(&bent, (double)f->u[k], (double)f->v[k], xy);
        double square = pow(xy[0] - 30.0, 2.0) + pow(xy[1] - 25.0, 2.0);
        if (square < 150.0) /* and nothing of the rim */
            assert_close((double)f->out[k], square + 2.0 / 3.0, ROUNDING);
    }
}

static void slopes_stay_and_squares_are_smoothed(void **state) {
    (void)state;
    with_all_instructions(sample_shapes);
}

/* Beyond the image the value is that at its border, where all four pixels are within. */
static void sample_beyond(fixture *f) {
    psfm_patch_map map = {.base_x = 0, .base_y = 20, .x = {0, 10.0F}, .y = {0, 0, 5.0F}};
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x)
            f->pixels[y * WIDTH + x] = (uint8_t)(2 * x + 2 * y);
    f->kernel->sample(&f->level, &map, f->u, f->v, NUM, f->out);
    for (int k = 0; k < NUM; ++k) {
        double xy[2];
        place_of(&map, (double)f->u[k], (double)f->v[k], xy);
        double x = fmin(fmax(xy[0], 1.0), WIDTH - 3.0), y = fmin(fmax(xy[1], 1.0), HEIGHT - 3.0);
        assert_close((double)f->out[k], 2.0 * x + 2.0 * y, ROUNDING);
    }
}

static void beyond_the_image_is_its_border(void **state) {
    (void)state;
    with_all_instructions(sample_beyond);
}

/* Arrays of numbers for the sums. */
typedef struct {
    float w[NUM], a[NUM], b[NUM], c[NUM], window[NUM];
} numbers;

static numbers make_numbers(void) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 54, 0);
    numbers n;
    for (int k = 0; k < NUM; ++k) {
        n.w[k] = (float)psfm_rng_range(&rng, 50.0, 200.0);
        n.a[k] = (float)psfm_rng_normal(&rng);
        n.b[k] = (float)psfm_rng_normal(&rng);
        n.c[k] = (float)psfm_rng_normal(&rng);
        n.window[k] = k < NUM - 7 ? (float)psfm_rng_uniform(&rng) : 0.0F; /* the filling */
    }
    return n;
}

/* Sum of the product of three numbers each, and how large its terms are. */
static void assert_sum(float found, const double x[NUM]) {
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < NUM; ++k) {
        sum += x[k];
        size += fabs(x[k]);
    }
    assert_close((double)found, sum, 1e-6 * size);
}

static void add_up(fixture *f) {
    const numbers n = make_numbers();
    const float offset = 120.0F;
    psfm_patch_sums sums;
    psfm_patch_moments m;
    double x[5][NUM], y[9][NUM];
    f->kernel->sum(n.w, offset, n.a, n.b, n.c, n.window, NUM, &sums);
    f->kernel->moments(n.w, offset, n.a, n.b, n.window, NUM, &m);
    for (int k = 0; k < NUM; ++k) {
        double d = (double)n.w[k] - 120.0, w = (double)n.window[k];
        double a = (double)n.a[k], b = (double)n.b[k];
        x[0][k] = w * d, x[1][k] = w * d * d, x[2][k] = d * a, x[3][k] = d * b;
        x[4][k] = d * (double)n.c[k];
        y[0][k] = w * d, y[1][k] = w * a, y[2][k] = w * b, y[3][k] = w * d * d;
        y[4][k] = w * d * a, y[5][k] = w * d * b, y[6][k] = w * a * a, y[7][k] = w * a * b;
        y[8][k] = w * b * b;
    }
    assert_sum(sums.value, x[0]);
    assert_sum(sums.square, x[1]);
    assert_sum(sums.step_x, x[2]);
    assert_sum(sums.step_y, x[3]);
    assert_sum(sums.product, x[4]);
    assert_sum(m.t, y[0]);
    assert_sum(m.gx, y[1]);
    assert_sum(m.gy, y[2]);
    assert_sum(m.tt, y[3]);
    assert_sum(m.tx, y[4]);
    assert_sum(m.ty, y[5]);
    assert_sum(m.xx, y[6]);
    assert_sum(m.xy, y[7]);
    assert_sum(m.yy, y[8]);
}

static void sums_are_those_of_their_terms(void **state) {
    (void)state;
    with_all_instructions(add_up);
}

static void weigh(fixture *f) {
    const numbers n = make_numbers();
    const psfm_patch_weights p = {.offset = 110.0F,
                                  .norm = 0.02F,
                                  .step_x = {0.5F, -0.3F, 0.01F, 0.2F},
                                  .step_y = {0.1F, 0.7F, -0.02F, -0.4F}};
    numbers in = n;
    f->kernel->weigh(&p, in.window, NUM, in.w, in.a, in.b);
    for (int k = 0; k < NUM; ++k) {
        double d = (double)n.w[k] - 110.0, w = (double)n.window[k];
        double a = (double)n.a[k], b = (double)n.b[k];
        assert_close((double)in.w[k], w * 0.02 * d, 1e-5);
        assert_close((double)in.a[k], w * (0.5 * a - 0.3 * b + 0.01 * d + 0.2), 1e-5);
        assert_close((double)in.b[k], w * (0.1 * a + 0.7 * b - 0.02 * d - 0.4), 1e-5);
    }
    assert_memory_equal(in.window, n.window, sizeof n.window);
}

static void templates_become_steps(void **state) {
    (void)state;
    with_all_instructions(weigh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_the_spline),
        cmocka_unit_test(slopes_stay_and_squares_are_smoothed),
        cmocka_unit_test(beyond_the_image_is_its_border),
        cmocka_unit_test(sums_are_those_of_their_terms),
        cmocka_unit_test(templates_become_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
