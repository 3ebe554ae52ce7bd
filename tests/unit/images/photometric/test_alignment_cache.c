/* Alignments and corners that are handed out again for what they were made of. */
#include "images/photometric/alignment_cache.h"

#include "test_util.h"

enum { MATCHES = 6 };

/* A pair of views with keypoints and one homography. */
typedef struct {
    psfm_camera cameras[2];
    psfm_view views[3];
    double keypoints[3][MATCHES][2];
    uint32_t matches[MATCHES][2], inliers[MATCHES];
    psfm_match_set set;
    psfm_match_pair pair;
    psfm_homography homography;
    psfm_two_view view;
} fixture;

static char names[3][8] = {"a.jpg", "b.jpg", "c.jpg"};

static void set_up(fixture *f) {
    memset(f, 0, sizeof *f);
    for (uint32_t v = 0; v < 3; ++v) {
        f->views[v] = (psfm_view){.id = v + 1,
                                  .name = names[v],
                                  .camera_idx = v % 2,
                                  .num_keypoints = MATCHES,
                                  .keypoints = f->keypoints[v]};
        for (uint32_t k = 0; k < MATCHES; ++k)
            f->keypoints[v][k][0] = f->keypoints[v][k][1] = 10.0 * v + k;
    }
    for (int c = 0; c < 2; ++c)
        f->cameras[c] = (psfm_camera){.model = PSFM_CAMERA_PINHOLE,
                                      .width = 640,
                                      .height = 480,
                                      .params = {500.0, 500.0, 320.0, 240.0 + c}};
    for (uint32_t k = 0; k < MATCHES; ++k) {
        f->matches[k][0] = k;
        f->matches[k][1] = MATCHES - 1 - k;
        f->inliers[k] = k;
    }
    f->pair = (psfm_match_pair){0, 1, MATCHES, f->matches};
    f->homography = (psfm_homography){
        .H_21 = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .inliers = f->inliers, .num_inliers = 4};
    f->view = (psfm_two_view){.homographies = &f->homography, .num_homographies = 1};
    f->set = (psfm_match_set){.cameras = f->cameras,
                              .num_cameras = 2,
                              .views = f->views,
                              .num_views = 3,
                              .pairs = &f->pair,
                              .num_pairs = 1};
}

static uint64_t key_of(psfm_context *ctx, const fixture *f) {
    uint64_t key = 0;
    assert_ok(ctx, psfm_kept_pair_key(ctx, &f->set, &f->pair, &f->view, &key));
    return key;
}

/* Whatever an alignment starts from is in its key, and nothing else. */
static void keys_tell_what_an_alignment_starts_from(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    set_up(&f);
    const uint64_t key = key_of(ctx, &f);
    uint64_t others[9];
    assert_true(key == key_of(ctx, &f));
    for (int k = 0; k < 9; ++k) {
        set_up(&f);
        switch (k) {
        case 0:
            f.cameras[0].params[0] += 1e-9;
            break;
        case 1:
            f.cameras[1].model = PSFM_CAMERA_OPENCV;
            break;
        case 2:
            f.homography.H_21[5] += 1e-15;
            break;
        case 3: /* another inlier */
            f.inliers[3] = 4;
            break;
        case 4: /* one less */
            f.homography.num_inliers = 3;
            break;
        case 5: /* the place of one in image 2 */
            f.keypoints[1][MATCHES - 1][1] += 0.25;
            break;
        case 6: /* no plane, but a turn */
            f.homography.is_rotation = true;
            break;
        case 7: /* a keypoint that is in no match: draws at random come from all of them */
            f.keypoints[0][MATCHES - 1][1] -= 1.0;
            break;
        default: /* none at all */
            f.view.num_homographies = 0;
        }
        others[k] = key_of(ctx, &f);
        assert_true(others[k] != key);
        for (int i = 0; i < k; ++i)
            assert_true(others[k] != others[i]);
    }
    set_up(&f); /* matches that are on no plane, other views, what else was found of the pair */
    f.matches[5][0] = 1;
    f.keypoints[2][0][0] += 7.0;
    f.homography.rms_px = 3.0;
    f.view.essential.found = true;
    f.view.essential.t_21[0] = 1.0;
    assert_true(key == key_of(ctx, &f));
}

