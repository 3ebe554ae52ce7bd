/* Where a camera stands, searched with its true orientation and the line pixels it sees. */
#include "court/pose_search.h"

#include "court/court_evidence.h"
#include "lines/segments.h"
#include "unit/court/line_floor.h"

static psfm_drawing tennis, half; /* the part of it with x >= 0 */

static void add_half(psfm_context *ctx) {
    half = (psfm_drawing){.name = NULL};
    for (size_t k = 0; k < tennis.num_parts; ++k) {
        double at[2];
        psfm_drawing_part_at(&tennis.parts[k], 0.5, at);
        if (at[0] > -1e-9)
            assert_ok(ctx, psfm_drawing_add(ctx, &half, &tennis.parts[k]));
    }
}

/* What the search finds with these segments for a frame that is turned by so many quarters. */
static size_t guess_with(psfm_context *ctx, const line_floor *f, const psfm_segments *segments,
                         int quarters, psfm_court_guess *guesses) {
    static const double origin[2] = {0.0, 0.0};
    const double nowhere[3] = {0.0, 0.0, 0.0};
    const psfm_search_scene scene = {&f->evidence, segments, &f->camera};
    psfm_court_frame frame = {.focal = 1.0};
    double center[3];
    size_t num;
    psfm_turn_pose(origin, quarters, f->R, nowhere, frame.R, center);
    assert_ok(ctx, psfm_court_search(ctx, &f->plan, &scene, &frame, guesses, &num));
    return num;
}

/* The same with the segments of the floor's line pixels. */
static size_t find_guesses(psfm_context *ctx, const line_floor *f, int quarters,
                           psfm_court_guess *guesses) {
    psfm_segments segments;
    assert_ok(ctx, psfm_segments_find(ctx, &f->pixels, 18.0, &segments));
    size_t num = guess_with(ctx, f, &segments, quarters, guesses);
    psfm_segments_free(&segments);
    return num;
}

/* Metres and radians from the best guess to the truth or, of a drawing that allows it, its turned
 * copy. */
static void find_errors(const line_floor *f, const psfm_drawing *drawing,
                        const psfm_court_guess *guesses, size_t num, double *away, double *turn) {
    const psfm_court_guess *best = &guesses[0];
    int turns[4], num_turns = psfm_drawing_turns(drawing, turns);
    double middle[2];
    for (size_t k = 1; k < num; ++k)
        best = guesses[k].score > best->score ? &guesses[k] : best;
    psfm_drawing_middle(drawing, middle);
    *away = *turn = INFINITY;
    for (int t = 0; t < num_turns; ++t) {
        double R[9], center[3], d[3];
        psfm_turn_pose(middle, turns[t], best->R, best->center, R, center);
        psfm_sub3(center, f->center, d);
        if (psfm_norm3(d) < *away) {
            *away = psfm_norm3(d);
            *turn = psfm_rotation_angle(R, f->R);
        }
    }
}

/* The samples of the search are those of the drawing, in an order of which every beginning has some
 * of all long lines. */
static void beginnings_are_spread_over_the_drawing(void **state) {
    psfm_context *ctx = *state;
    psfm_search_plan plan;
    psfm_drawing_sample *samples;
    size_t num, seen = 0;
    bool has_part[64] = {false}, is_taken[4096] = {false};
    assert_ok(ctx, psfm_search_plan_init(ctx, &tennis, 1.0, 20.0, &plan));
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &tennis, plan.size / 50.0, &samples, &num));
    assert_true(num == plan.num_coarse && num < 4096 && tennis.num_parts <= 64);
    assert_close(plan.coarse_step, plan.size / 50.0, 1e-12);
    assert_close(plan.fine_step, plan.size / 160.0, 1e-12);
    for (size_t k = 0; k < num; ++k) {
        size_t at = 0;
        while (at < num && memcmp(&samples[at], &plan.coarse[k], sizeof *samples) != 0)
            ++at;
        assert_true(at < num && !is_taken[at]);
        is_taken[at] = true;
        if (k < num / 4)
            has_part[plan.coarse[k].part] = true;
    }
    for (size_t k = 0; k < tennis.num_parts; ++k) {
        bool is_long = psfm_drawing_part_length(&tennis.parts[k]) > 6.0 * plan.coarse_step;
        assert_true(has_part[k] || !is_long);
        seen += is_long;
    }
    assert_true(seen > 10);
    free(samples);
    psfm_search_plan_free(&plan);
}

/* Whichever of the four frames of a right angle is given, the place over a court is found; over
 * half a court, which no turn maps onto itself, from its own frame and the one a quarter before. */
