#include "unit/core/bundle/bundle_scene.h"

#include "core/structure/resection.h"

enum { MAX_POINTS = 2000 };

typedef struct {
    psfm_camera camera;
    size_t n;
    double R[9], c[3];
    double points[MAX_POINTS][3], xy[MAX_POINTS][2];
    bool wrong[MAX_POINTS], inlier[MAX_POINTS];
} sighting;

typedef struct {
    psfm_camera_model model;
    size_t n;
    bool planar;
    double noise_px, outliers;
    uint64_t seed;
} sighting_options;

static void make(const sighting_options *o, sighting *s) {
    psfm_rng rng = psfm_rng_make(o->seed, PSFM_RNG_TEST, 20, 0);
    double at[3] = {0.2, -0.1, 0.3}, direction[3];
    s->camera = scene_camera(o->model);
    s->n = o->n;
    psfm_rng_direction(&rng, direction);
    direction[2] = 0.3 + fabs(direction[2]);
    psfm_scale3(9.0, direction, s->c);
    scene_look_at(s->c, at, s->R);
    for (size_t k = 0; k < o->n;) {
        double *X = s->points[k], D[3], Y[3];
        for (int a = 0; a < 3; ++a)
            X[a] = psfm_rng_range(&rng, -2, 2);
        if (o->planar)
            X[2] = 0.1 * X[0];
        psfm_sub3(X, s->c, D);
        psfm_mat3_mul_vec(s->R, D, Y);
        if (!psfm_camera_project(&s->camera, Y, s->xy[k]))
            continue;
        s->wrong[k] = psfm_rng_uniform(&rng) < o->outliers;
        for (int a = 0; a < 2; ++a)
            s->xy[k][a] = s->wrong[k] ? psfm_rng_range(&rng, 0, a == 0 ? 1280 : 720)
                                      : s->xy[k][a] + o->noise_px * psfm_rng_normal(&rng);
        ++k;
    }
}

static psfm_seen_points seen_points(const sighting *s) {
    return (psfm_seen_points){&s->camera, s->n, (const double(*)[2])s->xy,
                              (const double(*)[3])s->points};
}

static psfm_resection solve(psfm_context *ctx, sighting *s, const psfm_resection_options *options) {
    psfm_resection out;
    psfm_seen_points seen = seen_points(s);
    assert_ok(ctx, psfm_resection_estimate(ctx, &seen, 5, options, &out, s->inlier));
    return out;
}

static void errors(const sighting *s, const psfm_resection *out, double *rotation, double *shift) {
    double D[3];
    psfm_sub3(out->center, s->c, D);
    *rotation = psfm_rotation_angle(out->cam_from_world, s->R);
    *shift = psfm_norm3(D);
}

/* Every pose must see the three points along the rays, and the true one must be among them. */
static void p3p_finds_the_true_pose(void **state) {
    (void)state;
    int missed = 0, total = 0;
    for (uint64_t seed = 0; seed < 5000; ++seed) {
        static sighting s;
        sighting_options o = {.model = PSFM_CAMERA_PINHOLE, .n = 3, .seed = seed};
        make(&o, &s);
        double rays[3][3], R[4][9], c[4][3], best = INFINITY;
        for (int k = 0; k < 3; ++k) {
            double D[3];
            psfm_sub3(s.points[k], s.c, D);
            psfm_mat3_mul_vec(s.R, D, rays[k]);
            psfm_normalize3(rays[k]);
        }
        int num = psfm_p3p((const double(*)[3])rays, (const double(*)[3])s.points, R, c);
        assert_in_range(num, 0, 4);
        total += num;
        for (int m = 0; m < num; ++m) {
            double D[3], Y[3];
            for (int k = 0; k < 3; ++k) {
                psfm_sub3(s.points[k], c[m], D);
                psfm_mat3_mul_vec(R[m], D, Y);
                assert_below(psfm_angle3(Y, rays[k]), 1e-5);
            }
            psfm_sub3(c[m], s.c, D);
            best = fmin(best, psfm_norm3(D));
        }
        missed += !(best < 1e-6);
    }
    assert_below(missed, 5); /* double roots: three points and centre on one cylinder */
    assert_in_range(total, 5000, 4 * 5000);
}

static void p3p_refuses_collinear_points(void **state) {
    (void)state;
    double rays[3][3] = {{0, 0, 1}, {0.1, 0, 1}, {0.2, 0, 1}}, R[4][9], c[4][3];
    double points[3][3] = {{0, 0, 5}, {1, 0, 5}, {2, 0, 5}};
    for (int k = 0; k < 3; ++k)
        psfm_normalize3(rays[k]);
    assert_int_equal(psfm_p3p((const double(*)[3])rays, (const double(*)[3])points, R, c), 0);
    memcpy(points[1], points[0], sizeof points[0]);
    assert_int_equal(psfm_p3p((const double(*)[3])rays, (const double(*)[3])points, R, c), 0);
}

