/* Matches of a scene with known poses, and of a graph made by hand. */
#include "core/refine/usable_matches.h"

#include "scene_truth.h"

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_poses poses;
    psfm_two_view *two_views; /* pairs have no geometry of their own unless a test gives one */
    bool *use;
} fixture;

static fixture make_fixture(double noise_px, double outliers) {
    fixture f = {.ctx = psfm_context_create()};
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 6;
    options.num_points = 300;
    options.noise_px = noise_px;
    options.outliers = outliers;
    assert_ok(f.ctx, psfm_scene_make(f.ctx, PSFM_SCENE_ARENA, 3, &options, &f.scene));
    f.poses = true_poses(f.ctx, &f.scene);
    f.two_views = calloc(f.scene.matches.num_pairs, sizeof *f.two_views);
    size_t total = psfm_match_set_total(&f.scene.matches);
    f.use = malloc(total * sizeof *f.use);
    assert_non_null(f.use);
    memset(f.use, 1, total * sizeof *f.use);
    return f;
}

static void free_fixture(fixture *f) {
    free(f->use);
    free(f->two_views);
    psfm_poses_free(&f->poses);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

static void find(fixture *f, double max_error_px) {
    const psfm_refine_input input = {.set = &f->scene.matches, .two_views = f->two_views};
    assert_ok(f->ctx,
              psfm_usable_matches_of_poses(f->ctx, &input, &f->poses, max_error_px, f->use));
}

/* Right and wrong matches of a pair that are used; returns the pair's first match. */
static const bool *count_used(const fixture *f, size_t pair, size_t *right, size_t *wrong) {
    const psfm_match_set *set = &f->scene.matches;
    const bool *use = f->use;
    for (size_t p = 0; p < pair; ++p)
        use += set->pairs[p].num_matches;
    *right = *wrong = 0;
    for (size_t k = 0; k < set->pairs[pair].num_matches; ++k)
        if (use[k])
            ++*(is_right_match(&f->scene, &set->pairs[pair], k) ? right : wrong);
    return use;
}

static void poses_tell_right_from_wrong(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.3);
    size_t all_right = 0, all_wrong = 0, used_right = 0, used_wrong = 0;
    find(&f, 0.5);
    for (size_t p = 0; p < f.scene.matches.num_pairs; ++p) {
        const psfm_match_pair *pair = &f.scene.matches.pairs[p];
        size_t right, wrong;
        count_used(&f, p, &right, &wrong);
        used_right += right;
        used_wrong += wrong;
        for (size_t k = 0; k < pair->num_matches; ++k)
            ++*(is_right_match(&f.scene, pair, k) ? &all_right : &all_wrong);
    }
    assert_true(all_wrong > 200);
    assert_int_equal(used_right, all_right);
    assert_true(used_wrong < all_wrong / 20); /* on the right epipolar line by chance */
    free_fixture(&f);
}

/* x ~ K^-1 pixel of a pinhole. */
static void normalise(const psfm_camera *camera, const double xy[2], double x[3]) {
    x[0] = (xy[0] - camera->params[2]) / camera->params[0];
    x[1] = (xy[1] - camera->params[3]) / camera->params[1];
    x[2] = 1.0;
}

/* Sampson's error by the book: |x2 . E x1| over the length of its gradient by the four pixel
 * coordinates. */
static double sampson_px(const fixture *f, const psfm_match_pair *pair, size_t k) {
    const psfm_match_set *set = &f->scene.matches;
    const double *R1 = f->poses.cam_from_world[pair->view1];
    const double *R2 = f->poses.cam_from_world[pair->view2];
    const psfm_camera *camera = &set->cameras[0];
    double x1[3], x2[3], world[3], base[3], at2[3], t[3], line2[3], line1[3], turned[3];
    normalise(camera, set->views[pair->view1].keypoints[pair->matches[k][0]], x1);
    normalise(camera, set->views[pair->view2].keypoints[pair->matches[k][1]], x2);
    psfm_sub3(f->poses.center[pair->view1], f->poses.center[pair->view2], base);
    psfm_normalize3(base);
    psfm_mat3_mul_vec(R2, base, t);
    psfm_mat3_tmul_vec(R1, x1, world);
    psfm_mat3_mul_vec(R2, world, at2);
    psfm_cross3(t, at2, line2); /* E x1 */
    psfm_cross3(x2, t, turned); /* [t]x^T x2 */
    psfm_mat3_tmul_vec(R2, turned, world);
    psfm_mat3_mul_vec(R1, world, line1); /* E^T x2 */
    double gradient = hypot(hypot(line1[0], line1[1]), hypot(line2[0], line2[1]));
    return fabs(psfm_dot3(x2, line2)) / gradient * camera->params[0];
}

