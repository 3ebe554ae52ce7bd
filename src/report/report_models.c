/* Cameras and points of the models for the 3D view. Of many points an even choice is taken, in
 * proportion to the size of each model. */
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/escape.h"
#include "eval/compare_models.h"
#include "report/report_input.h"

enum {
    ERROR_STEPS = 32, /* of the error of a point, per pixel; a byte holds up to 8 px */
    RAY_SIDE = 13,    /* of the grid that shows the distortion of a lens */
    MOST_RAYS = 500   /* images that have one */
};
#define DISTORTED 1e-3 /* of the width of the image: more counts as distortion */

/* Where the image's four corners are at depth 1 in front of the camera, x and y. Beyond 80 degrees
 * off the axis a frustum says nothing; such corners, and those the model cannot tell, are drawn at
 * a right angle. */
static void add_corners(psfm_column *column, const psfm_camera *camera) {
    double w = (double)camera->width, h = (double)camera->height;
    const double corner[4][2] = {{0, 0}, {w, 0}, {w, h}, {0, h}};
    for (int k = 0; k < 4; ++k) {
        double ray[3], x = k == 1 || k == 2 ? 1.0 : -1.0, y = k >= 2 ? 1.0 : -1.0;
        if (psfm_camera_unproject(camera, corner[k], ray) && ray[2] > 0.17) {
            x = ray[0] / ray[2];
            y = ray[1] / ray[2];
        }
        psfm_column_f32(column, x);
        psfm_column_f32(column, y);
    }
}

/* Directions (x, y at depth 1) of a grid of pixels from edge to edge, row by row; false if the
 * camera cannot tell one. *distorted: they are not those of a pinhole with the same corners. */
static bool ray_grid(const psfm_camera *camera, double grid[RAY_SIDE * RAY_SIDE][2],
                     bool *distorted) {
    double size[2] = {(double)camera->width, (double)camera->height}, ray[3];
    for (int k = 0; k < RAY_SIDE * RAY_SIDE; ++k) {
        int row = k / RAY_SIDE, column = k % RAY_SIDE;
        const double xy[2] = {size[0] * column / (RAY_SIDE - 1.0),
                              size[1] * row / (RAY_SIDE - 1.0)};
        if (!psfm_camera_unproject(camera, xy, ray) || !(ray[2] > 0.17))
            return false;
        for (int d = 0; d < 2; ++d)
            grid[k][d] = ray[d] / ray[2];
    }
    const double *first = grid[0], *last = grid[RAY_SIDE * RAY_SIDE - 1];
    *distorted = false;
    for (int k = 0; k < RAY_SIDE * RAY_SIDE; ++k)
        for (int d = 0; d < 2; ++d) {
            double along = (d == 0 ? k % RAY_SIDE : k / RAY_SIDE) / (RAY_SIDE - 1.0);
            double straight = first[d] + along * (last[d] - first[d]);
            *distorted =
                *distorted || fabs(grid[k][d] - straight) > DISTORTED * fabs(last[d] - first[d]);
        }
    return true;
}

/* Where a photograph lies before its camera, for lenses with distortion; an empty text for others.
 * Nothing of many images. */
static bool print_rays(const psfm_model *model, FILE *file) {
    bool good = true;
    if (model->num_images > MOST_RAYS)
        return true;
    fprintf(file, ",\"rays\":{\"side\":%d,\"xy\":[", RAY_SIDE);
    for (size_t k = 0; good && k < model->num_images; ++k) {
        double grid[RAY_SIDE * RAY_SIDE][2];
        bool distorted = false;
        psfm_column column = {0};
        if (ray_grid(psfm_model_camera(model, model->images[k].camera_id), grid, &distorted) &&
            distorted)
            for (int i = 0; i < 2 * RAY_SIDE * RAY_SIDE; ++i)
                psfm_column_f32(&column, grid[i / 2][i % 2]);
        fprintf(file, "%s\"", k == 0 ? "" : ",");
        psfm_base64_print(column.bytes, column.size, file);
        fputc('"', file);
        good = !column.failed;
        psfm_column_free(&column);
    }
    fprintf(file, "]}");
    return good;
}

