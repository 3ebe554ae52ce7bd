/* What is painted on the floor of an arena is where the tables of courts have it, and hides or
 * vanishes as far as the options ask. */
#include "test_util.h"

#include "unit/synth/render_util.h"

#include "core/linalg/mat3.h"
#include "court/drawing.h"
#include "synth/render_floor.h"
#include "synth/render_scenes.h"

/* Lines of an arena's court as its drawing has them, and as they are painted. */
typedef struct {
    psfm_drawing drawing;
    psfm_drawing_sample *samples;
    size_t num;
} lines;

static lines game_lines(psfm_context *ctx, psfm_game game, double step) {
    lines l;
    psfm_court court;
    assert_true(psfm_court_get(psfm_game_names[game], &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &l.drawing));
    assert_ok(ctx, psfm_drawing_sample_lines(ctx, &l.drawing, step, &l.samples, &l.num));
    return l;
}

static void free_lines(lines *l) {
    psfm_drawing_free(&l->drawing);
    free(l->samples);
}

/* A sample of a fifth of a millimetre. */
static psfm_texel texel_at(double u, double v) {
    psfm_texel t = {.u = u, .v = v, .jac = {2e-4, 0.0, 0.0, 2e-4}};
    psfm_texel_set_width(&t);
    return t;
}

static double painted(psfm_game game, double u, double v) {
    psfm_texel t = texel_at(u, v);
    return game == PSFM_GAME_BASKETBALL ? psfm_cover_court_lines(&t) : psfm_cover_game(&t, game);
}

/* Distance from a place to the nearest other part of the drawing. */
static double distance_to_others(const lines *l, size_t part, double u, double v) {
    double nearest = HUGE_VAL;
    for (size_t k = 0; k < l->num; ++k)
        if (l->samples[k].part != part)
            nearest = fmin(nearest, hypot(l->samples[k].x - u, l->samples[k].y - v));
    return nearest;
}

/* The small marks of basketball, which are in no drawing: beside the restricted area and the side
 * lines. */
static bool is_mark(double u, double v) {
    return (fabs(fabs(v) - 2.5) < 0.06 && fabs(u) > 9.2 && fabs(u) < 12.3) ||
           (fabs(v) > 7.5 && fabs(fabs(u) - 5.7) < 0.06);
}

/* Every line is as wide as the rules say, about its middle. */
static void lines_lie_where_the_drawing_has_them(void **state) {
    for (int game = 0; psfm_game_names[game] != NULL; ++game) {
        if (game == PSFM_GAME_NONE)
            continue;
        lines l = game_lines(*state, (psfm_game)game, 0.04);
        double half = 0.5 * psfm_game_line_width((psfm_game)game);
        size_t num_edges = 0;
        for (size_t k = 0; k < l.num; k += 5) {
            const psfm_drawing_sample *s = &l.samples[k];
            bool is_alone = distance_to_others(&l, s->part, s->x, s->y) > 0.2;
            for (int side = -1; side <= 1; ++side) {
                double in = side * (half - 0.001), out = side * (half + 0.001);
                assert_close(painted((psfm_game)game, s->x - in * s->ty, s->y + in * s->tx), 1.0,
                             1e-9);
                double u = s->x - out * s->ty, v = s->y + out * s->tx;
                if (side == 0 || !is_alone || is_mark(u, v))
                    continue;
                ++num_edges;
                assert_close(painted((psfm_game)game, u, v), 0.0, 1e-9);
            }
        }
        assert_true(num_edges > l.num / 10);
        free_lines(&l);
    }
}

/* Nothing else is painted but marks. */
static void nothing_else_is_a_line(void **state) {
    lines l = game_lines(*state, PSFM_GAME_BASKETBALL, 0.02);
    for (double u = -14.5; u < 14.5; u += 0.0501) {
        for (double v = -8.0; v < 8.0; v += 0.0437) {
            if (is_mark(u, v) || painted(PSFM_GAME_BASKETBALL, u, v) < 0.5)
                continue;
            assert_below(distance_to_others(&l, SIZE_MAX, u, v), 0.04);
        }
    }
    free_lines(&l);
}

