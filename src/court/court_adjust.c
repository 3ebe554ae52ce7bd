/* The observations of the structure's tracks come first, those of lines behind them: each is of a
 * point of its own, a known place of the drawing, and says only how far that is from its line, to
 * one side. Lines are weighted by how much the segments of lines of their photograph disagree
 * (court/pose_fit.c), keypoints by their residuals, so that both are in one unit. */
#include "court/court_adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/linalg/order_statistics.h"
#include "core/refine/focal_stability.h"
#include "core/refine/observation_noise.h"
#include "core/refine/refined_quality.h"

#define MEDIAN_RADIUS 1.1774 /* of a plane error of unit standard deviation in each coordinate */
#define SMALLEST_SIGMA 0.05  /* pixels */
#define LINES_ALONE 3.0      /* scale of the loss, in sigmas, where there are only lines */

typedef struct {
    const psfm_refine_options *options;
    psfm_match_set *set;
    psfm_court_evidence *court;
    psfm_pose_solution *s;
    psfm_refined *out;
    bool has_info;                   /* a view knows how well its keypoints are known */
    size_t num_points, num_elements; /* of the structure */
    size_t num_lines;                /* as many points and observations */
    uint32_t *image_camera;
    psfm_camera_prior *priors;
    double (*points)[3];
    int32_t *point_plane;
    bool *point_fixed;
    double (*move)[2]; /* of each point with the drawing's size */
    psfm_bundle_shape shape;
    uint32_t *obs_image, *obs_point;
    double (*obs_xy)[2], (*obs_sqrt_info)[3];
    psfm_bundle_plane *planes;
} adjustment;

/* Whether the lines of a view take part. */
static bool uses_lines(const adjustment *a, uint32_t v) {
    return a->court->agrees[v] && psfm_has_pose(&a->s->poses, v);
}

static size_t count_lines(const adjustment *a) {
    const psfm_court_evidence *court = a->court;
    size_t num = 0;
    for (uint32_t v = 0; v < court->num_views; ++v)
        if (uses_lines(a, v))
            num += court->poses[v].lines.num;
    return num;
}

static psfm_status allocate_adjustment(psfm_context *ctx, adjustment *a) {
    const psfm_match_set *set = a->set;
    size_t points = a->num_points + a->num_lines, n = a->num_elements + a->num_lines;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, set->num_views, &a->image_camera)) ||
        (status = PSFM_ALLOC(ctx, points, &a->points)) ||
        (status = PSFM_ALLOC(ctx, points, &a->point_plane)) ||
        (status = PSFM_ALLOC(ctx, points, &a->point_fixed)) ||
        (status = PSFM_ALLOC(ctx, points, &a->move)) ||
        (status = PSFM_ALLOC(ctx, n, &a->obs_image)) ||
        (status = PSFM_ALLOC(ctx, n, &a->obs_point)) || (status = PSFM_ALLOC(ctx, n, &a->obs_xy)) ||
        (status = PSFM_ALLOC(ctx, n, &a->obs_sqrt_info)) ||
        (status = PSFM_ALLOC(ctx, a->out->planes.num_planes, &a->planes)))
        return status;
    return psfm_camera_priors_make(ctx, set, &a->options->bundle, &a->priors);
}

static void release_adjustment(adjustment *a) {
    free(a->image_camera);
    free(a->priors);
    free(a->points);
    free(a->point_plane);
    free(a->point_fixed);
    free(a->move);
    free(a->obs_image);
    free(a->obs_point);
    free(a->obs_xy);
    free(a->obs_sqrt_info);
    free(a->planes);
}

/* Points and observations of the structure. */
static void list_points(adjustment *a) {
    static const double pixel[3] = {1.0, 0.0, 1.0};
    const psfm_structure *st = &a->out->structure;
    const int32_t *plane = a->out->planes.point_plane;
    for (size_t p = 0; p < a->num_points; ++p) {
        memcpy(a->points[p], st->points[p], sizeof *a->points);
        a->point_plane[p] = plane == NULL ? -1 : plane[p];
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k) {
            const psfm_view *view = &a->set->views[st->tracks.view[k]];
            uint32_t keypoint = st->tracks.keypoint[k];
            a->obs_image[k] = st->tracks.view[k];
            a->obs_point[k] = (uint32_t)p;
            memcpy(a->obs_xy[k], view->keypoints[keypoint], sizeof *a->obs_xy);
            memcpy(a->obs_sqrt_info[k], view->sqrt_info == NULL ? pixel : view->sqrt_info[keypoint],
                   sizeof pixel);
        }
    }
}

