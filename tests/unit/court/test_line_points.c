/* Line points against the fitted lines they are made of, through lenses with and without bend. */
#include "court/line_points.h"

#include "unit/court/line_floor.h"

static psfm_drawing tennis;

/* A fit to noisy line pixels of an ideal camera, whose line points are wanted in a photograph. */
typedef struct {
    line_floor floor;
    psfm_court_fit fit;
    psfm_fitted_line *lines;
    size_t num;
} fitted;

static void open_fitted(psfm_context *ctx, fitted *f) {
    *f = (fitted){.floor = {.noise = 0.3, .piece = 5}};
    open_beside(ctx, &tennis, &tennis, &f->floor);
    f->floor.job.free_focal = true;
    psfm_court_guess guess = guess_floor(&f->floor, 0.0, 0.0);
    assert_true(psfm_court_fit_guess(&f->floor.job, &guess, &f->fit));
    f->lines = calloc(f->floor.plan.num_fine, sizeof *f->lines);
    f->num = psfm_court_fit_lines(&f->floor.job, &f->fit, f->lines);
    assert_true(f->num > 300);
}

static void close_fitted(fitted *f) {
    free(f->lines);
    close_floor(&f->floor);
}

/* The ray of a pixel of the ideal plane, with the focal length of the fit. */
static void ray_of(const fitted *f, const double at[2], double ray[3]) {
    const double *p = f->floor.camera.params;
    for (int d = 0; d < 2; ++d)
        ray[d] = (at[d] - p[2 + d]) / (f->fit.focal * p[d]);
    ray[2] = 1.0;
}

/* In a photograph of the fit's own camera nothing moves, and rows are the lines' normals in
 * deviations. */
static void ideal_photographs_keep_the_lines(void **state) {
    psfm_context *ctx = *state;
    fitted f;
    psfm_line_points points;
    open_fitted(ctx, &f);
    psfm_camera camera = f.floor.camera;
    camera.params[0] *= f.fit.focal;
    camera.params[1] *= f.fit.focal;
    assert_ok(ctx, psfm_line_points_make(ctx, &f.floor.job, &f.fit, &camera, &points));
    assert_int_equal(points.num, f.num);
    for (size_t k = 0; k < points.num; ++k) {
        double sharp = sqrt(f.lines[k].weight) / f.fit.noise;
        for (int d = 0; d < 2; ++d) {
            assert_true(points.items[k].on[d] == f.lines[k].on[d]);
            assert_true(points.items[k].move[d] == f.lines[k].move[d]);
            assert_close(points.items[k].xy[d], f.lines[k].at[d], 1e-9);
            assert_close(points.items[k].row[d], sharp * f.lines[k].normal[d], 1e-8 * sharp);
        }
    }
    psfm_line_points_free(&points);
    assert_true(points.num == 0 && points.items == NULL);
    close_fitted(&f);
}

/* Through a lens that bends, the place is the ray's pixel; a pixel that moves there by a little is
 * as many deviations off its line as its ray is on the ideal plane. */
static void bent_photographs_bend_the_lines(void **state) {
    psfm_context *ctx = *state;
    const psfm_camera bent = {.model = PSFM_CAMERA_OPENCV,
                              .width = FLOOR_WIDTH,
                              .height = FLOOR_HEIGHT,
                              .params = {790.0, 815.0, 470.0, 280.0, -0.2, 0.05, 0.002, -0.001}};
    fitted f;
    psfm_line_points points;
    open_fitted(ctx, &f);
    assert_ok(ctx, psfm_line_points_make(ctx, &f.floor.job, &f.fit, &bent, &points));
    assert_int_equal(points.num, f.num);
    for (size_t k = 0; k < points.num; ++k) {
        const psfm_line_point *p = &points.items[k];
        const psfm_fitted_line *line = &f.lines[k];
        double ray[3], xy[2], step[2] = {0.05, -0.08}, sharp = sqrt(line->weight) / f.fit.noise;
        ray_of(&f, line->at, ray);
        assert_true(psfm_camera_project(&bent, ray, xy));
        for (int d = 0; d < 2; ++d) {
            assert_close(p->xy[d], xy[d], 1e-9);
            xy[d] += step[d];
        }
        assert_true(psfm_camera_unproject(&bent, xy, ray));
        double off = 0.0;
        for (int d = 0; d < 2; ++d) {
            const double *c = f.floor.camera.params;
            double at = f.fit.focal * c[d] * ray[d] / ray[2] + c[2 + d];
            off += sharp * line->normal[d] * (at - line->at[d]);
        }
        assert_close(p->row[0] * step[0] + p->row[1] * step[1], off, 1e-3 * sharp);
    }
    psfm_line_points_free(&points);
    close_fitted(&f);
}

/* The variance of a residual is one: a fit of another noise has other rows, but never sharper than
 * a twentieth of a pixel. */
static void rows_go_with_the_noise(void **state) {
    psfm_context *ctx = *state;
    static const double noise[4] = {0.4, 0.2, 0.05, 0.0}, factor[4] = {1.0, 2.0, 8.0, 8.0};
    fitted f;
    double first = 0.0;
    open_fitted(ctx, &f);
    for (int k = 0; k < 4; ++k) {
        psfm_line_points points;
        f.fit.noise = noise[k];
        assert_ok(ctx, psfm_line_points_make(ctx, &f.floor.job, &f.fit, &f.floor.camera, &points));
        double row = hypot(points.items[0].row[0], points.items[0].row[1]);
        first = k == 0 ? row : first;
        assert_close(row, factor[k] * first, 1e-9 * row);
        psfm_line_points_free(&points);
    }
    close_fitted(&f);
}

/* A pose that sees no line pixel has no line points. */
static void lost_poses_have_none(void **state) {
    psfm_context *ctx = *state;
    fitted f;
    psfm_line_points points;
    open_fitted(ctx, &f);
    f.fit.center[0] += 300.0;
    assert_ok(ctx, psfm_line_points_make(ctx, &f.floor.job, &f.fit, &f.floor.camera, &points));
    assert_int_equal(points.num, 0);
    psfm_line_points_free(&points);
    close_fitted(&f);
}

static int open_drawings(void **state) {
    *state = psfm_context_create();
    tennis = drawing_of(*state, "tennis");
    return 0;
}

static int close_drawings(void **state) {
    psfm_drawing_free(&tennis);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ideal_photographs_keep_the_lines),
        cmocka_unit_test(bent_photographs_bend_the_lines),
        cmocka_unit_test(rows_go_with_the_noise),
        cmocka_unit_test(lost_poses_have_none),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
