/* Homographies of pairs as measurements, against the plane that they are of. */
#include "test_util.h"

#include "core/calibration/measured_planes.h"
#include "two_view_scene.h"

enum { LONGER = 1024 }; /* of the scene's images */

/* A pair whose matches lie on a plane, as a set of two views whose cameras may have any focal
 * lengths, and its homography with all matches for inliers. */
typedef struct {
    scene s;
    psfm_match_set set;
    psfm_camera cameras[2];
    psfm_view views[2];
    psfm_match_pair pair;
    psfm_homography homography;
    psfm_two_view two_view;
    uint32_t (*matches)[2], *inliers;
} fixture;

static psfm_camera pinhole(double fx, double fy) {
    return (psfm_camera){.model = PSFM_CAMERA_PINHOLE,
                         .width = LONGER,
                         .height = 768,
                         .params = {fx, fy, 512.0, 384.0}};
}

/* The homography of the rays of these cameras: the scene's have a focal length of 1280. */
static void set_homography(fixture *f) {
    double *H = f->homography.H_21;
    memcpy(H, f->s.H_21[0], sizeof f->s.H_21[0]);
    for (int k = 0; k < 9; ++k) {
        H[k] *= k / 3 < 2 ? 1280.0 / f->cameras[1].params[k / 3] : 1.0;
        H[k] *= k % 3 < 2 ? f->cameras[0].params[k % 3] / 1280.0 : 1.0;
    }
    assert_true(psfm_homography_normalize(H));
}

static void set_up(psfm_context *ctx, fixture *f, size_t num, double noise_px, uint64_t seed,
                   const psfm_camera *first, const psfm_camera *second) {
    scene_options o = scene_defaults();
    memset(f, 0, sizeof *f);
    o.num_matches = num;
    o.noise_px = noise_px;
    f->s = scene_make(&o, seed);
    f->cameras[0] = *first;
    f->cameras[1] = *second;
    f->matches = calloc(num, sizeof *f->matches);
    f->inliers = calloc(num, sizeof *f->inliers);
    for (uint32_t k = 0; k < num; ++k) {
        f->matches[k][0] = f->inliers[k] = k;
        f->matches[k][1] = (uint32_t)num - 1 - k; /* keypoints of view 2 the other way round */
    }
    for (uint32_t v = 0; v < 2; ++v) {
        f->views[v] = (psfm_view){.id = v + 1, .camera_idx = v, .num_keypoints = num};
        f->views[v].keypoints = calloc(num, sizeof *f->views[v].keypoints);
        for (size_t k = 0; k < num; ++k)
            memcpy(f->views[v].keypoints[v == 0 ? k : num - 1 - k],
                   v == 0 ? f->s.xy1[k] : f->s.xy2[k], sizeof(double[2]));
    }
    f->pair = (psfm_match_pair){0, 1, num, f->matches};
    f->set = (psfm_match_set){.cameras = f->cameras,
                              .num_cameras = 2,
                              .views = f->views,
                              .num_views = 2,
                              .pairs = &f->pair,
                              .num_pairs = 1};
    set_homography(f);
    f->homography.inliers = f->inliers;
    f->homography.num_inliers = num;
    f->two_view = (psfm_two_view){.homographies = &f->homography, .num_homographies = 1};
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f->set, NULL));
}

static void tear_down(fixture *f) {
    for (int v = 0; v < 2; ++v) {
        free(f->views[v].keypoints);
        free(f->views[v].rays);
        free(f->views[v].px_from_ray);
    }
    free(f->matches);
    free(f->inliers);
    scene_free(&f->s);
}

static psfm_measured_planes measure(psfm_context *ctx, fixture *f) {
    psfm_measured_planes out;
    assert_ok(ctx, psfm_measured_planes_init(ctx, &f->set, &f->two_view, &out));
    return out;
}

/* The true homography between image coordinates, unit norm. */
static void true_homography(const fixture *f, double H[9]) {
    double norm = 0.0;
    for (int k = 0; k < 9; ++k) {
        H[k] = f->s.H_21[0][k] * (k / 3 < 2 ? 1280.0 / LONGER : 1.0) /
               (k % 3 < 2 ? 1280.0 / LONGER : 1.0);
        norm += H[k] * H[k];
    }
    for (int k = 0; k < 9; ++k)
        H[k] /= sqrt(norm);
}

static const double kinds[4][4] = {
    {1280, 1280, 1280, 1280}, {900, 900, 1700, 1700}, {1500, 1400, 800, 850}, {600, 600, 600, 600}};

