/* Patches whose information is known. */
#include "images/photometric/alignment_cache.h"

#include <math.h>

#include "test_util.h"

/* Keypoints 0 and 1 as a detector finds them, 2 to 0.1 px, 3 to 0.2 px in x and 0.05 px in y. */
static double info[4][3] = {{1.0, 0.0, 1.0}, {1.0, 0.0, 1.0}, {10.0, 0.0, 10.0}, {5.0, 0.0, 20.0}};

static void assert_worth(double found, double right, double error) {
    assert_true(fabs(found - right) <= error);
}

static void patches_count_by_their_variance(void **state) {
    (void)state;
    uint32_t matches[][2] = {{0, 1}, {2, 2}, {2, 0}, {2, 3}};
    psfm_view views[2] = {{.num_keypoints = 4, .sqrt_info = info},
                          {.num_keypoints = 4, .sqrt_info = info}};
    const psfm_match_set set = {.views = views, .num_views = 2};
    const psfm_match_pair keypoints = {0, 1, 1, matches}, pair = {0, 1, 3, matches},
                          uneven = {0, 1, 1, matches + 3};
    assert_worth(psfm_patch_weight(&set, &keypoints, 0.3), 0.0, 0.0);
    assert_worth(psfm_patch_weight(&set, &pair, 0.3), 9.0, 1e-12);
    /* informations of 100 and (25 + 400) / 2 */
    assert_worth(psfm_patch_weight(&set, &uneven, 0.3), 0.18 / (1.0 / 100.0 + 1.0 / 212.5), 1e-12);
    views[1].sqrt_info = NULL;
    assert_worth(psfm_patch_weight(&set, &pair, 0.3), 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_count_by_their_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
