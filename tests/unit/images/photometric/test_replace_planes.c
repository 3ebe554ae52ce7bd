/* Motions of a pair after its planes were aligned: of one plane alone, and of planes and keypoints
 * that obey one motion. */
#include "images/photometric/pair_results.h"

#include "core/base/alloc.h"
#include "core/twoview/homography_decompose.h"
#include "two_view_scene.h"
#include "unit/core/twoview/twoview_util.h"

enum { PLANES = 2, NUM = 300, PATCHES = 60 };

/* A pair of known planes. Its matches are keypoints, then the patches of plane 0. */
typedef struct {
    scene truth;
    psfm_match_set set;
    psfm_two_view view;
    psfm_refined_plane refined[PLANES];
    size_t first_new;
} fixture;

static void make_set(psfm_context *ctx, const scene *s, psfm_match_set *set) {
    memset(set, 0, sizeof *set);
    set->num_cameras = set->num_pairs = 1;
    set->num_views = 2;
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &set->cameras));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2, &set->views));
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &set->pairs));
    set->cameras[0] = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                                    .width = 1024,
                                    .height = 768,
                                    .params = {1280.0, 512.0, 384.0}};
    for (int v = 0; v < 2; ++v) {
        set->views[v].num_keypoints = NUM;
        assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &set->views[v].keypoints));
        assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &set->views[v].sqrt_info));
        memcpy(set->views[v].keypoints, v == 0 ? s->xy1 : s->xy2, NUM * sizeof *s->xy1);
        for (int k = 0; k < NUM; ++k)
            set->views[v].sqrt_info[k][0] = set->views[v].sqrt_info[k][2] = 1.0;
    }
    set->pairs[0] = (psfm_match_pair){0, 1, 0, NULL};
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &set->pairs[0].matches));
}

/* Keypoints first, patches of plane 0 last, known to a twentieth of a pixel. */
static void order_matches(fixture *f) {
    psfm_match_pair *pair = &f->set.pairs[0];
    size_t patches = 0, from = NUM;
    while (patches < PATCHES)
        patches += f->truth.plane[--from] == 0;
    for (int round = 0; round < 2; ++round) {
        f->first_new = pair->num_matches;
        for (uint32_t k = 0; k < NUM; ++k) {
            bool is_patch = k >= from && f->truth.plane[k] == 0;
            if (is_patch != (round == 1))
                continue;
            pair->matches[pair->num_matches][0] = pair->matches[pair->num_matches][1] = k;
            ++pair->num_matches;
            for (int v = 0; is_patch && v < 2; ++v)
                f->set.views[v].sqrt_info[k][0] = f->set.views[v].sqrt_info[k][2] = 20.0;
        }
    }
}

static void set_inliers(psfm_context *ctx, const fixture *f, int plane, psfm_homography *h) {
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &h->inliers));
    for (uint32_t k = 0; k < NUM; ++k)
        if (f->truth.plane[f->set.pairs[0].matches[k][0]] == plane)
            h->inliers[h->num_inliers++] = k;
}

static psfm_plane_motion true_motion(const scene *s, int p) {
    psfm_plane_motion m;
    memcpy(m.R_21, s->R_21, sizeof m.R_21);
    memcpy(m.n1, s->n1[p], sizeof m.n1);
    psfm_scale3(1.0 / s->d1[p], s->t_21, m.t_21);
    psfm_mat3_mul_vec(m.R_21, m.n1, m.n2);
    m.d2_over_d1 = 1.0 + psfm_dot3(m.n2, m.t_21);
    return m;
}

/* A motion that is off by about `by` radians in rotation, translation and normal. */
static psfm_plane_motion spoil_motion(psfm_rng *rng, const psfm_plane_motion *m, double by,
                                      const double turn[9]) {
    psfm_plane_motion out;
    double step[3];
    psfm_mat3_mul(turn, m->R_21, out.R_21);
    psfm_mat3_mul_vec(turn, m->t_21, out.t_21);
    psfm_rng_direction(rng, step);
    psfm_axpy3(m->n1, by, step, out.n1);
    psfm_normalize3(out.n1);
    psfm_mat3_mul_vec(out.R_21, out.n1, out.n2);
    out.d2_over_d1 = 1.0 + psfm_dot3(out.n2, out.t_21);
    return out;
}

static void set_homography(const psfm_plane_motion *m, double H[9]) {
    for (int k = 0; k < 9; ++k)
        H[k] = m->R_21[k] + m->t_21[k / 3] * m->n1[k % 3];
}

