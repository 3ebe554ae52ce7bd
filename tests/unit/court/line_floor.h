/* The line pixels of a drawing on a floor, as a pinhole camera with a known pose sees them: without
 * an image, so exact but for the rounding to floats, or with noise of a known deviation. */
#ifndef PSFM_TEST_LINE_FLOOR_H
#define PSFM_TEST_LINE_FLOOR_H

#include "court/registration.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

enum { FLOOR_WIDTH = 960, FLOOR_HEIGHT = 540 };

static const psfm_camera floor_camera = {.model = PSFM_CAMERA_PINHOLE,
                                         .width = FLOOR_WIDTH,
                                         .height = FLOOR_HEIGHT,
                                         .params = {800.0, 810.0, 482.0, 271.0}};

/* Zero-initialise, then set what is known: the camera is floor_camera if it has no width. */
typedef struct {
    psfm_camera camera;
    double R[9], center[3]; /* that the line pixels are seen with */
    double noise;           /* pixels, across the lines */
    size_t piece;           /* line pixels in a row that share their error; 0: each has its own */
    double error;           /* of the piece at hand */
    uint64_t seed;
    uint32_t dark;   /* a bit per layer: its lines are dark */
    uint64_t hidden; /* a bit per part */
    psfm_line_pixels pixels;
    psfm_line_evidence evidence;
    psfm_search_plan plan;
    psfm_court_claims claims;
    psfm_court_job job;
} line_floor;

static inline void aim_floor(line_floor *f, double x, double y, double z, double at_x,
                             double at_y) {
    court_shot shot;
    aim(&shot, x, y, z, at_x, at_y);
    memcpy(f->R, shot.R, sizeof f->R);
    memcpy(f->center, shot.center, sizeof f->center);
}

/* Pixel of a place of the floor, and whether it is in the image. */
static inline bool floor_pixel(const psfm_camera *camera, const double R[9], const double center[3],
                               const double at[2], double xy[2]) {
    double X[3] = {at[0] - center[0], at[1] - center[1], -center[2]}, q[3];
    psfm_mat3_mul_vec(R, X, q);
    for (int d = 0; d < 2; ++d)
        xy[d] = camera->params[d] * q[d] / q[2] + camera->params[2 + d];
    return q[2] > 0.5 && xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] < (double)camera->width &&
           xy[1] < (double)camera->height;
}

static inline void add_floor_pixel(line_floor *f, psfm_rng *rng, const double xy[2],
                                   const double ahead[2], bool dark) {
    double dx = ahead[0] - xy[0], dy = ahead[1] - xy[1], length = hypot(dx, dy);
    double sign = dy < 0.0 || (dy == 0.0 && dx < 0.0) ? -1.0 : 1.0;
    if (f->piece == 0 || f->pixels.num % f->piece == 0)
        f->error = f->noise * psfm_rng_normal(rng);
    double x = xy[0] - f->error * dy / length, y = xy[1] + f->error * dx / length;
    if (!(x >= 0.0 && y >= 0.0 && x < f->pixels.width && y < f->pixels.height))
        return;
    f->pixels.pixels[f->pixels.num++] = (psfm_line_pixel){.x = (float)x,
                                                          .y = (float)y,
                                                          .tx = (float)(sign * dx / length),
                                                          .ty = (float)(sign * dy / length),
                                                          .strength = 60.0F,
                                                          .polarity = dark ? -1 : 1};
}

/* One line pixel for each pixel that the part crosses and that has none yet. */
static inline void draw_floor_part(line_floor *f, const psfm_drawing_part *part, psfm_rng *rng,
                                   uint8_t *used) {
    int steps = (int)(120.0 * psfm_drawing_part_length(part)) + 2;
    for (int k = 0; k < steps; ++k) {
        double at[2], next[2], xy[2], ahead[2];
        psfm_drawing_part_at(part, (k + 0.5) / steps, at);
        psfm_drawing_part_at(part, (k + 0.51) / steps, next);
        bool is_seen = floor_pixel(&f->camera, f->R, f->center, at, xy);
        floor_pixel(&f->camera, f->R, f->center, next, ahead);
        size_t cell = is_seen ? (size_t)xy[1] * (size_t)f->pixels.width + (size_t)xy[0] : 0;
        if (!is_seen || used[cell] > 0)
            continue;
        used[cell] = 1;
        add_floor_pixel(f, rng, xy, ahead, (f->dark >> part->layer & 1U) != 0);
    }
}