static bool print_images(const psfm_model *model, const uint32_t *views, FILE *file) {
    psfm_column view = {0}, center = {0}, rotation = {0}, corners = {0}, focal = {0};
    for (size_t k = 0; k < model->num_images; ++k) {
        const psfm_model_image *image = &model->images[k];
        const psfm_camera *camera = psfm_model_camera(model, image->camera_id);
        double c[3];
        psfm_model_image_center(image, c);
        psfm_column_u32(&view, views[k]);
        for (int d = 0; d < 3; ++d)
            psfm_column_f32(&center, c[d]);
        for (int d = 0; d < 4; ++d)
            psfm_column_f32(&rotation, image->cam_from_world_q[d]);
        add_corners(&corners, camera);
        psfm_column_f32(&focal, camera->params[0]);
    }
    bool good = psfm_column_print(&view, "view", file);
    good = psfm_column_print(&center, "center", file) && good;
    good = psfm_column_print(&rotation, "rotation", file) && good;
    good = psfm_column_print(&corners, "corners", file) && good;
    return psfm_column_print(&focal, "focal", file) && good;
}

/* `take` points, evenly picked. */
static bool print_points(const psfm_model *model, size_t take, FILE *file) {
    psfm_column xyz = {0}, rgb = {0}, error = {0}, length = {0};
    size_t n = model->num_points;
    for (size_t k = 0; k < take; ++k) {
        const psfm_model_point *point = &model->points[take < n ? k * n / take : k];
        for (int d = 0; d < 3; ++d) {
            psfm_column_f32(&xyz, point->xyz[d]);
            psfm_column_u8(&rgb, point->rgb[d]);
        }
        psfm_column_u8(&error, (uint8_t)fmin(fmax(point->error, 0.0) * ERROR_STEPS + 0.5, 255.0));
        psfm_column_u8(&length, (uint8_t)(point->track_length < 255 ? point->track_length : 255));
    }
    bool good = psfm_column_print(&xyz, "xyz", file);
    good = psfm_column_print(&rgb, "rgb", file) && good;
    good = psfm_column_print(&error, "error", file) && good;
    return psfm_column_print(&length, "length", file) && good;
}

psfm_status psfm_report_print_models(psfm_context *ctx, const psfm_report_input *input,
                                     size_t max_points, FILE *file) {
    size_t total = 0;
    bool good = true;
    for (size_t k = 0; k < input->num_models; ++k)
        total += input->models[k].num_points;
    fprintf(file, ",\n\"models\":[");
    for (size_t k = 0; good && k < input->num_models; ++k) {
        const psfm_model *model = &input->models[k];
        double share = total > max_points ? (double)max_points / (double)total : 1.0;
        size_t take = (size_t)ceil(share * (double)model->num_points);
        fprintf(file, "%s{\"points\":%zu,\"cameras\":%zu", k == 0 ? "" : ",\n", model->num_points,
                model->num_cameras);
        good = print_images(model, input->model_views[k], file) && print_rays(model, file) &&
               print_points(model, take < model->num_points ? take : model->num_points, file);
        fprintf(file, "}");
    }
    fprintf(file, "]");
    return good ? PSFM_OK : psfm_fail_memory(ctx);
}

/* The other run of a page that shows two: what the tables need of it, its largest model for the 3D
 * view, and how the poses of the two differ. */

static void print_numbers(const char *name, const double *values, int num, FILE *file) {
    fprintf(file, "\"%s\":[", name);
    for (int k = 0; k < num; ++k)
        fprintf(file, "%s%.17g", k == 0 ? "" : ",", values[k]);
    fprintf(file, "],");
}

static void print_differences(const psfm_comparison *c, const psfm_model *a, FILE *file) {
    fprintf(file, ",\"images\":[");
    for (size_t k = 0; k < c->num_images; ++k) {
        const psfm_camera_difference *d = &c->images[k];
        fprintf(file, "%s{\"name\":", k == 0 ? "" : ",");
        psfm_print_json_string(file, a->images[d->image_a].name);
        fprintf(file, ",\"position\":%.9g,\"rotation_deg\":%.9g}", d->position, d->rotation_deg);
    }
    fprintf(file, "]");
}

