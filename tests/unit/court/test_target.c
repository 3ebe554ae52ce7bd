/* Targets and their rivals, on line pixels of known courts. */
#include "court/target.h"

#include "court/court_evidence.h"
#include "unit/court/line_floor.h"

static psfm_court_target target_of(psfm_context *ctx, const char *name) {
    psfm_court court;
    psfm_court_target target;
    assert_true(psfm_court_get(name, &court));
    assert_ok(ctx, psfm_court_target_of_court(ctx, &court, &target));
    return target;
}

/* The rivals of a court are the other courts of its game, all of them and no other. */
static void rivals_are_of_the_same_game(void **state) {
    psfm_context *ctx = *state;
    static const struct {
        const char *court, *rivals;
    } cases[] = {{"basketball", "basketball-nba basketball-ncaa "},
                 {"basketball-ncaa", "basketball basketball-nba "},
                 {"ice-hockey-nhl", "ice-hockey "},
                 {"tennis", ""},
                 {"soccer", ""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char names[128] = "";
        psfm_court_target target = target_of(ctx, cases[k].court);
        assert_string_equal(target.drawing.name, cases[k].court);
        for (size_t j = 0; j < target.num_rivals; ++j) {
            strcat(names, target.rivals[j].name);
            strcat(names, " ");
            assert_true(target.rivals[j].num_parts > 10);
        }
        assert_string_equal(names, cases[k].rivals);
        psfm_court_target_free(&target);
        assert_true(target.num_rivals == 0 && target.drawing.parts == NULL);
    }
}

/* A drawing goes over to its target and has no rivals. */
static void drawings_are_taken_over(void **state) {
    psfm_drawing drawing = drawing_of(*state, "tennis");
    psfm_court_target target;
    const psfm_drawing_part *parts = drawing.parts;
    psfm_court_target_of_drawing(&drawing, &target);
    assert_true(drawing.parts == NULL && drawing.num_parts == 0 && drawing.name == NULL);
    assert_true(target.drawing.parts == parts && target.num_rivals == 0);
    psfm_court_target_free(&target);
}

/* Registers the floor of one court, seen from the +y side, as another. */
static psfm_court_pose register_as(psfm_context *ctx, const char *painted, const char *sought) {
    psfm_drawing drawing = drawing_of(ctx, painted);
    psfm_court_target target = target_of(ctx, sought);
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_court_view view;
    psfm_court_pose pose;
    aim_floor(&f, 6.0, 14.0, 6.0, 1.0, -0.5);
    draw_floor(&f, &drawing);
    view_floor(ctx, &f, PSFM_FOCAL_FIXED, &view);
    assert_ok(ctx, psfm_court_target_register_view(ctx, &target, &view, NULL, &pose));
    psfm_court_view_free(&view);
    psfm_court_target_free(&target);
    psfm_drawing_free(&drawing);
    return pose;
}

/* The right court is accepted, its pose the copy on the -y side; a wrong federation's never is. */
static void the_right_federation_wins(void **state) {
    psfm_context *ctx = *state;
    static const char *const names[] = {"basketball", "basketball-nba", "basketball-ncaa"};
    int rivals = 0;
    for (int painted = 0; painted < 3; ++painted)
        for (int sought = 0; sought < 3; ++sought) {
            psfm_court_pose pose = register_as(ctx, names[painted], names[sought]);
            assert_int_equal(pose.verdict == PSFM_COURT_ACCEPTED, painted == sought);
            rivals += pose.verdict == PSFM_COURT_RIVAL;
            if (painted == sought) {
                assert_close(pose.center[0], -6.0, 0.02);
                assert_close(pose.center[1], -14.0, 0.02);
                assert_close(pose.center[2], 6.0, 0.02);
            }
            psfm_court_pose_free(&pose);
        }
    assert_true(rivals >= 3); /* not all of them for other reasons */
}

/* Whoever is refused, for whatever reason, keeps that reason. */
static void refusals_stay(void **state) {
    psfm_context *ctx = *state;
    psfm_court_pose pose = register_as(ctx, "badminton", "basketball");
    assert_int_not_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_int_not_equal(pose.verdict, PSFM_COURT_RIVAL);
    psfm_court_pose_free(&pose);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rivals_are_of_the_same_game),
        cmocka_unit_test(drawings_are_taken_over),
        cmocka_unit_test(the_right_federation_wins),
        cmocka_unit_test(refusals_stay),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
