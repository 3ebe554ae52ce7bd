#include "court/drawing.h"

#include "test_util.h"

/* Every court: its drawing is symmetric, within its size, good for searching, and keeps the rules'
 * distances. */
static void test_courts(void **state) {
    psfm_context *ctx = *state;
    for (size_t k = 0; k < psfm_num_courts; ++k) {
        psfm_drawing drawing;
        double low[2], high[2];
        int turns[4];
        assert_ok(ctx, psfm_drawing_from_court(ctx, &psfm_courts[k], &drawing));
        assert_string_equal(drawing.name, psfm_courts[k].name);
        assert_ok(ctx, psfm_drawing_check(ctx, &drawing));
        psfm_drawing_bounds(&drawing, low, high);
        assert_close(low[0], -high[0], 1e-9);
        assert_close(low[1], -high[1], 1e-9);
        assert_true(high[0] <= 0.5 * psfm_courts[k].length + 0.3);
        assert_true(high[1] <= 0.5 * psfm_courts[k].width + 0.3);
        assert_true(high[0] >= 0.4 * psfm_courts[k].length);
        assert_true(high[1] >= 0.49 * psfm_courts[k].width);
        assert_int_equal(psfm_drawing_turns(&drawing, turns), 2);
        assert_int_equal(turns[0], 0);
        assert_int_equal(turns[1], 2);
        psfm_drawing_free(&drawing);
    }
}

static bool has_offset(const double *offsets, size_t num, double value) {
    for (size_t k = 0; k < num; ++k)
        if (fabs(offsets[k] - value) < 1e-9)
            return true;
    return false;
}

static void test_basketball(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    psfm_drawing drawing;
    double *along_x, *along_y;
    size_t num_x, num_y;
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    assert_ok(ctx, psfm_drawing_offsets(ctx, &drawing, 0, &along_x, &num_x));
    assert_ok(ctx, psfm_drawing_offsets(ctx, &drawing, 1, &along_y, &num_y));
    assert_int_equal(num_x, 8); /* sides, three-point lines, keys, no-charge areas */
    assert_int_equal(num_y, 5); /* ends, free-throw lines, halfway line */
    assert_true(has_offset(along_x, num_x, 7.525) && has_offset(along_x, num_x, -2.425));
    assert_true(has_offset(along_y, num_y, -14.025) && has_offset(along_y, num_y, 0.0));
    for (size_t k = 1; k < num_x; ++k)
        assert_true(along_x[k] > along_x[k - 1]);
    free(along_x);
    free(along_y);
    psfm_drawing_free(&drawing);
}

/* Halves of a line are one line, so are both keys' sides; arcs of one circle are one. */
static void test_lines(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    psfm_drawing drawing;
    uint32_t ids[64], seen = 0;
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    assert_true(drawing.num_parts <= 64);
    /* 8 along x, 5 along y, the centre circle, and three circles at each end */
    assert_int_equal(psfm_drawing_number_lines(&drawing, ids), 8 + 5 + 1 + 6);
    for (size_t k = 0; k < drawing.num_parts; ++k) {
        assert_true(ids[k] <= seen);
        seen += ids[k] == seen;
    }
    psfm_drawing_free(&drawing);
}

/* The three-point line is one curve: the arc begins where the straight piece ends. */
static void test_joints(void **state) {
    psfm_context *ctx = *state;
    static const char *const names[] = {"basketball", "basketball-nba", "basketball-ncaa"};
    for (int n = 0; n < 3; ++n) {
        psfm_court court;
        psfm_drawing drawing;
        int joints = 0;
        assert_true(psfm_court_get(names[n], &court));
        assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
        for (size_t k = 0; k < drawing.num_parts; ++k) {
            if (drawing.parts[k].radius < 6.0)
                continue;
            for (int end = 0; end < 2; ++end) {
                double at[2];
                psfm_drawing_part_at(&drawing.parts[k], end, at);
                for (size_t j = 0; j < drawing.num_parts; ++j)
                    joints +=
                        drawing.parts[j].radius == 0.0 &&
                        hypot(drawing.parts[j].b[0] - at[0], drawing.parts[j].b[1] - at[1]) < 0.005;
            }
        }
        assert_int_equal(joints, 4);
        psfm_drawing_free(&drawing);
    }
}

