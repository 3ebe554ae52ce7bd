/* Steps along a tree: what turns as a whole turns exactly, and a chain that is bent becomes
 * straight in a few steps. */
#include "unit/core/bundle/bundle_run.h"

#include "core/bundle/bundle_internal.h"
#include "core/linalg/angle.h"

enum { NUM_IMAGES = 150, PER_IMAGE = 8, NUM_POINTS = NUM_IMAGES * PER_IMAGE, REACH = 2 };

/* Images a unit apart on a straight line look at a strip of points beside it; without noise. */
typedef struct {
    psfm_bundle_problem problem;
    psfm_camera camera;
    uint32_t image_camera[NUM_IMAGES];
    double R[NUM_IMAGES][9], c[NUM_IMAGES][3], points[NUM_POINTS][3];
    uint32_t obs_image[NUM_POINTS * (2 * REACH + 1)], obs_point[NUM_POINTS * (2 * REACH + 1)];
    double obs_xy[NUM_POINTS * (2 * REACH + 1)][2];
} chain;

static void see_point(chain *s, uint32_t point, int middle) {
    for (int i = middle - REACH; i <= middle + REACH; ++i) {
        if (i < 0 || i >= NUM_IMAGES)
            continue;
        size_t o = s->problem.num_observations++;
        double D[3];
        s->obs_image[o] = (uint32_t)i;
        s->obs_point[o] = point;
        psfm_sub3(s->points[point], s->c[i], D);
        assert_true(psfm_camera_project(&s->camera, D, s->obs_xy[o]));
    }
}

static void make_straight(chain *s) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    memset(s, 0, sizeof *s);
    s->camera = scene_camera(PSFM_CAMERA_PINHOLE);
    s->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &s->camera,
                                       .num_images = NUM_IMAGES,
                                       .image_camera = s->image_camera,
                                       .cam_from_world = s->R,
                                       .centers = s->c,
                                       .num_points = NUM_POINTS,
                                       .points = s->points,
                                       .obs_image = s->obs_image,
                                       .obs_point = s->obs_point,
                                       .obs_xy = (const double(*)[2])s->obs_xy};
    for (int i = 0; i < NUM_IMAGES; ++i) {
        psfm_mat3_identity(s->R[i]);
        s->c[i][0] = i;
    }
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        int middle = (int)p / PER_IMAGE;
        s->points[p][0] = middle + psfm_rng_range(&rng, -0.5, 0.5);
        s->points[p][1] = psfm_rng_range(&rng, -2.0, 2.0);
        s->points[p][2] = psfm_rng_range(&rng, 4.0, 8.0);
        see_point(s, p, middle);
    }
}

/* Turns each image by `step_deg` against the one before it, with all that follows. */
static void bend(chain *s, double step_deg) {
    chain straight = *s;
    for (int i = 0; i < NUM_IMAGES; ++i) {
        const double turn[3] = {0.0, psfm_radians(step_deg) * i, 0.3 * psfm_radians(step_deg) * i};
        double baseline[3];
        psfm_rotation_exp(turn, s->R[i]);
        if (i > 0) {
            const double unit[3] = {1.0, 0.0, 0.0};
            psfm_mat3_tmul_vec(s->R[i - 1], unit, baseline);
            psfm_axpy3(s->c[i - 1], 1.0, baseline, s->c[i]);
        }
        for (int k = 0; k < PER_IMAGE; ++k) {
            uint32_t p = (uint32_t)(PER_IMAGE * i + k);
            double D[3], turned[3];
            psfm_sub3(straight.points[p], straight.c[i], D);
            psfm_mat3_tmul_vec(s->R[i], D, turned);
            psfm_axpy3(s->c[i], 1.0, turned, s->points[p]);
        }
    }
}

