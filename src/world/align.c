/* A model in a known world: the similarity that takes it there, and how well each known thing
 * fits.
 *
 * Positions of cameras: a robust fit of the similarity to pairs of places. Known points: they are
 * placed in the model first, by triangulation or on the dominant plane, which gives a first
 * similarity; then it is refined on the pixel errors of the points that fit
 * (world/align_points.c), and these are chosen again. Outliers are beyond 3.5 robust standard
 * deviations. */
#include "world/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/structure/dominant_plane.h"
#include "images/image/exif.h"
#include "world/align_points.h"
#include "world/alignment_check.h"
#include "world/frame.h"

#define OUTLIER_SIGMAS 3.5
#define FEW 6        /* positions of which the robust fit may follow half */
#define MIN_PLACES 3 /* that determine a similarity */
#define FLOOR_PX 2.0 /* points that fit this well are never outliers */

void psfm_alignment_free(psfm_alignment *alignment) {
    for (size_t k = 0; alignment->items != NULL && k < alignment->num_items; ++k)
        free(alignment->items[k].label);
    free(alignment->items);
    *alignment = (psfm_alignment){0};
}

static psfm_status make_items(psfm_context *ctx, size_t num, psfm_alignment *out) {
    *out = (psfm_alignment){.rms_inliers_px = NAN};
    psfm_status status = PSFM_ALLOC(ctx, num, &out->items);
    out->num_items = status == PSFM_OK ? num : 0;
    for (size_t k = 0; k < out->num_items; ++k)
        out->items[k].residual = out->items[k].residual_px = out->items[k].offset[0] =
            out->items[k].offset[1] = out->items[k].offset[2] = NAN;
    return status;
}

/* A robust bound for values of which some are far too large, from all items or from the inliers so
 * far; NANs are passed over. */
static psfm_status robust_bound(psfm_context *ctx, const psfm_alignment *a, bool pixels,
                                bool inliers_only, double *median, double *bound) {
    double *values = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, a->num_items, &values);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < a->num_items; ++k) {
        double value = pixels ? a->items[k].residual_px : a->items[k].residual;
        if (!isnan(value) && (a->items[k].is_inlier || !inliers_only))
            values[num++] = value;
    }
    *median = psfm_median(values, num);
    *bound = OUTLIER_SIGMAS * PSFM_MAD_TO_SIGMA * *median;
    free(values);
    return PSFM_OK;
}

/* Counts and means over the items whose is_inlier is set; what is not placed has pixels alone. */
static void summarise_items(psfm_alignment *a) {
    double squares[3] = {0}, squares_px = 0.0, placed = 0.0;
    a->num_inliers = 0;
    for (size_t k = 0; k < a->num_items; ++k) {
        const psfm_alignment_item *item = &a->items[k];
        if (!item->is_inlier)
            continue;
        ++a->num_inliers;
        squares_px += item->residual_px * item->residual_px;
        for (int e = 0; e < 3 && !isnan(item->residual); ++e)
            squares[e] += item->offset[e] * item->offset[e];
        placed += !isnan(item->residual);
    }
    for (int e = 0; e < 3; ++e)
        a->rms_xyz[e] = placed > 0.0 ? sqrt(squares[e] / placed) : NAN;
    a->rms_inliers = psfm_norm3(a->rms_xyz);
    a->rms_inliers_px = a->num_inliers > 0 ? sqrt(squares_px / (double)a->num_inliers) : NAN;
}

/* The residual of an item that the model has at x and that should be at item->at. */
static void measure_residual(const psfm_sim3 *s, const double x[3], psfm_alignment_item *item) {
    psfm_sim3_apply(s, x, item->offset);
    psfm_sub3(item->offset, item->at, item->offset);
    item->residual = psfm_norm3(item->offset);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const psfm_known_position *const *)a)->image,
                  (*(const psfm_known_position *const *)b)->image);
}