/* Samples lie on their parts, evenly, with unit directions along them. */
static void test_samples(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    psfm_drawing drawing;
    psfm_drawing_sample *samples;
    size_t num;
    double length = 0.0;
    assert_true(psfm_court_get("futsal", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &drawing, 0.25, &samples, &num));
    for (size_t k = 0; k < drawing.num_parts; ++k)
        length += psfm_drawing_part_length(&drawing.parts[k]);
    assert_close((double)num, length / 0.25, 0.02 * (double)num);
    for (size_t k = 0; k < num; ++k) {
        const psfm_drawing_part *p = &drawing.parts[samples[k].part];
        double x = (double)samples[k].x - p->a[0], y = (double)samples[k].y - p->a[1];
        double tx = (double)samples[k].tx, ty = (double)samples[k].ty;
        assert_close(hypot(tx, ty), 1.0, 1e-6);
        if (p->radius > 0.0) {
            assert_close(hypot(x, y), p->radius, 1e-5);
            assert_close(x * tx + y * ty, 0.0, 1e-5);
        } else {
            assert_close(x * ty - y * tx, 0.0, 1e-5);
        }
    }
    free(samples);
    psfm_drawing_free(&drawing);
}

/* A pitch of another size: ends and sides move, the penalty area keeps its depth. */
static void test_size(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    psfm_drawing drawing;
    double low[2], high[2], *offsets;
    size_t num;
    assert_true(psfm_court_get("soccer", &court));
    court.length = 100.0;
    court.width = 64.0;
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    psfm_drawing_bounds(&drawing, low, high);
    assert_close(high[0], 50.0, 1e-9);
    assert_close(high[1], 32.0, 1e-9);
    assert_ok(ctx, psfm_drawing_offsets(ctx, &drawing, 1, &offsets, &num));
    assert_true(has_offset(offsets, num, 50.0 - 16.5 + 0.06));
    free(offsets);
    assert_ok(ctx, psfm_drawing_offsets(ctx, &drawing, 0, &offsets, &num));
    assert_true(has_offset(offsets, num, 20.1) && has_offset(offsets, num, -31.94));
    free(offsets);
    psfm_drawing_free(&drawing);
}

/* A square with a circle has four turns, with one more line none. */
static void test_turns(void **state) {
    psfm_context *ctx = *state;
    static const double corners[4][2] = {{1, 1}, {3, 1}, {3, 3}, {1, 3}};
    psfm_drawing drawing = {0};
    int turns[4];
    for (int k = 0; k < 4; ++k) {
        const double *a = corners[k], *b = corners[(k + 1) % 4];
        psfm_drawing_part side = {.a = {a[0], a[1]}, .b = {b[0], b[1]}};
        assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &side));
        assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &side));
    }
    psfm_drawing_part circle = {.a = {2.0, 2.0}, .b = {0.0, 2.0 * M_PI}, .radius = 0.5};
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &circle));
    assert_int_equal(drawing.num_parts, 5);
    assert_int_equal(psfm_drawing_turns(&drawing, turns), 4);
    psfm_drawing_part line = {.a = {2.0, 2.5}, .b = {2.0, 3.0}};
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &line));
    assert_int_equal(psfm_drawing_turns(&drawing, turns), 1);
    psfm_drawing_free(&drawing);
}

static const psfm_drawing_part *part_near(const psfm_drawing *drawing, double x, double y) {
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        const psfm_drawing_part *p = &drawing->parts[k];
        if (fabs(p->a[0] - x) < 0.1 && fabs(p->a[1] - y) < 0.1)
            return p;
    }
    fail();
    return NULL;
}

/* A pitch of another size is the one that the court of that size gives. */
static void test_resize(void **state) {
    psfm_context *ctx = *state;
    psfm_court court;
    psfm_drawing usual, resized, small;
    const double size[2] = {100.0, 64.0};
    assert_true(psfm_court_get("soccer", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &usual));
    assert_true(psfm_drawing_is_free(&usual));
    assert_ok(ctx, psfm_drawing_copy(ctx, &usual, &resized));
    psfm_drawing_resize(&resized, size);
    court.length = size[0];
    court.width = size[1];
    psfm_court_fix_size(&court);
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &small));
    assert_false(psfm_drawing_is_free(&small));
    assert_int_equal(resized.num_parts, small.num_parts);
    for (size_t k = 0; k < small.num_parts; ++k)
        for (int d = 0; d < 2; ++d) {
            assert_close(resized.parts[k].a[d], small.parts[k].a[d], 1e-12);
            assert_close(resized.parts[k].b[d], small.parts[k].b[d], 1e-12);
        }
    psfm_drawing_free(&usual);
    psfm_drawing_free(&resized);
    psfm_drawing_free(&small);
}