static void noise_free_with_every_camera_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static sighting s;
    for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model)
        for (int planar = 0; planar < 2; ++planar) {
            sighting_options o = {(psfm_camera_model)model, 50, planar == 1, 0.0, 0.0, 3};
            double rotation, shift;
            make(&o, &s);
            psfm_resection out = solve(ctx, &s, NULL);
            errors(&s, &out, &rotation, &shift);
            assert_true(out.found);
            assert_int_equal(out.num_inliers, 50);
            assert_below(rotation, 1e-9);
            assert_below(shift, 1e-8);
        }
    psfm_context_destroy(&ctx);
}

/* 60 % wrong, 0.7 px noise, 400 points: the centre within centimetres of 9 m, all right points
 * found. */
static void most_points_wrong(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static sighting s;
    for (uint64_t seed = 0; seed < 10; ++seed)
        for (int planar = 0; planar < 2; ++planar) {
            sighting_options o = {PSFM_CAMERA_OPENCV, 400, planar == 1, 0.7, 0.6, seed};
            double rotation, shift;
            size_t lost = 0, false_inliers = 0;
            make(&o, &s);
            psfm_resection out = solve(ctx, &s, NULL);
            errors(&s, &out, &rotation, &shift);
            for (size_t k = 0; k < s.n; ++k) {
                lost += !s.wrong[k] && !s.inlier[k];
                false_inliers += s.wrong[k] && s.inlier[k];
            }
            assert_true(out.found);
            /* a plane seen from the front tells rotation and shift apart only weakly */
            assert_below(rotation, planar == 1 ? 6e-3 : 2e-3);
            assert_below(shift, planar == 1 ? 0.06 : 0.02);
            assert_int_equal(lost, 0);
            assert_in_range(false_inliers, 0, 2);
            assert_close(out.rms_px, 0.7 * sqrt(2.0), 0.2);
        }
    psfm_context_destroy(&ctx);
}

static void hardly_enough_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_resection_options options;
    psfm_options_init(&psfm_resection_option_table, &options);
    static sighting s;
    for (size_t n = 0; n < 8; ++n) {
        sighting_options o = {PSFM_CAMERA_PINHOLE, n, true, 0.0, 0.0, 2};
        make(&o, &s);
        psfm_resection out = solve(ctx, &s, NULL);
        assert_int_equal(out.found, n >= 6);
        options.min_inliers = 4;
        out = solve(ctx, &s, &options);
        assert_int_equal(out.found, n >= 4);
        if (n >= 4) {
            double rotation, shift;
            errors(&s, &out, &rotation, &shift);
            assert_below(shift, 1e-7);
        }
    }
    psfm_context_destroy(&ctx);
}

static void nothing_to_find(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_resection_options options;
    psfm_options_init(&psfm_resection_option_table, &options);
    options.min_inliers = 12;
    static sighting s;
    sighting_options o = {PSFM_CAMERA_PINHOLE, 200, false, 0.0, 1.0, 2};
    make(&o, &s); /* nothing but wrong points */
    psfm_resection out = solve(ctx, &s, &options);
    assert_false(out.found);
    o.outliers = 0.0;
    make(&o, &s);
    for (size_t k = 0; k < s.n; ++k) { /* all on one line: the pose may turn about it */
        double t = 0.01 * (double)k, D[3], Y[3];
        s.points[k][0] = s.points[k][1] = s.points[k][2] = t;
        psfm_sub3(s.points[k], s.c, D);
        psfm_mat3_mul_vec(s.R, D, Y);
        assert_true(psfm_camera_project(&s.camera, Y, s.xy[k]));
    }
    out = solve(ctx, &s, &options);
    assert_false(out.found);
    psfm_context_destroy(&ctx);
}

static void numbers_that_are_none_are_never_inliers(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static sighting s;
    sighting_options o = {PSFM_CAMERA_SIMPLE_RADIAL, 60, false, 0.3, 0.0, 2};
    make(&o, &s);
    s.xy[3][0] = NAN;
    s.points[4][2] = INFINITY;
    s.points[5][0] = NAN;
    psfm_resection out = solve(ctx, &s, NULL), again = solve(ctx, &s, NULL);
    assert_true(out.found);
    assert_int_equal(out.num_inliers, 57);
    assert_false(s.inlier[3] || s.inlier[4] || s.inlier[5]);
    assert_memory_equal(&out, &again, sizeof out);
    s.camera.params[0] = -1.0;
    psfm_seen_points seen = seen_points(&s);
    assert_int_equal(psfm_resection_estimate(ctx, &seen, 5, NULL, &out, NULL), PSFM_ERR_DATA);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p3p_finds_the_true_pose),
        cmocka_unit_test(p3p_refuses_collinear_points),
        cmocka_unit_test(noise_free_with_every_camera_model),
        cmocka_unit_test(most_points_wrong),
        cmocka_unit_test(hardly_enough_points),
        cmocka_unit_test(nothing_to_find),
        cmocka_unit_test(numbers_that_are_none_are_never_inliers),
    };
    return cmocka_run_group_tests_name("structure/resection", tests, NULL, NULL);
}