/* Whatever focal lengths the cameras are thought to have. */
static void exact_matches_give_the_homography_of_the_images(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 4; ++seed) {
        fixture f;
        const psfm_camera first = pinhole(kinds[seed][0], kinds[seed][1]);
        const psfm_camera second = pinhole(kinds[seed][2], kinds[seed][3]);
        double H[9], y[3];
        set_up(ctx, &f, 150, 0.0, seed, &first, &second);
        f.homography.H_21[1] += 1e-4; /* it is refitted */
        psfm_measured_planes out = measure(ctx, &f);
        const psfm_measured_plane *m = out.planes;
        assert_int_equal(out.num, 1);
        assert_ptr_equal(out.views, f.views);
        assert_true(m->view1 == 0 && m->view2 == 1);
        true_homography(&f, H);
        for (int k = 0; k < 9; ++k)
            assert_close(m->H[k], H[k], 1e-9);
        for (int k = 0; k < PSFM_PLANE_SAMPLES; ++k) { /* in front, and related by H */
            const double x[3] = {m->samples[0][k][0], m->samples[0][k][1], 1.0};
            psfm_mat3_mul_vec(m->H, x, y);
            assert_true(y[2] > 0.0);
            assert_close(y[0] / y[2], m->samples[1][k][0], 1e-9);
            assert_close(y[1] / y[2], m->samples[1][k][1], 1e-9);
            assert_true(fabs(x[0]) < 0.5 && fabs(x[1]) < 0.375);
            for (int i = 0; i < k; ++i)
                assert_true(m->samples[0][i][0] != m->samples[0][k][0]);
        }
        psfm_measured_planes_free(&out);
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* The same homography and information, too, but for what is of second order in the noise. */
static void focal_lengths_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_measured_planes out[4];
    fixture f[4];
    for (int k = 0; k < 4; ++k) {
        const psfm_camera first = pinhole(kinds[k][0], kinds[k][1]);
        const psfm_camera second = pinhole(kinds[k][2], kinds[k][3]);
        set_up(ctx, &f[k], 150, 0.5, 7, &first, &second);
        out[k] = measure(ctx, &f[k]);
    }
    const psfm_measured_plane *a = out[0].planes;
    for (int k = 1; k < 4; ++k) {
        const psfm_measured_plane *b = out[k].planes;
        assert_int_equal(a->num, b->num);
        for (int i = 0; i < 9; ++i)
            assert_close(a->H[i] * sqrt(a->information[10 * i]),
                         b->H[i] * sqrt(a->information[10 * i]), 0.02); /* of its deviation */
        for (int i = 0; i < 81; ++i) {
            double size = sqrt(a->information[i / 9 * 10] * a->information[i % 9 * 10]);
            assert_close(a->information[i] / size, b->information[i] / size, 0.01);
        }
    }
    for (int k = 0; k < 4; ++k) {
        psfm_measured_planes_free(&out[k]);
        tear_down(&f[k]);
    }
    psfm_context_destroy(&ctx);
}

/* Eight numbers: chi^2 of the error under the information is 8 in the mean over many draws. Of four
 * hundred matches the information is that of two hundred, and it is half as much. */
static void errors_are_those_of_the_information(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { DRAWS = 80 };
    for (int many = 0; many < 2; ++many) {
        double mean = 0.0;
        for (uint64_t seed = 0; seed < DRAWS; ++seed) {
            fixture f;
            const psfm_camera camera = pinhole(1000.0, 1000.0);
            double H[9], chi2 = 0.0, along = 0.0;
            set_up(ctx, &f, many ? 400 : 180, 0.7, seed, &camera, &camera);
            psfm_measured_planes out = measure(ctx, &f);
            const psfm_measured_plane *m = out.planes;
            true_homography(&f, H);
            for (int r = 0; r < 9; ++r)
                for (int c = 0; c < 9; ++c) {
                    chi2 += (m->H[r] - H[r]) * m->information[9 * r + c] * (m->H[c] - H[c]);
                    along += m->H[r] * m->information[9 * r + c] * m->H[c];
                }
            mean += chi2 / DRAWS;
            assert_below(fabs(along), 1e-6 * m->information[0]); /* it annihilates H */
            assert_in_range(m->num, f.s.c.num * 97 / 100, f.s.c.num);
            psfm_measured_planes_free(&out);
            tear_down(&f);
        }
        /* of noise whose variance is known to a tenth or so from the median */
        assert_close(mean, many ? 4.0 : 8.0, 4.0 * sqrt(16.0 / DRAWS) * (many ? 0.5 : 1.0));
    }
    psfm_context_destroy(&ctx);
}

/* Inliers that are beyond the noise are of another plane: not among the keypoints, and of no weight
 * in the fit. The others are listed in order on either side. */
