/* Marks and strokes of all courts against each other: both come from the rules, by different
 * measures. */
#include "court/court.h"

#include "test_util.h"
#include "unit/court/court_scene.h"

/* Widths of the painted lines, metres. */
static const struct {
    const char *name;
    double line;
} courts[] = {{"basketball", 0.05}, {"basketball-nba", 0.0508}, {"basketball-ncaa", 0.0508},
              {"volleyball", 0.05}, {"handball", 0.05},         {"futsal", 0.08},
              {"tennis", 0.05},     {"badminton", 0.04},        {"soccer", 0.12},
              {"ice-hockey", 0.05}, {"ice-hockey-nhl", 0.0508}, {"american-football", 0.1016}};

/* A court by its place above, of its usual size or another one. */
static psfm_court court_of(size_t k, double longer, double wider) {
    psfm_court court;
    assert_true(psfm_court_get(courts[k].name, &court));
    court.length *= longer;
    court.width *= wider;
    return court;
}

static psfm_drawing draw(psfm_context *ctx, const psfm_court *court) {
    psfm_drawing drawing;
    assert_ok(ctx, psfm_drawing_from_court(ctx, court, &drawing));
    return drawing;
}

/* Metres from a point to a part, its ends included. */
static double distance_to(const psfm_drawing_part *part, const double at[2]) {
    double best = part_distance(part, at[0], at[1]);
    for (int end = 0; end < 2; ++end) {
        double place[2];
        psfm_drawing_part_at(part, end, place);
        best = fmin(best, hypot(place[0] - at[0], place[1] - at[1]));
    }
    return best;
}

/* Lines whose edge or middle a place is on, to a third of a millimetre. */
static int count_lines_at(const psfm_drawing *drawing, double line, const double at[2]) {
    int num = 0;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        double away = distance_to(&drawing->parts[k], at);
        num += fabs(away - 0.5 * line) < 3e-4 || away < 3e-4;
    }
    return num;
}

/* A mark is where two lines meet: on their edges, which the rules measure to, or on the middle of
 * one that is its own mirror image. Posts stand on one line, spots are on none. */
static void check_marks(psfm_context *ctx, size_t k, double longer, double wider) {
    psfm_court court = court_of(k, longer, wider);
    psfm_drawing drawing = draw(ctx, &court);
    char labels[2048], *rest = NULL;
    psfm_court_labels(&court, labels, sizeof labels);
    for (char *label = strtok_r(labels, " ", &rest); label != NULL;
         label = strtok_r(NULL, " ", &rest)) {
        double at[3];
        assert_true(psfm_court_find(&court, label, at));
        int least = strncmp(label, "spot", 4) == 0 ? 0 : strncmp(label, "post", 4) == 0 ? 1 : 2;
        if (count_lines_at(&drawing, courts[k].line, at) < least)
            fail_msg("%s: %s is on fewer than %d lines", court.name, label, least);
    }
    psfm_drawing_free(&drawing);
}

static void marks_are_where_lines_meet(void **state) {
    assert_int_equal(sizeof courts / sizeof *courts, psfm_num_courts);
    for (size_t k = 0; k < psfm_num_courts; ++k)
        check_marks(*state, k, 1.0, 1.0);
}

/* Of another size as well: ends move with the length, sides with the width. */
static void marks_stay_where_lines_meet(void **state) {
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        check_marks(*state, k, 1.05, 0.96);
        check_marks(*state, k, 0.97, 1.03);
    }
}

/* Metres from an end of a part to the nearest other part. */
static double gap_at(const psfm_drawing *drawing, size_t part, int end) {
    double at[2], best = INFINITY;
    psfm_drawing_part_at(&drawing->parts[part], end, at);
    for (size_t k = 0; k < drawing->num_parts; ++k)
        if (k != part)
            best = fmin(best, distance_to(&drawing->parts[k], at));
    return best;
}

/* Lines end at other lines, within the width of a line: only the halfway line of basketball goes on
 * beyond the side lines, and no-charge areas and the 7 m line stand free. */
