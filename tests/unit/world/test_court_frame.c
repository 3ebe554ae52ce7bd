/* Models of any gauge put over the drawing by their registrations. */
#include "world/court_frame.h"

#include "../refine/court_model.h"
#include "court/turns.h"

static const double as_drawn[2] = {0.0, 0.0};

/* Moves the poses of all views with a component into a world of their own: X' = s G X + t. */
static void move_world(court_model *m, double scale) {
    const double w[3] = {0.4, -0.7, 1.1}, t[3] = {3.0, -2.0, 0.5};
    double G[9];
    psfm_rotation_exp(w, G);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
        double R[9], at[3];
        if (!psfm_has_pose(&m->solution.poses, v))
            continue;
        psfm_mat3_mul_t(m->solution.poses.cam_from_world[v], G, R);
        memcpy(m->solution.poses.cam_from_world[v], R, sizeof R);
        psfm_mat3_mul_vec(G, m->solution.poses.center[v], at);
        psfm_axpy3(t, scale, at, m->solution.poses.center[v]);
    }
}

static uint32_t join(court_model *m) {
    uint32_t component;
    assert_ok(m->ctx, psfm_court_join(m->ctx, &m->court, &m->solution, &m->refined, &component));
    return component;
}

/* A model of another size and turn, and an image that has only its registration, become one. */
static void models_and_single_images_join(void **state) {
    (void)state;
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    m.solution.poses.component[3] = PSFM_NO_COMPONENT;
    move_world(&m, 0.13);
    uint32_t component = join(&m);
    assert_int_equal(component, 0);
    assert_int_equal(m.solution.num_components, 1);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v)
        assert_int_equal(m.solution.poses.component[v], 0);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-7); /* of an angle by its cosine */
    assert_below(away, 1e-9);
    free_court_model(&m);
}

/* Registrations end in the turn that the joint choice gave them. */
static void turns_are_taken(void **state) {
    (void)state;
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    for (int v = 0; v < 2; ++v) {
        psfm_court_pose *pose = &m.court.poses[v];
        psfm_turn_pose(m.court.middle, 2, pose->R, pose->center, pose->R, pose->center);
        m.court.quarters[v] = 2;
    }
    move_world(&m, 2.5);
    join(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-7);
    assert_below(away, 1e-9);
    free_court_model(&m);
}

/* One registration that is elsewhere loses its flag; its image stays with the others. */
static void a_wrong_registration_is_dropped(void **state) {
    (void)state;
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    m.court.poses[2].center[0] += 4.0;
    move_world(&m, 0.4);
    join(&m);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v)
        assert_int_equal(m.court.agrees[v], v != 2);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-7);
    assert_below(away, 1e-9);
    free_court_model(&m);
}

/* Two registrations that contradict the model: it falls apart, and its images take their own. */
static void a_contradicted_model_falls_apart(void **state) {
    (void)state;
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    move_world(&m, 0.4);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v) /* wrong by more than a size can mend */
        m.solution.poses.center[v][2] += v % 2 == 0 ? 3.0 : -3.0;
    join(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-7);
    assert_below(away, 1e-9);
    free_court_model(&m);
}

static void without_registrations_nothing_moves(void **state) {
    (void)state;
    court_model m;
    double before[COURT_VIEWS][3];
    make_court_model(as_drawn, &m);
    move_world(&m, 0.4);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v)
        m.court.agrees[v] = false;
    memcpy(before, m.solution.poses.center, sizeof before);
    assert_int_equal(join(&m), PSFM_NO_COMPONENT);
    assert_memory_equal(before, m.solution.poses.center, sizeof before);
    free_court_model(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_single_images_join),
        cmocka_unit_test(turns_are_taken),
        cmocka_unit_test(a_wrong_registration_is_dropped),
        cmocka_unit_test(a_contradicted_model_falls_apart),
        cmocka_unit_test(without_registrations_nothing_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
