/* From a photograph to a pose over a drawing: line pixels on an ideal camera's plane, frames from
 * the straight ones, guesses of the camera's place in each frame, a fit of the best guesses, and a
 * verdict on the best fit. It is accepted only if it is strong, if the lines confirm enough of what
 * should be seen, if they determine it, and if no other pose comes near it: a drawing that is not
 * on the floor fits many places, and all of them about equally well. */
#include "court/registration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "court/court_evidence.h"
#include "images/image/resize.h"
#include "lines/undistort.h"

#define MIN_SEGMENT 18.0   /* pixels */
#define FRAMES 5           /* orientations that are searched with a known focal length */
#define FREE_FRAMES 12     /* and with an unknown one, which leaves more of them open */
#define FITTED 16          /* best guesses that are fitted with a known focal length */
#define FREE_FITTED 80     /* and with an unknown one */
#define MIN_SEEN 40.0      /* pixels of a line that count as seeing it */
#define RIVAL 1.1          /* so many times the score makes a similar drawing the better one */
#define MUCH_BETTER 1.1    /* so many times the score makes another focal length the right one */
#define OTHER_FOCAL 0.03   /* difference of the logarithms */
#define FREE_LINES 2       /* further lines that a drawing of unknown size must show, one a side */
#define FREE_RUNNER_UP 0.8 /* and what the runner-up may reach, as a share of what others may */
#define SAME_LINES 0.02    /* widths of the image by which the same lines may be apart */

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_court_options, max_image_size, "max-image-size", 1600, 200, 65000,
                    "longer side to which larger photographs are shrunk, in pixels"),
    PSFM_OPTION_DOUBLE(psfm_court_options, min_height, "min-height", 0.0, 0.0, 10000.0,
                       "lowest height of a camera above the drawing, in metres; 0: a twentieth of "
                       "the drawing's diagonal"),
    PSFM_OPTION_DOUBLE(psfm_court_options, max_height, "max-height", 0.0, 0.0, 10000.0,
                       "largest height, in metres; 0: the drawing's diagonal"),
    PSFM_OPTION_DOUBLE(psfm_court_options, min_score, "min-score", 1000.0, 0.0, 1e9,
                       "lowest score of a registration: pixels of line times log likelihood"),
    PSFM_OPTION_INT(psfm_court_options, min_lines, "min-lines", 7, 0, 1000,
                    "distinct lines and arcs that must be confirmed; four fifths of the drawing's "
                    "are enough if it has few"),
    PSFM_OPTION_DOUBLE(psfm_court_options, min_hit, "min-hit", 0.33, 0.0, 1.0,
                       "share of the drawing in the photograph that lines must confirm"),
    PSFM_OPTION_DOUBLE(psfm_court_options, max_runner_up, "max-runner-up", 0.55, 0.0, 1.0,
                       "score of the best other pose, as a share of the best, from which a "
                       "registration is ambiguous"),
    PSFM_OPTION_DOUBLE(psfm_court_options, max_sigma, "max-sigma", 0.004, 0.0, 1.0,
                       "largest standard deviation of the camera's place, as a share of the "
                       "drawing's diagonal"),
    PSFM_OPTION_BOOL(psfm_court_options, distortion, "distortion", false,
                     "find the distortion of lenses from lines that come out curved"),
    PSFM_OPTION_DOUBLE(psfm_court_options, tolerance, "tolerance", 0.0, 0.0, 10.0,
                       "standard deviation in metres by which a real court's length and width are "
                       "off the book; a model of several photographs finds them; 0: not at all"),
};

const psfm_option_table psfm_court_option_table = PSFM_OPTION_TABLE("court", rows);

void psfm_court_options_init(psfm_court_options *options) {
    psfm_options_init(&psfm_court_option_table, options);
    psfm_options_init(&psfm_line_option_table, &options->line);
}

static const psfm_court_options *or_defaults(const psfm_court_options *options,
                                             psfm_court_options *defaults) {
    psfm_court_options_init(defaults);
    return options == NULL ? defaults : options;
}

/* ---- the photograph ---- */

/* The camera of a photograph of which nothing is known; its focal length is a start only. */
static psfm_camera unknown_camera(const psfm_image *image) {
    double side = image->width > image->height ? image->width : image->height;
    return (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                         .width = (uint64_t)image->width,
                         .height = (uint64_t)image->height,
                         .params = {side, 0.5 * image->width, 0.5 * image->height}};
}

