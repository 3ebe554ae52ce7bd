/* One point from observations of which any may be wrong, or used by another point. */
#include "core/structure/triangulate_point.h"

#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { MAX_VIEWS = 60, MIN_LENGTH = 3 };
static const double max_error_px = 4.0, min_angle_deg = 1.5;

static const psfm_camera camera = {.model = PSFM_CAMERA_SIMPLE_RADIAL,
                                   .width = 1000,
                                   .height = 800,
                                   .params = {900.0, 500.0, 400.0, 0.05}};

typedef struct {
    double X[3], R[MAX_VIEWS][9], c[MAX_VIEWS][3], xy[MAX_VIEWS][2], ray[MAX_VIEWS][3];
    double px[MAX_VIEWS][6];
    psfm_ray_observation s[MAX_VIEWS];
    psfm_rng rng;
} track;

static void observe_pixel(track *t, size_t k, const double xy[2]) {
    double again[2];
    memcpy(t->xy[k], xy, sizeof t->xy[k]);
    assert_true(psfm_camera_unproject(&camera, xy, t->ray[k]));
    psfm_normalize3(t->ray[k]);
    assert_true(psfm_camera_project_jacobian(&camera, t->ray[k], again, t->px[k]));
    psfm_ray_observation *s = &t->s[k];
    *s = (psfm_ray_observation){.camera = &camera,
                                .R = t->R[k],
                                .c = t->c[k],
                                .ray = t->ray[k],
                                .px_from_ray = t->px[k],
                                .xy = t->xy[k]};
    psfm_mat3_tmul_vec(t->R[k], t->ray[k], s->direction);
}

/* Cameras around a place `away` in front of them, `apart` from each other; those of `wrong` show
 * the point elsewhere. */
static void make_track(uint64_t seed, size_t num, double apart, uint64_t wrong, track *t) {
    t->rng = psfm_rng_make(seed, PSFM_RNG_TEST, 46, 0);
    for (int i = 0; i < 3; ++i)
        t->X[i] = psfm_rng_range(&t->rng, -1.0, 1.0) + (i == 2 ? 8.0 : 0.0);
    for (size_t k = 0; k < num; ++k) {
        double w[3], D[3], Y[3], xy[2];
        do {
            for (int i = 0; i < 3; ++i) {
                t->c[k][i] = apart * psfm_rng_range(&t->rng, -1.0, 1.0);
                w[i] = psfm_rng_range(&t->rng, -0.2, 0.2);
            }
            psfm_rotation_exp(w, t->R[k]);
            psfm_sub3(t->X, t->c[k], D);
            psfm_mat3_mul_vec(t->R[k], D, Y);
            assert_true(psfm_camera_project(&camera, Y, xy));
        } while (!(xy[0] > 0.0 && xy[0] < 1000.0 && xy[1] > 0.0 && xy[1] < 800.0));
        for (int i = 0; i < 2 && wrong >> k & 1; ++i)
            xy[i] = psfm_rng_range(&t->rng, 0.0, i == 0 ? 1000.0 : 800.0);
        observe_pixel(t, k, xy);
    }
}

static psfm_point_outcome triangulate(track *t, size_t num, psfm_triangulated_point *p) {
    return psfm_triangulate_point(t->s, num, MIN_LENGTH, max_error_px, min_angle_deg, &t->rng, p);
}

static void assert_found(track *t, size_t num, uint64_t wrong) {
    psfm_triangulated_point p;
    assert_int_equal(triangulate(t, num, &p), PSFM_POINT_FOUND);
    for (int i = 0; i < 3; ++i)
        assert_close(p.X[i], t->X[i], 1e-8);
    assert_below(p.error_px, 1e-6);
    for (size_t k = 0; k < num; ++k)
        assert_int_equal(t->s[k].inlier, !(wrong >> k & 1));
}

static size_t count_bits(uint64_t bits) {
    size_t num = 0;
    for (; bits != 0; bits &= bits - 1)
        ++num;
    return num;
}

/* Whichever they are, as long as three and most of the rest are right. */
static void any_wrong_observations_of_short_tracks_are_left_out(void **state) {
    static track t;
    (void)state;
    for (size_t num = MIN_LENGTH; num <= 8; ++num)
        for (uint64_t wrong = 0; wrong < (uint64_t)1 << num; ++wrong) {
            if (num - count_bits(wrong) < MIN_LENGTH + (num > 5 ? 1 : 0))
                continue;
            make_track(wrong, num, 3.0, wrong, &t);
            assert_found(&t, num, wrong);
        }
}

