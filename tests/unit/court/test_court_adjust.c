/* Poses, and the size of a court, from its lines alone. */
#include "court/court_adjust.h"

#include "core/base/rng.h"
#include "unit/core/refine/court_model.h"

static psfm_refine_options default_options(void) {
    psfm_refine_options options = {0};
    psfm_options_init(&psfm_refine_control_option_table, &options.control);
    psfm_options_init(&psfm_bundle_option_table, &options.bundle);
    options.control.stability_tests = false;
    options.bundle.tolerance = 1e-14;
    options.bundle.converged = 0.0;
    options.bundle.refine = PSFM_REFINE_NONE;
    return options;
}

/* Moves poses off by a degree and some decimetres. */
static void disturb(court_model *m) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 1, 0);
    for (int v = 0; v < COURT_VIEWS; ++v) {
        double w[3], turn[9], R[9];
        for (int d = 0; d < 3; ++d) {
            w[d] = 0.01 * psfm_rng_normal(&rng);
            m->solution.poses.center[v][d] += 0.1 * psfm_rng_normal(&rng);
        }
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, m->solution.poses.cam_from_world[v], R);
        memcpy(m->solution.poses.cam_from_world[v], R, sizeof R);
    }
}

static void adjust(court_model *m) {
    psfm_refine_options options = default_options();
    assert_ok(m->ctx,
              psfm_court_adjust(m->ctx, &options, &m->set, &m->court, &m->solution, &m->refined));
}

static void poses_come_from_lines(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0};
    court_model m;
    double turn, away;
    make_court_model(as_drawn, &m);
    disturb(&m);
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-9);
    assert_below(away, 1e-9);
    assert_true(m.drawing.size[0] == 28.0 && m.court.sigma_size[0] == 0.0);
    free_court_model(&m);
}

/* Lines where they are once the court has grown. */
static void assert_lines_moved(const court_model *m, const psfm_line_points *before,
                               const double grow[2]) {
    for (size_t v = 0; v < COURT_VIEWS; ++v) {
        const psfm_line_points *lines = &m->court.poses[v].lines;
        for (size_t k = 0; k < lines->num; ++k)
            for (int d = 0; d < 2; ++d) {
                const psfm_line_point *was = &before[v].items[k];
                assert_close(lines->items[k].on[d], was->on[d] + was->move[d] * grow[d], 1e-7);
            }
    }
}

/* A court that is 12 cm longer and 7 cm narrower than the book: with a tolerance its size is found
 * with the poses, without one the poses are off. */
static void a_size_is_found(void **state) {
    (void)state;
    static const double grow[2] = {0.12, -0.07};
    court_model m;
    psfm_line_points before[COURT_VIEWS];
    double turn, away;
    make_court_model(grow, &m);
    for (size_t v = 0; v < COURT_VIEWS; ++v) {
        before[v] = m.court.poses[v].lines;
        before[v].items = malloc(before[v].num * sizeof *before[v].items);
        memcpy(before[v].items, m.court.poses[v].lines.items,
               before[v].num * sizeof *before[v].items);
    }
    disturb(&m);
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_true(away > 0.01);
    m.court.options.tolerance = 1e4;
    adjust(&m);
    court_errors(&m, &turn, &away);
    assert_below(turn, 1e-8);
    assert_below(away, 1e-7);
    for (int d = 0; d < 2; ++d)
        assert_close(m.drawing.size[d], (d == 0 ? 28.0 : 15.0) + grow[d], 1e-7);
    assert_lines_moved(&m, before, grow);
    for (size_t v = 0; v < COURT_VIEWS; ++v)
        free(before[v].items);
    free_court_model(&m);
}

/* With noise the size is within its standard deviations, and a tight prior holds it. */
static void a_size_has_a_sigma(void **state) {
    (void)state;
    static const double grow[2] = {0.05, 0.03};
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 2, 0);
    court_model m;
    make_court_model(grow, &m);
    for (int v = 0; v < COURT_VIEWS; ++v)
        for (size_t k = 0; k < m.court.poses[v].lines.num; ++k)
            for (int d = 0; d < 2; ++d)
                m.court.poses[v].lines.items[k].xy[d] += 0.5 * psfm_rng_normal(&rng);
    m.court.options.tolerance = 0.1;
    adjust(&m);
    for (int d = 0; d < 2; ++d) {
        double off = m.drawing.size[d] - (d == 0 ? 28.0 : 15.0) - grow[d];
        assert_true(m.court.sigma_size[d] > 1e-4 && m.court.sigma_size[d] < 0.02);
        assert_below(fabs(off), 4.0 * m.court.sigma_size[d]);
    }
    free_court_model(&m);
}