/* The lines behind them; `unit` is the standard deviation of a keypoint in its own unit. */
static void list_lines(adjustment *a, double unit) {
    const psfm_court_evidence *court = a->court;
    size_t p = a->num_points, k = a->num_elements;
    for (uint32_t v = 0; v < court->num_views; ++v) {
        const psfm_line_points *lines = &court->poses[v].lines;
        for (size_t i = 0; uses_lines(a, v) && i < lines->num; ++i, ++p, ++k) {
            const psfm_line_point *line = &lines->items[i];
            memcpy(a->points[p], line->on, sizeof line->on);
            a->points[p][2] = 0.0;
            a->point_plane[p] = -1;
            a->point_fixed[p] = true;
            memcpy(a->move[p], line->move, sizeof line->move);
            a->obs_image[k] = v;
            a->obs_point[k] = (uint32_t)p;
            memcpy(a->obs_xy[k], line->xy, sizeof line->xy);
            a->obs_sqrt_info[k][0] = unit * line->row[0];
            a->obs_sqrt_info[k][1] = unit * line->row[1];
            a->obs_sqrt_info[k][2] = 0.0;
        }
    }
}

/* What is known of the drawing's size, in the unit of the residuals. */
static void prepare_shape(adjustment *a, double unit) {
    const psfm_court_evidence *court = a->court;
    a->shape.move = (const double(*)[2])a->move;
    for (int d = 0; d < 2; ++d)
        a->shape.sigma[d] = hypot(court->options.tolerance, court->sigma_size[d]) / unit;
}

/* The size that was found, and the lines where they are then. */
static void take_size(adjustment *a) {
    psfm_court_evidence *court = a->court;
    size_t p = a->num_points;
    double size[2];
    for (int d = 0; d < 2; ++d)
        size[d] = court->expected_size[d] + a->shape.value[d];
    psfm_drawing_resize(court->drawing, size);
    for (uint32_t v = 0; v < court->num_views; ++v) {
        psfm_line_points *lines = &court->poses[v].lines;
        for (size_t i = 0; uses_lines(a, v) && i < lines->num; ++i, ++p)
            memcpy(lines->items[i].on, a->points[p], sizeof lines->items[i].on);
    }
}

static psfm_bundle_problem make_problem(adjustment *a, bool with_lines) {
    const psfm_match_set *set = a->set;
    size_t lines = with_lines ? a->num_lines : 0;
    return (psfm_bundle_problem){.num_cameras = set->num_cameras,
                                 .cameras = a->out->cameras,
                                 .camera_priors = a->priors,
                                 .num_images = set->num_views,
                                 .image_camera = a->image_camera,
                                 .cam_from_world = a->s->poses.cam_from_world,
                                 .centers = a->s->poses.center,
                                 .num_points = a->num_points + lines,
                                 .points = a->points,
                                 .point_plane = a->point_plane,
                                 .point_fixed = a->point_fixed,
                                 .shape = with_lines ? &a->shape : NULL,
                                 .num_planes = a->out->planes.num_planes,
                                 .planes = a->planes,
                                 .num_observations = a->num_elements + lines,
                                 .obs_image = a->obs_image,
                                 .obs_point = a->obs_point,
                                 .obs_xy = (const double(*)[2])a->obs_xy,
                                 .obs_sqrt_info = (const double(*)[3])a->obs_sqrt_info};
}

static void prepare_views(adjustment *a) {
    const psfm_match_set *set = a->set;
    for (size_t v = 0; v < set->num_views; ++v)
        a->image_camera[v] = set->views[v].camera_idx;
    for (uint32_t k = 0; k < a->out->planes.num_planes; ++k) {
        const psfm_scene_plane *plane = &a->out->planes.planes[k];
        memcpy(a->planes[k].normal, plane->normal, sizeof plane->normal);
        a->planes[k].distance = plane->distance;
    }
    list_points(a);
}

/* The standard deviation of a keypoint in the unit of its residual, and the scale of the loss. */
static psfm_status measure_keypoints(psfm_context *ctx, adjustment *a, double *unit,
                                     double *loss_scale) {
    psfm_bundle_problem problem = make_problem(a, false);
    double *error_px = NULL;
    size_t num_posed = 0, num = a->num_elements;
    psfm_status status = PSFM_OK;
    for (uint32_t v = 0; v < a->s->num_nodes; ++v)
        num_posed += psfm_has_pose(&a->s->poses, v);
    *unit = 1.0;
    *loss_scale = LINES_ALONE;
    if (num == 0)
        return PSFM_OK;
    if (a->has_info)
        status = psfm_noise_balance(ctx, &problem, &a->out->structure.tracks, a->obs_sqrt_info);
    else if ((status = PSFM_ALLOC(ctx, num, &error_px)) == PSFM_OK)
        status = psfm_bundle_errors(ctx, &problem, error_px);
    if (status == PSFM_OK && !a->has_info)
        *unit = fmax(psfm_median(error_px, num) / MEDIAN_RADIUS, SMALLEST_SIGMA);
    *loss_scale = a->options->bundle.loss_scale_px;
    if (status == PSFM_OK && a->options->control.fit_loss &&
        a->options->bundle.loss == PSFM_LOSS_CAUCHY)
        status = psfm_noise_loss_scale(ctx, &problem, num_posed, loss_scale);
    free(error_px);
    return status;
}

