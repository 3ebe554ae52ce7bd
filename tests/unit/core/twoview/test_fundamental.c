#include "core/twoview/fundamental.h"
#include "unit/core/twoview/twoview_util.h"

static scene make_scene(int num_planes, double off_plane, double outliers, double noise_px,
                        uint64_t seed) {
    scene_options o = scene_defaults();
    o.num_planes = num_planes;
    o.off_plane = off_plane;
    o.outliers = outliers;
    o.noise_px = noise_px;
    o.baseline[0] = 0.3;
    return scene_make(&o, seed);
}

/* Rays of a camera whose focal length is wrong by a factor, on either side: x and y are divided by
 * it. */
static void misjudge(psfm_ray_pairs *pairs, double factor1, double factor2) {
    for (size_t b = 0; b < pairs->num_blocks; ++b)
        for (int k = 0; k < 6; ++k)
            for (int l = 0; l < PSFM_LANES; ++l) {
                psfm_ray_block *block = &pairs->blocks[b];
                if (k < 2) {
                    block->ray1[k][l] /= factor1;
                    block->ray2[k][l] /= factor2;
                }
                if (k < 4) {
                    block->tan1[k][l] /= factor1;
                    block->tan2[k][l] /= factor2;
                }
            }
}

/* The true F of such rays, of unit norm. */
static void true_fundamental(const scene *s, double factor1, double factor2, double F[9]) {
    const double *t = s->t_21;
    const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    double norm = 0.0;
    psfm_mat3_mul(cross, s->R_21, F);
    for (int k = 0; k < 9; ++k) {
        F[k] *= (k / 3 < 2 ? factor2 : 1.0) * (k % 3 < 2 ? factor1 : 1.0);
        norm += F[k] * F[k];
    }
    for (int k = 0; k < 9; ++k)
        F[k] /= sqrt(norm);
}

/* Distance of two matrices of unit norm, whatever their signs. */
static double distance(const double A[9], const double B[9]) {
    double dot = 0.0;
    for (int k = 0; k < 9; ++k)
        dot += A[k] * B[k];
    return sqrt(fmax(0.0, 2.0 - 2.0 * fabs(dot)));
}

static psfm_fundamental_found find(const psfm_ray_pairs *pairs, const double *H) {
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_fundamental_found found;
    assert_ok(ctx, psfm_fundamental_ransac(ctx, pairs, H, 4.0, &rng, &found));
    psfm_context_destroy(&ctx);
    return found;
}

static void seven_matches_have_the_truth_among_their_matrices(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = make_scene(0, 1.0, 0.0, 0.0, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        double ray1[7][3], ray2[7][3], F[3][9], truth[9], best = 1.0;
        misjudge(&pairs, 1.3, 0.8);
        true_fundamental(&s, 1.3, 0.8, truth);
        for (size_t k = 0; k < 7; ++k)
            psfm_ray_pairs_get(&pairs, k, ray1[k], ray2[k]);
        int num = psfm_seven_point((const double(*)[3])ray1, (const double(*)[3])ray2, F);
        assert_true(num >= 1 && num <= 3);
        for (int k = 0; k < num; ++k) {
            best = fmin(best, distance(F[k], truth));
            assert_below(fabs(psfm_mat3_det(F[k])), 1e-9);
        }
        assert_below(best, 1e-5);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* From a matrix of full rank near the truth back to it. */
static void refinement_ends_at_the_truth(void **state) {
    (void)state;
    scene s = make_scene(0, 1.0, 0.0, 0.0, 5);
    psfm_ray_pairs pairs = pairs_of(&s);
    double F[9], truth[9];
    misjudge(&pairs, 1.3, 1.3);
    true_fundamental(&s, 1.3, 1.3, truth);
    for (int k = 0; k < 9; ++k)
        F[k] = truth[k] + 0.01 * ((k * 5) % 9 - 4) / 4.0;
    double cost = psfm_fundamental_refine(&pairs, pairs.num_blocks, (psfm_loss){1e12, 0.0}, 50, F);
    assert_below(cost, 1e-12);
    assert_below(distance(F, truth), 1e-7);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void wrong_matches_and_wrong_focal_lengths_do_not_matter(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        scene s = make_scene(0, 1.0, 0.4, 0.7, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        size_t wrong = 0;
        misjudge(&pairs, 1.28, 1.28);
        psfm_fundamental_found found = find(&pairs, NULL);
        assert_true(found.found);
        assert_close(found.sigma_px, 0.7, 0.07);
        for (size_t k = 0; k < found.num_inliers; ++k)
            wrong += s.plane[pairs.row[found.inliers[k]]] == -2;
        assert_true(found.num_inliers > 280);
        assert_true(wrong < 10);
        free(found.inliers);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* On a plane any epipole will do; the wrong matches must not choose one. Some matches off it do. */
static void a_plane_carries_none(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; ++seed)
        for (int k = 0; k < 2; ++k) {
            scene s = make_scene(1, k == 0 ? 0.0 : 0.3, 0.3, 0.7, seed);
            psfm_ray_pairs pairs = pairs_of(&s);
            psfm_fundamental_found found = find(&pairs, s.H_21[0]);
            if (k == 0)
                assert_true(!found.found || found.plane_share > 0.9);
            else
                assert_true(found.found && found.plane_share < 0.85);
            free(found.inliers);
            psfm_ray_pairs_free(&pairs);
            scene_free(&s);
        }
}

static void chance_is_not_found(void **state) {
    (void)state;
    scene s = make_scene(0, 1.0, 1.0, 0.7, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_fundamental_found found = find(&pairs, NULL);
    assert_false(found.found);
    assert_null(found.inliers);
    psfm_ray_pairs few = psfm_ray_pairs_head(&pairs, 0);
    found = find(&few, NULL);
    assert_false(found.found);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_matches_have_the_truth_among_their_matrices),
        cmocka_unit_test(refinement_ends_at_the_truth),
        cmocka_unit_test(wrong_matches_and_wrong_focal_lengths_do_not_matter),
        cmocka_unit_test(a_plane_carries_none),
        cmocka_unit_test(chance_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