static void a_bent_chain_becomes_straight(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle_options options = default_options();
    psfm_bundle_stats stats;
    make_straight(&s);
    bend(&s, 0.5);
    assert_true(psfm_degrees(psfm_rotation_angle(s.R[0], s.R[NUM_IMAGES - 1])) > 70.0);
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, &stats));
    assert_true(stats.iterations <= 12); /* 100 are not enough without the tree */
    assert_below(stats.mean_px, 1e-4);
    assert_below(psfm_rotation_angle(s.R[0], s.R[NUM_IMAGES - 1]), 1e-5);
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    static chain s, once;
    psfm_bundle_options options = default_options();
    for (int threads = 1; threads <= 3; threads += 2) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        make_straight(&s);
        bend(&s, 0.5);
        assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, NULL));
        if (threads == 1)
            once = s;
        assert_memory_equal(s.R, once.R, sizeof s.R);
        assert_memory_equal(s.c, once.c, sizeof s.c);
        assert_memory_equal(s.points, once.points, sizeof s.points);
        psfm_context_destroy(&ctx);
    }
}

/* The tree of a chain, and a step of nothing. */
static void start_step(psfm_context *ctx, chain *s, psfm_bundle *b) {
    psfm_bundle_options options = default_options();
    assert_ok(ctx, psfm_bundle_setup(ctx, &s->problem, &options, b));
    assert_ok(ctx, psfm_bundle_tree_create(ctx, b, &b->tree));
    memset(b->step, 0, b->pattern.scalar_begin[b->pattern.num_blocks] * sizeof *b->step);
}

/* A step that turns all images from `first` on about the centre of the one before, by `turn`. */
static void turn_end(psfm_bundle *b, uint32_t first, const double turn[3]) {
    for (uint32_t i = first; i < NUM_IMAGES; ++i) {
        double *d = b->step + b->pattern.scalar_begin[b->image_block[i]], arm[3], shift[3];
        psfm_mat3_mul_vec(b->now.R[i], turn, d);
        psfm_sub3(b->now.c[i], b->now.c[first - 1], arm);
        psfm_cross3(arm, turn, shift);
        memcpy(d + 3, shift, sizeof shift);
    }
}

static double distance(const psfm_bundle *b, uint32_t i, uint32_t j) {
    double D[3];
    psfm_sub3(b->trial.c[i], b->trial.c[j], D);
    return psfm_norm3(D);
}

static void what_turns_as_a_whole_turns_exactly(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle b;
    const uint32_t first = 100;
    const double turn[3] = {0.1, 0.6, -0.2};
    double E[9];
    make_straight(&s);
    start_step(ctx, &s, &b);
    turn_end(&b, first, turn);
    assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
    psfm_rotation_exp(turn, E);
    double unit = distance(&b, 0, 1); /* the scale is held by a far image */
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        uint32_t end = i < first ? 0 : first;
        assert_below(psfm_rotation_angle(b.trial.R[i], i < first ? b.now.R[i] : E), 1e-7);
        assert_close(distance(&b, end, i), unit * (double)(i - end), 1e-10);
    }
    for (uint32_t i = 0; i < NUM_IMAGES; ++i)
        if (b.scale_anchor[i] != PSFM_BUNDLE_NONE)
            assert_close(distance(&b, b.scale_anchor[i], i), b.scale_distance[i], 1e-10);
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

static double *shift_of(psfm_bundle *b, uint32_t image) {
    return b->step + b->pattern.scalar_begin[b->image_block[image]] + 3;
}

