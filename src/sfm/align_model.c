/* A model into a known world: a similarity to positions, control points, GPS, a court, a distance
 * or the dominant plane, which then moves poses, points and planes. */
#include "sfm/align_model.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/number_locale.h"
#include "core/base/own_folder.h"
#include "core/base/path.h"
#include "formats/court_request.h"
#include "formats/json.h"
#include "report/report.h"
#include "world/align_points.h"
#include "world/frame.h"
#include "world/model_source.h"

/* A model on its way to another frame. */
typedef struct {
    const char *path; /* as it was given */
    psfm_model_source source;
    psfm_scene_plane plane; /* the dominant one */
    bool owns_plane, has_plane;
    psfm_alignment alignment;
    psfm_geo_reference geo;
    bool has_geo;
    psfm_drawing drawing; /* of the court it was aligned with */
} work;

/* The first of planes.json, otherwise the plane of the points; none is no failure. */
static psfm_status find_plane(psfm_context *ctx, work *w) {
    w->has_plane = w->source.has_planes && w->source.planes.num_planes > 0;
    if (w->has_plane) {
        w->plane = w->source.planes.planes[0];
        return PSFM_OK;
    }
    psfm_status status = psfm_model_dominant_plane(ctx, &w->source.model, &w->plane);
    w->has_plane = w->owns_plane = status == PSFM_OK;
    return status == PSFM_ERR_DATA ? PSFM_OK : status;
}

static psfm_status align_to_positions(psfm_context *ctx, const psfm_align_request *request,
                                      work *w) {
    const char *exif = request->exif;
    const char *local = request->positions;
    psfm_positions positions = {0};
    psfm_status status;
    if (exif != NULL)
        status = psfm_positions_from_exif(ctx, &w->source.model, exif, &positions);
    else if (local != NULL)
        status = psfm_positions_read(ctx, local, false, &positions);
    else
        status = psfm_positions_read(ctx, request->geo_positions, true, &positions);
    if (status == PSFM_OK)
        status = psfm_align_positions(ctx, &w->source.model, &positions, &w->alignment);
    w->has_geo = positions.has_geo;
    w->geo = positions.geo;
    psfm_positions_free(&positions);
    return status;
}

/* Points of a court: those that were named, or those that its lines show in the photographs. */
static psfm_status find_court_points(psfm_context *ctx, const psfm_align_request *request, work *w,
                                     psfm_control_set *points) {
    const char *path = request->court_points;
    const char *photos = request->images;
    psfm_court court;
    if ((path == NULL) == (photos == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "--court wants --court-points FILE, or the photographs: --images PHOTOS");
    psfm_status status = psfm_court_parse(ctx, request->court, request->court_size, &court);
    if (status == PSFM_OK)
        status = psfm_drawing_from_court(ctx, &court, &w->drawing);
    if (status == PSFM_OK && photos != NULL)
        return psfm_court_points_find(ctx, &w->source.model, photos, &court, points);
    if (status == PSFM_OK)
        status = psfm_court_points_read(ctx, path, &court, points);
    if (status == PSFM_OK && points->num_points < 4)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: four labelled points are needed, it has %zu",
                           path, points->num_points);
    return status;
}

static psfm_status align_to_points(psfm_context *ctx, const psfm_align_request *request, work *w) {
    const char *gcp = request->gcp;
    psfm_control_set points = {0};
    psfm_status status = gcp != NULL ? psfm_control_read(ctx, gcp, &points)
                                     : find_court_points(ctx, request, w, &points);
    bool shift = request->opencv_pixels;
    for (size_t k = 0; shift && k < points.num_views; ++k) {
        points.views[k].xy[0] += 0.5;
        points.views[k].xy[1] += 0.5;
    }
    if (status == PSFM_OK)
        status = psfm_align_points(ctx, &w->source.model, &points, w->has_plane ? &w->plane : NULL,
                                   &w->alignment);
    w->has_geo = points.has_geo;
    w->geo = points.geo;
    psfm_control_free(&points);
    return status;
}

/* Moves everything into the frame that the alignment leads to. */
static void move_to_world(work *w) {
    const psfm_sim3 *s = &w->alignment.world_from_model;
    psfm_model_move(&w->source.model, s);
    for (uint32_t k = 0; k < w->source.planes.num_planes; ++k)
        psfm_scene_plane_move(&w->source.planes.planes[k], s);
    if (w->owns_plane)
        psfm_scene_plane_move(&w->plane, s);
    else if (w->has_plane)
        w->plane = w->source.planes.planes[0];
}

