/* Homographies fitted to points whose covariances are known. */
#include "images/photometric/plane_fit.h"

#include "unit/images/photometric/plane_photos.h"

enum { MOST = 200 };

typedef struct {
    psfm_camera cameras[2];
    double H_21[9]; /* middle singular value 1, det > 0 */
    psfm_plane_point points[MOST];
    size_t num;
    double error_px[MOST], sigmas[MOST];
    psfm_plane_fitted fit;
} fixture;

/* Scales H to the middle singular value 1. */
static void normalize(double H[9]) {
    double U[9], s[3], V[9];
    psfm_mat3_svd(H, U, s, V);
    for (int k = 0; k < 9; ++k)
        H[k] /= psfm_mat3_det(H) < 0.0 ? -s[1] : s[1];
}

/* The pixel of image `to` that shows what the other one shows at xy. */
static void transfer(const fixture *f, int to, const double xy[2], double out[2]) {
    double H[9], ray[3], moved[3];
    memcpy(H, f->H_21, sizeof H);
    if (to == 0)
        assert_true(psfm_mat3_inverse(f->H_21, H));
    assert_true(psfm_camera_unproject(&f->cameras[1 - to], xy, ray));
    psfm_mat3_mul_vec(H, ray, moved);
    assert_true(psfm_camera_project(&f->cameras[to], moved, out));
}

/* Exact points, found in the images in turn, and a start that is off by some pixels. */
static void set_up(fixture *f, size_t num) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 50, 0);
    memset(f, 0, sizeof *f);
    f->cameras[0] = pinhole(300.0);
    f->cameras[1] = distorted(320.0);
    tilted(f->H_21);
    normalize(f->H_21);
    f->num = num;
    for (size_t k = 0; k < num; ++k) {
        psfm_plane_point *p = &f->points[k];
        *p = (psfm_plane_point){.cov = {0.01, 0.0, 0.01}, .found = (int)(k % 2)};
        double *exact = p->found == 0 ? p->xy2 : p->xy1, *found = p->found == 0 ? p->xy1 : p->xy2;
        exact[0] = psfm_rng_range(&rng, 60.0, 260.0);
        exact[1] = psfm_rng_range(&rng, 50.0, 190.0);
        transfer(f, p->found, exact, found);
    }
    f->fit = (psfm_plane_fitted){.error_px = f->error_px, .sigmas = f->sigmas};
    memcpy(f->fit.H_21, f->H_21, sizeof f->H_21);
    f->fit.H_21[2] += 2.0 / 300.0;
    f->fit.H_21[5] -= 1.0 / 300.0;
}

/* Moves the found pixel of point k. */
static void move_found(fixture *f, size_t k, double dx, double dy) {
    double *xy = f->points[k].found == 0 ? f->points[k].xy1 : f->points[k].xy2;
    xy[0] += dx;
    xy[1] += dy;
}

static void fit(psfm_context *ctx, fixture *f) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 50, 0);
    const psfm_plane_points points = {
        {&f->cameras[0], &f->cameras[1]}, f->points, f->num, .max_error_px = 1.0};
    assert_ok(ctx, psfm_plane_fit(ctx, &points, &rng, &f->fit));
}

/* Largest distance over image 1 of where the fit and the truth put a point in image 2. */
static double worst_transfer(const fixture *f) {
    fixture fitted = *f;
    double worst = 0.0;
    memcpy(fitted.H_21, f->fit.H_21, sizeof fitted.H_21);
    for (int i = 0; i < 25; ++i) {
        const double xy[2] = {60.0 + 50.0 * (i % 5), 50.0 + 35.0 * (double)(i / 5)};
        double a[2], b[2];
        transfer(f, 1, xy, a);
        transfer(&fitted, 1, xy, b);
        worst = fmax(worst, hypot(a[0] - b[0], a[1] - b[1]));
    }
    return worst;
}

static void exact_points_give_the_homography(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    for (size_t num = 8; num <= 64; num *= 8) {
        set_up(&f, num);
        fit(ctx, &f);
        assert_true(f.fit.fitted);
        for (int k = 0; k < 9; ++k) /* with its scale and sign */
            assert_close(f.fit.H_21[k], f.H_21[k], 1e-9);
        assert_close(f.fit.scale, 1.0, 0.0);
        for (size_t k = 0; k < num; ++k)
            assert_true(f.error_px[k] < 1e-7 && f.sigmas[k] < 1e-6);
    }
    psfm_context_destroy(&ctx);
}

/* Distances of found points from where the fit puts them, in pixels and by their covariances. */
static void deviations_are_those_from_the_fit(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 50, 0);
    fixture f, fitted;
    set_up(&f, 60);
    for (size_t k = 0; k < f.num; ++k) {
        const double cov[3] = {0.04, 0.01 * (double)(k % 3), 0.02};
        memcpy(f.points[k].cov, cov, sizeof cov);
        move_found(&f, k, 0.2 * psfm_rng_normal(&rng), 0.15 * psfm_rng_normal(&rng));
    }
    fit(ctx, &f);
    assert_true(f.fit.fitted);
    fitted = f;
    memcpy(fitted.H_21, f.fit.H_21, sizeof fitted.H_21);
    for (size_t k = 0; k < f.num; ++k) {
        const psfm_plane_point *p = &f.points[k];
        double at[2];
        transfer(&fitted, p->found, p->found == 0 ? p->xy2 : p->xy1, at);
        double x = (p->found == 0 ? p->xy1 : p->xy2)[0] - at[0];
        double y = (p->found == 0 ? p->xy1 : p->xy2)[1] - at[1];
        assert_close(f.error_px[k], sqrt(x * x + y * y), 1e-9);
        /* along the eigenvectors of the covariance */
        double det = p->cov[0] * p->cov[2] - p->cov[1] * p->cov[1];
        double a = p->cov[2] / det, b = -p->cov[1] / det, c = p->cov[0] / det;
        assert_close(f.sigmas[k] * f.sigmas[k], a * x * x + 2.0 * b * x * y + c * y * y, 1e-9);
    }
    psfm_context_destroy(&ctx);
}

