/* Planes through sets of points that are flat, long, curved, or none of these. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/structure/fit_plane.h"

enum { MAX_POINTS = 4000, MIN_POINTS = 20 };
static const double merge_deg = 10.0;

typedef struct {
    double points[MAX_POINTS][3];
    uint32_t member[MAX_POINTS];
    double normal[3], distance; /* true */
    double R[9];
    psfm_flat_set set;
} fixture;

/* Members are every other point; those between are far off and must not matter. */
static void open_set(uint64_t seed, size_t num, psfm_rng *rng, fixture *f) {
    double w[3];
    memset(f, 0, sizeof *f);
    *rng = psfm_rng_make(seed, PSFM_RNG_TEST, 43, 0);
    for (int k = 0; k < 3; ++k)
        w[k] = psfm_rng_normal(rng);
    psfm_rotation_exp(w, f->R);
    for (size_t k = 0; k < num; ++k)
        f->member[k] = (uint32_t)(2 * k);
    for (size_t k = 0; k < 2 * num; ++k)
        for (int c = 0; c < 3; ++c)
            f->points[k][c] = 1e3 * psfm_rng_normal(rng);
    f->distance = psfm_rng_range(rng, -20.0, 20.0);
    psfm_mat3_mul_vec(f->R, (double[3]){0.0, 0.0, 1.0}, f->normal);
    f->set = (psfm_flat_set){.member = f->member, .num = num};
}

/* Member k at (x, y) of the plane and `off` in front of it. */
static void put_point(fixture *f, size_t k, double x, double y, double off) {
    psfm_mat3_mul_vec(f->R, (double[3]){x, y, f->distance + off}, f->points[2 * k]);
}

static void fit(psfm_context *ctx, fixture *f) {
    assert_ok(
        ctx, psfm_flat_set_fit(ctx, (const double(*)[3])f->points, MIN_POINTS, merge_deg, &f->set));
}

static void assert_plane(const fixture *f, double tolerance) {
    double sign = psfm_dot3(f->set.normal, f->normal) < 0.0 ? -1.0 : 1.0;
    assert_close(psfm_norm3(f->set.normal), 1.0, 1e-12);
    for (int k = 0; k < 3; ++k)
        assert_close(sign * f->set.normal[k], f->normal[k], tolerance);
    assert_close(sign * f->set.distance, f->distance, 20.0 * tolerance);
}

static void exact_points_give_their_plane(void **state) {
    static fixture f;
    psfm_rng rng;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        open_set(seed, 100, &rng, &f);
        for (size_t k = 0; k < 100; ++k)
            put_point(&f, k, psfm_rng_range(&rng, -5.0, 5.0), psfm_rng_range(&rng, -3.0, 3.0), 0.0);
        fit(*state, &f);
        assert_true(f.set.flat && !f.set.curved);
        assert_plane(&f, 1e-10);
        assert_below(f.set.sigma, 1e-10);
    }
}

/* One point in eight is far off to one side. Least squares would follow. */
static void wrong_points_do_not_move_the_plane(void **state) {
    static fixture f;
    psfm_rng rng;
    open_set(1, 800, &rng, &f);
    for (size_t k = 0; k < 800; ++k)
        put_point(&f, k, psfm_rng_range(&rng, -5.0, 5.0), psfm_rng_range(&rng, -5.0, 5.0),
                  k % 8 == 0 ? psfm_rng_range(&rng, 0.0, 1.0) : 0.01 * psfm_rng_normal(&rng));
    fit(*state, &f);
    assert_true(f.set.flat && !f.set.curved);
    assert_plane(&f, 0.002);
    assert_close(f.set.sigma, 0.0115, 0.0015); /* median of 7/8 normal, 1/8 above it */
    psfm_flat_set_refit((const double(*)[3])f.points, &f.set);
    double sign = psfm_dot3(f.set.normal, f.normal) < 0.0 ? -1.0 : 1.0;
    assert_true(sign * f.set.distance - f.distance > 0.04); /* what a mean of 1/16 does */
}

static double sum_of_squares(const fixture *f, const double normal[3], double distance) {
    double sum = 0.0;
    for (size_t k = 0; k < f->set.num; ++k) {
        double off = psfm_dot3(normal, f->points[f->member[k]]) - distance;
        sum += off * off;
    }
    return sum;
}