/* ---- with points ---- */

enum { NUM_POINTS = 60, NUM_FLAT = 25 }; /* the first of them on the plane z = 1.5 */

static double true_points[NUM_POINTS][3];

/* Keypoints of a view, one for each point, `noise` pixels off. */
static void see_points(court_model *m, uint32_t v, double noise, psfm_rng *rng) {
    psfm_view *view = &m->views[v];
    view->num_keypoints = NUM_POINTS;
    view->keypoints = calloc(NUM_POINTS, sizeof *view->keypoints);
    view->rays = calloc(NUM_POINTS, sizeof *view->rays);
    view->px_from_ray = calloc(NUM_POINTS, sizeof *view->px_from_ray);
    assert_true(view->keypoints != NULL && view->rays != NULL && view->px_from_ray != NULL);
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        double X[3], q[3];
        psfm_sub3(true_points[p], m->true_center[v], X);
        psfm_mat3_mul_vec(m->true_R[v], X, q);
        assert_true(q[2] > 1.0 && psfm_camera_project(&m->camera, q, view->keypoints[p]));
        for (int d = 0; d < 2; ++d)
            view->keypoints[p][d] += noise * psfm_rng_normal(rng);
    }
}

/* Points over the floor that all views see; tracks of them, and points that are some centimetres
 * off. */
static void add_points(court_model *m, double noise) {
    psfm_rng rng = psfm_rng_make(21, PSFM_RNG_TEST, 1, 0);
    psfm_structure *st = &m->refined.structure;
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        true_points[p][0] = psfm_rng_range(&rng, -4.0, 4.0);
        true_points[p][1] = psfm_rng_range(&rng, -3.0, 3.0);
        true_points[p][2] = p < NUM_FLAT ? 1.5 : psfm_rng_range(&rng, 0.2, 3.0);
    }
    for (uint32_t v = 0; v < COURT_VIEWS; ++v)
        see_points(m, v, noise, &rng);
    st->num_points = st->tracks.num_tracks = NUM_POINTS;
    st->points = calloc(NUM_POINTS, sizeof *st->points);
    st->component = calloc(NUM_POINTS, sizeof *st->component);
    st->error_px = calloc(NUM_POINTS, sizeof *st->error_px);
    st->tracks.begin = calloc(NUM_POINTS + 1, sizeof *st->tracks.begin);
    st->tracks.view = calloc(NUM_POINTS * COURT_VIEWS, sizeof *st->tracks.view);
    st->tracks.keypoint = calloc(NUM_POINTS * COURT_VIEWS, sizeof *st->tracks.keypoint);
    assert_true(st->points != NULL && st->component != NULL && st->error_px != NULL &&
                st->tracks.begin != NULL && st->tracks.view != NULL && st->tracks.keypoint != NULL);
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        st->tracks.begin[p + 1] = (p + 1) * COURT_VIEWS;
        for (uint32_t v = 0; v < COURT_VIEWS; ++v) {
            st->tracks.view[p * COURT_VIEWS + v] = v;
            st->tracks.keypoint[p * COURT_VIEWS + v] = (uint32_t)p;
        }
        for (int d = 0; d < 3; ++d)
            st->points[p][d] = true_points[p][d] + 0.05 * psfm_rng_normal(&rng);
    }
}

static void drop_points(court_model *m) {
    for (int v = 0; v < COURT_VIEWS; ++v) {
        free(m->views[v].keypoints);
        free(m->views[v].rays);
        free(m->views[v].px_from_ray);
        free(m->views[v].sqrt_info);
    }
    free_court_model(m);
}

static double point_error(const court_model *m) {
    double most = 0.0, d[3];
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        psfm_sub3(m->refined.structure.points[p], true_points[p], d);
        most = fmax(most, psfm_norm3(d));
    }
    return most;
}

/* Points come into the frame of the drawing with the poses, and every image tells of its own. A
 * view that does not agree with the drawing is held by its points; its lines are not heard. */
