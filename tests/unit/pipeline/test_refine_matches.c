#include "pipeline/refine_matches.h"

#include <unistd.h>

#include "base/path.h"
#include "linalg/order.h"
#include "unit/photo/plane_photos.h"

enum { NUM_VIEWS = 3, NUM_POINTS = 80 };

typedef struct {
    psfm_context *ctx;
    char folder[64];
    psfm_match_set set;
    psfm_two_view two_views[NUM_VIEWS];
    double H_1[NUM_VIEWS][9]; /* ray1 ~ H_1 ray, from each view to the first */
    psfm_photo_options options;
} fixture;

static char *copy(const char *text) {
    char *made = malloc(strlen(text) + 1);
    assert_non_null(made);
    return strcpy(made, text);
}

/* H from the first view to view v: a plane seen by a camera that moved. */
static void homography_to(int v, double H[9]) {
    double angle = 0.06 * v, c = cos(angle), s = sin(angle);
    const double t[3] = {-0.10 * v, 0.03 * v, 0.04 * v}, n[3] = {0.15, -0.2, 0.97};
    const double R[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
    for (int k = 0; k < 9; ++k)
        H[k] = R[k] + t[k / 3] * n[k % 3];
}

static void add_photo(fixture *f, int v) {
    texture t = make_texture(11);
    psfm_pyramid photo;
    psfm_view *view = &f->set.views[v];
    char name[16], *path = NULL;
    double H[9];
    snprintf(name, sizeof name, "%d.png", v);
    homography_to(v, H);
    assert_true(psfm_mat3_inverse(H, f->H_1[v]));
    take_photo(f->ctx, &t, f->set.cameras, f->set.cameras, f->H_1[v], 1.0, 0.0, 2.0, &photo);
    psfm_image image = {photo.levels[0].width, photo.levels[0].height, photo.memory, NULL};
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->folder, name, &path));
    assert_ok(f->ctx, psfm_image_write(f->ctx, &image, 95, path));
    free(path);
    psfm_pyramid_free(&photo);
    *view = (psfm_view){.id = (uint32_t)v + 1, .name = copy(name), .num_keypoints = NUM_POINTS};
}

/* Keypoints of points all over the first image, with a pixel of noise. */
static void add_keypoints(fixture *f, int v) {
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 4, 0);
    psfm_rng noise = psfm_rng_make(5, PSFM_RNG_TEST, 5, (uint64_t)v);
    psfm_view *view = &f->set.views[v];
    double H[9];
    view->keypoints = malloc(NUM_POINTS * sizeof *view->keypoints);
    assert_non_null(view->keypoints);
    homography_to(v, H);
    for (int k = 0; k < NUM_POINTS; ++k) {
        double xy[2] = {psfm_rng_range(&rng, 60.0, 260.0), psfm_rng_range(&rng, 50.0, 190.0)};
        double ray[3], to[3];
        assert_true(psfm_camera_unproject(f->set.cameras, xy, ray));
        psfm_mat3_mul_vec(H, ray, to);
        assert_true(psfm_camera_project(f->set.cameras, to, view->keypoints[k]));
        view->keypoints[k][0] += 0.7 * psfm_rng_normal(&noise);
        view->keypoints[k][1] += 0.7 * psfm_rng_normal(&noise);
    }
}

