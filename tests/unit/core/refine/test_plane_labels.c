/* Votes for planes, counted by hand. */
#include "core/refine/plane_labels.h"

#include "test_util.h"

/* Three views of four keypoints, three edges, one plane on each. */
typedef struct {
    psfm_view views[3];
    psfm_match_set set;
    uint32_t keypoints[3][4];
    psfm_edge edges[3];
    psfm_edge_plane planes[3];
    psfm_pose_graph graph;
} fixture;

static void make_fixture(fixture *f) {
    static const uint32_t ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    *f = (fixture){
        .set = {.views = f->views, .num_views = 3},
        .graph = {.edges = f->edges, .num_edges = 3, .planes = f->planes, .num_planes = 3}};
    for (uint32_t k = 0; k < 3; ++k) {
        f->views[k].num_keypoints = 4;
        f->edges[k] = (psfm_edge){.node1 = ends[k][0], .node2 = ends[k][1]};
        for (uint32_t i = 0; i < 4; ++i)
            f->keypoints[k][i] = i;
        f->planes[k] = (psfm_edge_plane){.edge = k,
                                         .num_inliers = 4 - k,
                                         .keypoints1 = f->keypoints[k],
                                         .keypoints2 = f->keypoints[k]};
    }
}

static psfm_keypoint_labels label(const fixture *f, const bool *accepted, const uint32_t *groups) {
    psfm_keypoint_labels labels;
    assert_ok(NULL, psfm_keypoint_labels_init(NULL, &f->set, &f->graph, accepted, groups, &labels));
    return labels;
}

static void the_majority_of_planes_counts(void **state) {
    (void)state;
    fixture f;
    const bool all[3] = {true, true, true};
    const uint32_t groups[3] = {5, 5, 9};
    /* view 0: groups 5 (all four) and 5 (three); view 1: 5 (four), 9 (two): the first of equals
     * leads until it is met, then nobody does; view 2: 5 (three), 9 (two) */
    const int32_t expected[12] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, -1};
    make_fixture(&f);
    psfm_keypoint_labels labels = label(&f, all, groups);
    assert_int_equal(labels.begin[3], 12);
    assert_memory_equal(labels.label, expected, sizeof expected);
    psfm_keypoint_labels_free(&labels);
    assert_null(labels.label);
}

static void rejected_edges_and_planes_without_a_group_do_not_vote(void **state) {
    (void)state;
    fixture f;
    const bool without_first[3] = {false, true, true};
    const uint32_t groups[3] = {5, UINT32_MAX, 9};
    const int32_t expected[12] = {-1, -1, -1, -1, 9, 9, -1, -1, 9, 9, -1, -1};
    make_fixture(&f);
    psfm_keypoint_labels labels = label(&f, without_first, groups);
    assert_memory_equal(labels.label, expected, sizeof expected);
    psfm_keypoint_labels_free(&labels);
    labels = label(&f, without_first, NULL);
    for (int k = 0; k < 12; ++k)
        assert_int_equal(labels.label[k], -1);
    psfm_keypoint_labels_free(&labels);
}

static void tracks_take_the_majority_of_their_keypoints(void **state) {
    (void)state;
    size_t begin_of_view[4] = {0, 2, 4, 6}, begin[5] = {0, 3, 6, 9, 10};
    int32_t of_keypoint[6] = {4, -1, 2, 2, -1, 2}, found[4];
    const psfm_keypoint_labels labels = {begin_of_view, of_keypoint};
    /* 4, 2, 2; none, 2, none; 2 and two keypoints that came later; one that came later */
    uint32_t view[10] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 2};
    uint32_t keypoint[10] = {0, 0, 1, 1, 0, 0, 7, 1, 2, 5};
    const psfm_tracks tracks = {4, begin, view, keypoint};
    psfm_label_tracks(&labels, &tracks, found);
    const int32_t expected[4] = {2, -1, 2, -1};
    assert_memory_equal(found, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_majority_of_planes_counts),
        cmocka_unit_test(rejected_edges_and_planes_without_a_group_do_not_vote),
        cmocka_unit_test(tracks_take_the_majority_of_their_keypoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