static void half_of_a_long_track_may_be_wrong(void **state) {
    static track t;
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 47, 0);
        uint64_t wrong = psfm_rng_next(&rng) & (((uint64_t)1 << MAX_VIEWS) - 1);
        make_track(seed, MAX_VIEWS, 3.0, wrong, &t);
        assert_found(&t, MAX_VIEWS, wrong);
    }
}

/* What another point has is not taken, nor counted: it is not even looked at. */
static void used_observations_take_no_part(void **state) {
    static track t;
    (void)state;
    for (uint64_t used = 0; used < 64; ++used) {
        psfm_triangulated_point p;
        make_track(100 + used, 6, 3.0, used, &t);
        for (size_t k = 0; k < 6; ++k)
            t.s[k].used = used >> k & 1;
        if (6 - count_bits(used) < MIN_LENGTH)
            assert_int_equal(triangulate(&t, 6, &p), PSFM_POINT_FEW);
        else
            assert_found(&t, 6, used);
    }
}

/* Four observations of another point, three of this one and a wrong one: the four agree best, but
 * are used. */
static void used_observations_do_not_vote(void **state) {
    static track t;
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        make_track(seed, 8, 3.0, 1u << 6, &t);
        static const size_t used[4] = {0, 2, 4, 7};
        for (int u = 0; u < 4; ++u) {
            size_t k = used[u];
            double other[3] = {t.X[0] + 0.5, t.X[1], t.X[2] - 0.5}, D[3], Y[3], xy[2];
            psfm_sub3(other, t.c[k], D);
            psfm_mat3_mul_vec(t.R[k], D, Y);
            assert_true(psfm_camera_project(&camera, Y, xy));
            observe_pixel(&t, k, xy);
            t.s[k].used = true;
        }
        assert_found(&t, 8, 1u << 0 | 1u << 2 | 1u << 4 | 1u << 6 | 1u << 7);
    }
}

/* The angle between the rays, by the centres; too small, none, and behind the cameras. */
static void rays_that_tell_nothing_give_no_point(void **state) {
    static track t;
    psfm_triangulated_point p;
    (void)state;
    make_track(5, 4, 3.0, 0, &t);
    assert_int_equal(triangulate(&t, 4, &p), PSFM_POINT_FOUND);
    double largest = 0.0;
    for (size_t a = 0; a < 4; ++a)
        for (size_t b = 0; b < a; ++b) {
            double u[3], v[3];
            psfm_sub3(t.c[a], t.X, u);
            psfm_sub3(t.c[b], t.X, v);
            largest = fmax(largest, psfm_angle3(u, v));
        }
    assert_close(p.angle_deg, largest * 180.0 / M_PI, 1e-6);
    make_track(5, 4, 0.02, 0, &t);
    assert_int_equal(triangulate(&t, 4, &p), PSFM_POINT_SMALL_ANGLE);
    make_track(5, 4, 3.0, 0xf, &t);
    assert_int_equal(triangulate(&t, 4, &p), PSFM_POINT_NO_AGREEMENT);
    make_track(5, 2, 3.0, 0, &t);
    assert_int_equal(triangulate(&t, 2, &p), PSFM_POINT_FEW);
    make_track(5, 4, 3.0, 0, &t);
    for (size_t k = 0; k < 4; ++k) /* the centres mirrored in the point: it is behind all of them */
        for (int i = 0; i < 3; ++i)
            t.c[k][i] = 2.0 * t.X[i] - t.c[k][i];
    assert_int_equal(triangulate(&t, 4, &p), PSFM_POINT_NO_AGREEMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_wrong_observations_of_short_tracks_are_left_out),
        cmocka_unit_test(half_of_a_long_track_may_be_wrong),
        cmocka_unit_test(used_observations_take_no_part),
        cmocka_unit_test(used_observations_do_not_vote),
        cmocka_unit_test(rays_that_tell_nothing_give_no_point),
    };
    return cmocka_run_group_tests_name("structure/triangulate_point", tests, NULL, NULL);
}
