/* Cameras at known heights over a plane: a unit of it covers (f / height)^2 pixels. */
#include "images/photometric/track_plan.h"

#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM_VIEWS = 6, SIDE = 20, NUM_POINTS = SIDE * SIDE };

static const double heights[NUM_VIEWS] = {5.0, 3.0, 4.0, 2.0, 6.0, 7.0};

typedef struct {
    psfm_context *ctx;
    psfm_camera camera;
    psfm_view views[NUM_VIEWS];
    psfm_match_set set;
    double keypoints[NUM_VIEWS][NUM_POINTS][2];
    double R[NUM_VIEWS][9], center[NUM_VIEWS][3];
    uint32_t component[NUM_VIEWS];
    psfm_poses poses;
    double points[NUM_POINTS][3];
    size_t begin[NUM_POINTS + 1];
    uint32_t view[3 * NUM_POINTS], keypoint[3 * NUM_POINTS];
    psfm_structure structure;
    psfm_scene_plane plane;
    int32_t point_plane[NUM_POINTS];
    psfm_scene_planes planes;
    psfm_track_scene scene;
    psfm_track_align_options options;
    psfm_track_plan plan;
} fixture;

/* All cameras look straight down at the plane z = 0 with points within a unit of the origin; views
 * 0 and 1 matched them. */
static fixture *make_fixture(void) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ctx = psfm_context_create();
    f->camera = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                              .width = 1000,
                              .height = 1000,
                              .params = {500.0, 500.0, 500.0}};
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        f->R[v][0] = 1.0;
        f->R[v][4] = f->R[v][8] = -1.0;
        f->center[v][2] = heights[v];
        f->views[v].keypoints = f->keypoints[v];
        f->views[v].num_keypoints = NUM_POINTS;
    }
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        f->points[p][0] = 2.0 * (p % SIDE) / SIDE - 0.95;
        f->points[p][1] = 2.0 * (p / SIDE) / SIDE - 0.95;
        for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
            f->keypoints[v][p][0] = 500.0 + 500.0 * f->points[p][0] / heights[v];
            f->keypoints[v][p][1] = 500.0 - 500.0 * f->points[p][1] / heights[v];
        }
        f->view[2 * p + 1] = 1;
        f->keypoint[2 * p] = f->keypoint[2 * p + 1] = p;
        f->begin[p + 1] = 2 * (size_t)p + 2;
    }
    f->set = (psfm_match_set){
        .cameras = &f->camera, .num_cameras = 1, .views = f->views, .num_views = NUM_VIEWS};
    f->poses = (psfm_poses){NUM_VIEWS, f->R, f->center, f->component};
    f->structure = (psfm_structure){.num_points = NUM_POINTS,
                                    .points = f->points,
                                    .tracks = {NUM_POINTS, f->begin, f->view, f->keypoint}};
    f->plane.normal[2] = 1.0;
    f->planes = (psfm_scene_planes){&f->plane, 1, f->point_plane};
    f->scene = (psfm_track_scene){&f->camera, &f->poses, &f->planes, NULL};
    psfm_options_init(&psfm_track_align_option_table, &f->options);
    f->options.per_image = 1000000; /* every point has its own square */
    return f;
}

static void make_plan(fixture *f) {
    psfm_track_plan_free(&f->plan);
    assert_ok(f->ctx, psfm_track_plan_make(f->ctx, &f->set, &f->structure, &f->scene, &f->options,
                                           &f->plan));
}

static void free_fixture(fixture *f) {
    psfm_track_plan_free(&f->plan);
    psfm_context_destroy(&f->ctx);
    free(f);
}

/* Whether every point is sought from view `from` in the views of the mask and no other. */
static void check_views(const fixture *f, uint32_t from, unsigned mask) {
    unsigned seen[NUM_POINTS] = {0};
    for (size_t k = 0; k < f->plan.num_searches; ++k) {
        const psfm_track_search *s = &f->plan.searches[k];
        assert_int_equal(s->from, from);
        assert_int_equal(s->keypoint, s->to < 2 ? s->point : UINT32_MAX);
        assert_false(seen[s->point] & 1u << s->to); /* once */
        seen[s->point] |= 1u << s->to;
    }
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        assert_int_equal(f->plan.reference[p], 2 * p + from);
        assert_int_equal(seen[p], mask);
    }
}

static void the_nearest_view_of_the_track_gives_the_patch(void **state) {
    (void)state;
    fixture *f = make_fixture();
    make_plan(f);
    check_views(f, 1, 0x3du); /* view 3 is nearer, but had not matched the points */
    free_fixture(f);
}