static void points_are_adjusted_with_the_lines(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0};
    for (int round = 0; round < 3; ++round) {
        court_model m;
        double turn, away;
        make_court_model(as_drawn, &m);
        add_points(&m, 0.0);
        disturb(&m);
        if (round == 1) {
            m.court.agrees[2] = false;
            for (size_t k = 0; k < m.court.poses[2].lines.num; ++k)
                m.court.poses[2].lines.items[k].xy[0] += 20.0;
        }
        for (int v = 0; round == 2 && v < COURT_VIEWS; ++v) {
            m.views[v].sqrt_info = calloc(NUM_POINTS, sizeof *m.views[v].sqrt_info);
            for (size_t p = 0; p < NUM_POINTS; ++p)
                m.views[v].sqrt_info[p][0] = m.views[v].sqrt_info[p][2] = 1.0;
        }
        m.refined.iterations = 1000;
        adjust(&m);
        court_errors(&m, &turn, &away);
        assert_below(turn, 1e-8);
        assert_below(away, 1e-8);
        assert_below(point_error(&m), 1e-8);
        assert_true(m.refined.iterations > 1000 && m.refined.iterations < 1200);
        assert_int_equal(m.refined.stop, PSFM_BUNDLE_CONVERGED);
        for (int v = 0; v < COURT_VIEWS; ++v) {
            assert_int_equal(m.refined.images[v].num_points, NUM_POINTS);
            assert_below(m.refined.images[v].mean_px, 1e-6);
        }
        drop_points(&m);
    }
}

/* Planes of the structure go with their points. */
static void planes_are_adjusted_with_their_points(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0};
    court_model m;
    make_court_model(as_drawn, &m);
    add_points(&m, 0.0);
    psfm_scene_planes *planes = &m.refined.planes;
    planes->num_planes = 1;
    planes->planes = calloc(1, sizeof *planes->planes);
    planes->point_plane = calloc(NUM_POINTS, sizeof *planes->point_plane);
    assert_true(planes->planes != NULL && planes->point_plane != NULL);
    planes->planes[0] = (psfm_scene_plane){
        .normal = {0.0, sin(0.05), cos(0.05)}, .distance = 1.4, .num_points = NUM_FLAT};
    for (size_t p = NUM_FLAT; p < NUM_POINTS; ++p)
        planes->point_plane[p] = -1;
    adjust(&m);
    assert_close(planes->planes[0].normal[1], 0.0, 1e-6);
    assert_close(planes->planes[0].normal[2], 1.0, 1e-6);
    assert_close(planes->planes[0].distance, 1.5, 1e-6);
    assert_below(point_error(&m), 1e-6);
    drop_points(&m);
}

/* Lines count by their deviations and keypoints by theirs: beside lines of 1 px keypoints of 12 px
 * change nothing. */
static void keypoints_count_by_their_noise(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0}, noises[2] = {0.0, 12.0};
    double away[2], turn;
    for (int n = 0; n < 2; ++n) {
        psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 2, 0);
        court_model m;
        make_court_model(as_drawn, &m);
        if (n > 0)
            add_points(&m, noises[n]);
        for (int v = 0; v < COURT_VIEWS; ++v)
            for (size_t k = 0; k < m.court.poses[v].lines.num; ++k)
                for (int d = 0; d < 2; ++d)
                    m.court.poses[v].lines.items[k].xy[d] += psfm_rng_normal(&rng);
        adjust(&m);
        court_errors(&m, &turn, &away[n]);
        drop_points(&m);
    }
    assert_close(away[1], away[0], 0.02 * away[0]);
}

/* Without a line in any view nothing is done. */
static void without_lines_nothing_moves(void **state) {
    (void)state;
    static const double as_drawn[2] = {0.0, 0.0};
    court_model m;
    double before[COURT_VIEWS][3];
    make_court_model(as_drawn, &m);
    add_points(&m, 0.0);
    disturb(&m);
    memcpy(before, m.solution.poses.center, sizeof before);
    for (int v = 0; v < COURT_VIEWS; ++v)
        m.court.agrees[v] = false;
    adjust(&m);
    assert_memory_equal(before, m.solution.poses.center, sizeof before);
    assert_true(m.refined.iterations == 0 && m.refined.images[0].num_points == 0);
    drop_points(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_come_from_lines),
        cmocka_unit_test(a_size_is_found),
        cmocka_unit_test(a_size_has_a_sigma),
        cmocka_unit_test(points_are_adjusted_with_the_lines),
        cmocka_unit_test(planes_are_adjusted_with_their_points),
        cmocka_unit_test(keypoints_count_by_their_noise),
        cmocka_unit_test(without_lines_nothing_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