static void errors_are_sampson_errors_in_pixels(void **state) {
    (void)state;
    fixture f = make_fixture(1.0, 0.0);
    size_t used = 0, left = 0;
    find(&f, 0.8);
    for (size_t p = 0; p < f.scene.matches.num_pairs; ++p) {
        const psfm_match_pair *pair = &f.scene.matches.pairs[p];
        size_t right, wrong;
        const bool *use = count_used(&f, p, &right, &wrong);
        for (size_t k = 0; k < pair->num_matches; ++k) {
            double error = sampson_px(&f, pair, k);
            if (fabs(error - 0.8) < 0.01) /* the two differ by terms of second order */
                continue;
            assert_int_equal(use[k], error < 0.8);
            ++*(use[k] ? &used : &left);
        }
    }
    assert_true(used > 200 && left > 200);
    free_fixture(&f);
}

static void views_must_share_a_world(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    f.poses.component[0] = PSFM_NO_COMPONENT;
    f.poses.component[1] = 7;
    find(&f, 1.0);
    for (size_t p = 0; p < f.scene.matches.num_pairs; ++p) {
        const psfm_match_pair *pair = &f.scene.matches.pairs[p];
        size_t right, wrong;
        count_used(&f, p, &right, &wrong);
        assert_int_equal(right, pair->view1 < 2 ? 0 : pair->num_matches);
    }
    free_fixture(&f);
}

/* Gives each of the last `num - first` matches the partner of the one before. */
static void misguide(psfm_match_pair *pair, size_t first) {
    size_t num = pair->num_matches;
    uint32_t last = pair->matches[num - 1][1];
    for (size_t k = num - 1; k > first; --k)
        pair->matches[k][1] = pair->matches[k - 1][1];
    pair->matches[first][1] = last;
}

/* Of a pair that was matched to a duplicate a few matches agree, and most of it agrees on something
 * else: none counts. If nothing else explains the others, they are just wrong, and the few count.
 */
static void what_agrees_is_weighed_against_the_pairs_own_geometry(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    psfm_match_pair *pair = &f.scene.matches.pairs[0];
    size_t num = pair->num_matches, right, wrong;
    uint32_t *inliers = calloc(num, sizeof *inliers);
    psfm_homography duplicate = {.inliers = inliers, .num_inliers = num - num / 5};
    assert_true(num > 40);
    misguide(pair, num / 5);
    find(&f, 0.01);
    count_used(&f, 0, &right, &wrong);
    assert_int_equal(right, num / 5);
    for (size_t k = num / 5; k < num; ++k)
        inliers[k - num / 5] = (uint32_t)k;
    f.two_views[0].homographies = &duplicate;
    f.two_views[0].num_homographies = 1;
    find(&f, 0.01);
    count_used(&f, 0, &right, &wrong);
    assert_true(right == 0 && wrong == 0);
    free(inliers);
    free_fixture(&f);
}

static void few_matches_cannot_tell(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    size_t right, wrong;
    f.scene.matches.pairs[0].num_matches = 4; /* all right */
    find(&f, 0.01);
    count_used(&f, 0, &right, &wrong);
    assert_int_equal(right, 0);
    free_fixture(&f);
}

/* Nine of ten matches are wrong, and the error is so large that many agree by chance. With the
 * plane known only its inliers are used; without it chance is let in with them. */
static void chance_off_the_planes_stays_out(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    psfm_match_pair *pair = &f.scene.matches.pairs[0];
    size_t num = pair->num_matches, right, wrong, chance;
    uint32_t *inliers = calloc(num, sizeof *inliers);
    psfm_homography plane = {.inliers = inliers, .num_inliers = num / 5};
    misguide(pair, num / 5);
    for (size_t k = 0; k < num / 5; ++k)
        inliers[k] = (uint32_t)k;
    find(&f, 20.0);
    count_used(&f, 0, &right, &chance);
    assert_int_equal(right, num / 5);
    assert_true(chance > 0);
    f.two_views[0].homographies = &plane;
    f.two_views[0].num_homographies = 1;
    find(&f, 20.0);
    count_used(&f, 0, &right, &wrong);
    assert_int_equal(right, num / 5);
    assert_int_equal(wrong, 0);
    free(inliers);
    free_fixture(&f);
}

