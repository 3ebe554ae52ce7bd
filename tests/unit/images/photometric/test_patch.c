#include "images/photometric/patch.h"

#include "core/base/cpu.h"
#include "images/photometric/patch_kernel.h"
#include "unit/images/photometric/plane_photos.h"

typedef struct {
    psfm_context *ctx;
    psfm_patch_options options;
    psfm_patch_aligner *aligner;
    psfm_camera cameras[2];
    psfm_pyramid photos[2];
    double H_21[9], H_12[9];
} fixture;

static void set_up(fixture *f, const psfm_camera *camera2, double gain, double offset,
                   double noise) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    texture t = make_texture(3);
    f->ctx = psfm_context_create();
    psfm_options_init(&psfm_patch_option_table, &f->options);
    assert_ok(f->ctx, psfm_patch_aligner_create(f->ctx, &f->options, &f->aligner));
    f->cameras[0] = pinhole(300.0);
    f->cameras[1] = *camera2;
    tilted(f->H_21);
    assert_true(psfm_mat3_inverse(f->H_21, f->H_12));
    take_photo(f->ctx, &t, &f->cameras[0], &f->cameras[0], identity, 1.0, 0.0, noise,
               &f->photos[0]);
    take_photo(f->ctx, &t, &f->cameras[0], &f->cameras[1], f->H_12, gain, offset, noise,
               &f->photos[1]);
}

static void tear_down(fixture *f) {
    psfm_pyramid_free(&f->photos[0]);
    psfm_pyramid_free(&f->photos[1]);
    psfm_patch_aligner_destroy(&f->aligner);
    psfm_context_destroy(&f->ctx);
}

static void truth(const fixture *f, const double xy1[2], double xy2[2]) {
    double ray1[3], ray2[3];
    assert_true(psfm_camera_unproject(&f->cameras[0], xy1, ray1));
    psfm_mat3_mul_vec(f->H_21, ray1, ray2);
    assert_true(psfm_camera_project(&f->cameras[1], ray2, xy2));
}

/* A homography that puts everything about (dx, dy) pixels beside the truth. */
static void disturbed(const fixture *f, double dx, double dy, double H_21[9], double H_12[9]) {
    double shift[9] = {1, 0, dx / 300.0, 0, 1, dy / 300.0, 0, 0, 1};
    psfm_mat3_mul(shift, f->H_21, H_21);
    assert_true(psfm_mat3_inverse(H_21, H_12));
}

/* A point of the first photograph, sought in the second within 8 pixels. */
static psfm_patch_query query_at(const fixture *f, double x, double y, const double H_21[9],
                                 const double H_12[9]) {
    return (psfm_patch_query){.view1 = {&f->cameras[0], &f->photos[0]},
                              .view2 = {&f->cameras[1], &f->photos[1]},
                              .xy1 = {x, y},
                              .H_21 = H_21,
                              .H_12 = H_12,
                              .max_shift = 8.0};
}

/* Aligns a grid of points from a start that is off; returns the number aligned, the largest error
 * and the mean square in units of the covariance. */
static int align_grid(fixture *f, double dx, double dy, int coarse, double *largest, double *chi2) {
    double H_21[9], H_12[9], sum = 0.0;
    int num = 0;
    disturbed(f, dx, dy, H_21, H_12);
    *largest = 0.0;
    for (int y = 40; y <= 200; y += 16) {
        for (int x = 40; x <= 280; x += 16) {
            psfm_patch_query query = query_at(f, x + 0.5, y + 0.5, H_21, H_12);
            psfm_patch_match m;
            double xy2[2];
            query.coarse_levels = coarse;
            psfm_patch_align(f->aligner, &query, &m);
            if (m.outcome != PSFM_PATCH_ALIGNED)
                continue;
            truth(f, query.xy1, xy2);
            double ex = m.xy2[0] - xy2[0], ey = m.xy2[1] - xy2[1];
            double det = m.cov2[0] * m.cov2[2] - m.cov2[1] * m.cov2[1];
            sum += (m.cov2[2] * ex * ex - 2.0 * m.cov2[1] * ex * ey + m.cov2[0] * ey * ey) / det;
            *largest = fmax(*largest, hypot(ex, ey));
            ++num;
        }
    }
    *chi2 = sum / fmax(num, 1);
    return num;
}

static void exact_without_noise(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    double largest, chi2;
    set_up(&f, &camera, 1.0, 0.0, 0.0);
    int num = align_grid(&f, 0.9, -0.7, 0, &largest, &chi2);
    assert_true(num > 120);
    assert_below(largest, 0.03);
    tear_down(&f);
}

static void exact_with_distortion_gain_and_offset(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = distorted(310.0);
    double largest, chi2;
    set_up(&f, &camera, 0.6, 30.0, 0.0);
    int num = align_grid(&f, -0.8, 0.5, 0, &largest, &chi2);
    assert_true(num > 120);
    assert_below(largest, 0.03);
    tear_down(&f);
}

