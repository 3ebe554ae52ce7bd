/* A scene with true points is cut in two, and one part is laid elsewhere: joining brings it back.
 */
#include "core/refine/submodel_joining.h"

#include "core/linalg/mat3.h"
#include "scene_truth.h"

enum { NUM_VIEWS = 12, CUT = 8 };

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_two_view *two_views;
    psfm_pose_graph graph;
    bool *accepted;
    psfm_poses truth, poses;
    psfm_structure structure;
    psfm_resection_options resection;
} fixture;

/* Points on either side of the cut only: those of the true structure twice, each with the
 * observations of its side. */
static psfm_structure cut_structure(psfm_context *ctx, const psfm_structure *whole) {
    psfm_structure st = {0};
    size_t n = whole->num_points, total = whole->tracks.begin[n];
    assert_ok(ctx, PSFM_ALLOC(ctx, 2 * n, &st.points));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2 * n, &st.component));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2 * n + 1, &st.tracks.begin));
    assert_ok(ctx, PSFM_ALLOC(ctx, total, &st.tracks.view));
    assert_ok(ctx, PSFM_ALLOC(ctx, total, &st.tracks.keypoint));
    for (size_t k = 0; k < 2 * n; ++k) {
        size_t p = k / 2, num = st.tracks.begin[k];
        for (size_t e = whole->tracks.begin[p]; e < whole->tracks.begin[p + 1]; ++e) {
            if ((whole->tracks.view[e] < CUT) != (k % 2 == 0))
                continue;
            st.tracks.view[num] = whole->tracks.view[e];
            st.tracks.keypoint[num++] = whole->tracks.keypoint[e];
        }
        memcpy(st.points[k], whole->points[p], sizeof st.points[k]);
        st.tracks.begin[k + 1] = num;
    }
    st.num_points = st.tracks.num_tracks = 2 * n;
    return st;
}

static fixture make(bool is_cut) {
    fixture f = {.ctx = psfm_context_create()};
    psfm_scene_options options;
    psfm_two_view_options verification;
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_options_init(&psfm_two_view_option_table, &verification);
    psfm_options_init(&psfm_resection_option_table, &f.resection);
    options.num_cameras = NUM_VIEWS;
    options.num_points = 300;
    options.noise_px = 0.0;
    options.outliers = 0.1;
    options.open_chain = true;
    assert_ok(f.ctx, psfm_scene_make(f.ctx, PSFM_SCENE_ARENA, 5, &options, &f.scene));
    assert_ok(f.ctx, psfm_two_views_make(f.ctx, &f.scene.matches, &verification, &f.two_views));
    assert_ok(f.ctx, psfm_pose_graph_build(f.ctx, &f.scene.matches, f.two_views, true, &f.graph));
    f.accepted = calloc(f.graph.num_edges, sizeof *f.accepted);
    memset(f.accepted, true, f.graph.num_edges * sizeof *f.accepted);
    f.truth = true_poses(f.ctx, &f.scene);
    f.poses = true_poses(f.ctx, &f.scene);
    f.structure = true_structure(f.ctx, &f.scene);
    if (is_cut) {
        psfm_structure cut = cut_structure(f.ctx, &f.structure);
        psfm_structure_free(&f.structure);
        f.structure = cut;
    }
    return f;
}

static void drop(fixture *f) {
    psfm_structure_free(&f->structure);
    psfm_poses_free(&f->truth);
    psfm_poses_free(&f->poses);
    psfm_two_views_free(&f->two_views, f->scene.matches.num_pairs);
    psfm_pose_graph_free(&f->graph);
    free(f->accepted);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

/* The views from the cut on, and their points, in a world that is turned, larger and elsewhere. */
static void misplace(fixture *f) {
    double w[3] = {0.3, -0.2, 0.4}, turn[9], x[3];
    psfm_rotation_exp(w, turn);
    for (uint32_t v = CUT; v < NUM_VIEWS; ++v) {
        double R[9];
        psfm_mat3_mul_t(f->poses.cam_from_world[v], turn, R);
        memcpy(f->poses.cam_from_world[v], R, sizeof R);
        psfm_mat3_mul_vec(turn, f->poses.center[v], x);
        for (int k = 0; k < 3; ++k)
            f->poses.center[v][k] = 1.4 * x[k] + 2.0;
    }
    for (size_t p = 1; p < f->structure.num_points; p += 2) {
        psfm_mat3_mul_vec(turn, f->structure.points[p], x);
        for (int k = 0; k < 3; ++k)
            f->structure.points[p][k] = 1.4 * x[k] + 2.0;
    }
}

static uint32_t join(fixture *f) {
    psfm_refine_input input = {
        &f->scene.matches, f->two_views, &f->graph, f->accepted, NULL, 0, NULL};
    uint32_t num_moved = 99;
    assert_ok(f->ctx, psfm_submodels_join(f->ctx, &input, &f->resection, &f->structure, &f->poses,
                                          &num_moved));
    return num_moved;
}

static void check_poses(const fixture *f, double most) {
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        assert_below(psfm_rotation_angle(f->poses.cam_from_world[v], f->truth.cam_from_world[v]),
                     most);
        for (int k = 0; k < 3; ++k)
            assert_close(f->poses.center[v][k], f->truth.center[v][k], 100.0 * most);
    }
}

static void the_smaller_piece_comes_back(void **state) {
    (void)state;
    fixture f = make(true);
    misplace(&f);
    assert_int_equal(join(&f), 1);
    check_poses(&f, 1e-5);
    const size_t *begin = f.structure.tracks.begin;
    for (size_t p = 0; p < f.structure.num_points; p += 2)
        for (int k = 0; k < 3 && begin[p + 2] > begin[p + 1]; ++k)
            assert_close(f.structure.points[p + 1][k], f.structure.points[p][k], 1e-3);
    drop(&f);
}

static void nothing_moves_where_all_is_right(void **state) {
    (void)state;
    for (int is_cut = 0; is_cut < 2; ++is_cut) {
        fixture f = make(is_cut == 1);
        assert_int_equal(join(&f), 0);
        check_poses(&f, 1e-12);
        drop(&f);
    }
}

/* Without an accepted edge between them nothing says where the pieces belong. */
static void pieces_without_an_edge_stay(void **state) {
    (void)state;
    fixture f = make(true);
    for (uint32_t e = 0; e < f.graph.num_edges; ++e)
        f.accepted[e] = (f.graph.edges[e].node1 < CUT) == (f.graph.edges[e].node2 < CUT);
    misplace(&f);
    assert_int_equal(join(&f), 0);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smaller_piece_comes_back),
        cmocka_unit_test(nothing_moves_where_all_is_right),
        cmocka_unit_test(pieces_without_an_edge_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
