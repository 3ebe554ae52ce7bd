#include "test_util.h"

#include "core/twoview/homography.h"
#include "core/twoview/plane_motion_agreement.h"
#include "unit/core/twoview/twoview_util.h"

static const double area[2] = {1024.0 * 768.0, 1024.0 * 768.0};

/* A scene with the true motion as essential matrix and any homographies as planes. */
typedef struct {
    scene s;
    psfm_ray_pairs pairs;
    psfm_plane_set planes;
    psfm_essential_found essential;
    psfm_two_view_options options;
} setup;

static void prepare(const scene_options *o, uint64_t seed, setup *t) {
    t->s = scene_make(o, seed);
    t->pairs = pairs_of(&t->s);
    psfm_options_init(&psfm_two_view_option_table, &t->options);
    assert_ok(NULL, psfm_plane_set_init(NULL, t->pairs.num, 5, &t->planes));
    memset(&t->essential, 0, sizeof t->essential);
    psfm_motion *m = &t->essential.motion;
    memcpy(m->R_21, t->s.R_21, sizeof m->R_21);
    memcpy(m->t_21, t->s.t_21, sizeof m->t_21);
    psfm_normalize3(m->t_21);
    t->essential.found = t->essential.has_off_plane = true;
    t->essential.plane_share = 0.5;
    t->essential.inliers = calloc(t->pairs.num, sizeof *t->essential.inliers);
}

static void add_plane(setup *t, const double H[9]) {
    double *scratch = malloc(2 * (t->pairs.num + PSFM_LANES) * sizeof *scratch);
    uint32_t *best = malloc(t->pairs.num * sizeof *best);
    double *normalized = t->planes.H_21[t->planes.num_planes++];
    memcpy(normalized, H, 9 * sizeof *H);
    assert_true(psfm_homography_normalize(normalized));
    psfm_plane_set_assign(&t->planes, &t->pairs, 16.0, scratch, scratch + t->pairs.num + PSFM_LANES,
                          best);
    free(scratch);
    free(best);
}

static void reconcile(setup *t) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_ESSENTIAL, 0, 0);
    assert_ok(NULL,
              psfm_reconcile(NULL, &t->pairs, area, &t->options, &rng, &t->planes, &t->essential));
}

static void drop(setup *t) {
    free(t->essential.inliers);
    psfm_plane_set_free(&t->planes);
    psfm_ray_pairs_free(&t->pairs);
    scene_free(&t->s);
}

/* Largest transfer error in px of the true inliers of plane p under the nearest found plane. */
static bool has_plane(const setup *t, int p) {
    for (size_t k = 0; k < t->planes.num_planes; ++k) {
        double worst = 0.0;
        for (size_t i = 0; i < t->pairs.num; ++i) {
            double a[2], b[2];
            if (t->s.plane[t->pairs.row[i]] != p)
                continue;
            psfm_homography_transfer(&t->pairs, i, t->s.H_21[p], a);
            psfm_homography_transfer(&t->pairs, i, t->planes.H_21[k], b);
            worst = fmax(worst, hypot(a[0] - b[0], a[1] - b[1]));
        }
        if (worst < 3.0)
            return true;
    }
    return false;
}

static void a_missing_plane_is_found(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.noise_px = 0.5;
    o.outliers = 0.2;
    o.baseline[0] = 0.5;
    int both = 0;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        setup t;
        prepare(&o, seed, &t);
        add_plane(&t, t.s.H_21[0]);
        reconcile(&t);
        both += t.planes.num_planes == 2 && has_plane(&t, 0) && has_plane(&t, 1);
        for (size_t p = 0; p < t.planes.num_planes; ++p) {
            assert_true(t.planes.obeys[p]);
            assert_true(p == 0 || t.planes.num_inliers[p] <= t.planes.num_inliers[p - 1]);
        }
        assert_true(t.essential.num_inliers >= 390);
        drop(&t);
    }
    assert_true(both >= 9);
}

