#include "test_util.h"

#include "core/twoview/homography.h"
#include "core/twoview/joint_motion.h"
#include "unit/core/twoview/twoview_util.h"

/* The planes of a scene with their matches, and the matches on none. */
typedef struct {
    psfm_ray_pairs pairs, off;
    psfm_joint_plane planes[SCENE_MAX_PLANES];
    psfm_motion truth;
} setup;

static setup prepare(const scene *s) {
    setup t;
    uint32_t *idx = malloc(s->c.num * sizeof *idx);
    t.pairs = pairs_of(s);
    memcpy(t.truth.R_21, s->R_21, sizeof t.truth.R_21);
    memcpy(t.truth.t_21, s->t_21, sizeof t.truth.t_21);
    double length = psfm_normalize3(t.truth.t_21);
    for (int p = -1; p < s->num_planes; ++p) {
        size_t num = 0;
        for (uint32_t i = 0; i < t.pairs.num; ++i)
            if (s->plane[t.pairs.row[i]] == p)
                idx[num++] = i;
        psfm_ray_pairs *out = p < 0 ? &t.off : &t.planes[p].pairs;
        assert_ok(NULL, psfm_ray_pairs_select(NULL, &t.pairs, idx, num, out));
        if (p >= 0) {
            psfm_scale3(length / s->d1[p], s->n1[p], t.planes[p].m);
            t.planes[p].max_squared = 1e6;
        }
    }
    free(idx);
    return t;
}

static void drop(setup *t, int num_planes) {
    psfm_ray_pairs_free(&t->pairs);
    psfm_ray_pairs_free(&t->off);
    for (int p = 0; p < num_planes; ++p)
        psfm_ray_pairs_free(&t->planes[p].pairs);
}

static void homographies_come_from_motion_and_plane(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    scene s = scene_make(&o, 1);
    setup t = prepare(&s);
    for (int p = 0; p < 2; ++p) {
        double H[9], m[3], U[9], w[3], V[9];
        psfm_joint_homography(&t.truth, t.planes[p].m, H);
        for (int k = 0; k < 9; ++k)
            assert_close(H[k], s.H_21[p][k], 1e-12);
        psfm_mat3_svd(H, U, w, V);
        assert_close(w[1], 1.0, 1e-12);
        psfm_joint_plane_start(&t.truth, H, m);
        for (int k = 0; k < 3; ++k)
            assert_close(m[k], t.planes[p].m[k], 1e-12);
    }
    drop(&t, 2);
    scene_free(&s);
}

static void exact_without_noise(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.off_plane = 0.2;
    o.num_matches = 120;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = scene_make(&o, seed);
        setup t = prepare(&s);
        psfm_motion m;
        double step[5], truth[2][3];
        for (int k = 0; k < 5; ++k)
            step[k] = 0.003 * psfm_rng_normal(&rng);
        psfm_motion_move(&t.truth, step, &m);
        for (int p = 0; p < 2; ++p) {
            memcpy(truth[p], t.planes[p].m, sizeof truth[p]);
            for (int k = 0; k < 3; ++k)
                t.planes[p].m[k] += 0.003 * psfm_rng_normal(&rng);
        }
        assert_ok(NULL, psfm_joint_refine(NULL, t.planes, 2, &t.off, 1e6, &m));
        assert_below(motion_error_deg(m.R_21, m.t_21, t.truth.R_21, t.truth.t_21), 1e-5);
        for (int p = 0; p < 2; ++p)
            for (int k = 0; k < 3; ++k)
                assert_close(t.planes[p].m[k], truth[p][k], 1e-6);
        drop(&t, 2);
        scene_free(&s);
    }
}

/* Knowing that points are coplanar helps: the joint estimate beats the essential matrix alone. */
static void better_than_the_essential_matrix(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.off_plane = 0.2;
    o.noise_px = 1.0;
    double joint = 0.0, alone = 0.0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        scene s = scene_make(&o, seed);
        setup t = prepare(&s);
        psfm_motion a = t.truth, b = t.truth;
        psfm_loss loss = {1e6, 0.0};
        assert_ok(NULL, psfm_joint_refine(NULL, t.planes, 1, &t.off, 1e6, &a));
        psfm_motion_refine(&t.pairs, t.pairs.num_blocks, loss, 50, &b);
        joint += motion_error_deg(a.R_21, a.t_21, t.truth.R_21, t.truth.t_21);
        alone += motion_error_deg(b.R_21, b.t_21, t.truth.R_21, t.truth.t_21);
        drop(&t, 1);
        scene_free(&s);
    }
    assert_below(joint, 0.9 * alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(homographies_come_from_motion_and_plane),
        cmocka_unit_test(exact_without_noise),
        cmocka_unit_test(better_than_the_essential_matrix),
    };
    return cmocka_run_group_tests_name("twoview/joint_motion", tests, NULL, NULL);
}