/* No plane near it has a smaller sum of squares. */
static void a_refit_is_the_least_squares(void **state) {
    static fixture f;
    psfm_rng rng;
    (void)state;
    open_set(2, 200, &rng, &f);
    for (size_t k = 0; k < 200; ++k)
        put_point(&f, k, psfm_rng_range(&rng, -5.0, 5.0), psfm_rng_range(&rng, -2.0, 2.0),
                  psfm_rng_normal(&rng));
    psfm_flat_set_refit((const double(*)[3])f.points, &f.set);
    double least = sum_of_squares(&f, f.set.normal, f.set.distance);
    for (int round = 0; round < 200; ++round) {
        double normal[3], step[3];
        psfm_rng_direction(&rng, step);
        psfm_axpy3(f.set.normal, 0.02, step, normal);
        psfm_normalize3(normal);
        assert_true(sum_of_squares(&f, normal, f.set.distance + 0.01 * psfm_rng_normal(&rng)) >
                    least);
    }
}

/* A wall 400 long and 2 high that drifts off by 4 or 12 to its ends; at 12 the whole lies flat on
 * the ground. Its normals turn by at most 7 degrees to each side. */
static void a_long_wall_that_drifts_is_curved(void **state) {
    static fixture f;
    psfm_rng rng;
    static const double drift[] = {0.0, 4.0, 12.0};
    for (uint64_t round = 0; round < 15; ++round) {
        double most = drift[round % 3];
        open_set(20 + round, 1500, &rng, &f);
        for (size_t k = 0; k < 1500; ++k) {
            double x = psfm_rng_range(&rng, -1.0, 1.0);
            put_point(&f, k, 200.0 * x, psfm_rng_range(&rng, -1.0, 1.0), most * x * x);
        }
        fit(*state, &f);
        double cosine = psfm_dot3(f.set.normal, f.normal);
        assert_true(f.set.flat);
        assert_int_equal(f.set.curved, most > 0.0);
        assert_close(fabs(cosine), 1.0, most > 0.0 ? 1e-3 : 1e-9);
        /* the median of x^2 is 1/4 */
        assert_close(copysign(1.0, cosine) * f.set.distance, f.distance + 0.25 * most,
                     0.1 * most + 1e-9);
    }
}

/* A sixth of the wall of a tower: every patch is flat, but too few point the same way. */
static void a_round_wall_is_no_plane(void **state) {
    static fixture f;
    psfm_rng rng;
    open_set(4, 1500, &rng, &f);
    for (size_t k = 0; k < 1500; ++k) {
        double turn = psfm_rng_range(&rng, -M_PI / 6.0, M_PI / 6.0);
        put_point(&f, k, 60.0 * sin(turn), psfm_rng_range(&rng, -2.0, 2.0), 60.0 * cos(turn));
    }
    fit(*state, &f);
    assert_false(f.set.flat || f.set.curved);
}

static void what_is_no_plane_is_not_flat(void **state) {
    static fixture f;
    psfm_rng rng;
    static const struct {
        const char *name;
        double x, y, off;
        size_t num;
    } cases[] = {{"a ball", 1.0, 1.0, 1.0, 200},
                 {"a line", 1.0, 0.0, 0.0, 200},
                 {"a needle", 1.0, 1e-3, 1e-3, 200},
                 {"one place", 0.0, 0.0, 0.0, 200},
                 {"too few points", 1.0, 1.0, 0.0, MIN_POINTS - 1},
                 {"nothing", 1.0, 1.0, 0.0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        open_set(5 + c, cases[c].num, &rng, &f);
        for (size_t k = 0; k < cases[c].num; ++k)
            put_point(&f, k, cases[c].x * psfm_rng_normal(&rng), cases[c].y * psfm_rng_normal(&rng),
                      cases[c].off * psfm_rng_normal(&rng));
        f.set.flat = f.set.curved = true;
        fit(*state, &f);
        if (f.set.flat || f.set.curved)
            fail_msg("%s is flat", cases[c].name);
    }
}

/* The points of a set may be in another order afterwards, but are the same. */
static void members_stay(void **state) {
    static fixture f;
    static bool seen[MAX_POINTS];
    psfm_rng rng;
    open_set(3, 1500, &rng, &f);
    for (size_t k = 0; k < 1500; ++k)
        put_point(&f, k, psfm_rng_range(&rng, -200.0, 200.0), psfm_rng_range(&rng, -1.0, 1.0), 0.0);
    fit(*state, &f);
    for (size_t k = 0; k < 1500; ++k) {
        assert_true(f.member[k] % 2 == 0 && f.member[k] < 3000 && !seen[f.member[k]]);
        seen[f.member[k]] = true;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_points_give_their_plane),
        cmocka_unit_test(wrong_points_do_not_move_the_plane),
        cmocka_unit_test(a_refit_is_the_least_squares),
        cmocka_unit_test(a_long_wall_that_drifts_is_curved),
        cmocka_unit_test(a_round_wall_is_no_plane),
        cmocka_unit_test(what_is_no_plane_is_not_flat),
        cmocka_unit_test(members_stay),
    };
    return cmocka_run_group_tests_name("structure/fit_plane", tests, open_context, close_context);
}
