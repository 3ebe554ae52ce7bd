/* One point of a plane, sought by its place and normal in the photographs of it. */
#include "images/photometric/track_search.h"

#include "plane_views.h"

typedef struct {
    fixture f;
    const psfm_pyramid *photos[NUM_VIEWS];
    double R[NUM_VIEWS][9], center[NUM_VIEWS][3];
    psfm_patch_aligner *aligner;
} model;

static void set_up_model(model *m) {
    set_up(&m->f, 1);
    assert_ok(m->f.ctx, psfm_patch_aligner_create(m->f.ctx, &m->f.options.patch, &m->aligner));
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        double t[3];
        motion_to((int)v, m->R[v], t);
        psfm_mat3_tmul_vec(m->R[v], t, m->center[v]);
        psfm_scale3(-1.0, m->center[v], m->center[v]);
        assert_ok(m->f.ctx, psfm_photo_cache_get(m->f.ctx, m->f.photos, v, &m->photos[v]));
    }
}

static void tear_down_model(model *m) {
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        psfm_photo_cache_release(m->f.photos, v);
    psfm_patch_aligner_destroy(&m->aligner);
    tear_down(&m->f);
}

static psfm_track_view view_of(const model *m, int v) {
    return (psfm_track_view){{m->f.set.cameras, m->photos[v]}, m->R[v], m->center[v]};
}

/* The point of the plane that the first view shows at xy, and where view v shows it. */
static void place(const model *m, const double xy[2], int v, double X[3], double at[2]) {
    double ray[3], D[3], Y[3];
    assert_true(psfm_camera_unproject(m->f.set.cameras, xy, ray));
    psfm_scale3(1.0 / psfm_dot3(plane_normal, ray), ray, X);
    psfm_sub3(X, m->center[v], D);
    psfm_mat3_mul_vec(m->R[v], D, Y);
    assert_true(psfm_camera_project(m->f.set.cameras, Y, at));
}

/* From any view to any other. What the normal's length and side are does not matter; poses that
 * are a little off only move the start. */
static void points_are_found_where_the_plane_has_them(void **state) {
    (void)state;
    model m;
    size_t num = 0;
    set_up_model(&m);
    for (int from = 0; from < NUM_VIEWS; ++from)
        for (int to = 0; to < NUM_VIEWS; ++to)
            for (int k = 0; from != to && k < 6; ++k) {
                const double xy[2] = {120.5 + 30 * (k % 3), 95.5 + 40 * (double)(k / 3)};
                const psfm_track_view views[2] = {view_of(&m, from), view_of(&m, to)};
                psfm_track_patch patch;
                psfm_patch_match found = {0};
                double at[2];
                place(&m, xy, from, patch.point, patch.xy1);
                place(&m, xy, to, patch.point, at);
                psfm_scale3(k % 2 == 0 ? -1.0 : 2.5, plane_normal, patch.normal);
                psfm_track_patch_find(m.aligner, views, &patch, 3.0, &found);
                if (found.outcome != PSFM_PATCH_ALIGNED)
                    continue;
                ++num;
                assert_below(hypot(found.xy2[0] - at[0], found.xy2[1] - at[1]), 0.25);
                assert_below(found.shift_px, 0.3); /* the start was right */
            }
    assert_in_range(num, 24, 36);
    tear_down_model(&m);
}

/* The normal decides on the start: with a wrong one the patch is stretched about its centre, which
 * stays, as long as the point is right. */