/* The positions of images that the model has, side by side with its centres. Names are distinct. */
static psfm_status pair_positions(psfm_context *ctx, const psfm_model *model,
                                  const psfm_positions *positions, double (*x)[3], double (*y)[3],
                                  psfm_alignment *out) {
    const psfm_known_position **sorted = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, positions->num, &sorted);
    for (size_t k = 0; status == PSFM_OK && k < positions->num; ++k)
        sorted[k] = &positions->items[k];
    if (status == PSFM_OK)
        qsort((void *)sorted, positions->num, sizeof *sorted, by_name);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        psfm_known_position wanted = {model->images[k].name, {0}};
        const psfm_known_position *key = &wanted;
        const psfm_known_position **found = (const psfm_known_position **)bsearch(
            &key, (const void *)sorted, positions->num, sizeof *sorted, by_name);
        if (found == NULL)
            continue;
        psfm_model_image_center(&model->images[k], x[num]);
        memcpy(y[num], (*found)->at, sizeof y[num]);
        memcpy(out->items[num].at, (*found)->at, sizeof y[num]);
        status = psfm_strdup(ctx, model->images[k].name, &out->items[num].label);
        num += status == PSFM_OK;
    }
    free((void *)sorted);
    out->num_items = num;
    return status;
}

/* Residuals and their verdict under the similarity found; what is beyond the robust bound is left
 * out, or nothing is. */
static psfm_status judge_positions(psfm_context *ctx, const double (*x)[3], bool takes_all,
                                   psfm_alignment *out) {
    double bound = 0.0;
    for (size_t k = 0; k < out->num_items; ++k)
        measure_residual(&out->world_from_model, x[k], &out->items[k]);
    psfm_status status = robust_bound(ctx, out, false, false, &out->median_residual, &bound);
    for (size_t k = 0; status == PSFM_OK && k < out->num_items; ++k)
        out->items[k].is_inlier = takes_all || out->items[k].residual <= bound;
    summarise_items(out);
    return status == PSFM_OK ? psfm_alignment_check(ctx, "known positions", out) : status;
}

/* The robust fit follows some of a few positions closely and calls the others wrong. Of those, all
 * together may be more than chance gives. */
static psfm_status fit_positions(psfm_context *ctx, const double (*x)[3], const double (*y)[3],
                                 psfm_alignment *out) {
    size_t num = out->num_items;
    psfm_status status = psfm_sim3_fit_robust(ctx, num, x, y, &out->world_from_model);
    if (status != PSFM_OK)
        return status;
    status = judge_positions(ctx, x, false, out);
    if (status == PSFM_ERR_DATA && num <= FEW &&
        psfm_sim3_fit(num, x, y, NULL, &out->world_from_model))
        status = judge_positions(ctx, x, true, out);
    return status;
}

psfm_status psfm_align_positions(psfm_context *ctx, const psfm_model *model,
                                 const psfm_positions *positions, psfm_alignment *out) {
    double(*x)[3] = NULL, (*y)[3] = NULL;
    psfm_status status = make_items(ctx, model->num_images, out);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &x);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &y);
    if (status == PSFM_OK)
        status = pair_positions(ctx, model, positions, x, y, out);
    if (status == PSFM_OK && out->num_items < 3)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%zu of the model's images have a known position; three are needed",
                           out->num_items);
    if (status == PSFM_OK)
        status = fit_positions(ctx, (const double(*)[3])x, (const double(*)[3])y, out);
    free(x);
    free(y);
    return status;
}

/* Everything about an alignment by points while it is made. */
typedef struct {
    const psfm_control_set *set;
    psfm_control_ray *rays;
    size_t num_rays;
    double (*places)[3]; /* model frame */
    bool *use;           /* per point */
} point_work;

/* Similarity from the placed points alone. */
static psfm_status first_similarity(psfm_context *ctx, const point_work *w, psfm_sim3 *out) {
    double(*x)[3] = NULL, (*y)[3] = NULL;
    size_t num = 0, n = w->set->num_points;
    psfm_status status = PSFM_ALLOC(ctx, n, &x);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &y);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k) {
        if (isnan(w->places[k][0]))
            continue;
        memcpy(x[num], w->places[k], sizeof x[num]);
        memcpy(y[num++], w->set->points[k].at, sizeof y[num]);
    }
    if (status == PSFM_OK && num < 3)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%zu of the %zu known points can be placed in the model; three are "
                           "needed, each shown by two of its images or on its dominant plane",
                           num, n);
    if (status == PSFM_OK)
        status = psfm_sim3_fit_robust(ctx, num, (const double(*)[3])x, (const double(*)[3])y, out);
    free(x);
    free(y);
    return status;
}

