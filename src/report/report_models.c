/* Cameras and points of the models for the 3D view. Of many points an even choice is taken, in
 * proportion to the size of each model. */
#include <math.h>

#include "report/report_data.h"

enum {
    ERROR_STEPS = 32, /* of the error of a point, per pixel; a byte holds up to 8 px */
    RAY_SIDE = 13,    /* of the grid that shows how a lens bends */
    MOST_RAYS = 500   /* images that have one */
};
#define BENT 1e-3 /* of the width of the image: a lens bends by more */

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
 * camera cannot tell one. *bent: they are not those of a pinhole with the same corners. */
static bool ray_grid(const psfm_camera *camera, double grid[RAY_SIDE * RAY_SIDE][2], bool *bent) {
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
    *bent = false;
    for (int k = 0; k < RAY_SIDE * RAY_SIDE; ++k)
        for (int d = 0; d < 2; ++d) {
            double along = (d == 0 ? k % RAY_SIDE : k / RAY_SIDE) / (RAY_SIDE - 1.0);
            double straight = first[d] + along * (last[d] - first[d]);
            *bent = *bent || fabs(grid[k][d] - straight) > BENT * fabs(last[d] - first[d]);
        }
    return true;
}

/* Where a photograph lies before its camera, for lenses that bend it; an empty text for others.
 * Nothing of many images. */
static bool print_rays(const psfm_model *model, FILE *file) {
    bool good = true;
    if (model->num_images > MOST_RAYS)
        return true;
    fprintf(file, ",\"rays\":{\"side\":%d,\"xy\":[", RAY_SIDE);
    for (size_t k = 0; good && k < model->num_images; ++k) {
        double grid[RAY_SIDE * RAY_SIDE][2];
        bool bent = false;
        psfm_column column = {0};
        if (ray_grid(psfm_model_camera(model, model->images[k].camera_id), grid, &bent) && bent)
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
    bool failed = view.failed || center.failed || rotation.failed || corners.failed || focal.failed;
    psfm_column_print(&view, "view", file);
    psfm_column_print(&center, "center", file);
    psfm_column_print(&rotation, "rotation", file);
    psfm_column_print(&corners, "corners", file);
    psfm_column_print(&focal, "focal", file);
    psfm_column_free(&view);
    psfm_column_free(&center);
    psfm_column_free(&rotation);
    psfm_column_free(&corners);
    psfm_column_free(&focal);
    return !failed;
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
    bool failed = xyz.failed || rgb.failed || error.failed || length.failed;
    psfm_column_print(&xyz, "xyz", file);
    psfm_column_print(&rgb, "rgb", file);
    psfm_column_print(&error, "error", file);
    psfm_column_print(&length, "length", file);
    psfm_column_free(&xyz);
    psfm_column_free(&rgb);
    psfm_column_free(&error);
    psfm_column_free(&length);
    return !failed;
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
    return good ? PSFM_OK : psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}