/* Line pixels of the photograph, shrunk if it is large, as an ideal camera sees them. */
static psfm_status find_pixels(psfm_context *ctx, const psfm_image *image,
                               const psfm_court_options *options, psfm_court_view *view) {
    psfm_image small = {0};
    psfm_camera camera = view->camera;
    const psfm_image *use = image;
    int width, height;
    psfm_status status = PSFM_OK;
    psfm_resize_dimensions(image->width, image->height, options->max_image_size, &width, &height);
    if (width != image->width || height != image->height) {
        status = psfm_image_shrink(ctx, image, width, height, &small);
        psfm_camera_scale(&camera, (uint64_t)width, (uint64_t)height);
        use = &small;
    }
    if (status == PSFM_OK)
        status = psfm_line_pixels_find(ctx, use, &options->line, &view->pixels);
    if (status == PSFM_OK)
        status = psfm_line_pixels_rectify(ctx, &camera, &view->pixels, &view->ideal);
    psfm_image_free(&small);
    return status;
}

/* The frames of the segments, in place of any earlier ones. */
static psfm_status find_frames(psfm_context *ctx, psfm_court_view *view) {
    bool free_focal = view->focal == PSFM_FOCAL_SEARCH;
    size_t max = free_focal ? FREE_FRAMES : FRAMES;
    free(view->frames);
    view->frames = NULL;
    view->num_frames = 0;
    psfm_status status = PSFM_ALLOC(ctx, max, &view->frames);
    if (status == PSFM_OK)
        status = psfm_court_frames_find(ctx, &view->segments, &view->ideal, free_focal, max,
                                        view->frames, &view->num_frames);
    return status;
}

psfm_status psfm_court_view_init(psfm_context *ctx, const psfm_image *image,
                                 const psfm_camera *camera, psfm_focal_use focal,
                                 const psfm_court_options *options, psfm_court_view *view) {
    psfm_court_options defaults;
    const psfm_court_options *o = or_defaults(options, &defaults);
    *view = (psfm_court_view){.focal = camera == NULL ? PSFM_FOCAL_SEARCH : focal};
    view->camera = camera == NULL ? unknown_camera(image) : *camera;
    psfm_status status = find_pixels(ctx, image, o, view);
    if (status == PSFM_OK)
        status = psfm_segments_find(ctx, &view->pixels, MIN_SEGMENT, &view->segments);
    if (status == PSFM_OK)
        status = psfm_line_evidence_init(ctx, &view->pixels, &view->evidence);
    return status == PSFM_OK ? find_frames(ctx, view) : status;
}

static void scale_focal(double factor, psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    camera->params[info->focal[0]] *= factor;
    if (info->focal[1] != info->focal[0])
        camera->params[info->focal[1]] *= factor;
}

psfm_status psfm_court_view_scale_focal(psfm_context *ctx, double factor, psfm_court_view *view) {
    scale_focal(factor, &view->camera);
    scale_focal(factor, &view->ideal);
    view->focal = PSFM_FOCAL_REFINE;
    return find_frames(ctx, view);
}

void psfm_court_view_swap(psfm_court_view *a, psfm_court_view *b) {
    psfm_court_view swap = *a;
    *a = *b;
    *b = swap;
    a->evidence.pixels = &a->pixels;
    b->evidence.pixels = &b->pixels;
}

void psfm_court_view_free(psfm_court_view *view) {
    psfm_line_pixels_free(&view->pixels);
    psfm_segments_free(&view->segments);
    psfm_line_evidence_free(&view->evidence);
    free(view->frames);
    *view = (psfm_court_view){0};
}

/* ---- poses ---- */

static void find_translation(const double R[9], const double center[3], double t[3]) {
    psfm_mat3_mul_vec(R, center, t);
    psfm_scale3(-1.0, t, t);
}

/* The search for one drawing. */
typedef struct {
    const psfm_court_view *view;
    const psfm_court_options *options;
    psfm_search_plan plan;
    psfm_court_claims claims;
    psfm_court_job job;
    double middle[2];
    int turns[4], num_turns;
    psfm_court_guess *guesses;
    size_t num_guesses;
    psfm_court_fit fits[FREE_FITTED]; /* best first, no two the same but for symmetry */
    size_t num_fits;
} attempt;

/* Whether two poses, one of them turned as the drawing allows, put it onto the same lines. */
static bool is_same_pose(const attempt *a, const psfm_court_fit *p, const psfm_court_fit *q) {
    for (int k = 0; k < a->num_turns; ++k) {
        psfm_court_fit turned = *q;
        psfm_turn_pose(a->middle, a->turns[k], q->R, q->center, turned.R, turned.center);
        if (psfm_court_fit_offset(&a->job, p, &turned) < SAME_LINES * a->view->evidence.width)
            return true;
    }
    return false;
}