static void wear_takes_its_share(void **state) {
    lines l = game_lines(*state, PSFM_GAME_BASKETBALL, 0.02);
    const double wears[3] = {0.0, 0.3, 0.6};
    for (int w = 0; w < 3; ++w) {
        size_t gone = 0;
        for (size_t k = 0; k < l.num; ++k) {
            psfm_texel t = texel_at(l.samples[k].x, l.samples[k].y);
            gone += psfm_wear_left(&t, 7, wears[w]) < 0.3;
        }
        assert_close((double)gone / (double)l.num, wears[w], w == 0 ? 0.0 : 0.1);
    }
    free_lines(&l);
}

/* Share of the lines in sight of image 0 that the stage hides. */
static double hidden_share(psfm_context *ctx, const settings *s, const lines *l) {
    psfm_plan plan;
    psfm_synth_pose pose;
    psfm_stage stage;
    size_t seen = 0, hidden = 0;
    assert_ok(ctx, psfm_plan_init(ctx, PSFM_SCENE_ARENA, 3, &s->scene, &plan));
    plan.layout->place(&plan, 0, &pose);
    psfm_camera camera = psfm_plan_camera(&plan, 0);
    psfm_stage_init(ctx, pose.center, &stage);
    psfm_stage_build_arena(&(psfm_take){&plan, &s->render, 0, &pose}, &stage);
    assert_ok(ctx, psfm_stage_finish(&stage));
    for (size_t k = 0; k < l->num; ++k) {
        const double at[3] = {l->samples[k].x, l->samples[k].y, 0.0};
        double ray[3], dir[3], xy[2], distance;
        psfm_mat3_mul_vec(pose.R, at, ray);
        psfm_axpy3(ray, 1.0, pose.t, ray);
        if (ray[2] <= 0.0 || !psfm_camera_project(&camera, ray, xy) ||
            !(xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] < 1280.0 && xy[1] < 720.0))
            continue;
        psfm_sub3(at, pose.center, dir);
        ++seen;
        psfm_stage_nearest(&stage, pose.center, dir, 0.0, NULL, &distance);
        hidden += distance < 0.999;
    }
    psfm_stage_free(&stage);
    return (double)hidden / (double)seen;
}

static void people_hide_their_share(void **state) {
    psfm_context *ctx = *state;
    lines l = game_lines(ctx, PSFM_GAME_BASKETBALL, 0.1);
    settings s = plain_settings(46, 480);
    assert_below(hidden_share(ctx, &s, &l), 0.2);
    s.render.people = 0.3;
    double third = hidden_share(ctx, &s, &l);
    assert_true(third > 0.29 && third < 0.37); /* a hoop and the boards hide some, too */
    s.render.people = 0.5;
    assert_true(hidden_share(ctx, &s, &l) > 0.49);
    free_lines(&l);
}

/* Sum of what a paint adds over the court. */
static double sum_over_court(const psfm_render_options *options) {
    psfm_stage stage = {.base = {22.0, 0.0, 7.0}};
    psfm_solid floor = {.size = {58.1, 46.1, 0.0},
                        .coat = {.tint = {0.3, 0.1, 0.1}, .seed = 5, .data = options}};
    double sum = 0.0;
    for (double u = -14.0; u < 14.0; u += 0.173) {
        for (double v = -7.4; v < 7.4; v += 0.127) {
            psfm_surface surface = {.stage = &stage, .solid = &floor, .xyz = {u, v, 0.0}};
            double rgb[3];
            surface.texel = texel_at(u + 29.05, v + 23.05);
            psfm_paint_court(&surface, rgb);
            sum += rgb[0] + rgb[1] + rgb[2];
        }
    }
    return sum;
}

static void paint_follows_the_options(void **state) {
    settings s = plain_settings(2, 64);
    double base = sum_over_court(&s.render);
    (void)state;
    s.render.glare = 1.0;
    assert_true(sum_over_court(&s.render) > 1.02 * base);
    s.render.glare = 0.0;
    s.render.num_advertisements = 10;
    assert_true(fabs(sum_over_court(&s.render) - base) > 1e-3 * base);
    s.render.num_advertisements = 0;
    s.render.num_other_games = 4;
    assert_true(sum_over_court(&s.render) < base);
    s.render.num_other_games = 0;
    assert_close(sum_over_court(&s.render), base, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_lie_where_the_drawing_has_them),
        cmocka_unit_test(nothing_else_is_a_line),
        cmocka_unit_test(wear_takes_its_share),
        cmocka_unit_test(people_hide_their_share),
        cmocka_unit_test(paint_follows_the_options),
    };
    return cmocka_run_group_tests_name("synth/render_floor", tests, setup, teardown);
}
