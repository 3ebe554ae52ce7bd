/* Turned copies of a pose see the turned drawing as the pose sees the drawing. */
#include "court/court_evidence.h"

#include "core/base/alloc.h"
#include "unit/court/line_floor.h"

static psfm_drawing tennis, wheel; /* the wheel has four turns, about (3, -2) */

static void add_wheel(psfm_context *ctx) {
    const psfm_drawing_part rim = {.a = {4.0, -2.0}, .b = {4.0, 3.0}},
                            spoke = {.a = {1.0, 0.5}, .b = {3.0, 1.0}};
    const double at[2] = {3.0, -2.0};
    psfm_drawing arm = {.name = NULL};
    assert_ok(ctx, psfm_drawing_add(ctx, &arm, &rim));
    assert_ok(ctx, psfm_drawing_add(ctx, &arm, &spoke));
    wheel = (psfm_drawing){.name = NULL};
    for (int k = 0; k < 4; ++k)
        assert_ok(ctx, psfm_drawing_place(ctx, &arm, at, 90.0 * k, &wheel));
    psfm_drawing_free(&arm);
}

/* A pose over a drawing, with lines and parts that can be told from each other. */
static psfm_court_pose make_pose(psfm_context *ctx, const psfm_drawing *drawing, double x,
                                 double y) {
    psfm_court_pose pose = {.camera = floor_camera};
    court_shot shot;
    aim(&shot, x, y, 6.0, 1.0, -0.5);
    memcpy(pose.R, shot.R, sizeof pose.R);
    memcpy(pose.center, shot.center, sizeof pose.center);
    psfm_court_pose_turn(drawing, 0, &pose, pose.R, pose.t);
    pose.num_turns = psfm_drawing_turns(drawing, pose.turns);
    assert_ok(ctx, PSFM_ALLOC(ctx, drawing->num_parts, &pose.part_visible));
    assert_ok(ctx, PSFM_ALLOC(ctx, drawing->num_parts, &pose.part_hit));
    assert_ok(ctx, PSFM_ALLOC(ctx, drawing->num_parts, &pose.lines.items));
    pose.lines.num = drawing->num_parts;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        psfm_line_point *line = &pose.lines.items[k];
        pose.part_visible[k] = 100.0 + (double)k;
        pose.part_hit[k] = 1.0 + (double)k;
        psfm_drawing_part_at(&drawing->parts[k], 0.3, line->on);
        line->xy[0] = 7.0 * (double)k;
        line->row[1] = 0.5;
        line->move[0] = 0.5;
        line->move[1] = -0.25 * (double)k;
    }
    return pose;
}

/* Where a place of the floor is in the camera. */
static void see_from(const double R[9], const double t[3], const double at[2], double q[3]) {
    const double X[3] = {at[0], at[1], 0.0};
    psfm_mat3_mul_vec(R, X, q);
    psfm_axpy3(q, 1.0, t, q);
}

static void assert_same_place(const double a[3], const double b[3]) {
    for (int d = 0; d < 3; ++d)
        assert_close(a[d], b[d], 1e-9);
}

/* The turned pose sees X where the pose sees Q (X - middle) + middle. */
static void turned_poses_see_turned_places(void **state) {
    psfm_context *ctx = *state;
    static const double c[4] = {1, 0, -1, 0}, s[4] = {0, 1, 0, -1};
    psfm_court_pose pose = make_pose(ctx, &wheel, -7.0, -12.0);
    double middle[2];
    psfm_drawing_middle(&wheel, middle);
    assert_close(middle[0], 3.0, 1e-9);
    assert_close(middle[1], -2.0, 1e-9);
    for (int quarters = 0; quarters < 4; ++quarters) {
        double R[9], t[3];
        psfm_court_pose_turn(&wheel, quarters, &pose, R, t);
        for (int k = 0; k < 5; ++k) {
            const double X[2] = {1.0 + k, 2.0 - 3.0 * k}, x = X[0] - 3.0, y = X[1] + 2.0;
            const double Q[2] = {3.0 + c[quarters] * x - s[quarters] * y,
                                 -2.0 + s[quarters] * x + c[quarters] * y};
            double a[3], b[3];
            see_from(R, t, X, a);
            see_from(pose.R, pose.t, Q, b);
            assert_same_place(a, b);
        }
    }
    psfm_court_pose_free(&pose);
}

/* A turn and its inverse give the same numbers, and turns add up. */
static void turns_undo_each_other(void **state) {
    psfm_context *ctx = *state;
    const double middle[2] = {0.5, -0.25}; /* no digits are lost */
    psfm_court_pose pose = make_pose(ctx, &tennis, -7.0, -12.0);
    for (int quarters = -4; quarters < 8; ++quarters) {
        double R[9], center[3];
        psfm_turn_pose(middle, quarters, pose.R, pose.center, R, center);
        psfm_turn_pose(middle, 4 - (quarters & 3), R, center, R, center);
        for (int d = 0; d < 9; ++d)
            assert_true(R[d] == pose.R[d]);
        assert_same_place(center, pose.center);
    }
    psfm_court_pose_free(&pose);
}

/* Part k was seen where now another part is, which has its pixels. */
static void check_part(const psfm_drawing *drawing, const psfm_court_pose *pose, size_t k,
                       const psfm_court_pose *turned) {
    double at[2], before[3], after[3], off[3];
    size_t found = 0;
    psfm_drawing_part_at(&drawing->parts[k], 0.5, at);
    see_from(pose->R, pose->t, at, before);
    for (size_t j = 0; j < drawing->num_parts; ++j) {
        psfm_drawing_part_at(&drawing->parts[j], 0.5, at);
        see_from(turned->R, turned->t, at, after);
        psfm_sub3(before, after, off);
        if (psfm_norm3(off) > 1e-6)
            continue;
        assert_true(turned->part_visible[j] == pose->part_visible[k]);
        assert_true(turned->part_hit[j] == pose->part_hit[k]);
        ++found;
    }
    assert_int_equal(found, 1);
}

