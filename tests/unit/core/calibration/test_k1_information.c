/* What matches say of the distortion of lenses, against rays that the camera models compute anew.
 */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/calibration/measured_planes.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/mat3.h"
#include "core/twoview/homography.h"

enum { NUM = 150, LONGER = 1000 };

static const psfm_loss squares = {1e9, 0.0};

typedef struct {
    psfm_camera cameras[2];
    double xy[2][NUM][2];
    double H[9];
} fixture;

static psfm_camera lens(double fx, double fy, double k1) {
    return (psfm_camera){.model = PSFM_CAMERA_OPENCV,
                         .width = LONGER,
                         .height = 750,
                         .params = {fx, fy, 480.0, 390.0, k1}};
}

/* Matches of a plane by two different lenses with distortion, with some noise. */
static void set_up(fixture *f, double noise_px) {
    const double H[9] = {1.02, 0.05, 0.1, -0.04, 0.97, -0.06, 0.1, -0.08, 1.0};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 45, 0);
    memset(f, 0, sizeof *f);
    f->cameras[0] = lens(1100.0, 1000.0, -0.08);
    f->cameras[1] = lens(900.0, 950.0, 0.05);
    memcpy(f->H, H, sizeof f->H);
    psfm_homography_normalize_norm(f->H);
    for (size_t k = 0; k < NUM; ++k) {
        double ray[3], to[3];
        f->xy[0][k][0] = psfm_rng_range(&rng, 100.0, 800.0);
        f->xy[0][k][1] = psfm_rng_range(&rng, 100.0, 650.0);
        assert_true(psfm_camera_unproject(&f->cameras[0], f->xy[0][k], ray));
        psfm_mat3_mul_vec(f->H, ray, to);
        assert_true(psfm_camera_project(&f->cameras[1], to, f->xy[1][k]));
        for (int i = 0; i < 2; ++i) {
            f->xy[0][k][i] += noise_px * psfm_rng_normal(&rng);
            f->xy[1][k][i] += noise_px * psfm_rng_normal(&rng);
        }
    }
}

/* The matches under lenses with more distortion: k grows by b fx fy / longer^2. */
static psfm_ray_pairs rays_under(psfm_context *ctx, const fixture *f, const double b[2]) {
    static double ray[2][NUM][3], px[2][NUM][6];
    static uint32_t match_idx[NUM];
    psfm_correspondences c = {NUM, ray[0], ray[1], px[0], px[1], match_idx};
    psfm_ray_pairs pairs;
    for (int side = 0; side < 2; ++side) {
        psfm_camera camera = f->cameras[side];
        double again[2];
        camera.params[4] += b[side] * camera.params[0] * camera.params[1] / (LONGER * LONGER);
        for (size_t k = 0; k < NUM; ++k) {
            assert_true(psfm_camera_unproject(&camera, f->xy[side][k], ray[side][k]));
            assert_true(psfm_camera_project_jacobian(&camera, ray[side][k], again, px[side][k]));
        }
    }
    assert_ok(ctx, psfm_ray_pairs_init(ctx, &c, NULL, &pairs));
    assert_int_equal(pairs.num, NUM);
    return pairs;
}

static void find(psfm_context *ctx, const fixture *f, const double H[9], psfm_loss loss,
                 psfm_normal9 *normal, psfm_k1_information *k1) {
    psfm_ray_pairs pairs = rays_under(ctx, f, (const double[2]){0.0, 0.0});
    psfm_homography_normal_equations(&pairs, pairs.num_blocks, H, loss, normal);
    psfm_k1_information_find(&pairs, H, loss, normal->N, &f->cameras[0], &f->cameras[1], k1);
    psfm_ray_pairs_free(&pairs);
}

static psfm_normal9 normal_under(psfm_context *ctx, const fixture *f, const double H[9],
                                 const double b[2]) {
    psfm_ray_pairs pairs = rays_under(ctx, f, b);
    psfm_normal9 normal;
    psfm_homography_normal_equations(&pairs, pairs.num_blocks, H, squares, &normal);
    psfm_ray_pairs_free(&pairs);
    return normal;
}