static void print_comparison(const psfm_comparison *c, const psfm_model *a, FILE *file) {
    fprintf(file, ",\n\"comparison\":{\"from_other\":{");
    print_numbers("rotation", c->a_from_b.R, 9, file);
    print_numbers("translation", c->a_from_b.t, 3, file);
    fprintf(file, "\"scale\":%.17g}", c->a_from_b.scale);
    fprintf(file, ",\"common\":%zu,\"only_a\":%zu,\"only_b\":%zu,\"extent\":%.9g", c->num_images,
            c->num_only_a, c->num_only_b, c->extent);
    fprintf(file, ",\"median_position\":%.9g,\"max_position\":%.9g", c->median_position,
            c->max_position);
    fprintf(file, ",\"median_rotation_deg\":%.9g,\"max_rotation_deg\":%.9g", c->median_rotation_deg,
            c->max_rotation_deg);
    print_differences(c, a, file);
    fprintf(file, "}");
}

static void print_names(const psfm_report_input *input, FILE *file) {
    fprintf(file, ",\"names\":[");
    for (size_t v = 0; v < input->graph.num_images; ++v) {
        fprintf(file, "%s", v == 0 ? "" : ",");
        psfm_print_json_string(file, input->names[v]);
    }
    fprintf(file, "]");
}

psfm_status psfm_report_print_other(psfm_context *ctx, const psfm_report_input *input,
                                    const psfm_report_other *other, size_t max_points, FILE *file) {
    const psfm_report_input *b = other->input;
    psfm_comparison comparison = {0};
    if (input->num_models == 0 || b->num_models == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s has no model to compare",
                         other->label[input->num_models == 0 ? 0 : 1]);
    psfm_status status = psfm_compare_models(ctx, &input->models[0], &b->models[0], &comparison);
    if (status == PSFM_OK) {
        print_comparison(&comparison, &input->models[0], file);
        fprintf(file, ",\n\"other\":{\"labels\":[");
        psfm_print_json_string(file, other->label[0]);
        fputc(',', file);
        psfm_print_json_string(file, other->label[1]);
        fprintf(file, "],\"summary\":");
        psfm_json_print_value(file, b->summary, psfm_report_photo_folder(b));
        print_names(b, file);
        status = psfm_report_print_models(ctx, b, max_points, file);
    }
    if (status == PSFM_OK)
        status = psfm_report_print_residuals(ctx, b, 0, file);
    if (status == PSFM_OK)
        fprintf(file, "}");
    psfm_comparison_free(&comparison);
    return status;
}

/* ---- pairs ---- */

/* Pairs and their homographies as columns. If there are too many, those that matter most are
 * taken: the tree, kept pairs, other edges, the rest. */

enum { IS_EDGE = 1, IN_TREE = 2, IS_KEPT = 4 };
enum { IS_ROTATION = 1, IS_CHOSEN = 2 };
enum { NUM_RANKS = 4 };

/* How much a pair matters to the reader: 0 most. */
static int rank_pair(const psfm_graph_pair *pair) {
    return pair->in_tree ? 0 : pair->kept ? 1 : pair->is_edge ? 2 : 3;
}

/* Marks the pairs to show: whole ranks as long as they fit, then every k-th of the next. */
static void select_pairs(const psfm_graph_file *graph, size_t max_pairs, bool *shown) {
    size_t count[NUM_RANKS] = {0}, left = max_pairs;
    for (size_t p = 0; p < graph->num_pairs; ++p)
        ++count[rank_pair(&graph->pairs[p])];
    for (int r = 0; r < NUM_RANKS; ++r) {
        size_t take = count[r] < left ? count[r] : left, seen = 0;
        for (size_t p = 0; p < graph->num_pairs; ++p) {
            if (rank_pair(&graph->pairs[p]) != r)
                continue;
            shown[p] = (seen + 1) * take / count[r] > seen * take / count[r];
            ++seen;
        }
        left -= take;
    }
}