static void covariance_tells_the_error(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    double largest, chi2;
    set_up(&f, &camera, 1.0, 0.0, 8.0);
    int num = align_grid(&f, 0.5, 0.5, 0, &largest, &chi2);
    assert_true(num > 100);
    assert_below(largest, 0.7);
    assert_true(chi2 > 1.0 && chi2 < 2.6); /* 2 for two coordinates */
    tear_down(&f);
}

static void coarse_levels_reach_further(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    double largest, chi2;
    set_up(&f, &camera, 1.0, 0.0, 0.0);
    int fine = align_grid(&f, 4.0, -3.0, 0, &largest, &chi2);
    int coarse = align_grid(&f, 4.0, -3.0, 1, &largest, &chi2);
    assert_true(coarse > fine + 20);
    tear_down(&f);
}

static void wrong_texture_is_refused(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    texture other = make_texture(99);
    double largest, chi2;
    set_up(&f, &camera, 1.0, 0.0, 0.0);
    psfm_pyramid_free(&f.photos[1]);
    take_photo(f.ctx, &other, &f.cameras[0], &f.cameras[1], f.H_12, 1.0, 0.0, 0.0, &f.photos[1]);
    assert_int_equal(align_grid(&f, 0.0, 0.0, 0, &largest, &chi2), 0);
    tear_down(&f);
}

static psfm_patch_outcome outcome_at(fixture *f, double x, double y, const double H_21[9],
                                     const double H_12[9]) {
    const psfm_patch_query query = query_at(f, x, y, H_21, H_12);
    psfm_patch_match m;
    psfm_patch_align(f->aligner, &query, &m);
    return m.outcome;
}

static void degenerate_patches_have_a_reason(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    texture flat = make_texture(3), edge = make_texture(3);
    const double nowhere[9] = {0}, mirror[9] = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    set_up(&f, &camera, 1.0, 0.0, 0.0);
    assert_int_equal(outcome_at(&f, 160.5, 120.5, f.H_21, f.H_12), PSFM_PATCH_ALIGNED);
    assert_int_equal(outcome_at(&f, 4.5, 120.5, f.H_21, f.H_12), PSFM_PATCH_OUTSIDE);
    assert_int_equal(outcome_at(&f, -1e9, NAN, f.H_21, f.H_12), PSFM_PATCH_OUTSIDE);
    assert_int_equal(outcome_at(&f, 160.5, 120.5, nowhere, nowhere), PSFM_PATCH_OUTSIDE);
    assert_int_equal(outcome_at(&f, 160.5, 120.5, mirror, mirror), PSFM_PATCH_OUTSIDE);
    for (int k = 0; k < NUM_WAVES; ++k) {
        flat.height[k] = 0.0;
        edge.ky[k] = 0.0;
    }
    psfm_pyramid_free(&f.photos[0]);
    take_photo(f.ctx, &flat, &f.cameras[0], &f.cameras[0], identity, 1.0, 0.0, 0.0, &f.photos[0]);
    assert_int_equal(outcome_at(&f, 160.5, 120.5, f.H_21, f.H_12), PSFM_PATCH_FLAT);
    psfm_pyramid_free(&f.photos[0]);
    take_photo(f.ctx, &edge, &f.cameras[0], &f.cameras[0], identity, 1.0, 0.0, 0.0, &f.photos[0]);
    assert_int_equal(outcome_at(&f, 160.5, 120.5, f.H_21, f.H_12), PSFM_PATCH_FLAT);
    tear_down(&f);
}

/* A patch that is there, but for one thing each. */
static void refused_patches_have_a_reason(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    psfm_patch_match m;
    double H_21[9], H_12[9];
    set_up(&f, &camera, 1.0, 0.0, 0.0);
    disturbed(&f, 1.5, 0.0, H_21, H_12);
    psfm_patch_query query = query_at(&f, 160.5, 120.5, H_21, H_12);
    psfm_patch_align(f.aligner, &query, &m);
    assert_int_equal(m.outcome, PSFM_PATCH_ALIGNED);
    assert_close(m.shift_px, 1.5 * 330.0 / 300.0, 0.1);
    query.max_shift = 1.0; /* it is farther away */
    psfm_patch_align(f.aligner, &query, &m);
    assert_int_equal(m.outcome, PSFM_PATCH_DIVERGED);
    query.max_shift = 8.0;
    query.H_12 = f.H_21; /* no way back */
    psfm_patch_align(f.aligner, &query, &m);
    assert_true(m.outcome != PSFM_PATCH_ALIGNED);
    double aside[9];
    const double shift[9] = {1, 0, 0.9 / 300.0, 0, 1, 0, 0, 0, 1};
    psfm_mat3_mul(H_12, shift, aside); /* a way back to beside it, which is mended by the search */
    query.H_12 = aside;
    psfm_patch_align(f.aligner, &query, &m);
    assert_int_equal(m.outcome, PSFM_PATCH_ALIGNED);
    tear_down(&f);
}