/* A point of a single view lies where its ray meets a plane, which a grazing ray tells badly. Its
 * pixels count, its place only where too few points have two views. */
static void measure_places(const point_work *w, psfm_alignment *out) {
    size_t num_sure = 0;
    for (size_t k = 0; k < out->num_items; ++k)
        num_sure += out->items[k].num_views > 1 && !isnan(w->places[k][0]);
    for (size_t k = 0; k < out->num_items; ++k)
        if (!isnan(w->places[k][0]) && (out->items[k].num_views > 1 || num_sure < MIN_PLACES))
            measure_residual(&out->world_from_model, w->places[k], &out->items[k]);
}

static void point_residuals(const point_work *w, psfm_alignment *out) {
    for (size_t k = 0; k < out->num_items; ++k) {
        psfm_alignment_item *item = &out->items[k];
        double squares = 0.0, error[2];
        item->num_views = 0;
        for (size_t i = 0; i < w->num_rays; ++i) {
            if (w->rays[i].point != k)
                continue;
            double e = psfm_control_ray_error(&w->rays[i], &out->world_from_model,
                                              w->set->points[k].at, error);
            squares += e * e;
            ++item->num_views;
        }
        item->residual_px = item->num_views == 0 ? NAN : sqrt(squares / (double)item->num_views);
        memcpy(item->at, w->set->points[k].at, sizeof item->at);
    }
    measure_places(w, out);
}

/* Refines on the points that fit, twice: the second choice knows the refined similarity, and what
 * is usual among those that fitted. */
static psfm_status refine_points(psfm_context *ctx, point_work *w, psfm_alignment *out) {
    double median = 0.0, bound = 0.0;
    for (int round = 0; round < 3; ++round) {
        point_residuals(w, out);
        psfm_status status = robust_bound(ctx, out, true, round > 0, &median, &bound);
        if (status != PSFM_OK)
            return status;
        size_t used = 0;
        for (size_t k = 0; k < out->num_items; ++k) {
            w->use[k] = out->items[k].residual_px <= fmax(bound, FLOOR_PX);
            out->items[k].is_inlier = w->use[k];
            used += w->use[k];
        }
        if (used < 3 || round == 2 ||
            !psfm_sim3_refine_pixels(w->rays, w->num_rays, w->set->points, w->use,
                                     &out->world_from_model))
            break;
    }
    return robust_bound(ctx, out, false, false, &out->median_residual, &bound);
}

psfm_status psfm_align_points(psfm_context *ctx, const psfm_model *model,
                              const psfm_control_set *points, const psfm_scene_plane *plane,
                              psfm_alignment *out) {
    point_work w = {.set = points};
    size_t num = points->num_points;
    psfm_status status = make_items(ctx, num, out);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = psfm_strdup(ctx, points->points[k].label, &out->items[k].label);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &w.places);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &w.use);
    if (status == PSFM_OK)
        status = psfm_control_rays_make(ctx, model, points, &w.rays, &w.num_rays);
    if (status == PSFM_OK) {
        psfm_control_rays_place(w.rays, w.num_rays, num, plane, w.places);
        status = first_similarity(ctx, &w, &out->world_from_model);
    }
    if (status == PSFM_OK)
        status = refine_points(ctx, &w, out);
    if (status == PSFM_OK) {
        summarise_items(out);
        status = psfm_alignment_check(ctx, "known points", out);
    }
    free(w.places);
    free(w.use);
    free(w.rays);
    return status;
}

/* The place in the model that an end of a distance names. */
static psfm_status find_end(psfm_context *ctx, const psfm_model *model, const char *end,
                            const psfm_scene_plane *plane, double X[3]) {
    char *name = NULL;
    double xy[2], R[9], center[3], ray[3], world[3];
    const psfm_model_image *image = psfm_model_image_by_name(model, end);
    if (image != NULL) {
        psfm_model_image_center(image, X);
        return PSFM_OK;
    }
    psfm_status status = psfm_parse_image_point(ctx, end, &name, xy);
    if (status != PSFM_OK)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "'%s' is neither an image of the model nor IMAGE:x,y", end);
    image = psfm_model_image_by_name(model, name);
    if (image == NULL)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "the model has no image '%s'", name);
    else if (plane == NULL)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "a distance between pixels needs a plane, and none was found");
    if (status == PSFM_OK) {
        psfm_rotation_from_quat(image->cam_from_world_q, R);
        psfm_model_image_center(image, center);
        bool seen = psfm_camera_unproject(psfm_model_camera(model, image->camera_id), xy, ray);
        psfm_mat3_tmul_vec(R, ray, world);
        if (!seen || !psfm_ray_meets_plane(center, world, plane, X))
            status = psfm_fail(ctx, PSFM_ERR_DATA, "'%s' does not look at the dominant plane", end);
    }
    free(name);
    return status;
}