/* Keypoints on the plane that has patches are 3 px off; as keypoints they must not matter. */
static void spoil_keypoints(fixture *f) {
    for (size_t k = 0; k < f->first_new; ++k) {
        uint32_t point = f->set.pairs[0].matches[k][0];
        if (f->truth.plane[point] == 0)
            f->set.views[1].keypoints[point][1] += 3.0;
    }
}

/* What keypoints found: motions that are off by `by`, one each. */
static void set_up(psfm_context *ctx, uint64_t seed, double by, fixture *f) {
    scene_options o = scene_defaults();
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 44, 0);
    double axis[3], turn[9];
    o.num_planes = PLANES;
    o.off_plane = 0.25;
    o.num_matches = NUM;
    o.baseline[0] = 0.3;
    memset(f, 0, sizeof *f);
    f->truth = scene_make(&o, seed);
    make_set(ctx, &f->truth, &f->set);
    order_matches(f);
    spoil_keypoints(f);
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f->set, NULL));
    assert_ok(ctx, PSFM_ALLOC(ctx, PLANES, &f->view.homographies));
    f->view.num_homographies = PLANES;
    psfm_rng_direction(&rng, axis);
    psfm_scale3(by, axis, axis);
    psfm_rotation_exp(axis, turn);
    for (int p = 0; p < PLANES; ++p) {
        psfm_homography *h = &f->view.homographies[p];
        psfm_plane_motion m = true_motion(&f->truth, p);
        set_inliers(ctx, f, p, h);
        h->num_motions = 1;
        h->motions[0] = spoil_motion(&rng, &m, by, turn);
        h->rms_px = 1.5;
        set_homography(&h->motions[0], h->H_21);
    }
    f->refined[0] = (psfm_refined_plane){.refined = true, .num_matches = PATCHES, .rms_px = 0.05};
    psfm_plane_motion m = true_motion(&f->truth, 0);
    set_homography(&m, f->refined[0].H_21);
}

static void add_essential(psfm_context *ctx, fixture *f) {
    psfm_essential *e = &f->view.essential;
    const psfm_plane_motion *m = &f->view.homographies[0].motions[0];
    e->found = true;
    memcpy(e->R_21, m->R_21, sizeof e->R_21);
    memcpy(e->t_21, m->t_21, sizeof e->t_21);
    psfm_normalize3(e->t_21);
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &e->inliers));
    for (uint32_t k = 0; k < f->first_new; ++k)
        e->inliers[e->num_inliers++] = k;
}

static void tear_down(fixture *f) {
    scene_free(&f->truth);
    psfm_match_set_free(&f->set);
    psfm_two_view_free(&f->view);
}

static void replace_planes(psfm_context *ctx, fixture *f) {
    assert_ok(ctx, psfm_replace_planes(ctx, &f->set, 0, f->first_new, f->refined, &f->view));
}

static void assert_motion(const psfm_plane_motion *m, const psfm_plane_motion *expected,
                          double tolerance) {
    assert_below(psfm_rotation_angle(m->R_21, expected->R_21), tolerance);
    for (int k = 0; k < 3; ++k) {
        assert_close(m->t_21[k], expected->t_21[k], tolerance);
        assert_close(m->n1[k], expected->n1[k], tolerance);
        assert_close(m->n2[k], expected->n2[k], tolerance);
    }
    assert_close(m->d2_over_d1, expected->d2_over_d1, tolerance);
}

/* The motion among two of a homography that is not `m`. */
static psfm_plane_motion find_other_motion(const double H[9], const psfm_plane_motion *m) {
    psfm_plane_motion found[2];
    assert_int_equal(psfm_homography_decompose(H, found), 2);
    return found[psfm_rotation_angle(found[0].R_21, m->R_21) < 1e-9 ? 1 : 0];
}

/* Each motion of the new decomposition in the place of the one it is near to, on the side of the
 * plane that was known. */