/* Of equal poses the better stays. */
static void add_fit(attempt *a, const psfm_court_fit *fit) {
    size_t at = 0, kept;
    while (at < a->num_fits && a->fits[at].score >= fit->score)
        if (is_same_pose(a, &a->fits[at++], fit))
            return;
    kept = at;
    for (size_t k = at; k < a->num_fits; ++k)
        if (!is_same_pose(a, &a->fits[k], fit))
            a->fits[kept++] = a->fits[k];
    if (at >= FREE_FITTED)
        return;
    kept = kept < FREE_FITTED ? kept : FREE_FITTED - 1;
    memmove(a->fits + at + 1, a->fits + at, (kept - at) * sizeof *a->fits);
    a->fits[at] = *fit;
    a->num_fits = kept + 1;
}

static int best_guess_first(const void *p, const void *q) {
    const psfm_court_guess *a = p, *b = q;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    for (int d = 0; d < 3; ++d)
        if (a->center[d] != b->center[d])
            return a->center[d] < b->center[d] ? -1 : 1;
    return 0;
}

static psfm_status guess_poses(psfm_context *ctx, attempt *a) {
    const psfm_court_view *v = a->view;
    const psfm_search_scene scene = {&v->evidence, &v->segments, &v->ideal};
    size_t most = (size_t)PSFM_SEARCH_QUARTERS * PSFM_GUESSES * v->num_frames;
    psfm_status status = PSFM_ALLOC(ctx, most, &a->guesses);
    for (size_t k = 0; k < v->num_frames && status == PSFM_OK; ++k) {
        size_t num = 0;
        status = psfm_court_search(ctx, &a->plan, &scene, &v->frames[k],
                                   a->guesses + a->num_guesses, &num);
        a->num_guesses += num;
    }
    if (status == PSFM_OK)
        qsort(a->guesses, a->num_guesses, sizeof *a->guesses, best_guess_first);
    return status;
}

static void fit_poses(attempt *a) {
    size_t max = a->view->focal == PSFM_FOCAL_SEARCH ? FREE_FITTED : FITTED;
    for (size_t k = 0; k < a->num_guesses && k < max; ++k) {
        psfm_court_fit fit;
        psfm_court_guess_size(&a->job, &a->guesses[k]);
        if (psfm_court_fit_guess(&a->job, &a->guesses[k], &fit) &&
            fit.center[2] > a->plan.min_height && fit.center[2] < a->plan.max_height)
            add_fit(a, &fit);
    }
}

/* Counts the distinct lines that are confirmed; *enough tells whether they are enough. A pose has
 * six unknowns, a drawing's size two more, and a few lines of any floor can be met by choosing
 * them. */
static psfm_status count_lines(psfm_context *ctx, const attempt *a, psfm_court_pose *pose,
                               bool *enough) {
    const psfm_drawing *drawing = a->plan.drawing;
    double *visible = NULL, *hit = NULL;
    uint32_t *ids = NULL, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, drawing->num_parts, &ids);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 2 * drawing->num_parts, &visible);
    if (status == PSFM_OK) {
        num = psfm_drawing_number_lines(drawing, ids);
        hit = visible + num;
        for (size_t k = 0; k < drawing->num_parts; ++k) {
            visible[ids[k]] += pose->part_visible[k];
            hit[ids[k]] += pose->part_hit[k];
        }
        for (uint32_t k = 0; k < num; ++k)
            pose->num_lines += visible[k] > MIN_SEEN && hit[k] >= 0.5 * visible[k];
        int least = a->options->min_lines + (psfm_drawing_is_free(drawing) ? FREE_LINES : 0);
        *enough = pose->num_lines >= fmin(least, ceil(0.8 * num));
    }
    free(visible);
    free(ids);
    return status;
}

static psfm_court_verdict judge_pose(const attempt *a, const psfm_court_pose *pose,
                                     bool enough_lines) {
    const psfm_court_options *o = a->options;
    double rival = psfm_drawing_is_free(a->plan.drawing) ? FREE_RUNNER_UP : 1.0;
    if (pose->score < o->min_score || !enough_lines)
        return PSFM_COURT_WEAK;
    if (pose->hit < o->min_hit)
        return PSFM_COURT_SPARSE;
    if (pose->runner_up > rival * o->max_runner_up * pose->score)
        return PSFM_COURT_AMBIGUOUS;
    if (psfm_norm3(pose->sigma_center) > o->max_sigma * a->plan.size)
        return PSFM_COURT_LOOSE;
    return PSFM_COURT_ACCEPTED;
}

/* A guess with the focal length times `zoom`, from as much further away that what is in the middle
 * of the photograph keeps its size. */