static void views_that_show_a_point_largest_come_first(void **state) {
    (void)state;
    fixture *f = make_fixture();
    f->options.max_views = 2;
    make_plan(f);
    check_views(f, 1, 1u << 0 | 1u << 3 | 1u << 2);
    f->options.max_views = 0;
    make_plan(f);
    check_views(f, 1, 1u << 0);
    free_fixture(f);
}

static void views_without_a_pose_or_of_another_world_take_no_part(void **state) {
    (void)state;
    fixture *f = make_fixture();
    f->component[1] = PSFM_NO_COMPONENT;
    f->component[2] = 1;
    f->component[3] = PSFM_NO_COMPONENT;
    make_plan(f);
    check_views(f, 0, 1u << 4 | 1u << 5);
    free_fixture(f);
}

/* From below, at a grazing angle, and past the image. */
static void views_that_cannot_show_the_surface_take_no_part(void **state) {
    (void)state;
    static const double up[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double along_x[9] = {0, -1, 0, 0, 0, -1, 1, 0, 0};
    fixture *f = make_fixture();
    memcpy(f->R[2], up, sizeof up);
    f->center[2][2] = -4.0;
    memcpy(f->R[3], along_x, sizeof along_x);
    memcpy(f->center[3], (const double[3]){-20.0, 0.0, 1.5}, sizeof f->center[3]);
    f->center[4][0] = 20.0;
    make_plan(f);
    check_views(f, 1, 1u << 0 | 1u << 5);
    f->center[3][2] = 4.0; /* not grazing any more */
    make_plan(f);
    check_views(f, 1, 1u << 0 | 1u << 3 | 1u << 5);
    free_fixture(f);
}

/* Pixels that a small square of the plane about a point covers in a view, by its corners. */
static double square_area(const fixture *f, uint32_t v, const double X[3]) {
    const double side = 1e-4;
    double at[3][2], J[6];
    for (int k = 0; k < 3; ++k) {
        double D[3], ray[3];
        psfm_sub3(X, f->center[v], D);
        D[0] += k == 1 ? side : 0.0;
        D[1] += k == 2 ? side : 0.0;
        psfm_mat3_mul_vec(f->R[v], D, ray);
        assert_true(psfm_camera_project_jacobian(&f->camera, ray, at[k], J));
    }
    double a[2] = {at[1][0] - at[0][0], at[1][1] - at[0][1]};
    double b[2] = {at[2][0] - at[0][0], at[2][1] - at[0][1]};
    return fabs(a[0] * b[1] - a[1] * b[0]) / (side * side);
}

/* Views turned by 35 degrees about their centres, each another way, so that the points are near the
 * edge of the image; and 30 to 40 degrees off the normal of the plane. */
static void turn_views(fixture *f) {
    for (uint32_t v = 2; v < NUM_VIEWS; ++v) {
        double w[3] = {0.61 * cos(v * 1.7), 0.61 * sin(v * 1.7), 0.3 * v}, turn[9], R[9];
        memcpy(R, f->R[v], sizeof R);
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, R, f->R[v]);
        f->center[v][0] = 0.5 * v - 1.5;
        f->center[v][2] = 3.0 + 0.05 * v;
    }
}

static void areas_are_those_of_oblique_views_too(void **state) {
    (void)state;
    unsigned chosen = 0;
    fixture *f = make_fixture();
    f->camera = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_RADIAL,
                              .width = 4000,
                              .height = 4000,
                              .params = {500.0, 2000.0, 2000.0, 0.3}};
    f->options.max_views = 1;
    turn_views(f);
    make_plan(f);
    for (size_t k = 0; k < f->plan.num_searches; ++k) {
        const psfm_track_search *s = &f->plan.searches[k];
        for (uint32_t v = 2; v < NUM_VIEWS && s->to >= 2; ++v)
            assert_true(square_area(f, v, f->points[s->point]) <=
                        square_area(f, s->to, f->points[s->point]) * (1.0 + 1e-3));
        chosen |= 1u << s->to;
    }
    if (__builtin_popcount(chosen & 0x3cu) < 3)
        fail_msg("only views %#x are the largest", chosen);
    free_fixture(f);
}

/* View 2 matched the points as well. */
static void lengthen_tracks(fixture *f) {
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        f->begin[p + 1] = 3 * (size_t)p + 3;
        for (uint32_t v = 0; v < 3; ++v) {
            f->view[3 * p + v] = v;
            f->keypoint[3 * p + v] = p;
        }
    }
}