/* A drawing without rules is stretched about its middle. */
static void test_stretch(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing = {.name = NULL};
    psfm_drawing_part x1 = {.a = {1, 1}, .b = {5, 1}}, x2 = {.a = {1, 3}, .b = {5, 3}},
                      circle = {.a = {2, 2.5}, .b = {0.0, 2.0 * M_PI}, .radius = 0.5};
    const double size[2] = {6.0, 2.0};
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &x1));
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &x2));
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &circle));
    psfm_drawing_stretch_parts(&drawing);
    assert_close(drawing.size[0], 4.0, 1e-12);
    psfm_drawing_resize(&drawing, size);
    const psfm_drawing_part *line = part_near(&drawing, 0.0, 3.0);
    assert_close(line->b[0], 6.0, 1e-12);
    assert_close(part_near(&drawing, 1.5, 2.5)->radius, 0.5, 1e-12);
    psfm_drawing_free(&drawing);
}

/* Lines along one axis only, or a single pair, cannot be searched. */
static void test_check(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing = {.name = NULL};
    psfm_drawing_part x1 = {.b = {5, 0}}, y1 = {.b = {0, 5}}, x2 = {.a = {0, 3}, .b = {5, 3}};
    drawing.name = strdup("test");
    assert_int_equal(psfm_drawing_check(ctx, &drawing), PSFM_ERR_DATA);
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &x1));
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &y1));
    assert_int_equal(psfm_drawing_check(ctx, &drawing), PSFM_ERR_DATA);
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &x2));
    assert_ok(ctx, psfm_drawing_check(ctx, &drawing));
    psfm_drawing_free(&drawing);
}

/* ---- single parts ---- */

/* A part with nothing in it that is the same in x and y. */
static const psfm_drawing_part line = {.a = {1.0, 2.0}, .b = {4.0, -2.0}};
static const psfm_drawing_part arc = {.a = {0.5, -1.0}, .b = {0.25, 1.75}, .radius = 2.0};

static void test_measures(void **state) {
    (void)state;
    double at[2];
    assert_close(psfm_drawing_part_length(&line), 5.0, 1e-12);
    assert_close(psfm_drawing_part_length(&arc), 3.0, 1e-12);
    psfm_drawing_part_at(&line, 0.25, at);
    assert_true(fabs(at[0] - 1.75) < 1e-12 && fabs(at[1] - 1.0) < 1e-12);
    psfm_drawing_part_at(&arc, 0.5, at);
    assert_close(at[0], 0.5 + 2.0 * cos(1.0), 1e-12);
    assert_close(at[1], -1.0 + 2.0 * sin(1.0), 1e-12);
}

/* Placed, a drawing is turned about its origin and moved: every place of it. */
static void test_place(void **state) {
    psfm_context *ctx = *state;
    static const double to[2] = {3.0, -7.0}, turns[3] = {0.0, 30.0, -115.0};
    for (int k = 0; k < 3; ++k) {
        psfm_drawing from = {.name = NULL}, placed = {.name = NULL};
        double c = cos(turns[k] * M_PI / 180.0), s = sin(turns[k] * M_PI / 180.0);
        assert_ok(ctx, psfm_drawing_add(ctx, &from, &line));
        assert_ok(ctx, psfm_drawing_add(ctx, &from, &arc));
        assert_ok(ctx, psfm_drawing_place(ctx, &from, to, turns[k], &placed));
        assert_ok(ctx, psfm_drawing_place(ctx, &from, (double[2]){90.0, 0.0}, 0.0, &placed));
        assert_true(placed.num_parts == 4 && placed.num_layers == 2);
        assert_true(placed.parts[1].layer == 0 && placed.parts[2].layer == 1);
        for (size_t i = 0; i < 2; ++i)
            for (int j = 0; j <= 4; ++j) {
                double before[2], after[2];
                psfm_drawing_part_at(&from.parts[i], 0.25 * j, before);
                psfm_drawing_part_at(&placed.parts[i], 0.25 * j, after);
                assert_close(after[0], to[0] + c * before[0] - s * before[1], 1e-12);
                assert_close(after[1], to[1] + s * before[0] + c * before[1], 1e-12);
            }
        psfm_drawing_free(&from);
        psfm_drawing_free(&placed);
    }
}