static void lines_are_joined(void **state) {
    psfm_context *ctx = *state;
    static const int free_ends[] = {6, 4, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0};
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        psfm_court court = court_of(k, 1.0, 1.0);
        psfm_drawing drawing = draw(ctx, &court);
        int num = 0;
        for (size_t i = 0; i < drawing.num_parts; ++i) {
            const psfm_drawing_part *p = &drawing.parts[i];
            bool is_circle = p->radius > 0.0 && p->b[1] - p->b[0] > 6.28;
            for (int end = 0; end < 2 && !is_circle; ++end)
                num += gap_at(&drawing, i, end) > 0.75 * courts[k].line;
        }
        assert_int_equal(num, free_ends[k]);
        psfm_drawing_free(&drawing);
    }
}

/* A court is of its size: the outermost marks are corners of the rules' rectangle, the boards of a
 * rink touch it, and spots are the middles of their circles. */
static void sizes_are_those_of_the_lines(void **state) {
    psfm_context *ctx = *state;
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        psfm_court court = court_of(k, 1.0, 1.0);
        psfm_drawing drawing = draw(ctx, &court);
        double low[2], high[2], at[3];
        psfm_drawing_bounds(&drawing, low, high);
        bool has_corner = psfm_court_find(&court, "corner-e-n", at);
        for (int d = 0; d < 2; ++d) {
            double half = 0.5 * (d == 0 ? court.rule_length : court.rule_width);
            assert_close(has_corner ? at[d] : high[d], half, 1e-9);
            assert_close(high[d], half, 0.16);
            assert_true((d == 0 ? court.length : court.width) == 2.0 * half);
        }
        bool has_spot =
            psfm_court_find(&court, "spot-e-n", at) || psfm_court_find(&court, "spot-e", at);
        double nearest = INFINITY;
        for (size_t i = 0; i < drawing.num_parts; ++i)
            if (drawing.parts[i].radius > 4.0)
                nearest = fmin(nearest,
                               hypot(drawing.parts[i].a[0] - at[0], drawing.parts[i].a[1] - at[1]));
        assert_true(!has_spot || nearest < 1e-9);
        psfm_drawing_free(&drawing);
    }
}

/* Where a line ends at another one, it does so on a court of any size: also at a rink's rounded
 * corners. But for handball's free-throw line, which a narrow court would cut. */
static void lines_end_where_they_ended(void **state) {
    psfm_context *ctx = *state;
    int joined = 0;
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        psfm_court court = court_of(k, 1.0, 1.0), other = court_of(k, 1.05, 0.93);
        psfm_drawing usual = draw(ctx, &court), narrow = draw(ctx, &other);
        assert_int_equal(usual.num_parts, narrow.num_parts);
        for (size_t i = 0; i < usual.num_parts; ++i)
            for (int end = 0; end < 2; ++end) {
                double gap = gap_at(&usual, i, end);
                bool is_free_throw = usual.parts[i].radius == 8.975;
                if (gap > 0.16 || is_free_throw)
                    continue;
                assert_close(gap_at(&narrow, i, end), gap, 1e-3);
                ++joined;
            }
        psfm_drawing_free(&usual);
        psfm_drawing_free(&narrow);
    }
    assert_true(joined > 300);
}

/* A rink of 58 x 28 m: its corners keep their radius and touch sides and ends. */
static void rinks_keep_their_corners(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    int corners = 0;
    assert_ok(ctx, psfm_court_parse(ctx, "ice-hockey", "58,28", &court));
    psfm_drawing drawing = draw(ctx, &court);
    for (size_t k = 0; k < drawing.num_parts; ++k) {
        const psfm_drawing_part *p = &drawing.parts[k];
        if (p->radius != 8.5)
            continue;
        assert_close(fabs(p->a[0]) + 8.5, 29.0, 1e-12);
        assert_close(fabs(p->a[1]) + 8.5, 14.0, 1e-12);
        ++corners;
    }
    assert_int_equal(corners, 4);
    psfm_drawing_free(&drawing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_where_lines_meet),
        cmocka_unit_test(marks_stay_where_lines_meet),
        cmocka_unit_test(lines_are_joined),
        cmocka_unit_test(sizes_are_those_of_the_lines),
        cmocka_unit_test(lines_end_where_they_ended),
        cmocka_unit_test(rinks_keep_their_corners),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