/* What goes with a pose goes with its turn; lines stay where they were seen. */
static void check_turn(psfm_context *ctx, const psfm_drawing *drawing, int quarters) {
    psfm_court_pose pose = make_pose(ctx, drawing, -7.0, -12.0);
    psfm_court_pose turned = make_pose(ctx, drawing, -7.0, -12.0);
    assert_ok(ctx, psfm_court_pose_take_turn(ctx, drawing, quarters, &turned));
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        const psfm_line_point *p = &pose.lines.items[k], *q = &turned.lines.items[k];
        double before[3], after[3];
        see_from(pose.R, pose.t, p->on, before);
        see_from(turned.R, turned.t, q->on, after);
        assert_same_place(before, after);
        assert_memory_equal(p->xy, q->xy, sizeof p->xy);
        assert_memory_equal(p->row, q->row, sizeof p->row);
        check_part(drawing, &pose, k, &turned);
    }
    psfm_court_pose_free(&pose);
    psfm_court_pose_free(&turned);
}

static void parts_and_lines_turn_along(void **state) {
    check_turn(*state, &tennis, 2);
    for (int quarters = 1; quarters < 4; ++quarters)
        check_turn(*state, &wheel, quarters);
}

/* A place that moves with the drawing's size moves the same way in the image after the turn. */
static void moves_turn_along(void **state) {
    psfm_context *ctx = *state;
    for (int quarters = 1; quarters < 4; ++quarters) {
        psfm_court_pose pose = make_pose(ctx, &wheel, -7.0, -12.0);
        psfm_court_pose turned = make_pose(ctx, &wheel, -7.0, -12.0);
        assert_ok(ctx, psfm_court_pose_take_turn(ctx, &wheel, quarters, &turned));
        for (size_t k = 0; k < wheel.num_parts; ++k) {
            const psfm_line_point *p = &pose.lines.items[k], *q = &turned.lines.items[k];
            double a[3], b[3], at[2] = {p->on[0] + p->move[0], p->on[1] + p->move[1]};
            see_from(pose.R, pose.t, at, a);
            at[0] = q->on[0] + q->move[0];
            at[1] = q->on[1] + q->move[1];
            see_from(turned.R, turned.t, at, b);
            assert_same_place(a, b);
        }
        psfm_court_pose_free(&pose);
        psfm_court_pose_free(&turned);
    }
}

/* Of all copies the one whose camera is farthest towards -y; there is no other to be had. */
static void canonical_copies_stand_at_the_lowest_y(void **state) {
    psfm_context *ctx = *state;
    static const double from[5][2] = {{-7, -12}, {9, 1}, {4, 9}, {-6, 3}, {-4, -2.0}};
    for (int k = 0; k < 5; ++k) {
        psfm_court_pose pose = make_pose(ctx, &wheel, from[k][0], from[k][1]);
        double R[9], t[3], center[3], lowest = INFINITY;
        assert_int_equal(pose.num_turns, 4);
        for (int quarters = 0; quarters < 4; ++quarters) {
            psfm_court_pose_turn(&wheel, quarters, &pose, R, t);
            psfm_mat3_tmul_vec(R, t, center);
            lowest = fmin(lowest, -center[1]);
        }
        assert_ok(ctx, psfm_court_pose_make_canonical(ctx, &wheel, &pose));
        assert_close(pose.center[1], lowest, 1e-9);
        psfm_mat3_tmul_vec(pose.R, pose.t, center);
        for (int d = 0; d < 3; ++d)
            assert_close(-center[d], pose.center[d], 1e-9);
        psfm_court_pose_free(&pose);
    }
}

/* A drawing that looks like itself only as it is, and a turn by nothing, leave every byte. */
static void without_turns_nothing_changes(void **state) {
    psfm_context *ctx = *state;
    psfm_court_pose pose = make_pose(ctx, &tennis, 3.0, 14.0), before = pose;
    pose.num_turns = 1;
    assert_ok(ctx, psfm_court_pose_make_canonical(ctx, &tennis, &pose));
    assert_ok(ctx, psfm_court_pose_take_turn(ctx, &tennis, 0, &pose));
    assert_ok(ctx, psfm_court_pose_take_turn(ctx, &tennis, 4, &pose));
    assert_memory_equal(pose.R, before.R, sizeof pose.R);
    assert_memory_equal(pose.t, before.t, sizeof pose.t);
    assert_memory_equal(pose.center, before.center, sizeof pose.center);
    assert_true(pose.part_hit[3] == 4.0);
    psfm_court_pose_free(&pose);
}

static int open_drawings(void **state) {
    *state = psfm_context_create();
    tennis = drawing_of(*state, "tennis");
    add_wheel(*state);
    return 0;
}

static int close_drawings(void **state) {
    psfm_drawing_free(&tennis);
    psfm_drawing_free(&wheel);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_poses_see_turned_places),
        cmocka_unit_test(turns_undo_each_other),
        cmocka_unit_test(parts_and_lines_turn_along),
        cmocka_unit_test(moves_turn_along),
        cmocka_unit_test(canonical_copies_stand_at_the_lowest_y),
        cmocka_unit_test(without_turns_nothing_changes),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