/* How a sample goes with the size is where it is on the drawing of that size, less where it was. */
static void test_moves(void **state) {
    psfm_context *ctx = *state;
    static const double more[2] = {3.0, -2.0};
    static const char *const names[] = {"soccer", "ice-hockey", "basketball"};
    for (int k = 0; k < 3; ++k) {
        psfm_court court;
        psfm_drawing usual, other;
        psfm_drawing_sample *a, *b;
        size_t num_a, num_b;
        assert_true(psfm_court_get(names[k], &court));
        assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &usual));
        court.length += more[0];
        court.width += more[1];
        assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &other));
        assert_ok(ctx, psfm_drawing_sample_lines(ctx, &usual, 1000.0, &a, &num_a));
        assert_ok(ctx, psfm_drawing_sample_lines(ctx, &other, 1000.0, &b, &num_b));
        assert_true(num_a == num_b && num_a == usual.num_parts); /* the middle of each */
        for (size_t i = 0; i < num_a; ++i) {
            assert_close((double)(b[i].x - a[i].x), more[0] * (double)a[i].mx, 1e-5);
            assert_close((double)(b[i].y - a[i].y), more[1] * (double)a[i].my, 1e-5);
        }
        free(a);
        free(b);
        psfm_drawing_free(&usual);
        psfm_drawing_free(&other);
    }
}

/* A drawing off the origin: size and bounds, and the part that each part becomes. */
static void test_turned_parts(void **state) {
    psfm_context *ctx = *state;
    static const double at[2] = {30.0, -4.0};
    psfm_court court;
    psfm_drawing usual, moved = {.name = NULL};
    double low[2], high[2], middle[2], size[2];
    assert_true(psfm_court_get("soccer", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &usual));
    assert_ok(ctx, psfm_drawing_place(ctx, &usual, at, 0.0, &moved));
    psfm_drawing_bounds(&moved, low, high);
    for (int d = 0; d < 2; ++d) {
        middle[d] = 0.5 * (low[d] + high[d]);
        size[d] = high[d] - low[d];
        assert_close(middle[d], at[d], 1e-9);
    }
    assert_close(psfm_drawing_size(&moved), hypot(size[0], size[1]), 1e-12);
    assert_close(size[0], 105.0, 1e-9);
    for (size_t k = 0; k < moved.num_parts; ++k) {
        size_t to = psfm_drawing_turned_part(&moved, k, 2);
        double a[2], b[2];
        psfm_drawing_part_at(&moved.parts[k], 0.5, a);
        psfm_drawing_part_at(&moved.parts[to], 0.5, b);
        assert_close(a[0] + b[0], 2.0 * at[0], 1e-6);
        assert_close(a[1] + b[1], 2.0 * at[1], 1e-6);
        assert_int_equal(psfm_drawing_turned_part(&moved, to, 2), k);
        if (moved.parts[k].radius == 0.0) /* a pitch is no square */
            assert_int_equal(psfm_drawing_turned_part(&moved, k, 1), k);
    }
    psfm_drawing_free(&usual);
    psfm_drawing_free(&moved);
}

/* Parts that only begin on a line, or that are beside it or beyond a bend, are other lines. */
static void test_other_lines(void **state) {
    psfm_context *ctx = *state;
    static const psfm_drawing_part parts[] = {
        {.a = {0.0, 0.0}, .b = {4.0, 2.0}},                  /* 0 */
        {.a = {6.0, 3.0}, .b = {5.0, 2.5}},                  /* goes on: 0 */
        {.a = {2.0, 1.0}, .b = {3.0, 9.0}},                  /* begins there: 1 */
        {.a = {8.0, 8.0}, .b = {8.0, 4.0}},                  /* ends there: 2 */
        {.a = {0.0, 0.01}, .b = {4.0, 2.01}},                /* beside it: 3 */
        {.a = {1.0, 1.0}, .b = {0.0, 1.0}, .radius = 2.0},   /* 4 */
        {.a = {1.0, 1.0}, .b = {2.0, 3.0}, .radius = 2.0},   /* of the same circle: 4 */
        {.a = {1.0, 1.0}, .b = {2.0, 3.0}, .radius = 2.01},  /* 5 */
        {.a = {1.01, 1.0}, .b = {2.0, 3.0}, .radius = 2.0}}; /* 6 */
    static const uint32_t expected[] = {0, 0, 1, 2, 3, 4, 4, 5, 6};
    uint32_t ids[9];
    psfm_drawing drawing = {.name = NULL};
    for (size_t k = 0; k < 9; ++k)
        assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &parts[k]));
    assert_int_equal(psfm_drawing_number_lines(&drawing, ids), 7);
    assert_memory_equal(ids, expected, sizeof ids);
    psfm_drawing_free(&drawing);
}

