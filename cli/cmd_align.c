/* planarsfm align: a model into a known world. The flags say by what (positions, control points,
 * GPS, a court, a distance, the dominant plane); one of them finds a similarity, which then moves
 * poses, points and planes, and a table says how well it fits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/number_locale.h"
#include "core/base/path.h"
#include "formats/court_request.h"
#include "formats/json.h"
#include "report/report.h"
#include "world/align.h"
#include "world/align_points.h"
#include "world/frame.h"

static const char *const positional[] = {"MODEL", NULL};
static const cli_flag flags[] = {
    {"-o", "OUT", "folder for the aligned model (COLMAP text)", 0},
    {"--positions", "FILE", "known camera positions: lines IMAGE x y z", 0},
    {"--geo-positions", "FILE", "the same on the earth: lines IMAGE latitude longitude altitude",
     0},
    {"--exif", "PHOTOS", "folder of the photographs: positions from their GPS data", 0},
    {"--gcp", "FILE", "ground control points: lines X Y Z x y IMAGE [LABEL]", 0},
    {"--court", "KIND", "a court of docs/courts.md, with --court-points or --images", 0},
    {"--images", "PHOTOS", "folder of the photographs: the court is found by its lines", 0},
    {"--court-points", "FILE", "points of the court in images: lines LABEL IMAGE x y", 0},
    {"--court-size", "LENGTH,WIDTH", "of a court that is not of the usual size, in metres", 0},
    {"--distance", "END END METRES",
     "scale from a known distance; an END is IMAGE (its camera) or IMAGE:x,y (a pixel on the "
     "dominant plane)",
     3},
    {"--upright", NULL, "the dominant plane becomes z = 0 with the cameras above it", 0},
    {"--opencv-pixels", NULL, "given pixels have the first pixel's centre at 0, 0: add 0.5", 0},
    {"--planes", "FILE", "planes.json (default: MODEL/planes.json if it is there)", 0},
    {"--no-report", NULL, "leave OUT/report.html out", 0},
    {"--json", NULL, "print the similarity and the residuals as JSON", 0},
    {0},
};

static const char *value_of(const cli_arguments *arguments, const char *name) {
    return cli_flag_value(&cli_align, arguments, name);
}

/* A model on its way to another frame. */
typedef struct {
    cli_model source;
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

static psfm_status align_to_positions(psfm_context *ctx, const cli_arguments *arguments, work *w) {
    const char *exif = value_of(arguments, "--exif");
    const char *local = value_of(arguments, "--positions");
    psfm_positions positions = {0};
    psfm_status status;
    if (exif != NULL)
        status = psfm_positions_from_exif(ctx, &w->source.model, exif, &positions);
    else if (local != NULL)
        status = psfm_positions_read(ctx, local, false, &positions);
    else
        status = psfm_positions_read(ctx, value_of(arguments, "--geo-positions"), true, &positions);
    if (status == PSFM_OK)
        status = psfm_align_positions(ctx, &w->source.model, &positions, &w->alignment);
    w->has_geo = positions.has_geo;
    w->geo = positions.geo;
    psfm_positions_free(&positions);
    return status;
}

/* Points of a court: those that were named, or those that its lines show in the photographs. */
static psfm_status find_court_points(psfm_context *ctx, const cli_arguments *arguments, work *w,
                                     psfm_control_set *points) {
    const char *path = value_of(arguments, "--court-points");
    const char *photos = value_of(arguments, "--images");
    psfm_court court;
    if ((path == NULL) == (photos == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "--court wants --court-points FILE, or the photographs: --images PHOTOS");
    psfm_status status = cli_find_court(ctx, &cli_align, arguments, &court);
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

static psfm_status align_to_points(psfm_context *ctx, const cli_arguments *arguments, work *w) {
    const char *gcp = value_of(arguments, "--gcp");
    psfm_control_set points = {0};
    psfm_status status = gcp != NULL ? psfm_control_read(ctx, gcp, &points)
                                     : find_court_points(ctx, arguments, w, &points);
    bool shift = value_of(arguments, "--opencv-pixels") != NULL;
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

static psfm_status align_upright_or_scale(psfm_context *ctx, const cli_arguments *arguments,
                                          work *w) {
    char **distance = cli_flag_values(&cli_align, arguments, "--distance");
    psfm_status status = PSFM_OK;
    if (value_of(arguments, "--upright") != NULL) {
        if (!w->has_plane)
            return psfm_fail(ctx, PSFM_ERR_DATA, "the model has no dominant plane");
        status = psfm_align_upright(ctx, &w->plane, &w->alignment);
        if (status != PSFM_OK || distance == NULL)
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

static void print_table(const psfm_alignment *a, const char *label, bool points) {
    if (a->num_items == 0)
        return;
    printf("%-32s %12s %12s %12s %12s%s\n", label, "x", "y", "z", "residual",
           points ? "    residual px  views" : "");
    for (size_t k = 0; k < a->num_items; ++k) {
        const psfm_alignment_item *item = &a->items[k];
        cli_print_name(item->label);
        for (int e = 0; e < 3; ++e)
            printf(" %12.4f", item->offset[e]);
        printf(" %12.4f", item->residual);
        if (points)
            printf(" %14.2f %6zu", item->residual_px, item->num_views);
        printf("%s\n", item->is_inlier         ? ""
                       : isnan(item->residual) ? "  not placed"
                                               : "  left out");
    }
    printf("%zu of %zu used: root mean square %.4g (x %.4g, y %.4g, z %.4g)", a->num_inliers,
           a->num_items, a->rms_inliers, a->rms_xyz[0], a->rms_xyz[1], a->rms_xyz[2]);
    if (points)
        printf(", %.2f px", a->rms_inliers_px);
    printf(", median of all %.4g\n", a->median_residual);
    if (a->verdict != NULL)
        printf("alignment: %s; places at random fit so well once in 10^%.0f\n", a->verdict,
               -a->chance_log10);
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

static cJSON *to_json(const psfm_alignment *a, bool points) {
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
static psfm_status write_alignment(psfm_context *ctx, const work *w, const cli_arguments *arguments,
                                   int way, const char *out) {
    static const char *const known[] = {"known positions", "GPS positions", "GPS positions of EXIF",
                                        "control points",  "a court",       "a known distance"};
    char *path = NULL;
    cJSON *root = to_json(&w->alignment, way == 3 || way == 4);
    bool upright = way == 5 && value_of(arguments, "--distance") == NULL;
    bool ok = root != NULL &&
              cJSON_AddStringToObject(root, "to", upright ? "the main plane" : known[way]) &&
              cJSON_AddStringToObject(root, "unit", upright ? "arbitrary" : "m") &&
              cJSON_AddStringToObject(root, "source", arguments->positional[0]) &&
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
static psfm_status write_page(psfm_context *ctx, const cli_arguments *arguments, const char *out) {
    const char *exif = value_of(arguments, "--exif"), *images = value_of(arguments, "--images");
    char *path = NULL;
    if (value_of(arguments, "--no-report") == NULL)
        return psfm_report_write(ctx, out, images != NULL ? images : exif);
    psfm_status status = psfm_path_join(ctx, out, "report.html", &path);
    if (status == PSFM_OK)
        status = psfm_remove_all(ctx, path);
    free(path);
    return status;
}

static psfm_status write_result(psfm_context *ctx, const work *w, const cli_arguments *arguments,
                                int way, const char *out) {
    static const char *const names[] = {
        "cameras.txt",    "images.txt",  "points3D.txt",       "planes.json",
        "alignment.json", "report.html", "geo_reference.json", NULL};
    char *planes = NULL;
    cli_own_folder own = {.path = out, .names = names};
    psfm_status status = cli_own_folder_take(ctx, &own);
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
        status = write_alignment(ctx, w, arguments, way, out);
    if (status == PSFM_OK)
        status = write_page(ctx, arguments, out);
    cli_own_folder_leave(&own);
    free(planes);
    return status;
}

/* Which way was asked for; exactly one, but --upright and --distance go together. */
static psfm_status choose_way(psfm_context *ctx, const cli_arguments *arguments, int *way) {
    static const char *const ways[] = {"--positions", "--geo-positions", "--exif",
                                       "--gcp",       "--court",         "--distance"};
    int num = 0;
    *way = 5;
    for (int k = 0; k < 6; ++k) {
        if (value_of(arguments, ways[k]) != NULL) {
            *way = k;
            ++num;
        }
    }
    bool upright = value_of(arguments, "--upright") != NULL;
    if (num > 1 || (num == 1 && *way < 5 && upright) || (num == 0 && !upright))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "one of --positions, --geo-positions, --exif, --gcp, --court, --distance "
                         "is wanted, or --upright, which goes with --distance");
    if (value_of(arguments, "-o") == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "-o OUT is missing");
    return PSFM_OK;
}

static psfm_status work_align(psfm_context *ctx, const cli_arguments *arguments) {
    work w = {0};
    int way = 0;
    const char *out = value_of(arguments, "-o");
    psfm_status status = choose_way(ctx, arguments, &way);
    if (status != PSFM_OK)
        return status;
    status =
        cli_read_model(ctx, arguments->positional[0], value_of(arguments, "--planes"), &w.source);
    if (status == PSFM_OK && way > 2)
        status = find_plane(ctx, &w);
    if (status == PSFM_OK && way <= 2)
        status = align_to_positions(ctx, arguments, &w);
    else if (status == PSFM_OK && way <= 4)
        status = align_to_points(ctx, arguments, &w);
    else if (status == PSFM_OK)
        status = align_upright_or_scale(ctx, arguments, &w);
    if (status == PSFM_OK) {
        move_to_world(&w);
        status = write_result(ctx, &w, arguments, way, out);
    }
    bool points = way == 3 || way == 4;
    if (status == PSFM_ERR_DATA)
        print_table(&w.alignment, points ? "point" : "image", points);
    if (status == PSFM_OK && value_of(arguments, "--json") != NULL) {
        status = cli_print_json(ctx, to_json(&w.alignment, points));
    } else if (status == PSFM_OK) {
        print_table(&w.alignment, points ? "point" : "image", points);
        printf("scale %.9g; aligned model in %s\n", w.alignment.world_from_model.scale, out);
    }
    psfm_alignment_free(&w.alignment);
    if (w.owns_plane)
        free(w.plane.polygon);
    psfm_drawing_free(&w.drawing);
    cli_model_free(&w.source);
    return status;
}

const cli_command cli_align = {
    .name = "align",
    .summary = "puts a model into a known world: positions, control points, GPS, a court",
    .usage = "MODEL -o OUT (--positions FILE | --geo-positions FILE | --exif PHOTOS | --gcp FILE | "
             "--court KIND (--court-points FILE | --images PHOTOS) | --distance END END METRES | "
             "--upright)",
    .description =
        "Finds the similarity (rotation, shift, scale) from the model to what is known of the\n"
        "world, robustly: wrong positions or labels are left out and shown. What chance would\n"
        "give is refused. Prints how far each\n"
        "known thing is from its place and writes the moved model, with planes.json if the model\n"
        "has one, alignment.json and report.html, a page that shows it with the residuals.\n"
        "MODEL is a COLMAP model folder or the OUT of run or reconstruct.\n"
        "With --exif, --geo-positions, and control points in degrees or UTM, x, y, z become "
        "metres\n"
        "east, north and up, and OUT/geo_reference.json keeps where that is: convert --to kml\n"
        "needs it. Control points and court points that two images show are triangulated; one\n"
        "image is enough for points on the dominant plane. docs/courts.md has the labels of the\n"
        "courts, docs/formats.md the files.\n\n"
        "    planarsfm align out -o out/metric --court basketball --court-points points.txt\n"
        "    planarsfm align out -o out/metric --court basketball --images photos\n"
        "    planarsfm align out -o out/metric --exif photos\n"
        "    planarsfm align out -o out/metric --upright --distance a.jpg:100,420 b.jpg:900,380 28",
    .positional = positional,
    .flags = flags,
    .work = work_align,
};