/* What the adjustment found out about images; their points are those of the structure. */
static void take_stats(adjustment *a, const psfm_bundle_stats *stats) {
    const psfm_structure *st = &a->out->structure;
    a->out->mean_px = stats->mean_px;
    a->out->stop = stats->stop;
    a->out->iterations += stats->iterations;
    for (uint32_t v = 0; v < a->s->num_nodes; ++v) {
        a->out->images[v].num_points = 0;
        a->out->images[v].mean_px = stats->images[v].mean_px;
    }
    for (size_t k = 0; k < a->num_elements; ++k)
        ++a->out->images[st->tracks.view[k]].num_points;
}

/* Points and planes as adjusted. */
static void take_values(adjustment *a) {
    psfm_structure *st = &a->out->structure;
    if (a->num_points > 0)
        memcpy(st->points, a->points, a->num_points * sizeof *st->points);
    for (uint32_t k = 0; k < a->out->planes.num_planes; ++k) {
        psfm_scene_plane *plane = &a->out->planes.planes[k];
        memcpy(plane->normal, a->planes[k].normal, sizeof plane->normal);
        plane->distance = a->planes[k].distance;
    }
}

/* How well the size is known now; as before if the adjustment does not tell. */
static psfm_status find_size_sigma(psfm_context *ctx, const psfm_bundle_problem *problem,
                                   const psfm_bundle_options *bundle, adjustment *a) {
    double sigma[2];
    psfm_status status = psfm_shape_sigmas(ctx, problem, bundle, sigma);
    if (status == PSFM_OK)
        memcpy(a->court->sigma_size, sigma, sizeof sigma);
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

/* Uncertainty and stability tests, with the lines. */
static psfm_status judge_adjusted(psfm_context *ctx, const psfm_bundle_options *bundle,
                                  adjustment *a) {
    psfm_bundle_problem problem = make_problem(a, true);
    psfm_free_intrinsics focals = {0};
    free(a->out->camera_sigma);
    a->out->camera_sigma = NULL;
    psfm_status status = psfm_refined_judge(ctx, &problem, a->set->origins, bundle,
                                            &a->options->control, &focals, a->out);
    if (status == PSFM_OK)
        status = find_size_sigma(ctx, &problem, bundle, a);
    psfm_stability_tests_free(a->out->stability);
    if (status == PSFM_OK && a->options->control.stability_tests) {
        status = psfm_stability_tests_run(ctx, &problem, bundle, &focals, a->out->stability);
        if (status == PSFM_ERR_NUMERIC) {
            psfm_stability_tests_free(a->out->stability);
            status = PSFM_OK;
        }
    }
    psfm_free_intrinsics_free(&focals);
    return status;
}

static psfm_status adjust_model(psfm_context *ctx, adjustment *a) {
    psfm_bundle_options bundle = a->options->bundle;
    psfm_bundle_stats stats = {0};
    double unit;
    psfm_status status = measure_keypoints(ctx, a, &unit, &bundle.loss_scale_px);
    if (status != PSFM_OK)
        return status;
    list_lines(a, unit);
    prepare_shape(a, unit);
    psfm_bundle_problem problem = make_problem(a, true);
    status = psfm_bundle_adjust(ctx, &problem, &bundle, &stats);
    if (status == PSFM_OK) {
        take_values(a);
        take_size(a);
        take_stats(a, &stats);
        status = psfm_take_cameras(ctx, a->out->cameras, a->set);
    }
    psfm_bundle_stats_free(&stats);
    return status == PSFM_OK ? judge_adjusted(ctx, &bundle, a) : status;
}

psfm_status psfm_court_adjust(psfm_context *ctx, const psfm_refine_options *options,
                              psfm_match_set *set, psfm_court_evidence *court,
                              psfm_pose_solution *solution, psfm_refined *refined) {
    const psfm_structure *st = &refined->structure;
    adjustment a = {.options = options,
                    .set = set,
                    .court = court,
                    .s = solution,
                    .out = refined,
                    .num_points = st->num_points,
                    .num_elements = st->num_points > 0 ? st->tracks.begin[st->num_points] : 0};
    a.num_lines = count_lines(&a);
    for (size_t v = 0; v < set->num_views; ++v)
        a.has_info = a.has_info || set->views[v].sqrt_info != NULL;
    psfm_status status = a.num_lines > 0 ? allocate_adjustment(ctx, &a) : PSFM_OK;
    if (status == PSFM_OK && a.num_lines > 0) {
        prepare_views(&a);
        status = adjust_model(ctx, &a);
    }
    release_adjustment(&a);
    return status;
}