/* Circles are one wherever they start, arcs only if they go the same way round, modulo turns;
 * points are nothing. */
static void test_same_parts(void **state) {
    psfm_context *ctx = *state;
    static const psfm_drawing_part parts[] = {
        {.a = {1, 1}, .b = {0.0, 2.0 * M_PI}, .radius = 2.0},
        {.a = {1, 1}, .b = {1.0, 1.0 + 2.0 * M_PI}, .radius = 2.0},
        {.a = {1, 1}, .b = {0.5, 1.5}, .radius = 2.0},
        {.a = {1, 1}, .b = {0.5 + 2.0 * M_PI, 1.5 + 2.0 * M_PI}, .radius = 2.0},
        {.a = {1, 1}, .b = {0.5 - M_PI, 1.5 - M_PI}, .radius = 2.0},
        {.a = {1, 1}, .b = {0.5, 1.6}, .radius = 2.0},
        {.a = {3, 1}, .b = {3.0, 1.0005}},
        {.a = {3, 1}, .b = {3.0, 2.0}},
        {.a = {3, 2}, .b = {3.0, 1.0}}};
    static const size_t after[] = {1, 1, 2, 2, 3, 4, 4, 5, 5};
    psfm_drawing drawing = {.name = NULL};
    for (size_t k = 0; k < 9; ++k) {
        assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &parts[k]));
        assert_int_equal(drawing.num_parts, after[k]);
    }
    psfm_drawing_free(&drawing);
}

/* An empty drawing, and one of a single line: nothing to search, everything in its place. */
static void test_next_to_nothing(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing drawing = {.name = NULL};
    psfm_drawing_sample *samples;
    double low[2], high[2], *offsets;
    uint32_t id = 7;
    size_t num = 7;
    int turns[4];
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &drawing, 1.0, &samples, &num));
    assert_true(num == 0 && samples == NULL);
    assert_int_equal(psfm_drawing_number_lines(&drawing, &id), 0);
    assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &line));
    psfm_drawing_bounds(&drawing, low, high);
    assert_true(low[0] == 1.0 && low[1] == -2.0 && high[0] == 4.0 && high[1] == 2.0);
    assert_int_equal(psfm_drawing_turns(&drawing, turns), 2);
    for (int axis = 0; axis < 2; ++axis) { /* it runs along neither */
        assert_ok(ctx, psfm_drawing_offsets(ctx, &drawing, axis, &offsets, &num));
        assert_int_equal(num, 0);
        free(offsets);
    }
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &drawing, 100.0, &samples, &num));
    assert_int_equal(num, 1);
    assert_close((double)samples[0].x, 2.5, 1e-6);
    assert_close((double)samples[0].ty, -0.8, 1e-6);
    free(samples);
    psfm_drawing_free(&drawing);
}

/* Three lines along one axis are refused as well, and the numbers of both are told. */
static void test_check_counts(void **state) {
    psfm_context *ctx = *state;
    for (int axis = 0; axis < 2; ++axis) {
        char name[] = "ladder";
        psfm_drawing drawing = {.name = NULL};
        for (int k = 0; k < 3; ++k) {
            psfm_drawing_part rung = {.a = {0, 0}, .b = {0, 0}};
            rung.a[axis] = -1.0;
            rung.b[axis] = 1.0;
            rung.a[1 - axis] = rung.b[1 - axis] = k;
            assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &rung));
        }
        drawing.name = name;
        assert_int_equal(psfm_drawing_check(ctx, &drawing), PSFM_ERR_DATA);
        assert_non_null(strstr(psfm_context_message(ctx),
                               axis == 0 ? "ladder has 3 lines along x and 0 along y"
                                         : "ladder has 0 lines along x and 3 along y"));
        drawing.name = NULL;
        psfm_drawing_free(&drawing);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_courts),          cmocka_unit_test(test_basketball),
        cmocka_unit_test(test_joints),          cmocka_unit_test(test_lines),
        cmocka_unit_test(test_samples),         cmocka_unit_test(test_size),
        cmocka_unit_test(test_turns),           cmocka_unit_test(test_resize),
        cmocka_unit_test(test_stretch),         cmocka_unit_test(test_check),
        cmocka_unit_test(test_measures),        cmocka_unit_test(test_place),
        cmocka_unit_test(test_moves),           cmocka_unit_test(test_turned_parts),
        cmocka_unit_test(test_other_lines),     cmocka_unit_test(test_same_parts),
        cmocka_unit_test(test_next_to_nothing), cmocka_unit_test(test_check_counts),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