/* Fills the line pixels; what was there is freed. */
static inline void draw_floor(line_floor *f, const psfm_drawing *drawing) {
    psfm_rng rng = psfm_rng_make(f->seed, PSFM_RNG_TEST, 9, 1);
    if (f->camera.width == 0)
        f->camera = floor_camera;
    size_t num = (size_t)(f->camera.width * f->camera.height);
    uint8_t *used = calloc(num, 1);
    psfm_line_pixels_free(&f->pixels);
    f->pixels = (psfm_line_pixels){.width = (int)f->camera.width,
                                   .height = (int)f->camera.height,
                                   .pixels = malloc(num * sizeof *f->pixels.pixels),
                                   .valid = malloc(num)};
    assert_true(used != NULL && f->pixels.pixels != NULL && f->pixels.valid != NULL);
    memset(f->pixels.valid, 1, num);
    for (size_t k = 0; k < drawing->num_parts; ++k)
        if (k >= 64 || !(f->hidden >> k & 1U))
            draw_floor_part(f, &drawing->parts[k], &rng, used);
    free(used);
}

/* Evidence of the line pixels, and the job of fitting a drawing to them. */
static inline void open_floor(psfm_context *ctx, line_floor *f, const psfm_drawing *sought) {
    double size = psfm_drawing_size(sought);
    assert_ok(ctx, psfm_line_evidence_init(ctx, &f->pixels, &f->evidence));
    assert_ok(ctx, psfm_search_plan_init(ctx, sought, 0.05 * size, size, &f->plan));
    assert_ok(ctx, psfm_court_claims_init(ctx, &f->evidence, &f->claims));
    f->job = (psfm_court_job){&f->plan, &f->evidence, &f->camera, false, &f->claims};
}

static inline void close_floor(line_floor *f) {
    psfm_court_claims_free(&f->claims);
    psfm_search_plan_free(&f->plan);
    psfm_line_evidence_free(&f->evidence);
    psfm_line_pixels_free(&f->pixels);
    *f = (line_floor){.noise = 0.0};
}

/* A camera beside the court sees `painted`, and looks for `sought`. */
static inline void open_beside(psfm_context *ctx, const psfm_drawing *painted,
                               const psfm_drawing *sought, line_floor *f) {
    aim_floor(f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(f, painted);
    open_floor(ctx, f, sought);
}

/* The true pose as a guess, off by `turn` radians about each axis of the camera and `away` metres
 * along each of the world's. */
static inline psfm_court_guess guess_floor(const line_floor *f, double turn, double away) {
    const double w[3] = {turn, -turn, turn};
    psfm_court_guess guess = {.focal = 1.0};
    double off[9];
    psfm_rotation_exp(w, off);
    psfm_mat3_mul(off, f->R, guess.R);
    for (int d = 0; d < 3; ++d)
        guess.center[d] = f->center[d] + (d == 1 ? -away : away);
    return guess;
}

/* A view with the line pixels of a floor, which it takes over; free it. */
static inline void view_floor(psfm_context *ctx, line_floor *f, psfm_focal_use focal,
                              psfm_court_view *view) {
    enum { FRAMES = 5 };
    *view = (psfm_court_view){
        .camera = f->camera, .ideal = f->camera, .focal = focal, .pixels = f->pixels};
    f->pixels = (psfm_line_pixels){.width = 0};
    view->frames = malloc(FRAMES * sizeof *view->frames);
    assert_non_null(view->frames);
    assert_ok(ctx, psfm_segments_find(ctx, &view->pixels, 18.0, &view->segments));
    assert_ok(ctx, psfm_line_evidence_init(ctx, &view->pixels, &view->evidence));
    assert_ok(ctx, psfm_court_frames_find(ctx, &view->segments, &view->ideal, false, FRAMES,
                                          view->frames, &view->num_frames));
}

/* The drawing of a court by name; free it. */
static inline psfm_drawing drawing_of(psfm_context *ctx, const char *name) {
    psfm_court court;
    psfm_drawing drawing;
    assert_true(psfm_court_get(name, &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    return drawing;
}

#endif
