#include "test_util.h"

#include "core/twoview/plane_set.h"
#include "unit/core/twoview/twoview_util.h"

static void pairs_go_where_they_fit_best(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_planes = 2;
    o.outliers = 0.2;
    o.baseline[0] = 0.5;
    scene s = scene_make(&o, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    psfm_plane_set set;
    assert_ok(NULL, psfm_plane_set_init(NULL, pairs.num, 3, &set));
    memcpy(set.H_21[0], s.H_21[0], sizeof set.H_21[0]);
    memcpy(set.H_21[1], s.H_21[1], sizeof set.H_21[1]);
    set.num_planes = 2;
    set.plane[7] = PSFM_NO_PLANE - 1; /* a label of the caller's */
    double nearest[504], squared[504];
    uint32_t best[500], idx[500];
    assert_true(psfm_plane_set_assign(&set, &pairs, 1e-6, nearest, squared, best));
    size_t on_first = 0;
    for (size_t i = 0; i < pairs.num; ++i) {
        int truth = s.plane[pairs.row[i]];
        if (truth >= 0)
            assert_int_equal(set.plane[i], truth);
        else if (i == 7)
            assert_int_equal(set.plane[i], PSFM_NO_PLANE - 1);
        else
            assert_int_equal(set.plane[i], PSFM_NO_PLANE);
        assert_true((truth >= 0) == (nearest[i] < 1e-6));
        on_first += truth == 0;
    }
    assert_int_equal(set.num_inliers[0], on_first);
    assert_int_equal(psfm_plane_set_gather(&set, pairs.num, 0, idx), on_first);
    assert_false(psfm_plane_set_assign(&set, &pairs, 1e-6, nearest, squared, best));
    psfm_plane_set_free(&set);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void removing_and_sorting_keep_labels_right(void **state) {
    (void)state;
    psfm_plane_set set;
    assert_ok(NULL, psfm_plane_set_init(NULL, 10, 4, &set));
    const uint32_t labels[10] = {0, 1, 1, 2, 2, 2, 3, 3, 3, PSFM_NO_PLANE};
    memcpy(set.plane, labels, sizeof labels);
    set.num_planes = 4;
    for (size_t p = 0; p < 4; ++p) {
        set.H_21[p][0] = (double)p;
        set.num_inliers[p] = p < 3 ? p + 1 : 3;
        set.obeys[p] = p % 2 == 0;
    }
    psfm_plane_set_sort(&set, 10); /* 2, 3, 1, 0: equal ones keep their order */
    const double order[4] = {2, 3, 1, 0};
    const bool obeys[4] = {true, false, false, true};
    const uint32_t sorted[10] = {3, 2, 2, 0, 0, 0, 1, 1, 1, PSFM_NO_PLANE};
    for (size_t p = 0; p < 4; ++p) {
        assert_true(set.H_21[p][0] == order[p]);
        assert_int_equal(set.obeys[p], obeys[p]);
    }
    assert_memory_equal(set.plane, sorted, sizeof sorted);
    psfm_plane_set_remove(&set, 10, 1, PSFM_NO_PLANE);
    const uint32_t left[10] = {
        2, 1, 1, 0, 0, 0, PSFM_NO_PLANE, PSFM_NO_PLANE, PSFM_NO_PLANE, PSFM_NO_PLANE};
    assert_int_equal(set.num_planes, 3);
    assert_memory_equal(set.plane, left, sizeof left);
    assert_true(set.H_21[1][0] == 1.0 && set.num_inliers[1] == 2);
    assert_true(set.obeys[2]);
    psfm_plane_set_remove(&set, 10, 2, 0);
    assert_int_equal(set.plane[0], 0);
    psfm_plane_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_go_where_they_fit_best),
        cmocka_unit_test(removing_and_sorting_keep_labels_right),
    };
    return cmocka_run_group_tests_name("twoview/plane_set", tests, NULL, NULL);
}
