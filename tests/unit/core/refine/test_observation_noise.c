/* Observations with known noise: its size and its tails are found again. */
#include "core/refine/observation_noise.h"

#include "core/base/rng.h"
#include "test_util.h"

enum { NUM_POINTS = 1500, LENGTH = 4, NUM_OBSERVATIONS = NUM_POINTS * LENGTH };

/* One camera that looks along z at points, each observed LENGTH times; the track elements are the
 * observations. Odd points are aligned patches, even ones keypoints. */
typedef struct {
    psfm_camera camera;
    uint32_t image_camera[LENGTH];
    double R[LENGTH][9], centers[LENGTH][3];
    double points[NUM_POINTS][3];
    uint32_t obs_image[NUM_OBSERVATIONS], obs_point[NUM_OBSERVATIONS];
    uint32_t keypoint[NUM_OBSERVATIONS];
    size_t begin[NUM_POINTS + 1];
    double obs_xy[NUM_OBSERVATIONS][2], sqrt_info[NUM_OBSERVATIONS][3];
    psfm_bundle_problem problem;
    psfm_tracks tracks;
} fixture;

static bool is_patch(size_t point) {
    return point % 2 == 1;
}

/* claimed_px is what the information of patches says. */
static fixture *make_fixture(double claimed_px) {
    fixture *f = calloc(1, sizeof *f);
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 40, 0);
    assert_non_null(f);
    f->camera = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                              .width = 1000,
                              .height = 1000,
                              .params = {1000.0, 500.0, 500.0}};
    for (int v = 0; v < LENGTH; ++v)
        f->R[v][0] = f->R[v][4] = f->R[v][8] = 1.0;
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        for (int c = 0; c < 3; ++c)
            f->points[p][c] = psfm_rng_range(&rng, -2.0, 2.0) + (c == 2 ? 8.0 : 0.0);
        for (size_t k = LENGTH * p; k < LENGTH * (p + 1); ++k) {
            f->obs_image[k] = (uint32_t)(k % LENGTH);
            f->obs_point[k] = (uint32_t)p;
            f->sqrt_info[k][0] = f->sqrt_info[k][2] = is_patch(p) ? 1.0 / claimed_px : 1.0;
        }
        f->begin[p + 1] = LENGTH * (p + 1);
    }
    f->tracks = (psfm_tracks){NUM_POINTS, f->begin, f->obs_image, f->keypoint};
    f->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &f->camera,
                                       .num_images = LENGTH,
                                       .image_camera = f->image_camera,
                                       .cam_from_world = f->R,
                                       .centers = f->centers,
                                       .num_points = NUM_POINTS,
                                       .points = f->points,
                                       .num_observations = NUM_OBSERVATIONS,
                                       .obs_image = f->obs_image,
                                       .obs_point = f->obs_point,
                                       .obs_xy = (const double(*)[2])f->obs_xy,
                                       .obs_sqrt_info = (const double(*)[3])f->sqrt_info};
    return f;
}

/* Noise of Student's t with that many degrees of freedom in the plane, 0: normal. */
static void observe(fixture *f, double keypoint_px, double patch_px, int freedom) {
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 41, 0);
    for (size_t k = 0; k < NUM_OBSERVATIONS; ++k) {
        const double *X = f->points[f->obs_point[k]];
        double sigma = is_patch(f->obs_point[k]) ? patch_px : keypoint_px, chi2 = 0.0;
        for (int i = 0; i < freedom; ++i)
            chi2 += pow(psfm_rng_normal(&rng), 2);
        if (freedom > 0)
            sigma /= sqrt(chi2 / freedom);
        for (int c = 0; c < 2; ++c)
            f->obs_xy[k][c] = 1000.0 * X[c] / X[2] + 500.0 + sigma * psfm_rng_normal(&rng);
    }
}

/* A point that is fitted to a track of n takes 3 of its 2 n residuals: they are smaller than the
 * noise by this factor. */
static double fitted(double sigma) {
    return sigma * sqrt(1.0 - 1.5 / LENGTH);
}

static void check_weights(const fixture *f, double keypoint_px, double patch_px) {
    for (size_t k = 0; k < NUM_OBSERVATIONS; ++k) {
        double expected = is_patch(f->obs_point[k]) ? patch_px : keypoint_px;
        assert_close(f->sqrt_info[k][0] * expected, 1.0, 0.05);
        assert_close(f->sqrt_info[k][2] * expected, 1.0, 0.05);
    }
}

static void balance(fixture *f) {
    psfm_context *ctx = psfm_context_create();
    assert_ok(ctx, psfm_noise_balance(ctx, &f->problem, &f->tracks, f->sqrt_info));
    psfm_context_destroy(&ctx);
}

static void weights_become_those_of_the_noise(void **state) {
    (void)state;
    fixture *f = make_fixture(0.1);
    observe(f, fitted(0.6), fitted(0.3), 0); /* patches three times worse than they say */
    balance(f);
    check_weights(f, 0.6, 0.3);
    free(f);
}

/* Patches are never taken for better than they say: what agrees may do so for other reasons. */
static void patches_are_not_better_than_they_say(void **state) {
    (void)state;
    fixture *f = make_fixture(0.1);
    observe(f, fitted(2.0), fitted(0.02), 0);
    balance(f);
    check_weights(f, 2.0, 0.1);
    free(f);
}

static void few_observations_tell_nothing(void **state) {
    (void)state;
    fixture *f = make_fixture(0.1);
    observe(f, fitted(0.6), fitted(0.3), 0);
    f->problem.num_points = f->tracks.num_tracks = 20; /* 40 of each kind */
    f->problem.num_observations = 20 * LENGTH;
    balance(f);
    check_weights(f, 1.0, 0.1);
    free(f);
}

static double loss_scale(fixture *f, size_t num_posed) {
    double scale = 0.0;
    assert_ok(NULL, psfm_noise_loss_scale(NULL, &f->problem, num_posed, &scale));
    return scale;
}

/* The loss bends at sqrt(n) s; residuals are smaller than the noise by the share of the 2 N
 * numbers that the parameters took. */
static void the_loss_follows_the_tails(void **state) {
    (void)state;
    fixture *f = make_fixture(1.0);
    double all = 2.0 * NUM_OBSERVATIONS, left = all - 3.0 * NUM_POINTS - 6.0 * LENGTH;
    observe(f, 0.5, 0.5, 2);
    assert_close(loss_scale(f, LENGTH), sqrt(2.0) * 0.5 / sqrt(left / all), 0.05);
    observe(f, 0.5, 0.5, 0); /* normal: the loss hardly bends */
    assert_true(loss_scale(f, LENGTH) > 2.0);
    observe(f, 0.0, 0.0, 0);
    assert_true(loss_scale(f, LENGTH) > 0.0);
    free(f);
}

/* Residuals count in units of their deviations. */
static void information_enters_the_scale(void **state) {
    (void)state;
    fixture *f = make_fixture(0.1);
    observe(f, 0.5, 0.05, 2); /* both half of what they say */
    double weighted = loss_scale(f, LENGTH);
    for (size_t k = 0; k < NUM_OBSERVATIONS; ++k)
        f->sqrt_info[k][0] = f->sqrt_info[k][2] = 1.0;
    observe(f, 0.5, 0.5, 2);
    assert_close(weighted, loss_scale(f, LENGTH), 1e-6);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_become_those_of_the_noise),
        cmocka_unit_test(patches_are_not_better_than_they_say),
        cmocka_unit_test(few_observations_tell_nothing),
        cmocka_unit_test(the_loss_follows_the_tails),
        cmocka_unit_test(information_enters_the_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
