/* Models of any gauge put over the drawing by their registrations. */
#include "world/court_frame.h"

#include "court/court_evidence.h"
#include "unit/core/refine/court_model.h"

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

/* Of four registrations one is turned by half a turn against the others: the rotation that three
 * second is the model's, and the image joins again with its own registration. */
static void the_rotation_is_what_most_second(void **state) {
    (void)state;
    for (int wrong = 0; wrong < COURT_VIEWS; ++wrong) {
        court_model m;
        make_court_model(as_drawn, &m);
        psfm_court_pose *pose = &m.court.poses[wrong];
        double R[9], center[3], away[3];
        psfm_turn_pose(m.court.middle, 1, pose->R, pose->center, R,
                       center); /* no turn of a court */
        memcpy(pose->R, R, sizeof R);
        memcpy(pose->center, center, sizeof center);
        move_world(&m, 0.4);
        assert_int_equal(join(&m), 0);
        for (int v = 0; v < COURT_VIEWS; ++v) {
            const double *expected = v == wrong ? center : m.true_center[v];
            psfm_sub3(m.solution.poses.center[v], expected, away);
            assert_below(psfm_norm3(away), 1e-9);
            assert_int_equal(m.solution.poses.component[v], 0);
        }
        free_court_model(&m);
    }
}

/* One registration alone gets its size from the floor of its component; the wall beside it, and the
 * floor of another component, say nothing. */
static void one_registration_and_a_floor_give_the_size(void **state) {
    (void)state;
    court_model m;
    double turn, away;
    static psfm_scene_plane planes[3];
    make_court_model(as_drawn, &m);
    for (uint32_t v = 1; v < COURT_VIEWS; ++v)
        m.court.agrees[v] = false;
    move_world(&m, 0.37);
    /* where the world's planes are then: the floor through the moved origin */
    const double w[3] = {0.4, -0.7, 1.1}, t[3] = {3.0, -2.0, 0.5};
    double G[9];
    psfm_rotation_exp(w, G);
    for (int k = 0; k < 3; ++k) {
        planes[k] = (psfm_scene_plane){.component = k == 1 ? 1 : 0, .num_points = 50};
        for (int d = 0; d < 3; ++d) /* a wall, another's floor, the floor upside down */
            planes[k].normal[d] = k == 0 ? G[3 * d] : k == 1 ? G[3 * d + 2] : -G[3 * d + 2];
        planes[k].distance = psfm_dot3(planes[k].normal, t) + (k == 2 ? 0.0 : 7.0);
    }
    m.refined.planes = (psfm_scene_planes){.planes = calloc(3, sizeof *planes), .num_planes = 3};
    assert_non_null(m.refined.planes.planes);
    memcpy(m.refined.planes.planes, planes, sizeof planes);
    assert_int_equal(join(&m), 0);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-7);
    assert_below(away, 1e-9);
    free_court_model(&m);
}

/* A single registration without a floor tells no size: its component falls apart, and one image is
 * no model. */
static void without_a_size_a_model_falls_apart(void **state) {
    (void)state;
    court_model m;
    make_court_model(as_drawn, &m);
    for (uint32_t v = 1; v < COURT_VIEWS; ++v)
        m.court.agrees[v] = false;
    move_world(&m, 0.37);
    assert_int_equal(join(&m), PSFM_NO_COMPONENT);
    for (uint32_t v = 0; v < COURT_VIEWS; ++v)
        assert_false(psfm_has_pose(&m.solution.poses, v));
    assert_int_equal(m.solution.num_components, 0);
    free_court_model(&m);
}

/* An image that is some decimetres from its registration starts from there; one that is nearer
 * stays where the model has it. */
static void rough_images_take_their_registration(void **state) {
    (void)state;
    static const double off[COURT_VIEWS] = {0.0, 0.05, 0.6, 0.0};
    court_model m;
    make_court_model(as_drawn, &m);
    for (int v = 0; v < COURT_VIEWS; ++v)
        m.solution.poses.center[v][2] += off[v];
    assert_int_equal(join(&m), 0);
    for (int v = 0; v < COURT_VIEWS; ++v) {
        double d[3];
        psfm_sub3(m.solution.poses.center[v], m.true_center[v], d);
        assert_true(m.court.agrees[v]);
        if (v == 2)
            assert_true(psfm_norm3(d) == 0.0);
        if (v == 1)
            assert_true(psfm_norm3(d) > 1e-4 && psfm_norm3(d) < 0.2);
    }
    free_court_model(&m);
}

/* Two components over one drawing become one; one without a registration stays as it is. */
static void components_become_one(void **state) {
    (void)state;
    for (int alone = 0; alone < 2; ++alone) {
        court_model m;
        double before[3], away[3];
        make_court_model(as_drawn, &m);
        free(m.solution.components);
        m.solution.num_components = 2;
        m.solution.components = calloc(2, sizeof *m.solution.components);
        assert_non_null(m.solution.components);
        m.solution.poses.component[2] = m.solution.poses.component[3] = 1;
        m.court.agrees[2] = m.court.agrees[3] = alone == 0;
        move_world(&m, 0.4);
        memcpy(before, m.solution.poses.center[3], sizeof before);
        uint32_t component = join(&m);
        for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
            bool is_joined = v < 2 || !alone;
            psfm_sub3(m.solution.poses.center[v], m.true_center[v], away);
            assert_int_equal(m.solution.poses.component[v] == component, is_joined);
            assert_true(!is_joined || psfm_norm3(away) < 1e-9);
        }
        if (alone)
            assert_memory_equal(m.solution.poses.center[3], before, sizeof before);
        assert_int_equal(m.solution.num_components, 1 + alone);
        free_court_model(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_single_images_join),
        cmocka_unit_test(turns_are_taken),
        cmocka_unit_test(a_wrong_registration_is_dropped),
        cmocka_unit_test(a_contradicted_model_falls_apart),
        cmocka_unit_test(without_registrations_nothing_moves),
        cmocka_unit_test(the_rotation_is_what_most_second),
        cmocka_unit_test(one_registration_and_a_floor_give_the_size),
        cmocka_unit_test(without_a_size_a_model_falls_apart),
        cmocka_unit_test(rough_images_take_their_registration),
        cmocka_unit_test(components_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