static psfm_status align_upright_or_scale(psfm_context *ctx, const psfm_align_request *request,
                                          work *w) {
    const char *const *distance = request->distance;
    psfm_status status = PSFM_OK;
    if (request->upright) {
        if (!w->has_plane)
            return psfm_fail(ctx, PSFM_ERR_DATA, "the model has no dominant plane");
        status = psfm_align_upright(ctx, &w->plane, &w->alignment);
        if (status != PSFM_OK || distance[0] == NULL)
            return status;
        move_to_world(w);
        psfm_alignment_free(&w->alignment);
    }
    double metres;
    if (!psfm_parse_number(distance[2], &metres) || !(metres > 0.0))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--distance: '%s' is not a positive number",
                         distance[2]);
    return psfm_align_distance(ctx, &w->source.model, distance[0], distance[1], metres,
                               w->has_plane ? &w->plane : NULL, &w->alignment);
}

static bool add_vector(cJSON *object, const char *name, const double v[3]) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    bool ok = array != NULL;
    for (int e = 0; ok && e < 3; ++e)
        ok = cJSON_AddItemToArray(array,
                                  isfinite(v[e]) ? cJSON_CreateNumber(v[e]) : cJSON_CreateNull());
    return ok;
}

static bool add_item(cJSON *items, const psfm_alignment_item *item, bool points) {
    cJSON *object = cJSON_CreateObject();
    if (object == NULL || !cJSON_AddItemToArray(items, object)) {
        cJSON_Delete(object);
        return false;
    }
    bool ok = cJSON_AddStringToObject(object, "label", item->label) != NULL &&
              psfm_json_add_number(object, "residual", item->residual) &&
              add_vector(object, "offset", item->offset) &&
              cJSON_AddBoolToObject(object, "used", item->is_inlier) != NULL;
    if (points)
        ok = ok && psfm_json_add_number(object, "residual_px", item->residual_px) &&
             psfm_json_add_number(object, "views", (double)item->num_views);
    return ok;
}

cJSON *psfm_alignment_to_json(const psfm_alignment *a, bool points) {
    const psfm_sim3 *s = &a->world_from_model;
    cJSON *root = cJSON_CreateObject();
    if (root == NULL)
        return NULL;
    cJSON *R = cJSON_CreateDoubleArray(s->R, 9), *t = cJSON_CreateDoubleArray(s->t, 3);
    bool ok = R != NULL && cJSON_AddItemToObject(root, "rotation", R);
    ok = t != NULL && cJSON_AddItemToObject(root, "translation", t) && ok;
    ok = ok && psfm_json_add_number(root, "scale", s->scale) &&
         psfm_json_add_number(root, "used", (double)a->num_inliers) &&
         psfm_json_add_number(root, "rms", a->rms_inliers) &&
         psfm_json_add_number(root, "median", a->median_residual) &&
         (a->verdict == NULL || (cJSON_AddStringToObject(root, "verdict", a->verdict) != NULL &&
                                 psfm_json_add_number(root, "chance_log10", a->chance_log10) &&
                                 add_vector(root, "rms_xyz", a->rms_xyz))) &&
         (!points || psfm_json_add_number(root, "rms_px", a->rms_inliers_px));
    cJSON *items = ok ? cJSON_AddArrayToObject(root, "items") : NULL;
    ok = items != NULL;
    for (size_t k = 0; ok && k < a->num_items; ++k)
        ok = add_item(items, &a->items[k], points);
    if (!ok) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}

/* What alignment.json says beside the similarity and the residuals: with what, in which unit, and
 * which run the model is of. */
static psfm_status write_alignment(psfm_context *ctx, const work *w,
                                   const psfm_align_request *request, int way, const char *out) {
    static const char *const known[] = {"known positions", "GPS positions", "GPS positions of EXIF",
                                        "control points",  "a court",       "a known distance"};
    char *path = NULL;
    cJSON *root = psfm_alignment_to_json(&w->alignment, way == 3 || way == 4);
    bool upright = way == 5 && request->distance[0] == NULL;
    bool ok = root != NULL &&
              cJSON_AddStringToObject(root, "to", upright ? "the main plane" : known[way]) &&
              cJSON_AddStringToObject(root, "unit", upright ? "arbitrary" : "m") &&
              cJSON_AddStringToObject(root, "source", w->path) &&
              (w->drawing.num_parts == 0 || psfm_drawing_add_strokes(root, &w->drawing));
    psfm_status status = ok ? PSFM_OK : psfm_fail_memory(ctx);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out, "alignment.json", &path);
    if (status == PSFM_OK)
        status = psfm_json_write(ctx, root, path);
    cJSON_Delete(root);
    free(path);
    return status;
}