/* b^T normal b + 2 gradient . b is what the squared errors change by while H stays. Without noise,
 * and where there is some. */
static void squared_errors_change_as_foretold(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int noisy = 0; noisy < 2; ++noisy) {
        fixture f;
        psfm_normal9 normal;
        psfm_k1_information k1;
        set_up(&f, noisy ? 0.5 : 0.0);
        find(ctx, &f, f.H, squares, &normal, &k1);
        for (int side = 0; side < 2; ++side)
            assert_close(k1.gradient[side], 0.0, noisy ? 1e3 : 1e-6);
        for (int k = 0; k < 4; ++k) {
            static const double directions[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
            double cost[2], twice = 0.0;
            const double step = 1e-4, *d = directions[k];
            for (int s = 0; s < 2; ++s) {
                const double b[2] = {(s == 0 ? -step : step) * d[0],
                                     (s == 0 ? -step : step) * d[1]};
                cost[s] = normal_under(ctx, &f, f.H, b).cost;
            }
            for (int r = 0; r < 2; ++r)
                for (int c = 0; c < 2; ++c)
                    twice += 2.0 * d[r] * k1.normal[r][c] * d[c];
            double slope = (cost[1] - cost[0]) / (2.0 * step);
            double curve = (cost[1] + cost[0] - 2.0 * normal.cost) / (step * step);
            double expected = 2.0 * (k1.gradient[0] * d[0] + k1.gradient[1] * d[1]);
            /* the derivatives of the errors are those of their first order */
            assert_close(slope / sqrt(twice), expected / sqrt(twice), noisy ? 0.2 : 1e-3);
            assert_close(curve / twice, 1.0, noisy ? 0.02 : 1e-3);
        }
    }
    psfm_context_destroy(&ctx);
}

/* by_H: what k1 changes in the gradient by the entries of H. */
static void bends_pull_at_the_homography(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_normal9 normal, at[2];
    psfm_k1_information k1;
    const double step = 1e-5;
    set_up(&f, 0.0);
    find(ctx, &f, f.H, squares, &normal, &k1);
    for (int side = 0; side < 2; ++side) {
        for (int s = 0; s < 2; ++s) {
            double b[2] = {0.0, 0.0};
            b[side] = s == 0 ? -step : step;
            at[s] = normal_under(ctx, &f, f.H, b);
        }
        for (int i = 0; i < 9; ++i) {
            double size = sqrt(normal.N[10 * i] * k1.normal[side][side]);
            double slope = (at[1].g[i] - at[0].g[i]) / (2.0 * step);
            assert_close(k1.by_H[i][side] / size, slope / size, 1e-3);
        }
    }
    psfm_context_destroy(&ctx);
}

/* The gain is how much the best k1 and the homography that follows them take off the squared
 * errors, if a k1 of a half costs one. */
static void the_gain_is_that_of_the_best_bends(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_normal9 normal;
    psfm_k1_information k1;
    double A[121], x[11] = {0.0}, trace = 0.0, gain = 0.0;
    set_up(&f, 0.5);
    f.cameras[0].params[4] = 0.0; /* in truth it has some */
    psfm_ray_pairs pairs = rays_under(ctx, &f, (const double[2]){0.0, 0.0});
    psfm_homography_refine(&pairs, pairs.num_blocks, squares, 100, f.H);
    psfm_ray_pairs_free(&pairs);
    find(ctx, &f, f.H, squares, &normal, &k1);
    for (int i = 0; i < 9; ++i)
        trace += normal.N[10 * i];
    for (int r = 0; r < 11; ++r)
        for (int c = 0; c < 11; ++c)
            A[11 * r + c] = r < 9 && c < 9 ? normal.N[9 * r + c] + trace * f.H[r] * f.H[c]
                            : r < 9        ? k1.by_H[r][c - 9]
                            : c < 9        ? k1.by_H[c][r - 9]
                                           : k1.normal[r - 9][c - 9] + (r == c ? 4.0 : 0.0);
    x[9] = k1.gradient[0];
    x[10] = k1.gradient[1];
    assert_true(psfm_solve_spd(A, 11, x));
    gain = x[9] * k1.gradient[0] + x[10] * k1.gradient[1];
    assert_true(gain > 10.0);
    assert_close(k1.gain / gain, 1.0, 1e-6);
    /* and truly so much is taken off */
    pairs = rays_under(ctx, &f, (const double[2]){-x[9], -x[10]});
    double H[9];
    memcpy(H, f.H, sizeof H);
    double after = psfm_homography_refine(&pairs, pairs.num_blocks, squares, 100, H);
    psfm_ray_pairs_free(&pairs);
    assert_close((normal.cost - after) / gain, 1.0, 0.1);
    psfm_context_destroy(&ctx);
}

