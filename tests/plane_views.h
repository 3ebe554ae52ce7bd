/* Three photographs of one textured plane, with noisy keypoints matched in all pairs. */
#ifndef PSFM_TESTS_PIPELINE_PLANE_VIEWS_H
#define PSFM_TESTS_PIPELINE_PLANE_VIEWS_H

#include "core/base/path.h"
#include "images/photometric/photo_cache.h"
#include "images/photometric/refine_matches.h"
#include "unit/images/photometric/plane_photos.h"

enum { NUM_VIEWS = 3, NUM_POINTS = 80 };

typedef struct {
    psfm_context *ctx;
    char folder[64];
    psfm_match_set set;
    psfm_photo_cache *photos;
    psfm_two_view two_views[NUM_VIEWS];
    double H_1[NUM_VIEWS][9]; /* ray1 ~ H_1 ray, from each view to the first */
    psfm_photo_options options;
} fixture;

static char *copy(const char *text) {
    char *made = malloc(strlen(text) + 1);
    assert_non_null(made);
    return strcpy(made, text);
}

/* The plane is plane_normal . X = 1 in the frame of the first view. */
static const double plane_normal[3] = {0.15, -0.2, 0.97};

/* Motion from the first view to view v. */
static void motion_to(int v, double R[9], double t[3]) {
    double angle = 0.06 * v, c = cos(angle), s = sin(angle);
    memcpy(R, (const double[9]){c, 0, s, 0, 1, 0, -s, 0, c}, 9 * sizeof *R);
    memcpy(t, (const double[3]){-0.10 * v, 0.03 * v, 0.04 * v}, 3 * sizeof *t);
}

/* H from the first view to view v: a plane seen by a camera that moved. */
static void homography_to(int v, double H[9]) {
    double R[9], t[3];
    motion_to(v, R, t);
    for (int k = 0; k < 9; ++k)
        H[k] = R[k] + t[k / 3] * plane_normal[k % 3];
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
    psfm_image image = {
        .width = photo.levels[0].width, .height = photo.levels[0].height, .gray = photo.memory};
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
    strcpy(f->folder, "/tmp/psfm_plane_views_XXXXXX");
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
    assert_ok(f->ctx, psfm_photo_cache_create(f->ctx, &f->set, f->folder, 64 << 20, &f->photos));
}

static void tear_down(fixture *f) {
    for (int p = 0; p < NUM_VIEWS; ++p)
        psfm_two_view_free(&f->two_views[p]);
    psfm_photo_cache_destroy(&f->photos);
    psfm_match_set_free(&f->set);
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

#endif