/* Points that err as they say have a scale of one, and of those that err four times as much it is
 * four; a fifth that is off by pixels does not matter. The homography is then as good as they are.
 */
static void the_scale_is_what_covariances_miss(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 3; ++k) {
        psfm_rng rng = psfm_rng_make((uint64_t)k, PSFM_RNG_TEST, 51, 0);
        const double sigma = k == 0 ? 0.05 : 0.2;
        fixture f;
        set_up(&f, MOST);
        for (size_t i = 0; i < MOST; ++i) {
            f.points[i].cov[0] = f.points[i].cov[2] = 0.05 * 0.05;
            move_found(&f, i, sigma * psfm_rng_normal(&rng), sigma * psfm_rng_normal(&rng));
            if (k == 2 && i % 5 == 0)
                move_found(&f, i, i % 2 == 0 ? 5.0 : -3.0, 4.0);
        }
        fit(ctx, &f);
        assert_true(f.fit.fitted);
        assert_close(f.fit.scale, k == 0 ? 1.0 : 4.0, k == 0 ? 0.15 : 0.6);
        assert_below(worst_transfer(&f), 6.0 * sigma * sqrt(8.0 / MOST));
        for (size_t i = 0; k == 2 && i < MOST; i += 5)
            assert_true(f.error_px[i] > 3.0 && f.sigmas[i] > 20.0);
    }
    psfm_context_destroy(&ctx);
}

/* Half of the points are ten times as sure: they decide. */
static void sure_points_count_for_more(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double worst[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < 5; ++seed)
        for (int told = 0; told < 2; ++told) {
            psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 52, 0);
            fixture f;
            set_up(&f, 60);
            for (size_t i = 0; i < f.num; ++i) {
                double sigma = i / 2 % 2 == 0 ? 0.02 : 0.2;
                move_found(&f, i, sigma * psfm_rng_normal(&rng), sigma * psfm_rng_normal(&rng));
                f.points[i].cov[0] = f.points[i].cov[2] = told ? sigma * sigma : 0.01;
            }
            fit(ctx, &f);
            worst[told] += worst_transfer(&f) / 5.0;
        }
    assert_below(worst[1], 0.06);
    assert_true(worst[0] > 2.5 * worst[1]);
    psfm_context_destroy(&ctx);
}

/* Points on an edge are known across it only. What is off along it moves nothing, whichever way
 * the edge goes. */
static void unsure_directions_do_not_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 4; ++k) {
        const double angle = 0.25 * M_PI * k, c = cos(angle), s = sin(angle);
        psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 53, 0);
        fixture f;
        set_up(&f, 60);
        for (size_t i = 0; i < f.num; ++i) {
            double along = 0.3 * psfm_rng_normal(&rng), a = i < 30 ? c : -s, b = i < 30 ? s : c;
            const double sure = 1e-6, unsure = 0.09; /* half of the edges at right angles */
            move_found(&f, i, a * along, b * along);
            f.points[i].cov[0] = a * a * unsure + b * b * sure;
            f.points[i].cov[1] = a * b * (unsure - sure);
            f.points[i].cov[2] = b * b * unsure + a * a * sure;
        }
        fit(ctx, &f);
        assert_true(f.fit.fitted);
        assert_below(worst_transfer(&f), 0.05);
    }
    psfm_context_destroy(&ctx);
}

static void what_determines_nothing_leaves_the_start(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double start[9];
    set_up(&f, 7); /* one too few */
    memcpy(start, f.fit.H_21, sizeof start);
    fit(ctx, &f);
    assert_false(f.fit.fitted);
    assert_memory_equal(f.fit.H_21, start, sizeof start);
    set_up(&f, 40);
    for (size_t k = 1; k < f.num; ++k) /* all at one place */
        f.points[k] = f.points[0];
    fit(ctx, &f);
    assert_false(f.fit.fitted);
    assert_memory_equal(f.fit.H_21, start, sizeof start);
    set_up(&f, 0);
    fit(ctx, &f);
    assert_false(f.fit.fitted);
    psfm_context_destroy(&ctx);
}

static void points_that_are_no_numbers_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(&f, 40);
    f.points[3].xy1[0] = NAN; /* found in image 2 */
    f.points[6].xy2[1] = NAN; /* found in image 1 */
    f.points[9].xy1[0] = INFINITY;
    fit(ctx, &f);
    assert_true(f.fit.fitted);
    assert_below(worst_transfer(&f), 1e-6);
    assert_true(isinf(f.error_px[3]) && isinf(f.error_px[6]) && isinf(f.sigmas[9]));
    assert_below(f.error_px[4], 1e-6);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_points_give_the_homography),
        cmocka_unit_test(deviations_are_those_from_the_fit),
        cmocka_unit_test(the_scale_is_what_covariances_miss),
        cmocka_unit_test(sure_points_count_for_more),
        cmocka_unit_test(unsure_directions_do_not_count),
        cmocka_unit_test(what_determines_nothing_leaves_the_start),
        cmocka_unit_test(points_that_are_no_numbers_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