/* One column per field. */
typedef struct {
    psfm_column image1, image2, matches, kind, essential, flags, embedding_component, component, h,
        rotation;
    psfm_column num_homographies;
    psfm_column inliers, rms, homography_flags, group, H, num_samples, samples;
} columns;

static void add_homography(columns *c, const psfm_graph_homography *h) {
    psfm_column_u32(&c->inliers, h->num_inliers);
    psfm_column_f32(&c->rms, h->rms_px);
    psfm_column_u8(&c->homography_flags,
                   (uint8_t)((h->is_rotation ? IS_ROTATION : 0) | (h->chosen ? IS_CHOSEN : 0)));
    psfm_column_u32(&c->group, h->group < 0 ? UINT32_MAX : (uint32_t)h->group);
    for (int k = 0; k < 9; ++k)
        psfm_column_f32(&c->H, h->H_21[k]);
    psfm_column_u32(&c->num_samples, (uint32_t)h->num_samples);
    for (size_t k = 0; k < h->num_samples; ++k)
        for (int d = 0; d < 4; ++d)
            psfm_column_u16(&c->samples, (double)h->samples[k][d]);
}

static void add_pair(columns *c, const psfm_graph_pair *pair) {
    psfm_column_u32(&c->image1, pair->image1);
    psfm_column_u32(&c->image2, pair->image2);
    psfm_column_u32(&c->matches, (uint32_t)pair->num_matches);
    psfm_column_u8(&c->kind, (uint8_t)pair->kind);
    psfm_column_u32(&c->essential, pair->essential_inliers);
    psfm_column_u8(&c->flags,
                   (uint8_t)((pair->is_edge ? IS_EDGE : 0) | (pair->in_tree ? IN_TREE : 0) |
                             (pair->kept ? IS_KEPT : 0)));
    psfm_column_u32(&c->embedding_component, pair->embedding_component);
    psfm_column_u32(&c->component, pair->component);
    psfm_column_f32(&c->h, pair->h);
    psfm_column_f32(&c->rotation, pair->rotation_deg);
    psfm_column_u8(&c->num_homographies, (uint8_t)fmin((double)pair->num_homographies, 255.0));
    for (size_t k = 0; k < pair->num_homographies && k < 255; ++k)
        add_homography(c, &pair->homographies[k]);
}

psfm_status psfm_report_print_pairs(psfm_context *ctx, const psfm_graph_file *graph,
                                    size_t max_pairs, FILE *file) {
    columns c = {0};
    bool *shown = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_pairs, &shown);
    if (status != PSFM_OK)
        return status;
    select_pairs(graph, max_pairs, shown);
    for (size_t p = 0; p < graph->num_pairs; ++p)
        if (shown[p])
            add_pair(&c, &graph->pairs[p]);
    struct {
        const char *name;
        psfm_column *column;
    } pairs[] = {{"image1", &c.image1},
                 {"image2", &c.image2},
                 {"matches", &c.matches},
                 {"kind", &c.kind},
                 {"essential", &c.essential},
                 {"flags", &c.flags},
                 {"embedding_component", &c.embedding_component},
                 {"component", &c.component},
                 {"h", &c.h},
                 {"rotation", &c.rotation},
                 {"count", &c.num_homographies}},
      homographies[] = {{"inliers", &c.inliers}, {"rms", &c.rms}, {"flags", &c.homography_flags},
                        {"group", &c.group},     {"H", &c.H},     {"count", &c.num_samples},
                        {"samples", &c.samples}};
    bool good = true;
    fprintf(file, ",\n\"pairs\":{\"total\":%zu", graph->num_pairs);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k)
        good = psfm_column_print(pairs[k].column, pairs[k].name, file) && good;
    fprintf(file, "},\n\"homographies\":{\"columns\":%zu",
            sizeof homographies / sizeof *homographies);
    for (size_t k = 0; k < sizeof homographies / sizeof *homographies; ++k)
        good = psfm_column_print(homographies[k].column, homographies[k].name, file) && good;
    fprintf(file, "}");
    free(shown);
    return good ? PSFM_OK : psfm_fail_memory(ctx);
}