static void set_up(fixture *f, int threads) {
    static const uint32_t ends[NUM_VIEWS][2] = {{0, 1}, {0, 2}, {1, 2}};
    *f = (fixture){.ctx = psfm_context_create()};
    psfm_context_set_threads(f->ctx, threads);
    strcpy(f->folder, "/tmp/psfm_refine_matches_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    psfm_options_init(&psfm_photo_control_option_table, &f->options.control);
    psfm_options_init(&psfm_pair_plane_option_table, &f->options.planes);
    psfm_options_init(&psfm_patch_option_table, &f->options.patch);
    f->set.num_cameras = 1;
    f->set.num_views = f->set.num_pairs = NUM_VIEWS;
    f->set.cameras = malloc(sizeof *f->set.cameras);
    f->set.views = calloc(NUM_VIEWS, sizeof *f->set.views);
    f->set.pairs = calloc(NUM_VIEWS, sizeof *f->set.pairs);
    assert_true(f->set.cameras != NULL && f->set.views != NULL && f->set.pairs != NULL);
    f->set.cameras[0] = pinhole(300.0);
    for (int v = 0; v < NUM_VIEWS; ++v) {
        psfm_match_pair *pair = &f->set.pairs[v];
        add_photo(f, v);
        add_keypoints(f, v);
        *pair = (psfm_match_pair){ends[v][0], ends[v][1], NUM_POINTS, NULL};
        pair->matches = malloc(NUM_POINTS * sizeof *pair->matches);
        assert_non_null(pair->matches);
        for (uint32_t k = 0; k < NUM_POINTS; ++k)
            pair->matches[k][0] = pair->matches[k][1] = k;
    }
    assert_ok(f->ctx, psfm_match_set_compute_rays(f->ctx, &f->set, NULL));
    assert_ok(f->ctx, psfm_two_view_estimate_all(f->ctx, &f->set, NULL, f->two_views));
}

static void tear_down(fixture *f) {
    for (int p = 0; p < NUM_VIEWS; ++p)
        psfm_two_view_free(&f->two_views[p]);
    psfm_match_set_free(&f->set);
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

/* Median error of the matches of a pair from match `first` on, against the plane. */
static double median_error(const fixture *f, size_t pair, size_t first) {
    const psfm_match_pair *p = &f->set.pairs[pair];
    double *errors = malloc(p->num_matches * sizeof *errors), H_2[9], H_21[9];
    assert_non_null(errors);
    assert_true(psfm_mat3_inverse(f->H_1[p->view2], H_2));
    psfm_mat3_mul(H_2, f->H_1[p->view1], H_21);
    for (size_t m = first; m < p->num_matches; ++m) {
        const double *xy = f->set.views[p->view2].keypoints[p->matches[m][1]];
        double to[3], at[2];
        psfm_mat3_mul_vec(H_21, f->set.views[p->view1].rays[p->matches[m][0]], to);
        assert_true(psfm_camera_project(f->set.cameras, to, at));
        errors[m - first] = hypot(at[0] - xy[0], at[1] - xy[1]);
    }
    double median = psfm_median(errors, p->num_matches - first);
    free(errors);
    return median;
}

static void matches_become_precise(void **state) {
    (void)state;
    fixture f;
    psfm_refine_matches_stats stats;
    set_up(&f, 2);
    assert_ok(f.ctx, psfm_refine_matches(f.ctx, &f.set, f.two_views, f.folder, &f.options, &stats));
    assert_ok(f.ctx, psfm_match_set_check(f.ctx, &f.set));
    assert_true(stats.done && stats.num_pairs == 3 && stats.num_unusable == 0);
    assert_true(stats.num_matches > 300 && stats.median_sigma_px < 0.1);
    for (size_t p = 0; p < NUM_VIEWS; ++p) {
        const psfm_homography *h = &f.two_views[p].homographies[0];
        assert_true(f.set.pairs[p].num_matches > NUM_POINTS + 100);
        assert_below(median_error(&f, p, NUM_POINTS), 0.06);
        assert_true(h->num_inliers > 150);
        for (size_t k = 1; k < h->num_inliers; ++k)
            assert_true(h->inliers[k - 1] < h->inliers[k]);
    }
    double R_21[9] = {cos(0.06), 0, sin(0.06), 0, 1, 0, -sin(0.06), 0, cos(0.06)}, nearest = 1.0;
    const psfm_homography *h = &f.two_views[0].homographies[0];
    for (int k = 0; k < h->num_motions; ++k)
        nearest = fmin(nearest, psfm_rotation_angle(h->motions[k].R_21, R_21));
    assert_below(nearest, 0.002);
    tear_down(&f);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    fixture f[2];
    psfm_refine_matches_stats stats[2];
    for (int k = 0; k < 2; ++k) {
        set_up(&f[k], k == 0 ? 1 : 4);
        assert_ok(f[k].ctx, psfm_refine_matches(f[k].ctx, &f[k].set, f[k].two_views, f[k].folder,
                                                &f[k].options, &stats[k]));
    }
    for (int v = 0; v < NUM_VIEWS; ++v) {
        const psfm_view *a = &f[0].set.views[v], *b = &f[1].set.views[v];
        assert_int_equal(a->num_keypoints, b->num_keypoints);
        assert_memory_equal(a->keypoints, b->keypoints, a->num_keypoints * sizeof *a->keypoints);
        assert_memory_equal(a->sqrt_info, b->sqrt_info, a->num_keypoints * sizeof *a->sqrt_info);
        assert_memory_equal(f[0].two_views[v].homographies[0].H_21,
                            f[1].two_views[v].homographies[0].H_21, 9 * sizeof(double));
    }
    tear_down(&f[0]);
    tear_down(&f[1]);
}

static void missing_photographs_leave_keypoints(void **state) {
    (void)state;
    fixture f;
    psfm_refine_matches_stats stats;
    char *path = NULL;
    set_up(&f, 2);
    assert_ok(f.ctx, psfm_path_join(f.ctx, f.folder, "2.png", &path));
    assert_int_equal(remove(path), 0);
    free(path);
    assert_ok(f.ctx, psfm_refine_matches(f.ctx, &f.set, f.two_views, f.folder, &f.options, &stats));
    assert_true(stats.num_pairs == 1 && stats.num_unusable == 1);
    assert_true(f.set.pairs[0].num_matches > NUM_POINTS);
    assert_int_equal(f.set.pairs[1].num_matches, NUM_POINTS);
    assert_int_equal(f.set.views[2].num_keypoints, NUM_POINTS);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_become_precise),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(missing_photographs_leave_keypoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