static void cameras_at_one_place_have_no_epipolar_lines(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    const psfm_match_pair *pair = &f.scene.matches.pairs[0];
    size_t right, wrong;
    memcpy(f.poses.center[pair->view2], f.poses.center[pair->view1], sizeof *f.poses.center);
    find(&f, 1000.0);
    count_used(&f, 0, &right, &wrong);
    assert_true(right == 0 && wrong == 0);
    free_fixture(&f);
}

/* With all matches exact the poses are off by what they were moved: nothing at the truth, and more
 * the further a camera is turned. An edge that is not accepted has no say. */
static void errors_of_poses_are_seen(void **state) {
    (void)state;
    fixture f = make_fixture(0.0, 0.0);
    psfm_two_view_options verification;
    psfm_pose_graph graph;
    double off[3];
    free(f.two_views);
    psfm_options_init(&psfm_two_view_option_table, &verification);
    assert_ok(f.ctx, psfm_two_views_make(f.ctx, &f.scene.matches, &verification, &f.two_views));
    assert_ok(f.ctx, psfm_pose_graph_build(f.ctx, &f.scene.matches, f.two_views, true, &graph));
    bool *accepted = calloc(graph.num_edges, sizeof *accepted);
    psfm_refine_input input = {.set = &f.scene.matches,
                               .two_views = f.two_views,
                               .graph = &graph,
                               .edge_accepted = accepted};
    assert_ok(f.ctx, psfm_pose_error(f.ctx, &input, &f.poses, 1.0, &off[0]));
    assert_true(off[0] == 0.0); /* nobody has a say */
    memset(accepted, 1, graph.num_edges * sizeof *accepted);
    for (int k = 0; k < 3; ++k) {
        assert_ok(f.ctx, psfm_pose_error(f.ctx, &input, &f.poses, 1.0, &off[k]));
        double turn[9], R[9], w[3] = {0.005, 0.0, 0.0};
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, f.poses.cam_from_world[2], R);
        memcpy(f.poses.cam_from_world[2], R, sizeof R);
    }
    assert_below(off[0], 1e-6);
    assert_true(off[1] > 1.0 && off[2] > 1.5 * off[1]); /* 6 and 12 px of 1200 px focal length */
    free(accepted);
    psfm_pose_graph_free(&graph);
    psfm_two_views_free(&f.two_views, f.scene.matches.num_pairs);
    free_fixture(&f);
}

/* Three pairs of four matches; pairs 0 and 2 have an edge. */
static void inliers_of_accepted_edges(void **state) {
    (void)state;
    psfm_match_pair pairs[3] = {{0, 1, 4, NULL}, {0, 2, 4, NULL}, {1, 2, 4, NULL}};
    psfm_match_set set = {.pairs = pairs, .num_pairs = 3};
    uint32_t on_planes[3] = {1, 3, 0}, on_motion[1] = {2};
    psfm_homography planes[2] = {{.inliers = on_planes, .num_inliers = 1},
                                 {.inliers = on_planes + 1, .num_inliers = 1}};
    psfm_homography other = {.inliers = on_planes + 2, .num_inliers = 1};
    psfm_two_view two_views[3] = {
        {.homographies = planes, .num_homographies = 2},
        {.homographies = &other, .num_homographies = 1},
        {.essential = {.found = true, .inliers = on_motion, .num_inliers = 1},
         .homographies = &other,
         .num_homographies = 1}};
    psfm_edge edges[2] = {{.node1 = 0, .node2 = 1, .pair = 0}, {.node1 = 1, .node2 = 2, .pair = 2}};
    psfm_pose_graph graph = {.edges = edges, .num_edges = 2};
    bool accepted[2] = {true, true}, use[12];
    psfm_refine_input input = {
        .set = &set, .two_views = two_views, .graph = &graph, .edge_accepted = accepted};
    const bool both[12] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0};
    const bool second[12] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    memset(use, 1, sizeof use);
    assert_ok(NULL, psfm_usable_matches_of_edges(&input, use));
    assert_memory_equal(use, both, sizeof use);
    accepted[0] = false;
    assert_ok(NULL, psfm_usable_matches_of_edges(&input, use));
    assert_memory_equal(use, second, sizeof use);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_tell_right_from_wrong),
        cmocka_unit_test(errors_are_sampson_errors_in_pixels),
        cmocka_unit_test(views_must_share_a_world),
        cmocka_unit_test(what_agrees_is_weighed_against_the_pairs_own_geometry),
        cmocka_unit_test(few_matches_cannot_tell),
        cmocka_unit_test(errors_of_poses_are_seen),
        cmocka_unit_test(chance_off_the_planes_stays_out),
        cmocka_unit_test(cameras_at_one_place_have_no_epipolar_lines),
        cmocka_unit_test(inliers_of_accepted_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
