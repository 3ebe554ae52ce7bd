/* Points and planes between two components that were one. */
#include "test_util.h"

#include "core/base/alloc.h"
#include "core/structure/model_members.h"

enum { NUM_VIEWS = 5, NUM_POINTS = 8, NUM_SHARED = 5 };

static uint32_t split[NUM_VIEWS] = {1, 1, 0, 0, PSFM_NO_COMPONENT};
static double centers[NUM_VIEWS][3];
static const psfm_poses poses = {NUM_VIEWS, NULL, centers, split};

/* Which views see a point, as bits. The first five are seen by all: hinges. */
static const unsigned seen_by[NUM_POINTS] = {31, 31, 31, 31, 31, 3, 5, 19};

static void see(psfm_structure *st, unsigned views, const double X[3]) {
    size_t n = st->num_points++, end = st->tracks.begin[n];
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        if ((views >> v & 1) == 0)
            continue;
        st->tracks.view[end] = v;
        st->tracks.keypoint[end++] = (uint32_t)(10 * n + v);
    }
    memcpy(st->points[n], X, sizeof st->points[n]);
    st->tracks.begin[n + 1] = end;
    st->tracks.num_tracks = st->num_points;
    st->source[n] = (uint32_t)n;
}

/* The shared points are the corners and the middle of a square of side 2. */
static void make(psfm_structure *st, psfm_scene_planes *planes) {
    *st = (psfm_structure){0};
    st->points = calloc(NUM_POINTS, sizeof *st->points);
    st->component = calloc(NUM_POINTS, sizeof *st->component);
    st->source = calloc(NUM_POINTS, sizeof *st->source);
    st->error_px = calloc(NUM_POINTS, sizeof *st->error_px);
    st->angle_deg = calloc(NUM_POINTS, sizeof *st->angle_deg);
    st->tracks.begin = calloc(NUM_POINTS + 1, sizeof *st->tracks.begin);
    st->tracks.view = calloc(NUM_POINTS * NUM_VIEWS, sizeof *st->tracks.view);
    st->tracks.keypoint = calloc(NUM_POINTS * NUM_VIEWS, sizeof *st->tracks.keypoint);
    *planes = (psfm_scene_planes){.num_planes = 1};
    planes->planes = calloc(1, sizeof *planes->planes);
    planes->planes[0].normal[2] = 1.0;
    planes->point_plane = calloc(NUM_POINTS, sizeof *planes->point_plane);
    for (int k = 0; k < NUM_POINTS; ++k) {
        double X[3] = {k % 2 * 2.0 - 1.0, k / 2 % 2 * 2.0 - 1.0, 0.0};
        if (k == 4)
            X[0] = X[1] = 0.0;
        see(st, seen_by[k], X);
        planes->point_plane[k] = k < NUM_SHARED ? 0 : -1;
    }
}

static void hinges_belong_to_both(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_structure st;
    psfm_scene_planes planes;
    size_t num[2] = {0};
    make(&st, &planes);
    assert_ok(ctx, psfm_members_assign(ctx, &poses, &st, &planes));
    /* five hinges twice; views 0 and 1 see the sixth and, beside the lost view, the last */
    assert_int_equal(st.num_points, 2 * NUM_SHARED + 2);
    for (size_t p = 0; p < st.num_points; ++p) {
        ++num[st.component[p]];
        assert_int_equal(st.tracks.begin[p + 1] - st.tracks.begin[p], 2);
        for (size_t e = st.tracks.begin[p]; e < st.tracks.begin[p + 1]; ++e) {
            assert_int_equal(split[st.tracks.view[e]], st.component[p]);
            assert_int_equal(st.tracks.keypoint[e], 10 * st.source[p] + st.tracks.view[e]);
        }
    }
    assert_int_equal(num[0], NUM_SHARED);
    assert_int_equal(num[1], NUM_SHARED + 2);
    psfm_structure_free(&st);
    psfm_scene_planes_free(&planes);
    psfm_context_destroy(&ctx);
}

static void a_plane_of_both_becomes_two(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_structure st;
    psfm_scene_planes planes;
    make(&st, &planes);
    assert_ok(ctx, psfm_members_assign(ctx, &poses, &st, &planes));
    assert_int_equal(planes.num_planes, 2);
    assert_int_equal(planes.planes[0].component + planes.planes[1].component, 1);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(planes.planes[k].num_points, NUM_SHARED);
        assert_int_equal(planes.planes[k].num_corners, 4);
        assert_close(planes.planes[k].area, 4.0, 1e-12);
    }
    for (size_t p = 0; p < st.num_points; ++p) {
        bool is_hinge = st.source[p] < NUM_SHARED;
        assert_int_equal(planes.point_plane[p] >= 0, is_hinge);
        if (is_hinge)
            assert_int_equal(planes.planes[planes.point_plane[p]].component, st.component[p]);
    }
    psfm_structure_free(&st);
    psfm_scene_planes_free(&planes);
    psfm_context_destroy(&ctx);
}

static void failed_allocations_leave_something_to_free(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_structure st;
        psfm_scene_planes planes;
        make(&st, &planes);
        psfm_alloc_fail_after(n);
        status = psfm_members_assign(ctx, &poses, &st, &planes);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        assert_true(n < 100);
        psfm_structure_free(&st);
        psfm_scene_planes_free(&planes);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hinges_belong_to_both),
        cmocka_unit_test(a_plane_of_both_becomes_two),
        cmocka_unit_test(failed_allocations_leave_something_to_free),
    };
    return cmocka_run_group_tests_name("structure/model_members", tests, NULL, NULL);
}