/* Errors beyond the bound do not count, and what is cut off is counted nowhere. */
static void far_matches_do_not_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_normal9 normal;
    psfm_k1_information all, some;
    set_up(&f, 0.2);
    find(ctx, &f, f.H, (psfm_loss){25.0, 0.0}, &normal, &all);
    double last[2] = {f.xy[1][NUM - 1][0], f.xy[1][NUM - 1][1]};
    f.xy[1][NUM - 1][0] += 50.0;
    find(ctx, &f, f.H, (psfm_loss){25.0, 0.0}, &normal, &some);
    assert_true(some.normal[0][0] < all.normal[0][0] && some.normal[1][1] < all.normal[1][1]);
    assert_below(fabs(some.gradient[0] - all.gradient[0]), 1e3);
    f.xy[1][NUM - 1][0] = last[0] + 500.0;
    psfm_k1_information far;
    find(ctx, &f, f.H, (psfm_loss){25.0, 0.0}, &normal, &far);
    for (int k = 0; k < 2; ++k) /* however far */
        assert_close(far.gradient[k], some.gradient[k], 1e-9 * fabs(some.gradient[k]));
    psfm_context_destroy(&ctx);
}

static void lenses_without_a_radial_term_do_not_bend(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_normal9 normal;
    psfm_k1_information both, one;
    set_up(&f, 0.2);
    f.cameras[1].params[4] = 0.0;
    find(ctx, &f, f.H, squares, &normal, &both);
    f.cameras[1].model = PSFM_CAMERA_PINHOLE;
    f.cameras[1].params[4] = 0.0;
    find(ctx, &f, f.H, squares, &normal, &one);
    assert_close(one.normal[0][0], both.normal[0][0], 1e-9 * both.normal[0][0]);
    assert_true(both.normal[1][1] > 0.0);
    assert_true(one.normal[1][1] == 0.0 && one.normal[0][1] == 0.0 && one.gradient[1] == 0.0);
    for (int i = 0; i < 9; ++i)
        assert_true(one.by_H[i][1] == 0.0);
    psfm_context_destroy(&ctx);
}

static void scaling_is_that_of_squared_errors(void **state) {
    (void)state;
    psfm_k1_information b = {.gain = 4.0, .gradient = {1.0, -2.0}};
    for (int i = 0; i < 9; ++i)
        b.by_H[i][0] = b.by_H[i][1] = i + 1.0;
    b.normal[0][0] = 1.0, b.normal[0][1] = 2.0, b.normal[1][0] = 3.0, b.normal[1][1] = 5.0;
    psfm_k1_information_scale(0.5, &b);
    for (int i = 0; i < 9; ++i)
        assert_true(b.by_H[i][0] == 0.5 * (i + 1) && b.by_H[i][1] == 0.5 * (i + 1));
    assert_true(b.normal[0][0] == 0.5 && b.normal[0][1] == 1.0 && b.normal[1][0] == 1.5 &&
                b.normal[1][1] == 2.5);
    assert_true(b.gradient[0] == 0.5 && b.gradient[1] == -1.0 && b.gain == 2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squared_errors_change_as_foretold),
        cmocka_unit_test(bends_pull_at_the_homography),
        cmocka_unit_test(the_gain_is_that_of_the_best_bends),
        cmocka_unit_test(far_matches_do_not_count),
        cmocka_unit_test(lenses_without_a_radial_term_do_not_bend),
        cmocka_unit_test(scaling_is_that_of_squared_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