/* The page of the aligned model; an older one goes if none is wanted. */
static psfm_status write_page(psfm_context *ctx, const psfm_align_request *request,
                              const char *out) {
    const char *exif = request->exif, *images = request->images;
    char *path = NULL;
    if (!request->no_report)
        return psfm_report_write(ctx, out, images != NULL ? images : exif);
    psfm_status status = psfm_path_join(ctx, out, "report.html", &path);
    if (status == PSFM_OK)
        status = psfm_remove_all(ctx, path);
    free(path);
    return status;
}

static psfm_status write_result(psfm_context *ctx, const work *w, const psfm_align_request *request,
                                int way, const char *out) {
    static const char *const names[] = {
        "cameras.txt",    "images.txt",  "points3D.txt",       "planes.json",
        "alignment.json", "report.html", "geo_reference.json", NULL};
    char *planes = NULL;
    psfm_own_folder own = {.path = out, .names = names};
    psfm_status status = psfm_own_folder_take(ctx, &own);
    if (status == PSFM_OK)
        status = psfm_model_write(ctx, &w->source.model, PSFM_MODEL_TEXT, out);
    if (status == PSFM_OK)
        status = psfm_geo_reference_write(ctx, out, w->has_geo ? &w->geo : NULL);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out, "planes.json", &planes);
    if (status == PSFM_OK && w->source.has_planes)
        status = psfm_planes_write_json(ctx, &w->source.planes, planes, NULL);
    else if (status == PSFM_OK)
        status = psfm_remove_all(ctx, planes);
    if (status == PSFM_OK)
        status = write_alignment(ctx, w, request, way, out);
    if (status == PSFM_OK)
        status = write_page(ctx, request, out);
    psfm_own_folder_leave(&own);
    free(planes);
    return status;
}

/* Which way was asked for; exactly one, but `upright` and `distance` go together. */
static psfm_status choose_way(psfm_context *ctx, const psfm_align_request *request, int *way) {
    const char *const ways[] = {request->positions, request->geo_positions, request->exif,
                                request->gcp,       request->court,         request->distance[0]};
    int num = 0;
    *way = 5;
    for (int k = 0; k < 6; ++k) {
        if (ways[k] != NULL) {
            *way = k;
            ++num;
        }
    }
    if (num > 1 || (num == 1 && *way < 5 && request->upright) || (num == 0 && !request->upright))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "one of --positions, --geo-positions, --exif, --gcp, --court, --distance "
                         "is wanted, or --upright, which goes with --distance");
    return PSFM_OK;
}

/* Finds the similarity and moves what there is. */
static psfm_status align_source(psfm_context *ctx, const psfm_align_request *request, int way,
                                work *w) {
    psfm_status status = way > 2 ? find_plane(ctx, w) : PSFM_OK;
    if (status == PSFM_OK && way <= 2)
        status = align_to_positions(ctx, request, w);
    else if (status == PSFM_OK && way <= 4)
        status = align_to_points(ctx, request, w);
    else if (status == PSFM_OK)
        status = align_upright_or_scale(ctx, request, w);
    if (status == PSFM_OK)
        move_to_world(w);
    return status;
}

psfm_status psfm_align_and_tell(psfm_context *ctx, const char *model,
                                const psfm_align_request *request, const char *out,
                                psfm_alignment *alignment, bool *points) {
    work w = {.path = model};
    int way = 0;
    *alignment = (psfm_alignment){0};
    psfm_status status = choose_way(ctx, request, &way);
    *points = way == 3 || way == 4;
    if (status == PSFM_OK)
        status = psfm_model_source_read(ctx, model, request->planes, &w.source);
    if (status == PSFM_OK)
        status = align_source(ctx, request, way, &w);
    if (status == PSFM_OK)
        status = write_result(ctx, &w, request, way, out);
    *alignment = w.alignment;
    if (w.owns_plane)
        free(w.plane.polygon);
    psfm_drawing_free(&w.drawing);
    psfm_model_source_free(&w.source);
    return status;
}