static void a_plane_alone_takes_its_new_decomposition(void **state) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fixture f;
        set_up(*state, seed, 0.01, &f);
        psfm_homography *h = &f.view.homographies[0];
        psfm_plane_motion before = f.view.homographies[1].motions[0], known = h->motions[0];
        h->num_motions = 2;
        h->motions[seed % 2] = find_other_motion(h->H_21, &known);
        h->motions[1 - seed % 2] = known;
        replace_planes(*state, &f);
        psfm_plane_motion truth = true_motion(&f.truth, 0);
        assert_motion(&h->motions[1 - seed % 2], &truth, 1e-9);
        psfm_plane_motion other = find_other_motion(f.refined[0].H_21, &truth);
        assert_below(psfm_rotation_angle(h->motions[seed % 2].R_21, other.R_21), 1e-9);
        assert_memory_equal(h->H_21, f.refined[0].H_21, sizeof h->H_21);
        assert_close(h->rms_px, 0.05, 0.0);
        assert_memory_equal(&f.view.homographies[1].motions[0], &before, sizeof before);
        tear_down(&f);
    }
}

/* Far from what was known, a rotation, fewer motions than before, or not aligned: as it was. */
static void what_is_in_doubt_stays(void **state) {
    for (int round = 0; round < 4; ++round) {
        fixture f;
        set_up(*state, 3, round == 0 ? 0.5 : 0.01, &f);
        psfm_homography *h = &f.view.homographies[0];
        h->is_rotation = round == 1;
        f.refined[0].refined = round != 3;
        if (round == 2) {
            h->num_motions = 2;
            h->motions[1] = h->motions[0];
            memcpy(f.refined[0].H_21, f.truth.R_21, sizeof f.truth.R_21);
        }
        psfm_homography before = *h;
        replace_planes(*state, &f);
        assert_memory_equal(&before, h, sizeof before);
        tear_down(&f);
    }
}

/* Without noise the fit of patches, keypoints of the other plane and those off both is exact. */
static void planes_and_points_are_fitted_together(void **state) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        fixture f;
        set_up(*state, seed, 1e-4, &f);
        add_essential(*state, &f);
        replace_planes(*state, &f);
        double t[3];
        memcpy(t, f.truth.t_21, sizeof t);
        psfm_normalize3(t);
        const psfm_essential *e = &f.view.essential;
        assert_below(motion_error_deg(e->R_21, e->t_21, f.truth.R_21, t), 1e-5);
        for (int p = 0; p < PLANES; ++p) {
            const psfm_homography *h = &f.view.homographies[p];
            psfm_plane_motion truth = true_motion(&f.truth, p);
            assert_motion(&h->motions[0], &truth, 1e-6);
            assert_same_up_to_scale(h->H_21, f.truth.H_21[p], 1e-6);
            assert_close(h->rms_px, p == 0 ? 0.05 : 1.5, 0.0);
        }
        tear_down(&f);
    }
}

/* A plane with two motions left, or one that moves otherwise, does not take part. */
static void planes_of_other_motions_stay(void **state) {
    for (int round = 0; round < 2; ++round) {
        fixture f;
        const double axis[3] = {0.0, 0.01, 0.0};
        double turn[9], R[9];
        set_up(*state, 4, 1e-4, &f);
        add_essential(*state, &f);
        psfm_homography *h = &f.view.homographies[1];
        h->num_motions = round == 0 ? 2 : 1;
        h->motions[1] = h->motions[0];
        memcpy(R, h->motions[0].R_21, sizeof R);
        psfm_rotation_exp(axis, turn);
        if (round == 1)
            psfm_mat3_mul(turn, R, h->motions[0].R_21);
        psfm_homography before = *h;
        replace_planes(*state, &f);
        assert_memory_equal(&before, h, sizeof before);
        psfm_plane_motion truth = true_motion(&f.truth, 0);
        assert_motion(&f.view.homographies[0].motions[0], &truth, 1e-6);
        tear_down(&f);
    }
}

/* A degenerate essential matrix decides nothing: planes are taken alone. */
static void a_degenerate_essential_matrix_decides_nothing(void **state) {
    fixture f;
    set_up(*state, 5, 0.01, &f);
    add_essential(*state, &f);
    f.view.essential.is_degenerate = true;
    psfm_essential before = f.view.essential;
    replace_planes(*state, &f);
    psfm_plane_motion truth = true_motion(&f.truth, 0);
    assert_motion(&f.view.homographies[0].motions[0], &truth, 1e-9);
    assert_memory_equal(&before, &f.view.essential, sizeof before);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_alone_takes_its_new_decomposition),
        cmocka_unit_test(what_is_in_doubt_stays),
        cmocka_unit_test(planes_and_points_are_fitted_together),
        cmocka_unit_test(planes_of_other_motions_stay),
        cmocka_unit_test(a_degenerate_essential_matrix_decides_nothing),
    };
    return cmocka_run_group_tests_name("photometric/replace_planes", tests, open_context,
                                       close_context);
}