static void far_inliers_do_not_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    const psfm_camera camera = pinhole(1000.0, 1000.0);
    double H[9];
    enum { NUM = 150, FAR = 30 };
    set_up(ctx, &f, NUM, 0.1, 3, &camera, &camera);
    for (size_t k = 0; k < FAR; ++k) /* every fifth match */
        f.views[1].keypoints[NUM - 1 - 5 * k][1] += 6.0;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f.set, NULL));
    psfm_measured_planes out = measure(ctx, &f);
    const psfm_measured_plane *m = out.planes;
    true_homography(&f, H);
    for (int k = 0; k < 9; ++k)
        assert_close(m->H[k], H[k], 1e-3);
    assert_in_range(m->num, NUM - FAR - 5, NUM - FAR);
    for (uint32_t k = 0; k < m->num; ++k) {
        assert_true(m->keypoints[0][k] % 5 != 0);
        assert_true((NUM - 1 - m->keypoints[1][k]) % 5 != 0);
        assert_true(k == 0 || (m->keypoints[0][k - 1] < m->keypoints[0][k] &&
                               m->keypoints[1][k - 1] < m->keypoints[1][k]));
        bool is_there = false; /* its partner is listed, too */
        for (uint32_t i = 0; i < m->num; ++i)
            is_there = is_there || m->keypoints[1][i] == NUM - 1 - m->keypoints[0][k];
        assert_true(is_there);
    }
    psfm_measured_planes_free(&out);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Only the inliers of a homography count, however well other matches fit it. */
static void matches_that_are_no_inliers_are_left_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    const psfm_camera camera = pinhole(1000.0, 1000.0);
    set_up(ctx, &f, 150, 0.0, 4, &camera, &camera);
    for (uint32_t k = 0; k < 75; ++k)
        f.inliers[k] = 2 * k + 1;
    f.homography.num_inliers = 75;
    psfm_measured_planes out = measure(ctx, &f);
    assert_in_range(out.planes[0].num, 60, 75); /* rounding is their noise */
    for (uint32_t k = 0; k < out.planes[0].num; ++k)
        assert_int_equal(out.planes[0].keypoints[0][k] % 2, 1);
    psfm_measured_planes_free(&out);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The distortion of both lenses is taken into account, and what more of it would do is said. */
static void lenses_that_bend_are_measured(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f[2];
    psfm_measured_planes out[2];
    for (int k = 0; k < 2; ++k) {
        psfm_camera camera = pinhole(k == 0 ? 1280.0 : 640.0, k == 0 ? 1280.0 : 640.0);
        set_up(ctx, &f[k], 150, 0.5, 5, &camera, &camera);
        for (int v = 0; v < 2; ++v)
            f[k].cameras[v].model = PSFM_CAMERA_OPENCV; /* of no distortion */
        assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f[k].set, NULL));
        out[k] = measure(ctx, &f[k]);
    }
    const psfm_k1_information *a = &out[0].planes[0].k1, *b = &out[1].planes[0].k1;
    for (int side = 0; side < 2; ++side) { /* in terms of the image, whatever its focal length */
        assert_true(a->normal[side][side] > 1e3);
        assert_close(b->normal[side][side] / a->normal[side][side], 1.0, 0.01);
        double size = sqrt(a->normal[side][side]);
        assert_close(b->gradient[side] / size, a->gradient[side] / size, 0.02);
        for (int i = 0; i < 9; ++i) {
            double norm = size * sqrt(out[0].planes[0].information[10 * i]);
            assert_close(b->by_H[i][side] / norm, a->by_H[i][side] / norm, 0.01);
        }
    }
    assert_close(b->gain, a->gain, 0.05 * a->gain + 0.1);
    for (int k = 0; k < 2; ++k) {
        psfm_measured_planes_free(&out[k]);
        tear_down(&f[k]);
    }
    psfm_context_destroy(&ctx);
}

static void fisheyes_have_no_homographies(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double scale[2];
    psfm_camera camera = pinhole(1000.0, 900.0);
    assert_true(psfm_image_scale(&camera, scale));
    assert_close(scale[0], 1000.0 / LONGER, 1e-15);
    assert_close(scale[1], 900.0 / LONGER, 1e-15);
    camera.width = 768;
    camera.height = 1000; /* the longer side, whichever it is */
    assert_true(psfm_image_scale(&camera, scale));
    assert_close(scale[0], 1.0, 1e-15);
    camera = pinhole(1000.0, 1000.0);
    set_up(ctx, &f, 50, 0.5, 6, &camera, &camera);
    f.cameras[1].model = PSFM_CAMERA_OPENCV_FISHEYE;
    assert_false(psfm_image_scale(&f.cameras[1], scale));
    psfm_measured_planes out = measure(ctx, &f);
    assert_int_equal(out.num, 0);
    psfm_measured_planes_free(&out);
    f.cameras[1] = camera;
    f.two_view.num_homographies = 0;
    out = measure(ctx, &f);
    assert_int_equal(out.num, 0);
    psfm_measured_planes_free(&out);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_matches_give_the_homography_of_the_images),
        cmocka_unit_test(focal_lengths_do_not_matter),
        cmocka_unit_test(errors_are_those_of_the_information),
        cmocka_unit_test(far_inliers_do_not_count),
        cmocka_unit_test(matches_that_are_no_inliers_are_left_out),
        cmocka_unit_test(lenses_that_bend_are_measured),
        cmocka_unit_test(fisheyes_have_no_homographies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