static psfm_court_guess zoom_guess(const psfm_court_fit *fit, double zoom) {
    psfm_court_guess guess = {.focal = zoom * fit->focal};
    const double *ahead = fit->R + 6;
    double reach = ahead[2] < 0.0 ? fit->center[2] / -ahead[2] : 0.0;
    memcpy(guess.R, fit->R, sizeof guess.R);
    memcpy(guess.grow, fit->grow, sizeof guess.grow);
    psfm_axpy3(fit->center, (1.0 - zoom) * reach, ahead, guess.center);
    return guess;
}

/* Whether the pose, let free, goes to quite another focal length and fits much better there: then
 * the given one is wrong, and the pose with it. A fit may get stuck half-way, so it starts at
 * several. */
static bool doubts_focal(const attempt *a, const psfm_court_fit *best) {
    static const double zooms[] = {1.0, 0.92, 0.96, 1.04, 1.08};
    psfm_court_job job = a->job;
    bool doubts = false;
    job.free_focal = true;
    for (size_t k = 0; k < sizeof zooms / sizeof *zooms && !doubts; ++k) {
        psfm_court_guess guess = zoom_guess(best, zooms[k]);
        psfm_court_fit fit;
        doubts = psfm_court_fit_guess(&job, &guess, &fit) &&
                 fit.score > MUCH_BETTER * best->score &&
                 fabs(log(fit.focal / best->focal)) > OTHER_FOCAL;
    }
    return doubts;
}

static psfm_status report_pose(psfm_context *ctx, const attempt *a, psfm_court_pose *pose) {
    const psfm_court_fit *best = &a->fits[0];
    size_t num_parts = a->plan.drawing->num_parts;
    bool enough_lines = false;
    memcpy(pose->R, best->R, sizeof pose->R);
    memcpy(pose->center, best->center, sizeof pose->center);
    find_translation(pose->R, pose->center, pose->t);
    pose->camera = a->view->camera;
    scale_focal(best->focal, &pose->camera);
    pose->score = best->score;
    pose->runner_up = a->num_fits > 1 ? fmax(a->fits[1].score, 0.0) : 0.0;
    pose->hit = best->hit;
    pose->visible_px = best->visible;
    pose->rms_px = best->rms;
    pose->is_dark = (best->dark & 1U) != 0;
    pose->sigma_rotation_deg = psfm_degrees(psfm_norm3(best->sigma_turn));
    memcpy(pose->sigma_center, best->sigma_center, sizeof pose->sigma_center);
    pose->sigma_focal = best->sigma_focal;
    memcpy(pose->sigma_size, best->sigma_grow, sizeof pose->sigma_size);
    for (int d = 0; d < 2; ++d)
        pose->size[d] = a->plan.drawing->size[d] + best->grow[d];
    memcpy(pose->turns, a->turns, sizeof pose->turns);
    pose->num_turns = a->num_turns;
    psfm_status status = PSFM_ALLOC(ctx, num_parts, &pose->part_visible);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_parts, &pose->part_hit);
    if (status != PSFM_OK)
        return status;
    psfm_court_fit_parts(&a->job, best, pose->part_visible, pose->part_hit);
    status = count_lines(ctx, a, pose, &enough_lines);
    if (status == PSFM_OK)
        status = psfm_line_points_make(ctx, &a->job, best, &pose->camera, &pose->lines);
    pose->verdict = judge_pose(a, pose, enough_lines);
    if (pose->verdict == PSFM_COURT_ACCEPTED && a->view->focal == PSFM_FOCAL_FIXED &&
        doubts_focal(a, best))
        pose->verdict = PSFM_COURT_FOCAL;
    return status;
}

/* Makes the drawing ready, with the heights that the options allow. */
static psfm_status open_attempt(psfm_context *ctx, const psfm_court_view *view,
                                const psfm_drawing *drawing, attempt *a) {
    double size = psfm_drawing_size(drawing), low = a->options->min_height;
    double high = a->options->max_height;
    a->view = view;
    a->job = (psfm_court_job){&a->plan, &view->evidence, &view->ideal,
                              view->focal != PSFM_FOCAL_FIXED, &a->claims};
    psfm_drawing_middle(drawing, a->middle);
    a->num_turns = psfm_drawing_turns(drawing, a->turns);
    psfm_status status = psfm_court_claims_init(ctx, &view->evidence, &a->claims);
    return status != PSFM_OK ? status
                             : psfm_search_plan_init(ctx, drawing, low > 0.0 ? low : 0.05 * size,
                                                     high > 0.0 ? high : size, &a->plan);
}