/* From the place that was found the point is found again, with the covariance by the map. */
static void the_way_back_is_the_way_there(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = pinhole(330.0);
    int num = 0;
    set_up(&f, &camera, 1.0, 0.0, 3.0);
    for (int k = 0; k < 25; ++k) {
        psfm_patch_query there =
            query_at(&f, 60.5 + 48 * (k % 5), 50.5 + 34 * (double)(k / 5), f.H_21, f.H_12);
        psfm_patch_match m, n;
        psfm_patch_align(f.aligner, &there, &m);
        if (m.outcome != PSFM_PATCH_ALIGNED)
            continue;
        psfm_patch_query back = {.view1 = there.view2,
                                 .view2 = there.view1,
                                 .xy1 = {m.xy2[0], m.xy2[1]},
                                 .H_21 = f.H_12,
                                 .H_12 = f.H_21,
                                 .max_shift = 8.0};
        psfm_patch_align(f.aligner, &back, &n);
        if (n.outcome != PSFM_PATCH_ALIGNED)
            continue;
        ++num;
        assert_below(hypot(n.xy2[0] - there.xy1[0], n.xy2[1] - there.xy1[1]), 0.1);
        double area = psfm_mat3_det(f.H_21) * pow(330.0 / 300.0, 2.0); /* about the middle */
        double ratio = (m.cov2[0] * m.cov2[2] - m.cov2[1] * m.cov2[1]) /
                       (n.cov2[0] * n.cov2[2] - n.cov2[1] * n.cov2[1]);
        assert_close(log(sqrt(ratio) / area), 0.0, 0.7);
    }
    assert_true(num > 15);
    tear_down(&f);
}

static void all_instructions_agree(void **state) {
    (void)state;
    fixture f;
    psfm_camera camera = distorted(310.0);
    double largest[3], chi2[3];
    int num[3];
    for (int k = 0; k < 3; ++k) {
        psfm_cpu_limit((psfm_cpu_level)(PSFM_CPU_PLAIN + k));
        set_up(&f, &camera, 1.0, 0.0, 3.0);
        num[k] = align_grid(&f, 0.9, 0.9, 1, &largest[k], &chi2[k]);
        tear_down(&f);
        assert_int_equal(num[0], num[k]);
        assert_true(largest[0] == largest[k] && chi2[0] == chi2[k]);
    }
}

/* Rows first, then columns, is what each sample on its own would be. */
static void a_grid_is_its_samples(void **state) {
    (void)state;
    enum { RADIUS = PSFM_PATCH_GRID_RADIUS, SIDE = 2 * RADIUS + 1, NUM = SIDE * SIDE };
    static float u[NUM + PSFM_PATCH_LANES], v[NUM + PSFM_PATCH_LANES];
    static float one[NUM + PSFM_PATCH_LANES], all[NUM + PSFM_PATCH_LANES];
    fixture f;
    psfm_camera camera = pinhole(300.0);
    set_up(&f, &camera, 1.0, 0.0, 3.0);
    const psfm_pyramid_level *level = &f.photos[0].levels[0];
    for (int k = 0; k < 3; ++k) {
        psfm_cpu_limit((psfm_cpu_level)(PSFM_CPU_PLAIN + k));
        const psfm_patch_kernel *kernel = psfm_patch_kernel_choose();
        for (int radius = 4; radius <= RADIUS; radius += 4) {
            size_t side = (size_t)(2 * radius + 1), num = side * side;
            size_t padded = (num + PSFM_PATCH_LANES - 1) / PSFM_PATCH_LANES * PSFM_PATCH_LANES;
            for (size_t i = 0; i < num; ++i) {
                u[i] = (float)((int)(i % side) - radius);
                v[i] = (float)((int)(i / side) - radius);
            }
            for (float step = 0.7F; step <= PSFM_PATCH_GRID_STEP; step += 0.1F) {
                psfm_patch_map map = {.base_x = 90,
                                      .base_y = level->height - 28,
                                      .x = {0.9F * step, step, 0.0F, 0.0F, 0.0F, 0.0F},
                                      .y = {0.3F * step, 0.0F, step, 0.0F, 0.0F, 0.0F}};
                kernel->sample(level, &map, u, v, padded, one);
                kernel->sample_grid(level, &map, radius, all);
                assert_memory_equal(one, all, num * sizeof *all);
            }
        }
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
    tear_down(&f);
}

static void every_outcome_has_a_name(void **state) {
    (void)state;
    assert_string_equal(psfm_patch_outcome_name(PSFM_PATCH_ALIGNED), "aligned");
    assert_string_equal(psfm_patch_outcome_name(PSFM_PATCH_ONE_WAY), "one_way");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_without_noise),
        cmocka_unit_test(exact_with_distortion_gain_and_offset),
        cmocka_unit_test(covariance_tells_the_error),
        cmocka_unit_test(coarse_levels_reach_further),
        cmocka_unit_test(wrong_texture_is_refused),
        cmocka_unit_test(degenerate_patches_have_a_reason),
        cmocka_unit_test(refused_patches_have_a_reason),
        cmocka_unit_test(the_way_back_is_the_way_there),
        cmocka_unit_test(all_instructions_agree),
        cmocka_unit_test(a_grid_is_its_samples),
        cmocka_unit_test(every_outcome_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
