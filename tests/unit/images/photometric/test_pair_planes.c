#include "images/photometric/pair_planes.h"

#include "unit/images/photometric/plane_photos.h"

typedef struct {
    psfm_context *ctx;
    psfm_patch_options patch;
    psfm_pair_plane_options options;
    psfm_patch_aligner *aligner;
    psfm_camera cameras[2];
    psfm_pyramid photos[2];
    psfm_corner *corners[2];
    psfm_pair_side sides[2];
    double H_21[9], xy1[40][2], xy2[40][2];
    psfm_raw_plane raw;
} fixture;

static void transfer(const fixture *f, const double H_21[9], const double xy1[2], double xy2[2]) {
    double ray1[3], ray2[3];
    assert_true(psfm_camera_unproject(&f->cameras[0], xy1, ray1));
    psfm_mat3_mul_vec(H_21, ray1, ray2);
    assert_true(psfm_camera_project(&f->cameras[1], ray2, xy2));
}

/* Keypoints of the middle of the image with a pixel of noise, and a homography that is off by
 * about as much. */
static void make_raw(fixture *f) {
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 3, 0);
    double shift[9] = {1.002, 0, 1.1 / 300.0, 0, 0.998, -0.8 / 300.0, 0, 0.002, 1};
    for (int k = 0; k < 40; ++k) {
        f->xy1[k][0] = psfm_rng_range(&rng, 110.0, 210.0);
        f->xy1[k][1] = psfm_rng_range(&rng, 80.0, 160.0);
        transfer(f, f->H_21, f->xy1[k], f->xy2[k]);
        f->xy2[k][0] += psfm_rng_normal(&rng);
        f->xy2[k][1] += psfm_rng_normal(&rng);
    }
    psfm_mat3_mul(shift, f->H_21, f->raw.H_21);
    f->raw.num_inliers = 40;
    f->raw.xy1 = (const double(*)[2])f->xy1;
    f->raw.xy2 = (const double(*)[2])f->xy2;
}

static void set_up(fixture *f, const texture *texture1, const texture *texture2) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double H_12[9];
    *f = (fixture){.ctx = psfm_context_create()};
    psfm_options_init(&psfm_patch_option_table, &f->patch);
    psfm_options_init(&psfm_pair_plane_option_table, &f->options);
    assert_ok(f->ctx, psfm_patch_aligner_create(f->ctx, &f->patch, &f->aligner));
    f->cameras[0] = pinhole(300.0);
    f->cameras[1] = distorted(310.0);
    tilted(f->H_21);
    assert_true(psfm_mat3_inverse(f->H_21, H_12));
    take_photo(f->ctx, texture1, &f->cameras[0], &f->cameras[0], identity, 1.0, 0.0, 3.0,
               &f->photos[0]);
    take_photo(f->ctx, texture2, &f->cameras[0], &f->cameras[1], H_12, 0.8, 10.0, 3.0,
               &f->photos[1]);
    for (int s = 0; s < 2; ++s) {
        size_t num;
        assert_ok(f->ctx,
                  psfm_corners_find(f->ctx, &f->photos[s], &(psfm_corner_grid){14, 4, 12, 1.0},
                                    &f->corners[s], &num));
        f->sides[s] = (psfm_pair_side){{&f->cameras[s], &f->photos[s]}, f->corners[s], num};
    }
    make_raw(f);
}

static void tear_down(fixture *f) {
    for (int s = 0; s < 2; ++s) {
        psfm_pyramid_free(&f->photos[s]);
        free(f->corners[s]);
    }
    psfm_patch_aligner_destroy(&f->aligner);
    psfm_context_destroy(&f->ctx);
}

static void refine(const fixture *f, psfm_pair_refined *out) {
    const psfm_pair_photos pair = {
        .sides = {f->sides[0], f->sides[1]}, .raw = &f->raw, .num_planes = 1, .stream = {1, 2}};
    assert_ok(f->ctx, psfm_pair_planes_refine(f->ctx, f->aligner, &pair, &f->options, out));
}