static void the_start_is_the_point_whatever_the_normal(void **state) {
    (void)state;
    model m;
    psfm_track_patch patch = {.xy1 = {160.5, 120.5}};
    psfm_patch_match found;
    double at[2];
    set_up_model(&m);
    const psfm_track_view views[2] = {view_of(&m, 0), view_of(&m, 2)};
    place(&m, patch.xy1, 2, patch.point, at);
    const double tilted_normal[3] = {0.35, -0.1, 0.9};
    memcpy(patch.normal, tilted_normal, sizeof patch.normal);
    psfm_track_patch_find(m.aligner, views, &patch, 3.0, &found);
    assert_int_equal(found.outcome, PSFM_PATCH_ALIGNED);
    assert_below(hypot(found.xy2[0] - at[0], found.xy2[1] - at[1]), 0.3);
    /* a point that is nearer starts elsewhere: it is sought no farther from there than asked for */
    double D[3], Y[3], start[2];
    psfm_scale3(0.8, patch.point, patch.point);
    psfm_sub3(patch.point, m.center[2], D);
    psfm_mat3_mul_vec(m.R[2], D, Y);
    assert_true(psfm_camera_project(m.f.set.cameras, Y, start));
    double off = hypot(start[0] - at[0], start[1] - at[1]);
    assert_true(off > 2.0);
    memcpy(patch.normal, plane_normal, sizeof patch.normal);
    psfm_track_patch_find(m.aligner, views, &patch, 0.5 * off, &found);
    assert_true(found.outcome != PSFM_PATCH_ALIGNED);
    tear_down_model(&m);
}

/* A surface that goes through a camera, and one without a normal. */
static void surfaces_that_are_no_image_are_not_found(void **state) {
    (void)state;
    model m;
    psfm_patch_match found = {.outcome = PSFM_PATCH_ALIGNED};
    psfm_track_patch patch = {.xy1 = {160.5, 120.5}};
    double at[2];
    set_up_model(&m);
    const psfm_track_view views[2] = {view_of(&m, 0), view_of(&m, 1)};
    place(&m, patch.xy1, 1, patch.point, at);
    psfm_track_patch_find(m.aligner, views, &patch, 3.0, &found); /* no normal */
    assert_true(found.outcome != PSFM_PATCH_ALIGNED);
    const double D[3] = {patch.point[0], patch.point[1], patch.point[2]};
    const double across[3] = {D[2], 0.0, -D[0]}; /* edge-on */
    memcpy(patch.normal, across, sizeof patch.normal);
    psfm_track_patch_find(m.aligner, views, &patch, 3.0, &found);
    assert_true(found.outcome != PSFM_PATCH_ALIGNED);
    patch.point[1] = NAN;
    psfm_track_patch_find(m.aligner, views, &patch, 3.0, &found);
    assert_int_equal(found.outcome, PSFM_PATCH_OUTSIDE);
    tear_down_model(&m);
}

/* What a plan says of a search. */
static void sights_are_those_of_the_reference(void **state) {
    (void)state;
    double keypoints[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
    psfm_view views[2] = {{.num_keypoints = 3, .keypoints = keypoints[0]},
                          {.num_keypoints = 3, .keypoints = keypoints[1]}};
    const psfm_match_set set = {.views = views, .num_views = 2};
    double points[2][3] = {{0, 0, 1}, {4, 5, 6}}, normals[2][3] = {{0, 0, 1}, {0, 1, 0}};
    size_t begin[3] = {0, 2, 4};
    uint32_t view[4] = {0, 1, 0, 1}, keypoint[4] = {0, 0, 2, 1}, reference[2] = {0, 3};
    const psfm_structure structure = {
        .num_points = 2, .points = points, .tracks = {2, begin, view, keypoint}};
    const psfm_track_plan plan = {.reference = reference, .normals = normals};
    const psfm_track_search search = {.from = 1, .to = 0, .point = 1};
    psfm_track_patch s = psfm_track_patch_of(&set, &structure, &plan, &search);
    assert_memory_equal(s.xy1, keypoints[1][1], sizeof s.xy1);
    assert_memory_equal(s.point, points[1], sizeof s.point);
    assert_memory_equal(s.normal, normals[1], sizeof s.normal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_found_where_the_plane_has_them),
        cmocka_unit_test(the_start_is_the_point_whatever_the_normal),
        cmocka_unit_test(surfaces_that_are_no_image_are_not_found),
        cmocka_unit_test(sights_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
