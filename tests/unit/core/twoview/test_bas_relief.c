#include "test_util.h"

#include "core/linalg/angle.h"
#include "core/twoview/bas_relief.h"
#include "unit/core/twoview/twoview_util.h"

/* A cloud through a lens of `focal` pixels, exact unless noise is given; its first `num` pairs. */
static scene cloud(double focal, double noise_px, uint64_t seed) {
    scene_options o = scene_defaults();
    o.camera.focal = focal;
    o.num_planes = 0;
    o.sphere = 0.4 * o.camera.width / focal;
    o.num_matches = 100;
    o.noise_px = noise_px;
    o.baseline[0] = 0.1;
    o.baseline[1] = 0.3;
    return scene_make(&o, seed);
}

static psfm_motion true_motion(const scene *s) {
    psfm_motion m;
    memcpy(m.R_21, s->R_21, sizeof m.R_21);
    memcpy(m.t_21, s->t_21, sizeof m.t_21);
    psfm_normalize3(m.t_21);
    return m;
}

static void list_all(uint32_t idx[100]) {
    for (uint32_t i = 0; i < 100; ++i)
        idx[i] = i;
}

/* Root mean square of the errors in pixels. */
static double rms(const psfm_ray_pairs *pairs, const psfm_motion *m) {
    double E[9], squared[128], sum = 0.0;
    psfm_essential_from_motion(m, E);
    psfm_essential_errors(pairs, E, squared);
    for (size_t i = 0; i < pairs->num; ++i)
        sum += squared[i];
    return sqrt(sum / (double)pairs->num);
}

static void one_gives_the_motion_back(void **state) {
    (void)state;
    uint32_t idx[100];
    list_all(idx);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        scene s = cloud(1280.0, 0.0, seed);
        psfm_ray_pairs pairs = pairs_of(&s);
        psfm_motion truth = true_motion(&s), out;
        psfm_bas_relief(&pairs, idx, 100, &truth, 1.0, &out);
        assert_below(motion_error_deg(out.R_21, out.t_21, s.R_21, s.t_21), 1e-6);
        psfm_ray_pairs_free(&pairs);
        scene_free(&s);
    }
}

/* The longer the lens, the less the matches tell between the motions of the family; a rotation by
 * as much about another axis they refuse. */
static void long_lenses_do_not_tell_the_family_apart(void **state) {
    (void)state;
    static const double focal[] = {1000.0, 16000.0};
    uint32_t idx[100];
    double error[2] = {0};
    list_all(idx);
    for (int lens = 0; lens < 2; ++lens)
        for (uint64_t seed = 0; seed < 20; ++seed) {
            scene s = cloud(focal[lens], 0.0, seed);
            psfm_ray_pairs pairs = pairs_of(&s);
            psfm_motion truth = true_motion(&s), out;
            psfm_bas_relief(&pairs, idx, 100, &truth, 0.7, &out);
            assert_true(psfm_rotation_angle(out.R_21, s.R_21) > psfm_radians(0.1));
            psfm_motion_refine(&pairs, pairs.num_blocks, (psfm_loss){16.0, 0.0}, 1, &out);
            error[lens] += rms(&pairs, &out) / 20.0;
            psfm_ray_pairs_free(&pairs);
            scene_free(&s);
        }
    assert_true(error[0] > 5.0 * error[1]);
    assert_below(error[1], 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gives_the_motion_back),
        cmocka_unit_test(long_lenses_do_not_tell_the_family_apart),
    };
    return cmocka_run_group_tests_name("twoview/bas_relief", tests, NULL, NULL);
}