static double worst_transfer(const fixture *f, const double H_21[9]) {
    double worst = 0.0;
    for (int x = 40; x <= 280; x += 20) {
        for (int y = 40; y <= 200; y += 20) {
            double xy1[2] = {x, y}, a[2], b[2];
            transfer(f, f->H_21, xy1, a);
            transfer(f, H_21, xy1, b);
            worst = fmax(worst, hypot(a[0] - b[0], a[1] - b[1]));
        }
    }
    return worst;
}

static void homography_becomes_exact_and_grows(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3);
    psfm_pair_refined out;
    size_t outside = 0;
    set_up(&f, &t, &t);
    assert_true(worst_transfer(&f, f.raw.H_21) > 1.0);
    refine(&f, &out);
    assert_true(out.planes[0].refined && out.num_matches == out.planes[0].num_matches &&
                out.num_matches > 200);
    assert_below(worst_transfer(&f, out.planes[0].H_21), 0.05);
    assert_below(out.planes[0].rms_px, 0.15);
    for (size_t k = 0; k < out.num_matches; ++k) {
        assert_true(out.matches[k].plane == 0 && out.matches[k].cov[0] > 0.0);
        const psfm_corner *c = &f.corners[out.matches[k].side][out.matches[k].corner];
        outside += out.matches[k].side == 0 && (c->x < 60.0F || c->x > 260.0F);
    }
    assert_true(outside > 10); /* the keypoints end at 110 and 210 */
    assert_int_equal(out.stats.num_refined_planes, 1);
    assert_true(out.stats.outcomes[PSFM_PATCH_ALIGNED] ==
                out.num_matches + out.stats.num_off_plane);
    psfm_pair_refined_free(&out);
    tear_down(&f);
}

static void another_scene_keeps_its_keypoints(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3), other = make_texture(4);
    psfm_pair_refined out;
    set_up(&f, &t, &other);
    refine(&f, &out);
    assert_false(out.planes[0].refined);
    assert_int_equal(out.num_matches, 0);
    assert_memory_equal(out.planes[0].H_21, f.raw.H_21, sizeof out.planes[0].H_21);
    assert_int_equal(out.stats.num_raw_planes, 1);
    psfm_pair_refined_free(&out);
    tear_down(&f);
}

static void keypoints_have_a_veto(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3);
    psfm_pair_refined out;
    set_up(&f, &t, &t);
    /* keypoints that agree with the raw homography but not with the photographs */
    double away[9] = {1, 0, 5.0 / 300.0, 0, 1, 0, 0, 0, 1};
    psfm_mat3_mul(away, f.H_21, f.raw.H_21);
    for (int k = 0; k < 40; ++k)
        transfer(&f, f.raw.H_21, f.xy1[k], f.xy2[k]);
    refine(&f, &out);
    assert_false(out.planes[0].refined);
    psfm_pair_refined_free(&out);
    tear_down(&f);
}

/* Image 2 for image 1: the inverse homography, and as many matches, by the other side. */
static void the_order_of_the_images_does_not_matter(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3);
    psfm_pair_refined out[2];
    double inverse[9];
    size_t by_side[2][2] = {{0}};
    set_up(&f, &t, &t);
    refine(&f, &out[0]);
    psfm_raw_plane swapped = f.raw;
    assert_true(psfm_mat3_inverse(f.raw.H_21, swapped.H_21));
    swapped.xy1 = f.raw.xy2;
    swapped.xy2 = f.raw.xy1;
    const psfm_pair_photos pair = {
        .sides = {f.sides[1], f.sides[0]}, .raw = &swapped, .num_planes = 1, .stream = {1, 2}};
    assert_ok(f.ctx, psfm_pair_planes_refine(f.ctx, f.aligner, &pair, &f.options, &out[1]));
    assert_true(out[0].planes[0].refined && out[1].planes[0].refined);
    assert_true(psfm_mat3_inverse(out[1].planes[0].H_21, inverse));
    assert_below(worst_transfer(&f, inverse), 0.05);
    for (int k = 0; k < 2; ++k)
        for (size_t m = 0; m < out[k].num_matches; ++m)
            ++by_side[k][out[k].matches[m].side];
    for (int side = 0; side < 2; ++side)
        assert_close((double)by_side[1][side] / (double)by_side[0][1 - side], 1.0, 0.05);
    psfm_pair_refined_free(&out[0]);
    psfm_pair_refined_free(&out[1]);
    tear_down(&f);
}