static void places_are_found_from_any_quarter(void **state) {
    psfm_context *ctx = *state;
    const psfm_drawing *drawings[] = {&tennis, &half};
    for (int k = 0; k < 2; ++k) {
        line_floor f = {.noise = 0.2, .piece = 10};
        aim_floor(&f, 2.0, -15.0, 6.0, 4.0, 0.5);
        draw_floor(&f, drawings[k]);
        open_floor(ctx, &f, drawings[k]);
        for (int quarters = 0; quarters < 4; ++quarters) {
            psfm_court_guess guesses[4 * PSFM_GUESSES];
            double away, turn;
            size_t num = find_guesses(ctx, &f, quarters, guesses);
            assert_true(num > 0);
            if (k == 1 && (quarters == 1 || quarters == 2))
                continue;
            find_errors(&f, drawings[k], guesses, num, &away, &turn);
            assert_below(away, 0.3 / 32.0 * f.plan.size);
            assert_below(turn, 1e-9);
        }
        close_floor(&f);
    }
}

/* Without noise two lines along one axis and one along the other give the place to the millimetre,
 * whichever way the camera looks. */
static void places_are_exact_without_noise(void **state) {
    psfm_context *ctx = *state;
    static const double from[4][2] = {{2.0, -15.0}, {17.0, -5.0}, {-8.0, 12.0}, {-17.0, 4.0}};
    for (int k = 0; k < 4; ++k) {
        line_floor f = {.noise = 0.0};
        psfm_court_guess guesses[4 * PSFM_GUESSES];
        double away, turn;
        aim_floor(&f, from[k][0], from[k][1], 5.0 + k, 1.0, 0.5);
        draw_floor(&f, &tennis);
        open_floor(ctx, &f, &tennis);
        size_t num = find_guesses(ctx, &f, k, guesses);
        find_errors(&f, &tennis, guesses, num, &away, &turn);
        assert_below(away, 1e-6);
        close_floor(&f);
    }
}

/* ---- segments made by hand ---- */

enum { MOST_SEGMENTS = 900 };

/* Where a place of the world is seen; it is in the image or not. */
static void see_place(const line_floor *f, const double at[3], double xy[2]) {
    double X[3], q[3];
    psfm_sub3(at, f->center, X);
    psfm_mat3_mul_vec(f->R, X, q);
    for (int d = 0; d < 2; ++d)
        xy[d] = f->camera.params[d] * q[d] / q[2] + f->camera.params[2 + d];
}

static void add_segment(const line_floor *f, const double from[3], const double to[3],
                        double strength, psfm_segments *segments) {
    psfm_segment *g = &segments->items[segments->num++];
    assert_true(segments->num <= MOST_SEGMENTS);
    *g = (psfm_segment){.strength = strength};
    see_place(f, from, g->a);
    see_place(f, to, g->b);
    g->length = hypot(g->b[0] - g->a[0], g->b[1] - g->a[1]);
}

/* The lines of a court in pieces of about a metre that the image shows. */
static void add_pieces(const line_floor *f, const psfm_drawing *drawing, psfm_segments *segments) {
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        int pieces = (int)psfm_drawing_part_length(&drawing->parts[k]);
        for (int j = 0; j < pieces; ++j) {
            double from[3] = {0.0}, to[3] = {0.0}, xy[2];
            psfm_drawing_part_at(&drawing->parts[k], (j + 0.05) / pieces, from);
            psfm_drawing_part_at(&drawing->parts[k], (j + 0.95) / pieces, to);
            if (floor_pixel(&f->camera, f->R, f->center, from, xy) &&
                floor_pixel(&f->camera, f->R, f->center, to, xy))
                add_segment(f, from, to, 40.0, segments);
        }
    }
}

/* Long segments that are no lines of the floor: posts, beams under a roof, and lines askew. */
static void add_others(const line_floor *f, psfm_segments *segments) {
    for (int k = 0; k < 20; ++k) {
        double x = 0.7 * k - 7.0, bend = 0.2 + 0.05 * k;
        add_segment(f, (double[3]){x, 3.0, 0.0}, (double[3]){x, 3.0, 4.0}, 40.0, segments);
        add_segment(f, (double[3]){x, -2.0, 9.0}, (double[3]){x + 9.0, -2.0, 9.0}, 40.0, segments);
        add_segment(f, (double[3]){x, 9.0, 9.0}, (double[3]){x, 19.0, 9.0}, 40.0, segments);
        add_segment(f, (double[3]){x, -3.0, 0.0}, (double[3]){x + 6.0 * bend, 3.0, 0.0}, 40.0,
                    segments);
    }
}

/* Faint lines along both axes, between those of the court and nearly as long as they are. */
static void add_faint(const line_floor *f, psfm_segments *segments) {
    for (int k = 0; k < 16; ++k) {
        double at = 0.63 * k - 4.7;
        add_segment(f, (double[3]){-9.0, at, 0.0}, (double[3]){2.0, at, 0.0}, 1.0, segments);
        add_segment(f, (double[3]){at, -4.0, 0.0}, (double[3]){at, 1.0, 0.0}, 1.0, segments);
    }
}