/* Along the sum of the directions to views 0, 1 and 2, which matched them. */
static void surfaces_off_the_planes_face_their_cameras(void **state) {
    (void)state;
    fixture *f = make_fixture();
    lengthen_tracks(f);
    f->center[0][0] = 3.0;
    for (size_t p = 0; p < NUM_POINTS; p += 2)
        f->point_plane[p] = -1;
    make_plan(f);
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        double sum[3] = {0.0, 0.0, 0.0}, across[3];
        for (int v = 0; v < 3; ++v) {
            double to[3];
            psfm_sub3(f->center[v], f->points[p], to);
            for (int i = 0; i < 3; ++i)
                sum[i] += to[i] / psfm_norm3(to);
        }
        psfm_cross3(sum, f->plan.normals[p], across);
        assert_int_equal(f->plan.reference[p], 3 * p + 1);
        assert_float_equal(psfm_norm3(f->plan.normals[p]), 1.0, 1e-12);
        if (p % 2 == 0)
            assert_true(psfm_norm3(across) < 1e-12 && psfm_dot3(sum, f->plan.normals[p]) > 0.0);
        else
            assert_memory_equal(f->plan.normals[p], f->plane.normal, sizeof f->plane.normal);
    }
    free_fixture(f);
}

/* Two rays nearly meet anyway. */
static void two_images_confirm_no_point_off_the_planes(void **state) {
    (void)state;
    fixture *f = make_fixture();
    for (size_t p = 0; p < NUM_POINTS; p += 2)
        f->point_plane[p] = -1;
    make_plan(f);
    for (size_t p = 0; p < NUM_POINTS; ++p)
        assert_int_equal(f->plan.reference[p] == UINT32_MAX, p % 2 == 0);
    for (size_t k = 0; k < f->plan.num_searches; ++k)
        assert_int_equal(f->plan.searches[k].point % 2, 1);
    free_fixture(f);
}

/* A camera in the point itself, and no other: there is no direction. */
static void points_without_a_normal_are_not_sought(void **state) {
    (void)state;
    fixture *f = make_fixture();
    lengthen_tracks(f);
    f->point_plane[7] = -1;
    f->component[1] = f->component[2] = PSFM_NO_COMPONENT;
    memcpy(f->center[0], f->points[7], sizeof f->center[0]);
    make_plan(f);
    assert_int_equal(f->plan.reference[7], UINT32_MAX);
    for (size_t k = 0; k < f->plan.num_searches; ++k)
        assert_int_not_equal(f->plan.searches[k].point, 7);
    free_fixture(f);
}

/* Every other point was matched by view 2 instead of view 1. */
static void groups_are_pairs_of_views(void **state) {
    (void)state;
    fixture *f = make_fixture();
    for (size_t p = 0; p < NUM_POINTS; p += 2)
        f->view[2 * p + 1] = 2;
    make_plan(f);
    assert_int_equal(f->plan.num_groups, 2 * (NUM_VIEWS - 1));
    assert_int_equal(f->plan.groups[f->plan.num_groups], f->plan.num_searches);
    for (size_t g = 0; g < f->plan.num_groups; ++g) {
        const psfm_track_search *s = &f->plan.searches[f->plan.groups[g]];
        size_t n = f->plan.groups[g + 1] - f->plan.groups[g];
        assert_int_equal(n, NUM_POINTS / 2);
        for (size_t k = 1; k < n; ++k)
            assert_true(s[k].from == s->from && s[k].to == s->to && s[k - 1].point < s[k].point);
        assert_true(g == 0 || s[-1].from < s->from || (s[-1].from == s->from && s[-1].to < s->to));
    }
    free_fixture(f);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    fixture *f[2];
    for (int k = 0; k < 2; ++k) {
        f[k] = make_fixture();
        psfm_context_set_threads(f[k]->ctx, k == 0 ? 1 : 4);
        make_plan(f[k]);
    }
    assert_int_equal(f[0]->plan.num_searches, f[1]->plan.num_searches);
    for (size_t k = 0; k < f[0]->plan.num_searches; ++k) {
        const psfm_track_search *a = &f[0]->plan.searches[k], *b = &f[1]->plan.searches[k];
        assert_true(a->from == b->from && a->to == b->to && a->point == b->point);
        assert_int_equal(a->keypoint, b->keypoint);
    }
    free_fixture(f[0]);
    free_fixture(f[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_view_of_the_track_gives_the_patch),
        cmocka_unit_test(views_that_show_a_point_largest_come_first),
        cmocka_unit_test(views_without_a_pose_or_of_another_world_take_no_part),
        cmocka_unit_test(views_that_cannot_show_the_surface_take_no_part),
        cmocka_unit_test(areas_are_those_of_oblique_views_too),
        cmocka_unit_test(surfaces_off_the_planes_face_their_cameras),
        cmocka_unit_test(two_images_confirm_no_point_off_the_planes),
        cmocka_unit_test(points_without_a_normal_are_not_sought),
        cmocka_unit_test(groups_are_pairs_of_views),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