/* A homography fitted to two planes at once is given up for the two. */
static void a_compromise_is_split(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.noise_px = 0.3;
    o.baseline[0] = 0.5;
    int both = 0;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        setup t;
        double H[9];
        prepare(&o, seed, &t);
        assert_true(psfm_homography_fit(&t.pairs, t.pairs.num_blocks, H));
        t.planes.num_planes = 1;
        memcpy(t.planes.H_21[0], H, sizeof H);
        assert_true(psfm_homography_normalize(t.planes.H_21[0]));
        memset(t.planes.plane, 0, t.pairs.num * sizeof *t.planes.plane);
        t.planes.num_inliers[0] = t.pairs.num;
        reconcile(&t);
        both += t.planes.num_planes == 2 && has_plane(&t, 0) && has_plane(&t, 1);
        drop(&t);
    }
    assert_true(both >= 9);
}

static void a_small_plane_that_contradicts_is_dropped(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 0.5;
    o.off_plane = 0.3;
    o.baseline[0] = 0.3;
    for (uint64_t seed = 0; seed < 10; ++seed) {
        setup t;
        prepare(&o, seed, &t);
        /* some off-plane matches are given to a plane that is not there */
        double H[9] = {1.1, 0.05, 0.1, -0.05, 0.95, 0.02, 0.1, 0.2, 1};
        add_plane(&t, t.s.H_21[0]);
        memcpy(t.planes.H_21[1], H, sizeof H);
        assert_true(psfm_homography_normalize(t.planes.H_21[1]));
        t.planes.num_planes = 2;
        t.planes.num_inliers[1] = 0;
        for (size_t i = 0; i < t.pairs.num && t.planes.num_inliers[1] < 20; ++i)
            if (t.planes.plane[i] == PSFM_NO_PLANE) {
                t.planes.plane[i] = 1;
                ++t.planes.num_inliers[1];
            }
        reconcile(&t);
        assert_int_equal(t.planes.num_planes, 1);
        assert_true(has_plane(&t, 0));
        drop(&t);
    }
}

static void nothing_happens_without_a_determined_motion(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    setup t;
    prepare(&o, 1, &t);
    add_plane(&t, t.s.H_21[0]);
    t.essential.has_off_plane = false;
    psfm_motion before = t.essential.motion;
    double H[9];
    memcpy(H, t.planes.H_21[0], sizeof H);
    reconcile(&t);
    assert_false(t.planes.obeys[0]);
    assert_memory_equal(H, t.planes.H_21[0], sizeof H);
    assert_memory_equal(&before, &t.essential.motion, sizeof before);
    t.essential.has_off_plane = true;
    t.essential.plane_share = 0.95;
    reconcile(&t);
    assert_false(t.planes.obeys[0]);
    drop(&t);
}

/* Relief must not bend the motion: the points of a rough plane count for the motion only. */
static void relief_does_not_bend_the_motion(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.off_plane = 0.3;
    o.baseline[0] = 0.5;
    o.noise_px = 0.2;
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    for (uint64_t seed = 0; seed < 10; ++seed) {
        setup t;
        prepare(&o, seed, &t);
        scene *s = &t.s;
        for (size_t i = 0; i < s->c.num; ++i) { /* lift the plane's points by about 2 px */
            double X[3], px[6], xy[2];
            if (s->plane[i] != 0)
                continue;
            double depth = s->d1[0] / psfm_dot3(s->n1[0], s->c.ray1[i]);
            depth *= 1.0 + 0.004 * psfm_rng_normal(&rng);
            psfm_mat3_mul_vec(s->R_21, s->c.ray1[i], X);
            psfm_scale3(depth, X, X);
            psfm_axpy3(X, 1.0, s->t_21, X);
            scene_project(&o.camera, X, xy, px);
            psfm_normalize3(X);
            memcpy(s->c.ray2[i], X, sizeof X);
            scene_project(&o.camera, X, xy, s->c.px2[i]);
        }
        psfm_ray_pairs_free(&t.pairs);
        t.pairs = pairs_of(s);
        add_plane(&t, s->H_21[0]);
        reconcile(&t);
        assert_true(t.planes.num_planes >= 1 && t.planes.obeys[0]);
        assert_below(
            motion_error_deg(t.essential.motion.R_21, t.essential.motion.t_21, s->R_21, s->t_21),
            1e-6);
        drop(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_plane_is_found),
        cmocka_unit_test(a_compromise_is_split),
        cmocka_unit_test(a_small_plane_that_contradicts_is_dropped),
        cmocka_unit_test(nothing_happens_without_a_determined_motion),
        cmocka_unit_test(relief_does_not_bend_the_motion),
    };
    return cmocka_run_group_tests_name("twoview/plane_motion_agreement", tests, NULL, NULL);
}
