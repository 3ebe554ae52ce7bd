/* The drawing as a node: turns decided, wrong pairs and wrong registrations outvoted. */
#include "world/court_frame.h"

#include "core/base/alloc.h"

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "court/court_evidence.h"
#include "test_util.h"

enum { NUM = 8 };

/* Cameras round a court; images 0 to 5 are a ring of pairs, 6 and 7 have no pairs. */
typedef struct {
    psfm_drawing drawing;
    psfm_court_evidence court;
    double truth[NUM][9], R[NUM][9];
    uint32_t ends[2][32];
    psfm_topology pairs;
    psfm_candidate_list list;
} setting;

static void look(double angle, double R[9]) {
    double up[3] = {0.0, 0.0, -1.0}, ahead[3] = {-cos(angle), -sin(angle), -0.5}, right[3], down[3];
    psfm_normalize3(ahead);
    psfm_cross3(up, ahead, right);
    psfm_normalize3(right);
    psfm_cross3(ahead, right, down);
    memcpy(R, right, sizeof right);
    memcpy(R + 3, down, sizeof down);
    memcpy(R + 6, ahead, sizeof ahead);
}

/* R of a pair, to the court's duplicate if `duplicate`. */
static void add_pair(setting *s, uint32_t a, uint32_t b, bool duplicate) {
    static const double half[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
    uint32_t e = s->pairs.num_edges++;
    double turned[9];
    s->ends[0][e] = a;
    s->ends[1][e] = b;
    memcpy(turned, s->truth[b], sizeof turned);
    if (duplicate)
        psfm_mat3_mul(s->truth[b], half, turned);
    psfm_mat3_mul_t(turned, s->truth[a], s->list.R_21[e]);
    s->list.confidence[e] = s->list.weight[e] = 1.0;
    s->list.begin[e + 1] = e + 1;
}

static void make(psfm_context *ctx, setting *s) {
    psfm_court court;
    *s = (setting){0};
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &s->drawing));
    assert_ok(ctx, psfm_court_evidence_init(ctx, &s->drawing, NUM, &s->court));
    for (uint32_t v = 0; v < NUM; ++v) {
        const double center[3] = {1.0 + v, 2.0, 6.0};
        psfm_court_pose *pose = &s->court.poses[v];
        look(0.8 * v, s->truth[v]);
        psfm_turn_pose(s->court.middle, v % 3 == 1 ? 2 : 0, s->truth[v], center, pose->R,
                       pose->center);
        pose->verdict = PSFM_COURT_ACCEPTED;
        psfm_mat3_identity(s->R[v]);
    }
    s->pairs = (psfm_topology){NUM, 0, s->ends[0], s->ends[1]};
    assert_ok(ctx, PSFM_ALLOC(ctx, 33, &s->list.begin));
    assert_ok(ctx, PSFM_ALLOC(ctx, 32, &s->list.R_21));
    assert_ok(ctx, PSFM_ALLOC(ctx, 32, &s->list.confidence));
    assert_ok(ctx, PSFM_ALLOC(ctx, 32, &s->list.sigma_rad));
    assert_ok(ctx, PSFM_ALLOC(ctx, 32, &s->list.weight));
}

static void link_floors(psfm_context *ctx, setting *s, uint32_t first) {
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM * NUM, &s->court.links));
    for (uint32_t a = first; a < NUM; ++a)
        for (uint32_t b = a + 1; b < NUM; ++b) {
            bool turned = (a % 3 == 1) != (b % 3 == 1);
            s->court.links[s->court.num_links++] = (psfm_turn_link){a, b, turned ? 2 : 0, 0.3, 0.2};
        }
}

static void solve(psfm_context *ctx, setting *s) {
    psfm_rotation_consensus_stats stats;
    psfm_extended_graph g;
    psfm_extra_edges extra;
    uint32_t chosen[512];
    assert_ok(ctx, psfm_court_edges_make(ctx, &s->court, &extra));
    assert_ok(ctx, psfm_extended_graph_make(ctx, &s->pairs, &s->list, &extra, PSFM_AGREEMENT_DEG,
                                            s->R, &g));
    assert_true(g.topology.num_edges <= 512);
    const psfm_rotation_problem problem = {&g.topology, &g.candidates, 1};
    assert_ok(ctx, psfm_rotation_consensus(ctx, &problem, g.R, chosen, &stats));
    psfm_extended_graph_hand_out(&g, chosen, s->R, &extra);
    psfm_court_edges_take(&extra, &s->court);
    psfm_extended_graph_free(&g);
    psfm_extra_edges_free(&extra);
}

/* All rotations are the true ones, or all are half a turn off. */
static void check_truth(const setting *s) {
    double same = 0.0, turned = 0.0;
    for (uint32_t v = 0; v < NUM; ++v) {
        double R[9], half[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
        psfm_mat3_mul(s->R[v], half, R);
        same = fmax(same, psfm_rotation_angle(s->R[v], s->truth[v]));
        turned = fmax(turned, psfm_rotation_angle(R, s->truth[v]));
    }
    assert_true(psfm_degrees(fmin(same, turned)) < 0.1);
}

static void drop(setting *s) {
    psfm_court_evidence_free(&s->court);
    psfm_drawing_free(&s->drawing);
}

static void floors_turn_images_without_pairs(void **state) {
    psfm_context *ctx = *state;
    setting s;
    make(ctx, &s);
    link_floors(ctx, &s, 0);
    solve(ctx, &s);
    check_truth(&s);
    for (uint32_t v = 0; v < NUM; ++v)
        assert_true(s.court.agrees[v]);
    drop(&s);
}

/* Half of the pairs are matched to the court's duplicate; the floors tell. */
static void floors_outvote_duplicates(void **state) {
    psfm_context *ctx = *state;
    setting s;
    make(ctx, &s);
    for (uint32_t v = 0; v < 6; ++v)
        add_pair(&s, v < 5 ? v : 0, v < 5 ? v + 1 : 5, v % 2 == 0);
    link_floors(ctx, &s, 0);
    solve(ctx, &s);
    check_truth(&s);
    drop(&s);
}

/* Image 2 was registered to another place; its pairs with four others outvote that. */
static void pairs_outvote_a_wrong_registration(void **state) {
    psfm_context *ctx = *state;
    setting s;
    make(ctx, &s);
    for (uint32_t v = 0; v < NUM; ++v)
        for (uint32_t w = v + 1; w < NUM && w < v + 3; ++w)
            add_pair(&s, v, w, false);
    look(3.9, s.court.poses[2].R);
    solve(ctx, &s);
    check_truth(&s);
    for (uint32_t v = 0; v < NUM; ++v)
        assert_int_equal(s.court.agrees[v], v != 2);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floors_turn_images_without_pairs),
                                       cmocka_unit_test(floors_outvote_duplicates),
                                       cmocka_unit_test(pairs_outvote_a_wrong_registration)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