static void close_attempt(attempt *a) {
    free(a->guesses);
    psfm_court_claims_free(&a->claims);
    psfm_search_plan_free(&a->plan);
}

psfm_status psfm_court_register(psfm_context *ctx, const psfm_court_view *view,
                                const psfm_drawing *drawing, const psfm_court_options *options,
                                psfm_court_pose *pose) {
    psfm_court_options defaults;
    attempt a = {.options = or_defaults(options, &defaults)};
    *pose = (psfm_court_pose){.verdict = PSFM_COURT_NO_LINES};
    psfm_status status = open_attempt(ctx, view, drawing, &a);
    if (status == PSFM_OK && view->num_frames > 0) {
        pose->verdict = PSFM_COURT_NO_FIT;
        status = guess_poses(ctx, &a);
        if (status == PSFM_OK)
            fit_poses(&a);
        if (status == PSFM_OK && a.num_fits > 0)
            status = report_pose(ctx, &a, pose);
    }
    close_attempt(&a);
    return status;
}

/* A pose as a guess for a view and a drawing. */
static psfm_court_guess guess_of(const psfm_court_view *view, const psfm_drawing *drawing,
                                 const psfm_court_pose *pose) {
    psfm_court_guess guess = {.focal = 1.0};
    int own = psfm_camera_model_get(pose->camera.model)->focal[0];
    int given = psfm_camera_model_get(view->camera.model)->focal[0];
    guess.focal = pose->camera.params[own] / view->camera.params[given];
    memcpy(guess.R, pose->R, sizeof guess.R);
    memcpy(guess.center, pose->center, sizeof guess.center);
    for (int d = 0; d < 2 && psfm_drawing_is_free(drawing); ++d)
        guess.grow[d] = pose->size[d] - drawing->size[d];
    return guess;
}

psfm_status psfm_court_challenge(psfm_context *ctx, const psfm_court_view *view,
                                 const psfm_drawing *rival, const psfm_court_options *options,
                                 psfm_court_pose *pose) {
    psfm_court_options defaults;
    attempt a = {.options = or_defaults(options, &defaults)};
    psfm_court_fit fit;
    if (pose->verdict != PSFM_COURT_ACCEPTED)
        return PSFM_OK;
    psfm_court_guess guess = guess_of(view, rival, pose);
    psfm_status status = open_attempt(ctx, view, rival, &a);
    if (status == PSFM_OK && psfm_court_fit_guess(&a.job, &guess, &fit) &&
        fit.score > RIVAL * pose->score)
        pose->verdict = PSFM_COURT_RIVAL;
    close_attempt(&a);
    return status;
}

psfm_status psfm_court_refit(psfm_context *ctx, const psfm_court_view *view,
                             const psfm_drawing *drawing, const psfm_court_options *options,
                             const psfm_court_pose *start, psfm_court_pose *pose) {
    psfm_court_options defaults;
    attempt a = {.options = or_defaults(options, &defaults)};
    psfm_court_guess guess = guess_of(view, drawing, start);
    *pose = (psfm_court_pose){.verdict = PSFM_COURT_NO_FIT};
    psfm_status status = open_attempt(ctx, view, drawing, &a);
    if (status == PSFM_OK && psfm_court_fit_guess(&a.job, &guess, &a.fits[0])) {
        a.fits[1].score = start->runner_up;
        a.num_fits = 2;
        status = report_pose(ctx, &a, pose);
    }
    close_attempt(&a);
    return status;
}

void psfm_court_pose_free(psfm_court_pose *pose) {
    free(pose->part_visible);
    free(pose->part_hit);
    pose->part_visible = pose->part_hit = NULL;
    psfm_line_points_free(&pose->lines);
}

const char *psfm_court_verdict_text(psfm_court_verdict verdict) {
    switch (verdict) {
    case PSFM_COURT_ACCEPTED:
        return "registered";
    case PSFM_COURT_NO_LINES:
        return "too few straight lines";
    case PSFM_COURT_NO_FIT:
        return "no pose fits the drawing";
    case PSFM_COURT_WEAK:
        return "too few lines fit the drawing";
    case PSFM_COURT_SPARSE:
        return "too little of the drawing is confirmed by lines";
    case PSFM_COURT_AMBIGUOUS:
        return "another pose fits nearly as well";
    case PSFM_COURT_LOOSE:
        return "its lines leave the pose too free";
    case PSFM_COURT_RIVAL:
        return "a similar court fits better";
    case PSFM_COURT_FOCAL:
        return "another focal length fits much better";
    case PSFM_COURT_POSED:
        return "posed by matches, confirmed by lines";
    }
    return "unknown";
}