/* Of each axis 14 lines are taken on: pieces of one count as one, what is no line of the floor not
 * at all, and what is faint for less. */
static void lines_are_told_from_other_segments(void **state) {
    psfm_context *ctx = *state;
    for (int k = 0; k < 4; ++k) {
        line_floor f = {.noise = 0.0};
        psfm_court_guess guesses[4 * PSFM_GUESSES];
        psfm_segments segments = {.items = calloc(MOST_SEGMENTS, sizeof *segments.items)};
        double away, turn;
        assert_non_null(segments.items);
        open_beside(ctx, &tennis, &tennis, &f);
        if ((k & 1) != 0)
            add_others(&f, &segments);
        if ((k & 2) != 0)
            add_faint(&f, &segments);
        add_pieces(&f, &tennis, &segments);
        size_t num = guess_with(ctx, &f, &segments, 0, guesses);
        assert_true(num > 0);
        find_errors(&f, &tennis, guesses, num, &away, &turn);
        assert_below(away, (k & 2) == 0 ? 1e-6 : 0.02); /* faint ones may join others */
        free(segments.items);
        close_floor(&f);
    }
}

/* ---- scores ---- */

/* What is added up per tone, and how much of it hangs on the rounding to floats. */
typedef struct {
    double sum[2], slack;
} tally;

static bool is_at_border(double value, double step) {
    double share = value / step;
    return fabs(share - round(share)) * step < 5e-4;
}

/* One sample: its pixels, 12 at most, times the map's entry of its way and cell. */
static void add_sample(const line_floor *f, const psfm_drawing_sample *s, const double R[9],
                       const double center[3], tally *t) {
    const psfm_line_evidence *e = &f->evidence;
    const double *p = f->camera.params;
    double X[3] = {(double)s->x - center[0], (double)s->y - center[1], -center[2]}, q[3], T[3];
    double along[3] = {(double)s->tx, (double)s->ty, 0.0};
    psfm_mat3_mul_vec(R, X, q);
    psfm_mat3_mul_vec(R, along, T);
    double x = p[0] * q[0] / q[2] + p[2], y = p[1] * q[1] / q[2] + p[3];
    if (!(q[2] > f->plan.size / 32.0 && x >= 0.0 && y >= 0.0 && x < e->width && y < e->height))
        return;
    double dx = p[0] * (T[0] - q[0] / q[2] * T[2]) / q[2];
    double dy = p[1] * (T[1] - q[1] / q[2] * T[2]) / q[2];
    double length = fmin(hypot(dx, dy) * f->plan.coarse_step, 12.0);
    double way = (atan2(dy, dx) / M_PI * PSFM_NUM_WAYS) + 0.5;
    size_t cell = (size_t)(y / PSFM_COARSE) * (size_t)e->coarse_width + (size_t)(x / PSFM_COARSE);
    size_t size = (size_t)e->coarse_width * (size_t)e->coarse_height;
    size_t at = (size_t)psfm_way((float)dx, (float)dy) * size + cell;
    for (int tone = 0; tone < 2; ++tone)
        t->sum[tone] += length * e->coarse[tone][at] / PSFM_LLR_UNIT;
    if (is_at_border(x, PSFM_COARSE) || is_at_border(y, PSFM_COARSE) || is_at_border(way, 1.0))
        t->slack += length * 127.0 / PSFM_LLR_UNIT;
}

static tally add_up(const line_floor *f, const psfm_court_guess *guess) {
    tally t = {.slack = 1e-3};
    for (size_t k = 0; k < f->plan.num_coarse; ++k)
        add_sample(f, &f->plan.coarse[k], guess->R, guess->center, &t);
    return t;
}

/* A floor whose court is half light and half dark. */
static void open_half_dark(psfm_context *ctx, psfm_drawing *drawing, line_floor *f) {
    assert_ok(ctx, psfm_drawing_copy(ctx, &tennis, drawing));
    for (size_t k = 0; k < drawing->num_parts; ++k)
        drawing->parts[k].layer = (uint32_t)(k % 3 == 0);
    f->dark = 2;
    open_beside(ctx, drawing, drawing, f);
}

/* The score of a guess is what the samples of the drawing hit, of light or of dark lines, or the
 * more of both if the paint is not known. */