/* An end that the straight step would take through zero. */
static void what_grows_as_a_whole_grows_by_a_factor(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle b;
    const uint32_t first = 100, inside = first + 2 * REACH;
    const double growth = -1.5;
    make_straight(&s);
    start_step(ctx, &s, &b);
    for (uint32_t i = first; i < NUM_IMAGES; ++i)
        shift_of(&b, i)[0] = growth * (double)(i - first + 1);
    assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
    double unit = distance(&b, 0, 1);
    for (uint32_t i = 0; i + 1 < NUM_IMAGES; ++i)
        if (i + 2 * REACH < first || i >= inside)
            assert_close(distance(&b, i, i + 1), unit * (i < first ? 1.0 : exp(growth)), 1e-10);
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

/* An end that hardly anything holds, and a step of a thousand times its size: the exponential of
 * that is no number. */
static void growth_has_a_limit(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle b;
    const uint32_t first = 100;
    make_straight(&s);
    start_step(ctx, &s, &b);
    for (uint32_t i = first; i < NUM_IMAGES; ++i)
        shift_of(&b, i)[0] = 1000.0 * (double)(i - first + 1);
    assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
    for (uint32_t i = 0; i < NUM_IMAGES; ++i)
        assert_true(isfinite(b.trial.c[i][0]));
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

/* Two images all but at one place: a step of 30 times what is between them is a small one. */
static void a_short_baseline_is_no_measure(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle b;
    const uint32_t first = 100;
    const double apart = 0.001, shift = 0.03;
    make_straight(&s);
    s.c[first][0] = s.c[first - 1][0] + apart;
    s.problem.num_observations = 0;
    for (uint32_t p = 0; p < NUM_POINTS; ++p)
        see_point(&s, p, (int)p / PER_IMAGE);
    start_step(ctx, &s, &b);
    shift_of(&b, first)[0] = shift;
    assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
    assert_close(distance(&b, first - 1, first), apart + shift, 0.002);
    for (uint32_t i = 0; i < NUM_IMAGES; ++i)
        assert_close(b.trial.c[i][0], b.now.c[i][0] + (i == first ? shift : 0.0), 0.02 * shift);
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

/* Steps that change nothing, one after the other: rounding does not add up. */
static void what_does_not_move_stays(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    psfm_bundle b;
    make_straight(&s);
    bend(&s, 0.5);
    start_step(ctx, &s, &b);
    for (int k = 0; k < 20; ++k) {
        assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
        memcpy(b.now.R, b.trial.R, NUM_IMAGES * sizeof *b.now.R);
        memcpy(b.now.c, b.trial.c, NUM_IMAGES * sizeof *b.now.c);
    }
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        double D[3];
        psfm_sub3(b.now.c[i], s.c[i], D);
        assert_below(psfm_rotation_angle(b.now.R[i], s.R[i]), 1e-10);
        assert_below(psfm_norm3(D), 1e-9);
    }
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

/* The chain over a floor, all of whose points are on one plane. */
static void make_floor(chain *s, psfm_bundle_plane *plane, int32_t *point_plane) {
    make_straight(s);
    for (uint32_t p = 0; p < NUM_POINTS; ++p)
        s->points[p][2] = 6.0;
    s->problem.num_observations = 0;
    for (uint32_t p = 0; p < NUM_POINTS; ++p)
        see_point(s, p, (int)p / PER_IMAGE);
    memset(point_plane, 0, NUM_POINTS * sizeof *point_plane);
    *plane = (psfm_bundle_plane){.normal = {0, 0, 1}, .distance = 6.0};
    s->problem.num_planes = 1;
    s->problem.planes = plane;
    s->problem.point_plane = point_plane;
}

/* Adds a step that tilts all but the image that is fixed, and the plane, by `turn`. */
static void tilt_all(psfm_bundle *b, const double turn[3]) {
    const double *plane_normal = b->now.planes[0].normal, *frame = b->now.plane_frame[0];
    double *d = b->step + b->pattern.scalar_begin[b->plane_block[0]], arm[3], shift[3], change[3];
    uint32_t fixed = 0;
    while (b->image_block[fixed] != PSFM_BUNDLE_NONE)
        ++fixed;
    psfm_cross3(plane_normal, turn, change);
    psfm_sub3(b->plane_anchor[0], b->now.c[fixed], arm);
    psfm_cross3(arm, turn, shift);
    d[0] = psfm_dot3(frame, change);
    d[1] = psfm_dot3(frame + 3, change);
    d[2] = psfm_dot3(plane_normal, shift);
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        if (i == fixed)
            continue;
        d = b->step + b->pattern.scalar_begin[b->image_block[i]];
        psfm_mat3_mul_vec(b->now.R[i], turn, change);
        psfm_axpy3(d, 1.0, change, d);
        psfm_sub3(b->now.c[i], b->now.c[fixed], arm);
        psfm_cross3(arm, turn, shift);
        psfm_axpy3(d + 3, 1.0, shift, d + 3);
    }
}

/* An end turns about the normal while all is tilted: heights above the plane and tilts against it
 * stay, although the two turns do not commute. */
static void what_is_above_a_plane_stays_above_it(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    static int32_t point_plane[NUM_POINTS];
    psfm_bundle_plane plane;
    psfm_bundle b;
    make_floor(&s, &plane, point_plane);
    start_step(ctx, &s, &b);
    turn_end(&b, 100, (double[3]){0.0, 0.0, 0.2});
    tilt_all(&b, (double[3]){0.03, 0.02, 0.0});
    assert_ok(ctx, psfm_bundle_tree_move(ctx, &b));
    double normal[3], height = 0.0;
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        if (b.image_block[i] == PSFM_BUNDLE_NONE || b.scale_anchor[i] != PSFM_BUNDLE_NONE)
            continue;
        double own = b.trial.planes[0].distance - psfm_dot3(b.trial.planes[0].normal, b.trial.c[i]);
        height = height == 0.0 ? own : height;
        psfm_mat3_mul_vec(b.trial.R[i], b.trial.planes[0].normal, normal);
        assert_close(own, height, 1e-9);
        assert_close(normal[2], 1.0, 1e-7);
    }
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

static void add_noise(chain *s, double px) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (size_t o = 0; o < s->problem.num_observations; ++o)
        for (int k = 0; k < 2; ++k)
            s->obs_xy[o][k] += px * psfm_rng_normal(&rng);
}

/* From the true poses and from bent ones the same end, although a share of the cost that would be
 * called tiny is many standard deviations of the weakest mode. */
static void a_chain_is_adjusted_to_its_end(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain straight, bent;
    psfm_bundle_options options = default_options();
    options.tolerance = 0.01;
    make_straight(&straight);
    add_noise(&straight, 0.5);
    bent = straight;
    bent.problem = straight.problem;
    bent.problem.cam_from_world = bent.R;
    bent.problem.centers = bent.c;
    bent.problem.points = bent.points;
    bend(&bent, 0.02);
    assert_ok(ctx, psfm_bundle_adjust(ctx, &straight.problem, &options, NULL));
    assert_ok(ctx, psfm_bundle_adjust(ctx, &bent.problem, &options, NULL));
    double between[2][9];
    psfm_mat3_mul_t(straight.R[0], straight.R[NUM_IMAGES - 1], between[0]);
    psfm_mat3_mul_t(bent.R[0], bent.R[NUM_IMAGES - 1], between[1]);
    assert_below(psfm_degrees(psfm_rotation_angle(between[0], between[1])), 0.02);
    psfm_context_destroy(&ctx);
}

/* Points far off a plane that is flat: they go to it before poses move for that. */
static void points_go_to_a_stiff_plane_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static chain s;
    static int32_t point_plane[NUM_POINTS];
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_bundle_plane plane;
    psfm_bundle_options options = default_options();
    psfm_bundle_stats stats;
    make_floor(&s, &plane, point_plane);
    add_noise(&s, 0.5);
    for (uint32_t p = 0; p < NUM_POINTS; ++p) /* as two rays would have it that hardly meet */
        psfm_axpy3(s.points[p], psfm_rng_range(&rng, -0.3, 0.3),
                   (double[3]){s.points[p][0] - s.c[p / PER_IMAGE][0], s.points[p][1], 6.0},
                   s.points[p]);
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, &stats));
    assert_true(stats.iterations <= 10); /* 13 without that */
    psfm_bundle_stats_free(&stats);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bent_chain_becomes_straight),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(what_turns_as_a_whole_turns_exactly),
        cmocka_unit_test(what_grows_as_a_whole_grows_by_a_factor),
        cmocka_unit_test(growth_has_a_limit),
        cmocka_unit_test(a_short_baseline_is_no_measure),
        cmocka_unit_test(what_does_not_move_stays),
        cmocka_unit_test(what_is_above_a_plane_stays_above_it),
        cmocka_unit_test(a_chain_is_adjusted_to_its_end),
        cmocka_unit_test(points_go_to_a_stiff_plane_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