psfm_status psfm_align_distance(psfm_context *ctx, const psfm_model *model, const char *end1,
                                const char *end2, double metres, const psfm_scene_plane *plane,
                                psfm_alignment *out) {
    double A[3], B[3], d[3];
    psfm_status status = make_items(ctx, 0, out);
    if (status == PSFM_OK)
        status = find_end(ctx, model, end1, plane, A);
    if (status == PSFM_OK)
        status = find_end(ctx, model, end2, plane, B);
    if (status != PSFM_OK)
        return status;
    psfm_sub3(A, B, d);
    double now = psfm_norm3(d);
    if (!(now > 0.0) || !(metres > 0.0) || !isfinite(metres / now))
        return psfm_fail(ctx, PSFM_ERR_DATA, "the two ends of the distance are one place");
    out->world_from_model.scale = metres / now;
    psfm_mat3_identity(out->world_from_model.R);
    return PSFM_OK;
}

psfm_status psfm_align_upright(psfm_context *ctx, const psfm_scene_plane *plane,
                               psfm_alignment *out) {
    psfm_status status = make_items(ctx, 0, out);
    if (status == PSFM_OK) {
        psfm_frame_of_plane(plane, &out->world_from_model);
        out->median_residual = plane->sigma;
    }
    return status;
}

psfm_status psfm_model_dominant_plane(psfm_context *ctx, const psfm_model *model,
                                      psfm_scene_plane *plane) {
    double(*points)[3] = NULL, (*centers)[3] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, model->num_points, &points);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &centers);
    for (size_t k = 0; status == PSFM_OK && k < model->num_points; ++k)
        memcpy(points[k], model->points[k].xyz, sizeof points[k]);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k)
        psfm_model_image_center(&model->images[k], centers[k]);
    *plane = (psfm_scene_plane){0};
    if (status == PSFM_OK)
        status = psfm_dominant_plane(ctx, model->num_points, (const double(*)[3])points,
                                     model->num_images, (const double(*)[3])centers, plane);
    free(points);
    free(centers);
    return status;
}

psfm_status psfm_positions_from_exif(psfm_context *ctx, const psfm_model *model, const char *folder,
                                     psfm_positions *positions) {
    size_t flat = 0;
    psfm_status status = PSFM_OK;
    *positions = (psfm_positions){0};
    if (!psfm_path_is_folder(folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", folder);
    for (size_t k = 0; status == PSFM_OK && k < model->num_images; ++k) {
        const psfm_model_image *image = &model->images[k];
        const psfm_camera *camera = psfm_model_camera(model, image->camera_id);
        char *path = NULL;
        psfm_exif exif = {0};
        status = psfm_photo_path(ctx, folder, image->name, &path);
        if (status == PSFM_OK && psfm_path_is_file(path))
            status = psfm_exif_read(ctx, path, (int)camera->width, (int)camera->height, &exif);
        if (psfm_is_bad_file(status)) {
            psfm_log(ctx, PSFM_LOG_WARNING, "left out: %s", psfm_context_message(ctx));
            status = PSFM_OK;
        }
        free(path);
        psfm_geodetic at = {exif.latitude_deg, exif.longitude_deg, exif.altitude_m};
        if (status == PSFM_OK && exif.has_position)
            status = psfm_positions_add_geodetic(ctx, positions, image->name, &at);
        flat += exif.has_position && !exif.has_altitude;
    }
    if (status == PSFM_OK && flat > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "%zu photographs have a position without altitude; it is taken as 0", flat);
    if (status != PSFM_OK)
        psfm_positions_free(positions);
    return status;
}
