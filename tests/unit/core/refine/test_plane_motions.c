/* A pair with noisy keypoints gets its planes anew: motions become those of the truth. */
#include "images/photometric/pair_results.h"

#include "core/linalg/mat3.h"
#include "core/twoview/homography.h"
#include "test_util.h"
#include "two_view_scene.h"

enum { NUM_KEYPOINTS = 300, GRID = 12, MAX_PATCHES = 2 * GRID * GRID };

typedef struct {
    psfm_context *ctx;
    scene truth;
    psfm_camera camera;
    psfm_view views[2];
    psfm_match_pair pair;
    psfm_match_set set;
    psfm_two_view view;
    psfm_refined_plane refined[8];
} fixture;

static void add_keypoint(psfm_view *view, const double xy[2], double weight) {
    double *s = view->sqrt_info[view->num_keypoints];
    memcpy(view->keypoints[view->num_keypoints++], xy, sizeof *view->keypoints);
    s[0] = s[2] = weight;
}

/* A scene of flat things, its matches as a set of two views, and its noisy two-view geometry. */
static void make_fixture(fixture *f, int num_planes, bool essential) {
    scene_options o = scene_defaults();
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    options.estimate_essential = essential;
    o.num_matches = NUM_KEYPOINTS;
    o.num_planes = num_planes;
    o.off_plane = num_planes > 1 ? 0.3 : 0.0;
    o.noise_px = 1.0;
    o.baseline[0] = 0.4;
    o.max_tilt = 0.5;
    *f = (fixture){.ctx = psfm_context_create(), .truth = scene_make(&o, 8)};
    f->camera = (psfm_camera){.model = PSFM_CAMERA_PINHOLE,
                              .width = 1024,
                              .height = 768,
                              .params = {1280.0, 1280.0, 512.0, 384.0}};
    f->set = (psfm_match_set){.cameras = &f->camera,
                              .num_cameras = 1,
                              .views = f->views,
                              .num_views = 2,
                              .pairs = &f->pair,
                              .num_pairs = 1};
    f->pair = (psfm_match_pair){.view1 = 0, .view2 = 1, .num_matches = NUM_KEYPOINTS};
    f->pair.matches = calloc(NUM_KEYPOINTS + MAX_PATCHES, sizeof *f->pair.matches);
    for (int v = 0; v < 2; ++v) {
        f->views[v].id = (uint32_t)v + 1;
        f->views[v].keypoints = calloc(NUM_KEYPOINTS + MAX_PATCHES, sizeof *f->views[v].keypoints);
        f->views[v].sqrt_info = calloc(NUM_KEYPOINTS + MAX_PATCHES, sizeof *f->views[v].sqrt_info);
        for (int k = 0; k < NUM_KEYPOINTS; ++k)
            add_keypoint(&f->views[v], v == 0 ? f->truth.xy1[k] : f->truth.xy2[k], 1.0);
    }
    for (uint32_t k = 0; k < NUM_KEYPOINTS; ++k)
        f->pair.matches[k][0] = f->pair.matches[k][1] = k;
    assert_ok(f->ctx, psfm_match_set_compute_rays(f->ctx, &f->set, NULL));
    assert_ok(f->ctx, psfm_two_view_estimate_all(f->ctx, &f->set, &options, &f->view));
}

static void free_fixture(fixture *f) {
    for (int v = 0; v < 2; ++v) {
        free(f->views[v].keypoints);
        free(f->views[v].sqrt_info);
        free(f->views[v].rays);
        free(f->views[v].px_from_ray);
    }
    free(f->pair.matches);
    psfm_two_view_free(&f->view);
    scene_free(&f->truth);
    psfm_context_destroy(&f->ctx);
}

/* The true plane that a homography of the pair is nearest to, by its inliers. */
static int true_plane(const fixture *f, const psfm_homography *h) {
    size_t votes[SCENE_MAX_PLANES] = {0};
    int best = 0;
    for (size_t k = 0; k < h->num_inliers; ++k)
        if (h->inliers[k] < NUM_KEYPOINTS && f->truth.plane[h->inliers[k]] >= 0)
            ++votes[f->truth.plane[h->inliers[k]]];
    for (int p = 1; p < f->truth.num_planes; ++p)
        if (votes[p] > votes[best])
            best = p;
    return best;
}

/* The true homography of a homography's plane, as patches would find it. */
static void refine_plane(fixture *f, size_t h) {
    psfm_refined_plane *to = &f->refined[h];
    *to = (psfm_refined_plane){.refined = true, .rms_px = 0.01};
    memcpy(to->H_21, f->truth.H_21[true_plane(f, &f->view.homographies[h])], sizeof to->H_21);
    assert_true(psfm_homography_normalize(to->H_21));
}

/* Angle between the true motion and a motion, rotation and direction of t. */
static double motion_error(const fixture *f, const double R_21[9], const double t_21[3]) {
    return fmax(psfm_rotation_angle(R_21, f->truth.R_21), psfm_angle3(t_21, f->truth.t_21));
}

static double nearest_motion(const fixture *f, const psfm_homography *h) {
    double nearest = INFINITY;
    for (int k = 0; k < h->num_motions; ++k)
        nearest = fmin(nearest, motion_error(f, h->motions[k].R_21, h->motions[k].t_21));
    return nearest;
}