/* A second plane over the same keypoints that nothing is on: each corner goes to the one that is
 * there, and the other keeps its homography. Where matches were found agrees with the covariances,
 * and shifts are those from the raw homography. */
static void corners_go_to_the_plane_that_they_are_on(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3);
    psfm_pair_refined out;
    double chi2 = 0.0;
    set_up(&f, &t, &t);
    psfm_raw_plane planes[2] = {f.raw, f.raw};
    double away[9] = {1, 0, 20.0 / 300.0, 0, 1, 0, 0, 0, 1}, H_12[9];
    psfm_mat3_mul(away, f.H_21, planes[0].H_21);
    const psfm_pair_photos pair = {
        .sides = {f.sides[0], f.sides[1]}, .raw = planes, .num_planes = 2, .stream = {1, 2}};
    assert_ok(f.ctx, psfm_pair_planes_refine(f.ctx, f.aligner, &pair, &f.options, &out));
    assert_false(out.planes[0].refined);
    assert_memory_equal(out.planes[0].H_21, planes[0].H_21, sizeof planes[0].H_21);
    assert_true(out.planes[1].refined && out.num_matches > 200);
    assert_true(out.stats.num_raw_planes == 1 && out.stats.num_refined_planes == 1);
    assert_true(psfm_mat3_inverse(f.H_21, H_12));
    for (size_t k = 0; k < out.num_matches; ++k) {
        const psfm_pair_match *m = &out.matches[k];
        const psfm_corner *c = &f.corners[m->side][m->corner];
        const double from[2] = {(double)c->x, (double)c->y};
        double at[2], raw[2], ray[3], to[3], inverse[9];
        const psfm_camera *camera = &f.cameras[1 - m->side];
        assert_true(m->plane == 1 && (k == 0 || m->side > m[-1].side || m->corner > m[-1].corner));
        assert_true(psfm_camera_unproject(&f.cameras[m->side], from, ray));
        psfm_mat3_mul_vec(m->side == 0 ? f.H_21 : H_12, ray, to);
        assert_true(psfm_camera_project(camera, to, at));
        double x = m->xy[0] - at[0], y = m->xy[1] - at[1];
        double det = m->cov[0] * m->cov[2] - m->cov[1] * m->cov[1];
        chi2 += (m->cov[2] * x * x - 2.0 * m->cov[1] * x * y + m->cov[0] * y * y) / det /
                (double)out.num_matches;
        assert_true(psfm_mat3_inverse(planes[1].H_21, inverse));
        psfm_mat3_mul_vec(m->side == 0 ? planes[1].H_21 : inverse, ray, to);
        assert_true(psfm_camera_project(camera, to, raw));
        assert_close(m->shift_px, hypot(m->xy[0] - raw[0], m->xy[1] - raw[1]), 1e-9);
    }
    assert_true(chi2 > 0.5 && chi2 < 3.0); /* 2 for two coordinates */
    psfm_pair_refined_free(&out);
    tear_down(&f);
}

/* Inliers outside of the photographs and those that are no numbers are in no region; without any
 * there is nothing to align. */
static void planes_without_keypoints_stay(void **state) {
    (void)state;
    fixture f;
    texture t = make_texture(3);
    psfm_pair_refined out;
    set_up(&f, &t, &t);
    for (int k = 0; k < 40; ++k) {
        f.xy1[k][0] = k % 2 == 0 ? -50.0 : NAN;
        f.xy2[k][1] = k % 3 == 0 ? 1e9 : -INFINITY;
    }
    refine(&f, &out);
    assert_false(out.planes[0].refined);
    assert_int_equal(out.stats.num_tried, 0);
    psfm_pair_refined_free(&out);
    f.raw.num_inliers = 0;
    refine(&f, &out);
    assert_true(!out.planes[0].refined && out.num_matches == 0);
    psfm_pair_refined_free(&out);
    assert_null(out.planes);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(homography_becomes_exact_and_grows),
        cmocka_unit_test(another_scene_keeps_its_keypoints),
        cmocka_unit_test(keypoints_have_a_veto),
        cmocka_unit_test(the_order_of_the_images_does_not_matter),
        cmocka_unit_test(corners_go_to_the_plane_that_they_are_on),
        cmocka_unit_test(planes_without_keypoints_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