static void scores_are_sums_over_samples(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.3};
    psfm_drawing drawing;
    open_half_dark(ctx, &drawing, &f);
    assert_true(f.plan.num_coarse > 200);
    for (int paint = 0; paint < 3; ++paint) {
        psfm_court_guess guesses[4 * PSFM_GUESSES];
        double best = 0.0, slack = 0.0;
        drawing.paint = (psfm_paint)paint;
        size_t num = find_guesses(ctx, &f, 0, guesses);
        assert_true(num > 10);
        for (size_t k = 0; k < num; ++k) {
            tally t = add_up(&f, &guesses[k]);
            double expected[3] = {fmax(t.sum[0], t.sum[1]), t.sum[0], t.sum[1]};
            assert_close(guesses[k].score, expected[paint], t.slack + 1e-4 * fabs(expected[paint]));
            slack += t.slack / (double)num;
            best = fmax(best, expected[paint]);
        }
        assert_true(best > (paint == 2 ? 800.0 : 2000.0) && slack < 30.0);
    }
    close_floor(&f);
    psfm_drawing_free(&drawing);
}

/* Guesses come best first in runs of one orientation, apart from each other, and all between the
 * heights that are allowed. */
static void guesses_are_sorted_and_apart(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_court_guess guesses[4 * PSFM_GUESSES];
    int runs = 1;
    open_beside(ctx, &tennis, &tennis, &f);
    f.plan.max_height = 7.0;
    size_t num = find_guesses(ctx, &f, 0, guesses);
    for (size_t k = 0; k < num; ++k) {
        assert_true(guesses[k].focal == 1.0 && guesses[k].grow[0] == 0.0);
        assert_true(guesses[k].center[2] > f.plan.min_height && guesses[k].center[2] < 7.0);
        bool same = k > 0 && memcmp(guesses[k].R, guesses[k - 1].R, sizeof guesses[k].R) == 0;
        assert_true(!same || guesses[k].score <= guesses[k - 1].score);
        runs += k > 0 && !same;
        for (size_t j = 0; j < k; ++j) {
            double d[3];
            psfm_sub3(guesses[k].center, guesses[j].center, d);
            same = memcmp(guesses[k].R, guesses[j].R, sizeof guesses[k].R) == 0;
            assert_true(!same || psfm_norm3(d) >= 0.3 / 32.0 * f.plan.size);
        }
    }
    assert_int_equal(runs, 2);
    f.plan.max_height = 5.0; /* below the camera */
    num = find_guesses(ctx, &f, 0, guesses);
    for (size_t k = 0; k < num; ++k)
        assert_true(guesses[k].center[2] < 5.0);
    close_floor(&f);
}

/* The focal length of the frame is that of its guesses. */
static void frames_have_focal_lengths(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_court_guess guesses[4 * PSFM_GUESSES];
    psfm_court_frame frame = {.focal = 1.25};
    psfm_segments segments;
    double away, turn;
    size_t num;
    open_beside(ctx, &tennis, &tennis, &f);
    memcpy(frame.R, f.R, sizeof frame.R);
    psfm_camera told = f.camera;
    for (int d = 0; d < 2; ++d)
        told.params[d] /= frame.focal;
    assert_ok(ctx, psfm_segments_find(ctx, &f.pixels, 18.0, &segments));
    const psfm_search_scene scene = {&f.evidence, &segments, &told};
    assert_ok(ctx, psfm_court_search(ctx, &f.plan, &scene, &frame, guesses, &num));
    assert_true(num > 0 && guesses[0].focal == 1.25);
    find_errors(&f, &tennis, guesses, num, &away, &turn);
    assert_below(away, 0.3 / 32.0 * f.plan.size);
    psfm_segments_free(&segments);
    close_floor(&f);
}

/* No lines, one segment, or lines that are all parallel: no place, and no failure. */
static void too_few_lines_place_nothing(void **state) {
    psfm_context *ctx = *state;
    static const uint64_t shown[] = {0, 1, 3}; /* of the sides only */
    for (int k = 0; k < 3; ++k) {
        line_floor f = {.hidden = ~shown[k]};
        psfm_court_guess guesses[4 * PSFM_GUESSES];
        aim_floor(&f, 2.0, -15.0, 6.0, 4.0, 0.5);
        draw_floor(&f, &tennis);
        open_floor(ctx, &f, &tennis);
        assert_int_equal(find_guesses(ctx, &f, 0, guesses), 0);
        close_floor(&f);
    }
}

static int open_drawings(void **state) {
    *state = psfm_context_create();
    tennis = drawing_of(*state, "tennis");
    add_half(*state);
    return 0;
}

static int close_drawings(void **state) {
    psfm_drawing_free(&tennis);
    psfm_drawing_free(&half);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beginnings_are_spread_over_the_drawing),
        cmocka_unit_test(places_are_found_from_any_quarter),
        cmocka_unit_test(places_are_exact_without_noise),
        cmocka_unit_test(lines_are_told_from_other_segments),
        cmocka_unit_test(scores_are_sums_over_samples),
        cmocka_unit_test(guesses_are_sorted_and_apart),
        cmocka_unit_test(frames_have_focal_lengths),
        cmocka_unit_test(too_few_lines_place_nothing),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