static void replace(fixture *f, size_t first_new) {
    assert_ok(f->ctx, psfm_replace_planes(f->ctx, &f->set, 0, first_new, f->refined, &f->view));
}

static void a_plane_alone_gets_its_decomposition(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, 1, false);
    psfm_homography *h = &f.view.homographies[0];
    int num_motions = h->num_motions;
    psfm_plane_motion before[2];
    memcpy(before, h->motions, sizeof before);
    assert_true(nearest_motion(&f, h) > 1e-4);
    refine_plane(&f, 0);
    replace(&f, NUM_KEYPOINTS);
    assert_int_equal(h->num_motions, num_motions);
    assert_below(nearest_motion(&f, h), 1e-7);
    assert_true(h->rms_px == 0.01);
    assert_memory_equal(h->H_21, f.refined[0].H_21, sizeof h->H_21);
    for (int k = 0; k < num_motions; ++k) { /* in their places, on their sides of the plane */
        assert_below(psfm_rotation_angle(h->motions[k].R_21, before[k].R_21), 0.1);
        assert_true(psfm_dot3(h->motions[k].n1, before[k].n1) > 0.9);
    }
    free_fixture(&f);
}

/* A motion that is not found again, and a plane that was not refined, stay. */
static void what_changes_beyond_recognition_stays(void **state) {
    (void)state;
    fixture f;
    const double turn[3] = {0.0, 0.0, 0.5};
    double R[9], H[9];
    make_fixture(&f, 1, false);
    psfm_homography before = f.view.homographies[0];
    refine_plane(&f, 0);
    psfm_rotation_exp(turn, R);
    psfm_mat3_mul(R, f.refined[0].H_21, H);
    memcpy(f.refined[0].H_21, H, sizeof H);
    replace(&f, NUM_KEYPOINTS);
    assert_memory_equal(&f.view.homographies[0], &before, sizeof before);
    refine_plane(&f, 0);
    f.refined[0].refined = false;
    replace(&f, NUM_KEYPOINTS);
    assert_memory_equal(&f.view.homographies[0], &before, sizeof before);
    free_fixture(&f);
}

/* Patches on the true plane of homography h, all over the strip of image 1 where it is: exact,
 * known to a quarter of a pixel, inliers of the homography. */
static void add_patches(fixture *f, size_t h) {
    psfm_homography *plane = &f->view.homographies[h];
    int p = true_plane(f, plane);
    plane->inliers =
        realloc(plane->inliers, (plane->num_inliers + GRID * GRID) * sizeof *plane->inliers);
    assert_non_null(plane->inliers);
    for (int k = 0; k < GRID * GRID; ++k) {
        double x = (k % GRID + 0.5) / GRID, y = (k / GRID + 0.5) / GRID, ray[3], to[3], xy2[2];
        double xy1[2] = {1024.0 * (x + p) / f->truth.num_planes, 768.0 * y};
        assert_true(psfm_camera_unproject(&f->camera, xy1, ray));
        psfm_mat3_mul_vec(f->truth.H_21[p], ray, to);
        if (!psfm_camera_project(&f->camera, to, xy2) || !(xy2[0] > 0.0 && xy2[0] < 1024.0) ||
            f->pair.num_matches == NUM_KEYPOINTS + MAX_PATCHES)
            continue;
        uint32_t *match = f->pair.matches[f->pair.num_matches];
        match[0] = match[1] = (uint32_t)f->pair.num_matches;
        add_keypoint(&f->views[0], xy1, 4.0);
        add_keypoint(&f->views[1], xy2, 4.0);
        plane->inliers[plane->num_inliers++] = (uint32_t)f->pair.num_matches++;
    }
    refine_plane(f, h);
}

static void planes_and_motion_are_fitted_together(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f, 2, true);
    assert_true(f.view.num_homographies >= 2 && f.view.essential.found &&
                !f.view.essential.is_degenerate);
    double before = motion_error(&f, f.view.essential.R_21, f.view.essential.t_21);
    add_patches(&f, 0);
    add_patches(&f, 1);
    assert_ok(f.ctx, psfm_match_set_compute_rays(f.ctx, &f.set, NULL));
    replace(&f, NUM_KEYPOINTS);
    double after = motion_error(&f, f.view.essential.R_21, f.view.essential.t_21);
    print_message("error of the motion %.2g rad, with patches %.2g\n", before, after);
    assert_below(after, 0.1 * before);
    assert_below(after, 2e-4);
    for (size_t h = 0; h < 2; ++h) {
        const psfm_homography *plane = &f.view.homographies[h];
        const psfm_plane_motion *m = &plane->motions[0];
        int p = true_plane(&f, plane);
        assert_int_equal(plane->num_motions, 1);
        assert_memory_equal(m->R_21, f.view.essential.R_21, sizeof m->R_21);
        assert_below(psfm_angle3(m->n1, f.truth.n1[p]), 1e-3);
        assert_close(psfm_norm3(m->t_21) * f.truth.d1[p] / psfm_norm3(f.truth.t_21), 1.0, 1e-3);
        for (int k = 0; k < 9; ++k)
            assert_close(plane->H_21[k], f.refined[h].H_21[k], 1e-3);
        assert_true(plane->rms_px == 0.01);
    }
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_alone_gets_its_decomposition),
        cmocka_unit_test(what_changes_beyond_recognition_stays),
        cmocka_unit_test(planes_and_motion_are_fitted_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
