/* Focal lengths of known cameras, estimated with noise: who shares one is found again. */
#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/matches/camera_groups.h"

enum { MAX_VIEWS = 60 };

typedef struct {
    psfm_context *ctx;
    psfm_match_set set;
    double log_focal[MAX_VIEWS], sigma[MAX_VIEWS];
    size_t num; /* new cameras */
} fixture;

/* Views of one camera that was guessed to be that of all. */
static void set_up(fixture *f, size_t num_views) {
    *f = (fixture){.ctx = psfm_context_create()};
    f->set.num_views = num_views;
    f->set.num_cameras = 1;
    assert_ok(f->ctx, PSFM_ALLOC(f->ctx, num_views, &f->set.views));
    assert_ok(f->ctx, PSFM_ALLOC(f->ctx, 1, &f->set.cameras));
    assert_ok(f->ctx, PSFM_ALLOC(f->ctx, 1, &f->set.origins));
    f->set.cameras[0] = psfm_camera_simple(1280, 720, 1000.0);
    f->set.cameras[0].id = 7;
    f->set.origins[0] = psfm_camera_origin_of(&f->set.cameras[0], false);
    f->set.origins[0].group = 7;
}

static void tear_down(fixture *f) {
    psfm_match_set_free(&f->set);
    psfm_context_destroy(&f->ctx);
}

/* View v has the focal length true_log[v], known to sigma. */
static void observe(fixture *f, uint64_t seed, const double *true_log, double sigma) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    for (size_t v = 0; v < f->set.num_views; ++v) {
        f->sigma[v] = sigma;
        f->log_focal[v] = true_log[v] + sigma * psfm_rng_normal(&rng);
    }
}

static void split(fixture *f) {
    assert_ok(f->ctx, psfm_camera_groups_split(f->ctx, &f->set, f->log_focal, f->sigma, &f->num));
    assert_int_equal(f->set.num_cameras, 1 + f->num);
    for (size_t c = 0; c < f->set.num_cameras; ++c) {
        assert_int_equal(f->set.origins[c].group, 7);
        assert_int_equal(f->set.cameras[c].id, 7 + c);
    }
}

static bool share(const fixture *f, size_t a, size_t b) {
    return f->set.views[a].camera_idx == f->set.views[b].camera_idx;
}

static void one_camera_stays_one(void **state) {
    (void)state;
    static const double same[MAX_VIEWS] = {0};
    for (uint64_t seed = 0; seed < 50; ++seed) {
        fixture f;
        set_up(&f, 40);
        observe(&f, seed, same, 0.01);
        split(&f);
        assert_int_equal(f.num, 0);
        assert_close(f.log_focal[3], 0.0, 0.0);
        tear_down(&f);
    }
}

static void two_zooms_become_two_cameras(void **state) {
    (void)state;
    double truth[MAX_VIEWS];
    for (size_t v = 0; v < 30; ++v)
        truth[v] = v % 3 == 0 ? 0.2 : -0.1;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fixture f;
        set_up(&f, 30);
        observe(&f, seed, truth, 0.01);
        assert_true(psfm_camera_groups_differ(&f.set, f.log_focal, f.sigma));
        split(&f);
        assert_int_equal(f.num, 1);
        for (size_t v = 0; v < 30; ++v) {
            assert_int_equal(f.set.views[v].camera_idx, v % 3 == 0); /* most keep theirs */
            assert_close(f.log_focal[v], truth[v], 0.02);
        }
        psfm_camera_groups groups = psfm_camera_groups_count(&f.set);
        assert_int_equal(groups.num_images, 30);
        assert_int_equal(groups.num_groups, 1);
        assert_int_equal(groups.num_cameras, 2);
        assert_int_equal(groups.num_alone, 0);
        tear_down(&f);
    }
}

/* A zoom that turned between all photographs: no intervals, but one camera each. */
static void own_focal_lengths_become_own_cameras(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fixture f;
        double truth[MAX_VIEWS];
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        set_up(&f, 46);
        for (size_t v = 0; v < 46; ++v)
            truth[v] = 0.4 * psfm_rng_uniform(&rng);
        observe(&f, seed, truth, 0.01);
        f.sigma[9] = INFINITY; /* nothing is known of it: alone, as the others are */
        split(&f);
        assert_int_equal(f.num, 45);
        for (size_t v = 1; v < 46; ++v)
            assert_false(share(&f, v, v - 1));
        tear_down(&f);
    }
}

static void one_cropped_among_twelve_is_alone(void **state) {
    (void)state;
    double truth[MAX_VIEWS] = {[5] = 0.08};
    fixture f;
    char text[256];
    set_up(&f, 12);
    observe(&f, 3, truth, 0.01);
    f.log_focal[2] = NAN; /* stays with most */
    split(&f);
    assert_int_equal(f.num, 1);
    assert_int_equal(f.set.views[5].camera_idx, 1);
    for (size_t v = 0; v < 12; ++v)
        assert_true(v == 5 || share(&f, v, 0));
    psfm_camera_groups groups = psfm_camera_groups_count(&f.set);
    assert_int_equal(groups.num_alone, 1);
    psfm_camera_groups_describe(&groups, text, sizeof text);
    assert_non_null(strstr(text, "12 photographs"));
    assert_non_null(strstr(text, "1 photograph has"));
    tear_down(&f);
}

static void known_cameras_are_never_split(void **state) {
    (void)state;
    double truth[MAX_VIEWS] = {[5] = 1.0};
    fixture f;
    char text[64] = "x";
    set_up(&f, 12);
    f.set.origins[0].group = 0; /* the user said so */
    observe(&f, 3, truth, 0.01);
    assert_false(psfm_camera_groups_differ(&f.set, f.log_focal, f.sigma));
    assert_ok(f.ctx, psfm_camera_groups_split(f.ctx, &f.set, f.log_focal, f.sigma, &f.num));
    assert_int_equal(f.num, 0);
    psfm_camera_groups groups = psfm_camera_groups_count(&f.set);
    psfm_camera_groups_describe(&groups, text, sizeof text);
    assert_string_equal(text, "");
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_camera_stays_one),
        cmocka_unit_test(two_zooms_become_two_cameras),
        cmocka_unit_test(own_focal_lengths_become_own_cameras),
        cmocka_unit_test(one_cropped_among_twelve_is_alone),
        cmocka_unit_test(known_cameras_are_never_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