/* An alignment that can be told by its number of matches. */
static psfm_pair_refined make_refined(size_t num_matches) {
    psfm_pair_refined r = {.num_matches = num_matches};
    r.planes = calloc(1, sizeof *r.planes);
    r.matches = calloc(num_matches, sizeof *r.matches);
    return r;
}

static void alignments_are_handed_out_once(void **state) {
    psfm_context *ctx = *state;
    enum { NUM = 50 };
    psfm_kept_pairs kept = {0};
    psfm_pair_refined got = {0};
    assert_false(psfm_kept_pairs_take(&kept, 7, &got));
    for (uint64_t k = 0; k < NUM; ++k) { /* keys in no order, some larger than 2^32 */
        psfm_pair_refined r = make_refined(k + 1);
        assert_ok(ctx, psfm_kept_pairs_add(ctx, &kept, (k * 37 % NUM) << (k % 2 * 40), &r));
        assert_true(r.planes == NULL && r.matches == NULL && r.num_matches == 0);
    }
    for (uint64_t k = 0; k < NUM; k += 3) {
        const uint64_t key = (k * 37 % NUM) << (k % 2 * 40);
        assert_true(psfm_kept_pairs_take(&kept, key, &got));
        assert_int_equal(got.num_matches, k + 1);
        assert_non_null(got.planes);
        psfm_pair_refined_free(&got);
        assert_false(psfm_kept_pairs_take(&kept, key, &got)); /* once */
        assert_false(psfm_kept_pairs_take(&kept, key + 1000, &got));
    }
    psfm_pair_refined late = make_refined(99); /* after some were taken */
    assert_ok(ctx, psfm_kept_pairs_add(ctx, &kept, 12345, &late));
    assert_true(psfm_kept_pairs_take(&kept, 12345, &got));
    assert_int_equal(got.num_matches, 99);
    psfm_pair_refined_free(&got);
    assert_true(psfm_kept_pairs_take(&kept, 37ull << 40, &got)); /* that of k = 1 */
    assert_int_equal(got.num_matches, 2);
    psfm_pair_refined_free(&got);
    psfm_kept_pairs_free(&kept);
    assert_true(kept.num == 0 && kept.pairs == NULL);
}

/* Wherever they are in the set by now, and whatever keypoints they have. */
static void corners_stay_with_their_photographs(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    psfm_kept_pairs kept = {0};
    psfm_view_corners corners[3] = {{0}}, got[3] = {{0}};
    set_up(&f);
    for (size_t v = 0; v < 3; ++v) {
        corners[v].num = v + 1;
        corners[v].corners = calloc(v + 1, sizeof *corners[v].corners);
        corners[v].corners[v].x = (float)v;
    }
    corners[2].problem = calloc(8, 1);
    assert_ok(ctx, psfm_kept_corners_add(ctx, &kept, &f.set, corners));
    for (size_t v = 0; v < 3; ++v)
        assert_true(corners[v].corners == NULL && corners[v].num == 0);
    f.views[1] = f.views[2]; /* the second photograph is gone */
    f.set.num_views = 2;
    f.keypoints[2][3][0] = 77.0;
    psfm_kept_corners_take(&kept, &f.set, got);
    assert_int_equal(got[0].num, 1);
    assert_int_equal(got[1].num, 3);
    assert_close((double)got[1].corners[2].x, 2.0, 0.0);
    assert_non_null(got[1].problem);
    for (int v = 0; v < 2; ++v)
        psfm_view_corners_free(&got[v]);
    set_up(&f); /* all again, and another: what was taken is gone */
    f.views[2].name = f.views[0].name;
    f.views[0].name = (char[]){"new.jpg"};
    psfm_kept_corners_take(&kept, &f.set, got);
    assert_true(got[0].num == 0 && got[0].corners == NULL);
    assert_int_equal(got[1].num, 2);
    assert_true(got[2].num == 0 && got[2].problem == NULL);
    psfm_view_corners_free(&got[1]);
    psfm_kept_pairs_free(&kept);
    psfm_kept_corners_take(&kept, &f.set, got); /* of nothing */
    assert_int_equal(got[0].num, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_tell_what_an_alignment_starts_from),
        cmocka_unit_test(alignments_are_handed_out_once),
        cmocka_unit_test(corners_stay_with_their_photographs),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
