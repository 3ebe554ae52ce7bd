#include "test_util.h"

#include "unit/core/twoview/twoview_util.h"

static void tangent_inverts_the_derivative(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 21;
    scene s = scene_make(&o, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    assert_int_equal(pairs.num, 21);
    assert_int_equal(pairs.num_blocks, 3);
    assert_int_equal(psfm_ray_pairs_unused(&pairs), 3);
    for (size_t i = 0; i < pairs.num; ++i) {
        const psfm_ray_block *b = &pairs.blocks[i / PSFM_LANES];
        size_t l = i % PSFM_LANES;
        for (size_t r = 0; r < 2; ++r) {
            for (size_t c = 0; c < 2; ++c) {
                double first = 0.0, second = 0.0;
                for (size_t k = 0; k < 3; ++k) {
                    first += b->px1[3 * r + k][l] * b->tan1[2 * k + c][l];
                    second += b->px2[3 * r + k][l] * b->tan2[2 * k + c][l];
                }
                assert_close(first, r == c, 1e-12);
                assert_close(second, r == c, 1e-12);
            }
        }
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(&pairs, i, ray1, ray2);
        assert_memory_equal(ray1, s.c.ray1[pairs.row[i]], sizeof ray1);
        assert_memory_equal(ray2, s.c.ray2[pairs.row[i]], sizeof ray2);
    }
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void shuffling_keeps_every_row_once(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 100;
    scene s = scene_make(&o, 2);
    psfm_ray_pairs pairs = pairs_of(&s);
    bool seen[100] = {false}, moved = false;
    for (size_t i = 0; i < 100; ++i) {
        assert_false(seen[pairs.row[i]]);
        seen[pairs.row[i]] = true;
        moved = moved || pairs.row[i] != i;
    }
    assert_true(moved);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void unusable_rows_are_left_out(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 12;
    scene s = scene_make(&o, 3);
    s.c.ray1[0][1] = NAN;
    s.c.ray2[1][0] = INFINITY;
    memset(s.c.ray1[2], 0, sizeof s.c.ray1[2]);
    memset(s.c.px2[3], 0, sizeof s.c.px2[3]);
    s.c.px1[4][5] = NAN;
    memcpy(s.c.px1[5] + 3, s.c.px1[5], 3 * sizeof(double)); /* rank one */
    for (int k = 0; k < 6; ++k)
        s.c.px2[6][k] = 1e200;
    psfm_ray_pairs pairs;
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &s.c, NULL, &pairs));
    assert_int_equal(pairs.num, 5);
    for (uint32_t i = 0; i < 5; ++i)
        assert_int_equal(pairs.row[i], 7 + i);
    psfm_ray_pairs_free(&pairs);
    s.c.num = 0;
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &s.c, NULL, &pairs));
    assert_int_equal(pairs.num, 0);
    psfm_ray_pairs_free(&pairs);
    s.c.num = 12;
    scene_free(&s);
}

/* Distances between the integrated positions are those between the pixels, to a tenth. */
static void positions_are_pixels(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.camera.focal = 700; /* 72 degrees across */
    o.num_matches = 200;
    scene s = scene_make(&o, 4);
    psfm_ray_pairs pairs = pairs_of(&s);
    for (size_t i = 0; i + 1 < pairs.num; ++i) {
        const double *a = pairs.xy1[i], *b = pairs.xy1[i + 1];
        const double *p = s.xy1[pairs.row[i]], *q = s.xy1[pairs.row[i + 1]];
        double pixels = hypot(p[0] - q[0], p[1] - q[1]);
        assert_close(hypot(a[0] - b[0], a[1] - b[1]), pixels, 0.15 * pixels + 1.0);
    }
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void selection_copies_rows(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 40;
    scene s = scene_make(&o, 5);
    psfm_ray_pairs pairs = pairs_of(&s), some;
    const uint32_t idx[9] = {39, 0, 5, 6, 7, 8, 9, 17, 31};
    assert_ok(NULL, psfm_ray_pairs_select(NULL, &pairs, idx, 9, &some));
    assert_int_equal(some.num, 9);
    assert_int_equal(some.num_blocks, 2);
    for (size_t i = 0; i < 9; ++i) {
        double a1[3], a2[3], b1[3], b2[3];
        assert_int_equal(some.row[i], pairs.row[idx[i]]);
        psfm_ray_pairs_get(&some, i, a1, a2);
        psfm_ray_pairs_get(&pairs, idx[i], b1, b2);
        assert_memory_equal(a1, b1, sizeof a1);
        assert_memory_equal(a2, b2, sizeof a2);
        assert_memory_equal(some.xy2[i], pairs.xy2[idx[i]], sizeof some.xy2[i]);
    }
    psfm_ray_pairs head = psfm_ray_pairs_head(&pairs, 3);
    assert_int_equal(head.num, 24);
    assert_int_equal(psfm_ray_pairs_head(&pairs, 100).num, 40);
    assert_int_equal(psfm_ray_pairs_within(&pairs, 100), 40);
    psfm_ray_pairs_free(&some);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_inverts_the_derivative),
        cmocka_unit_test(shuffling_keeps_every_row_once),
        cmocka_unit_test(unusable_rows_are_left_out),
        cmocka_unit_test(positions_are_pixels),
        cmocka_unit_test(selection_copies_rows),
    };
    return cmocka_run_group_tests_name("matches/ray_pairs", tests, NULL, NULL);
}
