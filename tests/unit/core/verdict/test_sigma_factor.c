/* Made-up halves that differ by so many standard deviations. */
#include "core/verdict/verdict.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM = 400, DATUM = 7 };
#define SIGMA_DEG 0.02

typedef struct {
    psfm_context *ctx;
    psfm_pose_solution solution;
    psfm_refined refined;
    psfm_pose_shift a[NUM], b[NUM];
    psfm_verdict_input input;
} fixture;

/* Rotation errors of the halves are so many times as large as the deviations say: those of a half
 * are sqrt(2) times those of the whole. A common turn of half b is a matter of its frame. */
static void make_fixture(fixture *f, double times) {
    psfm_rng rng = psfm_rng_make(11, 0, 0, 0);
    double turn[3] = {0.01, 0.02, -0.03};
    *f = (fixture){.ctx = psfm_context_create()};
    assert_ok(f->ctx, psfm_poses_init(f->ctx, NUM, &f->solution.poses));
    f->solution.num_nodes = NUM;
    f->refined.images = calloc(NUM, sizeof *f->refined.images);
    for (uint32_t v = 0; v < NUM; ++v) {
        double own[3], common[3];
        double each = times * sqrt(2.0 / 3.0) * psfm_radians(SIGMA_DEG);
        for (int k = 0; k < 3; ++k)
            own[k] = psfm_rng_normal(&rng);
        psfm_rotation_exp(own, f->solution.poses.cam_from_world[v]);
        psfm_mat3_mul_vec(f->solution.poses.cam_from_world[v], turn, common);
        f->a[v].known = f->b[v].known = true;
        for (int k = 0; v != DATUM && k < 3; ++k) {
            f->a[v].rotation[k] = each * psfm_rng_normal(&rng);
            f->b[v].rotation[k] = each * psfm_rng_normal(&rng);
        }
        psfm_axpy3(f->b[v].rotation, 1.0, common, f->b[v].rotation);
        f->refined.images[v].noise_sigma_deg = v == DATUM ? 0.0 : SIGMA_DEG;
    }
    f->input = (psfm_verdict_input){
        .solution = &f->solution, .refined = &f->refined, .shift = {f->a, f->b, NULL}};
}

static double find(fixture *f) {
    double factor = -1.0;
    assert_ok(f->ctx, psfm_sigma_factor_find(f->ctx, &f->input, 0, &factor));
    return factor;
}

static void free_fixture(fixture *f) {
    psfm_poses_free(&f->solution.poses);
    free(f->refined.images);
    psfm_context_destroy(&f->ctx);
}

static void test_factor_is_what_the_halves_show(void **state) {
    static const double times[] = {1.0, 4.0, 30.0};
    (void)state;
    for (size_t k = 0; k < sizeof times / sizeof *times; ++k) {
        fixture f;
        make_fixture(&f, times[k]);
        assert_close(find(&f) / times[k], 1.0, 0.1);
        free_fixture(&f);
    }
}

static void test_deviations_are_never_lowered(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 0.1);
    assert_close(find(&f), 1.0, 0.0);
    f.input.shift[PSFM_STABILITY_HALF_B] = NULL;
    assert_true(isnan(find(&f)));
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_is_what_the_halves_show),
        cmocka_unit_test(test_deviations_are_never_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
